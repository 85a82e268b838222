//! Trap codes of control flow: false conditions, steps that can't be undone, and the gradient mode.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static ASSERTION_FAILED: CodeAccount = CodeAccount {
    title: "the condition of an `assert` is false",
    meaning: "An assertion is a condition that its author expects at this place, in both directions. It \
              changes nothing. If it is false, the statements that follow would use wrong values.",
    cure: "Find the statement that computed a wrong value: in the debugger, `why CELL` shows it. Then correct \
           this statement, or the assertion.",
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
    title: "where two paths meet, the condition doesn't match the path that was taken",
    meaning: "A `fi` must be true after the first body and false otherwise. The `from` of a loop must be true on \
              the first iteration and false on every other. The `from` of a pair must be true exactly when it is \
              reached over its `br`. A backward run branches on this condition, so it would take the wrong path. A \
              backward run checks the conditions of `if`, `until` and `br` in the same way.",
    cure: "Write a condition that is true on the path that requires it, and false on the other path, for all values. \
           Often the body changes the cells of the `if` condition; then the `fi` can't repeat that condition.",
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
    title: "an irreversible instruction can't be undone without a history",
    meaning: "`overwrite`, `erase` and `forget` lose the value of their target. To undo such an instruction, the \
              run needs a history with the lost bits, and this run has no history.",
    cure: "Write the program reversibly (`local`, `compute … uncompute`, or `reviver bennett`), or run forward and \
           backward with `--check --exact`, which keeps the lost bits.",
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
    title: "gradient mode was switched on twice, or off twice",
    meaning: "`grad.on` and `grad.off` undo each other. If the mode is on already, a `grad.on` changes nothing, but \
              undoing it would switch the mode off. So it traps, and so does a `grad.off` if the mode is off already.",
    cure: "Write a `grad.off` for each `grad.on`; the integer `mode` is 1 if gradient mode is on.",
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
    title: "a `for` doesn't end at its end bound",
    meaning: "After the last iteration the counter of a `for` must equal the end exactly, and the bounds must be \
              unchanged: a backward run starts the counter at the end bound. The loop traps if its steps go past the \
              end, or if the body changes the counter or a bound.",
    cure: "Choose an end that is a whole number of steps away from the beginning. Change neither the counter nor \
           the bounds in the body, not even through parameters or arrays. Or write a `from … until` loop, which \
           has no such restriction.",
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
