//! SSA construction: lowers the flow of a specialization to SSA blocks. A stretch, which is a basic block of machine
//! steps in the specialization's control flow, becomes one or more SSA blocks, and its steps become operations.

mod activation;
mod arith;
mod call;
mod cleared;
mod cycles;
mod draft;
mod elision;
mod exits;
mod frame;
mod kept;
mod observed;
mod pairs;
pub(crate) mod paths;
mod plan;
mod restore;
mod rounds;
mod step;
mod storage;
mod writer;

use std::ops::Range;

use reviver_flow::graph::Way;
use reviver_flow::{Flow, Slot, Step};
use reviver_isa::Module;
use reviver_isa::arith::Order;
use reviver_isa::instruction::Class;
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::step::Operation;

use self::activation::Activations;
use self::draft::{Beginning, Draft, ZeroCells};
use self::elision::{Elisions, SkippedPair};
use self::exits::{demands, function_calls, record_words};
use self::kept::KeptValues;
use self::paths::{Stretch, StretchEnd, Stretches, stretches};
use self::plan::{FormPlan, FunctionBlocks, StretchBlocks};
use self::storage::FunctionStorage;
use self::writer::StepWriter;
use crate::error::Outside;
use crate::form::{FIRST_RECORD, FixedCells, FrameZeros, Jump, NumberKinds, SsaEnd, SsaForm, Version};
use crate::op::{Input, OpKind, Space};
use crate::order;

/// Upper bound on the values of an SSA function plus the notes of what variables hold. It bounds the memory of
/// construction.
const MOST_WORK: usize = 1 << 22;

/// Builds the SSA function of a specialization of a verified module from its flow, without optimization.
///
/// # Errors
/// The specialization isn't one of the module, or is too large.
pub fn build(module: &Module, flow: &Flow, version: Version) -> Result<SsaForm, Outside> {
    build_within(module, flow, version, MOST_WORK)
}

/// Builds the SSA function with an upper bound `most` on values plus notes of what variables hold.
///
/// # Errors
/// The specialization isn't one of the module, or exceeds the bound.
pub(crate) fn build_within(
    module: &Module,
    flow: &Flow,
    version: Version,
    most: usize,
) -> Result<SsaForm, Outside> {
    let (activations, elisions, stretches) = found(module, flow, &version)?;
    let storages = FunctionStorage::new(flow, &activations, slots(flow, &stretches.all));
    let record = record_words(&activations);
    let plan = FormPlan::of(&stretches, &activations, &elisions, &storages, record);
    let draft = Draft::new(
        NumberKinds::of(module),
        plan.blocks,
        beginning(flow, &version, &activations, record),
        most,
    );
    let kept = KeptValues::default();
    let scope = StepWriter {
        flow,
        draft: &draft,
        storages: &storages,
        activations: &activations,
        kept: &kept,
        record,
        activation: 0,
        gradient: version.gradient,
        activity: &version.activity,
        level: version.level,
        is_watched: version.is_watched,
        at: 0,
    };
    plan.functions.iter().for_each(|function| write_beginnings(scope, function));
    // Each stretch was found after one of its predecessors.
    for (stretch, place) in stretches.all.iter().zip(&plan.places) {
        if draft.is_too_large() {
            return Err(Outside::TooLarge);
        }
        write(StepWriter { activation: stretch.activation, ..scope }, stretch, place, &elisions);
    }
    for (stretch, place) in stretches.all.iter().zip(&plan.places) {
        store(StepWriter { activation: stretch.activation, ..scope }, stretch, place);
    }
    let calls = function_calls(&activations);
    let demands = demands(&activations, &plan.exits, &calls, record);
    let cells = FixedCells::of(flow, demands);
    let mut form = SsaForm { exits: plan.exits, calls, demands, cells, ..draft.finish(version.clone())? };
    // If a callee never returns, the code after its calls is unreachable.
    order::drop_unreached(&mut form);
    observed::forget_others(&mut form);
    Ok(with_pauses(form))
}

/// Finds the stretches of a specialization with their activations (inlined frames), and the elided pairs, in
/// which a restore replaces `uncompute`.
fn found<'f>(
    module: &'f Module,
    flow: &'f Flow,
    version: &'f Version,
) -> Result<(Activations<'f>, Elisions<'f>, Stretches), Outside> {
    let with = |mut elisions: Elisions<'f>| {
        let mut activations = Activations::of(module, flow, version);
        let stretches = stretches(flow, version, &mut activations, &mut elisions)?;
        Ok((activations, elisions, stretches))
    };
    let found = with(Elisions::of(module, flow, version))?;
    // Values saved for a pair aren't available after an out-of-line call, so with such calls no pair is elided.
    if found.0.calls().is_empty() { Ok(found) } else { with(Elisions::none(module, flow, version)) }
}

fn beginning(flow: &Flow, version: &Version, activations: &Activations, record: u32) -> Beginning {
    let records = match activations.begin_in_main() {
        true => OpKind::Int(FIRST_RECORD.into()),
        false => OpKind::Input(Input::Records),
    };
    Beginning { zeros: zero_cells(flow, version.zeros), records, record }
}

/// Returns the cells of main's frame that hold 0 at entry.
fn zero_cells(flow: &Flow, zeros: FrameZeros) -> ZeroCells {
    let [ints, reals] = [Class::Int, Class::Real].map(|class| flow.layout().main_frame(class));
    let held = |holds: bool, cells: &Range<u32>| if holds { cells.clone() } else { 0..0 };
    ZeroCells {
        ints: held(zeros.cells, &ints),
        reals: held(zeros.cells, &reals),
        adjoints: held(zeros.adjoints, &reals),
    }
}

/// Returns the operation of a step in a direction.
fn operation(step: &Step, way: Way) -> Operation {
    match way {
        Way::Along => step.operation,
        Way::Against => step.inverse(),
    }
}

/// Iterates over all operands of the steps of some stretches, and of the conditions at their ends, each with the
/// activation that names it.
fn slots<'f>(flow: &'f Flow, stretches: &'f [Stretch]) -> impl Iterator<Item = (u32, &'f Slot)> {
    let steps = stretches.iter().flat_map(|stretch| {
        let (first, second) = match stretch.end {
            StretchEnd::Fall { join, .. } | StretchEnd::Jump { join, .. } => (Some(join), None),
            StretchEnd::Branch { at, taken: (_, join), .. } => (Some(at), Some(join)),
            StretchEnd::Pass { .. }
            | StretchEnd::Call { .. }
            | StretchEnd::Enter { .. }
            | StretchEnd::Return { .. }
            | StretchEnd::Leave { .. }
            | StretchEnd::Cut { .. }
            | StretchEnd::Skip { .. }
            | StretchEnd::Exit { .. } => (None, None),
        };
        let all = stretch.steps.iter().copied().chain(first).chain(second);
        all.map(|at| (stretch.activation, at))
    });
    let steps = steps.filter_map(|(activation, at)| flow.step(at).map(|step| (activation, step)));
    steps.flat_map(|(activation, step)| step.slots.iter().map(move |slot| (activation, slot)))
}

/// Writes the blocks at the entry of an out-of-line callee and after each of its calls.
fn write_beginnings(scope: StepWriter, function: &FunctionBlocks) {
    let (draft, activations) = (scope.draft, scope.activations);
    draft.enter(function.entry);
    draft.begin_function();
    StepWriter { activation: function.activation, ..scope }.begin_frame();
    for back in &function.calls {
        let Some(&call) = activations.calls().get(back.call) else { continue };
        draft.enter(back.landing);
        draft.leave_function([Class::Int, Class::Real].map(|class| activations.further(call, class)));
        draft.enter(back.same);
        StepWriter { activation: call.called.by, ..scope }.behind_function(call);
    }
}

/// Writes the steps of a stretch and its end.
fn write(scope: StepWriter, stretch: &Stretch, place: &StretchBlocks, elisions: &Elisions) {
    let (flow, draft) = (scope.flow, scope.draft);
    draft.enter(place.body);
    scope.keep(elisions.get(stretch.activation), stretch.position);
    for &at in &stretch.steps {
        if let Some(step) = flow.step(at) {
            draft.make_for(Some(at));
            StepWriter { at, ..scope }.step(step, operation(step, scope.way()));
        }
    }
    draft.make_for(stretch.end.instruction(scope.activations));
    draft.count_steps(stretch.steps.len() as u32 + stretch.end.steps());
    match stretch.end {
        StretchEnd::Fall { join, .. } => scope.require(join, false),
        StretchEnd::Jump { join, .. } => scope.land(place, join),
        StretchEnd::Branch { at, taken: (_, join), .. } => {
            if let Some(holds) = flow.step(at).and_then(|step| scope.condition(step)) {
                draft.set_condition(holds);
            }
            scope.land(place, join);
        }
        StretchEnd::Call { callee, .. } => scope.open(callee),
        StretchEnd::Return { at, .. } => StepWriter { at, ..scope }.close(&place.loops),
        StretchEnd::Enter { call, .. } => scope.enter(place, call),
        StretchEnd::Leave { at } => StepWriter { at, ..scope }.leave(place),
        StretchEnd::Skip { .. } => {
            if let Some(pair) = elisions.from(stretch.activation, stretch.position) {
                scope.skip(place, pair);
            }
        }
        StretchEnd::Pass { .. } | StretchEnd::Cut { .. } | StretchEnd::Exit { .. } => {}
    }
    draft.make_for(None);
}

/// Writes the stores at the exits of a stretch, and where it enters or leaves an out-of-line callee.
fn store(scope: StepWriter, stretch: &Stretch, place: &StretchBlocks) {
    match (stretch.end, &place.leaving) {
        (StretchEnd::Exit { .. }, _) | (StretchEnd::Leave { .. }, None) => scope.store_all(place.body),
        _ => {}
    }
    if let Some((_, stop)) = place.head {
        scope.store_all(stop);
    }
    if let Some(way) = &place.entering {
        scope.store_cells(way.made);
        scope.store_all(way.full);
    }
    if let Some(way) = &place.leaving {
        way.bottom.iter().for_each(|&bottom| scope.store_all(bottom));
        scope.store_others(way.last);
    }
}

impl StepWriter<'_> {
    /// Enters an out-of-line callee, if there is space for one more call record.
    fn enter(self, place: &StretchBlocks, number: usize) {
        let draft = self.draft;
        let (Some(way), Some(&call)) = (&place.entering, self.activations.calls().get(number)) else {
            return;
        };
        let has_room = draft.op(OpKind::IntTest(Order::Lt), [draft.records(), draft.records_end()]);
        draft.set_condition(has_room);
        draft.enter(way.made);
        draft.count_steps(1);
        self.enter_function(number, call);
        draft.enter(way.through);
        let frame = [Class::Int, Class::Real]
            .map(|class| draft.address(self.activations.behind_frame(self.activation, class)));
        draft.enter_function(frame);
    }

    /// Returns from an out-of-line callee. The record has the number of the call, and compares select the code after
    /// that call. The first record has no number if its caller is interpreted.
    fn leave(self, place: &StretchBlocks) {
        let draft = self.draft;
        let Some(way) = &place.leaving else { return };
        let own = -i64::from(self.record);
        let number = || draft.op(OpKind::Load(Space::References), [draft.record_word(own)]);
        if way.bottom.is_some() {
            draft.set_condition(number());
        }
        draft.enter(way.made);
        draft.count_steps(1);
        self.close(&place.loops);
        draft.enter(way.last);
        if way.chosen.is_empty() {
            return;
        }
        let number = number();
        for &(block, below) in &way.chosen {
            draft.enter(block);
            draft.set_condition(draft.op(OpKind::IntTest(Order::Lt), [number, draft.int(below)]));
        }
    }
}

impl StepWriter<'_> {
    /// Skips the `uncompute` of an elided pair, and restores its cells instead.
    fn skip(self, place: &StretchBlocks, pair: &SkippedPair) {
        if let (Some((head, _)), Some(steps)) = (place.head, self.steps_skipped(pair)) {
            self.draft.enter(head);
            self.draft.set_skipped(steps);
        }
        self.draft.enter(place.body);
        self.draft.count_steps(pair.steps.unwrap_or(0));
        self.put_back(pair, &place.loops);
    }

    /// Writes the checks at a taken branch: reports the jump to the watcher if the reverse run might branch
    /// differently, and requires the condition of the join.
    fn land(self, place: &StretchBlocks, join: u32) {
        let Some(taken) = place.taken else { return };
        self.draft.enter(taken);
        self.draft.make_for(Some(join));
        if self.is_watched && self.flow.may_stray(join) && keeps(Rule::PathsAreCompared) {
            self.draft.op(OpKind::Jumped, []);
        }
        self.require(join, true);
    }

    /// Requires that the condition of a join agrees with whether the join was reached by a jump.
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

/// Computes the largest number of steps from each safepoint to the next safepoint or exit, and from the entry.
fn with_pauses(mut form: SsaForm) -> SsaForm {
    let is_pause = |block: u32| matches!(form.blocks[block as usize].end, SsaEnd::Pause { .. });
    let mut most = vec![0_u32; form.blocks.len()];
    for block in order::postorder(&form, |to| !is_pause(to)) {
        let here = &form.blocks[block as usize];
        let behind = |jump: &Jump| if is_pause(jump.to) { 0 } else { most[jump.to as usize] };
        most[block as usize] = here.steps + here.end.jumps().map(behind).max().unwrap_or(0);
    }
    for (block, most) in form.blocks.iter_mut().zip(&most) {
        if let SsaEnd::Pause { steps, .. } = &mut block.end {
            *steps = *most;
        }
    }
    // The entry may lead directly to a safepoint, which alone makes no progress.
    let first = form.blocks.first().into_iter().flat_map(|block| block.end.jumps());
    form.first_steps = first.map(|jump| most[jump.to as usize]).max().unwrap_or(0);
    form
}
