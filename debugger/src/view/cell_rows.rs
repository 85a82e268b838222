//! Numbers of rows that the cells of a program need. The screen is divided with these numbers before panes are
//! drawn. The numbers don't depend on the open calls; otherwise the layout would change at each call.

use reviver_isa::instruction::Class;
use reviver_isa::module::{Rank, Shape};
use reviver_vm::Program;

use super::cells::is_register;

/// Numbers of rows for the scalars and for the arrays of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellRows {
    /// Number of rows for scalars, including the headings of sections.
    pub scalars: u64,
    /// Estimated number of rows for arrays; 0 if the program has none.
    pub elements: u64,
}

impl CellRows {
    /// Returns numbers of rows that are sufficient for every frame of a program.
    pub fn of(program: &Program) -> CellRows {
        let module = program.module();
        let globals = |are_registers: bool| {
            let of_them = module.globals.iter().filter(move |g| is_register(&g.name) == are_registers);
            CellRows::of_section(of_them.map(|global| (global.class, global.shape)))
        };
        let own = (0..module.procedures.len()).map(|number| CellRows::of_frame(program, number));
        let most = own.fold(CellRows::default(), |most, own| CellRows {
            scalars: most.scalars.max(own.scalars),
            elements: most.elements.max(own.elements),
        });
        globals(false).and(globals(true)).and(most)
    }

    fn of_frame(program: &Program, number: usize) -> CellRows {
        let Some(procedure) = program.module().procedures.get(number) else { return CellRows::default() };
        // The length of a slice parameter is known only during a call. A slice needs no additional rows, because
        // the array that contains the slice is counted at its declaration.
        let shape = |rank: Rank| match rank {
            Rank::Scalar => Shape::Scalar,
            Rank::Vector => Shape::Vector(1),
            Rank::Matrix => Shape::Matrix(1, 1),
        };
        let parameters = procedure.parameters.iter().filter(|p| !p.is_length());
        let parameters = parameters.map(|parameter| (parameter.class, shape(parameter.rank)));
        let written = program.written_names(number).filter_map(|(n, _)| procedure.frame.get(n as usize));
        let variables = written.map(|variable| (variable.class, variable.shape));
        CellRows::of_section(parameters).and(CellRows::of_section(variables))
    }

    fn of_section(cells: impl Iterator<Item = (Class, Shape)>) -> CellRows {
        let mut rows = CellRows::default();
        // Stacks are shown in the tapes pane.
        for (class, shape) in cells.filter(|(_, shape)| *shape != Shape::Stack) {
            match rows_of(class, shape) {
                0 => rows.scalars += 1,
                elements => rows.elements = rows.elements.saturating_add(elements + 1),
            }
        }
        // Add one row for the heading.
        rows.scalars += u64::from(rows.scalars > 0);
        rows
    }

    /// Adds the rows of another section, which is shown below this one.
    fn and(self, other: CellRows) -> CellRows {
        CellRows {
            scalars: self.scalars.saturating_add(other.scalars),
            elements: self.elements.saturating_add(other.elements),
        }
    }
}

/// Estimates the rows of an array in a column of a small screen. The number of values in a row is an
/// estimate, because the width of the values isn't known yet.
fn rows_of(class: Class, shape: Shape) -> u64 {
    let beside = if class == Class::Int { 5 } else { 2 };
    match shape {
        Shape::Scalar | Shape::Stack => 0,
        Shape::Vector(length) => u64::from(length).div_ceil(beside).max(1),
        Shape::Matrix(rows, columns) => (u64::from(rows) * u64::from(columns).div_ceil(beside)).max(1),
    }
}
