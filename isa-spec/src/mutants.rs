//! Deliberate faults: what a test suite must notice to be worth its name.
//!
//! Source-level mutation tools can't see into tables, so the *rows* are mutated. Production code asks
//! the hooks below whether something is wrong with a row or a rule. Without the feature `mutants` the
//! answer is a constant no, which leaves nothing behind in a compiled program; with it, the test at
//! work says which one [`Mutant`] is active in its own thread.
//!
//! This module knows which faults there are. It refuses to know who asks, and what they break.

use crate::arith::Arith;
use crate::fault::Eval;
use crate::function::Function;
use crate::update::{PlanePoint, Update};

#[cfg(feature = "mutants")]
pub mod list;

/// A fault, by what it is wrong about and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// A function row has another value.
    Value(Function, Slip),
    /// The partial derivative of a function row by its first (0) or second (1) source is off by one.
    Partial(Function, u8),
    /// An update row names another inverse.
    Inverse(Update, Update),
    /// What an update row makes of its target is one too much.
    Effect(Update),
    /// The machine doesn't keep one of its rules.
    Broken(Rule),
}

/// What is wrong with a function's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slip {
    /// One too much.
    OffByOne,
    /// The sources change places.
    Swapped,
    /// Another row of the same forms answers.
    Another(Function),
}

/// Expands the list into the enum and the array of all.
macro_rules! rules {
    ($( $(#[doc = $doc:literal])+ $Name:ident, )+) => {
        /// A rule that the machine keeps. Each is asked about where it is kept, by [`keeps`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule { $( $(#[doc = $doc])+ $Name, )+ }

        impl Rule {
            pub const ALL: &'static [Rule] = &[ $( Rule::$Name, )+ ];
        }
    };
}

rules! {
    /// A `from` that is fallen into traps where its condition holds.
    JoinsAreChecked,
    /// A taken `br` traps where its partner's condition doesn't hold.
    LandingsAreChecked,
    /// A taken `br` goes on behind its partner.
    LandingsLieBehindThePartner,
    /// An `assert` traps where its condition doesn't hold.
    AssertionsAreChecked,
    /// What is vacated, popped or read into must be vacant.
    VacancyIsChecked,
    /// A frame must be vacant at the end of its procedure.
    FramesAreChecked,
    /// Arguments still refer to the same cells at the exit.
    ReferencesAreChecked,
    /// Arguments share no cells, unless both are `in`.
    OverlapIsChecked,
    /// A target is none of its own sources, where that shows only at run time.
    AliasesAreChecked,
    /// A computed index lies below the length of its array.
    IndicesAreChecked,
    /// `uncall` turns the machine's own direction.
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
    /// A tape entry goes into a cell of its own class only.
    TapeClassesAreChecked,
    /// `show` prints only on a forward step past the furthest point shown.
    ShowsOnce,
    /// `overwrite` and `erase` count the bits that they erase.
    ErasuresAreCounted,
    /// A lossy float step leaves a residue where a history is kept.
    ResiduesAreKept,
    /// The way back over an irreversible instruction traps where there is no history of it.
    ErasuresAreIrreversible,
    /// Gradient mode is switched on only where it is off, and off where it is on.
    SwitchesAreChecked,
    /// Immediates have no adjoint.
    ConstantsReceiveNothing,
    /// The adjoint of a vacated cell becomes 0.
    AdjointsAreDropped,
    /// What a target gains, its sources' adjoints lose, and the other way round.
    SharesHaveOppositeSigns,
    /// A swap in gradient mode exchanges adjoints too.
    SwapsCarryAdjoints,
    /// Stacks and tapes take the adjoint of a real along in gradient mode.
    MovesCarryAdjoints,
    /// A step in gradient mode whose transport is lossy leaves a residue of the adjoints.
    AdjointsAreKept,
    /// In gradient mode, a procedure's rule stands in for the adjoint of its body.
    RulesStandIn,
    /// A rule acts at the state of the entry of the procedure whose rule it is.
    RulesActAtTheEntry,
    /// While a procedure with a rule runs, gradient mode is off.
    RulesSwitchTheModeOff,
    /// Steps in rules are counted apart, so that what others have lost is found under their numbers.
    RuleStepsAreCountedApart,
    /// Before tasks begin, what they touch is compared.
    TasksAreApart,
    /// Each task adds up adjoints of cells that it only reads from 0.
    TasksAddUpApart,
    /// A gradient's way back is compared with the way there, jump by jump.
    PathsAreCompared,
    /// A gradient whose way back went astray is computed again with a history.
    LostWaysAreMended,
    /// Results of integer operations are wrapped to the width of the module's words.
    WordsWrap,
}

#[cfg(feature = "mutants")]
thread_local! {
    static ACTIVE: std::cell::Cell<Option<Mutant>> = const { std::cell::Cell::new(None) };
}

/// Whether there may be faults at all.
pub(crate) const POSSIBLE: bool = cfg!(feature = "mutants");

/// The mutant that is active in this thread.
#[cfg(feature = "mutants")]
fn active() -> Option<Mutant> {
    ACTIVE.get()
}

/// Runs something while a mutant is active in this thread; others notice nothing. What was active
/// before is so again afterwards, also where `run` panics.
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

/// Nothing is ever wrong in a normal build.
#[cfg(not(feature = "mutants"))]
#[inline(always)]
const fn active() -> Option<Mutant> {
    None
}

/// Whether the machine keeps a rule: always, in a normal build.
#[inline(always)]
pub fn keeps(rule: Rule) -> bool {
    !matches!(active(), Some(Mutant::Broken(broken)) if broken == rule)
}

/// The slip of a function's value, if it has one.
#[inline(always)]
fn slip(function: Function) -> Option<Slip> {
    match active() {
        Some(Mutant::Value(mutated, slip)) if mutated == function => Some(slip),
        _ => None,
    }
}

/// The row that answers where a function is asked, and the sources that it is given.
#[inline(always)]
pub(crate) fn asked<T>(function: Function, a: T, b: T) -> (Function, T, T) {
    match slip(function) {
        Some(Slip::Another(row)) => (row, a, b),
        Some(Slip::Swapped) => (function, b, a),
        _ => (function, a, b),
    }
}

/// What an integer value of a function becomes.
#[inline(always)]
pub(crate) fn answered_int<S: Arith>(function: Function, s: &S, value: Eval<S::Int>) -> Eval<S::Int> {
    match slip(function) {
        Some(Slip::OffByOne) => value.map(|value| s.int_add(value, s.int(1))),
        _ => value,
    }
}

/// What a real value of a function becomes.
#[inline(always)]
pub(crate) fn answered_real<S: Arith>(function: Function, s: &S, value: Eval<S::Real>) -> Eval<S::Real> {
    match slip(function) {
        Some(Slip::OffByOne) => s.add(value?, s.real(1.0)?),
        _ => value,
    }
}

/// What a partial derivative by a source becomes.
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

/// Whether what a row makes of its target is one too much.
#[inline(always)]
fn exceeds(update: Update) -> bool {
    matches!(active(), Some(Mutant::Effect(mutated)) if mutated == update)
}

/// What an integer target becomes.
#[inline(always)]
pub(crate) fn updated_int<S: Arith>(update: Update, s: &S, new: Eval<S::Int>) -> Eval<S::Int> {
    if exceeds(update) { new.map(|new| s.int_add(new, s.int(1))) } else { new }
}

/// What a real target becomes.
#[inline(always)]
pub(crate) fn updated_real<S: Arith>(update: Update, s: &S, new: Eval<S::Real>) -> Eval<S::Real> {
    if exceeds(update) { s.add(new?, s.real(1.0)?) } else { new }
}

/// What a point becomes.
#[inline(always)]
pub(crate) fn turned<S: Arith>(
    update: Update,
    s: &S,
    point: Eval<PlanePoint<S::Real>>,
) -> Eval<PlanePoint<S::Real>> {
    if exceeds(update) { point.and_then(|(x, y)| Ok((s.add(x, s.real(1.0)?)?, y))) } else { point }
}

/// The inverse of an update, where its row names `inverse`.
#[inline(always)]
pub(crate) fn inverse(update: Update, inverse: Update) -> Update {
    match active() {
        Some(Mutant::Inverse(mutated, wrong)) if mutated == update => wrong,
        _ => inverse,
    }
}
