//! SSA construction: lowers the flow of a specialization to SSA blocks. A step block is a basic block of machine steps
//! in the specialization's control flow. Construction makes one or more SSA blocks from each step block, and operations
//! from its steps.

mod arith;
mod call;
mod call_graph;
mod cleared;
pub(crate) mod control_flow;
mod draft;
mod elision;
mod exit_liveness;
mod exits;
mod frame;
mod inlining;
mod pairs;
mod plan;
mod restore;
mod saved;
mod step;
mod storage;
mod unrolling;
mod writer;

use std::ops::Range;

use reviver_flow::graph::CodeDirection;
use reviver_flow::{Flow, Slot, Step};
use reviver_isa::Module;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::step::Operation;

use self::control_flow::{StepBlock, StepBlockEnd, StepGraph, step_graph};
use self::draft::{Draft, EntryState, ZeroCells};
use self::elision::{Elisions, SkippedPair};
use self::exits::{demands, function_calls, record_words};
use self::inlining::InlinedFrames;
use self::plan::{FunctionBlocks, FunctionPlan, StepBlockPlan};
use self::saved::SavedValues;
use self::storage::FunctionStorage;
use self::writer::StepWriter;
use crate::error::BuildError;
use crate::function::{
    FIRST_RECORD, FixedCells, Jump, NumberKinds, Specialization, SsaEnd, SsaFunction, ZerosAtEntry,
};
use crate::op::{Input, OpKind, Space};
use crate::order;

/// Upper bound on the number of values plus recorded variable definitions of an SSA function. The bound limits the
/// memory that construction needs.
const MOST_WORK: usize = 1 << 22;

/// Builds the SSA function of a specialization of a verified module from its flow, without optimization.
///
/// # Errors
/// The specialization doesn't belong to the module, or its function is too large.
pub fn build(
    module: &Module,
    flow: &Flow,
    specialization: Specialization,
) -> Result<SsaFunction, BuildError> {
    build_within(module, flow, specialization, MOST_WORK)
}

/// Builds the SSA function of a specialization; `most` is the upper bound on the number of values plus recorded
/// variable definitions.
///
/// # Errors
/// The specialization doesn't belong to the module, or its function exceeds the bound.
pub(crate) fn build_within(
    module: &Module,
    flow: &Flow,
    specialization: Specialization,
    most: usize,
) -> Result<SsaFunction, BuildError> {
    let (inlined_frames, elisions, step_graph) = found(module, flow, &specialization)?;
    let storages = FunctionStorage::new(flow, &inlined_frames, slots(flow, &step_graph.all));
    let record = record_words(&inlined_frames);
    let plan = FunctionPlan::of(&step_graph, &inlined_frames, &elisions, &storages, record);
    let draft = Draft::new(
        NumberKinds::of(module),
        plan.blocks,
        beginning(flow, &specialization, &inlined_frames, record),
        most,
    );
    let kept = SavedValues::default();
    let scope = StepWriter {
        flow,
        draft: &draft,
        storages: &storages,
        inlined_frames: &inlined_frames,
        kept: &kept,
        record,
        inlined_frame: 0,
        gradient: specialization.gradient,
        activity: &specialization.activity,
        level: specialization.level,
        is_watched: specialization.is_watched,
        at: 0,
    };
    plan.functions.iter().for_each(|function| write_beginnings(scope, function));
    // Step blocks are in the order of their discovery, so each one except the first follows one of its predecessors.
    for (step_block, place) in step_graph.all.iter().zip(&plan.places) {
        if draft.is_too_large() {
            return Err(BuildError::TooLarge);
        }
        write(StepWriter { inlined_frame: step_block.inlined_frame, ..scope }, step_block, place, &elisions);
    }
    for (step_block, place) in step_graph.all.iter().zip(&plan.places) {
        store(StepWriter { inlined_frame: step_block.inlined_frame, ..scope }, step_block, place);
    }
    let calls = function_calls(&inlined_frames);
    let demands = demands(&inlined_frames, &plan.exits, &calls, record);
    let cells = FixedCells::of(flow, demands);
    let reached = storages.reached();
    let mut function = SsaFunction {
        exits: plan.exits,
        calls,
        demands,
        cells,
        reached,
        ..draft.finish(specialization.clone())?
    };
    // If a callee never returns, the code after its calls is unreachable.
    order::drop_unreachable(&mut function);
    exit_liveness::drop_dead_stores(&mut function);
    Ok(with_safepoints(function))
}

/// Finds the step blocks of a specialization with their inlined frames, and the pairs in which `uncompute` is elided.
fn found<'f>(
    module: &'f Module,
    flow: &'f Flow,
    specialization: &'f Specialization,
) -> Result<(InlinedFrames<'f>, Elisions<'f>, StepGraph), BuildError> {
    let with = |mut elisions: Elisions<'f>| {
        let mut inlined_frames = InlinedFrames::of(module, flow, specialization);
        let step_graph = step_graph(flow, specialization, &mut inlined_frames, &mut elisions)?;
        Ok((inlined_frames, elisions, step_graph))
    };
    let found = with(Elisions::of(module, flow, specialization))?;
    // Values saved for a pair aren't available after an out-of-line call. So no pair is elided if the specialization
    // makes out-of-line calls.
    if found.0.calls().is_empty() { Ok(found) } else { with(Elisions::none(module, flow, specialization)) }
}

fn beginning(
    flow: &Flow,
    specialization: &Specialization,
    inlined_frames: &InlinedFrames,
    record: u32,
) -> EntryState {
    let records = match inlined_frames.begin_in_main() {
        true => OpKind::Int(FIRST_RECORD.into()),
        false => OpKind::Input(Input::Records),
    };
    EntryState { zeros: zero_cells(flow, specialization.zeros), records, record }
}

/// Returns the cells of main's frame that hold 0 at entry.
fn zero_cells(flow: &Flow, zeros: ZerosAtEntry) -> ZeroCells {
    let [ints, reals] = [Class::Int, Class::Real].map(|class| flow.layout().main_frame(class));
    let held = |holds: bool, cells: &Range<u32>| if holds { cells.clone() } else { 0..0 };
    ZeroCells {
        ints: held(zeros.cells, &ints),
        reals: held(zeros.cells, &reals),
        adjoints: held(zeros.adjoints, &reals),
    }
}

/// Returns the operation of a step in a direction.
fn operation(step: &Step, direction: CodeDirection) -> Operation {
    match direction {
        CodeDirection::Forward => step.operation,
        CodeDirection::Backward => step.inverse(),
    }
}

/// Iterates over all operands of the steps and of the final conditions of some step blocks. Each operand comes with the
/// number of the inlined frame whose code names the operand.
fn slots<'f>(flow: &'f Flow, step_graph: &'f [StepBlock]) -> impl Iterator<Item = (u32, &'f Slot)> {
    let steps = step_graph.iter().flat_map(|step_block| {
        let (first, second) = match step_block.end {
            StepBlockEnd::Fall { join, .. } | StepBlockEnd::Jump { join, .. } => (Some(join), None),
            StepBlockEnd::Branch { at, taken: (_, join), .. } => (Some(at), Some(join)),
            StepBlockEnd::Pass { .. }
            | StepBlockEnd::Call { .. }
            | StepBlockEnd::Enter { .. }
            | StepBlockEnd::Return { .. }
            | StepBlockEnd::Leave { .. }
            | StepBlockEnd::Cut { .. }
            | StepBlockEnd::Skip { .. }
            | StepBlockEnd::Exit { .. } => (None, None),
        };
        let all = step_block.steps.iter().copied().chain(first).chain(second);
        all.map(|at| (step_block.inlined_frame, at))
    });
    let steps = steps.filter_map(|(inlined_frame, at)| flow.step(at).map(|step| (inlined_frame, step)));
    steps.flat_map(|(inlined_frame, step)| step.slots.iter().map(move |slot| (inlined_frame, slot)))
}

/// Writes two kinds of blocks of an out-of-line callee: the block at its entry, and the blocks after each call of the
/// callee.
fn write_beginnings(scope: StepWriter, function: &FunctionBlocks) {
    let (draft, inlined_frames) = (scope.draft, scope.inlined_frames);
    draft.enter(function.entry);
    draft.begin_function();
    StepWriter { inlined_frame: function.inlined_frame, ..scope }.begin_frame();
    for back in &function.calls {
        let Some(&call) = inlined_frames.calls().get(back.call) else { continue };
        draft.enter(back.landing);
        draft.leave_function([Class::Int, Class::Real].map(|class| inlined_frames.frame_offset(call, class)));
        draft.enter(back.same);
        StepWriter { inlined_frame: call.called.by, ..scope }.after_call(call);
    }
}

/// Writes the steps of a step block and its end.
fn write(scope: StepWriter, step_block: &StepBlock, place: &StepBlockPlan, elisions: &Elisions) {
    let (flow, draft) = (scope.flow, scope.draft);
    draft.enter(place.body);
    scope.keep(elisions.get(step_block.inlined_frame), step_block.position);
    for &at in &step_block.steps {
        if let Some(step) = flow.step(at) {
            draft.set_instruction(Some(at));
            StepWriter { at, ..scope }.step(step, operation(step, scope.direction()));
        }
    }
    draft.set_instruction(step_block.end.instruction(scope.inlined_frames));
    draft.count_steps(step_block.steps.len() as u32 + step_block.end.steps());
    match step_block.end {
        StepBlockEnd::Fall { join, .. } => scope.require(join, false),
        StepBlockEnd::Jump { join, .. } => scope.land(place, join),
        StepBlockEnd::Branch { at, taken: (_, join), .. } => {
            if let Some(holds) = flow.step(at).and_then(|step| scope.condition(step)) {
                draft.set_condition(holds);
            }
            scope.land(place, join);
        }
        StepBlockEnd::Call { callee, .. } => scope.open(callee),
        StepBlockEnd::Return { at, .. } => StepWriter { at, ..scope }.close(&place.loops),
        StepBlockEnd::Enter { call, .. } => scope.enter(place, call),
        StepBlockEnd::Leave { at } => StepWriter { at, ..scope }.leave(place),
        StepBlockEnd::Skip { .. } => {
            if let Some(pair) = elisions.from(step_block.inlined_frame, step_block.position) {
                scope.skip(place, pair);
            }
        }
        StepBlockEnd::Pass { .. } | StepBlockEnd::Cut { .. } | StepBlockEnd::Exit { .. } => {}
    }
    draft.set_instruction(None);
}

/// Writes the stores before the exits of a step block, and the stores at its end if the end enters or leaves an
/// out-of-line callee.
fn store(scope: StepWriter, step_block: &StepBlock, place: &StepBlockPlan) {
    match (step_block.end, &place.leaving) {
        (StepBlockEnd::Exit { .. }, _) | (StepBlockEnd::Leave { .. }, None) => scope.store_all(place.body),
        _ => {}
    }
    if let Some((_, stop)) = place.head {
        scope.store_all(stop);
    }
    if let Some(direction) = &place.entering {
        scope.store_cells(direction.made);
        scope.store_all(direction.full);
    }
    if let Some(direction) = &place.leaving {
        direction.bottom.iter().for_each(|&bottom| scope.store_all(bottom));
        scope.store_others(direction.last);
    }
}

impl StepWriter<'_> {
    /// Emits the entry into an out-of-line callee, with a test whether one more call record fits.
    fn enter(self, place: &StepBlockPlan, number: usize) {
        let draft = self.draft;
        let (Some(direction), Some(&call)) = (&place.entering, self.inlined_frames.calls().get(number))
        else {
            return;
        };
        let has_room = draft.op(OpKind::IntTest(Order::Lt), [draft.records(), draft.records_end()]);
        draft.set_condition(has_room);
        draft.enter(direction.made);
        draft.count_steps(1);
        self.enter_function(number, call);
        draft.enter(direction.through);
        let frame = [Class::Int, Class::Real]
            .map(|class| draft.address(self.inlined_frames.after_frame(self.inlined_frame, class)));
        draft.enter_function(frame);
    }

    /// Emits the return from an out-of-line callee. Comparisons of the call number in the record select the code after
    /// the call. If the caller is interpreted, the number in its record is 0, and the code exits.
    fn leave(self, place: &StepBlockPlan) {
        let draft = self.draft;
        let Some(direction) = &place.leaving else { return };
        let own = -i64::from(self.record);
        let number = || draft.op(OpKind::Load(Space::References), [draft.record_word(own)]);
        if direction.bottom.is_some() {
            draft.set_condition(number());
        }
        draft.enter(direction.made);
        draft.count_steps(1);
        self.close(&place.loops);
        draft.enter(direction.last);
        if direction.chosen.is_empty() {
            return;
        }
        let number = number();
        for &(block, below) in &direction.chosen {
            draft.enter(block);
            draft.set_condition(draft.op(OpKind::IntTest(Order::Lt), [number, draft.int(below)]));
        }
    }
}

impl StepWriter<'_> {
    /// Skips the `uncompute` of an elided pair, and restores its cells instead.
    fn skip(self, place: &StepBlockPlan, pair: &SkippedPair) {
        if let (Some((head, _)), Some(steps)) = (place.head, self.steps_skipped(pair)) {
            self.draft.enter(head);
            self.draft.set_skipped(steps);
        }
        self.draft.enter(place.body);
        self.draft.count_steps(pair.steps.unwrap_or(0));
        self.restore(pair, &place.loops);
    }

    /// Writes the code at a taken branch. The code reports the jump to the watcher if a reverse sweep might branch
    /// differently, and checks that the condition of the join holds.
    fn land(self, place: &StepBlockPlan, join: u32) {
        let Some(taken) = place.taken else { return };
        self.draft.enter(taken);
        self.draft.set_instruction(Some(join));
        if self.is_watched && self.flow.may_diverge(join) && keeps(Rule::PathsAreCompared) {
            self.draft.op(OpKind::Jumped, []);
        }
        self.require(join, true);
    }

    /// Emits a check that the condition of a join holds if and only if the join was reached by a jump. Unchecked code
    /// has no such check.
    fn require(self, join: u32, was_jumped_to: bool) {
        if !self.level.is_checked() {
            return;
        }
        let Some(holds) = self.flow.step(join).and_then(|step| self.condition(step)) else { return };
        let zero = self.draft.int(0);
        let agrees = match was_jumped_to {
            true => holds,
            false => self.draft.op(OpKind::IntTest(Order::Eq), [holds, zero]),
        };
        self.draft.op(OpKind::RequireTrue, [agrees]);
    }
}

/// Computes the largest number of steps to the next safepoint or exit, from each safepoint and from the entry.
fn with_safepoints(mut function: SsaFunction) -> SsaFunction {
    let is_pause = |block: u32| matches!(function.blocks[block as usize].end, SsaEnd::Safepoint { .. });
    let mut most = vec![0_u32; function.blocks.len()];
    for block in order::postorder(&function, |to| !is_pause(to)) {
        let here = &function.blocks[block as usize];
        let behind = |jump: &Jump| if is_pause(jump.to) { 0 } else { most[jump.to as usize] };
        most[block as usize] = here.steps + here.end.jumps().map(behind).max().unwrap_or(0);
    }
    for (block, most) in function.blocks.iter_mut().zip(&most) {
        if let SsaEnd::Safepoint { steps, .. } = &mut block.end {
            *steps = *most;
        }
    }
    // If the entry leads directly to a safepoint, the steps after this safepoint count as first steps, because a
    // safepoint alone makes no progress.
    let first = function.blocks.first().into_iter().flat_map(|block| block.end.jumps());
    function.first_steps = first.map(|jump| most[jump.to as usize]).max().unwrap_or(0);
    function
}
