//! Expectations that compare with a reference: both programs get the same random inputs, and must produce the same
//! results.

use reviver_assembler::files::Files;
use reviver_assembler::limits::AssemblyLimits;
use reviver_isa::Module;
use reviver_isa::module::{Global, Role, Shape};
use reviver_vm::{Machine, Travel};

use crate::assessment::{Mismatch, MissReason};
use crate::bounded::go;
use crate::comparison;
use crate::draw::{Draws, fits};
use crate::given::ReadyProgram;
use crate::grammar::{DrawnInput, GivenWords, SameAs};
use crate::program::ProgramUnderTest;
use crate::properties::{OwnLines, unrestored, usual};
use crate::round_trip::RoundTrip;
use crate::settings::TestSettings;

/// Program under test and reference, ready to run.
struct ComparedPrograms<'a> {
    tested: ReadyProgram,
    reference: ReadyProgram,
    own: OwnLines,
    settings: &'a TestSettings<'a>,
}

/// Runs both programs on random inputs until they differ. `see` receives each round trip of the program under test,
/// with its inputs.
pub(crate) fn assess(
    line: &SameAs,
    module: &Module,
    reference: &Module,
    own: OwnLines,
    settings: &TestSettings<'_>,
    see: &mut dyn FnMut(&RoundTrip, &str),
) -> Vec<Mismatch> {
    let none = GivenWords::default();
    let ready = |module| ReadyProgram::new(module, &none, settings);
    let compared = match (ready(module), ready(reference)) {
        (Ok(tested), Ok(reference)) => ComparedPrograms { tested, reference, own, settings },
        (Err(error), _) | (_, Err(error)) => return vec![error.missed()],
    };
    if let Err(miss) = compared.check(line) {
        return vec![miss];
    }
    let mut draws = Draws::new(line.seed);
    for _ in 0..line.count {
        let given = compared.drawn(&line.inputs, &mut draws);
        let inputs = reported(&given);
        let misses = compared.run(&given, &inputs, see);
        if !misses.is_empty() {
            return misses.into_iter().map(|miss| miss.on(&inputs)).collect();
        }
    }
    Vec::new()
}

/// Returns the module of a reference, assembled within limits.
pub(crate) fn module(
    line: &SameAs,
    from: &str,
    files: &dyn Files,
    limits: AssemblyLimits,
) -> Result<Module, Mismatch> {
    let expected = || format!("the reference {}", line.reference);
    let read = files.read(&line.reference, from);
    let (name, text) = read.map_err(|error| Mismatch::new(expected(), error))?;
    let program = ProgramUnderTest::assemble_within(&name, text, files, limits);
    let error = program.errors().next().map(|error| error.message.clone());
    program
        .module
        .ok_or_else(|| Mismatch::new(expected(), format!("no program: {}", error.unwrap_or_default())))
}

/// Returns the inputs as text, for example "n=17 A=1,2,3".
fn reported(given: &GivenWords) -> String {
    let cells = given.cells.iter().map(|(name, values)| format!("{name}={}", values.join(",")));
    cells.collect::<Vec<_>>().join(" ")
}

impl ComparedPrograms<'_> {
    /// Checks that both programs declare the inputs that the line names, and that both declare the same results.
    /// Otherwise returns a mismatch.
    fn check(&self, line: &SameAs) -> Result<(), Mismatch> {
        for input in &line.inputs {
            for (ready, whose) in [(&self.reference, "the reference"), (&self.tested, "the program")] {
                check_input(ready, whose, input)?;
            }
            let shape =
                |ready: &ReadyProgram| ready.program.global(&input.name).map(|(_, global)| global.shape);
            if shape(&self.reference) != shape(&self.tested) {
                let name = &input.name;
                let expected = format!("`{name}` as the reference declares it");
                return Err(Mismatch::new(expected, format!("`{name}` with another shape"))
                    .because(MissReason::MissingCell));
            }
        }
        for (_, wanted) in results(&self.reference) {
            let found = self.tested.program.global(&wanted.name);
            let is_result = |global: &Global| global.role.is_result() && global.class == wanted.class;
            if !found.is_some_and(|(_, global)| is_result(global)) {
                let name = &wanted.name;
                return Err(Mismatch::new(
                    format!("a result `{name}`"),
                    format!("no result `{name}` of this class"),
                )
                .because(MissReason::MissingCell));
            }
        }
        Ok(())
    }

    fn drawn(&self, inputs: &[DrawnInput], draws: &mut Draws) -> GivenWords {
        let cells = inputs.iter().filter_map(|input| {
            let (_, global) = self.reference.program.global(&input.name)?;
            let values = (0..global.shape.cells()).filter_map(|_| draws.number(global.class, input));
            Some((input.name.clone(), values.collect()))
        });
        GivenWords { cells: cells.collect(), ..GivenWords::default() }
    }

    /// Runs the program under test forward and backward, and the reference forward. Returns the mismatches.
    fn run(&self, given: &GivenWords, inputs: &str, see: &mut dyn FnMut(&RoundTrip, &str)) -> Vec<Mismatch> {
        let reference = match self.arrived(given) {
            Ok(machine) => machine,
            Err(miss) => return vec![miss],
        };
        let mut machine = match self.tested.machine(given, Travel::Forward) {
            Ok(machine) => machine,
            Err(error) => return vec![error.missed()],
        };
        let halted = |halt: crate::bounded::Halt| vec![halt.missed("the end")];
        let turned = match RoundTrip::begin(&mut machine, Travel::Forward, self.settings.limits) {
            Ok(turned) => turned,
            Err(halt) => return halted(halt),
        };
        let mut misses = self.differences(&machine, &reference);
        let round_trip = match turned.back(&mut machine) {
            Ok(round_trip) => round_trip,
            Err(halt) => return halted(halt),
        };
        misses.extend(usual(&round_trip, self.own, false));
        misses.extend((!self.own.restored).then(|| unrestored(&round_trip)).flatten());
        see(&round_trip, inputs);
        misses
    }

    /// Returns the reference's machine at the end of its run.
    fn arrived(&self, given: &GivenWords) -> Result<Machine, Mismatch> {
        let expected = "a reference that runs to its end";
        let started = self.reference.machine(given, Travel::Forward);
        let mut machine = started.map_err(|error| Mismatch::new(expected, error.to_string()))?;
        go(&mut machine, Travel::Forward, self.settings.limits)
            .map_err(|halt| Mismatch::new(expected, halt.to_string()))?;
        Ok(machine)
    }

    fn differences(&self, machine: &Machine, reference: &Machine) -> Vec<Mismatch> {
        let cells = results(&self.reference).filter_map(|(n, global)| {
            let wanted = reference.program().read(reference.state(), n);
            let found = comparison::values(machine, &global.name)?;
            comparison::same(&global.name, (machine.program(), &found), (reference.program(), &wanted))
        });
        let mut misses: Vec<Mismatch> = cells.collect();
        let tape = |machine: &Machine| comparison::tape(machine, Travel::Forward);
        let (found, wanted) = (tape(machine), tape(reference));
        misses.extend(comparison::same("tape", (machine.program(), &found), (reference.program(), &wanted)));
        misses
    }
}

/// Returns the results that are compared. Cells declared as garbage aren't compared.
fn results(ready: &ReadyProgram) -> impl Iterator<Item = (usize, &Global)> {
    let globals = ready.program.module().globals.iter().enumerate();
    globals.filter(|(_, global)| matches!(global.role, Role::Out | Role::InOut))
}

/// Checks that an input of a program can be set, and that the random range fits its class. Otherwise returns a
/// mismatch.
fn check_input(ready: &ReadyProgram, whose: &str, input: &DrawnInput) -> Result<(), Mismatch> {
    let name = &input.name;
    let expected = || format!("an input `{name}` of {whose}");
    let Some((_, global)) = ready.program.global(name) else {
        return Err(Mismatch::new(expected(), "no cell has this name").because(MissReason::MissingCell));
    };
    if !global.role.is_given() {
        let found = format!("it is `{}`", global.role.directive());
        return Err(Mismatch::new(expected(), found).because(MissReason::MissingCell));
    }
    if global.shape == Shape::Stack {
        return Err(Mismatch::new(expected(), "a stack, which has no fixed number of values"));
    }
    if global.class == reviver_isa::instruction::Class::Real {
        return Ok(());
    }
    let word = ready.program.module().word;
    match input.integers {
        Some(range) if fits(range, word) => Ok(()),
        Some(_) => Err(Mismatch::new(
            format!("a range of integers of {} bits for `{name}`", word.bits()),
            format!("{}..{}", input.from, input.to),
        )),
        None => Err(Mismatch::new(
            format!("a range of integers for `{name}`"),
            format!("{:?}..{:?}", input.from, input.to),
        )),
    }
}

#[cfg(test)]
mod tests {
    use reviver_assembler::files::FilesInMemory;

    use super::*;
    use crate::expected::Expectations;
    use crate::{examine, is_met};

    #[test]
    fn references_are_assembled_within_the_limits() {
        let text = ";! same as many.rasm on 9 random n in 0..9\n.in n\n.out y\nadd y, 3 * n\nsub n, y / 3\n";
        let many = ".in n\n.out y\n.macro thrice(a)\n    add y, a\n    add y, a\n    add y, a\n.endm\n    \
            thrice n\nsub n, y / 3\n";
        let files = FilesInMemory::new().with("many.rasm", many);
        let met_within = |copied_instructions: u32| {
            let mut settings = TestSettings::interpreted();
            settings.limits.assembly.copied_instructions = copied_instructions;
            let program = ProgramUnderTest::assemble("p.rasm", text.into(), &files);
            let lines = examine(&program, &Expectations::of("p.rasm", text), &files, &settings);
            is_met(&lines)
        };
        assert!(met_within(100_000));
        assert!(!met_within(2));
    }
}
