//! Which code a version is made of: the stretches that are reached from its position before the machine does something
//! that isn't compiled. Knows no value.

use std::collections::HashMap;

use reviver_flow::Flow;
use reviver_flow::graph::{BlockEnd, Edge, Way};
use reviver_isa::mutants::{Rule, keeps};
use reviver_isa::update::Action;

use crate::error::Outside;
use crate::form::Version;

/// Steps that follow each other, from a position on.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    /// Where it begins.
    pub position: u32,
    /// The steps, in the order in which they are made.
    pub steps: Vec<u32>,
    pub end: StretchEnd,
    /// Whether a way through the code comes back to its beginning.
    pub is_head: bool,
}

/// Where a stretch leads to; stretches are told by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StretchEnd {
    /// Into another one, through a join that denies having been jumped to.
    Fall { to: usize, join: u32 },
    /// By the condition of the step `at`, into one through a join that agrees, or into the other.
    Branch { at: u32, taken: (usize, u32), next: usize },
    /// The same where the condition always holds.
    Jump { to: usize, join: u32 },
    /// The same where it never holds.
    Pass { to: usize },
    /// What comes next is the interpreter's.
    Exit { position: u32 },
}

impl StretchEnd {
    fn successors(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            StretchEnd::Fall { to, .. } | StretchEnd::Jump { to, .. } | StretchEnd::Pass { to } => {
                (Some(to), None)
            }
            StretchEnd::Branch { taken: (taken, _), next, .. } => (Some(taken), Some(next)),
            StretchEnd::Exit { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Whether a step is made of operations on cells alone.
fn is_compiled(action: Action) -> bool {
    match action {
        Action::Accumulate
        | Action::Replace
        | Action::Erase
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
        | Action::CallVia(_)
        | Action::Parallel(_)
        | Action::Switch(_) => false,
    }
}

/// How many steps there are from a position to where code may begin: at the near end of a block, or behind a step that
/// is the interpreter's. Elsewhere a run may be interrupted, and code that began there would be another copy of a loop.
pub(crate) fn steps_to_entry(flow: &Flow, position: u32, way: Way) -> u64 {
    let blocks = flow.graph().blocks();
    let number = blocks.partition_point(|block| block.start <= position);
    let Some(range) = number.checked_sub(1).and_then(|n| blocks.get(n)) else { return 1 };
    let (near, far, before) = match way {
        Way::Along => (range.start, range.end, position.checked_sub(1)),
        Way::Against => (range.end, range.start, Some(position)),
    };
    let is_compiled = |at: u32| flow.step(at).is_some_and(|step| is_compiled(step.operation.update.action()));
    match before {
        _ if position == near => 0,
        Some(before) if is_compiled(before) => u64::from(position.abs_diff(far)) + 1,
        Some(_) | None => 0,
    }
}

/// The stretches of a version; the first one is where it begins.
pub(super) fn stretches(flow: &Flow, version: Version) -> Result<Vec<Stretch>, Outside> {
    let mut paths = Paths { flow, version, numbers: HashMap::new(), open: Vec::new() };
    paths.number(version.position);
    let mut found = Vec::new();
    while let Some(&position) = paths.open.get(found.len()) {
        found.push(paths.stretch(position)?);
    }
    mark_heads(&mut found);
    Ok(found)
}

struct Paths<'f> {
    flow: &'f Flow,
    version: Version,
    numbers: HashMap<u32, usize>,
    /// Where each begins.
    open: Vec<u32>,
}

impl Paths<'_> {
    /// The number of the stretch that begins at a position.
    fn number(&mut self, position: u32) -> usize {
        let open = &mut self.open;
        *self.numbers.entry(position).or_insert_with(|| {
            open.push(position);
            open.len() - 1
        })
    }

    /// That of a block.
    fn of_block(&mut self, block: u32) -> Result<usize, Outside> {
        let range = self.flow.graph().blocks().get(block as usize).ok_or(Outside::Code)?;
        let position = match self.version.way {
            Way::Along => range.start,
            Way::Against => range.end,
        };
        Ok(self.number(position))
    }

    /// That of the block behind a join.
    fn behind(&mut self, block: u32, join: u32) -> Result<usize, Outside> {
        match keeps(Rule::LandingsLieBehindThePartner) {
            true => self.of_block(block),
            false => Ok(self.number(self.before(join))),
        }
    }

    fn stretch(&mut self, position: u32) -> Result<Stretch, Outside> {
        let blocks = self.flow.graph().blocks();
        let number =
            blocks.partition_point(|block| block.start <= position).checked_sub(1).ok_or(Outside::Code)?;
        let range = blocks.get(number).filter(|block| position <= block.end).ok_or(Outside::Code)?;
        let mut steps = match self.version.way {
            Way::Along => self.compiled(position..range.end),
            Way::Against => self.compiled((range.start..position).rev()),
        };
        let (behind, far) = match self.version.way {
            Way::Along => (position + steps.len() as u32, range.end),
            Way::Against => (position - steps.len() as u32, range.start),
        };
        let stop =
            self.version.stop.filter(|stop| (position.min(behind)..=position.max(behind)).contains(stop));
        if let Some(stop) = stop {
            steps.truncate(position.abs_diff(stop) as usize);
            return Ok(Stretch { position, steps, end: StretchEnd::Exit { position: stop }, is_head: false });
        }
        let end =
            if behind == far { self.end(number as u32)? } else { StretchEnd::Exit { position: behind } };
        Ok(Stretch { position, steps, end, is_head: false })
    }

    /// The steps up to one that is the interpreter's.
    fn compiled(&self, steps: impl Iterator<Item = u32>) -> Vec<u32> {
        let is_own =
            |at: &u32| self.flow.step(*at).is_some_and(|step| is_compiled(step.operation.update.action()));
        steps.take_while(is_own).collect()
    }

    /// The position before a step.
    fn before(&self, at: u32) -> u32 {
        match self.version.way {
            Way::Along => at,
            Way::Against => at + 1,
        }
    }

    fn end(&mut self, block: u32) -> Result<StretchEnd, Outside> {
        Ok(match self.flow.end(block, self.version.way).ok_or(Outside::Code)? {
            BlockEnd::Go { next: Edge { to, join: Some(join) } } => {
                StretchEnd::Fall { to: self.of_block(to)?, join }
            }
            BlockEnd::Branch { at, taken: Edge { to, join: Some(join) }, next } => {
                match self.flow.step(at).ok_or(Outside::Code)?.orderings().0 {
                    ALWAYS => StretchEnd::Jump { to: self.behind(to, join)?, join },
                    NEVER => StretchEnd::Pass { to: self.of_block(next.to)? },
                    _ => StretchEnd::Branch {
                        at,
                        taken: (self.behind(to, join)?, join),
                        next: self.of_block(next.to)?,
                    },
                }
            }
            BlockEnd::Go { next: Edge { join: None, .. } }
            | BlockEnd::Branch { taken: Edge { join: None, .. }, .. } => return Err(Outside::Code),
            BlockEnd::Call { at, .. } | BlockEnd::Switch { at, .. } | BlockEnd::Leave { at } => {
                StretchEnd::Exit { position: self.before(at) }
            }
        })
    }
}

/// The orderings under which a condition holds that always does.
const ALWAYS: u8 = 0b111;
const NEVER: u8 = 0;

/// Marks the stretches that a depth-first walk comes back to.
fn mark_heads(stretches: &mut [Stretch]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Visit::New; stretches.len()];
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut next = Some(0);
    loop {
        if let Some(number) = next.take() {
            marks[number] = Visit::Open;
            path.push((number, stretches[number].end.successors().collect()));
        }
        let Some((number, left)) = path.last_mut() else { return };
        match left.pop() {
            Some(to) if marks[to] == Visit::New => next = Some(to),
            Some(to) if marks[to] == Visit::Open => stretches[to].is_head = true,
            Some(_) => {}
            None => {
                marks[*number] = Visit::Done;
                path.pop();
            }
        }
    }
}
