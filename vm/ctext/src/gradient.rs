//! The function of a C text that computes a gradient, and its description for callers.

use std::fmt::Write as _;

use reviver_compile::call::CallFunction;
use reviver_isa::instruction::Class;
use reviver_isa::number::literal_bits;

use crate::interface::{CFunction, Interface};
use crate::memory::ProgramCells;
use crate::seeded::{SeededGlobal, SeededResults};

/// Returns a description of what the gradient function guarantees.
pub(crate) fn promise(cells: &ProgramCells, seeded: &SeededResults) -> String {
    let verification = match cells.numbers.is_fixed() {
        _ if !cells.level.is_checked() => {
            "The reverse sweep is not\n   verified: if rounding makes it diverge, the derivatives are silently wrong."
        }
        true => {
            "Fixed point loses no bits, so the reverse sweep\n   must restore the start exactly; otherwise the status is CHANGED."
        }
        false => {
            "Rounding may make the reverse sweep\n   diverge, so it is verified by the bounds of `reviver grad`; a status in parentheses means that a condition is violated.\n   \
            The sweep must take the branches of the primal sweep (WAY_BACK), free only cells that hold 0 up to rounding (FREED),\n   restore the integers (CHANGED), and restore the reals up to rounding (MISSED). \
            The effect of rounding on the loss must\n   be small (SENSITIVE). If a sweep diverges, `reviver grad` repeats it with a history. \
            C text has no history, and returns\n   the status without numbers. Ties are not detected: a branch may have no derivative at the point where its condition\n   changes."
        }
    };
    let names = seeded.names();
    let what = match seeded {
        SeededResults::Loss { .. } => {
            let product = match cells.lanes {
                1 => "",
                _ => {
                    " Also the product of the Hessian with a\n   direction: the derivatives of these derivatives along the direction."
                }
            };
            format!("The value of {names}, and its derivatives with respect to each real input.{product}")
        }
        SeededResults::Seeds(_) => format!(
            "The values of {names}, and the derivatives of the sum of seed*value with respect to each real input\n   (a vector-Jacobian product)."
        ),
    };
    format!(
        "{what} The reverse sweep restores intermediate values, so no\n   tape is needed. {verification}\n   \
        The status is LOST_ADJOINT if a step would lose an adjoint other than 0."
    )
}

/// Returns the C function that callers call for a gradient.
pub(crate) fn gradient_function(
    cells: &ProgramCells,
    interface: &Interface,
    (seeded, gradient): (&SeededResults, &CallFunction),
) -> String {
    let (prefix, upper) = (cells.prefix, cells.prefix.to_uppercase());
    let passes_on = format!("    if (status != {upper}_DONE) {{\n        return status;\n    }}\n");
    let is_weighed = cells.level.is_checked() && !cells.numbers.is_fixed();
    let (seeds, size) = seeds(cells, interface, seeded, is_weighed);
    let verified = match (cells.level.is_checked(), seeded) {
        (false, _) => String::new(),
        (true, _) if !is_weighed => format!("    status = {prefix}_verdict(memory);\n{passes_on}"),
        (true, SeededResults::Loss { .. }) => {
            format!(
                "    status = {prefix}_verdict(memory, fabs((double)memory->results[0]), 1);\n{passes_on}"
            )
        }
        (true, SeededResults::Seeds(_)) => {
            format!("{size}    status = {prefix}_verdict(memory, terms, most_seed);\n{passes_on}")
        }
    };
    let declared = match seeded {
        SeededResults::Seeds(_) if is_weighed => "    double terms = 0, most_seed = 0;\n",
        SeededResults::Seeds(_) | SeededResults::Loss { .. } => "",
    };
    let values = match seeded {
        SeededResults::Loss { .. } => {
            "    if (loss) {\n        *loss = memory->results[0];\n    }\n".to_owned()
        }
        SeededResults::Seeds(_) => String::new(),
    };
    format!(
        "{head} {{\n    int status;\n{declared}    {prefix}_begin_gradient(memory);\n{inputs}{working}{seeds}\
        \x20   status = {prefix}_sweeps(memory);\n{passes_on}{verified}{values}{outputs}    return {upper}_DONE;\n}}\n",
        head = interface.head(CFunction::Gradient),
        inputs = interface.take_in(CFunction::Gradient),
        working = cells.working(&gradient.working),
        outputs = interface.give_out(CFunction::Gradient),
    )
}

/// Returns two texts: the lines that set the adjoints of the seeded cells to the seeds, and the lines that compute Σ
/// |seed·result| and the largest magnitude of a seed.
fn seeds(
    cells: &ProgramCells,
    interface: &Interface,
    seeded: &SeededResults,
    is_weighed: bool,
) -> (String, String) {
    let zero = cells.numbers.literal(Class::Real, 0);
    if let SeededResults::Loss { cell, .. } = seeded {
        let one = cells.numbers.real_literal(literal_bits(cells.module().real, 1.0));
        let address = *cell as usize * cells.lanes;
        return (format!("    memory->adjoints[{address}] = {one};\n"), String::new());
    }
    let (mut seeds, mut size) = (String::new(), String::new());
    for ((global, first), (_, seed)) in seeded.globals().zip(interface.seeds()) {
        let SeededGlobal { start, cells: count, .. } = global;
        let looped = format!("    for (size_t i = 0; i < {count}; i++) {{\n");
        seeds.push_str(&looped);
        if !cells.numbers.is_fixed() {
            let _ = write!(
                seeds,
                "        if (!rv_is_finite_{}({seed}[i])) {{\n            return {}_ARGUMENT;\n        }}\n",
                cells.numbers.suffix(),
                cells.prefix.to_uppercase()
            );
        }
        // A seed of -0 becomes 0, because the generated code assumes that no adjoint is -0 at the turning point.
        let _ = write!(
            seeds,
            "        memory->adjoints[{start} + i] = {seed}[i] == {zero} ? {zero} : {seed}[i];\n    }}\n"
        );
        if is_weighed {
            let _ = write!(
                size,
                "{looped}        const double seed = fabs((double){seed}[i]);\n        \
                terms += fabs(seed * (double)memory->results[{first} + i]);\n        \
                most_seed = seed > most_seed ? seed : most_seed;\n    }}\n"
            );
        }
    }
    (seeds, size)
}
