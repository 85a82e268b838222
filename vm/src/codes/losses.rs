//! Loss codes of a gradient pass: events that may make derivatives wrong.

use reviver_isa::codes::{CodeAccount, programs, trial};

pub static ERASED: CodeAccount = CodeAccount {
    title: "an erased cell may affect the loss",
    meaning: "After the `erase` the cell is 0, so the loss as computed doesn't depend on the erased value. \
              An `erase` often discards a value that its author assumes to be 0. If it wasn't 0, the \
              derivative isn't the one that the author expects.",
    cure: "Undo the statements that computed the value, so that nothing is erased; or assign by `overwrite`, \
           which discards the old value on purpose.",
    evidence: programs(
        trial(
            "grad FILE --of y --exact",
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
            "grad FILE --of y --exact",
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
    title: "a real on which the loss depends was converted to an integer",
    meaning: "An integer carries no derivative. The loss depends on the real, and perhaps also on the integer. \
              The derivative through the integer is missing. This derivative is 0 only if the integer stays the \
              same at nearby inputs.",
    cure: "If the loss depends on the integer, compute with reals. If it doesn't, convert the real after its \
           last use, or convert a copy.",
    evidence: programs(
        trial(
            "grad FILE --of y",
            "\
.inout x: real default 2.5
.out y: real, n
        add   n, toint(x)
        add   y, x
",
        ),
        trial(
            "grad FILE --of y",
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
    title: "a freed cell is 0 here, but not at nearby inputs",
    meaning: "The cell holds 0 up to rounding, so it may be freed. But its value changes with the inputs: at \
              nearby inputs it isn't 0, and the program traps. The derivatives through this cell are missing. \
              For a Taylor series, all derivatives up to its order are tested. For a Hessian, the first and the \
              second derivatives are tested.",
    cure: "Undo the statements that computed the value, so that the cell is 0 for all inputs.",
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
    meaning: "The reverse sweep restores each value of the forward sweep up to rounding. The differences, each times \
              the adjoint of its cell, add up to an error of the loss (`loss_error`). At this point the error is more \
              than 1e-6 of the loss (with f32 4e-3). The gradient is computed once more with a history, so it is the \
              gradient of the forward sweep. But the forward sweep has rounding errors of the same size, so only few \
              digits of the loss are correct.",
    cure: "Find a step that amplifies errors: a difference of nearly equal numbers, a division by a number near \
           0, or small numbers added to a large one. Compute the result of this step in another way, or scale \
           the inputs.",
    evidence: programs(
        trial(
            "grad FILE --of y",
            "\
.inout x: real default 0.1
.out y: real
        add   x, 1e8
        add   y, x - 100000000.099
",
        ),
        trial(
            "grad FILE --of y",
            "\
.inout x: real default 0.1
.out y: real
        add   y, x - 0.099
",
        ),
    ),
};

pub static CONVERTED_WITH_TANGENT: CodeAccount = CodeAccount {
    title: "a real that changes with the inputs was converted to an integer",
    meaning: "An integer carries no derivative. The real changes with the inputs, so the integer may jump at \
              nearby inputs. Results that depend on the integer are differentiated as if the integer were \
              constant.",
    cure: "If a result depends on the integer, compute with reals. If no result depends on it, convert a cell \
           whose value doesn't change with the inputs, for example a second input with the same value.",
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
    title: "an infinite derivative is multiplied by a derivative that is 0",
    meaning: "A function has no finite derivative at this point, and the derivative is multiplied by 0. The \
              product is taken as 0, but its limit may be any number: for `cbrt(x)^3` at x = 0, the limit is 1. \
              So derivatives by the inputs of this function may be wrong. An operand of the function is reported \
              only if it depends on a differentiated input, and a result depends on the operand.",
    cure: "Write the formula so that the function isn't evaluated at this point, or branch around it. If \
           inputs whose derivatives you don't need cause the report, name the inputs that you need by `--wrt`.",
    evidence: programs(
        trial(
            "grad FILE --of y",
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
            "grad FILE --of y",
            "\
.inout x: real default 0.0
.out y: real
        add   y, 3*x + x
",
        ),
    ),
};

pub static KINK: CodeAccount = CodeAccount {
    title: "there is a kink or a tie at this point",
    meaning: "`min`, `max`, `abs` or `relu` has a kink at this point, or a comparison finds two reals equal that \
              differ at nearby inputs. First derivatives follow the rule for ties. Second derivatives, and terms \
              of a Taylor series, are those of one side of the point, or of neither side: for `abs(0 - x*x)` the \
              computed second derivative at 0 is 0, but the true one is 2.",
    cure: "Differentiate at a nearby point. If the function has no kink, write a formula without one.",
    evidence: programs(
        trial(
            "hessian FILE --of y",
            "\
.inout x: real default 0.0
.out y: real
        add   y, abs(0 - x*x)
",
        ),
        trial(
            "hessian FILE --of y",
            "\
.inout x: real default 0.0
.out y: real
        add   y, x*x
",
        ),
    ),
};
