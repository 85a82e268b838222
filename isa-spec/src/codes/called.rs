//! Error codes of calls, macros and rules.

use super::{CodeAccount, programs, trial};

pub(super) static WRONG_NUMBER_OF_ARGUMENTS: CodeAccount = CodeAccount {
    title: "a call or a use of a macro has too many or too few arguments",
    meaning: "A call, and a use of a macro, has exactly one argument for each parameter.",
    cure: "Pass one argument for each parameter, in the order of the declaration, which the message shows.",
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
    meaning: "A parameter is an integer or a real, and it is one cell, a vector or a matrix. The argument \
              must be of the same kind. For an `inout` parameter, it must also be a cell or an array that \
              the caller may change.",
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
    meaning: "The arguments of a call must be different cells, unless both parameters are `in`. These two \
              arguments are the same cell in every run.",
    cure: "Pass a copy of the cell, or declare both parameters `in`.",
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
    title: "a procedure doesn't meet the conditions for the rule of another procedure",
    meaning: "A rule is a procedure that replaces the adjoint of another procedure. The rule has the same \
              parameters as that procedure, and changes only adjoints and its own frame. A procedure with a \
              rule must not switch gradient mode. A tangent rule changes only the tangents of `inout` parameters \
              and its own variables.",
    cure: "In the rule, change only adjoints, such as `x'`. To count, add to the adjoint of a real that nothing \
           else uses. To change another value, copy the cell into a `local` and change the copy.",
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
    meaning: "The statements of a macro replace each use of the macro, so the expansion of a macro that \
              uses itself would never end.",
    cure: "Write a loop, `from … until` or `for`, or write a procedure: a procedure may call itself.",
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
    meaning: "A macro names a global, and a procedure that uses the macro has a parameter of the same name. \
              `reviver disasm` replaces each use of a macro by the macro's statements. In the procedure, \
              these statements would name the parameter instead of the global.",
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
