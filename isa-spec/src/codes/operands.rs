//! Error codes of operands: targets, sources, classes, indices, adjoints.

use super::{CodeAccount, programs, trial};

pub(super) static NO_TARGET: CodeAccount = CodeAccount {
    title: "a constant or an expression can't be changed",
    meaning: "The target of an instruction is a cell that it changes: an element of an array, a variable, a \
              parameter. `swap` has two targets.",
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
    meaning: "A backward run subtracts the value that was added, so it needs the sources unchanged. An \
              instruction whose target is also a source changes that source, and the old value may be lost: \
              `sub n, n` makes every n 0.",
    cure: "Copy the cell first, and undo the copy afterwards: `local t = n`, `add n, t`, `delocal t = n / \
           2`.",
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
    meaning: "An `in` parameter is only read, so the same cell may be passed for several of them.",
    cure: "Declare the parameter `inout`, or change a copy in a `local`.",
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
    meaning: "Cells keep their class, and no number is converted implicitly: a real that became an integer \
              would lose its fraction.",
    cure: "Convert the value by `toreal(n)` or `toint(x)`, or declare the cell in the other class.",
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
    title: "an array has a wrong number of indices, or is named as a whole where one cell is expected",
    meaning: "An operand is one cell: `A[i]` of a vector, `M[i, j]` of a matrix, with integers as indices. \
              Whole arrays and parts of them (`A`, `A[2..5]`, `M[i, ..]`) can be passed to procedures. If \
              the target of a statement is an array, the other operands are numbers, or arrays of the same \
              lengths.",
    cure: "Write an index for each dimension of the array. `sum(A)` is the sum of all elements.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout A[3]
.out total
        add   total, A
",
        ),
        trial(
            "check FILE",
            "\
.inout A[3]
.out total
        add   total, sum(A)
",
        ),
    ),
};

pub(super) static INDEX_OUT_OF_BOUNDS: CodeAccount = CodeAccount {
    title: "a constant index is outside of its array",
    meaning: "The elements of an array of n cells have the indices 0 to n - 1. This index is a constant \
              outside of that range.",
    cure: "Write an index from 0 to n - 1; the first element is `A[0]`.",
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
    meaning: "An operand can't name a value on a stack: `push x` puts x on the stack of its class, `pop x` \
              takes the last value off.",
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
    title: "this operand has no adjoint",
    meaning: "`x'` is the adjoint of a real cell; the sign follows the name, as in `A'[i]`. Integers, \
              constants and adjoints have no adjoint. An adjoint can't be an argument: pass the cell, and \
              write `'` after the name of the parameter in the procedure.",
    cure: "Write the `'` directly after the name of a real cell.",
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
    title: "the operand of `len` has no such length",
    meaning: "`len(v)` is the length of a vector or a slice. For a matrix, `len(M, 0)` is the number of rows \
              and `len(M, 1)` the number of columns.",
    cure: "Write `len(v)` for a vector or a slice, and `len(M, 0)` or `len(M, 1)` for a matrix.",
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
    meaning: "Every update needs an inverse over the numbers of its target. `mul` and `div` have none over \
              integers: a factor of 0 loses the old value, and a quotient loses the remainder.",
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
