//! Procedures that keep what they discard. A procedure with `.strategy` can be undone although its statements discard values:
//! it pushes these values, and its inverse pops them. So the history belongs to the program, and a program can
//! differentiate such a procedure itself.
//!
//! ```text
//! .proc halve(inout n)             .proc halve(inout n, in place_of_halve)
//! .strategy reverse
//!         overwrite n, n / 2               local new = n / 2
//!                                          swap    n, new
//!                                          push    new
//!                                          delocal new = 0
//!                                          local mark = place_of_halve * 1000003 + 1
//!                                          push    mark
//!                                          delocal mark = 0
//! .end                             .end
//! ```
//!
//! The history is on the stacks, so calls must be undone in the opposite order. A wrong order would restore values of other
//! cells. Therefore a procedure also pushes a *mark*, a number that depends on the arguments, and its inverse traps if the
//! mark on the stack is another one. The hidden parameter tells a procedure which arguments its caller was given.
//!
//! With the strategy `checkpoint`, the loops of the procedure are divided into segments: see [`segments`].
//!
//! | module | purpose |
//! |---|---|
//! | `facts`, `lossy` | the names, classes and lengths of a program; the procedures that discard values |
//! | `marks`, `refusals` | hidden parameters and marks; programs that can't keep a history |
//! | `segments`, `copies` | loops that are divided into segments, and the copies of cells meanwhile |

mod copies;
mod facts;
mod lossy;
mod marks;
mod refusals;
mod segments;

use std::collections::{BTreeMap, HashMap, HashSet};

use compact_str::{CompactString, format_compact};
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;

use self::copies::CopyStore;
pub(crate) use self::facts::capacity;
use self::facts::{classes_of, declare, lengths_of, names_of, procedures_of, reals, tolerance};
use self::lossy::{Lossy, strategy};
use self::marks::Marks;
use crate::build;
use crate::diagnostic::Diagnostic;
use crate::keep::class::{Classes, class_of};
use crate::keep::names::UnusedNames;
use crate::keep::{Keeper, LossyProcedures, Rules};
use crate::tree::{
    Body, Directive, Expression, InstructionNode, KeptStrategy, Name, Operands, ProcedureNode, Statement,
    StatementNode,
};
use crate::{rewrite, visit};

/// Replaces the procedures with a strategy in the trees of a program, one for each file. Returns the errors.
pub(crate) fn expand(trees: &mut [Body]) -> Vec<Diagnostic> {
    if !has_strategies(trees) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    refusals::program(trees, &mut problems);
    if !problems.is_empty() {
        return problems;
    }
    let mut names = names_of(trees);
    let lossy = Lossy::of(trees);
    let marks = Marks::add(trees, &lossy, &mut names, &mut problems);
    let mut history = History {
        classes: classes_of(trees),
        is_exact: reals(trees).is_exact(),
        tolerance: tolerance(trees),
        lengths: lengths_of(trees),
        procedures: procedures_of(trees),
        lossy,
        marks,
        names,
        kept: BTreeMap::new(),
        pending: Vec::new(),
        stores: Vec::new(),
        problems,
    };
    for tree in trees.iter_mut() {
        for node in tree.iter_mut() {
            if let Statement::Procedure(procedure) = &mut node.statement
                && let Some(strategy) = strategy(procedure)
            {
                history.refuse(procedure, strategy);
                let body = history.body(procedure, strategy);
                procedure.body = body;
                let place = procedure.name.span;
                rewrite::at_place(&mut procedure.body, place);
            }
        }
    }
    let made = history.write_kept();
    let stores = history.declared_stores(capacity(trees.iter()));
    if let Some(first) = trees.first_mut() {
        first.splice(0..0, stores);
        first.extend(made);
    }
    history.remove_replaced(trees);
    history.problems
}

/// Returns true if a procedure of the program has a strategy.
pub(crate) fn has_strategies(trees: &[Body]) -> bool {
    trees.iter().flatten().any(|node| match &node.statement {
        Statement::Procedure(tree) => strategy(tree).is_some(),
        _ => false,
    })
}

/// The procedures of a program, and those that keep what they discard.
struct History {
    classes: Classes,
    /// True if arithmetic on reals is exact.
    is_exact: bool,
    /// The magnitude up to which a real counts as 0 when it is freed.
    tolerance: Expression,
    /// The lengths of the program's cells; none for a scalar.
    lengths: HashMap<CompactString, Vec<Expression>>,
    procedures: HashMap<CompactString, ProcedureNode>,
    lossy: Lossy,
    marks: Marks,
    names: UnusedNames,
    /// The name of the variant of each procedure that is called by one with a strategy; true for variants that keep all
    /// floats.
    kept: BTreeMap<(CompactString, bool), CompactString>,
    pending: Vec<(CompactString, bool)>,
    /// The arrays for copies of cells, at most one of each class.
    stores: Vec<CopyStore>,
    problems: Vec<Diagnostic>,
}

impl History {
    /// Returns the body of a procedure with a strategy.
    fn body(&mut self, procedure: &ProcedureNode, strategy: KeptStrategy) -> Body {
        let keeps_floats = strategy.keeps_floats();
        let classes = self.classes_in(procedure);
        let mut body = match strategy {
            KeptStrategy::Checkpoint(count) => self.in_segments(procedure, &classes, count),
            KeptStrategy::Reverse | KeptStrategy::Tape => {
                self.kept_body(&procedure.body, &classes, keeps_floats)
            }
        };
        body.retain(|node| !matches!(node.statement, Statement::Directive(Directive::Strategy(_))));
        self.mark(procedure, &mut body);
        body
    }

    /// Appends the push of a procedure's mark.
    fn mark(&mut self, procedure: &ProcedureNode, body: &mut Body) {
        let has_reals = self.has_reals(procedure, &mut HashSet::new());
        self.marks.push(&procedure.name.text, has_reals, &mut self.names, body);
    }

    /// Returns statements that keep what they discard.
    fn kept_body(&mut self, body: &Body, classes: &Classes, keeps_floats: bool) -> Body {
        let mut body = body.clone();
        self.call_kept(&mut body, keeps_floats);
        let keeping: LossyProcedures = self.keeping().map(|name| (name.clone(), name)).collect();
        let tolerance = self.tolerance.clone();
        let rules = Rules {
            exact: self.is_exact || !keeps_floats,
            tolerance: &tolerance,
            losing: &keeping,
            blocks_stay: true,
        };
        let mut keeper = Keeper::new(rules, classes, self.names.clone());
        let made = keeper.body(&body);
        self.names = keeper.names;
        self.problems.append(&mut keeper.problems);
        made
    }

    /// Returns the names of the procedures that push what they discard.
    fn keeping(&self) -> impl Iterator<Item = CompactString> {
        let own = self.procedures.values().filter(|it| strategy(it).is_some()).map(|it| it.name.text.clone());
        own.chain(self.kept.values().cloned())
    }

    /// Replaces the procedures that a body calls by variants that keep what they discard.
    fn call_kept(&mut self, body: &mut Body, keeps_floats: bool) {
        for node in body {
            match &mut node.statement {
                Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
                    if let Some(kept) = self.variant(&call.procedure.text, keeps_floats) {
                        call.procedure.text = kept;
                    }
                }
                Statement::MacroUse { name, .. } if self.lossy.is_lossy(&name.text) => {
                    let message =
                        format!("the macro `{}` discards values in a procedure with a strategy", name.text);
                    let problem =
                        Diagnostic::error(ProblemCode::NotTransformed, message, name.span, "used here");
                    self.problems.push(problem.help("write a procedure instead of the macro"));
                }
                other => other.bodies_mut().into_iter().for_each(|body| self.call_kept(body, keeps_floats)),
            }
        }
    }

    /// Returns the name of the variant of a procedure; `None` for a procedure that discards nothing, or keeps it itself.
    fn variant(&mut self, name: &CompactString, keeps_floats: bool) -> Option<CompactString> {
        let procedure = self.procedures.get(name)?;
        if strategy(procedure).is_some() || !keeps_floats && !self.lossy.is_lossy(name) {
            return None;
        }
        let key = (name.clone(), keeps_floats);
        if let Some(kept) = self.kept.get(&key) {
            return Some(kept.clone());
        }
        let kept = self.names.fresh(&format_compact!("{name}_kept"));
        self.kept.insert(key.clone(), kept.clone());
        self.pending.push(key);
        Some(kept)
    }

    /// Writes the variants that calls need.
    fn write_kept(&mut self) -> Body {
        let mut made = Body::new();
        while let Some(key) = self.pending.pop() {
            let (Some(procedure), Some(name)) =
                (self.procedures.get(&key.0).cloned(), self.kept.get(&key).cloned())
            else {
                continue;
            };
            let classes = self.classes_in(&procedure);
            let mut body = self.kept_body(&procedure.body, &classes, key.1);
            self.mark(&procedure, &mut body);
            let place = procedure.name.span;
            let name = Name { text: name, span: place };
            let tree = ProcedureNode { name, body, ..procedure };
            let mut nodes = vec![build::node(Statement::Procedure(Box::new(tree)))];
            rewrite::at_place(&mut nodes, place);
            made.append(&mut nodes);
        }
        made
    }

    /// Removes the procedures that only variants of them replace.
    fn remove_replaced(&self, trees: &mut [Body]) {
        loop {
            let mut called = HashSet::new();
            for node in trees.iter().flatten() {
                let own = match &node.statement {
                    Statement::Procedure(tree) => {
                        called.extend(tree.rules().map(|rule| rule.text.clone()));
                        Some(tree.name.text.clone())
                    }
                    _ => None,
                };
                visit::statements(std::slice::from_ref(node), &mut |statement| match statement {
                    Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. })
                        if own.as_ref() != Some(&call.procedure.text) =>
                    {
                        called.insert(call.procedure.text.clone());
                    }
                    Statement::Tasks(tasks) => {
                        called.extend(tasks.calls().map(|call| call.procedure.text.clone()))
                    }
                    _ => {}
                });
            }
            let is_replaced = |node: &StatementNode| match &node.statement {
                Statement::Procedure(tree) => {
                    let name = &tree.name.text;
                    !called.contains(name) && self.kept.keys().any(|(original, _)| original == name)
                }
                _ => false,
            };
            if !trees.iter().flatten().any(is_replaced) {
                return;
            }
            trees.iter_mut().for_each(|tree| tree.retain(|node| !is_replaced(node)));
        }
    }

    /// Returns true if a procedure, or one that it calls, names reals, so that it may push reals.
    fn has_reals(&self, procedure: &ProcedureNode, seen: &mut HashSet<CompactString>) -> bool {
        let classes = self.classes_in(procedure);
        let (mut found, mut called) = (false, Vec::new());
        visit::statements(&procedure.body, &mut |statement| {
            visit::expressions(statement, &mut |expression| {
                found |= class_of(expression, &classes) == Class::Real;
            });
            if let Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) = statement
            {
                called.extend(self.procedures.get(&call.procedure.text));
            }
        });
        let is_new = |it: &&ProcedureNode| seen.insert(it.name.text.clone());
        let called: Vec<&ProcedureNode> = called.into_iter().filter(is_new).collect();
        found || called.into_iter().any(|it| self.has_reals(it, seen))
    }

    /// Returns the classes of the names in a procedure.
    fn classes_in(&self, procedure: &ProcedureNode) -> Classes {
        let mut classes = self.classes.clone();
        for parameter in &procedure.parameters {
            classes.insert(parameter.name.text.clone(), parameter.class.unwrap_or(Class::Int));
        }
        declare(&procedure.body, &mut classes, &mut Vec::new());
        classes
    }
}
