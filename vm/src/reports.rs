//! What a gradient pass lost in a way that one should know of. A dropped adjoint of a vacated cell
//! is right and only counted; the kinds here may mean a wrong gradient. Knows places by number.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::watch::Watch;

/// How sensitivity got lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Loss {
    /// `erase` of a cell whose adjoint isn't 0, or, on a way forward, `overwrite`.
    Erased,
    /// A real with an adjoint was converted to an integer.
    Converted,
    /// A cell was freed whose tangent isn't 0: only lifted runs see it.
    FreedWithTangent,
    /// A real was converted to an integer whose tangent isn't 0: only lifted runs see it.
    ConvertedWithTangent,
    /// A partial derivative is infinite or undefined where the adjoint (or tangent) that it is multiplied with is 0.
    Hidden,
    /// A function has a kink where it is evaluated, or a comparison finds reals equal whose derivatives differ: only lifted runs see it.
    Kink,
    /// Rounding errors leave the loss without its first digits: noted where the forward sweep ends.
    IllConditioned,
}

impl Loss {
    /// What happened, as the end of a sentence about a cell.
    pub fn describe(self) -> &'static str {
        match self {
            Loss::Erased => "an active cell was erased",
            Loss::Converted => "an active real was converted to an integer",
            Loss::FreedWithTangent => "a cell was freed although its tangent is not 0",
            Loss::ConvertedWithTangent => "a real was converted to an integer although its tangent is not 0",
            Loss::Hidden => "a partial derivative that is infinite or undefined meets a derivative that is 0",
            Loss::Kink => "a function has a kink, or a comparison a tie, at this very point",
            Loss::IllConditioned => "rounding errors change the loss too much",
        }
    }

    /// What the loss means for the derivatives, as a clause; `largest` is [`Tally::largest`].
    pub fn effect(self, largest: f64) -> String {
        let measure = match self {
            Loss::Erased => "for each unit of what is in its place the loss changes by up to",
            Loss::Converted => "for each unit of what it held the loss changes by up to",
            Loss::FreedWithTangent | Loss::ConvertedWithTangent => {
                "for each unit of the inputs' direction what it held changes by up to"
            }
            Loss::Hidden => return "their product is taken to be 0".to_owned(),
            Loss::Kink => "for each unit of the inputs' direction what is compared changes by up to",
            Loss::IllConditioned => "to first order the rounding errors of the run change the loss by",
        };
        format!("{measure} {largest:e}")
    }
}

/// How often something was lost at one instruction, and how much at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub count: u64,
    /// The greatest magnitude of the adjoint (or tangent) that was lost.
    pub largest: f64,
}

/// What was lost in a run, by instruction. Its size is bounded by the program's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reports {
    tallies: BTreeMap<(u32, Loss), Tally>,
    /// What is watched of a run in floats that is to come back the way it went.
    pub(crate) watch: Option<Watch>,
    /// Up to which order a lifted number's derivatives matter; every one if nobody has said.
    #[serde(skip)]
    orders: Option<usize>,
    /// True if kinks are reported: first derivatives follow the rules for ties.
    #[serde(skip)]
    looks_for_kinks: bool,
}

impl Reports {
    /// Of a run that was only watched: nothing was lost.
    pub fn watched(watch: Option<Watch>) -> Reports {
        Reports { watch, ..Reports::default() }
    }

    /// Such that have noted nothing, and look at derivatives up to an order, and for kinks.
    pub(crate) fn up_to(order: usize) -> Reports {
        Reports { orders: Some(order), looks_for_kinks: true, ..Reports::default() }
    }

    /// True if kinks are reported.
    pub(crate) fn looks_for_kinks(&self) -> bool {
        self.looks_for_kinks
    }

    /// Up to which order a lifted number's derivatives matter.
    pub(crate) fn orders(&self) -> usize {
        self.orders.unwrap_or(usize::MAX)
    }

    /// Notes a loss at the instruction of this index.
    pub fn note(&mut self, at: u32, loss: Loss, size: f64) {
        let tally = self.tallies.entry((at, loss)).or_default();
        tally.count += 1;
        tally.largest = tally.largest.max(size);
    }

    /// Adds what other reports have noted.
    pub fn absorb(&mut self, other: &Reports) {
        other.iter().for_each(|(at, loss, tally)| self.add(at, loss, tally));
    }

    /// Takes over what others have noted where these have noted nothing.
    pub(crate) fn complete(&mut self, other: &Reports) {
        for (at, loss, tally) in other.iter() {
            self.tallies.entry((at, loss)).or_insert(tally);
        }
    }

    /// Adds what was noted of one instruction.
    pub fn add(&mut self, at: u32, loss: Loss, tally: Tally) {
        let own = self.tallies.entry((at, loss)).or_default();
        own.count += tally.count;
        own.largest = own.largest.max(tally.largest);
    }

    /// Such that note and watch the same, and have seen nothing.
    pub(crate) fn anew(&self) -> Reports {
        let watch = self.watch.as_ref().map(|_| Watch::default());
        let (orders, looks_for_kinks) = (self.orders, self.looks_for_kinks);
        Reports { watch, orders, looks_for_kinks, ..Reports::default() }
    }

    /// Whether they are the same in whichever order they were made: nothing in them depends on the numbers of steps, and no sum of floats.
    pub(crate) fn add_up_in_any_order(&self) -> bool {
        self.watch.as_ref().is_none_or(Watch::adds_up_in_any_order)
    }

    /// Adds what others have noted and watched that add up in any order.
    pub(crate) fn absorb_tasks(&mut self, other: &Reports) {
        self.absorb(other);
        if let (Some(own), Some(other)) = (&mut self.watch, &other.watch) {
            own.absorb(other);
        }
    }

    /// True if something of a kind was noted.
    pub(crate) fn has(&self, kind: Loss) -> bool {
        self.tallies.keys().any(|(_, loss)| *loss == kind)
    }

    /// In the order of the instructions.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Loss, Tally)> {
        self.tallies.iter().map(|(&(at, loss), &tally)| (at, loss, tally))
    }

    /// What was watched, if anything was.
    pub fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Whether they speak of the instructions of a program that has so many.
    pub(crate) fn are_of(&self, instructions: usize) -> bool {
        let freed = self.watch.iter().flat_map(Watch::freed_at);
        self.tallies.keys().map(|(at, _)| *at).chain(freed).all(|at| (at as usize) < instructions)
    }

    pub fn is_empty(&self) -> bool {
        self.tallies.is_empty()
    }
}
