//! C text that verifies the reverse sweep of a gradient, as the machine verifies its own without a history. The bounds are
//! those of `reviver_vm::differentiate::astray` and `reviver_vm::watch`, which define them.

use reviver_vm::watch::Rounding;

use reviver_isa::instruction::Class;

use crate::memory::ProgramCells;
use crate::numbers::double;

/// Returns the fields of the memory that verification needs.
pub(crate) fn fields(cells: &ProgramCells) -> String {
    let (ints, reals) = (cells.fixed(Class::Int), cells.fixed(Class::Real));
    let mut text = format!(
        "    /* What a gradient began with, and what was watched of it. */\n    int64_t start_ints[{ints}];\n\
        \x20   {} start_reals[{reals}];\n",
        cells.numbers.real()
    );
    if !cells.numbers.is_fixed() {
        text.push_str(
            "    uint64_t path;\n    double freed;\n    double freed_error;\n    double freed_unrounded;\n",
        );
    }
    text
}

/// Returns the name of the C function that records a freed cell.
pub(crate) fn freed_name(cells: &ProgramCells) -> String {
    format!("{}_freed", cells.prefix)
}

/// Returns the C function that records a freed cell.
pub(crate) fn freed(cells: &ProgramCells) -> String {
    let (prefix, rounding) = (cells.prefix, Rounding::of(cells.module().real));
    let (digits, long) = (rounding.digits, rounding.long());
    format!(
        "\
/* Notes the largest number that is freed, the largest with more than {digits} binary digits, and their effect on the loss. */
static inline void {prefix}_freed(struct {prefix}_memory *m, double value, double adjoint) {{
    const double size = fabs(value);
    m->freed = size > m->freed ? size : m->freed;
    if ((rv_bits_f64(value) & UINT64_C({long})) != 0 && size > m->freed_unrounded) {{
        m->freed_unrounded = size;
    }}
    m->freed_error += fabs(value * adjoint);
}}
"
    )
}

/// Returns the C functions that verify a reverse sweep.
pub(crate) fn functions(cells: &ProgramCells) -> String {
    if cells.numbers.is_fixed() { exact(cells) } else { watched(cells) }
}

/// Returns the verification in fixed point, which loses no bits: every number must be the same as at the start.
fn exact(cells: &ProgramCells) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    format!(
        "static int {prefix}_judged(const struct {prefix}_memory *m) {{\n{}{}    return {upper}_DONE;\n}}\n",
        same(cells, Class::Int),
        same(cells, Class::Real)
    )
}

/// Returns the comparison of a class's cells with the start. The cell of the mode is not compared.
fn same(cells: &ProgramCells, class: Class) -> String {
    let (array, first) = if class == Class::Int { ("ints", 1) } else { ("reals", 0) };
    let (count, upper) = (cells.fixed(class), cells.prefix.to_uppercase());
    format!(
        "    for (size_t i = {first}; i < {count}; i++) {{\n        if (m->{array}[i] != m->start_{array}[i]) {{\n\
        \x20           return {upper}_CHANGED;\n        }}\n    }}\n"
    )
}

/// Number of maxima that are computed independently. With a single one, each comparison would wait for the one before.
const LANES: usize = 4;

/// Returns the verification of float sweeps.
fn watched(cells: &ProgramCells) -> String {
    largest(cells) + &judged(cells)
}

/// Returns the C function that finds the greatest magnitude among the reals.
fn largest(cells: &ProgramCells) -> String {
    let (prefix, count) = (cells.prefix, cells.fixed(Class::Real));
    let whole = count - count % LANES;
    // Bounds are literals, and each loop has at least one iteration: compilers warn about others.
    let side_by_side = match whole {
        0 => String::new(),
        _ => format!(
            "\
    for (size_t i = 0; i < {whole}; i += {LANES}) {{
        for (size_t lane = 0; lane < {LANES}; lane++) {{
            const double size = fabs((double)m->reals[i + lane]);
            most[lane] = size > most[lane] ? size : most[lane];
        }}
    }}
"
        ),
    };
    let rest = match count - whole {
        0 => String::new(),
        _ => format!(
            "\
    for (size_t i = {whole}; i < {count}; i++) {{
        const double size = fabs((double)m->reals[i]);
        largest = size > largest ? size : largest;
    }}
"
        ),
    };
    format!(
        "\
/* The greatest magnitude of a real. None is NaN. */
static double {prefix}_largest(const struct {prefix}_memory *m) {{
    double most[{LANES}] = {{0}}, largest = 0;
{side_by_side}{rest}    for (size_t lane = 0; lane < {LANES}; lane++) {{
        largest = most[lane] > largest ? most[lane] : largest;
    }}
    return largest;
}}

"
    )
}

/// Returns the C function that gives the status of a reverse sweep, and the one that compares errors with the loss.
fn judged(cells: &ProgramCells) -> String {
    let (prefix, upper, suffix) = (cells.prefix, cells.prefix.to_uppercase(), cells.numbers.suffix());
    let (of, count) = (cells.numbers.real(), cells.fixed(Class::Real));
    let Rounding { ulps, few_ulps, part, of_loss, of_freed, .. } = Rounding::of(cells.module().real);
    let [ulps, few_ulps, part] = [ulps, few_ulps, part].map(double);
    let [of_loss, of_freed] = [of_loss, of_freed].map(double);
    let same_ints = same(cells, Class::Int);
    format!(
        "\
/* Whether an error is at most a part of the loss's size: of the loss, or of the loss and the terms that it is made of. */
static int {prefix}_outweighed(const struct {prefix}_memory *m, double part, double error, double loss) {{
    double size = fabs(loss);
    if (error <= part * size) {{
        return 1;
    }}
    for (size_t i = 0; i < {count}; i++) {{
        size += fabs((double)m->start_reals[i] * (double)m->adjoints[i]);
    }}
    return error <= part * size;
}}

/* Whether the way back was the way there, and rounding explains what it is off by. */
static int {prefix}_judged(const struct {prefix}_memory *m, double largest, double loss) {{
    const double ulp = rv_ulp_{suffix}(({of})largest), most = {ulps} * ulp, few = {few_ulps} * ulp;
    const int has_freed = m->freed_unrounded > few || m->freed > most;
    double error = m->freed_error;
    if (m->path != 0 || m->steps != 0) {{
        return {upper}_WAY_BACK;
    }}
{same_ints}    for (size_t i = 0; i < {count}; i++) {{
        if (m->reals[i] != m->start_reals[i]) {{
            const double from = (double)m->start_reals[i], by = fabs((double)m->reals[i] - from);
            if ((from != 0 && by > fabs(from) * {part}) || by > most) {{
                return has_freed ? {upper}_FREED : {upper}_MISSED;
            }}
            error += fabs(by * (double)m->adjoints[i]);
        }}
    }}
    if (has_freed && !{prefix}_outweighed(m, {of_freed}, error, loss)) {{
        return {upper}_FREED;
    }}
    if (error > {part} * fabs(loss) && (error > few || fabs(loss) > few)) {{
        return {upper}_SENSITIVE;
    }}
    return {prefix}_outweighed(m, {of_loss}, error, loss) ? {upper}_DONE : {upper}_SENSITIVE;
}}
"
    )
}
