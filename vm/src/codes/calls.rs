//! Trap codes of calls: faulty arguments, and limits on open calls.

use reviver_isa::codes::{CodeAccount, CodeEvidence, programs, trial};

pub static ARGUMENT_MOVED: CodeAccount = CodeAccount {
    title: "an argument refers to another cell at the end of a call than at its beginning",
    meaning: "The index of an argument is evaluated when the call begins, and again when the call ends, because a \
              backward run enters the call at its end. The procedure has changed the index, so a backward run would \
              change another cell.",
    cure: "Change the cells that index an argument only outside of the call.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout A[2], i
        call  count(A[i])
.proc count(inout x)
        add   x, 1
        add   i, 1
.end
",
        ),
        trial(
            "run FILE",
            "\
.inout A[2], i
        call  count(A[i])
        add   i, 1
.proc count(inout x)
        add   x, 1
.end
",
        ),
    ),
};

pub static ARGUMENTS_OVERLAP: CodeAccount = CodeAccount {
    title: "two arguments are the same cell, and one of them may be changed",
    meaning: "The arguments of a call must be different cells, unless the procedure only reads them. Otherwise a \
              target of an instruction could be one of its sources.",
    cure: "Pass different cells, or a copy in a `local`. If the procedure only reads a parameter, declare the \
           parameter `in`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout A[2] default 1, i
        call  more(A[i], A[0])
.proc more(inout x, in y)
        add   x, y
.end
",
        ),
        trial(
            "run FILE --set i=1",
            "\
.inout A[2] default 1, i
        call  more(A[i], A[0])
.proc more(inout x, in y)
        add   x, y
.end
",
        ),
    ),
};

pub static TASKS_SHARE_CELLS: CodeAccount = CodeAccount {
    title: "two tasks of a `par` share cells, and one of them may change them",
    meaning: "Tasks may run at the same time, so no task may use a cell that another task changes. If an index \
              selects the cells that a call passes to a task, the cells are compared during the run, before the first \
              task of the `par` begins.",
    cure: "Pass each task separate cells, or make the calls one after the other, without `par`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout A[2], i
        par   more(A[i]), more(A[0])
.proc more(inout x)
        add   x, 1
.end
",
        ),
        trial(
            "run FILE --set i=1",
            "\
.inout A[2], i
        par   more(A[i]), more(A[0])
.proc more(inout x)
        add   x, 1
.end
",
        ),
    ),
};

pub static SLICE_OUTSIDE: CodeAccount = CodeAccount {
    title: "a slice reaches beyond its array",
    meaning: "`A[from..to]` has the elements with the indices from `from` to `to` - 1. The bounds must satisfy 0 \
              <= from <= to <= len(A).",
    cure: "Correct the bounds. The whole array is `A`, or `A[0..len(A)]`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout A[4], n default 5
        call  turn(A[0..n])
.proc turn(inout v[])
        neg   v[0]
.end
",
        ),
        trial(
            "run FILE",
            "\
.inout A[4], n default 4
        call  turn(A[0..n])
.proc turn(inout v[])
        neg   v[0]
.end
",
        ),
    ),
};

pub static CALLS_TOO_DEEP: CodeAccount = CodeAccount {
    title: "more calls are open than `.limit depth` allows",
    meaning: "`.limit depth` limits the calls that are open at once. The limit belongs to the program, so the \
              program traps at the same step on every machine.",
    cure: "End the recursion earlier, or raise `.limit depth` if the recursion must be deeper.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default 3
        call  down(n)
.proc down(inout n)
        sub   n, 1
        call  down(n)
        add   n, 1
.end
",
        ),
        trial(
            "run FILE",
            "\
.inout n default 3
        call  down(n)
.proc down(inout n)
        if n > 0
            sub   n, 1
            call  down(n)
            add   n, 1
        fi n > 0
.end
",
        ),
    ),
};

pub static FRAMES_TOO_LARGE: CodeAccount = CodeAccount {
    title: "the frames of open calls have too many cells",
    meaning: "All globals and all open frames together may have at most 268435456 cells of each class.",
    cure: "Declare smaller `.ancilla` arrays, pass one array on as a parameter, or open fewer calls at once.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n
        call  fill(n)
.proc fill(inout n)
.ancilla room[268435456]
        add   n, 1
.end
",
        ),
        trial(
            "run FILE",
            "\
.inout n
        call  fill(n)
.proc fill(inout n)
.ancilla room[16]
        add   n, 1
.end
",
        ),
    ),
};

pub static NO_MEMORY: CodeAccount = CodeAccount {
    title: "the operating system has no memory left",
    meaning: "A stack, a tape, a frame or a history had to grow, and the operating system refused the \
              memory. The state is valid: it can be saved, and the run can go backward from it.",
    cure: "Declare smaller arrays, close other programs, or write `--strategy checkpoint`, which keeps a smaller \
           history.",
    evidence: CodeEvidence::NotShown(
        "the amount of memory depends on the computer, so no program causes this trap everywhere",
    ),
};
