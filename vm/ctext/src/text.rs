//! The C text of a program: its options, the SSA functions that it is generated from, and the files.

use std::fmt::Write as _;

use reviver_compile::build;
use reviver_compile::form::{
    Demands, FormExit, FrameZeros, Observed, SsaEnd, SsaForm, StopPlace, StopPlaces, TOP_WORD, Version,
};
use reviver_compile::known::KnownCells;
use reviver_compile::left::left_by;
use reviver_compile::op::{OpKind, Space, SsaOp};
use reviver_compile::passes::{PASSES, improved};
use reviver_compile::written::TextPlan;
use reviver_flow::Activity;
use reviver_flow::graph::Way;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Shape};
use reviver_isa::number::literal_bits;
use reviver_isa::update::Action;
use reviver_vm::differentiate::early_turn;
use reviver_vm::{CheckLevel, Program};

use crate::body::{CheckStatus, function};
use crate::calls::CallRoom;
use crate::error::NoText;
use crate::helpers::CHelpers;
use crate::identifiers::{fnv, identifier, words};
use crate::interface::{CFunction, Interface};
use crate::judge;
use crate::memory::ProgramCells;
use crate::place::{deep_call, place};
use crate::statements::Statements;

/// The first words of every generated C file.
pub const WRITTEN: &str = "/* written by `reviver build`";

/// The first words of every generated header.
pub const WRITTEN_HEADER: &str = "/* header written by `reviver build`";

/// An exported symbol that marks libraries. No other generated text has it, so it stays unique when objects are linked.
pub const LIBRARY_MARK: &str = "reviver_library_mark";

/// The C text of a program.
#[derive(Clone, Debug)]
pub struct CText {
    prefix: String,
    declarations: String,
    helpers: CHelpers,
    body: String,
}

/// The statuses: name, number, and meaning.
const STATUSES: &[(&str, i32, &str)] = &[
    ("DONE", 0, "the results are written"),
    ("ARGUMENT", 1, "an argument isn't a finite number"),
    ("CHECK", 2, "an assertion or the condition of a join doesn't hold, or an integer isn't 0 that must be"),
    ("NOT_VACANT", 3, "a real that must be 0 isn't"),
    ("NOT_FINITE", 4, "a result isn't a finite number"),
    ("INDEX", 5, "an index is outside of its array"),
    ("SAME_CELL", 6, "two operands that must be different cells are one"),
    ("DIVISION_BY_ZERO", 7, "an integer is divided by 0"),
    ("NEGATIVE_EXPONENT", 8, "an integer is raised to a negative power"),
    ("OUT_OF_RANGE", 9, "a number is too large, or a function has no value there"),
    ("NOT_CLEAR", 10, "a cell that must be as at first isn't where the run has arrived"),
    ("WAY_BACK", 11, "the way back of a gradient took other jumps than the way there"),
    ("FREED", 12, "the way back of a gradient, or the way there, freed more than rounding"),
    ("MISSED", 13, "the way back of a gradient missed the start by more than rounding"),
    ("SENSITIVE", 14, "what rounding changed may change the loss by more than rounding"),
    ("CHANGED", 15, "the way back of a gradient came to another start"),
    ("LOST_ADJOINT", 16, "an adjoint isn't 0 that must be: a step would lose it"),
    ("DEPTH", 17, "more calls would be open than the program's `.limit depth` allows"),
    ("NO_ROOM", 18, "more calls would be open than `.._CALLS` gives the memory room for"),
];

/// Added to the status of a check that fails in the reverse sweep of a gradient.
const ON_WAY_BACK: i32 = 100;

/// Statuses of checks, which may also fail in the reverse sweep of a gradient.
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
    CheckStatus::NoRoom,
];

impl CText {
    /// Generates the text of a program. All its names begin with a prefix derived from `name`. With a loss it includes
    /// the gradient of the loss. The level selects which checks the text contains.
    ///
    /// # Errors
    /// Fails if the program does something that has no C text, or if the loss isn't a real cell.
    pub fn of(program: &Program, name: &str, loss: Option<&str>, level: CheckLevel) -> Result<CText, NoText> {
        let prefix = identifier(name);
        let loss = loss.map(|loss| cell_of(program, loss)).transpose()?;
        let ways = Ways::of(program, level)?;
        let gradient = loss.as_ref().map(|loss| Ways::of_gradient(program, loss, level)).transpose()?;
        let forms =
            [Some(&ways), gradient.as_ref()].into_iter().flatten().flat_map(|ways| [&ways.there, &ways.back]);
        let cells = ProgramCells::new(program, &prefix, level, demanded(program, forms)?);
        let interface = Interface::of(&cells);
        let mut text = CText {
            declarations: declarations(&cells, &interface, loss.as_ref()),
            helpers: CHelpers::default(),
            body: String::new(),
            prefix: prefix.clone(),
        };
        text.add(&cells.begin());
        text.ways(&cells, &interface, &ways)?;
        if let (Some(loss), Some(ways)) = (&loss, &gradient) {
            text.gradient(&cells, ways)?;
            text.add(&gradient_function(&cells, &interface, loss));
        }
        text.add(&messages(&cells, loss.is_some()));
        Ok(text)
    }

    /// Returns the prefix of all names in the text.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the header for callers.
    pub fn header(&self) -> String {
        format!("{WRITTEN_HEADER}, and overwritten when it is written again */\n{}", self.declarations)
    }

    /// Returns the C file of a library, which has a mark that distinguishes it from other C files.
    pub fn source_of_library(&self) -> String {
        format!(
            "{}\n/* What the library is known by. */\nextern const char {LIBRARY_MARK}[];\n\
            const char {LIBRARY_MARK}[] = \"built by `reviver build --lib`\";\n",
            self.source()
        )
    }

    /// Returns the C file, which needs no header.
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
            "{WRITTEN}, and overwritten when it is written again */\n{}\n{BEGINNING}\n{}\n{}",
            declarations.join("\n"),
            helpers.written(),
            bodies.join("\n")
        )
    }

    /// Adds functions, and the helpers that they call.
    fn add(&mut self, text: &str) {
        self.helpers.add_for(text);
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// Adds the function of an SSA function, and, once, the functions that reserve memory for its calls.
    fn add_way(&mut self, cells: &ProgramCells, text: &str) {
        let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
        let is_asked = |calls: &CallRoom| {
            calls.is_asked(text, prefix, &upper) && !calls.is_asked(&self.body, prefix, &upper)
        };
        if let Some(calls) = cells.calls.filter(is_asked) {
            self.add(&calls.functions(prefix, &upper, cells.numbers, cells.others()));
        }
        self.add(text);
    }

    /// Adds the functions for the forward and the backward direction.
    fn ways(&mut self, cells: &ProgramCells, interface: &Interface, ways: &Ways) -> Result<(), NoText> {
        let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
        let statements = Statements(cells.program);
        self.add_way(cells, &function(&ways.there, &cells.names(), statements, &format!("{prefix}_there"))?);
        self.add_way(cells, &function(&ways.back, &cells.names(), statements, &format!("{prefix}_back"))?);
        let clear = cells.is_clear(&format!("{prefix}_is_clear_there"), |global| global.role.is_result());
        self.add(&clear);
        let clear = cells.is_clear(&format!("{prefix}_is_clear_back"), |global| global.role.is_given());
        self.add(&clear);
        for (which, way) in [(CFunction::Forward, "there"), (CFunction::Backward, "back")] {
            let sign = if way == "back" { "    memory->steps = -memory->steps;\n" } else { "" };
            let text = format!(
                "{} {{\n    int status;\n    {prefix}_begin(memory);\n{}    status = {prefix}_{way}(memory);\n{sign}\
                \x20   if (status != {upper}_DONE) {{\n        return status;\n    }}\n\
                \x20   if (!{prefix}_is_clear_{way}(memory)) {{\n        return {upper}_NOT_CLEAR;\n    }}\n{}\
                \x20   return {upper}_DONE;\n}}\n",
                interface.head(which),
                interface.take_in(which),
                interface.give_out(which)
            );
            self.add(&text);
        }
        Ok(())
    }

    /// Adds the forward and reverse sweeps of a gradient, and the functions that verify it.
    fn gradient(&mut self, cells: &ProgramCells, ways: &Ways) -> Result<(), NoText> {
        let name = |way: &str| format!("{}_gradient_{way}", cells.prefix);
        let statements = Statements(cells.program);
        let there = function(&ways.there, &cells.names(), statements, &name("there"))?;
        let back = function(&ways.back, &cells.names(), statements, &name("back"))?;
        let freed = judge::freed_name(cells);
        if [&there, &back].iter().any(|text| words(text).any(|word| word == freed)) {
            self.add(&judge::freed(cells));
        }
        [there, back].iter().for_each(|text| self.add_way(cells, text));
        if cells.level.is_checked() {
            self.add(&judge::functions(cells));
        }
        Ok(())
    }
}

/// The SSA functions of a direction and of its opposite.
#[derive(Debug)]
struct Ways {
    there: SsaForm,
    back: SsaForm,
}

impl Ways {
    /// Builds the SSA functions from each end of a program to the other.
    fn of(program: &Program, level: CheckLevel) -> Result<Ways, NoText> {
        let (begin, end) = (program.begin(), program.end());
        // Main's variables are 0 at either end.
        let zeros = FrameZeros { cells: true, ..FrameZeros::default() };
        let plain = Version {
            position: begin,
            way: Way::Along,
            gradient: false,
            activity: Activity::default(),
            level,
            is_watched: false,
            stops: StopPlaces::default(),
            zeros,
            known: KnownCells::default(),
            observed: Observed::Arrival,
        };
        let back = Version { position: end, way: Way::Against, ..plain.clone() };
        Ok(Ways { there: version(program, plain, end)?, back: version(program, back, begin)? })
    }

    /// Builds the forward sweep to the point where a loss is final, and the reverse sweep.
    fn of_gradient(program: &Program, loss: &LossPlace, level: CheckLevel) -> Result<Ways, NoText> {
        if program.switches_mode() || program.reads_mode() {
            return Err(NoText::OwnMode);
        }
        let is_watched = level.is_checked() && !program.module().real.is_exact();
        let turn = early_turn(program, &[loss.cell]).and_then(|stops| stops.only()).map(|node| node.position);
        let stops = turn.map(|position| StopPlace { position, way: Way::Along }).into_iter().collect();
        let (begin, to) = (program.begin(), turn.unwrap_or(program.end()));
        let zeros = FrameZeros { cells: true, ..FrameZeros::default() };
        let (position, way) = (begin, Way::Along);
        let observed = Observed::Arrival;
        let known = KnownCells::default();
        let there = Version {
            position,
            way,
            gradient: false,
            activity: Activity::default(),
            level,
            is_watched,
            stops,
            zeros,
            known,
            observed,
        };
        let there = version(program, there, to)?;
        // At the turning point only the loss has an adjoint, and it is none of main's variables.
        let are_zero = !program.names_adjoints();
        let zeros =
            FrameZeros { adjoints: are_zero, no_adjoint_is_negative: are_zero, ..FrameZeros::default() };
        let (position, way) = (to, Way::Against);
        let stops = StopPlaces::default();
        // Without checks the reverse sweep is not verified, so only the adjoints are live at its end.
        let observed = if level.is_checked() { observed } else { Observed::Adjoints };
        let known = left_by(&there, to);
        let activity = program.for_losses(Some(&[loss.cell])).activity().clone();
        let gradient = true;
        let back =
            Version { position, way, gradient, activity, level, is_watched, stops, zeros, known, observed };
        Ok(Ways { there, back: version(program, back, begin)? })
    }
}

/// Builds the SSA function of a specialization, which must end at a position.
fn version(program: &Program, version: Version, to: u32) -> Result<SsaForm, NoText> {
    let form = build(program.module(), program.flow(), version)?;
    check_exits(program, &form, to)?;
    let mut form = improved(form, &PASSES);
    forget_refused(&mut form);
    Ok(form)
}

/// Removes stores before exits for lack of call memory: execution ends there, so the cells are dead.
fn forget_refused(form: &mut SsaForm) {
    let mut blocks = std::mem::take(&mut form.blocks);
    for block in &mut blocks {
        let SsaEnd::Exit { exit } = block.end else { continue };
        if form.exits.get(exit as usize).is_some_and(|exit| exit.is_full) {
            block.ops.retain(|&value| form.op(value).is_none_or(|op| !is_store(op) || says_top(form, op)));
        }
    }
    form.blocks = blocks;
}

fn is_store(op: &SsaOp) -> bool {
    matches!(op.kind, OpKind::Store(_))
}

/// Returns true if a store writes the end of the records of open calls.
fn says_top(form: &SsaForm, op: &SsaOp) -> bool {
    let address = op.operands.first().and_then(|&address| form.op(address));
    op.kind == OpKind::Store(Space::References)
        && address.is_some_and(|address| address.kind == OpKind::Int(TOP_WORD.into()))
}

/// Returns the maximum demands of several SSA functions; fails if they exceed the program's limits.
fn demanded<'f>(program: &Program, forms: impl Iterator<Item = &'f SsaForm>) -> Result<Demands, NoText> {
    let most = forms.fold(Demands::default(), |most, form| most.max(form.demands));
    let limit = program.module().limits.depth;
    match most.depth > limit {
        true => Err(NoText::Depth { place: deep_call(program.module(), limit), limit }),
        false => Ok(most),
    }
}

/// The cell that is differentiated.
#[derive(Debug)]
struct LossPlace {
    name: String,
    /// Its address among the reals.
    cell: usize,
}

/// Returns the real cell with a name such as `y`, `A[3]` or `M[1,2]`.
fn cell_of(program: &Program, name: &str) -> Result<LossPlace, NoText> {
    let compact: String = name.chars().filter(|sign| !sign.is_whitespace()).collect();
    let base = compact.split('[').next().unwrap_or_default();
    let unknown = || NoText::NoCell { name: name.to_owned() };
    let (number, global) = program.global(base).ok_or_else(unknown)?;
    let cells = program.cells(number);
    if global.class != Class::Real {
        return Err(NoText::NotReal { name: base.to_owned() });
    }
    if compact == base && global.shape != Shape::Scalar {
        return Err(NoText::ManyCells { name: base.to_owned(), cells: cells.len() });
    }
    let n = (0..cells.len()).find(|&n| program.cell_name(number, n) == compact).ok_or_else(unknown)?;
    Ok(LossPlace { cell: cells.start + n, name: compact })
}

/// Refuses an SSA function with an exit other than the end of the run.
fn check_exits(program: &Program, form: &SsaForm, to: u32) -> Result<(), NoText> {
    let left = TextPlan::of(form).order;
    let exits = left.iter().filter_map(|&block| match form.blocks.get(block as usize)?.end {
        SsaEnd::Exit { exit } => form.exits.get(exit as usize),
        SsaEnd::Go(_) | SsaEnd::Branch { .. } | SsaEnd::Pause { .. } => None,
    });
    // A position in a called procedure would be reached with open calls.
    let main = program.module().procedures.first();
    let is_main = main.is_some_and(|main| (main.entry..=main.exit).contains(&to));
    let is_end = |exit: &FormExit| exit.is_full || exit.position == to && exit.calls.is_empty() && is_main;
    match exits.into_iter().find(|exit| !is_end(exit)) {
        Some(exit) => Err(foreign(program, exit)),
        None => Ok(()),
    }
}

/// Describes the operation at an exit that has no C text.
fn foreign(program: &Program, exit: &FormExit) -> NoText {
    let at = match exit.way {
        Way::Along => exit.position,
        Way::Against => exit.position.saturating_sub(1),
    };
    let module = program.module();
    let Some(instruction) = module.code.get(at as usize) else { return NoText::Call };
    let cure = match instruction.update.action() {
        Action::Put(_) | Action::Take(_) => "keep the values in an array: there are no stacks and tapes in C",
        Action::Show => "take it out, and print what the function gives back",
        Action::Call(_) => {
            "write what is called in its place, by a macro: a rule, what passes a slice with a step, an adjoint or very many arguments, and a very large procedure have no text"
        }
        Action::Tasks(_) => {
            "pass each task elements that the counter of `par for` names, or cells that are known: then nothing is to be compared here"
        }
        Action::Switch(_) => "take it out; `--of` differentiates the program from outside",
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Test
        | Action::Jump
        | Action::Join
        | Action::Begin
        | Action::End => "`reviver run` runs it",
    };
    NoText::Foreign { place: place(module, at), what: instruction.update.name().to_owned(), cure }
}

/// The required headers and compiler settings of the text.
const BEGINNING: &str = "\
/* Each operation on floats is rounded by itself, to its own width. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error \"compile without -ffast-math and -funsafe-math-optimizations: results would be others\"
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0
#error \"compile without -ffinite-math-only: numbers that are too large would not be found\"
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
/* GCC fuses all the same where it computes with several numbers at once. */
#pragma GCC optimize (\"no-tree-loop-vectorize\", \"no-tree-slp-vectorize\")
#endif
#endif

/* A comparison may always come to the same: it is the program's. */
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
#error \"compile for a processor that rounds each operation to its own width: with -msse2 -mfpmath=sse, say\"
#endif
";

/// The notice for callers about a text without checks.
const UNCHECKED: &str = "\n\n   \
Unchecked: nobody looks whether cells are vacant that must be, whether joins agree, and whether the way back\n   \
of a gradient was the way there. Where a checked run succeeds, results are the same: integers and fixed point\n   \
bit for bit, floats where what `uncompute` undoes is vacated. Elsewhere they are anything. Assertions, indices,\n   \
divisions by 0 and results that aren't finite are looked at as ever; discarded bits aren't counted.";

/// Returns the contents of the header.
fn declarations(cells: &ProgramCells, interface: &Interface, loss: Option<&LossPlace>) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    let (statuses, memory) = (statuses(&upper), memory(cells, loss.is_some()));
    let is_checked = cells.level.is_checked();
    let mut text = String::new();
    let _ = write!(
        text,
        "#ifndef {upper}_REVIVER_H\n#define {upper}_REVIVER_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
/* A program of Reviver as C text. Compile it as C11, with -ffp-contract=off, and link with -lm.\n\n   Numbers: integers have {} \
bits and wrap; reals are {}. Results are those of `reviver run`, bit for\n   bit. The processor must round to the nearest, as it does if nobody tells it otherwise.\n\n   \
Memory: all that a run changes lies in a `struct {prefix}_memory`, which the caller brings; it needs no\n   initialization. Functions may be called at the \
same time, each with a memory of its own.\n\n   Results are written on success only. What is given and what is taken may be one place.\n   \
Nothing limits how long a run takes: a loop of the program that has no end has none here.{} */\n\n",
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
    text.push_str(&linked_names(cells, interface, loss, &(statuses.clone() + &memory)));
    text.push_str(&statuses);
    text.push_str(&memory);
    public(&mut text, interface, CFunction::Forward, "From inputs to results.");
    public(&mut text, interface, CFunction::Backward, "From results to inputs.");
    if let Some(loss) = loss {
        public(&mut text, interface, CFunction::Gradient, &promise(cells, loss));
    }
    let _ = write!(
        text,
        "/* What a status means. */\nconst char *{prefix}_message(int status);\n\n/* The version of Reviver that has written this, and `unchecked` behind it where checks were left out. */\n\
        const char *{prefix}_built_by_reviver(void);\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    );
    text
}

/// Returns macros that rename the linked functions. So a header doesn't link with a C file that has other memory,
/// statuses or arguments.
fn linked_names(
    cells: &ProgramCells,
    interface: &Interface,
    loss: Option<&LossPlace>,
    layout: &str,
) -> String {
    let functions: &[CFunction] = match loss {
        Some(_) => &[CFunction::Forward, CFunction::Backward, CFunction::Gradient],
        None => &[CFunction::Forward, CFunction::Backward],
    };
    let prefix = cells.prefix;
    let heads = functions.iter().map(|&function| interface.head(function));
    let known = [cells.module().real.to_string(), layout.to_owned()];
    let unchecked = (!cells.level.is_checked()).then(|| cells.level.name().to_owned());
    let known = known.into_iter().chain(heads).chain(loss.map(|loss| loss.name.clone())).chain(unchecked);
    let mark = fnv(known.flat_map(String::into_bytes)) as u32;
    let others = ["message", "built_by_reviver"];
    let names = functions.iter().map(|function| function.name()).chain(others);
    let upper = prefix.to_uppercase();
    let linked = |name: &str| {
        let linked = format!("{prefix}_{name}_{mark:08x}");
        if cells.calls.is_some() { CallRoom::marked(&upper, &linked) } else { linked }
    };
    let marks = if cells.calls.is_some() { CallRoom::marks(&upper) } else { String::new() };
    let lines: String = names.map(|name| format!("#define {prefix}_{name} {}\n", linked(name))).collect();
    format!(
        "/* What is linked bears a mark of all that a caller must know: a header and a C file that were written with other\n   \
        options don't fit each other, and the linker says so. */\n{marks}{lines}\n"
    )
}

/// Returns the struct of all memory that a run changes.
fn memory(cells: &ProgramCells, has_loss: bool) -> String {
    let prefix = cells.prefix;
    let uncounted =
        if cells.level.is_checked() { "" } else { "    /* 0: without checks nobody counts them. */\n" };
    let mut text = format!(
        "struct {prefix}_memory {{\n    /* The steps that were made, as Reviver counts them. */\n    int64_t steps;\n\
        \x20   uint64_t erased_bits;\n{uncounted}    uint64_t discarded_bits;\n    uint64_t drops;\n"
    );
    if has_loss && cells.level.is_checked() {
        text.push_str(&judge::fields(cells));
    }
    text.push_str(cells.calls.map_or("", CallRoom::ready));
    let _ = write!(
        text,
        "    int64_t ints[{}];\n    {of} reals[{reals}];\n    {of} adjoints[{reals}];\n{}}};\n\n",
        cells.all(Class::Int),
        cells.calls.map(|calls| calls.records(&prefix.to_uppercase())).unwrap_or_default(),
        of = cells.numbers.real(),
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

/// Describes the guarantees of a gradient.
fn promise(cells: &ProgramCells, loss: &LossPlace) -> String {
    let judged = match cells.numbers.is_fixed() {
        _ if !cells.level.is_checked() => {
            "Nobody looks whether the way back was the way\n   there: where floats lose so much that it wasn't, the numbers are wrong and nothing tells it."
        }
        true => {
            "Nothing is lost in fixed point; the way back must come to the\n   same start, bit for bit, or the status says CHANGED."
        }
        false => {
            "Floats lose bits, so the way back may go astray. It is watched as\n   `reviver grad` watches its own: it must jump at the same steps \
             (WAY_BACK), free nothing that rounding doesn't\n   explain (FREED), come to the same integers (CHANGED) and to the same reals but for \
             rounding (MISSED), and what\n   it is off by may not change the loss (SENSITIVE). `reviver grad` makes such a way again with a history; C text\n   \
             has none, and gives no number. What isn't checked: whether the loss has a derivative at a jump."
        }
    };
    format!(
        "The gradient of `{}`: its value, and its derivatives by each real input. The way back finds the intermediate values\n   \
         again, without a tape. {judged}\n   A step that would lose an adjoint is a check that fails (LOST_ADJOINT).",
        loss.name
    )
}

fn statuses(upper: &str) -> String {
    let lines: String = STATUSES
        .iter()
        .map(|(name, number, meaning)| format!("    {upper}_{name} = {number}, /* {meaning} */\n"))
        .collect();
    format!(
        "enum {{\n{lines}    {upper}_ON_WAY_BACK = {ON_WAY_BACK} /* added where a check fails on the way back of a gradient */\n}};\n\n"
    )
}

/// Returns the function that describes a status.
fn messages(cells: &ProgramCells, has_loss: bool) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    let line =
        |status: &str, meaning: &str| format!("    case {upper}_{status}:\n        return \"{meaning}\";\n");
    let mut lines: String = STATUSES.iter().map(|(name, _, meaning)| line(name, meaning)).collect();
    let checks =
        STATUSES.iter().filter(|(name, ..)| has_loss && CHECKS.iter().any(|check| check.name() == *name));
    lines.extend(checks.map(|(name, _, meaning)| {
        let meaning = format!("on the way back of the gradient: {meaning}");
        line(&format!("{name} + {upper}_ON_WAY_BACK"), &meaning)
    }));
    format!(
        "const char *{prefix}_message(int status) {{\n    switch (status) {{\n{lines}\
        \x20   default:\n        return \"no status\";\n    }}\n}}\n\n\
        const char *{prefix}_built_by_reviver(void) {{\n    return \"{}{}\";\n}}\n",
        env!("CARGO_PKG_VERSION"),
        if cells.level.is_checked() { "" } else { " unchecked" }
    )
}

fn gradient_function(cells: &ProgramCells, interface: &Interface, loss: &LossPlace) -> String {
    let (prefix, upper, cell) = (cells.prefix, cells.prefix.to_uppercase(), loss.cell);
    let of = cells.numbers.real();
    let one = cells.numbers.real_literal(literal_bits(cells.module().real, 1.0));
    let is_fixed = cells.numbers.is_fixed();
    let keeps_start = match cells.level.is_checked() {
        true => format!(
            "    memcpy(memory->start_ints, memory->ints, sizeof memory->start_ints);\n\
            \x20   memcpy(memory->start_reals, memory->reals, {} * sizeof memory->reals[0]);\n",
            cells.fixed(Class::Real)
        ),
        false => String::new(),
    };
    let (before, turn, judged) = match is_fixed {
        _ if !cells.level.is_checked() => (String::new(), String::new(), format!("{upper}_DONE")),
        true => (String::new(), String::new(), format!("{prefix}_judged(memory)")),
        false => (
            format!("    largest = {prefix}_largest(memory);\n"),
            format!("    largest = fmax(largest, {prefix}_largest(memory));\n"),
            format!("{prefix}_judged(memory, largest, (double)value)"),
        ),
    };
    let declared = if before.is_empty() { "" } else { "    double largest;\n" };
    format!(
        "{head} {{\n    {of} value;\n    int status;\n{declared}    {prefix}_begin(memory);\n{inputs}{keeps_start}{before}\
        \x20   status = {prefix}_gradient_there(memory);\n    if (status != {upper}_DONE) {{\n        return status;\n    }}\n{turn}\
        \x20   value = memory->reals[{cell}];\n    memory->adjoints[{cell}] = {one};\n\
        \x20   status = {prefix}_gradient_back(memory);\n    if (status != {upper}_DONE) {{\n\
        \x20       return status == {upper}_{lost} ? status : status + {upper}_ON_WAY_BACK;\n    }}\n\
        \x20   status = {judged};\n    if (status != {upper}_DONE) {{\n        return status;\n    }}\n\
        \x20   if (loss) {{\n        *loss = value;\n    }}\n{outputs}    return {upper}_DONE;\n}}\n",
        head = interface.head(CFunction::Gradient),
        inputs = interface.take_in(CFunction::Gradient),
        outputs = interface.give_out(CFunction::Gradient),
        lost = CheckStatus::WayBack.name(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_status() {
        for status in CHECKS.into_iter().chain([CheckStatus::WayBack]) {
            assert!(STATUSES.iter().any(|(name, ..)| *name == status.name()), "{status:?}");
        }
        assert!(STATUSES.iter().zip(0..).all(|((_, number, _), n)| *number == n));
    }
}
