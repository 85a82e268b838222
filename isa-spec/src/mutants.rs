//! Deliberate faults (mutants), each of which the test suite must detect.
//!
//! Source-level mutation tools can't see into tables, so the *rows* are mutated. Production code asks the
//! hooks below whether a row or a rule is faulty. Without the feature `mutants`, the answer is a constant no,
//! which leaves no trace in the compiled program. With the feature, a test activates one [`Mutant`] in its
//! own thread.
//!
//! This module defines the faults. It knows neither the code that calls the hooks nor the consequences.

use crate::arith::Arith;
use crate::fault::Eval;
use crate::function::Function;
use crate::update::{PlanePoint, Update};

#[cfg(feature = "mutants")]
pub mod list;

/// A fault, identified by its subject and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// A function row returns another value.
    Value(Function, Slip),
    /// The partial derivative of a function row with respect to source 0 or 1 is off by one.
    Partial(Function, u8),
    /// An update row names another inverse.
    Inverse(Update, Update),
    /// The new target value of an update row is off by one.
    Effect(Update),
    /// The machine violates one of its rules.
    Broken(Rule),
}

/// The fault in a function's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slip {
    /// The value is one too much.
    OffByOne,
    /// The sources are exchanged.
    Swapped,
    /// Another row of the same signatures is evaluated.
    Another(Function),
}

/// Expands the list into the enum and the array of all.
macro_rules! rules {
    ($( $(#[doc = $doc:literal])+ $Name:ident, )+) => {
        /// A rule that the machine enforces. Where a rule is enforced, the machine asks [`keeps`].
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
    /// Arguments still refer to the same cells at the exit.
    ReferencesAreChecked,
    /// Arguments share no cells, unless both are `in`.
    OverlapIsChecked,
    /// A target isn't also a source, checked at run time where indices are computed.
    AliasesAreChecked,
    /// A computed index is less than the length of its array.
    IndicesAreChecked,
    /// `uncall` reverses the machine's direction.
    UncallsRunBackward,
    /// The end of a procedure restores the caller's direction.
    DirectionIsRestored,
    /// The number of open calls is limited.
    DepthIsLimited,
    /// The number of entries of a stack is limited.
    StacksAreLimited,
    /// `push`, `write` and `unread` leave 0 in the cell.
    MovesVacate,
    /// `pop`, `read` and `unwrite` remove the entry that they took.
    MovesTake,
    /// A tape entry is moved into a cell of the same class only.
    TapeClassesAreChecked,
    /// `show` prints only on a forward step past the furthest point shown.
    ShowsOnce,
    /// `overwrite` and `erase` count the bits that they erase.
    ErasuresAreCounted,
    /// A lossy float step leaves a residue where a history is kept.
    ResiduesAreKept,
    /// The reverse sweep over an irreversible instruction traps if there is no history of it.
    ErasuresAreIrreversible,
    /// Gradient mode is switched on only where it is off, and off where it is on.
    SwitchesAreChecked,
    /// Immediates have no adjoint.
    ConstantsReceiveNothing,
    /// The adjoint of a vacated cell becomes 0.
    AdjointsAreDropped,
    /// The sources' adjoints lose what the target gains, and vice versa.
    SharesHaveOppositeSigns,
    /// A swap in gradient mode also exchanges adjoints.
    SwapsCarryAdjoints,
    /// In gradient mode, stacks and tapes store a real together with its adjoint.
    MovesCarryAdjoints,
    /// A step in gradient mode that rounds adjoints leaves a residue of them.
    AdjointsAreKept,
    /// In gradient mode, a procedure's rule replaces the adjoint of its body.
    RulesStandIn,
    /// A rule runs in the entry state of its procedure.
    RulesActAtTheEntry,
    /// While a procedure with a rule runs, gradient mode is off.
    RulesSwitchTheModeOff,
    /// Steps in rules are counted separately, so that losses of other steps are found under their numbers.
    RuleStepsAreCountedSeparately,
    /// Before tasks begin, the cells that they access are compared.
    TasksAreDistinct,
    /// Each task accumulates adjoints of cells that it only reads, starting from 0.
    TasksAddUpSeparately,
    /// A gradient's reverse sweep is compared with its forward sweep, branch by branch.
    PathsAreCompared,
    /// A gradient is recomputed with a history if the reverse sweep diverged.
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

/// Runs a function while a mutant is active in this thread; other threads are unaffected. The previous mutant
/// is restored afterwards, even if `run` panics.
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

/// No mutant is active in a normal build.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
const fn active() -> Option<Mutant> {
    None
}

/// Returns true if the machine enforces a rule; always true in a normal build.
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

/// Returns the row and the sources to evaluate for a function.
#[inline(always)]
pub(crate) fn asked<T>(function: Function, a: T, b: T) -> (Function, T, T) {
    match slip(function) {
        Some(Slip::Another(row)) => (row, a, b),
        Some(Slip::Swapped) => (function, b, a),
        _ => (function, a, b),
    }
}

/// Returns the integer value of a function, including an injected fault.
#[inline(always)]
pub(crate) fn answered_int<S: Arith>(function: Function, s: &S, value: Eval<S::Int>) -> Eval<S::Int> {
    match slip(function) {
        Some(Slip::OffByOne) => value.map(|value| s.int_add(value, s.int(1))),
        _ => value,
    }
}

/// Returns the real value of a function, including an injected fault.
#[inline(always)]
pub(crate) fn answered_real<S: Arith>(function: Function, s: &S, value: Eval<S::Real>) -> Eval<S::Real> {
    match slip(function) {
        Some(Slip::OffByOne) => s.add(value?, s.real(1.0)?),
        _ => value,
    }
}

/// Returns a partial derivative, including an injected fault.
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

/// Returns true if an update's new target value must be off by one.
#[inline(always)]
fn exceeds(update: Update) -> bool {
    matches!(active(), Some(Mutant::Effect(mutated)) if mutated == update)
}

/// Returns the new value of an integer target, including an injected fault.
#[inline(always)]
pub(crate) fn updated_int<S: Arith>(update: Update, s: &S, new: Eval<S::Int>) -> Eval<S::Int> {
    if exceeds(update) { new.map(|new| s.int_add(new, s.int(1))) } else { new }
}

/// Returns the new value of a real target, including an injected fault.
#[inline(always)]
pub(crate) fn updated_real<S: Arith>(update: Update, s: &S, new: Eval<S::Real>) -> Eval<S::Real> {
    if exceeds(update) { s.add(new?, s.real(1.0)?) } else { new }
}

/// Returns the new point, including an injected fault.
#[inline(always)]
pub(crate) fn turned<S: Arith>(
    update: Update,
    s: &S,
    point: Eval<PlanePoint<S::Real>>,
) -> Eval<PlanePoint<S::Real>> {
    if exceeds(update) { point.and_then(|(x, y)| Ok((s.add(x, s.real(1.0)?)?, y))) } else { point }
}

/// Returns the inverse of an update; `inverse` is the one that its row names.
#[inline(always)]
pub(crate) fn inverse(update: Update, inverse: Update) -> Update {
    match active() {
        Some(Mutant::Inverse(mutated, wrong)) if mutated == update => wrong,
        _ => inverse,
    }
}
