//! The table of codes of texts and images: errors (`E`) and warnings (`W`). A code denotes a mistake from the
//! user's point of view, and may be reported from several places. A code is never reused.

use super::{called, control, declared, doubtful, operands, tasks, transformed, written};
use crate::codes;

codes! {
    /// The errors and warnings of a text or an image.
    #[expect(missing_docs, reason = "the entry of each code explains it")]
    ProblemCode {
        UnreadableText = "E01" "unreadable-text" written::UNREADABLE_TEXT;
        UnknownCharacter = "E02" "unknown-character" written::UNKNOWN_CHARACTER;
        UnclosedQuote = "E03" "unclosed-quote" written::UNCLOSED_QUOTE;
        MalformedNumber = "E04" "malformed-number" written::MALFORMED_NUMBER;
        SomethingElseExpected = "E05" "something-else-expected" written::SOMETHING_ELSE_EXPECTED;
        ReservedName = "E06" "reserved-name" written::RESERVED_NAME;
        UnknownDirective = "E07" "unknown-directive" written::UNKNOWN_DIRECTIVE;
        OutOfPlace = "E08" "out-of-place" written::OUT_OF_PLACE;
        TooMuch = "E09" "too-much" written::TOO_MUCH;
        UnknownInstruction = "E10" "unknown-instruction" written::UNKNOWN_INSTRUCTION;
        UnknownFunction = "E11" "unknown-function" written::UNKNOWN_FUNCTION;
        WrongNumberOfOperands = "E12" "wrong-number-of-operands" written::WRONG_NUMBER_OF_OPERANDS;
        Assigned = "E13" "assigned" written::ASSIGNED;
        NoCondition = "E14" "no-condition" written::NO_CONDITION;
        OtherConditionWanted = "E15" "other-condition-wanted" written::OTHER_CONDITION_WANTED;
        EndsNothing = "E20" "ends-nothing" control::ENDS_NOTHING;
        NeverEnded = "E21" "never-ended" control::NEVER_ENDED;
        ElseIfParted = "E22" "else-if-parted" control::ELSE_IF_PARTED;
        EndMissed = "E23" "end-missed" control::END_MISSED;
        CounterChanged = "E24" "counter-changed" control::COUNTER_CHANGED;
        LocalLeftOpen = "E25" "local-left-open" control::LOCAL_LEFT_OPEN;
        NoLocalOpen = "E26" "no-local-open" control::NO_LOCAL_OPEN;
        LocalAndDelocalDiffer = "E27" "local-and-delocal-differ" control::LOCAL_AND_DELOCAL_DIFFER;
        UnknownLabel = "E30" "unknown-label" control::UNKNOWN_LABEL;
        NoPair = "E31" "no-pair" control::NO_PAIR;
        LabelOfNothing = "E32" "label-of-nothing" control::LABEL_OF_NOTHING;
        WayCutOff = "E33" "way-cut-off" control::WAY_CUT_OFF;
        UnknownName = "E40" "unknown-name" declared::UNKNOWN_NAME;
        UnknownProcedure = "E41" "unknown-procedure" declared::UNKNOWN_PROCEDURE;
        DeclaredTwice = "E42" "declared-twice" declared::DECLARED_TWICE;
        SetTwice = "E43" "set-twice" declared::SET_TWICE;
        SecondStack = "E44" "second-stack" declared::SECOND_STACK;
        OutOfRange = "E45" "out-of-range" declared::OUT_OF_RANGE;
        TooManyCells = "E46" "too-many-cells" declared::TOO_MANY_CELLS;
        ValuesDoNotFit = "E47" "values-do-not-fit" declared::VALUES_DO_NOT_FIT;
        NoSuchBeginning = "E48" "no-such-beginning" declared::NO_SUCH_BEGINNING;
        NoSuchShape = "E49" "no-such-shape" declared::NO_SUCH_SHAPE;
        NoConstant = "E50" "no-constant" declared::NO_CONSTANT;
        ConstantWithoutValue = "E51" "constant-without-value" declared::CONSTANT_WITHOUT_VALUE;
        NumberDoesNotFit = "E52" "number-does-not-fit" declared::NUMBER_DOES_NOT_FIT;
        NoTarget = "E60" "no-target" operands::NO_TARGET;
        TargetIsSource = "E61" "target-is-source" operands::TARGET_IS_SOURCE;
        InParameterChanged = "E62" "in-parameter-changed" operands::IN_PARAMETER_CHANGED;
        ClassesMixed = "E63" "classes-mixed" operands::CLASSES_MIXED;
        ArrayOrCell = "E64" "array-or-cell" operands::ARRAY_OR_CELL;
        IndexOutOfBounds = "E65" "index-out-of-bounds" operands::INDEX_OUT_OF_BOUNDS;
        StackAsOperand = "E66" "stack-as-operand" operands::STACK_AS_OPERAND;
        NoSuchAdjoint = "E67" "no-such-adjoint" operands::NO_SUCH_ADJOINT;
        NoLength = "E68" "no-length" operands::NO_LENGTH;
        NoInverseOver = "E69" "no-inverse-over" operands::NO_INVERSE_OVER;
        WrongNumberOfArguments = "E70" "wrong-number-of-arguments" called::WRONG_NUMBER_OF_ARGUMENTS;
        ArgumentDoesNotFit = "E71" "argument-does-not-fit" called::ARGUMENT_DOES_NOT_FIT;
        PassedTwice = "E72" "passed-twice" called::PASSED_TWICE;
        NoRule = "E73" "no-rule" called::NO_RULE;
        MacroInItself = "E74" "macro-in-itself" called::MACRO_IN_ITSELF;
        GlobalBehindParameter = "E75" "global-behind-parameter" called::GLOBAL_BEHIND_PARAMETER;
        TasksMisplaced = "E76" "tasks-misplaced" tasks::TASKS_MISPLACED;
        NoTask = "E77" "no-task" tasks::NO_TASK;
        TasksShare = "E78" "tasks-share" tasks::TASKS_SHARE;
        FileNotIncluded = "E80" "file-not-included" transformed::FILE_NOT_INCLUDED;
        IncludesItself = "E81" "includes-itself" transformed::INCLUDES_ITSELF;
        NoProgram = "E82" "no-program" transformed::NO_PROGRAM;
        NoInverseProgram = "E85" "no-inverse-program" transformed::NO_INVERSE_PROGRAM;
        NotTransformed = "E86" "not-transformed" transformed::NOT_TRANSFORMED;
        NoRoomForStates = "E87" "no-room-for-states" transformed::NO_ROOM_FOR_STATES;
        NoAdjointProgram = "E88" "no-adjoint-program" transformed::NO_ADJOINT_PROGRAM;
        MalformedImage = "E90" "malformed-image" transformed::MALFORMED_IMAGE;
        OurMistake = "E91" "our-mistake" transformed::OUR_MISTAKE;
        LeftOver = "W02" "left-over" doubtful::LEFT_OVER;
        JoinBreaks = "W03" "join-breaks" doubtful::JOIN_BREAKS;
        AlwaysTheSame = "W04" "always-the-same" doubtful::ALWAYS_THE_SAME;
        Unused = "W05" "unused" doubtful::UNUSED;
        StackOneSided = "W06" "stack-one-sided" doubtful::STACK_ONE_SIDED;
    }
}
