//! Control flow of a specialization: the stretches that are reached from its position before an operation that isn't
//! compiled. A stretch is a basic block of machine steps; inlining, unrolling and stop places create further ones.
//! This module knows no value.

use std::collections::HashMap;

use reviver_flow::graph::{BlockEnd, Edge, Way};
use reviver_flow::{Flow, StepLink};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::update::Action;

use super::activation::{Activations, Called, Entered};
use super::elision::Elisions;
use super::rounds::{CountedLoop, LoopRound, RoundBudget};
use crate::error::Outside;
use crate::form::Version;

/// Basic block of machine steps in an activation.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    /// Number of the activation.
    pub activation: u32,
    pub position: u32,
    /// Steps in execution order.
    pub steps: Vec<u32>,
    pub end: StretchEnd,
    /// True for a loop header: the target of an edge from an open stretch in a depth-first traversal.
    pub is_head: bool,
}

/// Terminator of a stretch. Targets are numbers of stretches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StretchEnd {
    /// Falls through a join, which requires that it wasn't reached by a jump.
    Fall { to: usize, join: u32 },
    /// Branches on the condition of step `at`: taken into a stretch through a join that must agree, otherwise to
    /// `next`.
    Branch { at: u32, taken: (usize, u32), next: usize },
    /// Jumps through a join: a branch with a condition that always holds.
    Jump { to: usize, join: u32 },
    /// Continues over a branch with a condition that never holds.
    Pass { to: usize },
    /// Enters an inlined callee, by the number of its activation.
    Call { to: usize, callee: u32 },
    /// Enters an out-of-line callee over the call instruction `at`, by the number of the call.
    Enter { to: usize, call: usize, at: u32 },
    /// Returns from an inlined callee over the end of its procedure.
    Return { to: usize, at: u32 },
    /// Returns from an out-of-line callee, to the code after any of its calls.
    Leave { at: u32 },
    /// Continues at a position where a compute pair or a part of it begins or ends, which takes no step.
    Cut { to: usize },
    /// Skips the `uncompute` part of an elided pair.
    Skip { to: usize },
    /// Exits, because the next step is interpreted.
    Exit { position: u32 },
}

impl StretchEnd {
    /// Returns the number of steps of the terminator itself: 1 if the stretch's own block counts it.
    pub fn steps(self) -> u32 {
        match self {
            StretchEnd::Fall { .. }
            | StretchEnd::Branch { .. }
            | StretchEnd::Jump { .. }
            | StretchEnd::Pass { .. }
            | StretchEnd::Call { .. }
            | StretchEnd::Return { .. } => 1,
            StretchEnd::Enter { .. }
            | StretchEnd::Leave { .. }
            | StretchEnd::Cut { .. }
            | StretchEnd::Skip { .. }
            | StretchEnd::Exit { .. } => 0,
        }
    }
}

impl StretchEnd {
    /// Returns the instruction of the terminator, if it has one.
    pub fn instruction(self, activations: &Activations) -> Option<u32> {
        match self {
            StretchEnd::Fall { join: at, .. }
            | StretchEnd::Branch { at, .. }
            | StretchEnd::Jump { join: at, .. }
            | StretchEnd::Enter { at, .. }
            | StretchEnd::Return { at, .. }
            | StretchEnd::Leave { at } => Some(at),
            StretchEnd::Call { callee, .. } => Some(activations.get(callee)?.called?.site),
            StretchEnd::Pass { .. }
            | StretchEnd::Cut { .. }
            | StretchEnd::Skip { .. }
            | StretchEnd::Exit { .. } => None,
        }
    }
}

/// Control-flow graph of a specialization.
#[derive(Debug)]
pub(super) struct Stretches {
    /// All stretches; the first one contains the entry.
    pub all: Vec<Stretch>,
    /// Stretches after out-of-line calls, by the number of the call.
    pub behind: Vec<usize>,
}

impl Stretches {
    /// Returns the successors of a stretch. The code after an out-of-line call is a successor of the callee's return.
    fn successors(&self, number: usize, activations: &Activations) -> Vec<usize> {
        let Some(stretch) = self.all.get(number) else { return Vec::new() };
        match stretch.end {
            StretchEnd::Fall { to, .. }
            | StretchEnd::Jump { to, .. }
            | StretchEnd::Pass { to }
            | StretchEnd::Call { to, .. }
            | StretchEnd::Enter { to, .. }
            | StretchEnd::Cut { to }
            | StretchEnd::Skip { to }
            | StretchEnd::Return { to, .. } => vec![to],
            StretchEnd::Branch { taken: (taken, _), next, .. } => vec![taken, next],
            StretchEnd::Leave { .. } => {
                let calls = activations.calls().iter().zip(&self.behind);
                calls
                    .filter(|(call, _)| call.callee == stretch.activation)
                    .map(|(_, &behind)| behind)
                    .collect()
            }
            StretchEnd::Exit { .. } => Vec::new(),
        }
    }
}

/// Returns true if a step only operates on cells, or is a bound of tasks that needs no work at run time.
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

/// Returns the number of steps to the next place where code may begin: the near end of a block, or after an
/// interpreted step. Elsewhere a run may have been interrupted, and code from there would be one more copy of a loop.
pub(crate) fn steps_to_entry(flow: &Flow, position: u32, way: Way) -> u64 {
    let blocks = flow.graph().blocks();
    let number = blocks.partition_point(|block| block.start <= position);
    let Some(range) = number.checked_sub(1).and_then(|n| blocks.get(n)) else { return 1 };
    let (near, far, before) = match way {
        Way::Along => (range.start, range.end, position.checked_sub(1)),
        Way::Against => (range.end, range.start, Some(position)),
    };
    match before {
        _ if position == near => 0,
        Some(before) if is_compiled(flow, before) => u64::from(position.abs_diff(far)) + 1,
        Some(_) | None => 0,
    }
}

/// Finds the stretches of a specialization, and adds the activations that they belong to.
pub(super) fn stretches<'f>(
    flow: &'f Flow,
    version: &'f Version,
    activations: &mut Activations<'f>,
    elisions: &mut Elisions<'f>,
) -> Result<Stretches, Outside> {
    let (numbers, open, behind) = (HashMap::new(), Vec::new(), Vec::new());
    let (counted, budget) = (HashMap::new(), RoundBudget::default());
    let mut paths = Paths { flow, version, activations, elisions, numbers, open, behind, counted, budget };
    paths.number(CodePlace { activation: 0, way: version.way, position: version.position, round: None });
    let mut all = Vec::new();
    while let Some(&place) = paths.open.get(all.len()) {
        all.push(paths.stretch(place)?);
    }
    let mut found = Stretches { all, behind: paths.behind };
    mark_heads(&mut found, activations);
    Ok(found)
}

/// Position in the procedure of an activation, with the direction of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CodePlace {
    activation: u32,
    way: Way,
    position: u32,
    /// Iteration of an unrolled loop that contains the position.
    round: Option<LoopRound>,
}

impl CodePlace {
    /// Returns the position before a step, in the direction of execution.
    fn before(self, at: u32) -> u32 {
        match self.way {
            Way::Along => at,
            Way::Against => at + 1,
        }
    }
}

struct Paths<'a, 'f> {
    flow: &'f Flow,
    version: &'f Version,
    activations: &'a mut Activations<'f>,
    elisions: &'a mut Elisions<'f>,
    numbers: HashMap<CodePlace, usize>,
    /// First place of each stretch.
    open: Vec<CodePlace>,
    /// Stretches after out-of-line calls.
    behind: Vec<usize>,
    /// Decision for each loop, by activation and head: the loop if it is unrolled, otherwise `None`.
    counted: HashMap<(u32, u32), Option<CountedLoop>>,
    budget: RoundBudget,
}

impl Paths<'_, '_> {
    /// Returns the number of the stretch that begins at a place.
    fn number(&mut self, place: CodePlace) -> usize {
        let open = &mut self.open;
        *self.numbers.entry(place).or_insert_with(|| {
            open.push(place);
            open.len() - 1
        })
    }

    /// Returns the number of the stretch that begins with a block, in the same activation.
    fn of_block(&mut self, from: CodePlace, block: u32) -> Result<usize, Outside> {
        let range = self.flow.graph().blocks().get(block as usize).ok_or(Outside::Code)?;
        let position = match from.way {
            Way::Along => range.start,
            Way::Against => range.end,
        };
        let round = self.round(from, position);
        Ok(self.number(CodePlace { position, round, ..from }))
    }

    /// Returns the number of the stretch after a join.
    fn behind(&mut self, from: CodePlace, block: u32, join: u32) -> Result<usize, Outside> {
        match keeps(Rule::LandingsLieBehindThePartner) {
            true => self.of_block(from, block),
            false => Ok(self.number(CodePlace { position: from.before(join), round: None, ..from })),
        }
    }

    /// Returns the loop around a position, if it is unrolled.
    fn counted(&mut self, CodePlace { activation, .. }: CodePlace, position: u32) -> Option<CountedLoop> {
        let found = CountedLoop::around(self.flow, self.activations, activation, position)?;
        // Saved values of an elided pair are keyed by position, not by iteration, so loops with such pairs aren't
        // unrolled.
        self.elisions.find(self.activations, activation);
        let is_inside = |at: u32| found.head < at && at <= found.head + found.steps;
        let mut pairs = self.elisions.get(activation).iter();
        let has_pair =
            pairs.any(|pair| [pair.enter, pair.middle, pair.from, pair.to].into_iter().any(is_inside));
        let budget = &mut self.budget;
        let known = self.counted.entry((activation, found.head));
        *known.or_insert_with(|| (!has_pair && budget.take(found)).then_some(found))
    }

    /// Returns the iteration that contains a block, when an edge leads there from a place: the first one if the loop
    /// is entered, the next one along the back edge. After the last unrolled iteration comes the general loop.
    fn round(&mut self, from: CodePlace, position: u32) -> Option<LoopRound> {
        let CountedLoop { head, rounds, steps } = self.counted(from, position)?;
        let is_inside = head < from.position && from.position <= head + steps;
        let number = match from.round {
            _ if !is_inside => 0,
            Some(round) => round.number + 1,
            None => return None,
        };
        (number < rounds).then_some(LoopRound { head, number })
    }

    fn stretch(&mut self, place: CodePlace) -> Result<Stretch, Outside> {
        let CodePlace { activation, way, position, .. } = place;
        self.elisions.find(self.activations, activation);
        if let Some(to) = self.elisions.from(activation, position).map(|pair| pair.to) {
            let end = StretchEnd::Skip { to: self.number(CodePlace { position: to, ..place }) };
            return Ok(Stretch { activation, position, steps: Vec::new(), end, is_head: false });
        }
        let blocks = self.flow.graph().blocks();
        let number =
            blocks.partition_point(|block| block.start <= position).checked_sub(1).ok_or(Outside::Code)?;
        let range = blocks.get(number).filter(|block| position <= block.end).ok_or(Outside::Code)?;
        let mut steps = match way {
            Way::Along => self.compiled(position..range.end),
            Way::Against => self.compiled((range.start..position).rev()),
        };
        let (behind, far) = match way {
            Way::Along => (position + steps.len() as u32, range.end),
            Way::Against => (position - steps.len() as u32, range.start),
        };
        let is_on_the_way = |stop: &u32| (position.min(behind)..=position.max(behind)).contains(stop);
        let distance = |to: u32| position.abs_diff(to);
        let stops = self.version.stops.iter().filter(|stop| stop.way == way).map(|stop| stop.position);
        let stop = stops.filter(is_on_the_way).min_by_key(|&stop| distance(stop));
        let cut =
            self.cut(place, behind).filter(|&cut| stop.is_none_or(|stop| distance(cut) < distance(stop)));
        let end = if let Some(cut) = cut {
            steps.truncate(distance(cut) as usize);
            StretchEnd::Cut { to: self.number(CodePlace { position: cut, ..place }) }
        } else if let Some(stop) = stop {
            steps.truncate(distance(stop) as usize);
            StretchEnd::Exit { position: stop }
        } else if behind == far {
            self.end(place, number as u32)?
        } else {
            StretchEnd::Exit { position: behind }
        };
        Ok(Stretch { activation, position, steps, end, is_head: false })
    }

    /// Returns the nearest position, up to `to`, at which an elided pair or a part of it begins or ends.
    fn cut(&self, from: CodePlace, to: u32) -> Option<u32> {
        let distance = |cut: &u32| from.position.abs_diff(*cut);
        let is_ahead = |cut: &u32| match from.way {
            Way::Along => from.position < *cut && *cut <= to,
            Way::Against => to <= *cut && *cut < from.position,
        };
        let pairs = self.elisions.get(from.activation).iter();
        pairs.flat_map(|pair| [pair.enter, pair.middle, pair.from]).filter(is_ahead).min_by_key(distance)
    }

    /// Returns the steps before the first one that is interpreted.
    fn compiled(&self, steps: impl Iterator<Item = u32>) -> Vec<u32> {
        steps.take_while(|&at| is_compiled(self.flow, at)).collect()
    }

    /// Returns the terminator of a stretch that ends with its block.
    fn end(&mut self, from: CodePlace, block: u32) -> Result<StretchEnd, Outside> {
        Ok(match self.flow.end(block, from.way).ok_or(Outside::Code)? {
            BlockEnd::Go { next: Edge { to, join: Some(join) } } => {
                StretchEnd::Fall { to: self.of_block(from, to)?, join }
            }
            BlockEnd::Branch { at, taken: Edge { to, join: Some(join) }, next } => {
                match self.flow.step(at).ok_or(Outside::Code)?.orderings().0 {
                    ALWAYS => StretchEnd::Jump { to: self.behind(from, to, join)?, join },
                    NEVER => StretchEnd::Pass { to: self.of_block(from, next.to)? },
                    _ => StretchEnd::Branch {
                        at,
                        taken: (self.behind(from, to, join)?, join),
                        next: self.of_block(from, next.to)?,
                    },
                }
            }
            BlockEnd::Go { next: Edge { join: None, .. } }
            | BlockEnd::Branch { taken: Edge { join: None, .. }, .. } => return Err(Outside::Code),
            BlockEnd::Call { at, .. } => {
                self.call(from, at).unwrap_or(StretchEnd::Exit { position: from.before(at) })
            }
            BlockEnd::Leave { at } => {
                self.leave(from, at).unwrap_or(StretchEnd::Exit { position: from.before(at) })
            }
            BlockEnd::Switch { at, .. } => StretchEnd::Exit { position: from.before(at) },
        })
    }

    /// Enters the callee of a call, unless that is interpreted.
    fn call(&mut self, from: CodePlace, at: u32) -> Option<StretchEnd> {
        let StepLink::Call(call) = self.flow.step(at)?.link else { return None };
        match self.activations.enter(from.activation, at, call)? {
            Entered::InPlace(callee) => {
                let to = self.beginning(callee)?;
                Some(StretchEnd::Call { to, callee })
            }
            Entered::Function(call) => {
                let entered = *self.activations.calls().get(call)?;
                if call == self.behind.len() {
                    let behind = self.behind_call(entered.called)?;
                    self.behind.push(behind);
                }
                Some(StretchEnd::Enter { to: self.beginning(entered.callee)?, call, at })
            }
        }
    }

    /// Returns the first stretch of an activation.
    fn beginning(&mut self, activation: u32) -> Option<usize> {
        let way = self.activations.get(activation)?.way;
        let position = self.activations.begin(activation)?;
        Some(self.number(CodePlace { activation, way, position, round: None }))
    }

    /// Returns the stretch after a call.
    fn behind_call(&mut self, Called { by, site, .. }: Called) -> Option<usize> {
        let way = self.activations.get(by)?.way;
        let position = match way {
            Way::Along => site + 1,
            Way::Against => site,
        };
        Some(self.number(CodePlace { activation: by, way, position, round: None }))
    }

    /// Returns from an activation. Main has no caller.
    fn leave(&mut self, from: CodePlace, at: u32) -> Option<StretchEnd> {
        let activation = self.activations.get(from.activation)?;
        match activation.called {
            Some(called) => Some(StretchEnd::Return { to: self.behind_call(called)?, at }),
            None => (activation.procedure != 0).then_some(StretchEnd::Leave { at }),
        }
    }
}

/// Mask of orderings for a condition that always holds.
const ALWAYS: u8 = 0b111;
const NEVER: u8 = 0;

/// Marks the targets of back edges in a depth-first traversal as loop headers.
fn mark_heads(stretches: &mut Stretches, activations: &Activations) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Visit::New; stretches.all.len()];
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut next = Some(0);
    loop {
        if let Some(number) = next.take() {
            marks[number] = Visit::Open;
            path.push((number, stretches.successors(number, activations)));
        }
        let Some((number, left)) = path.last_mut() else { return };
        match left.pop() {
            Some(to) if marks[to] == Visit::New => next = Some(to),
            Some(to) if marks[to] == Visit::Open => stretches.all[to].is_head = true,
            Some(_) => {}
            None => {
                marks[*number] = Visit::Done;
                path.pop();
            }
        }
    }
}
