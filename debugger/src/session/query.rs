//! Questions about the past: who wrote a cell last, out of what, and what it held when. They travel on
//! the timeline and come back before they answer.
//!
//! The past of a value lies before it in time. An adjoint was carried to where it is from where its branch
//! of history began, so its past lies on that side: after it where one walks back from a loss.

use std::sync::atomic::Ordering;

use reviver_isa::instruction::{Class, Operand};
use reviver_isa::update::{Shape, Update};
use reviver_vm::{State, Stop, Travel};

use super::scan::SLICE;
use super::store::{Entry, moves};
use super::{Session, SessionError};
use crate::access::{self, Access};
use crate::cotangents::carried;
use crate::memory::{Cell, Target};
use crate::outcome::{History, Motion, Origin, OriginCause, Store, Touch};
use crate::points::{Point, Trigger, Watch, candidates};
use crate::timeline::Moment;
use reviver_vm::stops::{Node, Stops};

/// Links that an answer has at most.
const MOST_LINKS: usize = 64;

/// What holds a value.
#[derive(Clone, Copy)]
enum Holder {
    Cell(Target),
    /// An entry of a stack or a tape; or its adjoint, which moves with it.
    Entry {
        entry: Entry,
        adjoint: bool,
    },
}

/// Where a search into the past has stopped.
#[derive(PartialEq, Eq)]
enum Found {
    /// Just beyond a write to something wanted.
    Write,
    /// Where the frame of something wanted begins.
    Birth,
    Nothing,
}

/// What the last write to is sought.
struct Wanted {
    holder: Holder,
    /// How many links lie between the answer and the question.
    depth: usize,
    /// The answer's place in the chain.
    link: usize,
}

/// Which way the past of a cell lies, and the step at which it begins.
#[derive(Clone, Copy)]
struct Past {
    way: Travel,
    bound: i64,
}

impl Past {
    /// The steps that lie between a step and the beginning.
    fn steps_from(self, step: i64) -> u64 {
        match self.way {
            Travel::Forward => self.bound.saturating_sub(step),
            Travel::Backward => step.saturating_sub(self.bound),
        }
        .max(0)
        .unsigned_abs()
    }
}

impl Session {
    /// Travels to just before the last write to a cell: there the reverse step over it has been made.
    ///
    /// # Errors
    /// No such cell.
    pub fn last_write(&mut self, cell: &str) -> Result<Motion, SessionError> {
        self.travel_to_write(cell, Travel::Backward)
    }

    /// Travels to just behind the next write to a cell.
    ///
    /// # Errors
    /// No such cell.
    pub fn next_write(&mut self, cell: &str) -> Result<Motion, SessionError> {
        self.travel_to_write(cell, Travel::Forward)
    }

    /// A continue with one watchpoint instead of all others.
    fn travel_to_write(&mut self, cell: &str, travel: Travel) -> Result<Motion, SessionError> {
        let cell = self.cell(cell)?;
        let target = self.memory.target(self.state(), cell);
        let point = Point {
            id: 0,
            trigger: Trigger::Watch { target, watch: Watch::Write },
            text: String::new(),
            enabled: true,
            temporary: false,
            condition: None,
            ignore: 0,
            hits: 0,
            log: None,
        };
        let others = std::mem::replace(&mut self.points, vec![point]);
        let motion = self.resume(travel);
        self.points = others;
        Ok(motion)
    }

    /// Where a cell's value comes from: the instruction that wrote it last, the values that it was made
    /// of, and where those come from, down to `depth` links. Found in one sweep backward; that of an
    /// adjoint in one sweep to where the branch began.
    ///
    /// # Errors
    /// No such cell.
    pub fn why(&mut self, cell: &str, depth: usize) -> Result<Vec<Origin>, SessionError> {
        let cell = self.cell(cell)?;
        let target = self.memory.target(self.state(), cell);
        let mut chain = vec![self.link(cell, None, 0)];
        let mut wanted = vec![Wanted { holder: Holder::Cell(target), depth: 0, link: 0 }];
        let past = self.past(cell);
        self.excursion(|session| {
            while !wanted.is_empty() {
                match session.search(&wanted, past, true) {
                    Found::Write => session.explain_write(&mut wanted, &mut chain, depth, past.way),
                    Found::Birth => session.explain_births(&mut wanted, &mut chain, past.way),
                    Found::Nothing => break,
                }
            }
            let step = session.step_number();
            wanted.iter().for_each(|left| settle(&mut chain, left, step));
        });
        Ok(chain)
    }

    fn past(&self, cell: Cell) -> Past {
        let branch = self.timeline.branch();
        match cell.adjoint {
            true if branch.step() < branch.offset() => Past { way: Travel::Forward, bound: branch.offset() },
            true => Past { way: Travel::Backward, bound: branch.offset() },
            // A value was there before the edit that the branch began with.
            false => Past { way: Travel::Backward, bound: i64::MIN },
        }
    }

    /// A link whose cause isn't known yet.
    fn link(&self, cell: Cell, parent: Option<usize>, depth: usize) -> Origin {
        Origin {
            parent,
            depth,
            cell: self.memory.name(self.state(), cell),
            value: self.memory.text(self.state(), cell),
            cause: OriginCause::Deeper,
        }
    }

    /// Leaves the session where it was, whatever `visit` does.
    fn excursion<T>(&mut self, visit: impl FnOnce(&mut Session) -> T) -> T {
        self.interrupt.store(false, Ordering::Relaxed);
        let state = self.state().clone();
        let answer = visit(self);
        self.timeline.branch_mut().install(state);
        answer
    }

    /// Travels into the past to just beyond the nearest write to one of those wanted, or, where that is
    /// heeded, to where the frame of one begins. Finds nothing where the user has had enough.
    fn search(&mut self, wanted: &[Wanted], past: Past, heeds_frames: bool) -> Found {
        let plan = self.writes(wanted, heeds_frames);
        loop {
            self.tell(self.step_number());
            let left = past.steps_from(self.step_number());
            if left == 0 || self.interrupt.load(Ordering::Relaxed) {
                return Found::Nothing;
            }
            let node = Node::of(self.state(), past.way);
            let looks = plan.contains(node);
            if looks && heeds_frames && wanted.iter().any(|wanted| self.is_birth(node, wanted.holder)) {
                return Found::Birth;
            }
            let is_write = looks && wanted.iter().any(|wanted| self.writes_to(node, wanted.holder).is_some());
            let outcome = match looks {
                true => self.timeline.run(past.way, 1),
                false => self.timeline.run_until(Some(&plan), past.way, left.min(SLICE)),
            };
            if is_write || !matches!(outcome, Ok(Stop::Budget | Stop::Shown { .. })) {
                let is_made = is_write && outcome.is_ok_and(|stop| stop != Stop::Bound);
                return if is_made { Found::Write } else { Found::Nothing };
            }
        }
    }

    /// The places of instructions that may write one of those wanted, and to the bounds of the
    /// procedures that their frames belong to.
    fn writes(&self, wanted: &[Wanted], heeds_frames: bool) -> Stops {
        let instructions = wanted.iter().flat_map(|wanted| match wanted.holder {
            Holder::Cell(target) => {
                let mut found = candidates(&self.memory, target, Watch::Write);
                found.extend(self.bounds_of(target).into_iter().flatten().filter(|_| heeds_frames));
                found
            }
            Holder::Entry { .. } => self.movers(),
        });
        let both = |at| [Node { position: at, backward: false }, Node { position: at + 1, backward: true }];
        Stops::new(self.program(), instructions.flat_map(both))
    }

    /// The bounds of the procedure whose frame a target is in; none for what lives as long as the program.
    fn bounds_of(&self, target: Target) -> Option<[u32; 2]> {
        let Target::Frame { procedure, .. } = target else { return None };
        self.program().module().procedures.get(procedure).map(|procedure| [procedure.entry, procedure.exit])
    }

    /// Whether the step from a node would lead out of the frame that a holder is in.
    fn is_birth(&self, node: Node, holder: Holder) -> bool {
        let Holder::Cell(target @ Target::Frame { depth, .. }) = holder else { return false };
        depth == self.state().calls.len()
            && self.memory.resolve(self.state(), target).is_some()
            && self.bounds_of(target).is_some_and(|bounds| bounds.contains(&node.instruction()))
    }

    /// What is in a frame that begins here was vacant since.
    fn explain_births(&self, wanted: &mut Vec<Wanted>, chain: &mut [Origin], way: Travel) {
        let node = Node::of(self.state(), way);
        wanted.retain(|question| {
            let is_born = self.is_birth(node, question.holder);
            if is_born {
                settle(chain, question, self.step_number());
            }
            !is_born
        });
    }

    /// The instructions that move values between cells and stacks or tapes.
    fn movers(&self) -> Vec<u32> {
        let code = (0..).zip(&self.program().module().code);
        code.filter(|(_, i)| moves(i.update, Class::Int).is_some()).map(|(at, _)| at).collect()
    }

    /// The cell that the step from a node writes, or moves the entry to or from, if that is the holder's.
    fn writes_to(&self, node: Node, holder: Holder) -> Option<Cell> {
        let target = match holder {
            Holder::Cell(target) => target,
            Holder::Entry { entry, adjoint } => {
                let (cell, moved) = self.move_of(node)?;
                let cell = if adjoint { cell.adjoint()? } else { cell };
                return (Entry::moved(self.state(), moved) == Some(entry)).then_some(cell);
            }
        };
        let cell = self.memory.resolve(self.state(), target)?;
        let mut writes = false;
        access::visit(&self.memory, self.state(), node, |access, visited| {
            writes |= access == Access::Write && visited == cell;
        });
        writes.then_some(cell)
    }

    /// The cell between which and a stack or a tape the step from a node moves a value, and which way.
    fn move_of(&self, node: Node) -> Option<(Cell, (Store, bool))> {
        let instruction = self.program().module().code.get(node.instruction() as usize)?;
        let cell = self.memory.operand(self.state(), instruction.operands.first()?)?;
        Some((cell, moves(self.update(node)?, cell.class)?))
    }

    /// The session stands beyond a write, having come `way`: answers the questions about the cells that
    /// it wrote, and asks those about what they were made of.
    fn explain_write(&self, wanted: &mut Vec<Wanted>, chain: &mut Vec<Origin>, deepest: usize, way: Travel) {
        let node = Node::of(self.state(), way.reversed());
        let mut asked = Vec::new();
        wanted.retain(|question| {
            let Some(cell) = self.writes_to(node, question.holder) else { return true };
            let mut write = self.touch_beyond(cell, node, chain.get(question.link), way);
            let (sources, entry) = match question.holder {
                Holder::Cell(_) => (self.sources(node, cell), self.entry(node, cell)),
                // The value was moved from the cell to where it was sought; with the mode off its adjoint
                // wasn't.
                Holder::Entry { adjoint, .. } => {
                    write.before.clear();
                    (if adjoint && !self.state().mode() { Vec::new() } else { vec![cell] }, None)
                }
            };
            let values = sources.iter().map(|&source| self.cell_and_value(source)).collect();
            if let Some(origin) = chain.get_mut(question.link) {
                let store = entry.map(|entry| entry.store);
                origin.cause = OriginCause::Written { write, sources: values, store };
            }
            let next = (question.link, question.depth + 1);
            let sources = sources.into_iter().filter(|&source| !self.memory.is_constant(source));
            asked.extend(sources.map(|source| (self.cell_asked(source, way), next)));
            let value = chain.get(question.link).map_or_else(String::new, |origin| origin.value.clone());
            asked.extend(entry.map(|entry| (entry_asked(entry, cell.adjoint, value), next)));
            false
        });
        for ((holder, origin), (link, depth)) in asked {
            if depth > deepest || chain.len() >= MOST_LINKS {
                continue;
            }
            wanted.extend(holder.map(|holder| Wanted { holder, depth, link: chain.len() }));
            chain.push(Origin { parent: Some(link), depth, ..origin });
        }
    }

    /// A cell whose past is to be told next. A sweep leads one way: where the cell's past lies on the other
    /// side, it isn't sought.
    fn cell_asked(&self, cell: Cell, way: Travel) -> (Option<Holder>, Origin) {
        let is_ahead = self.past(cell).way == way;
        let holder = is_ahead.then(|| Holder::Cell(self.memory.target(self.state(), cell)));
        (holder, self.link(cell, None, 0))
    }

    fn cell_and_value(&self, cell: Cell) -> (String, String) {
        (self.memory.name(self.state(), cell), self.memory.text(self.state(), cell))
    }

    /// The write that one came over; what it made is known from its link.
    fn touch_beyond(&self, cell: Cell, node: Node, made: Option<&Origin>, way: Travel) -> Touch {
        let here = cell.value(self.state());
        let mut touch = self.touch_of(cell, (false, true), (here, here), node, way.reversed());
        touch.step -= way.sign();
        let made = made.map_or_else(String::new, |origin| origin.value.clone());
        match way {
            Travel::Backward => touch.after = made,
            Travel::Forward => touch.before = made,
        }
        touch
    }

    /// The update that the step from a node executes.
    fn update(&self, node: Node) -> Option<Update> {
        let instruction = self.program().module().code.get(node.instruction() as usize)?;
        Some(if node.backward { instruction.update.inverse() } else { instruction.update })
    }

    /// Where a write takes its value from, if that isn't a cell.
    fn entry(&self, node: Node, target: Cell) -> Option<Entry> {
        let (store, puts) = moves(self.update(node)?, target.class)?;
        if puts { None } else { Entry::moved(self.state(), (store, puts)) }
    }

    /// The cells whose values a write makes a new value of; of an adjoint, the cotangents. A move hands a
    /// value on: its source is the other cell alone. What comes from a stack or a tape is an [`Entry`].
    fn sources(&self, node: Node, target: Cell) -> Vec<Cell> {
        let code = &self.program().module().code;
        let (Some(instruction), Some(update)) = (code.get(node.instruction() as usize), self.update(node))
        else {
            return Vec::new();
        };
        let carried = carried(&self.memory, self.state(), instruction);
        if let Some(change) = carried.into_iter().find(|change| change.to == target) {
            return change.from;
        }
        let cells: Vec<Cell> = instruction
            .operands
            .iter()
            .filter(|operand| matches!(operand, Operand::Place(_)))
            .filter_map(|operand| self.memory.operand(self.state(), operand))
            .collect();
        match (update, update.shape()) {
            (Update::Swap, _) => {
                let other = cells.iter().copied().find(|&cell| cell != target);
                vec![other.unwrap_or(target)]
            }
            (Update::Overwrite, _) => cells.into_iter().filter(|&cell| cell != target).collect(),
            (Update::Neg | Update::Not | Update::Conj, _) => vec![target],
            (_, Shape::Single) => Vec::new(),
            _ => cells,
        }
    }

    /// What a cell held in its past, up to here: its last `most` writes.
    ///
    /// # Errors
    /// No such cell.
    pub fn history(&mut self, cell: &str, most: usize) -> Result<History, SessionError> {
        let cell = self.cell(cell)?;
        let name = self.memory.name(self.state(), cell);
        let target = self.memory.target(self.state(), cell);
        let wanted = [Wanted { holder: Holder::Cell(target), depth: 0, link: 0 }];
        let past = self.past(cell);
        let (mut writes, interrupted) = self.excursion(|session| {
            let mut writes = Vec::new();
            let mut made = cell.value(session.state());
            let facing = past.way.reversed();
            while writes.len() <= most && session.search(&wanted, past, false) == Found::Write {
                let node = Node::of(session.state(), facing);
                let beyond = cell_value(session, target);
                let mut touch = session.touch_of(cell, (false, true), (beyond, made), node, facing);
                touch.step += facing.sign();
                writes.push(touch);
                made = beyond;
            }
            (writes, session.interrupt.swap(false, Ordering::Relaxed))
        });
        let is_cut = writes.len() > most;
        writes.truncate(most);
        let is_ahead = past.way == Travel::Forward;
        if !is_ahead {
            writes.reverse();
        }
        Ok(History { cell: name, writes, is_cut, is_ahead, interrupted })
    }

    /// Values of cells, and the number of open calls, at evenly spaced steps of the current branch: what a
    /// plot needs. Each sample is a step, the call depth and the values; a cell whose frame isn't open
    /// has none. Costs a run over the steps.
    pub fn samples(&mut self, targets: &[Target], (first, last): (i64, i64), count: usize) -> Vec<Sample> {
        let count = count.clamp(1, MOST_SAMPLES) as i128;
        let steps = (0..count).map(|n| {
            let width = i128::from(last) - i128::from(first);
            (i128::from(first) + width * n / (count - 1).max(1)) as i64
        });
        self.excursion(|session| {
            let mut samples = Vec::new();
            for step in steps {
                if session.travel_to(step, &mut Vec::new()) != crate::outcome::Reason::Arrived {
                    break;
                }
                let value = |&target: &Target| {
                    let value = cell_value(session, target)?;
                    Some(session.program().approximate(value))
                };
                let values = targets.iter().map(value).collect();
                samples.push(Sample { step, depth: session.state().calls.len(), values });
            }
            samples
        })
    }

    /// Looks at the state behind the next step without making it; `look` also learns whether the step loses
    /// bits, so that only a history can undo it. `None` where there is no such step, or where it traps.
    pub fn peek<T>(&mut self, travel: Travel, look: impl FnOnce(&State, bool) -> T) -> Option<T> {
        self.timeline.branch_mut().peek(travel, look).ok().flatten()
    }

    /// Where the session is.
    pub fn moment(&self) -> Moment {
        self.timeline.moment()
    }
}

/// The entry that a value was taken from: it held the same.
fn entry_asked(entry: Entry, adjoint: bool, value: String) -> (Option<Holder>, Origin) {
    let of = if adjoint { "the adjoint of an entry" } else { "an entry" };
    let cell = format!("{of} of {}", entry.store.name());
    let origin = Origin { parent: None, depth: 0, cell, value, cause: OriginCause::Deeper };
    (Some(Holder::Entry { entry, adjoint }), origin)
}

/// A value was there at a step, and nothing before it tells why.
fn settle(chain: &mut [Origin], question: &Wanted, step: i64) {
    if let Some(origin) = chain.get_mut(question.link) {
        origin.cause = OriginCause::Initial { step };
    }
}

/// Samples of a plot at most: no screen is wider.
const MOST_SAMPLES: usize = 10_000;

/// One column of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub step: i64,
    /// Open calls.
    pub depth: usize,
    /// One value for each cell that was asked for, as the nearest f64.
    pub values: Vec<Option<f64>>,
}

fn cell_value(session: &Session, target: Target) -> Option<reviver_vm::values::Value> {
    session.memory.resolve(session.state(), target)?.value(session.state())
}
