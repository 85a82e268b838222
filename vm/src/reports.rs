//! Reports of a gradient pass. A *loss* in this module is an event in which a derivative is lost, so that the gradient
//! may be wrong. Dropping the adjoint of a vacated cell is correct, so it is only counted. The module identifies
//! instructions by index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::watch::Watch;

/// The way in which a derivative was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Loss {
    /// A cell with a non-zero adjoint was erased by `erase` or, in a forward sweep, by `overwrite`.
    Erased,
    /// A real with an adjoint was converted to an integer.
    Converted,
    /// A cell with a non-zero tangent was freed; detected only in runs over dual numbers.
    FreedWithTangent,
    /// A real with a non-zero tangent was converted to an integer; detected only in runs over dual numbers.
    ConvertedWithTangent,
    /// A partial derivative is infinite or undefined, and the adjoint (or tangent) that it is multiplied by
    /// is 0.
    Hidden,
    /// A function is evaluated at a kink, or a comparison finds reals equal that have different derivatives.
    /// This is detected only in runs over dual numbers.
    Kink,
    /// Rounding errors may change the leading digits of the loss. This is noted at the end of the forward
    /// sweep.
    IllConditioned,
}

impl Loss {
    /// Returns a description of the event, as a clause.
    pub fn describe(self) -> &'static str {
        match self {
            Loss::Erased => "an active cell was erased",
            Loss::Converted => "an active real was converted to an integer",
            Loss::FreedWithTangent => "a cell was freed although its tangent is not 0",
            Loss::ConvertedWithTangent => "a real was converted to an integer although its tangent is not 0",
            Loss::Hidden => {
                "a partial derivative that is infinite or undefined is multiplied by a derivative that is 0"
            }
            Loss::Kink => "a function has a kink, or a comparison has a tie, at this point",
            Loss::IllConditioned => "rounding errors change the loss too much",
        }
    }

    /// Returns the effect on the derivatives, as a clause; `largest` is [`Tally::largest`].
    pub fn effect(self, largest: f64) -> String {
        let measure = match self {
            Loss::Erased => "for each unit of the value after the erasure, the loss changes by up to",
            Loss::Converted => "for each unit of the real, the loss changes by up to",
            Loss::FreedWithTangent | Loss::ConvertedWithTangent => {
                "its tangent along the inputs' direction is up to"
            }
            Loss::Hidden => return "their product is taken to be 0".to_owned(),
            Loss::Kink => "the tangent of a compared value along the inputs' direction is up to",
            Loss::IllConditioned => "to first order the rounding errors of the run change the loss by",
        };
        format!("{measure} {largest:e}")
    }
}

/// The number of losses of one kind at one instruction, and the largest of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The number of losses, counted each time that the instruction is executed.
    pub count: u64,
    /// The greatest magnitude of a lost adjoint or tangent.
    pub largest: f64,
}

/// The derivatives that a run lost, tallied by instruction and kind ([`Loss`]). So the size of the program bounds
/// the number of tallies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reports {
    tallies: BTreeMap<(u32, Loss), Tally>,
    /// The watch of a run in floats, whose reverse sweep must retrace the forward sweep. It is boxed, because reports are
    /// part of every derivative's result, and most have no watch.
    pub(crate) watch: Option<Box<Watch>>,
    /// The highest order of derivatives that matters in a dual-valued run; `None` for all orders.
    #[serde(skip)]
    orders: Option<usize>,
    /// True if kinks are reported. Runs for first derivatives don't report kinks, because first derivatives follow the
    /// rules for ties.
    #[serde(skip)]
    reports_kinks: bool,
}

impl Reports {
    /// Creates empty reports for derivatives up to an order, with kinks.
    pub(crate) fn up_to(order: usize) -> Reports {
        Reports { orders: Some(order), reports_kinks: true, ..Reports::default() }
    }

    /// Returns true if kinks are reported.
    pub(crate) fn reports_kinks(&self) -> bool {
        self.reports_kinks
    }

    /// Returns the highest order of derivatives that matters in a dual-valued run.
    pub(crate) fn orders(&self) -> usize {
        self.orders.unwrap_or(usize::MAX)
    }

    /// Notes a loss at the instruction with index `at`.
    pub fn note(&mut self, at: u32, loss: Loss, size: f64) {
        let tally = self.tallies.entry((at, loss)).or_default();
        tally.count += 1;
        tally.largest = tally.largest.max(size);
    }

    /// Adds the losses of other reports.
    pub fn absorb(&mut self, other: &Reports) {
        other.iter().for_each(|(at, loss, tally)| self.add(at, loss, tally));
    }

    /// Adds the losses of other reports, except those of a kind that these reports already have at the same
    /// instruction.
    pub(crate) fn complete(&mut self, other: &Reports) {
        for (at, loss, tally) in other.iter() {
            self.tallies.entry((at, loss)).or_insert(tally);
        }
    }

    /// Adds the losses of one kind at one instruction.
    pub fn add(&mut self, at: u32, loss: Loss, tally: Tally) {
        let own = self.tallies.entry((at, loss)).or_default();
        own.count += tally.count;
        own.largest = own.largest.max(tally.largest);
    }

    /// Creates empty reports with the same settings.
    pub(crate) fn anew(&self) -> Reports {
        let watch = self.watch.as_ref().map(|_| Box::default());
        let (orders, reports_kinks) = (self.orders, self.reports_kinks);
        Reports { watch, orders, reports_kinks, ..Reports::default() }
    }

    /// Returns true if the reports are independent of the order of execution: they contain no step numbers
    /// and no float sums.
    pub(crate) fn are_order_independent(&self) -> bool {
        self.watch().is_none_or(Watch::is_order_independent)
    }

    /// Adds the losses and the watch of other reports. The other reports must be independent of the order of execution,
    /// see [`Reports::are_order_independent`].
    pub(crate) fn absorb_tasks(&mut self, other: &Reports) {
        self.absorb(other);
        if let (Some(own), Some(other)) = (&mut self.watch, &other.watch) {
            own.absorb(other);
        }
    }

    /// Returns true if a loss of this kind was noted.
    pub(crate) fn has(&self, kind: Loss) -> bool {
        self.tallies.keys().any(|(_, loss)| *loss == kind)
    }

    /// Iterates over the losses, in the order of the instructions.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Loss, Tally)> {
        self.tallies.iter().map(|(&(at, loss), &tally)| (at, loss, tally))
    }

    /// Returns the watch, if the run was watched.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }

    /// Returns true if all instruction indices are valid in a program with this number of instructions.
    pub(crate) fn are_of(&self, instructions: usize) -> bool {
        let freed = self.watch().into_iter().flat_map(Watch::freed_at);
        self.tallies.keys().map(|(at, _)| *at).chain(freed).all(|at| (at as usize) < instructions)
    }

    /// Returns true if no loss of derivative information is reported. The watch doesn't count.
    pub fn is_empty(&self) -> bool {
        self.tallies.is_empty()
    }
}
