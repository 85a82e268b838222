//! Block layout of an SSA function: which blocks there are and their terminators, before any operation is written.
//! This module knows no step.

use std::collections::HashMap;

use reviver_flow::graph::Way;

use super::activation::{Activations, FunctionCall};
use super::draft::PlannedBlock;
use super::elision::Elisions;
use super::exits::Exits;
use super::frame::segments;
use super::paths::{Stretch, StretchEnd, Stretches};
use super::storage::FunctionStorage;
use crate::form::{FormExit, Jump, SsaEnd};
use crate::op::SsaValue;

/// SSA blocks of a stretch.
#[derive(Clone, Debug)]
pub(super) struct StretchBlocks {
    /// Safepoint block and its exit block, for a loop header or where an unknown number of steps is skipped.
    pub head: Option<(u32, u32)>,
    pub body: u32,
    /// Block on the taken edge of a branch, where the join's condition is checked.
    pub taken: Option<u32>,
    /// Loops over cells that free a callee's frame or restore cells: for each the repeated block and the block after
    /// it.
    pub loops: Vec<(u32, u32)>,
    pub entering: Option<EnteringBlocks>,
    pub leaving: Option<LeavingBlocks>,
}

/// Blocks that enter an out-of-line callee.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnteringBlocks {
    /// Block that executes the call step.
    pub made: u32,
    /// Block in which the frame and the records become the callee's.
    pub through: u32,
    /// Exit block for lack of space.
    pub full: u32,
}

/// Blocks that return from an out-of-line callee.
#[derive(Clone, Debug)]
pub(super) struct LeavingBlocks {
    /// Exit block for an interpreted caller.
    pub bottom: Option<u32>,
    /// Block that executes the return step.
    pub made: u32,
    /// Last block, after the loops over cells.
    pub last: u32,
    /// Compare blocks that select the call to return to: each tests whether the number is below its bound.
    pub chosen: Vec<(u32, i64)>,
}

/// Blocks of an out-of-line callee.
#[derive(Clone, Debug)]
pub(super) struct FunctionBlocks {
    /// Activation that contains the callee's entry.
    pub activation: u32,
    pub entry: u32,
    /// Return points after its calls.
    pub calls: Vec<BehindCall>,
}

/// Blocks of all out-of-line callees.
#[derive(Default)]
struct CalledFunctions {
    all: Vec<FunctionBlocks>,
    /// Index in `all`, by the activation that begins the callee.
    numbers: HashMap<u32, usize>,
}

impl CalledFunctions {
    fn add(&mut self, function: FunctionBlocks) {
        self.numbers.insert(function.activation, self.all.len());
        self.all.push(function);
    }

    /// Returns the callee that an activation begins, if there is a call of it.
    fn begun(&self, activation: u32) -> Option<&FunctionBlocks> {
        self.all.get(*self.numbers.get(&activation)?)
    }

    fn begun_mut(&mut self, activation: u32) -> Option<&mut FunctionBlocks> {
        self.all.get_mut(*self.numbers.get(&activation)?)
    }
}

/// Blocks at the return point of an out-of-line call.
#[derive(Clone, Copy, Debug)]
pub(super) struct BehindCall {
    /// Number of the call.
    pub call: usize,
    /// Block in which the frame and the records become the caller's again.
    pub landing: u32,
    /// Block that checks that the arguments still refer to the same cells.
    pub same: u32,
}

/// Layout of an SSA function: blocks and exits.
pub(super) struct FormPlan {
    pub places: Vec<StretchBlocks>,
    pub functions: Vec<FunctionBlocks>,
    pub blocks: Vec<PlannedBlock>,
    pub exits: Vec<FormExit>,
}

fn to(block: u32) -> Jump {
    Jump { to: block, arguments: Vec::new() }
}

/// Returns a branch with a placeholder condition, which is set when the block is written.
fn branch(yes: u32, no: u32) -> SsaEnd {
    SsaEnd::Branch { condition: SsaValue(0), yes: to(yes), no: to(no) }
}

impl StretchBlocks {
    /// Returns the block that predecessors jump to.
    fn first(&self) -> u32 {
        self.head.map_or(self.body, |(head, _)| head)
    }
}

impl FormPlan {
    pub fn of(
        stretches: &Stretches,
        activations: &Activations,
        elisions: &Elisions,
        storages: &FunctionStorage,
        record: u32,
    ) -> FormPlan {
        let (blocks, exits) = (Vec::new(), Exits::of(activations));
        let mut planner =
            Planner { activations, elisions, storages, in_record: 1 - i64::from(record), blocks, exits };
        // The entry block belongs to no stretch.
        let entry = planner.block(0);
        let called = planner.functions();
        let places: Vec<StretchBlocks> =
            stretches.all.iter().map(|stretch| planner.place(stretch, &called)).collect();
        let first = |number: usize| places.get(number).map_or(entry, StretchBlocks::first);
        planner.end(entry, SsaEnd::Go(to(first(0))));
        if let (false, Some(block)) = (activations.begin_in_main(), planner.blocks.get_mut(entry as usize)) {
            block.reloads_passed.push((0, planner.in_record));
        }
        let mut begins = HashMap::new();
        for (stretch, place) in stretches.all.iter().zip(&places) {
            if activations.begin(stretch.activation) == Some(stretch.position) {
                begins.entry(stretch.activation).or_insert(place.first());
            }
        }
        for function in &called.all {
            let begin = begins.get(&function.activation).copied().unwrap_or(entry);
            planner.end(function.entry, SsaEnd::Go(to(begin)));
            for back in &function.calls {
                planner.end(back.landing, SsaEnd::Go(to(back.same)));
                let behind = stretches.behind.get(back.call).map_or(entry, |&behind| first(behind));
                planner.end(back.same, SsaEnd::Go(to(behind)));
            }
        }
        for (stretch, place) in stretches.all.iter().zip(&places) {
            planner.lead(stretch, place, &called, &first);
        }
        FormPlan { places, functions: called.all, blocks: planner.blocks, exits: planner.exits.all }
    }
}

struct Planner<'a, 'f> {
    activations: &'a Activations<'f>,
    elisions: &'a Elisions<'f>,
    storages: &'a FunctionStorage,
    /// Offset of the callee's arguments in its call record, from the end of the records.
    in_record: i64,
    blocks: Vec<PlannedBlock>,
    exits: Exits<'a, 'f>,
}

impl Planner<'_, '_> {
    /// Adds a block without a final terminator.
    fn block(&mut self, function: u32) -> u32 {
        self.blocks.push(PlannedBlock {
            end: SsaEnd::Exit { exit: 0 },
            function,
            reloads_cells: false,
            reloads_passed: Vec::new(),
        });
        self.blocks.len() as u32 - 1
    }

    /// Adds a block at which the cells of a procedure body are in memory.
    fn reloading(&mut self, function: u32, reloads_passed: Vec<(u32, i64)>) -> u32 {
        let block = self.block(function);
        if let Some(block) = self.blocks.get_mut(block as usize) {
            block.reloads_cells = true;
            block.reloads_passed = reloads_passed;
        }
        block
    }

    fn end(&mut self, block: u32, end: SsaEnd) {
        if let Some(block) = self.blocks.get_mut(block as usize) {
            block.end = end;
        }
    }

    /// Adds the blocks of all out-of-line callees.
    fn functions(&mut self) -> CalledFunctions {
        let mut functions = CalledFunctions::default();
        for (number, call) in self.activations.calls().iter().enumerate() {
            let landing = self.landing(*call);
            let same = self.block(self.activations.function(call.called.by));
            let behind = BehindCall { call: number, landing, same };
            match functions.begun_mut(call.callee) {
                Some(function) => function.calls.push(behind),
                None => {
                    let entry = self.reloading(call.callee, Vec::new());
                    functions.add(FunctionBlocks { activation: call.callee, entry, calls: vec![behind] });
                }
            }
        }
        functions
    }

    fn landing(&mut self, call: FunctionCall) -> u32 {
        let function = self.activations.function(call.called.by);
        // After the return, the call's record is directly after the end of the records, and the last record is the
        // calling procedure body's own.
        let kept = self.activations.kept(call).into_iter().map(|(number, place)| (number, place.into()));
        let own = (function, self.in_record);
        self.reloading(function, kept.chain([own]).collect())
    }

    fn place(&mut self, stretch: &Stretch, functions: &CalledFunctions) -> StretchBlocks {
        let function = self.activations.function(stretch.activation);
        let pauses = stretch.is_head || self.elisions.skips_unknown(stretch.activation, stretch.position);
        let head = pauses.then(|| (self.block(function), self.block(function)));
        let body = self.block(function);
        let is_called = functions.begun(stretch.activation).is_some();
        let (mut taken, mut loops, mut entering, mut leaving) = (None, Vec::new(), None, None);
        match stretch.end {
            StretchEnd::Branch { .. } | StretchEnd::Jump { .. } => taken = Some(self.block(function)),
            StretchEnd::Return { .. } => loops = self.loops(stretch),
            StretchEnd::Skip { .. } => loops = self.put_back(stretch),
            StretchEnd::Enter { .. } => {
                let [made, through, full] = [(); 3].map(|()| self.block(function));
                entering = Some(EnteringBlocks { made, through, full });
            }
            StretchEnd::Leave { .. } if is_called => {
                loops = self.loops(stretch);
                let bottom = (!self.activations.begin_in_main()).then(|| self.block(function));
                let [made, last] = [(); 2].map(|()| self.block(function));
                leaving = Some(LeavingBlocks { bottom, made, last, chosen: Vec::new() });
            }
            StretchEnd::Fall { .. }
            | StretchEnd::Pass { .. }
            | StretchEnd::Call { .. }
            | StretchEnd::Leave { .. }
            | StretchEnd::Cut { .. }
            | StretchEnd::Exit { .. } => {}
        }
        if let Some(leaving) = &mut leaving {
            let landings = functions.begun(stretch.activation).into_iter().flat_map(|known| &known.calls);
            let landings: Vec<(i64, u32)> =
                landings.map(|back| (back.call as i64 + 1, back.landing)).collect();
            self.choose(leaving.last, function, &landings, &mut leaving.chosen);
        }
        StretchBlocks { head, body, taken, loops, entering, leaving }
    }

    /// Ends a block with a binary search for a number among the return points, which are sorted by number.
    fn choose(&mut self, block: u32, function: u32, landings: &[(i64, u32)], chosen: &mut Vec<(u32, i64)>) {
        let (below, others) = landings.split_at(landings.len() / 2);
        let Some(&(number, only)) = others.first() else { return };
        if below.is_empty() {
            return self.end(block, SsaEnd::Go(to(only)));
        }
        let ways = [below, others].map(|landings| match landings {
            &[(_, only)] => only,
            _ => {
                let next = self.block(function);
                self.choose(next, function, landings, chosen);
                next
            }
        });
        chosen.push((block, number));
        self.end(block, branch(ways[0], ways[1]));
    }

    /// Adds the blocks of each loop that frees cells of a frame.
    fn loops(&mut self, stretch: &Stretch) -> Vec<(u32, u32)> {
        let function = self.activations.function(stretch.activation);
        let segments = segments(self.activations, self.storages, stretch.activation);
        let loops = segments.iter().filter(|segment| segment.is_loop);
        loops.map(|_| (self.block(function), self.block(function))).collect()
    }

    /// Adds the blocks of each loop that clears cells of an elided pair.
    fn put_back(&mut self, stretch: &Stretch) -> Vec<(u32, u32)> {
        let function = self.activations.function(stretch.activation);
        let pair = self.elisions.from(stretch.activation, stretch.position);
        let loops = pair.map_or(0, |pair| pair.loops(self.storages.of(function)).len());
        (0..loops).map(|_| (self.block(function), self.block(function))).collect()
    }

    /// Sets the terminators of a stretch's blocks.
    fn lead(
        &mut self,
        stretch: &Stretch,
        place: &StretchBlocks,
        functions: &CalledFunctions,
        first: &impl Fn(usize) -> u32,
    ) {
        if let Some((head, stop)) = place.head {
            self.end(head, SsaEnd::Pause { steps: 0, skipped: None, next: to(place.body), stop: to(stop) });
            let exit = self.exits.to(stretch.activation, stretch.position);
            self.end(stop, exit);
        }
        let end = match stretch.end {
            StretchEnd::Branch { taken: (taken, _), next, .. } => {
                branch(self.through(place, first(taken)), first(next))
            }
            StretchEnd::Jump { to: number, .. } => SsaEnd::Go(to(self.through(place, first(number)))),
            StretchEnd::Fall { to: number, .. }
            | StretchEnd::Pass { to: number }
            | StretchEnd::Cut { to: number }
            | StretchEnd::Call { to: number, .. } => SsaEnd::Go(to(first(number))),
            StretchEnd::Return { to: caller, .. } => {
                self.through_loops(&place.loops, SsaEnd::Go(to(first(caller))))
            }
            StretchEnd::Skip { to: number } => {
                self.through_loops(&place.loops, SsaEnd::Go(to(first(number))))
            }
            StretchEnd::Enter { call, at, .. } => self.enter(stretch, place, functions, (call, at)),
            StretchEnd::Leave { at } => self.leave(stretch, place, at),
            StretchEnd::Exit { position } => self.exits.to(stretch.activation, position),
        };
        self.end(place.body, end);
    }

    /// Returns the target of a taken branch, by way of the block that checks the join if there is one.
    fn through(&mut self, place: &StretchBlocks, block: u32) -> u32 {
        let Some(taken) = place.taken else { return block };
        self.end(taken, SsaEnd::Go(to(block)));
        taken
    }

    /// Returns a terminator that leads through loops to another terminator.
    fn through_loops(&mut self, loops: &[(u32, u32)], end: SsaEnd) -> SsaEnd {
        loops.iter().rev().fold(end, |end, &(repeated, behind)| {
            self.end(behind, end);
            self.end(repeated, branch(repeated, behind));
            SsaEnd::Go(to(repeated))
        })
    }

    /// Returns the terminator of a body that enters an out-of-line callee if there is space.
    fn enter(
        &mut self,
        stretch: &Stretch,
        place: &StretchBlocks,
        functions: &CalledFunctions,
        (call, at): (usize, u32),
    ) -> SsaEnd {
        let exit = self.exits.full(stretch.activation, self.before(stretch, at));
        let callee = self.activations.calls().get(call).and_then(|call| functions.begun(call.callee));
        let (Some(way), Some(callee)) = (place.entering, callee) else {
            return exit;
        };
        self.end(way.made, SsaEnd::Go(to(way.through)));
        self.end(way.through, SsaEnd::Go(to(callee.entry)));
        self.end(way.full, exit);
        branch(way.made, way.full)
    }

    /// Returns the terminator of a body that returns from an out-of-line callee.
    fn leave(&mut self, stretch: &Stretch, place: &StretchBlocks, at: u32) -> SsaEnd {
        let position = self.before(stretch, at);
        let Some(way) = &place.leaving else { return self.exits.to(stretch.activation, position) };
        let through = self.through_loops(&place.loops, SsaEnd::Go(to(way.last)));
        self.end(way.made, through);
        let Some(bottom) = way.bottom else { return SsaEnd::Go(to(way.made)) };
        let exit = self.exits.to(stretch.activation, position);
        self.end(bottom, exit);
        branch(way.made, bottom)
    }

    /// Returns the position before a step, in the stretch's direction.
    fn before(&self, stretch: &Stretch, at: u32) -> u32 {
        match self.activations.get(stretch.activation).map(|activation| activation.way) {
            Some(Way::Against) => at + 1,
            Some(Way::Along) | None => at,
        }
    }
}
