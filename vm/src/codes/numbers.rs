//! Trap codes of arithmetic: values and derivatives that don't exist.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static DIVISION_BY_ZERO: CodeAccount = CodeAccount {
    title: "a number was divided by 0",
    meaning: "A quotient or a remainder with the divisor 0 has no value in integers and fixed point. So a \
              backward run would have nothing to subtract.",
    cure: "Skip the statement if the divisor is 0: put it into an `if` whose condition is the same after the \
           body.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n
.out y
        add   y, 12 / n
",
        ),
        trial(
            "run FILE",
            "\
.inout n
.out y
        if n != 0
            add   y, 12 / n
        fi n != 0
",
        ),
    ),
};

pub static NEGATIVE_EXPONENT: CodeAccount = CodeAccount {
    title: "an integer was raised to a negative power",
    meaning: "An integer power with an exponent of at least 0 is an integer. With a negative exponent it \
              would be a fraction.",
    cure: "Keep the exponent at 0 or above, or compute with reals: `powi(x, n)` takes a real to any integer power.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout n default -1
.out y
        add   y, pow(2, n)
",
        ),
        trial(
            "run FILE",
            "\
.inout n default -1
.out y: real
        add   y, powi(2, n)
",
        ),
    ),
};

pub static OUTSIDE_DOMAIN: CodeAccount = CodeAccount {
    title: "a function has no value at this argument",
    meaning: "In fixed point some functions are defined for some numbers only: a square root and a logarithm \
              for non-negative numbers, an arcsine from -1 to 1. `reviver isa sqrt` prints the domain. In \
              floats such a function traps with T05, because its result isn't finite.",
    cure: "Find the origin of the argument with `why` in the debugger, or skip the statement by an `if` where \
           the argument is outside of the domain.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.real fixed
.inout x: real default -4
.out y: real
        add   y, sqrt(x)
",
        ),
        trial(
            "run FILE",
            "\
.real fixed
.inout x: real default -4
.out y: real
        add   y, sqrt(abs(x))
",
        ),
    ),
};

pub static OVERFLOW: CodeAccount = CodeAccount {
    title: "a result doesn't fit into fixed point",
    meaning: "Fixed point has a greatest number: about a million with 43 bits of fraction, and 128 with 56. \
              A run stops at a larger result, and never continues with another number.",
    cure: "Choose fewer bits of fraction, `.real fixed 32`, or smaller units. Floats (`.real f64`) have a \
           larger range, but lose bits.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.real fixed 56
.inout x: real default 100
.out y: real
        add   y, 2 * x
",
        ),
        trial(
            "run FILE",
            "\
.real fixed 32
.inout x: real default 100
.out y: real
        add   y, 2 * x
",
        ),
    ),
};

pub static NOT_FINITE: CodeAccount = CodeAccount {
    title: "a float is infinite or NaN",
    meaning: "A result outside of the range of floats would be infinite, and no inverse step could recover a value \
              from it. So the run stops at the first result that is infinite or NaN.",
    cure: "Keep intermediate results small: add logarithms instead of multiplying, or divide before \
           multiplying. `.real f64` has a larger range than `.real f32`.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.inout x: real default 1e200
.out y: real
        add   y, x * x
",
        ),
        trial(
            "run FILE",
            "\
.inout x: real default 1e200
.out y: real
        add   y, 2 * log(x)
",
        ),
    ),
};

pub static NO_INTEGER: CodeAccount = CodeAccount {
    title: "a real is outside of the range of integers",
    meaning: "The argument of `toint` is a real outside of the range of integers. `.word` sets the number of \
              bits of integers; the default is 64.",
    cure: "Choose wider integers by `.word`, or first reduce the real to the range of integers.",
    evidence: programs(
        trial(
            "run FILE",
            "\
.word 8
.inout x: real default 1000
.out n
        add   n, toint(x)
",
        ),
        trial(
            "run FILE",
            "\
.word 16
.inout x: real default 1000
.out n
        add   n, toint(x)
",
        ),
    ),
};

pub static NO_DERIVATIVE: CodeAccount = CodeAccount {
    title: "a function has a value here, but no derivative",
    meaning: "In gradient mode a backward step needs the derivative of its function. At this argument the \
              derivative isn't a finite number: the slope of a square root at 0 is infinite.",
    cure: "Differentiate at another point, or skip the statement at this point by an `if`.",
    evidence: programs(
        trial(
            "grad FILE --of y",
            "\
.inout x: real default 0
.out y: real
        add   y, sqrt(x)
",
        ),
        trial(
            "grad FILE --of y --set x=4",
            "\
.inout x: real default 0
.out y: real
        add   y, sqrt(x)
",
        ),
    ),
};

pub static DERIVATIVE_TOO_LARGE: CodeAccount = CodeAccount {
    title: "a derivative doesn't fit into the number system",
    meaning: "The values of the run fit, but a derivative of the reverse sweep is greater than any number of the \
              number system.",
    cure: "Scale inputs or results, so that the derivatives are smaller.",
    evidence: programs(
        trial(
            "grad FILE --of y",
            "\
.inout x: real default 1e-200
.out y: real
        add   y, x * 1e200 * 1e200
",
        ),
        trial(
            "grad FILE --of y",
            "\
.inout x: real default 1
.out y: real
        add   y, x * 1e200
",
        ),
    ),
};
