//! Optimization: an equivalent program that needs fewer steps. The optimized program is plain assembly, so it can be read,
//! inverted and differentiated like the original.
//!
//! If a run of the original succeeds, a run of the optimized program with the same inputs succeeds, too, and its results
//! are equal. Three things may differ:
//!
//! - Garbage that nothing reads is not computed. So a backward run needs less garbage.
//! - A removed statement can't trap. So the optimized program may succeed where the original traps.
//! - Floats are rounded differently if a pass isn't *exact*: `x + a - a` becomes `x`.
//!
//! Each pass has its file. A pass reads the statements of a program, whatever their order, and rewrites those of
//! the program's own file. Included files that contain only definitions aren't changed.
//!
//! | module | purpose |
//! |---|---|
//! | `inlining` | replaces the call of a procedure that is called once by the procedure's body |
//! | `activity` | removes terms that are always 0, such as those with adjoints of inactive cells |
//! | `constants` | folds `1*x`, `x + 0`, and conditions with constant sides; divides instead of multiplying by an inverse |
//! | `pairs` | removes a statement and its inverse if no statement between them is affected |
//! | `dead` | removes statements that change only cells that nothing reads |
//! | `effects`, `stack_use`, `aliases` | what statements access; whether a stack is read; operands that may be the same cell |
//! | `program`, `rewrite`, `accesses` | the program, the traversal for rewriting, the cells that a statement accesses |

mod accesses;
mod activity;
mod aliases;
mod constants;
mod dead;
mod effects;
mod inlining;
mod pairs;
mod program;
mod stack_use;

use std::collections::HashSet;

use self::program::ProgramInPasses;
use crate::adjoint::own;
use crate::arrays::roll;
use crate::assemble::assemble;
use crate::diagnostic::{Diagnostic, Severity, in_order};
use crate::files::Files;
use crate::format::print_with;
use crate::include::load;
use crate::invert::file::{redirect, staying};
use crate::parser::parse;
use crate::source::{FileId, Sources};
use crate::tree::{Directive, Statement, StatementNode};

/// A rewriting of a program that preserves its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// Replaces the call of a procedure that is called once by the procedure's body.
    Inlining,
    /// Removes terms that are always 0, because a cell is never anything else.
    Activity,
    /// Folds operations whose result follows from a constant operand.
    Constants,
    /// Divides by a number instead of multiplying by its inverse.
    Divisions,
    /// Removes a statement and its inverse if the statements between them don't depend on them.
    Pairs,
    /// Removes statements whose results nothing reads.
    Dead,
}

impl Pass {
    /// All passes, in the order in which they run.
    pub const ALL: [Pass; 6] =
        [Pass::Inlining, Pass::Activity, Pass::Constants, Pass::Divisions, Pass::Pairs, Pass::Dead];

    /// Returns the passes of an optimization level: none at 0, the exact ones at 1, all from 2 on. Exact passes preserve
    /// all bits of the results, except for the sign of a zero.
    pub fn of_level(level: u8) -> &'static [Pass] {
        match level {
            0 => &[],
            1 => &[Pass::Activity, Pass::Constants, Pass::Dead],
            _ => &Pass::ALL,
        }
    }

    /// Returns the name of the pass on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Inlining => "inlining",
            Pass::Activity => "activity",
            Pass::Constants => "constants",
            Pass::Divisions => "divisions",
            Pass::Pairs => "pairs",
            Pass::Dead => "dead",
        }
    }

    /// Runs the pass. Returns true if the program has changed.
    fn run(self, program: &mut ProgramInPasses) -> bool {
        match self {
            Pass::Inlining => inlining::run(program),
            Pass::Activity => activity::run(program),
            Pass::Constants => constants::fold(program),
            Pass::Divisions => constants::divide(program),
            Pass::Pairs => pairs::run(program),
            Pass::Dead => dead::run(program),
        }
    }
}

/// Upper bound on the rounds of passes. Later rounds rarely change anything.
const ROUNDS: usize = 32;

/// The result of an optimization: the text of a program.
#[derive(Debug)]
pub struct Optimization {
    /// The program's files; the first one is the program itself.
    pub sources: Sources,
    /// The text of the optimized program, or the errors.
    pub text: Result<String, Vec<Diagnostic>>,
    /// The reason for which the program isn't changed, if there is one.
    pub obstacle: Option<&'static str>,
}

/// Returns a program with the same results that needs fewer steps. `name` is the name of the program's file; `files` finds
/// includes relative to this name. `new_name` is the name of the file for the new program, to which its includes are
/// relative.
pub fn optimize_text(
    name: &str,
    bytes: Vec<u8>,
    (passes, new_name): (&[Pass], &str),
    files: &dyn Files,
) -> Optimization {
    let assembly = assemble(name, bytes.clone(), files);
    let mut errors = assembly.diagnostics;
    errors.retain(|it| it.severity == Severity::Error);
    if !errors.is_empty() {
        return Optimization { sources: assembly.sources, text: Err(errors), obstacle: None };
    }
    let mut loaded = load(name, bytes, files);
    own::replace_beside_history(&mut loaded);
    let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
    if !diagnostics.is_empty() {
        in_order(&mut diagnostics);
        return Optimization { sources: loaded.sources, text: Err(diagnostics), obstacle: None };
    }
    if passes.contains(&Pass::Inlining) {
        loaded.state_classes();
    }
    let stay = staying(&loaded);
    let mut program = ProgramInPasses::new(&mut loaded, &stay);
    let obstacle = program.obstacle();
    let passes: HashSet<Pass> =
        if obstacle.is_some() { HashSet::new() } else { passes.iter().copied().collect() };
    for _ in 0..ROUNDS {
        let run = Pass::ALL.into_iter().filter(|pass| passes.contains(pass));
        // Every pass runs, also after a pass that has changed the program.
        let changes = run.filter(|pass| pass.run(&mut program)).count();
        if changes == 0 {
            break;
        }
    }
    let mut body = program.into_body();
    if !body.iter().any(is_content) {
        // Every program needs a statement or a cell.
        (body, _) = parse(&loaded.sources, FileId(0));
    }
    redirect(&mut body, &loaded, new_name, files);
    let text = checked(print_with(&loaded.sources, &roll(body)), new_name, files);
    Optimization { sources: loaded.sources, text, obstacle }
}

/// Returns true for a statement, and for a declaration of cells.
fn is_content(node: &StatementNode) -> bool {
    !matches!(
        node.statement,
        Statement::Empty | Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_)
    ) || matches!(node.statement, Statement::Directive(Directive::Globals { .. } | Directive::Ancillas(_)))
}

/// Returns the text of an optimized program if it assembles.
fn checked(text: String, name: &str, files: &dyn Files) -> Result<String, Vec<Diagnostic>> {
    let assembly = assemble(name, text.clone().into_bytes(), files);
    match assembly.diagnostics.into_iter().find(|it| it.severity == Severity::Error) {
        None => Ok(text),
        Some(problem) => Err(vec![Diagnostic::our_mistake(format!(
            "the optimized program has an error: {}",
            problem.message
        ))]),
    }
}
