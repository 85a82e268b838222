//! The abstract state at one instruction of a procedure: values of scalar cells, and comparisons that hold.
//!
//! A parameter may be an alias of any global of its class. So a change of a parameter discards the known values
//! of globals, and vice versa. Integers wrap at the word's width, as in the machine.

use std::collections::HashMap;
use std::rc::Rc;

use reviver_isa::arith::Order;
use reviver_isa::effects::targets;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Instruction, Operand, Place};
use reviver_isa::module::Word;
use reviver_isa::update::Update;

/// The abstract value of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownValue {
    Known(i64),
    /// The input value of this global, plus a number. For an array: the input value of each cell, plus the
    /// number.
    Given {
        global: u32,
        plus: i64,
    },
    Unknown,
}

/// The known values at the beginning of a procedure, which all states of the procedure share.
pub(super) struct KnownAtEntry {
    pub(super) word: Word,
    pub(super) globals: Vec<KnownValue>,
    pub(super) frame: Vec<KnownValue>,
}

/// One side of a recorded comparison: a scalar cell or a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ComparedSide {
    Cell(CellKind, u32),
    Int(i64),
    /// The bits of a real.
    Real(u64),
}

/// The kind of a cell's declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CellKind {
    Global,
    Frame,
    Parameter,
}

/// The possible outcomes of a comparison, one bit each: the left side is below, equal to, or above the right
/// side.
type Mask = u8;
const BELOW: Mask = 1;
const EQUAL: Mask = 2;
const ABOVE: Mask = 4;
const ANY: Mask = 7;

/// The maximum number of comparisons in an abstract state; further ones aren't recorded.
const MOST_FACTS: usize = 16;

#[derive(Clone)]
pub(super) struct KnownState {
    entry: Rc<KnownAtEntry>,
    /// The values of the cells that may have changed since the entry, in three maps: for globals, frame
    /// variables and parameters. The key is the index of the declaration.
    changed: [HashMap<u32, KnownValue>; 3],
    facts: Vec<(ComparedSide, ComparedSide, Mask)>,
}

impl KnownState {
    pub(super) fn new(entry: Rc<KnownAtEntry>) -> KnownState {
        KnownState { entry, changed: Default::default(), facts: Vec::new() }
    }

    /// Returns the cost of copying the state: the number of its values and comparisons.
    pub(super) fn size(&self) -> usize {
        self.changed.iter().map(HashMap::len).sum::<usize>() + self.facts.len()
    }

    pub(super) fn value(&self, base: Base) -> KnownValue {
        let (kind, n) = key(base);
        if let Some(value) = self.changed[kind as usize].get(&n) {
            return *value;
        }
        let list = match kind {
            CellKind::Global => self.entry.globals.get(n as usize),
            CellKind::Frame => self.entry.frame.get(n as usize),
            CellKind::Parameter => None,
        };
        list.copied().unwrap_or(KnownValue::Unknown)
    }

    /// Records that a cell gets a new value. For an array, the new value is that of an unknown element.
    pub(super) fn write(&mut self, base: Base, value: KnownValue) {
        match base {
            Base::Global(_) => self.forget(CellKind::Parameter),
            Base::Parameter(_) => self.forget(CellKind::Global),
            Base::Frame(_) => {}
        }
        let (kind, n) = key(base);
        let side = ComparedSide::Cell(kind, n);
        self.facts.retain(|(a, b, _)| *a != side && *b != side);
        self.set(base, value);
    }

    fn set(&mut self, base: Base, value: KnownValue) {
        let (kind, n) = key(base);
        self.changed[kind as usize].insert(n, value);
    }

    /// Discards the values of all cells of a kind, because one of them may be an alias of a changed cell.
    /// Main is exempt: it has no parameters, so none of its cells are aliases.
    fn forget(&mut self, kind: CellKind) {
        if self.entry.globals.is_empty() {
            self.changed[kind as usize].clear();
            let of_kind =
                |side: &ComparedSide| matches!(side, ComparedSide::Cell(other, _) if *other == kind);
            self.facts.retain(|(a, b, _)| !of_kind(a) && !of_kind(b));
        }
    }

    fn bases(&self) -> impl Iterator<Item = Base> {
        let [globals, frame, parameters] = &self.changed;
        let globals = globals.keys().copied().map(Base::Global);
        let frame = frame.keys().copied().map(Base::Frame);
        globals.chain(frame).chain(parameters.keys().copied().map(Base::Parameter))
    }

    /// Returns the state with the facts that hold in both states. Returns `None` if the result would be equal
    /// to this state.
    pub(super) fn joined(&self, other: &KnownState) -> Option<KnownState> {
        let mut join = self.clone();
        let mut news = false;
        for base in self.bases().chain(other.bases()) {
            let own = self.value(base);
            if own != other.value(base) && own != KnownValue::Unknown {
                join.set(base, KnownValue::Unknown);
                news = true;
            }
        }
        join.facts.clear();
        for &(a, b, mask) in &self.facts {
            let merged = mask | other.fact(a, b);
            news |= merged != mask;
            if merged != ANY {
                join.facts.push((a, b, merged));
            }
        }
        news.then_some(join)
    }

    fn fact(&self, a: ComparedSide, b: ComparedSide) -> Mask {
        let known = self.facts.iter().find(|(x, y, _)| (*x, *y) == (a, b));
        known.map_or(ANY, |(_, _, mask)| *mask)
    }

    // Conditions.

    /// Returns the outcome of the condition of a branch or an `assert`, or `None` if it isn't certain.
    pub(super) fn holds(&self, instruction: &Instruction) -> Option<bool> {
        let wanted = mask_of(instruction.function)?;
        if instruction.function == Function::Always {
            return Some(true);
        }
        let [a, b] = instruction.operands.as_slice() else { return None };
        let possible = self.possible(a, b);
        match (possible & wanted != 0, possible & !wanted != 0) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Adds the fact that a condition has the value `holds`. Returns false if that contradicts the state, so
    /// that the path can't be taken.
    pub(super) fn assume(&mut self, instruction: &Instruction, holds: bool) -> bool {
        if self.holds(instruction) == Some(!holds) {
            return false;
        }
        let (Some(mask), [a, b]) = (mask_of(instruction.function), instruction.operands.as_slice()) else {
            return true;
        };
        let mask = if holds { mask } else { ANY & !mask };
        self.learn(a, b, self.possible(a, b) & mask);
        true
    }

    /// Returns the outcomes that are possible for a comparison of two operands in this state.
    fn possible(&self, a: &Operand, b: &Operand) -> Mask {
        let by_value = match (self.operand(a), self.operand(b)) {
            (KnownValue::Known(a), KnownValue::Known(b)) => compared(a, b),
            (KnownValue::Given { global: a, plus: x }, KnownValue::Given { global: b, plus: y })
                if a == b =>
            {
                // The sums differ, but they may wrap, so either of them may be greater.
                if x == y { EQUAL } else { BELOW | ABOVE }
            }
            _ => ANY,
        };
        match (side(a), side(b)) {
            (Some(a), Some(b)) if a == b => by_value & EQUAL,
            (Some(a), Some(b)) if a < b => by_value & self.fact(a, b),
            (Some(a), Some(b)) => by_value & turned(self.fact(b, a)),
            _ => by_value,
        }
    }

    fn learn(&mut self, a: &Operand, b: &Operand, mask: Mask) {
        let (Some(x), Some(y)) = (side(a), side(b)) else { return };
        if mask == EQUAL {
            match (self.operand(a), self.operand(b)) {
                (KnownValue::Known(value), other) | (other, KnownValue::Known(value)) => {
                    let cell = if matches!(self.operand(a), KnownValue::Known(_)) { b } else { a };
                    self.equate(cell, other, value);
                }
                _ => {}
            }
        }
        let (x, y, mask) = if x < y { (x, y, mask) } else { (y, x, turned(mask)) };
        self.facts.retain(|(a, b, _)| (*a, *b) != (x, y));
        if self.facts.len() < MOST_FACTS && x != y {
            self.facts.push((x, y, mask));
        }
    }

    /// Records that a cell is equal to a number. If the cell was known as an input value plus a number, the
    /// input value is now known, and so are all cells that depend on it.
    fn equate(&mut self, cell: &Operand, known: KnownValue, value: i64) {
        if let Operand::Place(Place { base, adjoint: false, index: None }) = cell {
            self.set(*base, KnownValue::Known(value));
        }
        let KnownValue::Given { global, plus } = known else { return };
        let given = self.wrapped(i128::from(value) - i128::from(plus));
        let cells: Vec<Base> = self.bases().chain([Base::Global(global)]).collect();
        for base in cells {
            if let KnownValue::Given { global: same, plus } = self.value(base)
                && same == global
            {
                let value = self.wrapped(i128::from(given) + i128::from(plus));
                self.set(base, KnownValue::Known(value));
            }
        }
    }

    // Instructions.

    /// Applies an instruction that isn't a branch or a call. `is_int` returns true if a place is an integer
    /// scalar.
    pub(super) fn change(&mut self, instruction: &Instruction, is_int: impl Fn(&Place) -> bool) {
        let operands = instruction.operands.as_slice();
        if let (Update::Swap, [Operand::Place(a), Operand::Place(b)]) = (instruction.update, operands) {
            return self.swap(a, b);
        }
        let places: Vec<&Place> = targets(instruction).collect();
        let value = match (places.as_slice(), operands) {
            ([target], [_, sources @ ..]) if is_int(target) => self.updated(instruction, target, sources),
            _ => KnownValue::Unknown,
        };
        for place in places {
            self.write(place.base, if is_scalar(place) { value } else { KnownValue::Unknown });
        }
    }

    fn swap(&mut self, a: &Place, b: &Place) {
        let value = |place: &Place| match is_scalar(place) {
            true => self.value(place.base),
            false => KnownValue::Unknown,
        };
        let (x, y) = (value(a), value(b));
        for (place, value) in [(a, y), (b, x)] {
            if !place.adjoint {
                self.write(place.base, if is_scalar(place) { value } else { KnownValue::Unknown });
            }
        }
    }

    /// Returns the new value of an integer scalar that is the target of an instruction.
    fn updated(&self, instruction: &Instruction, target: &Place, sources: &[Operand]) -> KnownValue {
        let old = self.value(target.base);
        match instruction.update {
            // A `push`, `write` or `unread` moves the target's value and leaves 0 in the target. A `vacate` checks that
            // the target is 0, and an `erase` sets the target to 0.
            Update::Push | Update::Write | Update::Unread | Update::Vacate | Update::Erase => {
                KnownValue::Known(0)
            }
            Update::Overwrite => self.function(instruction.function, sources),
            Update::Forget => match old {
                KnownValue::Known(value) => KnownValue::Known(value & !1),
                KnownValue::Given { .. } | KnownValue::Unknown => KnownValue::Unknown,
            },
            Update::Add => self.sum(old, self.function(instruction.function, sources)),
            Update::Sub => self.difference(old, self.function(instruction.function, sources)),
            Update::Xor => match (old, self.function(instruction.function, sources)) {
                (KnownValue::Known(a), KnownValue::Known(b)) => KnownValue::Known(a ^ b),
                (old, KnownValue::Known(0)) => old,
                (KnownValue::Known(0), new) => new,
                (a, b) if a == b && a != KnownValue::Unknown => KnownValue::Known(0),
                _ => KnownValue::Unknown,
            },
            _ => KnownValue::Unknown,
        }
    }

    /// Returns the value of `copy`, a sum, a difference, a product or a comparison. The values of other
    /// functions are unknown.
    fn function(&self, function: Function, sources: &[Operand]) -> KnownValue {
        let values: Vec<KnownValue> = sources.iter().map(|source| self.operand(source)).collect();
        match (function, values.as_slice()) {
            (Function::Copy, [value]) => *value,
            (Function::Sum, [a, b]) => self.sum(*a, *b),
            (Function::Diff, [a, b]) => self.difference(*a, *b),
            (Function::Mul, [KnownValue::Known(a), KnownValue::Known(b)]) => {
                KnownValue::Known(self.wrapped(i128::from(*a) * i128::from(*b)))
            }
            _ if function.is_condition() => self.comparison(function, sources),
            _ => KnownValue::Unknown,
        }
    }

    /// Returns 1 or 0 as the value of a comparison if its outcome is certain, otherwise an unknown value.
    fn comparison(&self, function: Function, sources: &[Operand]) -> KnownValue {
        let (Some(wanted), [a, b]) = (mask_of(function), sources) else { return KnownValue::Unknown };
        match self.possible(a, b) {
            possible if possible & !wanted == 0 => KnownValue::Known(1),
            possible if possible & wanted == 0 => KnownValue::Known(0),
            _ => KnownValue::Unknown,
        }
    }

    /// Returns the value of an operand if it is a known number, otherwise `None`.
    pub(super) fn known(&self, operand: &Operand) -> Option<i64> {
        match self.operand(operand) {
            KnownValue::Known(value) => Some(value),
            KnownValue::Given { .. } | KnownValue::Unknown => None,
        }
    }

    fn operand(&self, operand: &Operand) -> KnownValue {
        match operand {
            Operand::Int(value) => KnownValue::Known(*value),
            Operand::Place(place) if is_scalar(place) => self.value(place.base),
            Operand::Real(_) | Operand::Mode | Operand::Place(_) => KnownValue::Unknown,
        }
    }

    fn sum(&self, a: KnownValue, b: KnownValue) -> KnownValue {
        match (a, b) {
            (KnownValue::Known(a), KnownValue::Known(b)) => {
                KnownValue::Known(self.wrapped(i128::from(a) + i128::from(b)))
            }
            (KnownValue::Given { global, plus }, KnownValue::Known(n))
            | (KnownValue::Known(n), KnownValue::Given { global, plus }) => {
                KnownValue::Given { global, plus: self.wrapped(i128::from(plus) + i128::from(n)) }
            }
            _ => KnownValue::Unknown,
        }
    }

    fn difference(&self, a: KnownValue, b: KnownValue) -> KnownValue {
        match (a, b) {
            (a, KnownValue::Known(n)) => self.sum(a, KnownValue::Known(self.wrapped(-i128::from(n)))),
            (KnownValue::Given { global: x, plus: a }, KnownValue::Given { global: y, plus: b })
                if x == y =>
            {
                KnownValue::Known(self.wrapped(i128::from(a) - i128::from(b)))
            }
            _ => KnownValue::Unknown,
        }
    }

    /// Wraps a number to the word's width.
    fn wrapped(&self, value: i128) -> i64 {
        let shift = 64 - self.entry.word.bits();
        ((value as i64) << shift) >> shift
    }
}

fn is_scalar(place: &Place) -> bool {
    place.index.is_none() && !place.adjoint
}

fn key(base: Base) -> (CellKind, u32) {
    match base {
        Base::Global(n) => (CellKind::Global, n),
        Base::Frame(n) => (CellKind::Frame, n),
        Base::Parameter(n) => (CellKind::Parameter, n),
    }
}

/// Returns an operand as a side of a comparison, or `None` if comparisons with it aren't recorded.
fn side(operand: &Operand) -> Option<ComparedSide> {
    match operand {
        Operand::Int(value) => Some(ComparedSide::Int(*value)),
        Operand::Real(value) => Some(ComparedSide::Real(value.to_bits())),
        Operand::Place(place) if is_scalar(place) => {
            let (kind, n) = key(place.base);
            Some(ComparedSide::Cell(kind, n))
        }
        Operand::Mode | Operand::Place(_) => None,
    }
}

fn compared(a: i64, b: i64) -> Mask {
    match a.cmp(&b) {
        std::cmp::Ordering::Less => BELOW,
        std::cmp::Ordering::Equal => EQUAL,
        std::cmp::Ordering::Greater => ABOVE,
    }
}

/// Returns the outcomes of a comparison, given the outcomes `mask` of the comparison with exchanged sides.
fn turned(mask: Mask) -> Mask {
    (mask & EQUAL) | if mask & BELOW != 0 { ABOVE } else { 0 } | if mask & ABOVE != 0 { BELOW } else { 0 }
}

/// Returns the outcomes for which a condition is true, determined by evaluating the row of its function.
/// Returns `None` if the function isn't a comparison.
fn mask_of(function: Function) -> Option<Mask> {
    if function == Function::Always {
        return Some(ANY);
    }
    let order: Order = function.order()?;
    let outcome = |a: i64, mask: Mask| if order.holds(a, 0) { mask } else { 0 };
    Some(outcome(-1, BELOW) | outcome(0, EQUAL) | outcome(1, ABOVE))
}
