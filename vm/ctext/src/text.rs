//! The C text of a program: its options, the SSA functions that it is generated from, and the files.

use std::fmt::Write as _;
use std::ops::Range;

use reviver_compile::call::{CallFunction, Lift, SweepCalls};
use reviver_compile::function::{Demands, SsaFunction};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::travel::Travel;
use reviver_vm::{CheckLevel, Program};

use crate::body::{CheckStatus, function_text};
use crate::calls::CallMemory;
use crate::error::NoText;
use crate::gradient::{gradient_function, promise};
use crate::helpers::CHelpers;
use crate::identifiers::{fnv, identifier};
use crate::interface::{CFunction, Interface};
use crate::memory::ProgramCells;
use crate::place::deep_call;
use crate::seeded::SeededResults;
use crate::statements::Statements;
use crate::{sweeps, verdict};

pub use crate::seeded::CGradient;

/// The first words of every generated C file.
pub const WRITTEN: &str = "/* written by `reviver build`";

/// The first words of every generated header.
pub const WRITTEN_HEADER: &str = "/* header written by `reviver build`";

/// An exported symbol that identifies a library. Only libraries define this symbol, so that a library can be linked
/// with other generated C files.
pub const LIBRARY_MARK: &str = "reviver_library_mark";

/// The C text of a program, from which the files are written.
#[derive(Clone, Debug)]
pub struct CText {
    prefix: String,
    declarations: String,
    helpers: CHelpers,
    body: String,
}

/// All statuses that a C function returns: name, number, and meaning.
const STATUSES: &[(&str, i32, &str)] = &[
    ("DONE", 0, "the results are written"),
    ("ARGUMENT", 1, "an argument isn't a finite number"),
    (
        "CHECK",
        2,
        "an assertion or a join fails, an integer that must be 0 has another value, or the step to undo has lost information",
    ),
    ("NOT_VACANT", 3, "a real that must be 0 has another value"),
    ("NOT_FINITE", 4, "a result isn't a finite number"),
    ("INDEX", 5, "an index is outside of its array"),
    ("SAME_CELL", 6, "two operands are the same cell, but must be different cells"),
    ("DIVISION_BY_ZERO", 7, "an integer is divided by 0"),
    ("NEGATIVE_EXPONENT", 8, "an integer is raised to a negative power"),
    ("OUT_OF_RANGE", 9, "a number is too large, or a function has no value for its argument"),
    ("NOT_CLEAR", 10, "at the end, a cell other than a result doesn't have its initial value"),
    ("WAY_BACK", 11, "the reverse sweep of a gradient took other branches than the primal sweep"),
    ("FREED", 12, "a gradient freed a cell whose value is further from 0 than rounding explains"),
    ("MISSED", 13, "the reverse sweep of a gradient missed the start by more than rounding explains"),
    ("SENSITIVE", 14, "rounding in the reverse sweep may change the loss too much"),
    ("CHANGED", 15, "the reverse sweep of a gradient didn't restore an integer or fixed-point number"),
    ("LOST_ADJOINT", 16, "a step would lose an adjoint other than 0"),
    ("DEPTH", 17, "more calls would be open than the program's `.limit depth` allows"),
    ("NO_ROOM", 18, "more calls would be open than `.._CALLS` reserves memory for"),
];

/// Number that is added to the status of a check that fails in the reverse sweep of a gradient.
const IN_REVERSE_SWEEP: i32 = 100;

/// The statuses of checks that may also fail in the reverse sweep of a gradient.
const CHECKS: [CheckStatus; 11] = [
    CheckStatus::Check,
    CheckStatus::NotVacant,
    CheckStatus::NotFinite,
    CheckStatus::Index,
    CheckStatus::SameCell,
    CheckStatus::DivisionByZero,
    CheckStatus::NegativeExponent,
    CheckStatus::OutOfRange,
    CheckStatus::LostAdjoint,
    CheckStatus::Depth,
    CheckStatus::NoMemory,
];

impl CText {
    /// Generates the text of a program. The text has a gradient if `gradient` isn't `None`. All exported names begin
    /// with a prefix that is derived from `name`. `level` selects the checks that the text contains.
    ///
    /// # Errors
    /// Fails if the program does something that has no C text, or if a seeded cell isn't real.
    pub fn of(
        program: &Program,
        name: &str,
        requested: Option<CGradient>,
        level: CheckLevel,
    ) -> Result<CText, NoText> {
        let prefix = identifier(name);
        let seeded = requested.map(|gradient| SeededResults::of(program, gradient)).transpose()?;
        let forward = sweeps::run(program, Travel::Forward, level)?;
        let backward = sweeps::run(program, Travel::Backward, level)?;
        let moved = moved(program);
        let lift = match requested {
            Some(CGradient::Product(_)) => Lift { lanes: 2, rejects_ties: false, moved: &moved },
            _ => Lift::NONE,
        };
        let gradient =
            seeded.as_ref().map(|seeded| sweeps::gradient(program, (&seeded.cells(), lift), level));
        let gradient = gradient.transpose()?;
        let functions =
            [&forward, &backward].into_iter().chain(gradient.as_ref().map(|gradient| &gradient.function));
        let cells =
            ProgramCells::new(program, &prefix, level, (demanded(program, functions)?, lift.lanes as usize));
        let interface = Interface::of(&cells, seeded.as_ref());
        let mut text = CText {
            declarations: declarations(&cells, &interface, seeded.as_ref()),
            helpers: CHelpers::default(),
            body: String::new(),
            prefix: prefix.clone(),
        };
        text.add(&cells.begin(gradient.is_some()));
        text.runs(&cells, &interface, [forward, backward])?;
        if let (Some(seeded), Some(gradient)) = (&seeded, &gradient) {
            text.gradient(&cells, &interface, (seeded, gradient))?;
        }
        text.add(&messages(&cells, gradient.is_some()));
        Ok(text)
    }

    /// Returns the prefix of all names in the text.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the header file for C callers.
    pub fn header(&self) -> String {
        format!("{WRITTEN_HEADER}, which overwrites the header when it runs again */\n{}", self.declarations)
    }

    /// Returns the C file of a library, which defines [`LIBRARY_MARK`].
    pub fn source_of_library(&self) -> String {
        format!(
            "{}\n/* Marks the file as a library of `reviver build`. */\nextern const char {LIBRARY_MARK}[];\n\
            const char {LIBRARY_MARK}[] = \"built by `reviver build --lib`\";\n",
            self.source()
        )
    }

    /// Returns the C file, which doesn't include the header file.
    pub fn source(&self) -> String {
        CText::source_of(std::slice::from_ref(self))
    }

    /// Returns one C file with several programs. Their prefixes must differ.
    pub fn source_of(texts: &[CText]) -> String {
        let mut helpers = CHelpers::default();
        texts.iter().for_each(|text| helpers.absorb(&text.helpers));
        let declarations: Vec<&str> = texts.iter().map(|text| text.declarations.as_str()).collect();
        let bodies: Vec<&str> = texts.iter().map(|text| text.body.as_str()).collect();
        format!(
            "{WRITTEN}, which overwrites the file when it runs again */\n{}\n{BEGINNING}\n{}\n{}",
            declarations.join("\n"),
            helpers.written(),
            bodies.join("\n")
        )
    }

    /// Adds a text of functions, and the helpers that the text calls.
    fn add(&mut self, text: &str) {
        self.helpers.add_for(text);
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// Adds the C function of an SSA function. Before the first C function that needs memory for calls, also adds the
    /// definitions of this memory.
    fn add_function(&mut self, cells: &ProgramCells, text: &str) {
        let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
        let is_asked = |calls: &CallMemory| {
            calls.is_asked(text, prefix, &upper) && !calls.is_asked(&self.body, prefix, &upper)
        };
        if let Some(calls) = cells.calls.filter(is_asked) {
            self.add(&calls.functions(prefix, &upper, cells.numbers, cells.others()));
        }
        self.add(text);
    }

    /// Adds the public functions for the forward and the backward direction, and the functions that they call.
    fn runs(
        &mut self,
        cells: &ProgramCells,
        interface: &Interface,
        [forward, backward]: [SsaFunction; 2],
    ) -> Result<(), NoText> {
        let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
        let statements = Statements(cells.program);
        for (which, function) in [(CFunction::Forward, forward), (CFunction::Backward, backward)] {
            let name = which.name();
            let sweep = SweepCalls::of(&function);
            let text = function_text(
                (&function, &[sweep]),
                &cells.names(),
                statements,
                &format!("{prefix}_run_{name}"),
            )?;
            self.add_function(cells, &text);
            self.add(&cells.is_clear(&format!("{prefix}_is_clear_{name}"), |global| match which {
                CFunction::Backward => global.role.is_given(),
                CFunction::Forward | CFunction::Gradient => global.role.is_result(),
            }));
            let sign =
                if which == CFunction::Backward { "    memory->steps = -memory->steps;\n" } else { "" };
            let text = format!(
                "{} {{\n    int status;\n    {prefix}_begin(memory);\n{}    status = {prefix}_run_{name}(memory);\n{sign}\
                \x20   if (status != {upper}_DONE) {{\n        return status;\n    }}\n\
                \x20   if (!{prefix}_is_clear_{name}(memory)) {{\n        return {upper}_NOT_CLEAR;\n    }}\n{}\
                \x20   return {upper}_DONE;\n}}\n",
                interface.head(which),
                interface.take_in(which),
                interface.give_out(which)
            );
            self.add(&text);
        }
        Ok(())
    }

    /// Adds the public function for a gradient, and the functions that it calls: the sweeps, and their verification.
    fn gradient(
        &mut self,
        cells: &ProgramCells,
        interface: &Interface,
        (seeded, gradient): (&SeededResults, &CallFunction),
    ) -> Result<(), NoText> {
        let function = (&gradient.function, &gradient.sweeps[..]);
        let name = format!("{}_sweeps", cells.prefix);
        // On dual numbers, addresses in the code differ from the addresses of named cells, so cells get no names.
        let names = if cells.lanes == 1 { cells.names() } else { cells.no_names() };
        let sweeps = function_text(function, &names, Statements(cells.program), &name)?;
        verdict::recorders(cells, &sweeps).iter().for_each(|text| self.add(text));
        self.add_function(cells, &sweeps);
        if cells.level.is_checked() {
            self.add(&verdict::functions(cells));
        }
        self.add(&gradient_function(cells, interface, (seeded, gradient)));
        Ok(())
    }
}

/// Returns the addresses of the real inputs: the caller may pass a component of the direction for each of them.
fn moved(program: &Program) -> Vec<Range<u32>> {
    let globals = program.module().globals.iter().enumerate();
    let inputs = globals.filter(|(_, global)| global.class == Class::Real && global.role.is_given());
    inputs.map(|(n, _)| program.cells(n)).map(|cells| cells.start as u32..cells.end as u32).collect()
}

/// Returns memory demands that suffice for all of several SSA functions. Fails if the demanded depth exceeds the
/// program's limit on nested calls.
fn demanded<'f>(
    program: &Program,
    functions: impl Iterator<Item = &'f SsaFunction>,
) -> Result<Demands, NoText> {
    let most = functions.fold(Demands::default(), |most, function| most.max(function.demands));
    let limit = program.module().limits.depth;
    match most.depth > limit {
        true => Err(NoText::Depth { place: deep_call(program.module(), limit), limit }),
        false => Ok(most),
    }
}

/// The beginning of each C file: the headers that it needs, and checks of compiler settings.
const BEGINNING: &str = "\
/* Each operation on floats must be rounded separately, to its own width. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error \"compile without -ffast-math and -funsafe-math-optimizations: they change results\"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0
#error \"compile without -ffinite-math-only: numbers that are too large would not be detected\"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#if defined(__x86_64__) || defined(__i386__)
#pragma float_control(precise, on)
#else
#pragma clang fp reassociate(off)
#endif
#elif defined(__GNUC__)
#pragma GCC optimize (\"fp-contract=off\")
#if defined(__FMA__) || defined(__FMA4__)
/* GCC fuses vector operations in spite of fp-contract=off. */
#pragma GCC optimize (\"no-tree-loop-vectorize\", \"no-tree-slp-vectorize\")
#endif
#endif

/* Some comparisons always have the same result. Compilers must not warn of them. */
#if defined(__clang__)
#pragma clang diagnostic ignored \"-Wtautological-compare\"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored \"-Wtautological-compare\"
#pragma GCC diagnostic ignored \"-Wbool-compare\"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error \"compile for a processor that rounds each operation to its own width, for example with -msse2 -mfpmath=sse\"
#endif
";

/// The notice for callers in the header of a text that was generated without checks.
const UNCHECKED: &str = "\n\n   \
Unchecked: vacancy and join checks are left out, and the reverse sweep of a gradient isn't verified. If a checked\n   \
run succeeds, the results are the same: integers and fixed point bit for bit, floats if `uncompute` restores its\n   \
cells exactly. Otherwise the results are undefined. Assertions, indices, divisions by 0 and non-finite results are\n   \
still checked; discarded bits aren't counted.";

/// Returns the content of the header file.
fn declarations(cells: &ProgramCells, interface: &Interface, gradient: Option<&SeededResults>) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    let (statuses, memory) = (statuses(&upper), memory(cells, gradient));
    let is_checked = cells.level.is_checked();
    let mut text = String::new();
    let _ = write!(
        text,
        "#ifndef {upper}_REVIVER_H\n#define {upper}_REVIVER_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
/* A program of Reviver as C text. Compile it as C11, with -ffp-contract=off, and link with -lm.\n\n   Numbers: integers have {} \
bits and wrap; reals are {}. Results are those of `reviver run`, bit for\n   bit. The processor must round to nearest, which is the default.\n\n   \
Memory: a run changes only a `struct {prefix}_memory`. The caller supplies the struct, without initializing it.\n   \
Threads may call the functions at the same time, each with its own memory.\n\n   Results are written on success only. The pointers to a result and to an input may be equal.\n   \
Runs have no step limit: an endless loop of the program runs forever.{} */\n\n",
        cells.numbers.0.word.bits(),
        match cells.module().real {
            RealSystem::Fixed(fraction) => format!("fixed point, as integers times 2^-{fraction}"),
            system => system.to_string(),
        },
        if is_checked { "" } else { UNCHECKED },
    );
    if let Some(calls) = cells.calls {
        text.push_str(&calls.defined(prefix, &upper));
    }
    if !is_checked {
        let _ = write!(text, "/* Checks were left out. */\n#define {upper}_UNCHECKED 1\n\n");
    }
    text.push_str(&linked_names(cells, interface, gradient, &(statuses.clone() + &memory)));
    text.push_str(&statuses);
    text.push_str(&memory);
    public(&mut text, interface, CFunction::Forward, "Runs the program forward, from inputs to results.");
    public(&mut text, interface, CFunction::Backward, "Runs the program backward, from results to inputs.");
    if let Some(seeded) = gradient {
        public(&mut text, interface, CFunction::Gradient, &promise(cells, seeded));
    }
    let _ = write!(
        text,
        "/* Returns the meaning of a status. */\nconst char *{prefix}_message(int status);\n\n/* Returns the version of Reviver that generated this text, followed by `unchecked` if checks were left out. */\n\
        const char *{prefix}_built_by_reviver(void);\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    );
    text
}

/// Returns macros that rename the linked functions. The new names depend on the memory, the statuses and the arguments.
/// So the linker rejects a header and a C file that don't match.
fn linked_names(
    cells: &ProgramCells,
    interface: &Interface,
    gradient: Option<&SeededResults>,
    layout: &str,
) -> String {
    let functions: &[CFunction] = match gradient {
        Some(_) => &[CFunction::Forward, CFunction::Backward, CFunction::Gradient],
        None => &[CFunction::Forward, CFunction::Backward],
    };
    let prefix = cells.prefix;
    let heads = functions.iter().map(|&function| interface.head(function));
    let known = [cells.module().real.to_string(), layout.to_owned()];
    let unchecked = (!cells.level.is_checked()).then(|| cells.level.name().to_owned());
    let known = known.into_iter().chain(heads).chain(gradient.map(SeededResults::names)).chain(unchecked);
    let mark = fnv(known.flat_map(String::into_bytes)) as u32;
    let others = ["message", "built_by_reviver"];
    let names = functions.iter().map(|function| function.name()).chain(others);
    let upper = prefix.to_uppercase();
    let linked = |name: &str| {
        let linked = format!("{prefix}_{name}_{mark:08x}");
        if cells.calls.is_some() { CallMemory::marked(&upper, &linked) } else { linked }
    };
    let marks = if cells.calls.is_some() { CallMemory::marks(&upper) } else { String::new() };
    let lines: String = names.map(|name| format!("#define {prefix}_{name} {}\n", linked(name))).collect();
    format!(
        "/* Linked names end with a hash of the memory, the statuses and the arguments. So the linker refuses a header and\n   \
        a C file that were generated with different options. */\n{marks}{lines}\n"
    )
}

/// Returns the C struct with all memory that a run changes.
fn memory(cells: &ProgramCells, gradient: Option<&SeededResults>) -> String {
    let prefix = cells.prefix;
    let uncounted =
        if cells.level.is_checked() { "" } else { "    /* Always 0, because checks were left out. */\n" };
    let mut text = format!(
        "struct {prefix}_memory {{\n    /* Steps of the last run, as Reviver counts them. */\n    int64_t steps;\n\
        \x20   uint64_t erased_bits;\n{uncounted}    uint64_t discarded_bits;\n    uint64_t drops;\n"
    );
    if gradient.is_some() {
        text.push_str(verdict::fields(cells));
    }
    text.push_str(cells.calls.map_or("", CallMemory::ready));
    let of = cells.numbers.real();
    if let Some(seeded) = gradient {
        let [ints, reals] = [Class::Int, Class::Real].map(|class| cells.lanes_of(class) * cells.fixed(class));
        let results = cells.lanes * seeded.cells().len();
        let _ = write!(
            text,
            "    /* Cells at the start of a gradient, and the values of the seeded cells. */\n    int64_t start_ints[{ints}];\n    {of} start_reals[{reals}];\n    {of} results[{results}];\n",
        );
    }
    let _ = write!(
        text,
        "    int64_t ints[{}];\n    {of} reals[{reals}];\n    {of} adjoints[{reals}];\n{}}};\n\n",
        cells.all(Class::Int),
        cells.calls.map(|calls| calls.records(&prefix.to_uppercase())).unwrap_or_default(),
        reals = cells.all(Class::Real),
    );
    text
}

fn public(text: &mut String, interface: &Interface, function: CFunction, what: &str) {
    let described = interface.described(function);
    let gap = if described.is_empty() { "" } else { "\n\n" };
    let _ = write!(
        text,
        "/* {what}{gap}{}*/\n{};\n\n",
        described.trim_end_matches('\n').to_owned() + " ",
        interface.head(function)
    );
}

fn statuses(upper: &str) -> String {
    let lines: String = STATUSES
        .iter()
        .map(|(name, number, meaning)| format!("    {upper}_{name} = {number}, /* {meaning} */\n"))
        .collect();
    format!(
        "enum {{\n{lines}    {upper}_ON_WAY_BACK = {IN_REVERSE_SWEEP} /* added if a check fails in the reverse sweep of a gradient */\n}};\n\n"
    )
}

/// Returns the C function that returns the meaning of a status.
fn messages(cells: &ProgramCells, has_loss: bool) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    let line =
        |status: &str, meaning: &str| format!("    case {upper}_{status}:\n        return \"{meaning}\";\n");
    let mut lines: String = STATUSES.iter().map(|(name, _, meaning)| line(name, meaning)).collect();
    let checks =
        STATUSES.iter().filter(|(name, ..)| has_loss && CHECKS.iter().any(|check| check.name() == *name));
    lines.extend(checks.map(|(name, _, meaning)| {
        let meaning = format!("in the reverse sweep of the gradient: {meaning}");
        line(&format!("{name} + {upper}_ON_WAY_BACK"), &meaning)
    }));
    format!(
        "const char *{prefix}_message(int status) {{\n    switch (status) {{\n{lines}\
        \x20   default:\n        return \"unknown status\";\n    }}\n}}\n\n\
        const char *{prefix}_built_by_reviver(void) {{\n    return \"{}{}\";\n}}\n",
        env!("CARGO_PKG_VERSION"),
        if cells.level.is_checked() { "" } else { " unchecked" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_status() {
        for status in CHECKS.into_iter().chain([CheckStatus::ReverseSweep]) {
            assert!(STATUSES.iter().any(|(name, ..)| *name == status.name()), "{status:?}");
        }
        assert!(STATUSES.iter().zip(0..).all(|((_, number, _), n)| *number == n));
    }
}
