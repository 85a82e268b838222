//! The gradient of a C text: the results that have seeds, and the function for callers.

use std::fmt::Write as _;

use reviver_compile::call::GradientFunction;
use reviver_isa::instruction::Class;
use reviver_isa::module::Shape;
use reviver_isa::number::literal_bits;
use reviver_vm::Program;

use crate::error::NoText;
use crate::interface::{CFunction, Interface};
use crate::memory::ProgramCells;

/// The gradient that a text includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CGradient<'n> {
    /// The gradient of a real cell, such as `y`, `A[3]` or `M[1,2]`.
    Loss(&'n str),
    /// The gradient of Σ seed·value over all cells of these real variables (a vector–Jacobian product). The caller passes the seeds.
    Seeds(&'n [String]),
}

/// The cells that have seeds.
#[derive(Clone, Debug)]
pub(crate) enum SeededResults {
    /// One cell, by its name and its address among the reals. Its seed is 1.
    Loss { name: String, cell: u32 },
    /// Variables whose cells have seeds that the caller passes.
    Seeds(Vec<SeededGlobal>),
}

/// A variable whose cells have seeds.
#[derive(Clone, Debug)]
pub(crate) struct SeededGlobal {
    pub name: String,
    /// Its number among the globals.
    pub global: usize,
    /// The address of its first cell among the reals, and the number of its cells.
    pub start: u32,
    pub cells: u32,
}

impl SeededResults {
    /// Finds the cells of a gradient.
    pub fn of(program: &Program, gradient: CGradient) -> Result<SeededResults, NoText> {
        let names = match gradient {
            CGradient::Loss(name) => return loss(program, name),
            CGradient::Seeds(names) => names,
        };
        let mut found: Vec<SeededGlobal> = Vec::new();
        for name in names {
            let unknown = || NoText::NoCell { name: name.clone() };
            let (number, global) = program.global(name).ok_or_else(unknown)?;
            if global.class != Class::Real {
                return Err(NoText::NotReal { name: name.clone() });
            }
            if found.iter().any(|known| known.global == number) {
                return Err(NoText::Twice { name: name.clone() });
            }
            let cells = program.cells(number);
            if cells.is_empty() {
                return Err(unknown());
            }
            let [start, cells] = [cells.start, cells.len()].map(u32::try_from);
            let (start, cells) = (start.map_err(|_| unknown())?, cells.map_err(|_| unknown())?);
            found.push(SeededGlobal { name: name.clone(), global: number, start, cells });
        }
        match found.is_empty() {
            true => Err(NoText::NoCell { name: String::new() }),
            false => Ok(SeededResults::Seeds(found)),
        }
    }

    /// Returns the addresses of the cells, in the order of their results.
    pub fn cells(&self) -> Vec<u32> {
        match self {
            SeededResults::Loss { cell, .. } => vec![*cell],
            SeededResults::Seeds(globals) => {
                globals.iter().flat_map(|global| global.start..global.start + global.cells).collect()
            }
        }
    }

    /// Returns the variables whose seeds the caller passes, each with the number of its first result.
    pub fn globals(&self) -> impl Iterator<Item = (&SeededGlobal, u32)> {
        let globals = match self {
            SeededResults::Loss { .. } => &[][..],
            SeededResults::Seeds(globals) => globals,
        };
        globals.iter().scan(0, |next, global| {
            let first = *next;
            *next += global.cells;
            Some((global, first))
        })
    }

    /// Returns the quoted names, for comments.
    pub fn names(&self) -> String {
        match self {
            SeededResults::Loss { name, .. } => format!("`{name}`"),
            SeededResults::Seeds(globals) => {
                let names: Vec<String> = globals.iter().map(|global| format!("`{}`", global.name)).collect();
                names.join(", ")
            }
        }
    }
}

/// Finds the real cell with a name such as `y`, `A[3]` or `M[1,2]`.
fn loss(program: &Program, name: &str) -> Result<SeededResults, NoText> {
    let compact: String = name.chars().filter(|sign| !sign.is_whitespace()).collect();
    let base = compact.split('[').next().unwrap_or_default();
    let unknown = || NoText::NoCell { name: name.to_owned() };
    let (number, global) = program.global(base).ok_or_else(unknown)?;
    let cells = program.cells(number);
    if global.class != Class::Real {
        return Err(NoText::NotReal { name: base.to_owned() });
    }
    if compact == base && global.shape != Shape::Scalar {
        return Err(NoText::ManyCells { name: base.to_owned(), cells: cells.len() });
    }
    let n = (0..cells.len()).find(|&n| program.cell_name(number, n) == compact).ok_or_else(unknown)?;
    let cell = u32::try_from(cells.start + n).map_err(|_| unknown())?;
    Ok(SeededResults::Loss { name: compact, cell })
}

/// Describes the guarantees of a gradient.
pub(crate) fn promise(cells: &ProgramCells, seeded: &SeededResults) -> String {
    let verification = match cells.numbers.is_fixed() {
        _ if !cells.level.is_checked() => {
            "The reverse sweep is not\n   verified: if rounding makes it diverge, the derivatives are silently wrong."
        }
        true => {
            "Fixed point loses no bits, so the reverse sweep\n   must restore the start exactly; otherwise the status is CHANGED."
        }
        false => {
            "Rounding may make the reverse sweep\n   diverge, so it is verified by the bounds of `reviver grad`. It must take the branches of the primal sweep (WAY_BACK),\n   \
            free only cells that rounding explains (FREED), and restore the integers (CHANGED) and the reals but for rounding\n   (MISSED). \
            What rounding changed must not change the loss by more than rounding does (SENSITIVE). `reviver grad`\n   repeats a sweep that diverged with a history; \
            C text has none, and returns the status instead of numbers. Ties are\n   not detected: a branch may have no derivative where its condition changes."
        }
    };
    let names = seeded.names();
    let what = match seeded {
        SeededResults::Loss { .. } => {
            format!("The value of {names}, and its derivatives by each real input.")
        }
        SeededResults::Seeds(_) => format!(
            "The values of {names}, and the derivatives of the sum of seed*value by each real input (a vector-Jacobian\n   product)."
        ),
    };
    format!(
        "{what} The reverse sweep restores intermediate values, so no\n   tape is needed. {verification}\n   \
        The status is LOST_ADJOINT if a step would lose an adjoint other than 0."
    )
}

/// Returns the function of a gradient for callers.
pub(crate) fn gradient_function(
    cells: &ProgramCells,
    interface: &Interface,
    (seeded, gradient): (&SeededResults, &GradientFunction),
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

/// Returns the lines that set the adjoints of the seeded cells, and the lines that compute the size of the seeded sum from the results.
fn seeds(
    cells: &ProgramCells,
    interface: &Interface,
    seeded: &SeededResults,
    is_weighed: bool,
) -> (String, String) {
    let zero = cells.numbers.literal(Class::Real, 0);
    if let SeededResults::Loss { cell, .. } = seeded {
        let one = cells.numbers.real_literal(literal_bits(cells.module().real, 1.0));
        return (format!("    memory->adjoints[{cell}] = {one};\n"), String::new());
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
        // A seed of -0 becomes 0: the code relies on no adjoint being -0 at the turning point.
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
