//! Memory graphs of procedures: a line for each cell or array, and a row for each statement, with marks on the lines
//! that the statement accesses. Pairs of statements that cancel each other are detected. Nothing is executed. Another
//! crate draws the graphs.

mod access;
mod arguments;
mod cells;
mod compound;
mod identity;
mod limits;
mod pairs;
mod statements;

use std::collections::HashMap;

use reviver_isa::effects::Effects;
use reviver_isa::instruction::{Base, Class};
use reviver_isa::module::{Extent, Module, Procedure, Role, Shape};
use reviver_isa::text::TextRenderer;
use reviver_isa::update::Store;
use reviver_pictures::memory_graph::{
    Cancellation, MemoryFrame, MemoryGraph, MemoryLine, MemoryMark, MemoryRow,
};
use reviver_vm::Program;

use super::flow::reached;
use access::{Access, Part};
use arguments::PassedGlobals;
pub use limits::Exceeded;
use limits::{MOST_LINES, Remaining};
use statements::{StatementRow, Statements, statements};

/// Builds the graphs of main and of all procedures reachable by calls, in the order of the code.
///
/// # Errors
/// The graphs exceed a limit.
pub fn graphs(program: &Program) -> Result<Vec<MemoryGraph>, Exceeded> {
    let module = program.module();
    let effects = Effects::of(module).ok_or(Exceeded::Calls)?;
    let passed = PassedGlobals::of(module);
    let called = reached(module);
    let procedures = module.procedures.iter().enumerate().filter(|(n, _)| called.contains(n));
    let mut remaining = Remaining::default();
    let graph = |(number, procedure)| {
        let statements = statements(program, procedure, (&effects, passed.as_ref()), &mut remaining)?;
        graph(module, procedure, number == 0, statements)
    };
    procedures.map(graph).collect()
}

fn graph(
    module: &Module,
    procedure: &Procedure,
    is_main: bool,
    statements: Statements,
) -> Result<MemoryGraph, Exceeded> {
    let parts = parts(module, is_main, &statements.rows);
    if parts.len() > MOST_LINES {
        return Err(Exceeded::Lines);
    }
    let numbers: HashMap<Part, usize> = parts.iter().enumerate().map(|(n, part)| (*part, n)).collect();
    let renderer = TextRenderer { module, procedure };
    let lines = parts.iter().map(|part| line(renderer, *part, &statements)).collect();
    let pairs = pairs::cancelling_pairs(&statements.steps, &statements.vacant);
    let rows = statements.rows.into_iter().map(|row| MemoryRow {
        marks: marks(&row.accesses, &numbers),
        text: row.text,
        depth: row.depth,
    });
    Ok(MemoryGraph {
        name: procedure.name.clone(),
        lines,
        rows: rows.collect(),
        frames: statements.frames.into_iter().map(|(rows, depth)| MemoryFrame { rows, depth }).collect(),
        pairs: pairs
            .into_iter()
            .map(|pair| Cancellation { first: pair.first, second: pair.second })
            .collect(),
    })
}

/// Returns the parts of memory that are lines: parameters and globals in the order of their declarations, variables in
/// the order of their use, stacks and tapes. All inputs and results are lines of main, even if main doesn't access them.
fn parts(module: &Module, is_main: bool, rows: &[StatementRow]) -> Vec<Part> {
    let numbered = (0..).zip(&module.globals);
    let interface = numbered
        .filter(|(_, global)| is_main && global.role != Role::Private && global.shape != Shape::Stack);
    let declared = interface.map(|(n, _)| Part::Declared { base: Base::Global(n), adjoint: false });
    let accessed = rows.iter().flat_map(|row| row.accesses.iter().map(|access| access.part));
    let mut first = HashMap::new();
    let mut parts: Vec<Part> = Vec::new();
    for part in declared.chain(accessed) {
        first.entry(part).or_insert_with(|| {
            parts.push(part);
            parts.len()
        });
    }
    parts.sort_by_key(|part| {
        let found = first.get(part).copied().unwrap_or(0);
        match *part {
            Part::Declared { base: Base::Parameter(n), adjoint } => (0, n as usize, adjoint),
            Part::Declared { base: Base::Global(n), adjoint } => (1, n as usize, adjoint),
            Part::Declared { base: Base::Frame(_), .. } => (2, found, false),
            Part::Store(..) => (3, found, false),
            Part::Mode => (4, found, false),
        }
    });
    parts
}

fn line(renderer: TextRenderer<'_>, part: Part, statements: &Statements) -> MemoryLine {
    let Part::Declared { base, adjoint } = part else {
        let is_array = matches!(part, Part::Store(..));
        return MemoryLine { name: store_name(renderer.module, part), is_array, lives: Vec::new() };
    };
    let declared = renderer.module.declaration(renderer.procedure, base);
    let is_scalar = declared.is_some_and(|declared| declared.extent == Extent::Cells(Shape::Scalar));
    let name = renderer.name(base);
    let lives = statements.lives.iter().filter(|(variable, _)| base == Base::Frame(*variable));
    MemoryLine {
        name: if adjoint { format!("{name}'") } else { name.to_owned() },
        is_array: !is_scalar,
        lives: lives.map(|(_, rows)| rows.clone()).collect(),
    }
}

fn store_name(module: &Module, part: Part) -> String {
    match part {
        Part::Store(Store::Stack, class) => match (module.stack(class), class) {
            (Some((_, stack)), _) => stack.name.clone(),
            (None, Class::Int) => "int stack".to_owned(),
            (None, Class::Real) => "real stack".to_owned(),
        },
        Part::Store(Store::Input, _) => "input tape".to_owned(),
        Part::Store(Store::Output, _) => "output tape".to_owned(),
        Part::Mode | Part::Declared { .. } => "mode".to_owned(),
    }
}

/// Returns the marks of a row, at most one on each line, from the first to the last line.
fn marks(accesses: &[Access], numbers: &HashMap<Part, usize>) -> Vec<MemoryMark> {
    let mut marks: Vec<MemoryMark> = Vec::new();
    for access in accesses {
        let Some(line) = numbers.get(&access.part).copied() else { continue };
        let mark = MemoryMark { line, changes: access.changes, reads: !access.changes };
        marks.push(mark);
    }
    marks.sort_by_key(|mark| mark.line);
    marks.dedup_by(|later, mark| {
        let is_same = later.line == mark.line;
        if is_same {
            mark.changes |= later.changes;
            mark.reads |= later.reads;
        }
        is_same
    });
    marks
}
