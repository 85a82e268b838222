//! Loops that are divided into segments, for the strategy `checkpoint=N`. A segment is executed, its result is copied, and
//! the segment is undone, which consumes its history. Then the result is exchanged for the state before the segment, and
//! this state is pushed. So the program keeps N states, and the history of one segment at a time. Each segment is executed
//! twice in the forward direction and twice in the backward direction. This is Bennett's method with a single level
//! ("Time/space trade-offs for reversible computation", 1989).
//!
//! ```text
//!         for segment in 0..N
//!             local low = from + segment * length
//!             local high = min(low + length, to)
//!             compute
//!                 for i in low..high … rof              ; pushes what it discards
//!             apply
//!                 add   copies[count], x                ; for each cell that the loop changes
//!                 add   count, 1
//!             uncompute
//!             sub   count, 1                            ; for each of these cells, in the opposite order
//!             swap  copies[count], x
//!             push  copies[count]
//!             …
//! ```
//!
//! The copies are in an array of the program, because the history is on the stacks meanwhile.

use std::collections::{BTreeMap, HashSet};

use compact_str::CompactString;
use reviver_isa::arith::Order;
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Rank};
use reviver_isa::names::register_class;
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::History;
use super::copies::CopyStore;
use crate::build;
use crate::diagnostic::Diagnostic;
use crate::keep::class::{Classes, class_of};
use crate::keep::make::{self, node};
use crate::tree::{
    Body, Compute, Directive, Expression, ExpressionKind, For, InstructionNode, LengthOf, Operands,
    ProcedureNode, Statement, StatementNode,
};
use crate::visit;

/// The lengths of the cells that a loop changes, by name; none for a scalar.
type ChangedCells = BTreeMap<CompactString, Vec<Expression>>;

impl History {
    /// Returns the body of a procedure whose loops are divided into `count` segments.
    pub(super) fn in_segments(&mut self, procedure: &ProcedureNode, classes: &Classes, count: u32) -> Body {
        let mut made = Body::new();
        for from in &procedure.body {
            match &from.statement {
                Statement::For(tree)
                    if tree.step.is_none() && !tree.reversed && self.lossy.discards(&tree.body) =>
                {
                    self.refuse_repeated(&tree.body);
                    let changed = self.changed(procedure, &tree.body);
                    self.segments(tree, (classes, &changed), count, &mut made);
                }
                _ => made.append(&mut self.kept_body(&vec![from.clone()], classes, true)),
            }
        }
        made
    }

    fn segments(
        &mut self,
        tree: &For,
        (classes, changed): (&Classes, &ChangedCells),
        count: u32,
        to: &mut Body,
    ) {
        let [segment, length, low, high] =
            ["segment", "length", "low", "high"].map(|name| self.names.fresh(name));
        let subtracted = |a: Expression, b: Expression| build::binary(BinaryOperator::Subtract, a, b);
        let added = |a: Expression, b: Expression| build::binary(BinaryOperator::Add, a, b);
        let span = subtracted(tree.to.clone(), tree.from.clone());
        let rounded = added(span, build::int(u64::from(count) - 1));
        let each = build::binary(BinaryOperator::Divide, rounded, build::int(u64::from(count)));
        let first = build::binary(BinaryOperator::Multiply, build::cell(&segment), build::cell(&length));
        let first = added(tree.from.clone(), first);
        let end = added(build::cell(&low), build::cell(&length));
        let end = make::applied(Function::Min, &[end, tree.to.clone()]);
        let local = |name: &str, value: &Expression| {
            make::variable(name, Class::Int, Function::Copy, std::slice::from_ref(value))
        };
        let open = |name: &str, value: &Expression| node(Statement::Local(local(name, value)));
        let close = |name: &str, value: &Expression| node(Statement::Delocal(local(name, value)));
        let body = self.kept_body(&tree.body, classes, true);
        let part = For { from: build::cell(&low), to: build::cell(&high), body, ..tree.clone() };
        let compute = Compute {
            body: vec![node(Statement::For(Box::new(part)))],
            apply: self.copies(changed, classes),
            apply_comment: None,
            end_comment: None,
            middle: tree.end,
            end: tree.end,
        };
        let mut own = vec![node(Statement::Compute(Box::new(compute)))];
        own.append(&mut self.exchanges(changed, classes));
        let is_needed = make::compare(Order::Lt, build::cell(&low), build::cell(&high));
        let whole = vec![
            open(&low, &first),
            open(&high, &end),
            build::guarded(is_needed, own),
            close(&high, &end),
            close(&low, &first),
        ];
        to.push(open(&length, &each));
        to.push(node(make::counted(&segment, build::int(u64::from(count)), whole)));
        to.push(close(&length, &each));
    }

    /// Returns statements that copy each changed cell.
    fn copies(&mut self, changed: &ChangedCells, classes: &Classes) -> Body {
        let mut made = Body::new();
        let counters = self.counters();
        for (name, lengths) in changed {
            let store = self.store(class_of(&build::cell(name), classes));
            made.append(&mut for_all((name, lengths), &counters, false, &|cell| {
                vec![
                    node(make::update(Update::Add, [store.next(), cell])),
                    node(make::update(Update::Add, [build::cell(&store.count), build::int(1)])),
                ]
            }));
        }
        made
    }

    /// Returns statements that exchange each changed cell for its copy, in the opposite order, and push the old values.
    fn exchanges(&mut self, changed: &ChangedCells, classes: &Classes) -> Body {
        let mut made = Body::new();
        let counters = self.counters();
        for (name, lengths) in changed.iter().rev() {
            let store = self.store(class_of(&build::cell(name), classes));
            made.append(&mut for_all((name, lengths), &counters, true, &|cell| {
                vec![
                    node(make::update(Update::Sub, [build::cell(&store.count), build::int(1)])),
                    node(make::update(Update::Swap, [store.next(), cell])),
                    node(make::update(Update::Push, [store.next()])),
                ]
            }));
        }
        made
    }

    /// Returns the names of the counters of loops over arrays.
    fn counters(&mut self) -> [CompactString; 2] {
        ["row", "column"].map(|name| self.names.fresh(name))
    }

    /// Returns the cells outside of a loop that the loop may change.
    fn changed(&mut self, procedure: &ProcedureNode, body: &Body) -> ChangedCells {
        let mut own = HashSet::new();
        visit::statements(body, &mut |statement| match statement {
            Statement::Local(local) => {
                own.insert(local.name.text.clone());
            }
            Statement::For(tree) => {
                own.insert(tree.counter.text.clone());
            }
            _ => {}
        });
        let (mut names, mut globals) = (Vec::new(), Vec::new());
        self.targets(body, &mut HashSet::new(), (&mut names, &mut globals));
        names.retain(|name| !own.contains(name));
        let is_hidden = |name: &&CompactString| own.contains(*name) || !self.is_global(procedure, name);
        if let Some(hidden) = globals.iter().find(is_hidden) {
            let message = format!(
                "a loop that is divided by `.strategy checkpoint` changes the program's `{hidden}`, which another `{hidden}` hides"
            );
            let place = procedure.name.span;
            let problem = Diagnostic::error(ProblemCode::NotTransformed, message, place, "in this procedure");
            self.problems.push(problem.help("give the procedure's variable another name"));
        }
        names.append(&mut globals);
        names.iter().filter_map(|name| Some((name.clone(), self.lengths_in(procedure, name)?))).collect()
    }

    /// Finds the names that statements may change: their targets, and the globals that called procedures change themselves.
    fn targets(
        &self,
        body: &Body,
        seen: &mut HashSet<CompactString>,
        (names, globals): (&mut Vec<CompactString>, &mut Vec<CompactString>),
    ) {
        let mut called = Vec::new();
        visit::statements(body, &mut |statement| match statement {
            Statement::Instruction(InstructionNode { operands: Operands::Cells(cells), update, .. }) => {
                names.extend(cells.iter().take(update.shape().targets()).filter_map(name_of));
            }
            Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
                let Some(procedure) = self.procedures.get(&call.procedure.text) else { return };
                let passed = procedure.parameters.iter().zip(&call.arguments);
                let changed = passed.filter(|(parameter, _)| parameter.passing == Passing::InOut);
                names.extend(changed.filter_map(|(_, argument)| name_of(argument)));
                called.push(procedure);
            }
            Statement::MacroUse { arguments, .. } => names.extend(arguments.iter().filter_map(name_of)),
            _ => {}
        });
        for procedure in called {
            if seen.insert(procedure.name.text.clone()) {
                let mut inner = Vec::new();
                self.targets(&procedure.body, seen, (&mut inner, globals));
                inner.retain(|name| self.is_global(procedure, name));
                globals.append(&mut inner);
            }
        }
    }

    /// Returns true if a name in a procedure denotes a cell of the program.
    fn is_global(&self, procedure: &ProcedureNode, name: &CompactString) -> bool {
        let is_parameter = procedure.parameters.iter().any(|it| it.name.text == *name);
        let is_own = own_lengths(&procedure.body, name).is_some();
        !is_parameter && !is_own && (self.lengths.contains_key(name) || register_class(name).is_some())
    }

    /// Returns the lengths of a variable in a procedure, none for a scalar. Returns `None` for a parameter that is only read,
    /// and for a name that denotes no variable.
    fn lengths_in(&self, procedure: &ProcedureNode, name: &CompactString) -> Option<Vec<Expression>> {
        if let Some(parameter) = procedure.parameters.iter().find(|it| it.name.text == *name) {
            let length = |dimension: Option<u64>| {
                let dimension = dimension.map(build::int);
                build::expression(ExpressionKind::Length(Box::new(LengthOf {
                    name: name.clone().into(),
                    dimension,
                })))
            };
            return match (parameter.passing, parameter.rank) {
                (Passing::In, _) => None,
                (_, Rank::Scalar) => Some(Vec::new()),
                (_, Rank::Vector) => Some(vec![length(None)]),
                (_, Rank::Matrix) => Some(vec![length(Some(0)), length(Some(1))]),
            };
        }
        own_lengths(&procedure.body, name)
            .or_else(|| self.lengths.get(name).cloned())
            .or_else(|| register_class(name).map(|_| Vec::new()))
    }

    /// Returns the array for copies of a class.
    fn store(&mut self, class: Class) -> CopyStore {
        if let Some(store) = self.stores.iter().find(|store| store.class == class) {
            return store.clone();
        }
        let (array, count) = (self.names.fresh("copies"), self.names.fresh("copies_count"));
        let store = CopyStore { class, array, count };
        self.stores.push(store.clone());
        store
    }

    /// Returns the declarations of the arrays for copies.
    pub(super) fn declared_stores(&self, capacity: u64) -> Body {
        let all = self.stores.iter().flat_map(|store| store.declared(capacity));
        all.collect()
    }
}

/// Returns statements for a scalar, or loops over all elements of an array.
fn for_all(
    (name, lengths): (&str, &[Expression]),
    counters: &[CompactString; 2],
    reversed: bool,
    statements: &dyn Fn(Expression) -> Body,
) -> Body {
    let counters = counters.get(..lengths.len()).unwrap_or_default();
    let cell = match counters.is_empty() {
        true => build::cell(name),
        false => make::element(name, counters.iter().map(|counter| build::cell(counter))),
    };
    let mut body = statements(cell);
    for (counter, length) in counters.iter().zip(lengths).rev() {
        let mut tree = build::for_each(counter, length.clone(), body);
        if let Statement::For(tree) = &mut tree.statement {
            tree.reversed = reversed;
        }
        body = vec![tree];
    }
    body
}

fn name_of(expression: &Expression) -> Option<CompactString> {
    match &expression.kind {
        ExpressionKind::Name { name, .. } => Some((**name).clone()),
        ExpressionKind::Element(element) => Some((*element.name).clone()),
        _ => None,
    }
}

/// Returns the lengths of a variable that a body declares; none for a scalar.
fn own_lengths(body: &Body, name: &CompactString) -> Option<Vec<Expression>> {
    body.iter().find_map(|node: &StatementNode| match &node.statement {
        Statement::Directive(Directive::Ancillas(declarations)) => {
            let own = declarations.iter().find(|it| it.name.text == *name)?;
            Some(own.shape.lengths().to_vec())
        }
        Statement::Local(local) if local.name.text == *name => Some(local.shape.clone()),
        other => other.bodies().into_iter().find_map(|inner| own_lengths(inner, name)),
    })
}
