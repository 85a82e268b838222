//! Error codes of declarations, names and constants.

use super::{CodeAccount, programs, trial};

pub(super) static UNKNOWN_NAME: CodeAccount = CodeAccount {
    title: "nothing has this name here",
    meaning: "Cells must be declared: outside of procedures by `.in`, `.out`, `.inout`, `.garbage` and \
              `.var`, in a frame by `.ancilla`, in a block by `local`. Variables of another procedure, and \
              those around a macro, aren't in scope.",
    cure: "Correct the spelling, declare the name, or pass it as an argument.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout count
        add   coutn, 1
",
        ),
        trial(
            "check FILE",
            "\
.inout count
        add   count, 1
",
        ),
    ),
};

pub(super) static UNKNOWN_PROCEDURE: CodeAccount = CodeAccount {
    title: "there is no procedure of this name",
    meaning: "`call` and `rule` name a procedure of the program. A macro is used by its name alone, without \
              `call`.",
    cure: "Correct the spelling, or write the procedure: `.proc name(inout x)` … `.end`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        call  twice(n)
.proc double(inout x)
        local t = x
        add   x, t
        delocal t = x / 2
.end
        call  double(n)
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        call  double(n)
.proc double(inout x)
        local t = x
        add   x, t
        delocal t = x / 2
.end
",
        ),
    ),
};

pub(super) static DECLARED_TWICE: CodeAccount = CodeAccount {
    title: "a name is declared twice",
    meaning: "A name has one meaning in its scope. In main a local can't hide a global either, because the \
              flat text of the program couldn't distinguish them.",
    cure: "Choose another name for one of them.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n, n
        neg   n
",
        ),
        trial(
            "check FILE",
            "\
.inout n, m
        swap  n, m
",
        ),
    ),
};

pub(super) static SET_TWICE: CodeAccount = CodeAccount {
    title: "a setting has two different values",
    meaning: "The number system, the width of integers, the tolerance and each limit hold for the whole \
              program, including the files that it includes.",
    cure: "Delete one of them.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.word 8
.word 16
.inout n
        neg   n
",
        ),
        trial(
            "check FILE",
            "\
.word 16
.inout n
        neg   n
",
        ),
    ),
};

pub(super) static SECOND_STACK: CodeAccount = CodeAccount {
    title: "a class has two stacks",
    meaning: "The machine has one stack of integers and one of reals. A declaration only gives it a name \
              and a role.",
    cure: "Declare one stack for each class, and keep other values in arrays.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.garbage trail[], marks[]
.in n default 3
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

pub(super) static OUT_OF_RANGE: CodeAccount = CodeAccount {
    title: "a setting or a length is out of range",
    meaning: "Words have 8, 16, 32 or 64 bits. Fixed point has 16 to 56 bits of fraction. Lengths and steps are \
              at least 1, limits at least 0 and at most the bound that the message names. A tolerance is finite.",
    cure: "Choose a number in the range that the message names.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.word 12
.inout n
        neg   n
",
        ),
        trial(
            "check FILE",
            "\
.word 16
.inout n
        neg   n
",
        ),
    ),
};

pub(super) static TOO_MANY_CELLS: CodeAccount = CodeAccount {
    title: "more cells are declared than a program may have",
    meaning: "All globals together, and each frame, may have 268435456 cells of each class, of which \
              16777216 have initial values other than 0.",
    cure: "Declare smaller arrays.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout A[300000000]
        neg   A[0]
",
        ),
        trial(
            "check FILE",
            "\
.inout A[3000]
        neg   A[0]
",
        ),
    ),
};

pub(super) static VALUES_DO_NOT_FIT: CodeAccount = CodeAccount {
    title: "there are more or fewer values than cells",
    meaning: "Values in braces fill one cell each, row after row. One value without braces fills every cell.",
    cure: "Write as many values as there are cells, or a single one.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout A[3] = {1, 2}
        neg   A[0]
",
        ),
        trial(
            "check FILE",
            "\
.inout A[3] = {1, 2, 3}
        neg   A[0]
",
        ),
    ),
};

pub(super) static NO_SUCH_BEGINNING: CodeAccount = CodeAccount {
    title: "a cell can't have this initial value or default",
    meaning: "A `default` replaces a value that the user doesn't give, so only `.in` and `.inout` can have one, \
              and only these can be `shared`. An `.ancilla` and a `local` array begin and end as 0. A stack that \
              isn't given begins empty.",
    cure: "Write `= value` for the initial value of a global. Add to an ancilla where it is used, and undo \
           it there.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout m
.out n default 3
        neg   m
",
        ),
        trial(
            "check FILE",
            "\
.inout m
.out n = 3
        sub   m, n
",
        ),
    ),
};

pub(super) static NO_SUCH_SHAPE: CodeAccount = CodeAccount {
    title: "an array can't have this shape",
    meaning: "Arrays have one or two lengths of at least 1. A declaration without a length is a stack. A \
              stack exists during the whole run, so it is declared outside of procedures.",
    cure: "Write `A[10]` or `M[3, 4]`; higher dimensions are computed: `A[(i*3 + j)*4 + k]`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout A[2, 2, 2]
        neg   A[0]
",
        ),
        trial(
            "check FILE",
            "\
.inout A[8]
        neg   A[0]
",
        ),
    ),
};

pub(super) static NO_CONSTANT: CodeAccount = CodeAccount {
    title: "this isn't a constant",
    meaning: "Lengths, initial values, limits and `.const` are computed while the text is assembled. They \
              consist of operators, functions, numbers and constants defined before.",
    cure: "Define a `.const`, or use the value in a statement, which is computed while running.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
.var A[n]
        add   n, A[0]
",
        ),
        trial(
            "check FILE",
            "\
.const SIZE = 3
.inout n
.var A[SIZE]
        add   n, A[0]
",
        ),
    ),
};

pub(super) static CONSTANT_WITHOUT_VALUE: CodeAccount = CodeAccount {
    title: "a constant expression has no value",
    meaning: "Constants are computed as by the machine: in the program's word, with wrap-around, and in its \
              number system. An operation that would trap has no value: a division by 0, a root of a \
              negative number, a result out of range.",
    cure: "Correct the expression, or choose another number system with `.real`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.const PART = 12 / 0
.inout n
        add   n, PART
",
        ),
        trial(
            "check FILE",
            "\
.const PART = 12 / 4
.inout n
        add   n, PART
",
        ),
    ),
};

pub(super) static NUMBER_DOES_NOT_FIT: CodeAccount = CodeAccount {
    title: "a number doesn't fit into the program's numbers",
    meaning: "Integers have the number of bits of `.word`, by default 64, and reals the range of `.real`. A \
              number in the text is never truncated silently.",
    cure: "Choose a wider word, `.word 16`. Bit patterns in base 2, 8 or 16 may use all bits.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.word 8
.inout n
        add   n, 300
",
        ),
        trial(
            "check FILE",
            "\
.word 16
.inout n
        add   n, 300
",
        ),
    ),
};
