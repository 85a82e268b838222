//! Error codes of blocks, locals, and branches.

use super::{CodeAccount, programs, trial};

pub(super) static ENDS_NOTHING: CodeAccount = CodeAccount {
    title: "the end of a block ends nothing",
    meaning: "`fi`, `else`, `until`, `rof`, `delocal`, `uncompute` and `.end` end a block, and no block of \
              that kind is open here.",
    cure: "Delete the word, or write the statement that opens its block. A block may contain other blocks, \
           but blocks may not overlap.",
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
    cure: "Write the word that ends the block. A `fi` and an `until` need a condition; the condition of a \
           `fi` must hold exactly when the first body ran.",
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
    meaning: "An `else if` is an `if` within the `else` body, and has its own `fi`. The `fi` of the outer \
              `if` follows directly: a statement between the two `fi` would belong to the `else` body, but \
              not to the inner `if`.",
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
    meaning: "A `for` ends when its counter is equal to a bound, because a backward run begins with that \
              value. With this step, the counter passes the bound.",
    cure: "Choose bounds whose difference is a multiple of the step; the message names the nearest upper \
           bound.",
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
    meaning: "A backward run repeats the values of the counter in the opposite order, between the same \
              bounds. So the body must change neither the counter nor a bound.",
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
    meaning: "A `local` opens a variable with a value, and a `delocal` in the same block closes it. A \
              backward run opens the variable at the `delocal`, so the `delocal` can't be omitted.",
    cure: "End the variable with `delocal t = …`, which states the value at that point. A variable that the \
           first body of a `compute` opens needs no `delocal`, because `uncompute` closes it.",
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
    meaning: "A `delocal` must be in the same block as its `local`, and must name the variable that the \
              `local` opened.",
    cure: "Move the `delocal` to the block of its `local`, or correct the name.",
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
    meaning: "In a backward run the `delocal` declares the variable, so it must state the same class and \
              the same lengths as the `local`.",
    cure: "Write the same class and the same lengths in the `local` and in the `delocal`.",
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
    title: "a branch names an unknown label",
    meaning: "A `br` and its partner, a `from`, name each other's labels. Both must be in the same \
              procedure. If one of them is in a macro or in a part that `uncompute` undoes, the other one \
              must be in the same macro or part.",
    cure: "Write the label in front of the partner, or correct the name of the label.",
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
    meaning: "Branches come in pairs: a `br` and a `from` that name each other. The condition of the `from` \
              holds exactly when its `br` jumped, and a backward run tests that condition. A jump without a \
              partner couldn't be undone.",
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
    meaning: "A label must be in front of an instruction. Directives, blocks and uses of macros can't have \
              a label, nor can the end of a block or a procedure.",
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
    meaning: "A `br …, always` never continues with the next statement, and a `from …, always` may be \
              reached by a jump only. So a `from …, always` must directly follow each `br …, always`.",
    cure: "Write a `from …, always` directly after the `br …, always`. Or replace `always` by a condition, in the \
           `br` and in its partner `from`.",
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
