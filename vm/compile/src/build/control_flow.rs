//! Control flow of a specialization, as step blocks. A step block is a basic block of machine steps. Inlining,
//! unrolling and stop places create additional step blocks. A path through step blocks ends before the first operation
//! that isn't compiled. This module is independent of SSA values.

use std::collections::HashMap;

use reviver_flow::graph::{BlockEnd, CodeDirection, Edge};
use reviver_flow::{Flow, StepLink};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::update::Action;

use super::elision::Elisions;
use super::inlining::{CallDecision, CallEdge, InlinedFrames};
use super::unrolling::{CountedLoop, LoopIteration, UnrollBudget};
use crate::error::BuildError;
use crate::function::Specialization;

/// Basic block of machine steps in an inlined frame.
#[derive(Clone, Debug)]
pub(super) struct StepBlock {
    /// Number of the inlined frame.
    pub inlined_frame: u32,
    pub position: u32,
    /// Steps in execution order.
    pub steps: Vec<u32>,
    pub end: StepBlockEnd,
    /// True for a loop header: the target of a back edge in a depth-first traversal.
    pub is_head: bool,
}

/// Terminator of a step block. Targets are numbers of step blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepBlockEnd {
    /// Continues at `to` through the join `join` without a jump. The join's condition must not hold.
    Fall { to: usize, join: u32 },
    /// Branches on the condition of the step `at`. If the condition holds, jumps to the step block `taken.0` through
    /// the join `taken.1`, whose condition must hold, too. Otherwise continues at `next`.
    Branch { at: u32, taken: (usize, u32), next: usize },
    /// Jumps to `to` through the join `join`, because the branch's condition always holds.
    Jump { to: usize, join: u32 },
    /// Continues after a branch whose condition never holds.
    Pass { to: usize },
    /// Enters an inlined callee; `callee` is the number of its inlined frame.
    Call { to: usize, callee: u32 },
    /// Enters an out-of-line callee by the call instruction `at`. `call` is the number of the call.
    Enter { to: usize, call: usize, at: u32 },
    /// Returns from an inlined callee by the step `at`, at the end of its procedure.
    Return { to: usize, at: u32 },
    /// Returns from an out-of-line callee by the step `at`. The call number in the last call record selects the code
    /// that follows.
    Leave { at: u32 },
    /// Continues without a step, at a position where an elided pair, or a part of the pair, begins or ends.
    Cut { to: usize },
    /// Skips the `uncompute` part of an elided pair.
    Skip { to: usize },
    /// Exits, because the next step is interpreted.
    Exit { position: u32 },
}

impl StepBlockEnd {
    /// Returns the number of steps, 0 or 1, that the terminator adds to the step count of the step block's main SSA
    /// block.
    pub fn steps(self) -> u32 {
        match self {
            StepBlockEnd::Fall { .. }
            | StepBlockEnd::Branch { .. }
            | StepBlockEnd::Jump { .. }
            | StepBlockEnd::Pass { .. }
            | StepBlockEnd::Call { .. }
            | StepBlockEnd::Return { .. } => 1,
            StepBlockEnd::Enter { .. }
            | StepBlockEnd::Leave { .. }
            | StepBlockEnd::Cut { .. }
            | StepBlockEnd::Skip { .. }
            | StepBlockEnd::Exit { .. } => 0,
        }
    }
}

impl StepBlockEnd {
    /// Returns the instruction of the terminator, if it has one.
    pub fn instruction(self, inlined_frames: &InlinedFrames) -> Option<u32> {
        match self {
            StepBlockEnd::Fall { join: at, .. }
            | StepBlockEnd::Branch { at, .. }
            | StepBlockEnd::Jump { join: at, .. }
            | StepBlockEnd::Enter { at, .. }
            | StepBlockEnd::Return { at, .. }
            | StepBlockEnd::Leave { at } => Some(at),
            StepBlockEnd::Call { callee, .. } => Some(inlined_frames.get(callee)?.called?.site),
            StepBlockEnd::Pass { .. }
            | StepBlockEnd::Cut { .. }
            | StepBlockEnd::Skip { .. }
            | StepBlockEnd::Exit { .. } => None,
        }
    }
}

/// Control-flow graph of a specialization.
#[derive(Debug)]
pub(super) struct StepGraph {
    /// All step blocks; the first one contains the entry.
    pub all: Vec<StepBlock>,
    /// Step block after each out-of-line call, indexed by the number of the call.
    pub after_calls: Vec<usize>,
}

impl StepGraph {
    /// Returns the successors of a step block. The code after an out-of-line call is a successor of the callee's
    /// return.
    fn successors(&self, number: usize, inlined_frames: &InlinedFrames) -> Vec<usize> {
        let Some(step_block) = self.all.get(number) else { return Vec::new() };
        match step_block.end {
            StepBlockEnd::Fall { to, .. }
            | StepBlockEnd::Jump { to, .. }
            | StepBlockEnd::Pass { to }
            | StepBlockEnd::Call { to, .. }
            | StepBlockEnd::Enter { to, .. }
            | StepBlockEnd::Cut { to }
            | StepBlockEnd::Skip { to }
            | StepBlockEnd::Return { to, .. } => vec![to],
            StepBlockEnd::Branch { taken: (taken, _), next, .. } => vec![taken, next],
            StepBlockEnd::Leave { .. } => {
                let calls = inlined_frames.calls().iter().zip(&self.after_calls);
                calls
                    .filter(|(call, _)| call.callee == step_block.inlined_frame)
                    .map(|(_, &after_calls)| after_calls)
                    .collect()
            }
            StepBlockEnd::Exit { .. } => Vec::new(),
        }
    }
}

/// Returns true if a step is compiled: it only operates on cells, or it begins or ends tasks whose arguments are known
/// not to alias.
fn is_compiled(flow: &Flow, at: u32) -> bool {
    let Some(step) = flow.step(at) else { return false };
    match step.operation.update.action() {
        Action::Tasks(_) => flow.fork_at(at).is_some_and(|fork| fork.is_apart),
        Action::Accumulate
        | Action::Replace
        | Action::Erase(_)
        | Action::Map
        | Action::Exchange
        | Action::Rotate
        | Action::Clear
        | Action::Test => true,
        Action::Put(_)
        | Action::Take(_)
        | Action::Show
        | Action::Jump
        | Action::Join
        | Action::Begin
        | Action::End
        | Action::Call(_)
        | Action::Switch(_) => false,
    }
}

/// Returns the number of steps to the next position at which a specialization may begin. Such a position is the first
/// one of a block in the direction of execution, or follows an interpreted step. A run may stop at other positions, but
/// a specialization for each of them would duplicate code.
pub(crate) fn steps_to_entry(flow: &Flow, position: u32, direction: CodeDirection) -> u64 {
    let blocks = flow.graph().blocks();
    let number = blocks.partition_point(|block| block.start <= position);
    let Some(range) = number.checked_sub(1).and_then(|n| blocks.get(n)) else { return 1 };
    let (near, far, before) = match direction {
        CodeDirection::Forward => (range.start, range.end, position.checked_sub(1)),
        CodeDirection::Backward => (range.end, range.start, Some(position)),
    };
    match before {
        _ if position == near => 0,
        Some(before) if is_compiled(flow, before) => u64::from(position.abs_diff(far)) + 1,
        Some(_) | None => 0,
    }
}

/// Finds the step blocks of a specialization, and adds the inlined frames in which the step blocks run.
pub(super) fn step_graph<'f>(
    flow: &'f Flow,
    specialization: &'f Specialization,
    inlined_frames: &mut InlinedFrames<'f>,
    elisions: &mut Elisions<'f>,
) -> Result<StepGraph, BuildError> {
    let (numbers, open, after_calls) = (HashMap::new(), Vec::new(), Vec::new());
    let (counted, budget) = (HashMap::new(), UnrollBudget::default());
    let mut paths =
        Paths { flow, specialization, inlined_frames, elisions, numbers, open, after_calls, counted, budget };
    paths.number(CodePlace {
        inlined_frame: 0,
        direction: specialization.direction,
        position: specialization.position,
        iteration: None,
    });
    let mut all = Vec::new();
    while let Some(&place) = paths.open.get(all.len()) {
        all.push(paths.step_block(place)?);
    }
    let mut found = StepGraph { all, after_calls: paths.after_calls };
    mark_heads(&mut found, inlined_frames);
    Ok(found)
}

/// Position in the procedure of an inlined frame, with the direction of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CodePlace {
    inlined_frame: u32,
    direction: CodeDirection,
    position: u32,
    /// Iteration that contains the position; `None` if the position isn't in an unrolled loop.
    iteration: Option<LoopIteration>,
}

impl CodePlace {
    /// Returns the position before a step, in the direction of execution.
    fn before(self, at: u32) -> u32 {
        match self.direction {
            CodeDirection::Forward => at,
            CodeDirection::Backward => at + 1,
        }
    }
}

struct Paths<'a, 'f> {
    flow: &'f Flow,
    specialization: &'f Specialization,
    inlined_frames: &'a mut InlinedFrames<'f>,
    elisions: &'a mut Elisions<'f>,
    numbers: HashMap<CodePlace, usize>,
    /// First place of each step block, indexed by the step block's number.
    open: Vec<CodePlace>,
    /// Step blocks after out-of-line calls.
    after_calls: Vec<usize>,
    /// Unrolling decision for each loop: the loop if it is unrolled, otherwise `None`. The key is the inlined frame and
    /// the loop's head.
    counted: HashMap<(u32, u32), Option<CountedLoop>>,
    budget: UnrollBudget,
}

impl Paths<'_, '_> {
    /// Returns the number of the step block that begins at a place.
    fn number(&mut self, place: CodePlace) -> usize {
        let open = &mut self.open;
        *self.numbers.entry(place).or_insert_with(|| {
            open.push(place);
            open.len() - 1
        })
    }

    /// Returns the number of the step block at the start of the flow's block `block`, in the direction and the inlined
    /// frame of `from`.
    fn of_block(&mut self, from: CodePlace, block: u32) -> Result<usize, BuildError> {
        let range = self.flow.graph().blocks().get(block as usize).ok_or(BuildError::Code)?;
        let position = match from.direction {
            CodeDirection::Forward => range.start,
            CodeDirection::Backward => range.end,
        };
        let iteration = self.iteration(from, position);
        Ok(self.number(CodePlace { position, iteration, ..from }))
    }

    /// Returns the number of the step block after the join `join`, which is at the start of the flow's block `block`.
    fn after_join(&mut self, from: CodePlace, block: u32, join: u32) -> Result<usize, BuildError> {
        match keeps(Rule::LandingsAreAfterThePartner) {
            true => self.of_block(from, block),
            false => Ok(self.number(CodePlace { position: from.before(join), iteration: None, ..from })),
        }
    }

    /// Returns the loop around a position, if it is unrolled.
    fn counted(&mut self, CodePlace { inlined_frame, .. }: CodePlace, position: u32) -> Option<CountedLoop> {
        let found = CountedLoop::around(self.flow, self.inlined_frames, inlined_frame, position)?;
        // The key of an elided pair's saved values has a position, but no iteration. So loops with elided pairs aren't
        // unrolled.
        self.elisions.find(self.inlined_frames, inlined_frame);
        let is_inside = |at: u32| found.head < at && at <= found.head + found.steps;
        let mut pairs = self.elisions.get(inlined_frame).iter();
        let has_pair =
            pairs.any(|pair| [pair.enter, pair.middle, pair.from, pair.to].into_iter().any(is_inside));
        let budget = &mut self.budget;
        let known = self.counted.entry((inlined_frame, found.head));
        *known.or_insert_with(|| (!has_pair && budget.take(found)).then_some(found))
    }

    /// Returns the iteration of an unrolled loop that an edge from the place `from` reaches at a position. An edge that
    /// enters the loop reaches the first iteration, and a back edge reaches the next one. Returns `None` for the
    /// general loop, which follows the last unrolled iteration.
    fn iteration(&mut self, from: CodePlace, position: u32) -> Option<LoopIteration> {
        let CountedLoop { head, iterations, steps } = self.counted(from, position)?;
        let is_inside = head < from.position && from.position <= head + steps;
        let number = match from.iteration {
            _ if !is_inside => 0,
            Some(iteration) => iteration.number + 1,
            None => return None,
        };
        (number < iterations).then_some(LoopIteration { head, number })
    }

    fn step_block(&mut self, place: CodePlace) -> Result<StepBlock, BuildError> {
        let CodePlace { inlined_frame, direction, position, .. } = place;
        self.elisions.find(self.inlined_frames, inlined_frame);
        if let Some(to) = self.elisions.from(inlined_frame, position).map(|pair| pair.to) {
            let end = StepBlockEnd::Skip { to: self.number(CodePlace { position: to, ..place }) };
            return Ok(StepBlock { inlined_frame, position, steps: Vec::new(), end, is_head: false });
        }
        let blocks = self.flow.graph().blocks();
        let number =
            blocks.partition_point(|block| block.start <= position).checked_sub(1).ok_or(BuildError::Code)?;
        let range = blocks.get(number).filter(|block| position <= block.end).ok_or(BuildError::Code)?;
        let mut steps = match direction {
            CodeDirection::Forward => self.compiled(position..range.end),
            CodeDirection::Backward => self.compiled((range.start..position).rev()),
        };
        let (after_calls, far) = match direction {
            CodeDirection::Forward => (position + steps.len() as u32, range.end),
            CodeDirection::Backward => (position - steps.len() as u32, range.start),
        };
        let is_on_the_way =
            |stop: &u32| (position.min(after_calls)..=position.max(after_calls)).contains(stop);
        let distance = |to: u32| position.abs_diff(to);
        let stops = self
            .specialization
            .stops
            .iter()
            .filter(|stop| stop.direction == direction)
            .map(|stop| stop.position);
        let stop = stops.filter(is_on_the_way).min_by_key(|&stop| distance(stop));
        let cut = self
            .cut(place, after_calls)
            .filter(|&cut| stop.is_none_or(|stop| distance(cut) < distance(stop)));
        let end = if let Some(cut) = cut {
            steps.truncate(distance(cut) as usize);
            StepBlockEnd::Cut { to: self.number(CodePlace { position: cut, ..place }) }
        } else if let Some(stop) = stop {
            steps.truncate(distance(stop) as usize);
            StepBlockEnd::Exit { position: stop }
        } else if after_calls == far {
            self.end(place, number as u32)?
        } else {
            StepBlockEnd::Exit { position: after_calls }
        };
        Ok(StepBlock { inlined_frame, position, steps, end, is_head: false })
    }

    /// Returns the nearest position, up to `to`, at which an elided pair or a part of it begins or ends.
    fn cut(&self, from: CodePlace, to: u32) -> Option<u32> {
        let distance = |cut: &u32| from.position.abs_diff(*cut);
        let is_ahead = |cut: &u32| match from.direction {
            CodeDirection::Forward => from.position < *cut && *cut <= to,
            CodeDirection::Backward => to <= *cut && *cut < from.position,
        };
        let pairs = self.elisions.get(from.inlined_frame).iter();
        pairs.flat_map(|pair| [pair.enter, pair.middle, pair.from]).filter(is_ahead).min_by_key(distance)
    }

    /// Returns the steps that precede the first interpreted step of `steps`.
    fn compiled(&self, steps: impl Iterator<Item = u32>) -> Vec<u32> {
        steps.take_while(|&at| is_compiled(self.flow, at)).collect()
    }

    /// Returns the terminator of a step block whose end is the end of the flow's block `block`.
    fn end(&mut self, from: CodePlace, block: u32) -> Result<StepBlockEnd, BuildError> {
        Ok(match self.flow.end(block, from.direction).ok_or(BuildError::Code)? {
            BlockEnd::Go { next: Edge { to, join: Some(join) } } => {
                StepBlockEnd::Fall { to: self.of_block(from, to)?, join }
            }
            BlockEnd::Branch { at, taken: Edge { to, join: Some(join) }, next } => {
                match self.flow.step(at).ok_or(BuildError::Code)?.orderings().0 {
                    ALWAYS => StepBlockEnd::Jump { to: self.after_join(from, to, join)?, join },
                    NEVER => StepBlockEnd::Pass { to: self.of_block(from, next.to)? },
                    _ => StepBlockEnd::Branch {
                        at,
                        taken: (self.after_join(from, to, join)?, join),
                        next: self.of_block(from, next.to)?,
                    },
                }
            }
            BlockEnd::Go { next: Edge { join: None, .. } }
            | BlockEnd::Branch { taken: Edge { join: None, .. }, .. } => return Err(BuildError::Code),
            BlockEnd::Call { at, .. } => {
                self.call(from, at).unwrap_or(StepBlockEnd::Exit { position: from.before(at) })
            }
            BlockEnd::Leave { at } => {
                self.leave(from, at).unwrap_or(StepBlockEnd::Exit { position: from.before(at) })
            }
            BlockEnd::Switch { at, .. } => StepBlockEnd::Exit { position: from.before(at) },
        })
    }

    /// Returns the terminator that enters the callee of a call; `None` if the call is interpreted.
    fn call(&mut self, from: CodePlace, at: u32) -> Option<StepBlockEnd> {
        let StepLink::Call(call) = self.flow.step(at)?.link else { return None };
        match self.inlined_frames.enter(from.inlined_frame, at, call)? {
            CallDecision::Inlined(callee) => {
                let to = self.beginning(callee)?;
                Some(StepBlockEnd::Call { to, callee })
            }
            CallDecision::OutOfLine(call) => {
                let entered = *self.inlined_frames.calls().get(call)?;
                if call == self.after_calls.len() {
                    let after_calls = self.block_after_call(entered.called)?;
                    self.after_calls.push(after_calls);
                }
                Some(StepBlockEnd::Enter { to: self.beginning(entered.callee)?, call, at })
            }
        }
    }

    /// Returns the first step block of an inlined frame.
    fn beginning(&mut self, inlined_frame: u32) -> Option<usize> {
        let direction = self.inlined_frames.get(inlined_frame)?.direction;
        let position = self.inlined_frames.begin(inlined_frame)?;
        Some(self.number(CodePlace { inlined_frame, direction, position, iteration: None }))
    }

    /// Returns the step block after a call.
    fn block_after_call(&mut self, CallEdge { by, site, .. }: CallEdge) -> Option<usize> {
        let direction = self.inlined_frames.get(by)?.direction;
        let position = match direction {
            CodeDirection::Forward => site + 1,
            CodeDirection::Backward => site,
        };
        Some(self.number(CodePlace { inlined_frame: by, direction, position, iteration: None }))
    }

    /// Returns the terminator that leaves a procedure body or an inlined frame; `None` for main, which has no caller.
    fn leave(&mut self, from: CodePlace, at: u32) -> Option<StepBlockEnd> {
        let inlined_frame = self.inlined_frames.get(from.inlined_frame)?;
        match inlined_frame.called {
            Some(called) => Some(StepBlockEnd::Return { to: self.block_after_call(called)?, at }),
            None => (inlined_frame.procedure != 0).then_some(StepBlockEnd::Leave { at }),
        }
    }
}

/// Mask of orderings for a condition that always holds.
const ALWAYS: u8 = 0b111;
const NEVER: u8 = 0;

/// Marks the targets of back edges in a depth-first traversal as loop headers.
fn mark_heads(step_graph: &mut StepGraph, inlined_frames: &InlinedFrames) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Visit::New; step_graph.all.len()];
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut next = Some(0);
    loop {
        if let Some(number) = next.take() {
            marks[number] = Visit::Open;
            path.push((number, step_graph.successors(number, inlined_frames)));
        }
        let Some((number, left)) = path.last_mut() else { return };
        match left.pop() {
            Some(to) if marks[to] == Visit::New => next = Some(to),
            Some(to) if marks[to] == Visit::Open => step_graph.all[to].is_head = true,
            Some(_) => {}
            None => {
                marks[*number] = Visit::Done;
                path.pop();
            }
        }
    }
}
