//! Error codes of tasks: calls that may run concurrently.

use super::{CodeAccount, programs, trial};

pub(super) static TASKS_MISPLACED: CodeAccount = CodeAccount {
    title: "a `fork` or a `join` is misplaced",
    meaning: "A `fork` and its `join` are in the same procedure, and the calls between them are tasks. No \
              branch leads into this region or out of it. No other `fork` can be in the region, but one can \
              be in a procedure that a task calls.",
    cure: "Write `par p(…), q(…)`, from which the assembler generates these instructions, or end each \
           `fork` with a `join`.",
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
    title: "a statement isn't allowed in a task, or between `fork` and `join`",
    meaning: "Tasks may run at the same time, each on separate cells. All tasks share the stacks, the tapes and \
              the gradient mode, so no task may use one. Only calls, and statements that count the calls in \
              variables of the procedure, can be between `fork` and `join`.",
    cure: "Pass the values to the task in cells, or move the call out of the `par`.",
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
    title: "a task uses a cell that another task changes",
    meaning: "Tasks may run in any order and at the same time, so no task may use a cell that another task \
              changes. Tasks may share cells that all of them only read.",
    cure: "Pass each task separate cells, or make the calls one after the other, without `par`.",
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
