//! Error codes of tasks: calls that may run concurrently.

use super::{CodeAccount, programs, trial};

pub(super) static TASKS_MISPLACED: CodeAccount = CodeAccount {
    title: "a `fork` and a `join` don't bound calls",
    meaning: "`fork` and `join` stand in one procedure, the `fork` first, with the calls that are tasks between them, \
              and no branch leads in or out. Another `fork` stands in a procedure that a task calls.",
    cure: "Write `par p(…), q(…)`, which becomes all of it, or end each `fork` with a `join`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout a, b
        fork
        call  more(a)
        call  more(b)
.proc more(inout x)
        add   x, 1
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout a, b
        fork
        call  more(a)
        call  more(b)
        join
.proc more(inout x)
        add   x, 1
.end
",
        ),
    ),
};

pub(super) static NO_TASK: CodeAccount = CodeAccount {
    title: "something can't be a task, or be done by one",
    meaning: "Tasks may run at the same time, each on cells of its own. Stacks, tapes and the gradient mode are there \
              once for all of them, so no task may come to one. Between `fork` and `join` stand only calls, and what \
              counts them in variables of the procedure.",
    cure: "Keep the values in cells that the task is passed, or call it outside of the `par`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout a, b
.garbage trail[]
        par   keep(a), keep(b)
.proc keep(inout x)
        push  x
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout a, b
.garbage trail[]
        call  keep(a)
        call  keep(b)
.proc keep(inout x)
        push  x
.end
",
        ),
    ),
};

pub(super) static TASKS_SHARE: CodeAccount = CodeAccount {
    title: "a task certainly touches what another one changes",
    meaning: "Tasks may run in any order and at the same time, so what one changes is no business of another one: they \
              have only those cells in common that all of them read.",
    cure: "Pass each task cells of its own, or make the calls one after the other, without `par`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout total, a = 1, b = 2
        par   more(total, a), more(total, b)
.proc more(inout sum, in x)
        add   sum, x
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout first, second, a = 1, b = 2
        par   more(first, a), more(second, b)
.proc more(inout sum, in x)
        add   sum, x
.end
",
        ),
    ),
};
