//! Trap codes of calls: faulty arguments, and limits on open calls.

use reviver_isa::codes::{CodeAccount, CodeEvidence, programs, trial};

pub static ARGUMENT_MOVED: CodeAccount = CodeAccount {
    title: "an argument is another cell at the end of its call than at the beginning",
    meaning: "The index of an argument is evaluated when the call begins, and again when it ends: there a \
              backward run enters the call. The procedure has changed the index, so a backward run would change \
              another cell.",
    cure: "Leave the cells alone that arguments are indexed by, or change them outside of the call.",
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
    meaning: "A procedure takes its parameters for different cells, unless it only reads them: otherwise its \
              instructions could have a target among their sources.",
    cure: "Pass cells that differ, or a copy in a `local`. Parameters that are only read can be declared `in`.",
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
    meaning: "Tasks may run at the same time, so none may use a cell that another one changes. If an index \
              selects the cells that a task is passed, they are checked when the `par` is reached, before any of \
              its tasks begins.",
    cure: "Pass each task separate cells, or call one after the other, without `par`.",
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
    title: "a part of an array reaches beyond it",
    meaning: "`A[from..to]` are the elements from `from` up to the one before `to`. Both must be between 0 and \
              the length, in this order.",
    cure: "Mend the bounds: the whole array is `A`, or `A[0..len(A)]`.",
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
    title: "more calls are open than may be",
    meaning: "`.limit depth` says how many calls may be open at once. The limit belongs to the program, so that it \
              traps at the same step everywhere.",
    cure: "Let the recursion end, or raise `.limit depth` if it is meant to be deeper.",
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
    title: "the frames of open calls take too many cells",
    meaning: "All globals and all frames that are open at once may have 268435456 cells of each class together.",
    cure: "Declare smaller `.ancilla` arrays, or let fewer calls be open at once; one array can be passed on as a \
           parameter.",
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
    title: "the computer has no memory left for this",
    meaning: "A stack, a tape, a frame or a history was to grow, and the operating system gave no more memory. The \
              state is whole, and can be saved or gone back from.",
    cure: "Take smaller arrays, close other programs, or let `--strategy checkpoint` keep less of the run.",
    evidence: CodeEvidence::Untold(
        "it depends on the computer, and not on the program alone, whether memory runs out",
    ),
};
