//! Error codes of blocks, locals, and branches.

use super::{CodeAccount, programs, trial};

pub(super) static ENDS_NOTHING: CodeAccount = CodeAccount {
    title: "the end of a block ends nothing",
    meaning: "`fi`, `else`, `until`, `rof`, `delocal`, `uncompute` and `.end` end a block, and no block of \
              that kind is open here.",
    cure: "Delete it, or write the statement that opens the block. Blocks may be nested, but may not \
           overlap.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        neg   n
        fi n > 0
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 1
        if n > 0
            neg   n
        fi n < 0
",
        ),
    ),
};

pub(super) static NEVER_ENDED: CodeAccount = CodeAccount {
    title: "a block has no end",
    meaning: "Every block has an end: `if` has `fi`, `from` has `until`, `for` has `rof`, `compute` has \
              `uncompute`, `.proc` has `.end`, `.macro` has `.endm`.",
    cure: "Write the end. `fi` has a condition too: it must hold exactly when the first body ran.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n default 1
        if n > 0
            neg   n
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 1
        if n > 0
            neg   n
        fi n < 0
",
        ),
    ),
};

pub(super) static ELSE_IF_PARTED: CodeAccount = CodeAccount {
    title: "a statement is between the two `fi` of an `else if`",
    meaning: "An `else if` is an `if` within the other body, and has another `fi`. The two `fi` follow each \
              other at once: a statement between them would belong to the outer body only.",
    cure: "Write the `else` and the inner `if … fi` on separate lines.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout x, sign
        if x > 0
            add   sign, 1
        else if x < 0
            sub   sign, 1
        fi sign == -1
        add   x, 1
        fi sign == 1
",
        ),
        trial(
            "check FILE",
            "\
.inout x, sign
        if x > 0
            add   sign, 1
        else if x < 0
            sub   sign, 1
        fi sign == -1
        fi sign == 1
        add   x, 1
",
        ),
    ),
};

pub(super) static END_MISSED: CodeAccount = CodeAccount {
    title: "the steps of a `for` miss its end",
    meaning: "A `for` ends where its counter equals the end exactly: a backward run begins there. These steps go \
              past it.",
    cure: "Choose an end that is a whole number of steps away; the message names the nearest one.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout s
        for i in 0..10 step 3
            add   s, i
        rof
",
        ),
        trial(
            "check FILE",
            "\
.inout s
        for i in 0..9 step 3
            add   s, i
        rof
",
        ),
    ),
};

pub(super) static COUNTER_CHANGED: CodeAccount = CodeAccount {
    title: "the body of a `for` changes its counter or a bound",
    meaning: "A backward run counts down from the end to the beginning, so it needs the same counter and \
              bounds.",
    cure: "Count in another cell, or write `from … until`, whose body may change any cell.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout s
        for i in 0..10
            add   s, i
            add   i, 1
        rof
",
        ),
        trial(
            "check FILE",
            "\
.inout s
        for i in 0..10 step 2
            add   s, i
        rof
",
        ),
    ),
};

pub(super) static LOCAL_LEFT_OPEN: CodeAccount = CodeAccount {
    title: "a `local` has no `delocal` in its block",
    meaning: "A `local` gives a name and a value to a cell of 0, and the `delocal` in the same block takes both \
              away. In a backward run the `delocal` comes first.",
    cure: "End it with `delocal t = …`, which names its value by then; in a `compute` the `uncompute` does so.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        local t = n + 1
        add   n, 2
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        local t = n + 1
        add   n, 2
        delocal t = n - 1
",
        ),
    ),
};

pub(super) static NO_LOCAL_OPEN: CodeAccount = CodeAccount {
    title: "a `delocal` ends no `local` of its block",
    meaning: "`local` and `delocal` belong to the same block, and the name must be that of a local.",
    cure: "Move the `delocal` to the block of its `local`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        local t = n
        if n > 0
            delocal t = n
        fi n > 0
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        local t = n
        delocal t = n
        if n > 0
            add   n, 1
        fi n > 1
",
        ),
    ),
};

pub(super) static LOCAL_AND_DELOCAL_DIFFER: CodeAccount = CodeAccount {
    title: "a `delocal` declares another class or length than its `local`",
    meaning: "In a backward run the `delocal` declares the variable, so it has the same class and lengths as the \
              `local`.",
    cure: "Write the same class and lengths at both.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        local t[2]
        add   n, 1
        delocal t[3]
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        local t[2]
        add   n, 1
        delocal t[2]
",
        ),
    ),
};

pub(super) static UNKNOWN_LABEL: CodeAccount = CodeAccount {
    title: "a branch names a label that isn't there",
    meaning: "`br` and `from` name their partner by its label, in the same procedure. A pair can't cross the \
              border of a macro or of an uncomputed part.",
    cure: "Put the label in front of the partner.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
top:    br    down, n > 0
        neg   n
        from  top, n < 0
",
        ),
        trial(
            "check FILE",
            "\
.inout n
top:    br    down, n > 0
        neg   n
down:   from  top, n > 0
",
        ),
    ),
};

pub(super) static NO_PAIR: CodeAccount = CodeAccount {
    title: "two branches don't name each other",
    meaning: "Branches come in pairs: a `br` and a `from` that name each other. The `from` says when its `br` \
              was taken, and a backward run tests that. A jump without a partner couldn't be undone.",
    cure: "Name the label of the `from` in the `br`, and the label of the `br` in the `from`; or write a block \
              instead.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
top:    br    down, n > 0
        neg   n
down:   add   n, 1
",
        ),
        trial(
            "check FILE",
            "\
.inout n
top:    br    down, n > 0
        neg   n
down:   from  top, n > 0
",
        ),
    ),
};

pub(super) static LABEL_OF_NOTHING: CodeAccount = CodeAccount {
    title: "a label names no instruction",
    meaning: "A label is in front of an instruction of its procedure. A directive, and the end of a block or a \
              procedure, can't have one.",
    cure: "Move the label in front of an instruction, or delete it.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        neg   n
last:
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        neg   n
",
        ),
    ),
};

pub(super) static WAY_CUT_OFF: CodeAccount = CodeAccount {
    title: "the statement after an unconditional branch can't be reached",
    meaning: "The statement after `br …, always` is reached by a jump only, and a `from …, always` isn't reached \
              from above. So the `from` directly follows the `br`.",
    cure: "Write a `from …, always` directly after the `br …, always`, or give them conditions.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
a:      br    b, always
        neg   n
b:      from  a, always
",
        ),
        trial(
            "check FILE",
            "\
.inout n
a:      br    b, n > 0
        neg   n
b:      from  a, n > 0
",
        ),
    ),
};
