//! Compares the machine with the oracle. Both run a program from one end to the other and back, and everything
//! observable is compared. Only this file of the oracle depends on the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::{Files, FilesInMemory};
use reviver_isa::instruction::Class;
use reviver_isa::module::{Global, Module, Role, Shape};
use reviver_vm::state::{Adjoints, TapeEntry};
use reviver_vm::values::Value;
use reviver_vm::{Cause, Machine, Program, Runner, State, Stop, Travel};

use crate::outcome::{Bits, Outcome, Snapshot, Trap};
use crate::run::{Inputs, Oracle, RoundTrip, seed};
use crate::walk::Direction;
use crate::{Settings, tree};

/// Default limit on the statements that the oracle executes.
const FUEL: u64 = 2_000_000;
/// Upper bound on the machine steps for one statement of the oracle, from which the machine's step limit follows.
const STEPS: u64 = 100;

/// Program to compare, with its inputs.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// Name of the program's file; `files` resolves includes relative to it.
    pub name: &'a str,
    pub text: &'a str,
    pub files: &'a dyn Files,
    pub settings: Settings,
    pub inputs: Inputs<'a>,
    pub fuel: u64,
}

/// Function that returns the engine for the machine's steps; `None` selects the machine's own interpreter.
pub type PrepareRunner = fn(&Arc<Program>) -> Option<Arc<dyn Runner>>;

/// Case with its outcomes on the oracle, with which several engines are compared.
pub struct ExpectedCase<'a> {
    case: Case<'a>,
    program: Arc<Program>,
    /// Round trips from the start and from the end, or the reason why the oracle doesn't support the program.
    trips: Result<[RoundTrip; 2], String>,
}

/// Outcome of a run on which machine and oracle agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Finished,
    Trapped(Trap),
    /// Nothing was compared, for this reason.
    Skipped(String),
}

/// Outcomes of a run to the other end, and of the run back. `back` is `None` if the first run didn't complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    pub there: Ending,
    pub back: Option<Ending>,
}

/// Outcomes of a program on which machine and oracle agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Round trip from the program's start to its end and back.
    pub forward: Round,
    /// Round trip from the program's end to its start and back. The inputs of the case are its results.
    pub backward: Round,
}

impl<'a> Case<'a> {
    /// Creates the case of a program text without included files and without inputs.
    pub fn of(text: &'a str) -> Case<'a> {
        static NO_FILES: std::sync::LazyLock<FilesInMemory> = std::sync::LazyLock::new(FilesInMemory::new);
        let (settings, inputs) = (Settings::default(), Inputs::default());
        Case { name: "case.rasm", text, files: &*NO_FILES, settings, inputs, fuel: FUEL }
    }

    /// Returns the case with other inputs.
    #[must_use]
    pub fn with(self, inputs: Inputs<'a>) -> Case<'a> {
        Case { inputs, ..self }
    }

    /// Runs the program on the oracle.
    ///
    /// # Errors
    /// The reason why the text can't be run, or why the inputs don't fit it.
    pub fn expected(self) -> Result<ExpectedCase<'a>, String> {
        let program = self.assemble()?;
        let body = tree::read(self.name, self.text, self.files)?;
        let trips = match Oracle::new(&body, self.settings) {
            Ok(oracle) => Ok([
                oracle.trip(Direction::Forward, &self.inputs, self.fuel)?,
                oracle.trip(Direction::Backward, &self.inputs, self.fuel)?,
            ]),
            Err(reason) => Err(reason),
        };
        Ok(ExpectedCase { case: self, program, trips })
    }

    fn round(&self, mut machine: Machine, travel: Travel, trip: &RoundTrip) -> Result<Round, String> {
        let program = Arc::clone(machine.program());
        self.give(&program, machine.state_mut(), travel)?;
        let start = snapshot(&program, machine.state());
        let names = match travel {
            Travel::Forward => ["forward", "and back"],
            Travel::Backward => ["backward from the end", "and forward again"],
        };
        let there = self.leg(&mut machine, travel, &trip.there, names[0])?;
        let Some(wanted) = &trip.back else { return Ok(Round { there, back: None }) };
        let back = self.leg(&mut machine, travel.reversed(), wanted, names[1])?;
        let state = machine.state();
        if back == Ending::Finished && is_exact(program.module()) && state.counters.drops == 0 {
            same(&start, &snapshot(&program, state))
                .map_err(|difference| format!("not restored (its start is \"the oracle\"): {difference}"))?;
        }
        Ok(Round { there, back: Some(back) })
    }

    fn assemble(&self) -> Result<Arc<Program>, String> {
        let assembly = assemble(self.name, self.text.as_bytes().to_vec(), self.files);
        let Some(mut module) = assembly.module else {
            let messages: Vec<_> = assembly.diagnostics.iter().map(|d| d.message.to_string()).collect();
            return Err(format!("does not assemble: {}", messages.join("; ")));
        };
        module.word = self.settings.word.unwrap_or(module.word);
        module.real = self.settings.real.unwrap_or(module.real);
        let program = Program::new(module, 0).map_err(|violations| {
            let messages: Vec<_> = violations.iter().map(|v| v.message.to_string()).collect();
            format!("does not load: {}", messages.join("; "))
        })?;
        Ok(Arc::new(program))
    }

    fn give(&self, program: &Program, state: &mut State, travel: Travel) -> Result<(), String> {
        for (name, texts) in self.inputs.values {
            let Some((n, _)) = program.global(name) else { return Err(format!("no global `{name}`")) };
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            program.give(state, n, &texts).map_err(|error| error.to_string())?;
        }
        let entries = self.inputs.tape.iter().map(|text| program.parse_entry(text));
        let mut tape: Vec<TapeEntry> =
            entries.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
        match travel {
            Travel::Forward => {
                tape.reverse();
                state.input = tape;
            }
            Travel::Backward => state.output = tape,
        }
        if self.inputs.gradient {
            seed_adjoints(program, state);
        }
        Ok(())
    }

    /// Runs the machine in one direction, and compares the outcome with that of the oracle.
    fn leg(
        &self,
        machine: &mut Machine,
        travel: Travel,
        wanted: &Outcome,
        leg: &str,
    ) -> Result<Ending, String> {
        match wanted {
            Outcome::TooLong => return Ok(Ending::Skipped("too long".into())),
            Outcome::Unsupported(what) => return Ok(Ending::Skipped(what.clone())),
            Outcome::Finished(_) | Outcome::Trapped(..) => {}
        }
        let found = run(machine, travel, self.fuel.saturating_mul(STEPS));
        match (wanted, &found) {
            (Outcome::Finished(wanted), Outcome::Finished(found)) => {
                let found = as_declared(machine.program(), found.clone(), wanted);
                same(wanted, &found).map_err(|difference| format!("{leg}: {difference}"))?;
                Ok(Ending::Finished)
            }
            (Outcome::Trapped(trap, wanted), Outcome::Trapped(other, found)) if trap == other => {
                let found = as_declared(machine.program(), found.clone(), wanted);
                same(wanted, &found).map_err(|difference| format!("{leg}, at {trap:?}: {difference}"))?;
                Ok(Ending::Trapped(*trap))
            }
            _ => Err(format!("{leg}: the oracle {}, the machine {}", short(wanted), short(&found))),
        }
    }
}

impl ExpectedCase<'_> {
    /// Runs the program on the machine with an engine, and compares the outcomes with those of the oracle.
    ///
    /// # Errors
    /// A sentence about the disagreement.
    pub fn compare(&self, runner: PrepareRunner) -> Result<Agreement, String> {
        let [forward, backward] = match &self.trips {
            Ok(trips) => trips,
            Err(reason) => return Ok(Agreement::skipped(reason)),
        };
        let runner = runner(&self.program);
        let moved = |mut machine: Machine| {
            runner.iter().for_each(|runner| machine.run_by(Arc::clone(runner)));
            machine
        };
        let at_begin = Machine::at_begin(Arc::clone(&self.program)).map_err(|error| error.to_string())?;
        let at_end = Machine::at_end(Arc::clone(&self.program)).map_err(|error| error.to_string())?;
        Ok(Agreement {
            forward: self.case.round(moved(at_begin), Travel::Forward, forward)?,
            backward: self.case.round(moved(at_end), Travel::Backward, backward)?,
        })
    }
}

impl Agreement {
    fn skipped(reason: &str) -> Agreement {
        let ending = Ending::Skipped(reason.to_owned());
        let round = Round { there: ending, back: None };
        Agreement { forward: round.clone(), backward: round }
    }
}

fn short(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Finished(_) => "arrives".into(),
        Outcome::Trapped(trap, _) => format!("traps ({trap:?})"),
        Outcome::TooLong => "does not end".into(),
        Outcome::Unsupported(what) => format!("refuses {what}"),
    }
}

/// Switches gradient mode on, and gives the same adjoints as the oracle has.
fn seed_adjoints(program: &Program, state: &mut State) {
    state.set_mode(true);
    let bits = |name: &str, n| match program.parse(Class::Real, &format!("{:?}", seed(name, n))) {
        Ok(Value::Real(bits)) => bits,
        _ => 0,
    };
    let tape = |entries: &[TapeEntry], number: fn(usize, usize) -> usize| -> Vec<u64> {
        let entries = entries.iter().enumerate().map(|(n, entry)| match entry {
            TapeEntry::Int(_) => 0,
            TapeEntry::Real(_) => bits("", number(n, entries.len())),
        });
        entries.collect()
    };
    // The last entry of the input tape is read first.
    let input = tape(&state.input, |n, count| count - 1 - n);
    let output = tape(&state.output, |n, _| n);
    let adjoints = state.adjoints_mut();
    (adjoints.input, adjoints.output) = (input, output);
    let globals = program.module().globals.iter().enumerate();
    for (global, declared) in globals.filter(|(_, declared)| declared.class == Class::Real) {
        if declared.shape == Shape::Stack {
            let adjoints = adjoints.stack.iter_mut().enumerate();
            adjoints.for_each(|(n, adjoint)| *adjoint = bits(&declared.name, n));
        }
        for (n, cell) in program.cells(global).enumerate() {
            adjoints.cells[cell] = bits(&declared.name, n);
        }
    }
}

/// Runs the machine until it reaches the program's end, traps, or has executed `budget` steps.
fn run(machine: &mut Machine, travel: Travel, budget: u64) -> Outcome {
    let start = machine.state().step;
    loop {
        let left = budget.saturating_sub(machine.state().step.abs_diff(start));
        match machine.run(travel, left) {
            Ok(Stop::Shown { .. }) => {}
            Ok(Stop::Budget | Stop::Interrupted) => return Outcome::TooLong,
            Ok(Stop::Bound) => {
                let mut snapshot = snapshot(machine.program(), machine.state());
                snapshot.garbage = garbage(machine, travel);
                return Outcome::Finished(snapshot);
            }
            Err(trap) => {
                return Outcome::Trapped(class(trap.cause), snapshot(machine.program(), machine.state()));
            }
        }
    }
}

/// Returns the oracle's class of traps for a cause of the machine.
fn class(cause: Cause) -> Trap {
    match cause {
        Cause::Fault(_) | Cause::NoDerivative { .. } | Cause::DerivativeOutOfRange(_) => Trap::Fault,
        Cause::AssertFailed => Trap::Assert,
        Cause::UnexpectedFall | Cause::UnexpectedJump { .. } => Trap::Branch,
        Cause::Index { .. } | Cause::SliceBounds { .. } => Trap::Index,
        Cause::Alias { .. } => Trap::Alias,
        Cause::NotVacant { .. } | Cause::FrameNotVacant { .. } => Trap::Vacant,
        Cause::ReferenceChanged { .. } => Trap::References,
        Cause::ArgumentsOverlap { .. } | Cause::TasksShare { .. } => Trap::Overlap,
        Cause::StackEmpty { .. } | Cause::StackFull { .. } => Trap::Stack,
        Cause::TapeEmpty { .. } | Cause::TapeFull { .. } | Cause::TapeClass { .. } => Trap::Tape,
        Cause::Irreversible => Trap::Irreversible,
        Cause::DepthExceeded { .. } | Cause::FramesFull | Cause::NoMemory(_) => Trap::Depth,
        Cause::ModeIs { .. } => Trap::Mode,
    }
}

fn snapshot(program: &Program, state: &State) -> Snapshot {
    let globals = program.module().globals.iter().enumerate().map(|(n, global)| {
        let values = program.read(state, n).into_iter().map(|value| match value {
            Value::Int(value) => Bits::Int(value),
            Value::Real(bits) => Bits::Real(bits),
        });
        (global.name.clone(), values.collect())
    });
    let tape = |entries: &[TapeEntry]| {
        let bits = entries.iter().map(|entry| match *entry {
            TapeEntry::Int(value) => Bits::Int(value),
            TapeEntry::Real(bits) => Bits::Real(bits),
        });
        bits.collect()
    };
    // A machine allocates adjoints only when they are needed; until then they are 0.
    let adjoint = |list: fn(&Adjoints) -> &Vec<u64>, n: usize| {
        let found = state.adjoints.as_ref().and_then(|adjoints| list(adjoints).get(n).copied());
        Bits::Real(found.unwrap_or(0))
    };
    let reals = program.module().globals.iter().enumerate().filter(|(_, g)| g.class == Class::Real);
    let adjoints = reals.map(|(n, global)| {
        let adjoints = match global.shape {
            Shape::Stack => (0..state.real_stack.len()).map(|n| adjoint(|a| &a.stack, n)).collect(),
            _ => program.cells(n).map(|cell| Bits::Real(program.whole_adjoint(state, cell))).collect(),
        };
        (global.name.clone(), adjoints)
    });
    let entries = |list, count: usize| (0..count).map(|n| adjoint(list, n)).collect();
    Snapshot {
        adjoints: adjoints.collect::<BTreeMap<_, _>>(),
        entry_adjoints: [
            entries(|a| &a.stack, state.real_stack.len()),
            entries(|a| &a.input, state.input.len()),
            entries(|a| &a.output, state.output.len()),
        ],
        mode: state.mode(),
        globals: globals.collect::<BTreeMap<_, _>>(),
        int_stack: state.int_stack.iter().copied().map(Bits::Int).collect(),
        real_stack: state.real_stack.iter().copied().map(Bits::Real).collect(),
        input: tape(&state.input),
        output: tape(&state.output),
        garbage: Vec::new(),
    }
}

/// Returns a state without the garbage and the ancillas that the oracle doesn't know because the text doesn't declare
/// them. The assembler adds such cells for adjoints where it replaces gradient mode.
fn as_declared(program: &Program, mut machine: Snapshot, oracle: &Snapshot) -> Snapshot {
    let is_added = |global: &&Global| {
        matches!(global.role, Role::Garbage | Role::Private) && !oracle.globals.contains_key(&global.name)
    };
    for global in program.module().globals.iter().filter(is_added) {
        machine.globals.remove(&global.name);
        machine.adjoints.remove(&global.name);
    }
    machine
}

/// Returns the names of the cells that have garbage, as declared in the text. A name occurs only once in the list.
fn garbage(machine: &Machine, arrived: Travel) -> Vec<String> {
    let found = machine.program().garbage(machine.state(), arrived);
    // In the machine, the name of an element has an index. If several variables of a frame have one name, the machine
    // adds numbers to the names. Indices and numbers are removed.
    let name = |name: &str| {
        let bare = name.split(['[', '$', '\'']).next().unwrap_or(name);
        if name.contains('\'') { format!("{bare}'") } else { bare.to_owned() }
    };
    let names: BTreeSet<String> = found.iter().map(|garbage| name(&garbage.name)).collect();
    // Stacks and tapes are compared entry by entry, so they aren't listed here.
    let is_cell = |name: &String| ![" stack", " tape"].iter().any(|storage| name.ends_with(storage));
    names.into_iter().filter(is_cell).collect()
}

fn same(oracle: &Snapshot, machine: &Snapshot) -> Result<(), String> {
    let cells = [(&oracle.globals, &machine.globals, ""), (&oracle.adjoints, &machine.adjoints, "'")];
    for (oracle, machine, mark) in cells {
        let names: BTreeSet<&String> = oracle.keys().chain(machine.keys()).collect();
        for name in names {
            let (wanted, found) = (oracle.get(name), machine.get(name));
            if wanted != found {
                return Err(format!("`{name}{mark}` is {wanted:?} for the oracle, {found:?} in the machine"));
            }
        }
    }
    if oracle.mode != machine.mode {
        let (wanted, found) = (oracle.mode, machine.mode);
        return Err(format!("gradient mode is {wanted} for the oracle, {found} in the machine"));
    }
    let [stack, input, output] = &oracle.entry_adjoints;
    let [machine_stack, machine_input, machine_output] = &machine.entry_adjoints;
    let parts = [
        ("the real stack's adjoints", stack, machine_stack),
        ("the input tape's adjoints", input, machine_input),
        ("the output tape's adjoints", output, machine_output),
        ("the integer stack", &oracle.int_stack, &machine.int_stack),
        ("the real stack", &oracle.real_stack, &machine.real_stack),
        ("the input tape", &oracle.input, &machine.input),
        ("the output tape", &oracle.output, &machine.output),
    ];
    for (what, wanted, found) in parts {
        if wanted != found {
            return Err(format!("{what} is {wanted:?} for the oracle, {found:?} in the machine"));
        }
    }
    if oracle.garbage != machine.garbage {
        return Err(format!(
            "garbage: {:?} for the oracle, {:?} in the machine",
            oracle.garbage, machine.garbage
        ));
    }
    Ok(())
}

/// Returns true if no arithmetic of the program rounds sums, so that their order doesn't matter.
fn is_exact(module: &Module) -> bool {
    let is_int = |class: Class| class == Class::Int;
    module.real.is_exact()
        || module.globals.iter().all(|g| is_int(g.class))
            && module.procedures.iter().all(|p| p.frame.iter().all(|v| is_int(v.class)))
}
