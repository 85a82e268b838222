//! Error codes of declarations, names and constants.

use super::{CodeAccount, programs, trial};

pub(super) static UNKNOWN_NAME: CodeAccount = CodeAccount {
    title: "nothing has this name here",
    meaning: "Cells must be declared: outside of procedures by `.in`, `.out`, `.inout`, `.garbage` and \
              `.var`, in a frame by `.ancilla`, in a block by `local`. The variables of another procedure \
              aren't in scope. The variables at the place of a macro's use aren't in scope in the macro.",
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
    meaning: "A name has one meaning in its scope. In main, a local can't hide a global either, because the \
              disassembled text of the program couldn't distinguish them.",
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
    cure: "Delete one of the two directives.",
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
    meaning: "The machine has one stack of integers and one of reals. A declaration only gives one of these \
              stacks a name and a role.",
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
    meaning: "Words have 8, 16, 32 or 64 bits. Fixed point has 16 to 56 bits of fraction. Lengths and steps \
              are at least 1. Limits are at least 0, and at most the bound that the message names. A \
              tolerance is finite, and at least 0.",
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
    meaning: "All globals together may have at most 268435456 cells of each class, and so may each frame. \
              At most 16777216 cells of globals may have initial values other than 0.",
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
    meaning: "A `default` is the value of an input that the user doesn't give, so only `.in` and `.inout` \
              can have a default. Only they can be `shared`, too. An `.ancilla` and a `local` array begin \
              and end as 0. A stack begins empty unless it is an input.",
    cure: "Write `= value` for the initial value of a global. Add the value to an ancilla before its use, \
           and subtract it again after the use.",
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
    meaning: "Arrays have one or two lengths of at least 1. Empty brackets, as in `s[]`, declare a stack. A \
              stack exists during the whole run, so it is declared outside of procedures.",
    cure: "Write `A[10]` or `M[3, 4]`. For more dimensions, compute the index in a vector: `A[(i*3 + j)*4 + \
           k]`.",
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
              consist of operators, functions, numbers, and constants that are defined earlier in the text.",
    cure: "Define a `.const` and write its name. To use the value of a cell, write a statement, which is \
           executed at run time.",
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
    meaning: "Constants are computed as the machine would compute them: integers wrap at the width of the \
              program's words, and reals are those of its number system. An operation that would trap has \
              no value: a division by 0, a root of a negative number, a result out of range.",
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
    title: "a number is out of the range of the program's integers or reals",
    meaning: "`.word` sets the width of integers, 64 bits by default, and `.real` sets the number system of \
              reals. A number out of range is an error; it is never truncated silently.",
    cure: "Choose a wider word, for example `.word 16`. A bit pattern in base 2, 8 or 16 may use all bits \
           of a word.",
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
