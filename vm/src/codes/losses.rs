//! Loss codes of a gradient pass: events that may make derivatives wrong.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static ERASED: CodeAccount = CodeAccount {
    title: "a cell was erased whose value counts",
    meaning: "What is made of the cell behind the `erase` is made of a 0, whatever it held before: so the loss doesn't depend on \
              that any more, as the machine computes it. But an `erase` mostly throws away what its author takes for nothing, and \
              then the derivative is another one than the author means.",
    cure: "Undo what made the value, so that nothing is thrown away; or assign by `overwrite`, which says that the old value \
           is meant to be forgotten.",
    evidence: programs(
        trial(
            "grad FILE --loss y --exact",
            "\
.inout x: real default 2.0
.out y: real
.var t: real
        add   t, x
        erase t
        add   y, x + t
",
        ),
        trial(
            "grad FILE --loss y --exact",
            "\
.inout x: real default 2.0
.out y: real
.var t: real
        add   t, x
        sub   t, x
        add   y, x + t
",
        ),
    ),
};

pub static CONVERTED: CodeAccount = CodeAccount {
    title: "a real that counts was converted to an integer",
    meaning: "An integer carries no derivative. The loss depends on the real, as the pass has found already, and perhaps also by way of \
              the integer: that part is missing, and is 0 only where the integer stays the same.",
    cure: "Where the loss depends on the integer, compute on with reals. Where it doesn't, convert the real when nothing more is made of it, \
           or another cell that holds the same.",
    evidence: programs(
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 2.5
.out y: real, n
        add   n, toint(x)
        add   y, x
",
        ),
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 2.5
.out y: real, n
        add   y, x
        add   n, toint(x)
",
        ),
    ),
};

pub static FREED_WITH_TANGENT: CodeAccount = CodeAccount {
    title: "a cell was freed that is empty here and not beside",
    meaning: "The cell holds 0, or what rounding left, and so it may be freed. But it changes with the inputs: with others it holds \
              something, and the program traps there. What it passes on is missing in the derivatives. Those count that are asked \
              for: of a Taylor series the ones up to its order, of a Hessian the second ones too.",
    cure: "Undo what made the value, so that the cell is empty whatever is given.",
    evidence: programs(
        trial(
            "taylor FILE --along x --order 2",
            "\
.inout x: real default 0.0
.out y: real
.var t: real
        add    t, x
        vacate t
        add    y, x
",
        ),
        trial(
            "taylor FILE --along x --order 2",
            "\
.inout x: real default 0.0
.out y: real
.var t: real
        add    t, x
        sub    t, x
        vacate t
        add    y, x
",
        ),
    ),
};

pub static ILL_CONDITIONED: CodeAccount = CodeAccount {
    title: "rounding errors change the loss too much",
    meaning: "The reverse sweep finds each value of the forward sweep again, up to rounding. The differences, each times its \
              adjoint, add up to an error of the loss (`loss_error`). Here that error is more than 1e-6 of the loss (with f32 \
              4e-3). The gradient is computed once more with a history, so it is that of the forward sweep; but the forward \
              sweep has rounding errors of the same size, so the loss has few right digits.",
    cure: "Look for a step that amplifies errors: a difference of nearly equal numbers, a division by a number near 0, or \
           a large number that small ones are added to. Compute it another way, or scale the inputs.",
    evidence: programs(
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 0.1
.out y: real
        add   x, 1e8
        add   y, x - 100000000.099
",
        ),
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 0.1
.out y: real
        add   y, x - 0.099
",
        ),
    ),
};

pub static CONVERTED_WITH_TANGENT: CodeAccount = CodeAccount {
    title: "a real was converted to an integer that changes with the inputs",
    meaning: "An integer carries no derivative. The real changes with the inputs, so the integer may jump beside this point, and \
              what is made of it is taken for a constant.",
    cure: "Where a result depends on the integer, compute on with reals. Where none does, convert a cell that the inputs in question don't reach.",
    evidence: programs(
        trial(
            "taylor FILE --along x --order 2",
            "\
.inout x: real default 2.5
.out y: real, n
        add   n, toint(x)
        add   y, x
",
        ),
        trial(
            "taylor FILE --along x --order 2",
            "\
.inout x: real default 2.5, c: real default 2.5
.out y: real, n
        add   n, toint(c)
        add   y, x
",
        ),
    ),
};

pub static HIDDEN: CodeAccount = CodeAccount {
    title: "an infinite derivative meets a derivative that is 0",
    meaning: "A function has no finite derivative at this point, and what is multiplied with that derivative is 0. The product is taken to be \
              0 here, but beside the point it may be any number: of `cbrt(x)^3` it is 1. So the derivatives by the inputs that lead here \
              may be wrong. Only sources count that depend on what is differentiated with respect to, and results that depend on them.",
    cure: "Write the formula so that the function isn't evaluated where it has no derivative, or branch around it there; or name by \
           `--wrt` the inputs whose derivatives are needed, if others lead here.",
    evidence: programs(
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 0.0
.out y: real
        compute
            local r = cbrt(x)
        apply
            add   y, 3*x + r*r*r
        uncompute
",
        ),
        trial(
            "grad FILE --loss y",
            "\
.inout x: real default 0.0
.out y: real
        add   y, 3*x + x
",
        ),
    ),
};

pub static KINK: CodeAccount = CodeAccount {
    title: "a kink or a tie at the very point",
    meaning: "`min`, `max`, `abs` or `relu` has a kink where it is evaluated, or a comparison finds two reals equal that differ beside this \
              point. First derivatives follow the rule for ties; second ones and the terms of a Taylor series are those of one \
              side, or of neither: of `abs(0 - x*x)` the second derivative at 0 comes out as 0, and is 2.",
    cure: "Differentiate beside the point, or write the formula without the kink where the function has none.",
    evidence: programs(
        trial(
            "hessian FILE --loss y",
            "\
.inout x: real default 0.0
.out y: real
        add   y, abs(0 - x*x)
",
        ),
        trial(
            "hessian FILE --loss y",
            "\
.inout x: real default 0.0
.out y: real
        add   y, x*x
",
        ),
    ),
};
