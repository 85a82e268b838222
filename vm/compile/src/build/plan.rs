//! Block layout of an SSA function: its blocks and their terminators, before any operation is written. This module is
//! independent of machine steps.

use std::collections::HashMap;

use reviver_flow::graph::CodeDirection;

use super::control_flow::{StepBlock, StepBlockEnd, StepGraph};
use super::draft::PlannedBlock;
use super::elision::Elisions;
use super::exits::Exits;
use super::frame::segments;
use super::inlining::{FunctionCall, InlinedFrames};
use super::storage::FunctionStorage;
use crate::function::{Jump, SsaEnd, SsaExit};
use crate::op::SsaValue;

/// SSA blocks of a step block.
#[derive(Clone, Debug)]
pub(super) struct StepBlockPlan {
    /// Safepoint block and its exit block, if the step block is a loop header, or begins where an unknown number of
    /// steps is skipped.
    pub head: Option<(u32, u32)>,
    pub body: u32,
    /// Block on the taken edge of a branch, where the join's condition is checked.
    pub taken: Option<u32>,
    /// Loops that free the cells of a callee's frame, or clear the cells of an elided pair. Each loop is given by its
    /// repeated block and the block after the loop.
    pub loops: Vec<(u32, u32)>,
    pub entering: Option<EnteringBlocks>,
    pub leaving: Option<LeavingBlocks>,
}

/// Blocks that enter an out-of-line callee.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnteringBlocks {
    /// Block that executes the call step.
    pub made: u32,
    /// Block that switches to the callee's frame, and to the new end of the call records.
    pub through: u32,
    /// Exit block, which is reached if there is no space for the call.
    pub full: u32,
}

/// Blocks that return from an out-of-line callee.
#[derive(Clone, Debug)]
pub(super) struct LeavingBlocks {
    /// Exit block, which is reached if the caller is interpreted.
    pub bottom: Option<u32>,
    /// Block that executes the return step.
    pub made: u32,
    /// Last block, after the loops over cells.
    pub last: u32,
    /// Compare blocks that select the return point, each with its bound. A compare block tests whether the call number
    /// in the call record is less than the bound.
    pub chosen: Vec<(u32, i64)>,
}

/// Blocks of an out-of-line callee.
#[derive(Clone, Debug)]
pub(super) struct FunctionBlocks {
    /// Inlined frame that contains the callee's entry.
    pub inlined_frame: u32,
    pub entry: u32,
    /// Return points after the calls of the callee.
    pub calls: Vec<ReturnPoint>,
}

/// Blocks of all out-of-line callees.
#[derive(Default)]
struct CalledFunctions {
    all: Vec<FunctionBlocks>,
    /// Index in `all`, by the inlined frame that begins the callee.
    numbers: HashMap<u32, usize>,
}

impl CalledFunctions {
    fn add(&mut self, function: FunctionBlocks) {
        self.numbers.insert(function.inlined_frame, self.all.len());
        self.all.push(function);
    }

    /// Returns the blocks of the out-of-line callee that an inlined frame begins; `None` if the inlined frame doesn't
    /// begin an out-of-line callee.
    fn begun(&self, inlined_frame: u32) -> Option<&FunctionBlocks> {
        self.all.get(*self.numbers.get(&inlined_frame)?)
    }

    fn begun_mut(&mut self, inlined_frame: u32) -> Option<&mut FunctionBlocks> {
        self.all.get_mut(*self.numbers.get(&inlined_frame)?)
    }
}

/// Blocks at the return point of an out-of-line call.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReturnPoint {
    /// Number of the call.
    pub call: usize,
    /// Block that switches back to the caller's frame, and to the previous end of the call records.
    pub landing: u32,
    /// Block that checks that the arguments still refer to the same cells.
    pub same: u32,
}

/// Layout of an SSA function: blocks and exits.
pub(super) struct FunctionPlan {
    pub places: Vec<StepBlockPlan>,
    pub functions: Vec<FunctionBlocks>,
    pub blocks: Vec<PlannedBlock>,
    pub exits: Vec<SsaExit>,
}

fn to(block: u32) -> Jump {
    Jump { to: block, arguments: Vec::new() }
}

/// Returns a branch with a placeholder condition, which is set when the block is written.
fn branch(yes: u32, no: u32) -> SsaEnd {
    SsaEnd::Branch { condition: SsaValue(0), yes: to(yes), no: to(no) }
}

impl StepBlockPlan {
    /// Returns the block that predecessors jump to.
    fn first(&self) -> u32 {
        self.head.map_or(self.body, |(head, _)| head)
    }
}

impl FunctionPlan {
    pub fn of(
        step_graph: &StepGraph,
        inlined_frames: &InlinedFrames,
        elisions: &Elisions,
        storages: &FunctionStorage,
        record: u32,
    ) -> FunctionPlan {
        let (blocks, exits) = (Vec::new(), Exits::of(inlined_frames));
        let mut planner =
            Planner { inlined_frames, elisions, storages, in_record: 1 - i64::from(record), blocks, exits };
        // The entry block belongs to no step block.
        let entry = planner.block(0);
        let called = planner.functions();
        let places: Vec<StepBlockPlan> =
            step_graph.all.iter().map(|step_block| planner.place(step_block, &called)).collect();
        let first = |number: usize| places.get(number).map_or(entry, StepBlockPlan::first);
        planner.end(entry, SsaEnd::Jump(to(first(0))));
        if let (false, Some(block)) = (inlined_frames.begin_in_main(), planner.blocks.get_mut(entry as usize))
        {
            block.reloads_passed.push((0, planner.in_record));
        }
        let mut begins = HashMap::new();
        for (step_block, place) in step_graph.all.iter().zip(&places) {
            if inlined_frames.begin(step_block.inlined_frame) == Some(step_block.position) {
                begins.entry(step_block.inlined_frame).or_insert(place.first());
            }
        }
        for function in &called.all {
            let begin = begins.get(&function.inlined_frame).copied().unwrap_or(entry);
            planner.end(function.entry, SsaEnd::Jump(to(begin)));
            for back in &function.calls {
                planner.end(back.landing, SsaEnd::Jump(to(back.same)));
                let behind = step_graph.after_calls.get(back.call).map_or(entry, |&behind| first(behind));
                planner.end(back.same, SsaEnd::Jump(to(behind)));
            }
        }
        for (step_block, place) in step_graph.all.iter().zip(&places) {
            planner.lead(step_block, place, &called, &first);
        }
        FunctionPlan { places, functions: called.all, blocks: planner.blocks, exits: planner.exits.all }
    }
}

struct Planner<'a, 'f> {
    inlined_frames: &'a InlinedFrames<'f>,
    elisions: &'a Elisions<'f>,
    storages: &'a FunctionStorage,
    /// Offset of the callee's arguments in its call record, in words from the end of the call records.
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
        for (number, call) in self.inlined_frames.calls().iter().enumerate() {
            let landing = self.landing(*call);
            let same = self.block(self.inlined_frames.function(call.called.by));
            let return_point = ReturnPoint { call: number, landing, same };
            match functions.begun_mut(call.callee) {
                Some(function) => function.calls.push(return_point),
                None => {
                    let entry = self.reloading(call.callee, Vec::new());
                    functions.add(FunctionBlocks {
                        inlined_frame: call.callee,
                        entry,
                        calls: vec![return_point],
                    });
                }
            }
        }
        functions
    }

    fn landing(&mut self, call: FunctionCall) -> u32 {
        let function = self.inlined_frames.function(call.called.by);
        // After the return, the record of the finished call starts at the end of the records. The last record before
        // that end belongs to the calling procedure body.
        let kept = self.inlined_frames.kept(call).into_iter().map(|(number, place)| (number, place.into()));
        let own = (function, self.in_record);
        self.reloading(function, kept.chain([own]).collect())
    }

    fn place(&mut self, step_block: &StepBlock, functions: &CalledFunctions) -> StepBlockPlan {
        let function = self.inlined_frames.function(step_block.inlined_frame);
        let pauses =
            step_block.is_head || self.elisions.skips_unknown(step_block.inlined_frame, step_block.position);
        let head = pauses.then(|| (self.block(function), self.block(function)));
        let body = self.block(function);
        let is_called = functions.begun(step_block.inlined_frame).is_some();
        let (mut taken, mut loops, mut entering, mut leaving) = (None, Vec::new(), None, None);
        match step_block.end {
            StepBlockEnd::Branch { .. } | StepBlockEnd::Jump { .. } => taken = Some(self.block(function)),
            StepBlockEnd::Return { .. } => loops = self.loops(step_block),
            StepBlockEnd::Skip { .. } => loops = self.restore(step_block),
            StepBlockEnd::Enter { .. } => {
                let [made, through, full] = [(); 3].map(|()| self.block(function));
                entering = Some(EnteringBlocks { made, through, full });
            }
            StepBlockEnd::Leave { .. } if is_called => {
                loops = self.loops(step_block);
                let bottom = (!self.inlined_frames.begin_in_main()).then(|| self.block(function));
                let [made, last] = [(); 2].map(|()| self.block(function));
                leaving = Some(LeavingBlocks { bottom, made, last, chosen: Vec::new() });
            }
            StepBlockEnd::Fall { .. }
            | StepBlockEnd::Pass { .. }
            | StepBlockEnd::Call { .. }
            | StepBlockEnd::Leave { .. }
            | StepBlockEnd::Cut { .. }
            | StepBlockEnd::Exit { .. } => {}
        }
        if let Some(leaving) = &mut leaving {
            let landings =
                functions.begun(step_block.inlined_frame).into_iter().flat_map(|known| &known.calls);
            let landings: Vec<(i64, u32)> =
                landings.map(|back| (back.call as i64 + 1, back.landing)).collect();
            self.choose(leaving.last, function, &landings, &mut leaving.chosen);
        }
        StepBlockPlan { head, body, taken, loops, entering, leaving }
    }

    /// Ends a block with a binary search for a call number among the return points, which are in ascending order of
    /// their numbers.
    fn choose(&mut self, block: u32, function: u32, landings: &[(i64, u32)], chosen: &mut Vec<(u32, i64)>) {
        let (below, others) = landings.split_at(landings.len() / 2);
        let Some(&(number, only)) = others.first() else { return };
        if below.is_empty() {
            return self.end(block, SsaEnd::Jump(to(only)));
        }
        let targets = [below, others].map(|landings| match landings {
            &[(_, only)] => only,
            _ => {
                let next = self.block(function);
                self.choose(next, function, landings, chosen);
                next
            }
        });
        chosen.push((block, number));
        self.end(block, branch(targets[0], targets[1]));
    }

    /// Adds the blocks of each loop that frees cells of a frame.
    fn loops(&mut self, step_block: &StepBlock) -> Vec<(u32, u32)> {
        let function = self.inlined_frames.function(step_block.inlined_frame);
        let segments = segments(self.inlined_frames, self.storages, step_block.inlined_frame);
        let loops = segments.iter().filter(|segment| segment.is_loop);
        loops.map(|_| (self.block(function), self.block(function))).collect()
    }

    /// Adds the blocks of each loop that clears cells of an elided pair.
    fn restore(&mut self, step_block: &StepBlock) -> Vec<(u32, u32)> {
        let function = self.inlined_frames.function(step_block.inlined_frame);
        let pair = self.elisions.from(step_block.inlined_frame, step_block.position);
        let loops = pair.map_or(0, |pair| pair.loops(self.storages.of(function)).len());
        (0..loops).map(|_| (self.block(function), self.block(function))).collect()
    }

    /// Sets the terminators of a step block's SSA blocks.
    fn lead(
        &mut self,
        step_block: &StepBlock,
        place: &StepBlockPlan,
        functions: &CalledFunctions,
        first: &impl Fn(usize) -> u32,
    ) {
        if let Some((head, stop)) = place.head {
            self.end(
                head,
                SsaEnd::Safepoint { steps: 0, skipped: None, next: to(place.body), stop: to(stop) },
            );
            let exit = self.exits.to(step_block.inlined_frame, step_block.position);
            self.end(stop, exit);
        }
        let end = match step_block.end {
            StepBlockEnd::Branch { taken: (taken, _), next, .. } => {
                branch(self.through(place, first(taken)), first(next))
            }
            StepBlockEnd::Jump { to: number, .. } => SsaEnd::Jump(to(self.through(place, first(number)))),
            StepBlockEnd::Fall { to: number, .. }
            | StepBlockEnd::Pass { to: number }
            | StepBlockEnd::Cut { to: number }
            | StepBlockEnd::Call { to: number, .. } => SsaEnd::Jump(to(first(number))),
            StepBlockEnd::Return { to: caller, .. } => {
                self.through_loops(&place.loops, SsaEnd::Jump(to(first(caller))))
            }
            StepBlockEnd::Skip { to: number } => {
                self.through_loops(&place.loops, SsaEnd::Jump(to(first(number))))
            }
            StepBlockEnd::Enter { call, at, .. } => self.enter(step_block, place, functions, (call, at)),
            StepBlockEnd::Leave { at } => self.leave(step_block, place, at),
            StepBlockEnd::Exit { position } => self.exits.to(step_block.inlined_frame, position),
        };
        self.end(place.body, end);
    }

    /// Returns the target of a taken branch: the block that checks the join and then jumps to `block`. If no block
    /// checks the join, the target is `block` itself.
    fn through(&mut self, place: &StepBlockPlan, block: u32) -> u32 {
        let Some(taken) = place.taken else { return block };
        self.end(taken, SsaEnd::Jump(to(block)));
        taken
    }

    /// Returns a terminator that leads through loops to another terminator.
    fn through_loops(&mut self, loops: &[(u32, u32)], end: SsaEnd) -> SsaEnd {
        loops.iter().rev().fold(end, |end, &(repeated, behind)| {
            self.end(behind, end);
            self.end(repeated, branch(repeated, behind));
            SsaEnd::Jump(to(repeated))
        })
    }

    /// Returns the terminator of a step block that enters an out-of-line callee if there is space for the call.
    fn enter(
        &mut self,
        step_block: &StepBlock,
        place: &StepBlockPlan,
        functions: &CalledFunctions,
        (call, at): (usize, u32),
    ) -> SsaEnd {
        let exit = self.exits.full(step_block.inlined_frame, self.before(step_block, at));
        let callee = self.inlined_frames.calls().get(call).and_then(|call| functions.begun(call.callee));
        let (Some(direction), Some(callee)) = (place.entering, callee) else {
            return exit;
        };
        self.end(direction.made, SsaEnd::Jump(to(direction.through)));
        self.end(direction.through, SsaEnd::Jump(to(callee.entry)));
        self.end(direction.full, exit);
        branch(direction.made, direction.full)
    }

    /// Returns the terminator of a step block that returns from an out-of-line callee.
    fn leave(&mut self, step_block: &StepBlock, place: &StepBlockPlan, at: u32) -> SsaEnd {
        let position = self.before(step_block, at);
        let Some(direction) = &place.leaving else {
            return self.exits.to(step_block.inlined_frame, position);
        };
        let through = self.through_loops(&place.loops, SsaEnd::Jump(to(direction.last)));
        self.end(direction.made, through);
        let Some(bottom) = direction.bottom else { return SsaEnd::Jump(to(direction.made)) };
        let exit = self.exits.to(step_block.inlined_frame, position);
        self.end(bottom, exit);
        branch(direction.made, bottom)
    }

    /// Returns the position before a step, in the step block's direction.
    fn before(&self, step_block: &StepBlock, at: u32) -> u32 {
        match self.inlined_frames.get(step_block.inlined_frame).map(|inlined_frame| inlined_frame.direction) {
            Some(CodeDirection::Backward) => at + 1,
            Some(CodeDirection::Forward) | None => at,
        }
    }
}
