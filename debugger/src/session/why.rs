//! Why a cell has its value: who wrote it last, out of what, and where that came from. Travels on the
//! timeline with one search after another, and comes back before it answers.

use reviver_flow::access::Made;
use reviver_vm::Travel;
use reviver_vm::stops::Node;

use super::search::{Holder, SearchResult, Wanted};
use super::store::{StoreEntry, moves};
use super::{Session, SessionError};
use crate::cotangents::carried;
use crate::memory::Cell;
use crate::outcome::{OriginCause, Touch, ValueOrigin};

/// Links that an answer has at most.
const MOST_LINKS: usize = 64;

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
        let target = self.memory.target(self.state(), cell);
        let mut chain = vec![self.link(cell, None, 0)];
        let mut wanted = vec![Wanted { holder: Holder::Cells(target.into()), depth: 0, link: 0 }];
        let past = self.past(cell.adjoint);
        self.excursion(|session| {
            while !wanted.is_empty() {
                let plan = session.writes(&wanted, true);
                let found = session.search(&wanted, past, true, &plan);
                let step = session.step_number();
                let cause = match found {
                    SearchResult::Write => {
                        session.explain_write(&mut wanted, &mut chain, depth, past.way);
                        continue;
                    }
                    SearchResult::Birth => {
                        session.explain_births(&mut wanted, &mut chain, past.way);
                        continue;
                    }
                    SearchResult::Nothing => OriginCause::Initial { step },
                    SearchResult::Stopped(reason) => OriginCause::Stopped { step, reason },
                };
                wanted.drain(..).for_each(|left| settle(&mut chain, &left, cause.clone()));
            }
        })?;
        Ok(chain)
    }

    /// A link whose cause isn't known yet.
    fn link(&self, cell: Cell, parent: Option<usize>, depth: usize) -> ValueOrigin {
        ValueOrigin {
            parent,
            depth,
            cell: self.memory.name(self.state(), cell),
            value: self.memory.text(self.state(), cell),
            cause: OriginCause::Deeper,
        }
    }

    /// What is in a frame that begins here was vacant since.
    fn explain_births(&self, wanted: &mut Vec<Wanted>, chain: &mut [ValueOrigin], way: Travel) {
        let node = Node::of(self.state(), way);
        wanted.retain(|question| {
            let is_born = self.is_birth(node, question.holder);
            if is_born {
                settle(chain, question, OriginCause::Initial { step: self.step_number() });
            }
            !is_born
        });
    }

    /// The session stands beyond a write, having come `way`: answers the questions about the cells that
    /// it wrote, and asks those about what they were made of.
    fn explain_write(
        &self,
        wanted: &mut Vec<Wanted>,
        chain: &mut Vec<ValueOrigin>,
        deepest: usize,
        way: Travel,
    ) {
        let node = Node::of(self.state(), way.reversed());
        let mut asked = Vec::new();
        wanted.retain(|question| {
            let Some(cell) = self.writes_to(node, question.holder) else { return true };
            let mut write = self.touch_beyond(cell, node, chain.get(question.link), way);
            let (sources, entry) = match question.holder {
                Holder::Cells(_) => (self.sources(node, cell), self.entry(node, cell)),
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
            chain.push(ValueOrigin { parent: Some(link), depth, ..origin });
        }
    }

    /// A cell whose past is to be told next. A sweep leads one way: where the cell's past lies on the other
    /// side, it isn't sought.
    fn cell_asked(&self, cell: Cell, way: Travel) -> (Option<Holder>, ValueOrigin) {
        let is_ahead = self.past(cell.adjoint).way == way;
        let holder = is_ahead.then(|| Holder::Cells(self.memory.target(self.state(), cell).into()));
        (holder, self.link(cell, None, 0))
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
        let carried = carried(&self.memory, self.state(), step);
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
}

/// The entry that a value was taken from: it held the same.
fn entry_asked(entry: StoreEntry, adjoint: bool, value: String) -> (Option<Holder>, ValueOrigin) {
    let of = if adjoint { "the adjoint of an entry" } else { "an entry" };
    let cell = format!("{of} of {}", entry.store.name());
    let origin = ValueOrigin { parent: None, depth: 0, cell, value, cause: OriginCause::Deeper };
    (Some(Holder::Entry { entry, adjoint }), origin)
}

/// Answers a question for which no write was found.
fn settle(chain: &mut [ValueOrigin], question: &Wanted, cause: OriginCause) {
    if let Some(origin) = chain.get_mut(question.link) {
        origin.cause = cause;
    }
}
