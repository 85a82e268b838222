//! Trap codes of control flow: false conditions, steps that can't be undone, and the gradient mode.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static ASSERTION_FAILED: CodeAccount = CodeAccount {
    title: "what an `assert` says doesn't hold",
    meaning: "An assertion is what its author took for granted at this place, in both directions. It changes \
              nothing; where it is false, what comes next would rest on a mistake.",
    cure: "Ask where the values come from: `why CELL` in the debugger leads back to the statement that made one. \
           Then mend that, or the assertion.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout a default 3, b default 4
        assert a > b
",
        ),
        trial(
            "run FILE",
            "\
.inout a default 3, b default 4
        assert a < b
",
        ),
    ),
};

pub static JOIN_REFUSED: CodeAccount = CodeAccount {
    title: "where two ways meet, the condition doesn't match the way that was taken",
    meaning: "A `fi` must be true after the first body and false otherwise. The `from` of a loop must be true on \
              the first iteration and false on every other. The `from` of a pair must be true exactly when it is \
              reached over its `br`. A backward run branches on this condition, and would go wrong. There, `if`, \
              `until` and `br` are checked likewise.",
    cure: "Ask for something that is true exactly behind the one way, whatever the values are. Often the body has \
           changed what the condition of the `if` asked for, so that `fi` can't repeat it.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default 3
        if n > 2
            sub   n, 1
        fi n > 2
",
        ),
        trial(
            "run FILE",
            "\
.inout n default 3
        if n > 2
            sub   n, 1
        fi n > 1
",
        ),
    ),
};

pub static LOST_FOR_GOOD: CodeAccount = CodeAccount {
    title: "what an irreversible instruction lost can't be brought back",
    meaning: "`overwrite`, `erase` and `forget` lose the value of their target. Undoing one needs a history with \
              the lost bits of the forward run, and this run has none.",
    cure: "Write it reversibly (`local`, `compute … uncompute`, or let `reviver bennett` do that), or run there and \
           back with `--check --exact`, which keeps what is lost.",
    evidence: programs(
        trial(
            "run FILE --back --set n=7",
            "\
.inout n
        overwrite n, 7
",
        ),
        trial(
            "run FILE --back --set n=7",
            "\
.inout n
        add   n, 7
",
        ),
    ),
};

pub static MODE_AS_IT_WAS: CodeAccount = CodeAccount {
    title: "gradient mode was switched to what it was already",
    meaning: "`grad.on` and `grad.off` undo each other. If one had no effect, a backward run would switch to a \
              mode that the run was never in.",
    cure: "Let each `grad.on` have its `grad.off`; `mode` tells which mode it is.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout x: real default 1
        grad.off
        neg   x
        grad.on
",
        ),
        trial(
            "run FILE",
            "\
.inout x: real default 1
        grad.on
        neg   x
        grad.off
",
        ),
    ),
};

pub static COUNT_MISSED: CodeAccount = CodeAccount {
    title: "a `for` doesn't end where its bounds say",
    meaning: "After the last iteration the counter of a `for` must equal the end exactly, and the bounds must be \
              unchanged: a backward run begins there and counts down. It fails if steps go past the end, or if \
              the body changes the counter or a bound.",
    cure: "Let the end be a whole number of steps away from the beginning, and leave counter and bounds alone, also \
           through parameters and arrays. A loop that moves as it likes is a `from … until`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default 10
.out s
        for i in 0..n step 3
            add   s, i
        rof
",
        ),
        trial(
            "run FILE --set n=9",
            "\
.inout n default 10
.out s
        for i in 0..n step 3
            add   s, i
        rof
",
        ),
    ),
};
