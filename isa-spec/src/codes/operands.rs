//! Error codes of operands: targets, sources, classes, indices, adjoints.

use super::{CodeAccount, programs, trial};

pub(super) static NO_TARGET: CodeAccount = CodeAccount {
    title: "a constant or an expression can't be changed",
    meaning: "An instruction changes its target, which is a cell: an element of an array, a variable, a \
              parameter. `swap` has two.",
    cure: "Put the value into a cell first: `local t = …`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        swap  n, 5
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        local t = 5
        swap  n, t
        swap  n, t
        delocal t = 5
",
        ),
    ),
};

pub(super) static TARGET_IS_SOURCE: CodeAccount = CodeAccount {
    title: "an instruction's target is one of its sources",
    meaning: "A backward run subtracts the value that was added, so the source must still hold it. A cell that \
              is changed by itself doesn't: n * 0 doesn't determine n.",
    cure: "Take a copy first, and give it back behind: `local t = n`, `add n, t`, `delocal t = n / 2`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        add   n, n
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 3
        local t = n
        add   n, t
        delocal t = n / 2
",
        ),
    ),
};

pub(super) static IN_PARAMETER_CHANGED: CodeAccount = CodeAccount {
    title: "a parameter that is declared `in` is changed",
    meaning: "An `in` parameter is only read: that is why the same cell may be passed for several of them.",
    cure: "Declare it `inout`, or change a copy in a `local`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        call  more(n)
.proc more(in x)
        add   x, 1
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        call  more(n)
.proc more(inout x)
        add   x, 1
.end
",
        ),
    ),
};

pub(super) static CLASSES_MIXED: CodeAccount = CodeAccount {
    title: "an integer is given where a real is expected, or the other way round",
    meaning: "Cells keep their class, and nothing is converted by itself: a real that became an integer \
              would lose what is behind the point.",
    cure: "Convert: `toreal(n)`, `toint(x)`. Or declare the cell as the other class.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n, x: real
        add   x, n
",
        ),
        trial(
            "check FILE",
            "\
.inout n, x: real
        add   x, toreal(n)
",
        ),
    ),
};

pub(super) static ARRAY_OR_CELL: CodeAccount = CodeAccount {
    title: "an array isn't named as it can be named here",
    meaning: "An operand is one cell: `A[i]` of a vector, `M[i, j]` of a matrix, where an index is an \
              integer. Parts of arrays (`A`, `A[2..5]`, `M[i, ..]`) are passed to procedures.",
    cure: "Write as many indices as the array has lengths; for all elements write a loop.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout A[3]
        neg   A
",
        ),
        trial(
            "check FILE",
            "\
.inout A[3]
        for i in 0..len(A)
            neg   A[i]
        rof
",
        ),
    ),
};

pub(super) static INDEX_OUT_OF_BOUNDS: CodeAccount = CodeAccount {
    title: "a constant index is outside of its array",
    meaning: "The elements of an array of n cells have the indices 0 to n - 1. This index is known without \
              running.",
    cure: "Count from 0.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout A[3]
        neg   A[3]
",
        ),
        trial(
            "check FILE",
            "\
.inout A[3]
        neg   A[2]
",
        ),
    ),
};

pub(super) static STACK_AS_OPERAND: CodeAccount = CodeAccount {
    title: "a stack is named as if it were a cell",
    meaning: "A value on a stack can't be named by an operand: `push x` puts x on the stack of its class, `pop \
              x` takes the last value off.",
    cure: "Pop the value into a cell, or keep it in an array.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout trail[]
        neg   trail
",
        ),
        trial(
            "check FILE",
            "\
.inout trail[] default {3}
.ancilla t
        pop   t
        neg   t
        push  t
",
        ),
    ),
};

pub(super) static NO_SUCH_ADJOINT: CodeAccount = CodeAccount {
    title: "there is no such adjoint",
    meaning: "`x'` is the adjoint of a real cell, written behind the name: `A'[i]`. Integers and constants \
              have none, and no adjoint has one. An adjoint can't be passed: the procedure names it \
              itself.",
    cure: "Put the `'` behind the name of a real cell.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        neg   n'
",
        ),
        trial(
            "check FILE",
            "\
.inout x: real
        neg   x'
",
        ),
    ),
};

pub(super) static NO_LENGTH: CodeAccount = CodeAccount {
    title: "what is asked has no such length",
    meaning: "`len(v)` is that of a vector or a slice; of a matrix, `len(M, 0)` are the rows and `len(M, \
              1)` the columns.",
    cure: "Ask an array.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        add   n, len(n)
",
        ),
        trial(
            "check FILE",
            "\
.inout n, A[3]
        add   n, len(A)
        neg   A[0]
",
        ),
    ),
};

pub(super) static NO_INVERSE_OVER: CodeAccount = CodeAccount {
    title: "an update has no inverse over these numbers",
    meaning: "What an instruction does must be undone by another one. A product of integers can't: what \
              was multiplied by 0 is gone, and a quotient drops its remainder.",
    cure: "Add the product to another cell: `add y, a*b`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n default 4
        mul   n, 3
",
        ),
        trial(
            "check FILE",
            "\
.inout n default 4
.out y
        add   y, n * 3
",
        ),
    ),
};
