//! Trap codes of storage: cells, frames, stacks and tapes.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static INDEX_OUTSIDE: CodeAccount = CodeAccount {
    title: "an index is outside of its array",
    meaning: "The elements of an array of n cells have the indices 0 to n - 1. A computed index was outside \
              of that range.",
    cure: "End the loop at `len(A)`, or test first: in `if i < len(A) and A[i] == 1` the second part is \
           evaluated only if the first one holds.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout A[4]
        for i in 0..5
            add   A[i], 1
        rof
",
        ),
        trial(
            "run FILE",
            "\
.inout A[4]
        for i in 0..len(A)
            add   A[i], 1
        rof
",
        ),
    ),
};

pub static TARGET_AMONG_SOURCES: CodeAccount = CodeAccount {
    title: "an instruction's target is one of its sources in this run",
    meaning: "A backward step computes the added value again from the sources, and subtracts it. So the forward \
              step must change neither a source nor an index. It does if its target is one of them. If indices are \
              computed, only a run can find this mistake.",
    cure: "Copy the source into a `local` first, or make sure that the indices differ.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout A[2] default 1, i
        add   A[i], A[0]
",
        ),
        trial(
            "run FILE --set i=1",
            "\
.inout A[2] default 1, i
        add   A[i], A[0]
",
        ),
    ),
};

pub static NOT_VACANT: CodeAccount = CodeAccount {
    title: "a cell doesn't hold the value that it must have here",
    meaning: "When a `local` ends, its cell must become 0: `delocal t = …` must name exactly the value of t, and \
              `delocal t` needs a 0. A `pop` or a `read` needs a target that is 0. If another value were dropped \
              at this place, a backward run couldn't restore it.",
    cure: "Name the value that the cell has at this place, or first undo the statement that changed it.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default 3
        local t = n
        add   n, 1
        delocal t = n
",
        ),
        trial(
            "run FILE",
            "\
.inout n default 3
        local t = n
        add   n, 1
        delocal t = n - 1
",
        ),
    ),
};

pub static LEFT_IN_FRAME: CodeAccount = CodeAccount {
    title: "a cell of a procedure's frame isn't 0 at its end",
    meaning: "The `.ancilla` cells of a procedure are 0 when it is called, and its frame is freed when it ends. \
              So they must be 0 again: a backward run enters the procedure at its end, with a new frame, whose \
              cells are 0.",
    cure: "Undo the statements that computed the value, for example by `compute … apply … uncompute`, or use \
           a `local` with its `delocal`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default 3
        call double(n)
.proc double(inout n)
.ancilla t
        add   t, n
        add   n, t
.end
",
        ),
        trial(
            "run FILE",
            "\
.inout n default 3
        call double(n)
.proc double(inout n)
.ancilla t
        add   t, n
        add   n, t
        sub   t, n / 2
.end
",
        ),
    ),
};

pub static STACK_EMPTY: CodeAccount = CodeAccount {
    title: "the stack is empty",
    meaning: "A `pop` takes the value that a `push` of the same class put on the stack last, and none is left. \
              A backward run executes each `push` as a `pop`, so it needs all values that the forward run \
              leaves on the stack.",
    cure: "Write pushes and pops in pairs, or declare the stack by `.in` or `.inout` and give it values.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default 3
.out m, k
        push  n
        pop   m
        pop   k
",
        ),
        trial(
            "run FILE",
            "\
.inout n default 3
.out m
        push  n
        pop   m
",
        ),
    ),
};

pub static STACK_FULL: CodeAccount = CodeAccount {
    title: "a stack is full",
    meaning: "`.limit stack` limits the values on a stack. The limit belongs to the program, so the program traps \
              at the same step on every machine.",
    cure: "Raise `.limit stack`. If a loop pushes in each iteration and never ends, correct the loop instead.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.limit stack 1
.garbage kept[]
.in a default 1, b default 2
        push  a
        push  b
",
        ),
        trial(
            "run FILE",
            "\
.limit stack 2
.garbage kept[]
.in a default 1, b default 2
        push  a
        push  b
",
        ),
    ),
};

pub static TAPE_EMPTY: CodeAccount = CodeAccount {
    title: "the tape has no more values",
    meaning: "Each `read` takes the next value off the input tape, and there is none left. In a backward run \
              each `write` takes its value off the output tape.",
    cure: "Give all values: `--tape 1,2,3`, or `--tape values.csv`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.out a
        read  a
",
        ),
        trial(
            "run FILE --tape 5",
            "\
.out a
        read  a
",
        ),
    ),
};

pub static TAPE_FULL: CodeAccount = CodeAccount {
    title: "a tape is full",
    meaning: "`.limit tape` limits the values on a tape. The limit belongs to the program, so the program traps at \
              the same step on every machine.",
    cure: "Raise `.limit tape`. If a loop writes in each iteration and never ends, correct the loop instead.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.limit tape 1
.in a default 1, b default 2
        write a
        write b
",
        ),
        trial(
            "run FILE",
            "\
.limit tape 2
.in a default 1, b default 2
        write a
        write b
",
        ),
    ),
};

pub static TAPE_OTHER_CLASS: CodeAccount = CodeAccount {
    title: "the next value of the tape has another class",
    meaning: "Values on a tape keep their class: an integer can't be read into a real cell, nor a real into \
              an integer cell.",
    cure: "Write reals with a point, `--tape 1.0`, or declare the cell in the class of the value.",
    evidence: programs(
        trial(
            "run FILE --tape 1",
            "\
.out x: real
        read  x
",
        ),
        trial(
            "run FILE --tape 1.0",
            "\
.out x: real
        read  x
",
        ),
    ),
};
