//! Trap codes of arithmetic: values and derivatives that don't exist.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static DIVISION_BY_ZERO: CodeAccount = CodeAccount {
    title: "a number was divided by 0",
    meaning: "A quotient or a remainder with the divisor 0 has no value: of integers and of fixed point none at all, \
              so nothing could be taken away again on the way back.",
    cure: "Leave the statement out where the divisor is 0: put it into an `if` whose condition is the same behind \
           the body.",
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
    meaning: "The power of an integer is an integer where the exponent is 0 or above. With a negative one it would be \
              a fraction.",
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
    meaning: "Some functions of fixed point are defined for a part of them only: a square root and a logarithm for what \
              isn't negative, an arcsine from -1 to 1. `reviver isa sqrt` tells where \
              one is. Floats have results that aren't finite there, which is T05.",
    cure: "Look where the argument comes from; or let the statement run only where the function is defined.",
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
    meaning: "Fixed point has a greatest number: with 43 bits of fraction it is about a million, with 56 it is 128. \
              Where a result is beyond that, the run stops, and never goes on with another number.",
    cure: "Take fewer bits of fraction, `.real fixed 32`, or smaller units; floats (`.real f64`) go further, and \
           lose bits for it.",
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
    title: "a float is infinite or no number",
    meaning: "A float that left its range would be infinite, and nothing brings a number back from there. So the run \
              stops at the first one.",
    cure: "Keep intermediate results small: add logarithms instead of multiplying, divide before multiplying. `.real \
           f64` reaches further than `.real f32`.",
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
    title: "a real is beyond the integers",
    meaning: "`toint` was given a real that no integer of the program is near to: integers have as many bits as \
              `.word` says, 64 without it.",
    cure: "Take wider integers by `.word`, or bring the real into their range first.",
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
    meaning: "In gradient mode a backward step needs the derivative of its function. At this argument there is \
              none that a cell could hold: the slope of a square root at 0 is infinite.",
    cure: "Differentiate where there is a derivative, or go around the statement there by an `if`.",
    evidence: programs(
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 0
.out y: real
        add   y, sqrt(x)
",
        ),
        trial(
            "grad FILE --loss y --set x=4",
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
    cure: "Choose units in which small changes of the inputs don't change the results out of all proportion.",
    evidence: programs(
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 1e-200
.out y: real
        add   y, x * 1e200 * 1e200
",
        ),
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 1
.out y: real
        add   y, x * 1e200
",
        ),
    ),
};
