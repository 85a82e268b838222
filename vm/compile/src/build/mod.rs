//! From the flow to SSA form: the stretches of a version become blocks, and their steps operations.

mod activation;
mod arith;
mod call;
mod cleared;
mod draft;
mod elision;
mod exits;
mod frame;
mod kept;
mod pairs;
mod passed;
pub(crate) mod paths;
mod restore;
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
use self::draft::{Draft, ZeroCells};
use self::elision::{Elisions, SkippedPair};
use self::exits::{Exits, demands};
use self::frame::segments;
use self::kept::KeptValues;
use self::passed::PassedValues;
use self::paths::{Stretch, StretchEnd, stretches};
use self::storage::AddressedCells;
use self::writer::StepWriter;
use crate::error::Outside;
use crate::form::{FormExit, FrameZeros, Jump, NumberKinds, SsaEnd, SsaForm, Version};
use crate::op::{OpKind, SsaValue};
use crate::order;

/// The SSA form of a version of a verified module, as its flow says it: nothing is improved.
///
/// # Errors
/// The version isn't one of the module.
pub fn build(module: &Module, flow: &Flow, version: Version) -> Result<SsaForm, Outside> {
    let mut activations = Activations::of(module, flow, version);
    let mut elisions = Elisions::of(module, flow, version);
    let stretches = stretches(flow, version, &mut activations, &mut elisions)?;
    let storage = AddressedCells::of(flow, &activations, slots(flow, &stretches));
    let plan = Plan::of(&stretches, &activations, &elisions, &storage);
    let draft = Draft::new(NumberKinds::of(module), plan.ends, zero_cells(flow, version.zeros));
    let (passed, kept) = (PassedValues::default(), KeptValues::default());
    let scope = StepWriter {
        flow,
        draft: &draft,
        storage: &storage,
        activations: &activations,
        passed: &passed,
        kept: &kept,
        activation: 0,
        gradient: version.gradient,
        level: version.level,
        is_watched: version.is_watched,
        at: 0,
    };
    // Each stretch was found behind one that leads to it.
    for (stretch, place) in stretches.iter().zip(&plan.places) {
        if draft.is_too_large() {
            return Err(Outside::TooLarge);
        }
        write(StepWriter { activation: stretch.activation, ..scope }, stretch, place, &elisions);
    }
    for (stretch, place) in stretches.iter().zip(&plan.places) {
        let scope = StepWriter { activation: stretch.activation, ..scope };
        if let StretchEnd::Exit { .. } = stretch.end {
            scope.store_all(place.body);
        }
        if let Some((_, stop)) = place.head {
            scope.store_all(stop);
        }
    }
    let demands = demands(&activations, &plan.exits);
    draft.finish(version).map(|form| with_pauses(SsaForm { exits: plan.exits, demands, ..form }))
}

/// The cells of main's frame that hold 0.
fn zero_cells(flow: &Flow, zeros: FrameZeros) -> ZeroCells {
    let [ints, reals] = [Class::Int, Class::Real].map(|class| flow.layout().main_frame(class));
    let held = |holds: bool, cells: &Range<u32>| if holds { cells.clone() } else { 0..0 };
    ZeroCells {
        ints: held(zeros.cells, &ints),
        reals: held(zeros.cells, &reals),
        adjoints: held(zeros.adjoints, &reals),
    }
}

/// The step that a way makes of one.
fn operation(step: &Step, way: Way) -> Operation {
    match way {
        Way::Along => step.operation,
        Way::Against => step.inverse(),
    }
}

/// Every operand of the steps of some stretches, and of the conditions at their ends, with the activation that names it.
fn slots<'f>(flow: &'f Flow, stretches: &'f [Stretch]) -> impl Iterator<Item = (u32, &'f Slot)> {
    let steps = stretches.iter().flat_map(|stretch| {
        let (first, second) = match stretch.end {
            StretchEnd::Fall { join, .. } | StretchEnd::Jump { join, .. } => (Some(join), None),
            StretchEnd::Branch { at, taken: (_, join), .. } => (Some(at), Some(join)),
            StretchEnd::Pass { .. }
            | StretchEnd::Call { .. }
            | StretchEnd::Return { .. }
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

/// The blocks that a stretch becomes.
#[derive(Clone, Debug)]
struct StretchBlocks {
    /// Of the head of a loop, or where steps are skipped whose number only code finds: where it may pause, and what is stored then.
    head: Option<(u32, u32)>,
    body: u32,
    /// Where a branch is taken: what its join says is looked at there.
    taken: Option<u32>,
    /// Where a callee's frame is left, or cells are put back, of each loop over cells: what is repeated, and what is behind it.
    loops: Vec<(u32, u32)>,
}

impl StretchBlocks {
    /// Where others lead to.
    fn first(&self) -> u32 {
        self.head.map_or(self.body, |(head, _)| head)
    }
}

/// The blocks of a form before anything is written.
struct Plan {
    places: Vec<StretchBlocks>,
    ends: Vec<SsaEnd>,
    exits: Vec<FormExit>,
}

fn to(block: u32) -> Jump {
    Jump { to: block, arguments: Vec::new() }
}

impl Plan {
    fn of(
        stretches: &[Stretch],
        activations: &Activations,
        elisions: &Elisions,
        storage: &AddressedCells,
    ) -> Plan {
        let mut exits = Exits::of(activations);
        // The first block belongs to none.
        let mut next = 1;
        let mut new = || {
            next += 1;
            next - 1
        };
        let places: Vec<StretchBlocks> = stretches
            .iter()
            .map(|stretch| StretchBlocks {
                head: (stretch.is_head || skips_unknown(elisions, stretch)).then(|| (new(), new())),
                body: new(),
                taken: matches!(stretch.end, StretchEnd::Branch { .. } | StretchEnd::Jump { .. })
                    .then(&mut new),
                loops: match stretch.end {
                    StretchEnd::Return { .. } => {
                        let segments = segments(activations, storage, stretch.activation);
                        segments.iter().filter(|segment| segment.is_loop).map(|_| (new(), new())).collect()
                    }
                    StretchEnd::Skip { .. } => {
                        let pair = elisions.from(stretch.activation, stretch.position);
                        let loops = pair.map_or(0, |pair| pair.loops(storage).len());
                        (0..loops).map(|_| (new(), new())).collect()
                    }
                    _ => Vec::new(),
                },
            })
            .collect();
        let mut ends = vec![SsaEnd::Exit { exit: 0 }; next as usize];
        let first = |number: usize| to(places[number].first());
        ends[0] = SsaEnd::Go(first(0));
        for (stretch, place) in stretches.iter().zip(&places) {
            if let Some((head, stop)) = place.head {
                ends[head as usize] =
                    SsaEnd::Pause { steps: 0, skipped: None, next: to(place.body), stop: to(stop) };
                ends[stop as usize] = exits.to(stretch.activation, stretch.position);
            }
            let through = |ends: &mut Vec<SsaEnd>, number: usize| {
                let Some(taken) = place.taken else { return first(number) };
                ends[taken as usize] = SsaEnd::Go(first(number));
                to(taken)
            };
            ends[place.body as usize] = match stretch.end {
                StretchEnd::Branch { taken: (taken, _), next, .. } => {
                    let (yes, no) = (through(&mut ends, taken), first(next));
                    // The condition is put in where it is written.
                    SsaEnd::Branch { condition: SsaValue(0), yes, no }
                }
                StretchEnd::Jump { to, .. } => SsaEnd::Go(through(&mut ends, to)),
                StretchEnd::Fall { to, .. }
                | StretchEnd::Pass { to }
                | StretchEnd::Call { to, .. }
                | StretchEnd::Cut { to } => SsaEnd::Go(first(to)),
                StretchEnd::Skip { to } => through_loops(&mut ends, &place.loops, SsaEnd::Go(first(to))),
                StretchEnd::Return { to: caller, .. } => {
                    through_loops(&mut ends, &place.loops, SsaEnd::Go(first(caller)))
                }
                StretchEnd::Exit { position } => exits.to(stretch.activation, position),
            };
        }
        Plan { places, ends, exits: exits.all }
    }
}

/// The end of a block that leads through loops to what another end says.
fn through_loops(ends: &mut [SsaEnd], loops: &[(u32, u32)], end: SsaEnd) -> SsaEnd {
    loops.iter().rev().fold(end, |end, &(repeated, behind)| {
        ends[behind as usize] = end;
        // The condition is put in where it is written.
        ends[repeated as usize] =
            SsaEnd::Branch { condition: SsaValue(0), yes: to(repeated), no: to(behind) };
        SsaEnd::Go(to(repeated))
    })
}

/// Puts down the steps of a stretch, and what is at its end.
fn write(scope: StepWriter, stretch: &Stretch, place: &StretchBlocks, elisions: &Elisions) {
    let (flow, draft) = (scope.flow, scope.draft);
    draft.enter(place.body);
    scope.keep(elisions.get(stretch.activation), stretch.position);
    for &at in &stretch.steps {
        if let Some(step) = flow.step(at) {
            StepWriter { at, ..scope }.step(step, operation(step, scope.way()));
        }
    }
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
        StretchEnd::Skip { .. } => {
            if let Some(pair) = elisions.from(stretch.activation, stretch.position) {
                scope.skip(place, pair);
            }
        }
        StretchEnd::Pass { .. } | StretchEnd::Cut { .. } | StretchEnd::Exit { .. } => {}
    }
}

/// Whether a stretch skips steps whose number only code finds.
fn skips_unknown(elisions: &Elisions, stretch: &Stretch) -> bool {
    let pair = elisions.from(stretch.activation, stretch.position);
    matches!(stretch.end, StretchEnd::Skip { .. }) && pair.is_some_and(|pair| pair.steps.is_none())
}

impl StepWriter<'_> {
    /// Skips the steps of a pair that isn't undone, and puts its cells back.
    fn skip(self, place: &StretchBlocks, pair: &SkippedPair) {
        if let (Some((head, _)), Some(steps)) = (place.head, self.steps_skipped(pair)) {
            self.draft.enter(head);
            self.draft.set_skipped(steps);
        }
        self.draft.enter(place.body);
        self.draft.count_steps(pair.steps.unwrap_or(0));
        self.put_back(pair, &place.loops);
    }

    /// What comes where a branch is taken: whoever watches is told, and its join must agree.
    fn land(self, place: &StretchBlocks, join: u32) {
        let Some(taken) = place.taken else { return };
        self.draft.enter(taken);
        if self.is_watched && keeps(Rule::PathsAreCompared) {
            self.draft.op(OpKind::Jumped, []);
        }
        self.require(join, true);
    }

    /// Fails unless the condition of a join agrees with how it is come to.
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

/// With the most steps that there are from each pause to the next one, or to an exit, and from the beginning.
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
    // The first block may lead to a pause, which is no way to make a step.
    let first = form.blocks.first().into_iter().flat_map(|block| block.end.jumps());
    form.first_steps = first.map(|jump| most[jump.to as usize]).max().unwrap_or(0);
    form
}
