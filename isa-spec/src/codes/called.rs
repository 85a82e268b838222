//! Error codes of calls, macros and rules.

use super::{CodeAccount, programs, trial};

pub(super) static WRONG_NUMBER_OF_ARGUMENTS: CodeAccount = CodeAccount {
    title: "a procedure or a macro is given too many or too few arguments",
    meaning: "An argument is passed for each parameter.",
    cure: "Pass an argument for each parameter; the message names the parameters.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        call  more(n, 2)
.proc more(inout x)
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

pub(super) static ARGUMENT_DOES_NOT_FIT: CodeAccount = CodeAccount {
    title: "an argument doesn't match its parameter",
    meaning: "A parameter is an integer or a real, one cell, a vector or a matrix; an `inout` one takes \
              cells that can be changed.",
    cure: "Pass an argument that matches the declaration, or change the declaration: `inout v[]: real` takes \
           vectors of reals.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        call  more(n)
.proc more(inout x: real)
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

pub(super) static PASSED_TWICE: CodeAccount = CodeAccount {
    title: "the same cell is passed for two parameters, and one of them may be changed",
    meaning: "Parameters of a procedure must be different cells, unless it only reads them. These two are \
              the same cell in every run.",
    cure: "Pass a copy, or declare both `in`.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
        call  more(n, n)
.proc more(inout x, in y)
        add   x, y
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout n
        local t = n
        call  more(n, t)
        delocal t = n / 2
.proc more(inout x, in y)
        add   x, y
.end
",
        ),
    ),
};

pub(super) static NO_RULE: CodeAccount = CodeAccount {
    title: "a procedure can't be the rule of another",
    meaning: "A `rule` propagates the adjoints of the procedure that names it. So it has the same \
              parameters, and changes only adjoints and its own frame. A procedure with a rule doesn't \
              switch gradient mode.",
    cure: "Change only adjoints, `x'`, in the rule; copy other cells into a `local` and change the copy.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout x: real
        call  shift(x)
.proc shift(inout x: real) rule back
        add   x, 1
.end
.proc back(inout x: real)
        neg   x
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout x: real
        call  shift(x)
.proc shift(inout x: real) rule back
        add   x, 1
.end
.proc back(inout x: real)
        neg   x'
.end
",
        ),
    ),
};

pub(super) static MACRO_IN_ITSELF: CodeAccount = CodeAccount {
    title: "a macro uses itself",
    meaning: "A macro is replaced by its text, so the expansion of one that uses itself would never end.",
    cure: "Repeat by `from … until` or `for`; recursion is for procedures.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout n
.macro more(x)
        add   x, 1
        more  x
.endm
        more  n
",
        ),
        trial(
            "check FILE",
            "\
.inout n
.macro more(x)
        add   x, 1
.endm
        more  n
",
        ),
    ),
};

pub(super) static GLOBAL_BEHIND_PARAMETER: CodeAccount = CodeAccount {
    title: "a parameter hides a global that a macro names",
    meaning: "The text of a macro names a global, and the macro is used in a procedure with a parameter of the \
              same name. When the macro is replaced by its statements, as by `reviver disasm`, the name would \
              mean the parameter.",
    cure: "Give the parameter another name, or pass the global to the macro.",
    evidence: programs(
        trial(
            "check FILE",
            "\
.inout total
.macro count()
        add   total, 1
.endm
        call  more(total)
.proc more(inout total)
        count
.end
",
        ),
        trial(
            "check FILE",
            "\
.inout total
.macro count()
        add   total, 1
.endm
        call  more()
.proc more()
        count
.end
",
        ),
    ),
};
