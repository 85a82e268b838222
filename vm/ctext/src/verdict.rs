//! C text that decides whether a gradient's reverse sweep is verified. `reviver_vm::differentiate::evidence` and
//! `reviver_vm::watch` define the bounds.

use reviver_vm::watch::Rounding;

use reviver_isa::instruction::Class;

use crate::identifiers::words;
use crate::memory::ProgramCells;
use crate::numbers::double;

/// Returns the fields of the memory for the evidence that the reverse sweep collects.
pub(crate) fn fields(cells: &ProgramCells) -> &'static str {
    match (cells.level.is_checked(), cells.numbers.is_fixed()) {
        (false, _) => "",
        (true, true) => {
            "    /* Other than 0 if the reverse sweep of a gradient didn't restore a number. */\n    int64_t changed;\n"
        }
        (true, false) => {
            "    /* Evidence about the reverse sweep of a gradient. */\n    int64_t changed;\n    uint64_t path;\n    double largest;\n    \
            double freed;\n    double freed_unrounded;\n    double freed_error;\n    double missed;\n    double missed_error;\n"
        }
    }
}

/// Returns the C functions that record evidence, as far as the call function uses them. `text` is the text of the call
/// function.
pub(crate) fn recorders(cells: &ProgramCells, text: &str) -> Vec<String> {
    let is_used = |name: &str| words(text).any(|word| word == format!("{}_{name}", cells.prefix));
    let all = [("larger", larger(cells)), ("freed", freed(cells)), ("missed", missed(cells))];
    all.into_iter().filter(|(name, _)| is_used(name)).map(|(_, text)| text).collect()
}

fn larger(cells: &ProgramCells) -> String {
    format!(
        "\
/* Returns `most` or the magnitude of `value`, whichever is greater. */
static inline double {}_larger(double most, double value) {{
    const double size = fabs(value);
    return size > most ? size : most;
}}
",
        cells.prefix
    )
}

fn freed(cells: &ProgramCells) -> String {
    let (prefix, rounding) = (cells.prefix, Rounding::of(cells.module().real));
    let (digits, long) = (rounding.digits, rounding.long());
    format!(
        "\
/* Records a freed real: the largest magnitude, the largest one with more than {digits} binary digits, and the effect on the loss. */
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

fn missed(cells: &ProgramCells) -> String {
    let (prefix, part) = (cells.prefix, double(Rounding::of(cells.module().real).part));
    format!(
        "\
/* Records a real that the reverse sweep didn't restore exactly: the difference, and the effect on the loss. */
static inline void {prefix}_missed(struct {prefix}_memory *m, double from, double to, double adjoint) {{
    const double by = fabs(to - from);
    m->missed = by > m->missed ? by : m->missed;
    m->missed_error += fabs(by * adjoint);
    if (from != 0 && !(by <= fabs(from) * {part})) {{
        m->missed = HUGE_VAL;
    }}
}}
"
    )
}

/// Returns the text of the C function that computes the status of a gradient after the call function has returned, and
/// of all C functions that it calls.
pub(crate) fn functions(cells: &ProgramCells) -> String {
    if cells.numbers.is_fixed() { exact(cells) } else { largest(cells) + &watched(cells) }
}

/// Returns the verification function for fixed point. Fixed point loses no bits, so every number must be restored
/// exactly.
fn exact(cells: &ProgramCells) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    format!(
        "static int {prefix}_verdict(const struct {prefix}_memory *m) {{\n    return m->changed ? {upper}_CHANGED : {upper}_DONE;\n}}\n"
    )
}

/// Number of maxima that the search computes independently. With a single maximum, each comparison would wait for the
/// previous one.
const LANES: usize = 4;

/// Returns the C function that finds the greatest magnitude among the reals at the start.
fn largest(cells: &ProgramCells) -> String {
    let (prefix, count) = (cells.prefix, cells.fixed(Class::Real));
    let whole = count - count % LANES;
    let (each, one) = (primal(cells, "i + lane"), primal(cells, "i"));
    // The loop bounds are literals. A loop without iterations is left out, because compilers warn of such loops.
    let side_by_side = match whole {
        0 => String::new(),
        _ => format!(
            "\
    for (size_t i = 0; i < {whole}; i += {LANES}) {{
        for (size_t lane = 0; lane < {LANES}; lane++) {{
            const double size = fabs((double)m->start_reals[{each}]);
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
        const double size = fabs((double)m->start_reals[{one}]);
        largest = size > largest ? size : largest;
    }}
"
        ),
    };
    format!(
        "\
/* Returns the greatest magnitude of a real at the start or at the turning point. No such real is NaN. */
static double {prefix}_largest(const struct {prefix}_memory *m) {{
    double most[{LANES}] = {{0}}, largest = m->largest;
{side_by_side}{rest}    for (size_t lane = 0; lane < {LANES}; lane++) {{
        largest = most[lane] > largest ? most[lane] : largest;
    }}
    return largest;
}}

"
    )
}

/// Returns the address of a real's coefficient 0, given the index of the real.
fn primal(cells: &ProgramCells, index: &str) -> String {
    match cells.lanes {
        1 => index.to_owned(),
        lanes => format!("({index}) * {lanes}"),
    }
}

/// Returns the verification function for floats, and the function that compares errors with the loss.
fn watched(cells: &ProgramCells) -> String {
    let (prefix, upper, suffix) = (cells.prefix, cells.prefix.to_uppercase(), cells.numbers.suffix());
    let (of, count) = (cells.numbers.real(), cells.fixed(Class::Real));
    let &Rounding { ulps, few_ulps, part, of_loss, of_freed, .. } = Rounding::of(cells.module().real);
    let [ulps, few_ulps, part] = [ulps, few_ulps, part].map(double);
    let [of_loss, of_freed] = [of_loss, of_freed].map(double);
    let one = primal(cells, "i");
    format!(
        "\
/* Returns 1 if an error is at most `part` times the size of the loss. The size is the loss's magnitude, or if that is too small,
   its sum with the magnitudes of the loss's terms. */
static int {prefix}_outweighed(const struct {prefix}_memory *m, double part, double error, double loss) {{
    double size = loss;
    if (error <= part * size) {{
        return 1;
    }}
    for (size_t i = 0; i < {count}; i++) {{
        size += fabs((double)m->start_reals[{one}] * (double)m->adjoints[{one}]);
    }}
    return error <= part * size;
}}

/* Returns DONE if the reverse sweep took the branches of the primal sweep, and rounding explains each number that it didn't
   restore. `loss` is the sum of |seed*value|, and `seed` is the largest |seed|. */
static int {prefix}_verdict(const struct {prefix}_memory *m, double loss, double seed) {{
    const double error = m->freed_error + m->missed_error;
    double ulp, most, few;
    int has_freed;
    if (m->path != 0 || m->steps != 0) {{
        return {upper}_WAY_BACK;
    }}
    if (m->changed) {{
        return {upper}_CHANGED;
    }}
    if (error == 0 && m->missed == 0 && m->freed == 0) {{
        return {upper}_DONE;
    }}
    ulp = rv_ulp_{suffix}(({of}){prefix}_largest(m));
    most = {ulps} * ulp;
    few = {few_ulps} * ulp;
    has_freed = m->freed_unrounded > few || m->freed > most;
    if (m->missed > most) {{
        return has_freed ? {upper}_FREED : {upper}_MISSED;
    }}
    if (has_freed && !{prefix}_outweighed(m, {of_freed}, error, loss)) {{
        return {upper}_FREED;
    }}
    few *= seed;
    if (error > {part} * loss && (error > few || loss > few)) {{
        return {upper}_SENSITIVE;
    }}
    return {prefix}_outweighed(m, {of_loss}, error, loss) ? {upper}_DONE : {upper}_SENSITIVE;
}}
"
    )
}
