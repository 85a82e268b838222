//! The codes of traps and of gradient losses, and lookup over the codes of the whole project.

mod calls;
mod control_flow;
mod losses;
mod numbers;
mod stores;

use reviver_isa::codes;
use reviver_isa::codes::{CodeEntry, ProblemCode};
use reviver_isa::fault::Fault;

use crate::reports::Loss;
use crate::trap::Cause;

codes! {
    /// The reason why a run can't continue.
    #[expect(missing_docs, reason = "the entry of each code explains it")]
    TrapCode {
        DivisionByZero = "T01" "division-by-zero" numbers::DIVISION_BY_ZERO;
        NegativeExponent = "T02" "negative-exponent" numbers::NEGATIVE_EXPONENT;
        OutsideDomain = "T03" "outside-domain" numbers::OUTSIDE_DOMAIN;
        Overflow = "T04" "overflow" numbers::OVERFLOW;
        NotFinite = "T05" "not-finite" numbers::NOT_FINITE;
        NoInteger = "T06" "no-integer" numbers::NO_INTEGER;
        NoDerivative = "T07" "no-derivative" numbers::NO_DERIVATIVE;
        DerivativeTooLarge = "T08" "derivative-too-large" numbers::DERIVATIVE_TOO_LARGE;
        AssertionFailed = "T10" "assertion-failed" control_flow::ASSERTION_FAILED;
        JoinRefused = "T11" "join-refused" control_flow::JOIN_REFUSED;
        LostForGood = "T12" "lost-for-good" control_flow::LOST_FOR_GOOD;
        ModeAsItWas = "T13" "mode-as-it-was" control_flow::MODE_AS_IT_WAS;
        CountMissed = "T14" "count-missed" control_flow::COUNT_MISSED;
        IndexOutside = "T20" "index-outside" stores::INDEX_OUTSIDE;
        TargetAmongSources = "T21" "target-among-sources" stores::TARGET_AMONG_SOURCES;
        NotVacant = "T22" "not-vacant" stores::NOT_VACANT;
        LeftInFrame = "T23" "left-in-frame" stores::LEFT_IN_FRAME;
        StackEmpty = "T24" "stack-empty" stores::STACK_EMPTY;
        StackFull = "T25" "stack-full" stores::STACK_FULL;
        TapeEmpty = "T26" "tape-empty" stores::TAPE_EMPTY;
        TapeFull = "T27" "tape-full" stores::TAPE_FULL;
        TapeOtherClass = "T28" "tape-other-class" stores::TAPE_OTHER_CLASS;
        ArgumentMoved = "T30" "argument-moved" calls::ARGUMENT_MOVED;
        ArgumentsOverlap = "T31" "arguments-overlap" calls::ARGUMENTS_OVERLAP;
        SliceOutside = "T32" "slice-outside" calls::SLICE_OUTSIDE;
        CallsTooDeep = "T33" "calls-too-deep" calls::CALLS_TOO_DEEP;
        FramesTooLarge = "T34" "frames-too-large" calls::FRAMES_TOO_LARGE;
        NoMemory = "T35" "no-memory" calls::NO_MEMORY;
        TasksShareCells = "T36" "tasks-share-cells" calls::TASKS_SHARE_CELLS;
    }
}

codes! {
    /// An event of a gradient pass that may make derivatives wrong.
    #[expect(missing_docs, reason = "the entry of each code explains it")]
    LossCode {
        Erased = "L01" "erased" losses::ERASED;
        Converted = "L02" "converted" losses::CONVERTED;
        FreedWithTangent = "L03" "freed-with-tangent" losses::FREED_WITH_TANGENT;
        ConvertedWithTangent = "L04" "converted-with-tangent" losses::CONVERTED_WITH_TANGENT;
        Hidden = "L05" "hidden-derivative" losses::HIDDEN;
        Kink = "L06" "kink" losses::KINK;
        IllConditioned = "L07" "ill-conditioned" losses::ILL_CONDITIONED;
    }
}

impl From<Loss> for LossCode {
    fn from(loss: Loss) -> LossCode {
        match loss {
            Loss::Erased => LossCode::Erased,
            Loss::Converted => LossCode::Converted,
            Loss::FreedWithTangent => LossCode::FreedWithTangent,
            Loss::ConvertedWithTangent => LossCode::ConvertedWithTangent,
            Loss::Hidden => LossCode::Hidden,
            Loss::Kink => LossCode::Kink,
            Loss::IllConditioned => LossCode::IllConditioned,
        }
    }
}

impl From<Fault> for TrapCode {
    fn from(fault: Fault) -> TrapCode {
        match fault {
            Fault::DivisionByZero => TrapCode::DivisionByZero,
            Fault::NegativeExponent => TrapCode::NegativeExponent,
            // Verification rejects programs that apply a function in a signature that the function doesn't have.
            Fault::Domain | Fault::NoSignature => TrapCode::OutsideDomain,
            Fault::Overflow => TrapCode::Overflow,
            Fault::NonFinite => TrapCode::NotFinite,
            Fault::OutOfRange => TrapCode::NoInteger,
        }
    }
}

impl From<Cause> for TrapCode {
    fn from(cause: Cause) -> TrapCode {
        match cause {
            Cause::Fault(fault) => fault.into(),
            Cause::NoDerivative { .. } => TrapCode::NoDerivative,
            Cause::DerivativeOutOfRange(_) => TrapCode::DerivativeTooLarge,
            Cause::AssertFailed => TrapCode::AssertionFailed,
            Cause::UnexpectedFall | Cause::UnexpectedJump { .. } => TrapCode::JoinRefused,
            Cause::Index { .. } => TrapCode::IndexOutside,
            Cause::Alias { .. } => TrapCode::TargetAmongSources,
            Cause::NotVacant { .. } => TrapCode::NotVacant,
            Cause::FrameNotVacant { .. } => TrapCode::LeftInFrame,
            Cause::ReferenceChanged { .. } => TrapCode::ArgumentMoved,
            Cause::ArgumentsOverlap { .. } => TrapCode::ArgumentsOverlap,
            Cause::TasksShare { .. } => TrapCode::TasksShareCells,
            Cause::SliceBounds { .. } => TrapCode::SliceOutside,
            Cause::StackEmpty { .. } => TrapCode::StackEmpty,
            Cause::StackFull { .. } => TrapCode::StackFull,
            Cause::DepthExceeded { .. } => TrapCode::CallsTooDeep,
            Cause::FramesFull => TrapCode::FramesTooLarge,
            Cause::NoMemory(_) => TrapCode::NoMemory,
            Cause::TapeEmpty { .. } => TrapCode::TapeEmpty,
            Cause::TapeFull { .. } => TrapCode::TapeFull,
            Cause::TapeClass { .. } => TrapCode::TapeOtherClass,
            Cause::Irreversible => TrapCode::LostForGood,
            Cause::ModeIs { .. } => TrapCode::ModeAsItWas,
        }
    }
}

/// Returns every code: first the codes of texts and images, then the traps, then the losses.
pub fn all() -> impl Iterator<Item = &'static CodeEntry> + Clone {
    let problems = ProblemCode::ALL.iter().map(|code| code.entry());
    let traps = TrapCode::ALL.iter().map(|code| code.entry());
    problems.chain(traps).chain(LossCode::ALL.iter().map(|code| code.entry()))
}

/// Returns all names of codes. Each code has two: its number, such as `T20`, and its words, such as `index-outside`.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    all().flat_map(|entry| [entry.code, entry.words])
}

/// The recorded output of the example commands of all codes. Each code is followed by its output lines, indented. A
/// test writes this file, and compares it with the output of the commands.
const PRINTED: &str = include_str!("printed.txt");

/// Returns the output of the command that demonstrates a code on its smallest program; empty if no program
/// shows the code.
pub fn printed(code: &str) -> String {
    let lines = PRINTED.lines().skip_while(|line| *line != code).skip(1);
    let own = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
    own.flat_map(|line| [line.strip_prefix("    ").unwrap_or(line), "\n"]).collect()
}

/// Finds a code by its number or its words, ignoring case. The form that messages show, such as `trap[T20]`,
/// is accepted too.
pub fn find(name: &str) -> Option<&'static CodeEntry> {
    let name = name.split_once('[').map_or(name, |(_, rest)| rest.trim_end_matches([']', ':']));
    all().find(|entry| entry.is_called(name))
}
