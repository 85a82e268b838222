//! Error codes of declarations, names and constants.

use super::{CodeAccount, programs, trial};

pub(super) static UNKNOWN_NAME: CodeAccount = CodeAccount {
    title: "nothing has this name here",
    meaning: "Cells are declared: outside of procedures by `.in`, `.out`, `.inout`, `.garbage` and `.var`, \
              in a frame by `.ancilla`, for a while by `local`. Variables of another procedure can't be \
              seen, nor can those around a macro.",
    cure: "Mend the spelling, declare it, or pass it as an argument.",
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
    meaning: "`call` and `rule` name a procedure of the program. A macro isn't called, but used by its \
              name alone.",
    cure: "Mend the spelling, or write the procedure: `.proc name(inout x)` … `.end`.",
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
    meaning: "One name means one thing where it can be seen. In main a local can't hide a global either, \
              because the flat text of the program couldn't tell them apart.",
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
    title: "a setting is made twice, and differently",
    meaning: "The number system, the width of integers, the tolerance and each limit hold for the whole \
              program, with all that it includes.",
    cure: "Leave one of them.",
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
    cure: "Declare one; values of different kinds can be kept in arrays.",
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
    meaning: "Words have 8, 16, 32 or 64 bits, fixed point 16 to 56 bits of fraction. Lengths and steps are 1 or \
              above, limits 0 or above up to a bound. A tolerance is finite.",
    cure: "Take a number of the range that the message names.",
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
    title: "a cell can't begin like this",
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
    meaning: "Arrays have one or two lengths, which are 1 or above. Without a length it would be a stack, \
              which lives as long as the program and so is declared outside of procedures.",
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
    title: "a constant is wanted, and this is none",
    meaning: "Lengths, initial values, limits and `.const` are computed while the text is assembled, by \
              operators alone, out of numbers and constants that were defined before.",
    cure: "Define a `.const`; where values are computed while running, use them in statements.",
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
    meaning: "Constants are computed as the machine computes: in the program's word, with wrap-around, and in its \
              number system. Where the machine would trap there is no value: a division by 0, a root of a negative \
              number, a result out of range.",
    cure: "Mend the expression, or choose another number system with `.real`.",
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
    meaning: "Integers have as many bits as `.word` says, 64 without it, and reals the range of `.real`. A \
              number that is written down is never cut off silently.",
    cure: "Take a wider word: `.word 16`. Bit patterns are written in base 2, 8 or 16, and may use all bits.",
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
