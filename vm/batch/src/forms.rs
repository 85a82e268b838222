//! The forms that lanes go through: one from an end of the program to the other, or the two of a gradient. Knows no text and no cell's number.

use reviver_compile::Outside;
use reviver_compile::bounded::{BoundedCalls, bounded};
use reviver_compile::build;
use reviver_compile::form::{FormExit, Observed, SsaEnd, SsaForm, Version};
use reviver_compile::known::KnownCells;
use reviver_compile::left::left_by;
use reviver_compile::passes::{FormPass, PASSES, improved};
use reviver_compile::route::RoutePlan;
use reviver_compile::start::RouteStart;
use reviver_compile::written::TextPlan;
use reviver_flow::graph::Way;
use reviver_isa::update::Action;
use reviver_vm::differentiate::early_turn;
use reviver_vm::{CheckLevel, Program, Travel};

use crate::no_shader::NoShader;

/// So many words of a lane's memory are for the calls that are open at once and aren't put in place, as those of a recursion: what a hundred
/// thousand lanes take then is what devices have.
const WORDS_OF_CALLS: u32 = 1 << 12;
/// So many such calls may be open whatever they take.
const LEAST_CALLS: u32 = 16;

/// A form, and what the calls may take that it opens.
#[derive(Debug)]
pub(crate) struct LaneForm {
    pub form: SsaForm,
    pub calls: BoundedCalls,
}

/// The form from one end of a program to the other.
///
/// # Errors
/// The program does something that devices can't.
pub(crate) fn whole(start: &RouteStart, travel: Travel, level: CheckLevel) -> Result<LaneForm, NoShader> {
    let program = start.program();
    form(start, RoutePlan::whole(program, travel, level), KnownCells::default(), false)
}

/// The forms to where the gradients of losses turn, reals by their addresses, and back from there.
///
/// # Errors
/// The program does something that devices can't.
pub(crate) fn gradient(
    start: &RouteStart,
    losses: &[usize],
    level: CheckLevel,
) -> Result<[LaneForm; 2], NoShader> {
    let program = start.program();
    if program.switches_mode() || program.reads_mode() || program.names_adjoints() {
        return Err(NoShader::OwnMode);
    }
    let turn = early_turn(program, losses).and_then(|stops| stops.only());
    let turn = turn.map_or(program.end(), |node| node.position);
    let [there, back] = RoutePlan::gradient(program, turn, level);
    let there = form(start, there, KnownCells::default(), true)?;
    let known = left_by(&there.form, turn);
    Ok([there, form(start, back, known, true)?])
}

/// A way's form, where each real may have an adjoint on one of the ways: then as many calls may be open on all of them.
fn form(
    start: &RouteStart,
    plan: RoutePlan,
    known: KnownCells,
    has_adjoints: bool,
) -> Result<LaneForm, NoShader> {
    let program = start.program();
    let version = plan.version(program, known);
    let observed = match version.observed {
        // Whoever sees a lane that hasn't arrived begins it anew.
        Observed::Anywhere | Observed::Arrival => Observed::Arrival,
        Observed::Adjoints => Observed::Adjoints,
    };
    let form = build(program.module(), program.flow(), Version { observed, ..version })?;
    let room = (WORDS_OF_CALLS, LEAST_CALLS);
    let calls = BoundedCalls::of(program, start.state(), form.demands, room, has_adjoints);
    let calls = calls.ok_or(NoShader::Limits)?;
    let form = bounded(form, calls);
    check(program, &form, plan.to)?;
    Ok(LaneForm { form: improved(form, &passes()), calls })
}

/// The last pass drops what is known of indices, and with it which arrays they lie in.
fn passes() -> Vec<FormPass> {
    PASSES.into_iter().filter(|(name, _)| *name != "indices").collect()
}

/// Refuses a form that isn't left at the end of the way alone.
fn check(program: &Program, form: &SsaForm, to: u32) -> Result<(), NoShader> {
    let main = program.module().procedures.first();
    let is_main = main.is_some_and(|main| (main.entry..=main.exit).contains(&to));
    let order = TextPlan::of(form).order;
    for block in order.iter().filter_map(|&block| form.blocks.get(block as usize)) {
        let SsaEnd::Exit { exit } = block.end else { continue };
        match form.exits.get(exit as usize) {
            Some(exit) if exit.position == to && exit.calls.is_empty() && is_main => {}
            Some(exit) => return Err(foreign(program, exit)),
            None => return Err(Outside::Code.into()),
        }
    }
    Ok(())
}

/// What is done at an exit that devices can't.
fn foreign(program: &Program, exit: &FormExit) -> NoShader {
    let at = match exit.way {
        Way::Along => exit.position,
        Way::Against => exit.position.saturating_sub(1),
    };
    let module = program.module();
    let Some(instruction) = module.code.get(at as usize) else { return Outside::Code.into() };
    let cure = match instruction.update.action() {
        Action::Put(_) | Action::Take(_) => "keep the values in an array: lanes have no stacks and tapes",
        Action::Show => "take it out, and print what the lanes have come to",
        Action::Call(_) => {
            "write what is called in its place, by a macro: a rule, what passes a slice with a step, an adjoint or very many arguments, and a very large procedure aren't for devices"
        }
        Action::Tasks(_) => {
            "pass each task elements that the counter of `par for` names, or cells that are known: then nothing is to be compared here"
        }
        Action::Switch(_) => "take it out, and ask for gradients from outside",
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
        | Action::End => "run lanes on the processor",
    };
    let place = match (module.structure.line(at), module.structure.file(at)) {
        (Some(line), Some(file)) => format!("{file}, line {line}"),
        (Some(line), None) => format!("line {line}"),
        (None, _) => format!("instruction {at}"),
    };
    NoShader::Foreign { place, what: instruction.update.name().to_owned(), cure }
}
