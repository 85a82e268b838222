//! Warning codes: programs that are allowed but doubtful.

use super::{CodeAccount, programs, trial};

pub(super) static LEFT_OVER: CodeAccount = CodeAccount {
    title: "a cell doesn't end at the value that it must have",
    meaning: "An `.in` or a `.var` cell must end at its initial value, which is 0 unless the declaration \
              states another one. Then a backward run needs only the results. This cell ends at another \
              value for all inputs.",
    cure: "Undo the statements that changed it, in the opposite order, or declare it as a result: `.inout`, \
           `.out`, or `.garbage`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.in n default 3
.out y
        add   y, n
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 3
.out y
        add   y, n
",
        ),
    ),
};

pub(super) static JOIN_BREAKS: CodeAccount = CodeAccount {
    title: "a condition is wrong on one of the two paths",
    meaning: "`fi` must hold exactly when the first body ran, and the `from` of a loop on the first iteration \
              only. Here the condition is wrong on one of the two paths in every run, so the program traps.",
    cure: "Write a condition that is true after one path and false after the other one. If the body changes \
           the cells that the condition compares, the condition must compare their new values.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        if n == 0
            add   n, 1
        fi n == 0
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        if n == 0
            add   n, 1
        fi n == 1
",
        ),
    ),
};

pub(super) static ALWAYS_THE_SAME: CodeAccount = CodeAccount {
    title: "a comparison always has the same result",
    meaning: "The two sides of the comparison are numbers, or both are the same cell.",
    cure: "Compare a cell that changes, or delete the condition.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        assert n == n
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 3
        assert n == 3
",
        ),
    ),
};

pub(super) static UNUSED: CodeAccount = CodeAccount {
    title: "a name is never used",
    meaning: "A cell, a stack, a constant, a procedure, a macro or a parameter is declared, but the program \
              doesn't use it.",
    cure: "Delete the declaration, or begin the name with `_` to keep it without a warning.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
.var spare
        neg   n
",
        ),
        trial(
            "check FILE",
            "\
.inout n
.var _spare
        neg   n
",
        ),
    ),
};

pub(super) static STACK_ONE_SIDED: CodeAccount = CodeAccount {
    title: "a stack is only pushed onto, or only popped from",
    meaning: "A stack that the program doesn't declare must be empty at the beginning and at the end. With \
              pushes alone it isn't empty at the end, and with pops alone it has no values to pop.",
    cure: "Pop the pushed values, or declare the stack: `.garbage trail[]` may end with values, and `.in \
           trail[]` begins with values that the user gives.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        push  n
",
        ),
        trial(
            "check FILE",
            "\
.garbage trail[]
.in n default 3
        push  n
",
        ),
    ),
};
