//! Deliberate faults (mutants), each of which the test suite must detect.
//!
//! Source-level mutation tools can't see into tables, so the *rows* are mutated. Production code calls the
//! hooks below to find out if a row or a rule is faulty. Without the feature `mutants`, each hook returns a
//! constant that means "not faulty", so it adds no instruction to the compiled program. With the feature, a
//! test activates one [`Mutant`] in its own thread.
//!
//! This module defines the faults. It depends neither on the code that calls the hooks nor on the effects of a
//! fault.

use crate::arith::Arith;
use crate::fault::Eval;
use crate::function::Function;
use crate::update::{PlanePoint, Update};

#[cfg(feature = "mutants")]
pub mod list;

/// A fault, identified by its subject and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// The value of a function row is wrong, in the way that the slip states.
    Value(Function, Slip),
    /// The partial derivative of a function row with respect to source 0 or 1 is greater by one than it should
    /// be.
    Partial(Function, u8),
    /// The row of the first update names the second update as its inverse, which is wrong.
    Inverse(Update, Update),
    /// The new target value of an update row is greater by one than it should be.
    Effect(Update),
    /// The machine violates one of its rules.
    Broken(Rule),
}

/// The fault in a function's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slip {
    /// The value is greater by one than it should be.
    OffByOne,
    /// The sources are exchanged.
    Swapped,
    /// Another row of the same signatures is evaluated.
    Another(Function),
}

/// Expands the list of rules into the enum [`Rule`] and the array of all rules.
macro_rules! rules {
    ($( $(#[doc = $doc:literal])+ $Name:ident, )+) => {
        /// A rule that the machine enforces. The code that enforces a rule does so only if [`keeps`] returns
        /// true for the rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule { $( $(#[doc = $doc])+ $Name, )+ }

        impl Rule {
            /// Every rule, in the order of their declarations.
            pub const ALL: &'static [Rule] = &[ $( Rule::$Name, )+ ];
        }
    };
}

rules! {
    /// A `from` reached from above traps if its condition holds.
    JoinsAreChecked,
    /// A taken `br` traps if its partner's condition doesn't hold.
    LandingsAreChecked,
    /// A taken `br` continues after its partner.
    LandingsAreAfterThePartner,
    /// An `assert` traps if its condition doesn't hold.
    AssertionsAreChecked,
    /// A cell that is vacated, popped into or read into must be vacant.
    VacancyIsChecked,
    /// A frame must be vacant at the end of its procedure.
    FramesAreChecked,
    /// The machine traps if an argument with computed indices refers to other cells at the callee's exit than
    /// at the call.
    ReferencesAreChecked,
    /// The machine traps if two arguments of a call share cells, unless both are `in`.
    OverlapIsChecked,
    /// The machine traps if a target is also a source. With computed indices, that is checked at run time.
    AliasesAreChecked,
    /// The machine traps if a computed index isn't less than the length of its array.
    IndicesAreChecked,
    /// `uncall` reverses the machine's direction.
    UncallsRunBackward,
    /// At the end of a procedure, the machine continues in the direction that the caller had.
    DirectionIsRestored,
    /// The machine traps if more calls are open than `.limit depth` allows.
    DepthIsLimited,
    /// The machine traps if a stack has more entries than `.limit stack` allows.
    StacksAreLimited,
    /// `push`, `write` and `unread` leave 0 in the cell.
    MovesVacate,
    /// `pop`, `read` and `unwrite` remove the entry that they took.
    MovesTake,
    /// The machine traps if a tape entry is moved into a cell of the other class.
    TapeClassesAreChecked,
    /// `show` prints only on a forward step past the furthest point shown.
    ShowsOnce,
    /// `overwrite` and `erase` count the bits that they erase.
    ErasuresAreCounted,
    /// A lossy float step leaves a residue where a history is kept.
    ResiduesAreKept,
    /// The reverse sweep over an irreversible instruction traps if there is no history of it.
    ErasuresAreIrreversible,
    /// `grad.on` traps if gradient mode is on already, and `grad.off` traps if it is off already.
    SwitchesAreChecked,
    /// Immediates get no adjoint contribution, because they have no adjoint.
    ConstantsReceiveNothing,
    /// The adjoint of a vacated cell becomes 0.
    AdjointsAreDropped,
    /// Adjoint contributions have the sign of the row: if the executed step adds to the target, they are
    /// subtracted from the sources' adjoints, and vice versa.
    SharesHaveOppositeSigns,
    /// A swap in gradient mode also exchanges the adjoints of its cells.
    SwapsCarryAdjoints,
    /// In gradient mode, stacks and tapes store a real together with its adjoint.
    MovesCarryAdjoints,
    /// A step in gradient mode that rounds adjoints leaves a residue of them.
    AdjointsAreKept,
    /// In gradient mode, the custom rule of a procedure runs instead of the adjoint of its body.
    RulesStandIn,
    /// A rule runs in the state that its procedure has at its entry.
    RulesActAtTheEntry,
    /// While a procedure with a rule runs, gradient mode is off.
    RulesSwitchTheModeOff,
    /// Steps of rules have a separate counter. So the step numbers of a program's own steps, by which lost
    /// derivatives are reported, don't depend on rules.
    RuleStepsAreCountedSeparately,
    /// Before tasks begin, the machine compares the cells that the tasks access, and traps if one task may
    /// change a cell that another task accesses.
    TasksAreDistinct,
    /// Each task accumulates the adjoints of cells that it only reads in a separate sum, which starts from 0.
    TasksAddUpSeparately,
    /// The branches taken by a gradient's reverse sweep are compared with those taken by the forward sweep.
    PathsAreCompared,
    /// If the reverse sweep of a gradient diverged from the forward sweep, the gradient is recomputed with a
    /// history.
    DivergedSweepsAreRecomputed,
    /// Results of integer operations are wrapped to the width of the module's words.
    WordsWrap,
}

#[cfg(feature = "mutants")]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Mutant>> = const { std::cell::Cell::new(None) };
}

/// True if the build contains mutants.
pub(crate) const POSSIBLE: bool = cfg!(feature = "mutants");

/// The mutant that is active in this thread.
#[cfg(feature = "mutants")]
fn active() -> Option<Mutant> {
    ACTIVE.get()
}

/// Runs a function while a mutant is active in this thread; other threads are unaffected. Afterwards the
/// previously active mutant is restored, even if `run` panics.
#[cfg(feature = "mutants")]
pub fn with_active<T>(mutant: Mutant, run: impl FnOnce() -> T) -> T {
    struct Before(Option<Mutant>);
    impl Drop for Before {
        fn drop(&mut self) {
            ACTIVE.set(self.0);
        }
    }
    let _before = Before(ACTIVE.replace(Some(mutant)));
    run()
}

/// Returns `None`: without the feature `mutants`, no mutant is ever active.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
const fn active() -> Option<Mutant> {
    None
}

/// Returns true if the machine must enforce a rule. Returns false only for the rule that the active mutant
/// breaks.
#[inline(always)]
pub fn keeps(rule: Rule) -> bool {
    !matches!(active(), Some(Mutant::Broken(broken)) if broken == rule)
}

/// Returns the fault in a function's value, if it has one.
#[inline(always)]
fn slip(function: Function) -> Option<Slip> {
    match active() {
        Some(Mutant::Value(mutated, slip)) if mutated == function => Some(slip),
        _ => None,
    }
}

/// Returns the row that is evaluated for a function, and its sources. Without a mutant of the function, both
/// are unchanged.
#[inline(always)]
pub(crate) fn asked<T>(function: Function, a: T, b: T) -> (Function, T, T) {
    match slip(function) {
        Some(Slip::Another(row)) => (row, a, b),
        Some(Slip::Swapped) => (function, b, a),
        _ => (function, a, b),
    }
}

/// Returns the integer value of a function; greater by one if the active mutant is [`Slip::OffByOne`] of the
/// function.
#[inline(always)]
pub(crate) fn answered_int<S: Arith>(function: Function, s: &S, value: Eval<S::Int>) -> Eval<S::Int> {
    match slip(function) {
        Some(Slip::OffByOne) => value.map(|value| s.int_add(value, s.int(1))),
        _ => value,
    }
}

/// Returns the real value of a function; greater by one if the active mutant is [`Slip::OffByOne`] of the
/// function.
#[inline(always)]
pub(crate) fn answered_real<S: Arith>(function: Function, s: &S, value: Eval<S::Real>) -> Eval<S::Real> {
    match slip(function) {
        Some(Slip::OffByOne) => s.add(value?, s.real(1.0)?),
        _ => value,
    }
}

/// Returns a partial derivative; greater by one if the active mutant concerns this derivative.
#[inline(always)]
pub(crate) fn partial<S: Arith>(
    function: Function,
    source: u8,
    s: &S,
    partial: Eval<S::Real>,
) -> Eval<S::Real> {
    match active() {
        Some(Mutant::Partial(mutated, by)) if (mutated, by) == (function, source) => {
            s.add(partial?, s.real(1.0)?)
        }
        _ => partial,
    }
}

/// Returns true if the active mutant makes the update's new target value greater by one.
#[inline(always)]
fn exceeds(update: Update) -> bool {
    matches!(active(), Some(Mutant::Effect(mutated)) if mutated == update)
}

/// Returns the new value of an integer target; greater by one if the active mutant is the update's
/// [`Mutant::Effect`].
#[inline(always)]
pub(crate) fn updated_int<S: Arith>(update: Update, s: &S, new: Eval<S::Int>) -> Eval<S::Int> {
    if exceeds(update) { new.map(|new| s.int_add(new, s.int(1))) } else { new }
}

/// Returns the new value of a real target; greater by one if the active mutant is the update's
/// [`Mutant::Effect`].
#[inline(always)]
pub(crate) fn updated_real<S: Arith>(update: Update, s: &S, new: Eval<S::Real>) -> Eval<S::Real> {
    if exceeds(update) { s.add(new?, s.real(1.0)?) } else { new }
}

/// Returns the new point of a rotation. Its x is greater by one if the active mutant is the update's
/// [`Mutant::Effect`].
#[inline(always)]
pub(crate) fn turned<S: Arith>(
    update: Update,
    s: &S,
    point: Eval<PlanePoint<S::Real>>,
) -> Eval<PlanePoint<S::Real>> {
    if exceeds(update) { point.and_then(|(x, y)| Ok((s.add(x, s.real(1.0)?)?, y))) } else { point }
}

/// Returns the inverse of an update: `inverse`, which its row names, unless the active mutant replaces it.
#[inline(always)]
pub(crate) fn inverse(update: Update, inverse: Update) -> Update {
    match active() {
        Some(Mutant::Inverse(mutated, wrong)) if mutated == update => wrong,
        _ => inverse,
    }
}
