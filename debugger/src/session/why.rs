//! Why a cell has its value: who wrote it last, out of what, and where that came from. Travels on the
//! timeline with one search after another, and comes back before it answers.

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

/// Links that an answer goes into at most; and those on the ways of values that are only handed on, which are told
/// in one line.
const MOST_LINKS: usize = 64;
const MOST_MOVES: usize = 1_000;

impl Session {
    /// Where a cell's value comes from: the instruction that wrote it last, the values that it was made
    /// of, and where those come from, down to `depth` links. Found in one sweep backward; that of an
    /// adjoint in one sweep to where the branch began.
    ///
    /// # Errors
    /// No such cell; no memory for a copy of the state.
    pub fn why(&mut self, cell: &str, depth: usize) -> Result<Vec<ValueOrigin>, SessionError> {
        let (text, cell) = (cell, self.cell(cell)?);
        if self.memory.is_constant(cell) {
            let link = self.link(cell, None, 0);
            return Ok(vec![ValueOrigin { cell: text.to_owned(), cause: OriginCause::Constant, ..link }]);
        }
        self.why_further(&self.link(cell, None, 0), depth)
    }

    /// The same for a link that an answer left open. It becomes the first of the chain.
    ///
    /// # Errors
    /// The session is on another branch now; no memory for a copy of the state.
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

    /// Follows all that is wanted to where it comes from.
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

    /// A link whose cause isn't known yet.
    fn link(&self, cell: Cell, parent: Option<usize>, depth: usize) -> ValueOrigin {
        let holder = Holder::Cells(self.memory.target(self.state(), cell).into());
        let question = PastQuestion { holder, past: self.past(cell.adjoint), at: self.moment() };
        ValueOrigin {
            parent,
            depth,
            cell: self.memory.name(self.state(), cell),
            value: self.memory.text(self.state(), cell),
            cause: OriginCause::Deeper(question),
        }
    }

    /// What is in a frame that begins here was vacant since.
    fn explain_births(&self, inquiry: &mut Inquiry) {
        let node = Node::of(self.state(), inquiry.past.way);
        let (born, left) = std::mem::take(&mut inquiry.wanted)
            .into_iter()
            .partition(|question| self.is_birth(node, question.holder));
        inquiry.wanted = born;
        inquiry.settle_all(&OriginCause::Initial { step: self.step_number() });
        inquiry.wanted = left;
    }

    /// The session stands beyond a write: answers the questions about the cells that it wrote, and asks those
    /// about what they were made of.
    fn explain_write(&self, inquiry: &mut Inquiry) {
        let node = Node::of(self.state(), inquiry.past.way.reversed());
        for question in std::mem::take(&mut inquiry.wanted) {
            match self.writes_to(node, question.holder) {
                Some(cell) => self.explain(inquiry, &question, cell, node),
                None => inquiry.wanted.push(question),
            }
        }
    }

    /// Answers a question about a cell that the step from a node wrote.
    fn explain(&self, inquiry: &mut Inquiry, question: &Wanted, cell: Cell, node: Node) {
        let mut write = self.touch_beyond(cell, node, inquiry.chain.get(question.link), inquiry.past.way);
        let (sources, entry) = match question.holder {
            Holder::Cells(_) => (self.sources(node, cell), self.entry(node, cell)),
            // The value was moved from the cell to where it was sought; with the mode off its adjoint
            // wasn't.
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

    /// What a write did to make a value of those.
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

    /// The write that one came over; what it made is known from its link.
    fn touch_beyond(&self, cell: Cell, node: Node, made: Option<&ValueOrigin>, way: Travel) -> Touch {
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

    /// Where a write takes its value from, if that isn't a cell.
    fn entry(&self, node: Node, target: Cell) -> Option<StoreEntry> {
        let (store, puts) = moves(self.update(node)?, target.class)?;
        if puts { None } else { StoreEntry::moved(self.state(), (store, puts)) }
    }

    /// The cells whose values a write makes a new value of; of an adjoint, the cotangents. A move hands a
    /// value on: its source is the other cell alone. What comes from a stack or a tape is a [`StoreEntry`].
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

    /// The entry that a value was taken from: it held the same.
    fn entry_asked(&self, entry: StoreEntry, adjoint: bool, value: String, past: PastOfCell) -> ValueOrigin {
        let of = if adjoint { "the adjoint of an entry" } else { "an entry" };
        let question = PastQuestion { holder: Holder::Entry { entry, adjoint }, past, at: self.moment() };
        ValueOrigin {
            parent: None,
            depth: 0,
            cell: format!("{of} of {}", entry.store.name()),
            value,
            cause: OriginCause::Deeper(question),
        }
    }
}

/// An answer in the making, and what is still to be found.
struct Inquiry {
    chain: Vec<ValueOrigin>,
    wanted: Vec<Wanted>,
    past: PastOfCell,
    /// Links between the answer and the question at most.
    deepest: usize,
    /// Links that were gone into, without those that only hand a value on; and those.
    links: usize,
    moves: usize,
}

impl Inquiry {
    /// Adds a link that another asked for, and goes into it unless that would be too much. What only hands a value
    /// on leads no deeper. A sweep leads one way: where the past of a cell lies on the other side, it isn't gone
    /// into.
    fn ask(&mut self, origin: ValueOrigin, asker: &Wanted, role: WriteRole) {
        let is_move = role != WriteRole::Makes;
        let depth = asker.depth + usize::from(!is_move);
        let link = self.chain.len();
        let OriginCause::Deeper(question) = origin.cause else { return };
        self.chain.push(ValueOrigin { parent: Some(asker.link), depth, ..origin });
        let has_room = if is_move { self.moves < MOST_MOVES } else { self.links < MOST_LINKS };
        if question.past.way == self.past.way && depth <= self.deepest && has_room {
            *(if is_move { &mut self.moves } else { &mut self.links }) += 1;
            self.wanted.push(Wanted { holder: question.holder, depth, link });
        }
    }

    /// Answers a question. Returns the value that it was about.
    fn settle(&mut self, question: &Wanted, cause: OriginCause) -> String {
        let Some(origin) = self.chain.get_mut(question.link) else { return String::new() };
        origin.cause = cause;
        origin.value.clone()
    }

    /// Answers all questions alike: no write was found.
    fn settle_all(&mut self, cause: &OriginCause) {
        for question in std::mem::take(&mut self.wanted) {
            self.settle(&question, cause.clone());
        }
    }
}
