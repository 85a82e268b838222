//! Origins of a cell's value: the last write, the cells that this write used (its sources), and the origins of
//! their values in turn. The session travels into the past to search for writes, and restores its position before
//! it returns the answer.

use reviver_flow::access::Made;
use reviver_vm::Travel;
use reviver_vm::stops::Node;

use super::search::{SearchResult, Wanted};
use super::store::moves;
use super::{Session, SessionError};
use crate::cotangents::carried;
use crate::memory::Cell;
use crate::outcome::{OriginCause, Touch, ValueOrigin, WriteRole};
use crate::question::{Holder, PastOfCell, PastQuestion, StoreEntry};

/// Maximum number of links in an answer that lead to writes that compute a value.
const MOST_LINKS: usize = 64;
/// Maximum number of links in an answer that lead to writes that only move a value. One line of the answer
/// summarizes all moves of a value.
const MOST_MOVES: usize = 1_000;

impl Session {
    /// Finds the origin of a cell's value: the instruction that wrote the cell last, the values from which this
    /// instruction computed the value, and their origins, up to `depth` links away. A single sweep finds all of
    /// them. The sweep runs backward in time for a value, and toward the origin of the branch for an adjoint.
    ///
    /// # Errors
    /// There is no such cell, or no memory for a copy of the state.
    pub fn why(&mut self, cell: &str, depth: usize) -> Result<Vec<ValueOrigin>, SessionError> {
        let (text, cell) = (cell, self.cell(cell)?);
        if self.memory.is_constant(cell) {
            let link = self.link(cell, None, 0);
            return Ok(vec![ValueOrigin { cell: text.to_owned(), cause: OriginCause::Constant, ..link }]);
        }
        self.why_further(&self.link(cell, None, 0), depth)
    }

    /// Continues the search for the origin of a link whose origin an answer has left open. The returned chain
    /// begins with this link.
    ///
    /// # Errors
    /// The session is on another branch now, or there is no memory for a copy of the state.
    pub fn why_further(
        &mut self,
        open: &ValueOrigin,
        depth: usize,
    ) -> Result<Vec<ValueOrigin>, SessionError> {
        let first = ValueOrigin { parent: None, depth: 0, ..open.clone() };
        let OriginCause::Deeper(question) = open.cause else { return Ok(vec![first]) };
        let mut inquiry = Inquiry {
            chain: vec![first],
            wanted: vec![Wanted { holder: question.holder, depth: 0, link: 0 }],
            past: question.past,
            deepest: depth,
            links: 1,
            moves: 0,
        };
        if let Err(reason) = self.visit(&question, |session| session.inquire(&mut inquiry))? {
            let step = question.at.step;
            inquiry.settle_all(&OriginCause::Stopped { step, reason });
        }
        Ok(inquiry.chain)
    }

    /// Searches for the last write to each wanted location, and adds the sources of that write to the wanted
    /// locations.
    fn inquire(&mut self, inquiry: &mut Inquiry) {
        while !inquiry.wanted.is_empty() {
            let plan = self.writes(&inquiry.wanted, true);
            let found = self.search(&inquiry.wanted, inquiry.past, true, &plan);
            let step = self.step_number();
            match found {
                SearchResult::Write => self.explain_write(inquiry),
                SearchResult::Birth => self.explain_births(inquiry),
                SearchResult::Nothing => inquiry.settle_all(&OriginCause::Initial { step }),
                SearchResult::Stopped(reason) => {
                    inquiry.settle_all(&OriginCause::Stopped { step, reason });
                }
            }
        }
    }

    /// Creates a link with an unknown cause.
    fn link(&self, cell: Cell, parent: Option<usize>, depth: usize) -> ValueOrigin {
        let holder = Holder::Cells(self.memory.target(self.state(), cell).into());
        let question = PastQuestion { holder, past: self.past(cell.adjoint), at: self.time_point() };
        ValueOrigin {
            parent,
            depth,
            cell: self.memory.name(self.state(), cell),
            value: self.memory.text(self.state(), cell),
            cause: OriginCause::Deeper(question),
        }
    }

    /// Answers the questions about the cells of a frame that begins at the current step. No instruction has written
    /// these cells before.
    fn explain_births(&self, inquiry: &mut Inquiry) {
        let node = Node::of(self.state(), inquiry.past.direction);
        let (born, left) = std::mem::take(&mut inquiry.wanted)
            .into_iter()
            .partition(|question| self.is_birth(node, question.holder));
        inquiry.wanted = born;
        inquiry.settle_all(&OriginCause::Initial { step: self.step_number() });
        inquiry.wanted = left;
    }

    /// Answers the questions about cells that were written by the step that the session has just passed. Adds
    /// questions about the origins of the write's sources.
    fn explain_write(&self, inquiry: &mut Inquiry) {
        let node = Node::of(self.state(), inquiry.past.direction.reversed());
        for question in std::mem::take(&mut inquiry.wanted) {
            match self.writes_to(node, question.holder) {
                Some(cell) => self.explain(inquiry, &question, cell, node),
                None => inquiry.wanted.push(question),
            }
        }
    }

    /// Answers a question about the cell `cell`, which the step from `node` has written.
    fn explain(&self, inquiry: &mut Inquiry, question: &Wanted, cell: Cell, node: Node) {
        let mut write =
            self.touch_beyond(cell, node, inquiry.chain.get(question.link), inquiry.past.direction);
        let (sources, entry) = match question.holder {
            Holder::Cells(_) => (self.sources(node, cell), self.entry(node, cell)),
            // The step moved the value from the cell to the entry. If gradient mode was off, the step didn't move
            // the adjoint of the value.
            Holder::Entry { adjoint, .. } => {
                write.before.clear();
                (if adjoint && !self.state().mode() { Vec::new() } else { vec![cell] }, None)
            }
        };
        let role = self.role(node, question.holder, &sources, entry);
        let values = sources.iter().map(|&source| self.cell_and_value(source)).collect();
        let store = entry.map(|entry| entry.store);
        let value = inquiry.settle(question, OriginCause::Written { write, role, sources: values, store });
        let asked = sources.into_iter().filter(|&source| !self.memory.is_constant(source));
        let asked = asked.map(|source| self.link(source, None, 0));
        let of_entry = entry.map(|entry| self.entry_asked(entry, cell.adjoint, value, inquiry.past));
        for origin in asked.chain(of_entry).collect::<Vec<_>>() {
            inquiry.ask(origin, question, role);
        }
    }

    /// Returns the role of a write: to compute the value, to exchange it with another cell, or to move it to
    /// or from a stack or tape.
    fn role(&self, node: Node, holder: Holder, sources: &[Cell], entry: Option<StoreEntry>) -> WriteRole {
        let made = self.program().flow().step(node.instruction()).map(|step| step.made());
        match (holder, entry, sources) {
            (Holder::Entry { .. }, _, [_]) | (_, Some(_), []) => WriteRole::Moves,
            (Holder::Cells(_), None, [_]) if made == Some(Made::OfOther) => WriteRole::Swaps,
            _ => WriteRole::Makes,
        }
    }

    fn cell_and_value(&self, cell: Cell) -> (String, String) {
        (self.memory.name(self.state(), cell), self.memory.text(self.state(), cell))
    }

    /// Describes the write that the session has just passed. The current state doesn't contain the written value,
    /// so the value is taken from the link `made`.
    fn touch_beyond(&self, cell: Cell, node: Node, made: Option<&ValueOrigin>, direction: Travel) -> Touch {
        let here = cell.value(self.state());
        let mut touch = self.touch_of(cell, (false, true), (here, here), node, direction.reversed());
        touch.step -= direction.sign();
        let made = made.map_or_else(String::new, |origin| origin.value.clone());
        match direction {
            Travel::Backward => touch.after = made,
            Travel::Forward => touch.before = made,
        }
        touch
    }

    /// Returns the stack or tape entry from which a write takes its value, or `None` if it takes the value
    /// from no stack or tape.
    fn entry(&self, node: Node, target: Cell) -> Option<StoreEntry> {
        let (store, puts) = moves(self.update(node)?, target.class)?;
        if puts { None } else { StoreEntry::moved(self.state(), (store, puts)) }
    }

    /// Returns the cells from which a write computes a value; for an adjoint, the cotangents. If the write
    /// only moves a value between two cells, the source is the other cell. A value from a stack or a tape has
    /// no source cell, but a [`StoreEntry`].
    fn sources(&self, node: Node, target: Cell) -> Vec<Cell> {
        let Some(step) = self.program().flow().step(node.instruction()) else { return Vec::new() };
        let carried = carried(&self.memory, self.state(), node.instruction());
        if let Some(change) = carried.into_iter().find(|change| change.to == target) {
            return change.from;
        }
        let depth = self.state().calls.len();
        let named = step.slots.iter().filter(|slot| !slot.is_constant());
        let cells: Vec<Cell> = named.filter_map(|slot| self.memory.slot(self.state(), depth, slot)).collect();
        match step.made() {
            Made::Elsewhere => Vec::new(),
            Made::OfItself => vec![target],
            Made::OfOther => vec![cells.iter().copied().find(|&cell| cell != target).unwrap_or(target)],
            Made::OfSources => cells.into_iter().filter(|&cell| cell != target).collect(),
            Made::OfAll => cells,
        }
    }

    /// Creates the link for an entry of a stack or a tape from which an instruction took the value `value`.
    fn entry_asked(&self, entry: StoreEntry, adjoint: bool, value: String, past: PastOfCell) -> ValueOrigin {
        let of = if adjoint { "the adjoint of an entry" } else { "an entry" };
        let question = PastQuestion { holder: Holder::Entry { entry, adjoint }, past, at: self.time_point() };
        ValueOrigin {
            parent: None,
            depth: 0,
            cell: format!("{of} of {}", entry.store.name()),
            value,
            cause: OriginCause::Deeper(question),
        }
    }
}

/// An unfinished answer, with the locations whose last writes are still searched for.
struct Inquiry {
    chain: Vec<ValueOrigin>,
    wanted: Vec<Wanted>,
    past: PastOfCell,
    /// Maximum number of links from the original question to an answer.
    deepest: usize,
    /// Number of links to writes that compute a value. Only links that the sweep has searched so far are counted.
    links: usize,
    /// Number of links to writes that only move a value, counted like `links`.
    moves: usize,
}

impl Inquiry {
    /// Adds a link to the chain. Also searches for the link's origin, unless a limit is reached or the link's past
    /// is in the other direction than the sweep. Writes that only move a value don't increase the depth.
    fn ask(&mut self, origin: ValueOrigin, asker: &Wanted, role: WriteRole) {
        let is_move = role != WriteRole::Makes;
        let depth = asker.depth + usize::from(!is_move);
        let link = self.chain.len();
        let OriginCause::Deeper(question) = origin.cause else { return };
        self.chain.push(ValueOrigin { parent: Some(asker.link), depth, ..origin });
        let has_room = if is_move { self.moves < MOST_MOVES } else { self.links < MOST_LINKS };
        if question.past.direction == self.past.direction && depth <= self.deepest && has_room {
            *(if is_move { &mut self.moves } else { &mut self.links }) += 1;
            self.wanted.push(Wanted { holder: question.holder, depth, link });
        }
    }

    /// Answers a question with a cause. Returns the value that the question was about.
    fn settle(&mut self, question: &Wanted, cause: OriginCause) -> String {
        let Some(origin) = self.chain.get_mut(question.link) else { return String::new() };
        origin.cause = cause;
        origin.value.clone()
    }

    /// Answers all open questions with the same cause.
    fn settle_all(&mut self, cause: &OriginCause) {
        for question in std::mem::take(&mut self.wanted) {
            self.settle(&question, cause.clone());
        }
    }
}
