//! Activity: cells that are 0 in every run, because nothing but 0 is ever added to them. Terms with such a cell as a factor
//! are removed, and so are statements that add only such terms.
//!
//! In a gradient program, the adjoint of a cell is 0 in every run if the cell isn't *active*: if it doesn't depend on an
//! input, or doesn't affect the objective. So this pass is the activity analysis of reverse-mode differentiation (Hascoët
//! and Pascual, "The Tapenade automatic differentiation tool", 2013, section 4), applied after the construction.
//!
//! The analysis ignores the order of statements. A cell may be nonzero if it is an input, has an initial value, or is the
//! target of an update by an expression that may be nonzero. A product may be nonzero if both factors may be.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::module::{Passing, Role};
use reviver_isa::update::{Action, Store, Update};

use super::accesses::{MacroNames, mentioned, operands, reads_hidden_cell};
use super::aliases::may_alias;
use super::program::{ProgramInPasses, cell_name};
use super::stack_use::StacksUse;
use crate::build;
use crate::definitions::ProgramNames;
use crate::scopes::{Bound, Names, local_node};
use crate::tree::{
    Body, CallNode, DeclarationNode, Directive, Expression, ExpressionKind, Initial, InstructionNode,
    Operands, ShapeNode, Statement, StatementNode, UnaryOperator,
};
use crate::visit;

/// Upper bound on the evaluations of one expression. An expression that is evaluated more often counts as nonzero.
const EVALUATIONS: u32 = 64;

/// Removes terms that are always 0. Returns true if the program has changed.
pub(super) fn run(program: &mut ProgramInPasses) -> bool {
    let definitions = program.definitions();
    let stacks = StacksUse::of(program, &definitions);
    let nonzero = Analysis::of(program, &definitions, stacks).solve();
    let mut changed = false;
    program.rewrite(&definitions.names, &mut |names: &Names, mut node: StatementNode, made: &mut Body| {
        let zeros = Zeros { names, nonzero: &nonzero };
        if zeros.changes_nothing(&stacks, &node.statement) && node.label.is_none() {
            changed = true;
            return;
        }
        match zeros.simplify(&mut node.statement) {
            Effect::None if node.label.is_none() => changed = true,
            Effect::Changed => {
                changed = true;
                made.push(node);
            }
            Effect::None | Effect::Same => made.push(node),
        }
    });
    changed
}

/// The cells that are always 0, and the names that are visible at a statement.
struct Zeros<'z> {
    names: &'z Names,
    nonzero: &'z HashSet<CompactString>,
}

impl Zeros<'_> {
    fn is_zero_cell(&self, expression: &Expression) -> bool {
        let is_adjoint = match &expression.kind {
            ExpressionKind::Name { adjoint, .. } => *adjoint,
            ExpressionKind::Element(element) => element.adjoint,
            _ => return false,
        };
        cell_name(expression).is_some_and(|name| {
            !is_adjoint
                && matches!(self.names.find(name), Some(Bound::Cells { .. }))
                && !self.nonzero.contains(&self.names.node(name))
        })
    }

    /// Returns true for a statement that only moves or changes zeros.
    fn changes_nothing(&self, stacks: &StacksUse, statement: &Statement) -> bool {
        let Statement::Instruction(instruction) = statement else { return false };
        let Some((targets, _)) = operands(instruction) else { return false };
        let keeps_zeros = match instruction.update.action() {
            Action::Map => instruction.update != Update::Not,
            Action::Exchange | Action::Rotate | Action::Clear | Action::Erase(_) => true,
            Action::Put(Store::Stack) => stacks.is_unread_push(self.names, instruction),
            Action::Accumulate => matches!(instruction.update, Update::Rol | Update::Ror),
            _ => false,
        };
        keeps_zeros && !targets.is_empty() && targets.iter().all(|target| self.is_zero_cell(target))
    }

    /// Removes zero terms from the value that a statement adds or assigns.
    fn simplify(&self, statement: &mut Statement) -> Effect {
        match statement {
            Statement::Instruction(instruction) => self.simplify_update(instruction),
            Statement::Local(local) | Statement::Delocal(local)
                if !local.sources.iter().all(is_zero) && !reads_hidden_cell(local) =>
            {
                let value = build::applied(local.function, local.sources.clone());
                (local.function, local.sources) = match self.value(&value) {
                    Value::Same => return Effect::Same,
                    Value::Zero => {
                        // A `delocal` needn't state the class of its variable.
                        local.class = Some(self.names.kind(&build::cell(&local.name.text)).class);
                        (Function::Copy, Vec::new())
                    }
                    Value::Changed(value) => (Function::Copy, vec![value]),
                };
                Effect::Changed
            }
            _ => Effect::Same,
        }
    }

    fn simplify_update(&self, instruction: &mut InstructionNode) -> Effect {
        if !matches!(instruction.update, Update::Add | Update::Sub | Update::Xor) {
            return Effect::Same;
        }
        let Some((targets, sources)) = operands(instruction) else { return Effect::Same };
        let value = build::applied(instruction.function, sources.to_vec());
        match self.value(&value) {
            Value::Same => Effect::Same,
            Value::Zero => Effect::None,
            Value::Changed(_) if may_alias(self.names, targets, sources) => Effect::Same,
            Value::Changed(value) => {
                let cells = targets.iter().cloned().chain([value]).collect();
                (instruction.function, instruction.operands) = (Function::Copy, Operands::Cells(cells));
                Effect::Changed
            }
        }
    }

    /// Removes zero terms from an expression. Divisors and arguments of functions stay, because they may not be 0.
    fn value(&self, expression: &Expression) -> Value {
        match &expression.kind {
            _ if is_zero(expression) || self.is_zero_cell(expression) => Value::Zero,
            ExpressionKind::Unary(UnaryOperator::Negate, operand) => self.value(operand).map(build::negated),
            ExpressionKind::Binary(operator, sides) => self.applied(operator.function(), &**sides),
            ExpressionKind::Apply(application) => self.applied(application.function, &application.sources),
            _ => Value::Same,
        }
    }

    fn applied(&self, function: Function, sources: &[Expression]) -> Value {
        match (function, sources) {
            (Function::ToReal | Function::Abs | Function::Square, [a]) => match self.value(a) {
                Value::Zero => Value::Zero,
                _ => Value::Same,
            },
            (Function::Div, [a, b]) => self.value(a).map(|a| build::applied(function, vec![a, b.clone()])),
            (Function::Mul | Function::And, [a, b]) => match (self.value(a), self.value(b)) {
                (Value::Zero, _) | (_, Value::Zero) => Value::Zero,
                (left, right) => Value::joined(function, (left, a), (right, b)),
            },
            (Function::Sum | Function::Diff, [a, b]) => {
                if self.names.kind(a).class != self.names.kind(b).class {
                    return Value::Same;
                }
                match (self.value(a), self.value(b)) {
                    (Value::Zero, Value::Zero) => Value::Zero,
                    (left, Value::Zero) => Value::Changed(left.or(a)),
                    (Value::Zero, right) if function == Function::Sum => Value::Changed(right.or(b)),
                    (Value::Zero, right) => Value::Changed(build::negated(right.or(b))),
                    (left, right) => Value::joined(function, (left, a), (right, b)),
                }
            }
            _ => Value::Same,
        }
    }
}

/// The effect of the simplification on a statement.
enum Effect {
    Same,
    Changed,
    /// The statement adds 0.
    None,
}

/// An expression without zero terms.
enum Value {
    /// The expression has no zero terms.
    Same,
    Changed(Expression),
    Zero,
}

impl Value {
    fn map(self, change: impl FnOnce(Expression) -> Expression) -> Value {
        match self {
            Value::Changed(value) => Value::Changed(change(value)),
            other => other,
        }
    }

    fn or(self, original: &Expression) -> Expression {
        match self {
            Value::Changed(value) => value,
            _ => original.clone(),
        }
    }

    /// Returns a function of two values, neither of which is 0. Each is given with its original.
    fn joined(
        function: Function,
        (a, left): (Value, &Expression),
        (b, right): (Value, &Expression),
    ) -> Value {
        match (&a, &b) {
            (Value::Same, Value::Same) => Value::Same,
            _ => Value::Changed(build::applied(function, vec![a.or(left), b.or(right)])),
        }
    }
}

/// A condition under which a value may be nonzero.
#[derive(Clone, Debug)]
enum MayBeNonzero {
    Never,
    Always,
    /// If a cell may be nonzero, by its number.
    Cell(usize),
    Both(Box<[MayBeNonzero; 2]>),
    Either(Box<[MayBeNonzero; 2]>),
}

impl MayBeNonzero {
    fn both(a: MayBeNonzero, b: MayBeNonzero) -> MayBeNonzero {
        match (a, b) {
            (MayBeNonzero::Never, _) | (_, MayBeNonzero::Never) => MayBeNonzero::Never,
            (MayBeNonzero::Always, other) | (other, MayBeNonzero::Always) => other,
            (a, b) => MayBeNonzero::Both(Box::new([a, b])),
        }
    }

    fn either(a: MayBeNonzero, b: MayBeNonzero) -> MayBeNonzero {
        match (a, b) {
            (MayBeNonzero::Always, _) | (_, MayBeNonzero::Always) => MayBeNonzero::Always,
            (MayBeNonzero::Never, other) | (other, MayBeNonzero::Never) => other,
            (a, b) => MayBeNonzero::Either(Box::new([a, b])),
        }
    }

    fn holds(&self, nonzero: &[bool]) -> bool {
        match self {
            MayBeNonzero::Never => false,
            MayBeNonzero::Always => true,
            MayBeNonzero::Cell(cell) => nonzero.get(*cell).is_none_or(|it| *it),
            MayBeNonzero::Both(parts) => parts.iter().all(|part| part.holds(nonzero)),
            MayBeNonzero::Either(parts) => parts.iter().any(|part| part.holds(nonzero)),
        }
    }

    fn cells(&self, visit: &mut impl FnMut(usize)) {
        match self {
            MayBeNonzero::Never | MayBeNonzero::Always => {}
            MayBeNonzero::Cell(cell) => visit(*cell),
            MayBeNonzero::Both(parts) | MayBeNonzero::Either(parts) => {
                parts.iter().for_each(|part| part.cells(visit));
            }
        }
    }
}

/// A cell that may be nonzero under a condition.
struct Rule {
    cell: usize,
    condition: MayBeNonzero,
    evaluations: u32,
}

/// The cells of a program, and the conditions under which they may be nonzero.
struct Analysis<'d> {
    definitions: &'d ProgramNames,
    macros: MacroNames,
    numbers: HashMap<CompactString, usize>,
    rules: Vec<Rule>,
    /// The cells that may be nonzero without a condition.
    nonzero: Vec<usize>,
    /// The procedures that are called by name.
    called: HashSet<CompactString>,
    /// True if a cell selects a procedure to call.
    calls_any: bool,
    stacks: StacksUse,
    /// True if the program is an inverse, so that its garbage is given.
    is_inverse: bool,
}

impl<'d> Analysis<'d> {
    fn of(program: &ProgramInPasses, definitions: &'d ProgramNames, stacks: StacksUse) -> Analysis<'d> {
        let mut analysis = Analysis {
            definitions,
            macros: MacroNames::of(definitions),
            numbers: HashMap::new(),
            rules: Vec::new(),
            nonzero: Vec::new(),
            called: HashSet::new(),
            calls_any: false,
            stacks,
            is_inverse: program.is_inverse(),
        };
        program.visit(&definitions.names, &mut |names, statement| analysis.statement(names, statement));
        for tree in definitions.macros.values() {
            visit::statements(&tree.body, &mut |statement| analysis.called_in_macro(statement));
        }
        let rules: HashSet<&CompactString> =
            definitions.procedures.values().flat_map(|tree| tree.rules()).map(|rule| &rule.text).collect();
        for (name, tree) in &definitions.procedures {
            let is_any = analysis.calls_any
                || !analysis.called.contains(name)
                || tree.rule.is_some()
                || rules.contains(name);
            let parameters = tree.parameters.iter().filter(|_| is_any);
            parameters.for_each(|it| analysis.set(local_node(name, &it.name.text)));
        }
        analysis
    }

    /// Returns the nodes of the cells that may be nonzero.
    fn solve(mut self) -> HashSet<CompactString> {
        let mut nonzero = vec![false; self.numbers.len()];
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.numbers.len()];
        for (n, rule) in self.rules.iter().enumerate() {
            rule.condition.cells(&mut |cell| users.get_mut(cell).into_iter().for_each(|list| list.push(n)));
        }
        let unconditional = self.rules.iter().filter(|rule| rule.condition.holds(&nonzero)).map(|it| it.cell);
        let mut pending: Vec<usize> = unconditional.chain(std::mem::take(&mut self.nonzero)).collect();
        while let Some(cell) = pending.pop() {
            let Some(is_nonzero) = nonzero.get_mut(cell) else { continue };
            if std::mem::replace(is_nonzero, true) {
                continue;
            }
            for n in users.get_mut(cell).map(std::mem::take).unwrap_or_default() {
                let Some(rule) = self.rules.get_mut(n) else { continue };
                rule.evaluations += 1;
                if rule.evaluations > EVALUATIONS || rule.condition.holds(&nonzero) {
                    pending.push(rule.cell);
                }
            }
        }
        let is_nonzero = |n: usize| nonzero.get(n).is_some_and(|it| *it);
        self.numbers.into_iter().filter(|(_, n)| is_nonzero(*n)).map(|(node, _)| node).collect()
    }

    fn number(&mut self, node: CompactString) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(node).or_insert(next)
    }

    fn set(&mut self, node: CompactString) {
        let cell = self.number(node);
        self.nonzero.push(cell);
    }

    fn set_all(&mut self, names: &Names, expression: &Expression) {
        mentioned(names, expression, &mut |node| self.set(node));
    }

    fn rule(&mut self, names: &Names, target: &Expression, condition: MayBeNonzero) {
        if let Some(name) = cell_name(target) {
            self.rule_of(names.node(name), condition);
        }
    }

    fn rule_of(&mut self, node: CompactString, condition: MayBeNonzero) {
        let cell = self.number(node);
        match condition {
            MayBeNonzero::Never => {}
            MayBeNonzero::Always => self.nonzero.push(cell),
            condition => self.rules.push(Rule { cell, condition, evaluations: 0 }),
        }
    }

    fn statement(&mut self, names: &Names, statement: &Statement) {
        match statement {
            Statement::Directive(Directive::Globals { role, declarations }) => {
                let is_given =
                    matches!(role, Role::In | Role::InOut) || self.is_inverse && *role == Role::Garbage;
                declarations.iter().for_each(|it| self.declaration(names, is_given, it));
            }
            Statement::Directive(Directive::Ancillas(declarations)) => {
                declarations.iter().for_each(|it| self.declaration(names, false, it));
            }
            Statement::Instruction(instruction) => self.instruction(names, instruction),
            Statement::Local(local) if reads_hidden_cell(local) => self.set(names.node(&local.name.text)),
            Statement::Local(local) if !local.sources.is_empty() => {
                let value = self.applied(names, local.function, &local.sources);
                self.rule_of(names.node(&local.name.text), value);
            }
            Statement::For(tree) => self.set(names.own_node(&tree.counter.text)),
            Statement::Tasks(tasks) => {
                let counters = tasks.rounds().map(|tree| names.own_node(&tree.counter.text));
                counters.into_iter().for_each(|node| self.set(node));
                tasks.calls().for_each(|call| {
                    call.arguments.iter().for_each(|argument| self.set_all(names, argument));
                    self.set_parameters(call);
                });
            }
            Statement::CallVia(call) => {
                self.calls_any = true;
                call.arguments.iter().for_each(|argument| self.set_all(names, argument));
            }
            Statement::MacroUse { name, arguments, .. } => {
                arguments.iter().for_each(|argument| self.set_all(names, argument));
                for node in self.macros.nodes(names, &name.text) {
                    self.set(node);
                }
            }
            _ => {}
        }
    }

    fn declaration(&mut self, names: &Names, is_given: bool, declaration: &DeclarationNode) {
        let is_zero = |initial: &Initial| matches!(initial, Initial::Every(value) if is_zero(value));
        let starts_at_zero = declaration.initial.iter().chain(&declaration.default).all(is_zero);
        if is_given || !starts_at_zero || matches!(declaration.shape, ShapeNode::Stack) {
            self.set(names.node(&declaration.name.text));
        }
    }

    fn instruction(&mut self, names: &Names, instruction: &InstructionNode) {
        if let Operands::Call(call) = &instruction.operands {
            return self.call(names, call);
        }
        let Some((targets, sources)) = operands(instruction) else { return };
        let Some(target) = targets.first() else { return };
        match (instruction.update.action(), instruction.update) {
            (Action::Accumulate, Update::Rol | Update::Ror) => {}
            (Action::Accumulate, Update::Add | Update::Sub | Update::Xor) | (Action::Replace, _) => {
                let value = self.applied(names, instruction.function, sources);
                self.rule(names, target, value);
            }
            (Action::Map, Update::Neg) | (Action::Clear | Action::Erase(_), _) => {}
            // Another move would take a value where its procedure runs backward.
            (Action::Put(Store::Stack), _) if self.stacks.is_unread_push(names, instruction) => {}
            (Action::Exchange | Action::Rotate, _) => {
                let values: Vec<MayBeNonzero> = targets.iter().map(|cell| self.value(names, cell)).collect();
                for (cell, value) in targets.iter().zip(values.into_iter().rev()) {
                    self.rule(names, cell, value);
                }
            }
            _ => targets.iter().for_each(|cell| self.set_all(names, cell)),
        }
    }

    fn call(&mut self, names: &Names, call: &CallNode) {
        let Some(procedure) = self.definitions.procedures.get(&call.procedure.text) else { return };
        self.called.insert(call.procedure.text.clone());
        for (parameter, argument) in procedure.parameters.iter().zip(&call.arguments) {
            let node = local_node(&procedure.name.text, &parameter.name.text);
            let value = self.value(names, argument);
            self.rule_of(node.clone(), value);
            if parameter.passing == Passing::InOut {
                let own = MayBeNonzero::Cell(self.number(node));
                self.rule(names, argument, own);
            }
        }
    }

    /// Sets the parameters of the procedures that a macro calls, because the arguments depend on the use.
    fn called_in_macro(&mut self, statement: &Statement) {
        match statement {
            Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
                self.set_parameters(call);
            }
            Statement::Tasks(tasks) => tasks.calls().for_each(|call| self.set_parameters(call)),
            Statement::CallVia(_) => self.calls_any = true,
            _ => {}
        }
    }

    fn set_parameters(&mut self, call: &CallNode) {
        let Some(procedure) = self.definitions.procedures.get(&call.procedure.text) else { return };
        let nodes = procedure.parameters.iter().map(|it| local_node(&procedure.name.text, &it.name.text));
        nodes.for_each(|node| self.set(node));
    }

    /// Returns the condition under which a function's value may be nonzero.
    fn applied(&mut self, names: &Names, function: Function, sources: &[Expression]) -> MayBeNonzero {
        match (function, sources) {
            (Function::Copy | Function::ToReal | Function::Abs | Function::Square, [a]) => {
                self.value(names, a)
            }
            (Function::Mul | Function::And, [a, b]) => {
                MayBeNonzero::both(self.value(names, a), self.value(names, b))
            }
            (Function::Div, [a, _]) => self.value(names, a),
            (Function::Sum | Function::Diff, [a, b]) => {
                MayBeNonzero::either(self.value(names, a), self.value(names, b))
            }
            _ => MayBeNonzero::Always,
        }
    }

    /// Returns the condition under which an expression may be nonzero.
    fn value(&mut self, names: &Names, expression: &Expression) -> MayBeNonzero {
        match &expression.kind {
            _ if is_zero(expression) => MayBeNonzero::Never,
            ExpressionKind::Name { name, adjoint: false } => self.cell(names, name),
            ExpressionKind::Element(element) if !element.adjoint => self.cell(names, &element.name),
            ExpressionKind::Unary(UnaryOperator::Negate, operand) => self.value(names, operand),
            ExpressionKind::Binary(operator, sides) => self.applied(names, operator.function(), &**sides),
            ExpressionKind::Apply(application) => {
                self.applied(names, application.function, &application.sources)
            }
            _ => MayBeNonzero::Always,
        }
    }

    fn cell(&mut self, names: &Names, name: &str) -> MayBeNonzero {
        match names.find(name) {
            Some(Bound::Cells { .. }) => MayBeNonzero::Cell(self.number(names.node(name))),
            _ => MayBeNonzero::Always,
        }
    }
}

/// Returns true for the number 0.
fn is_zero(expression: &Expression) -> bool {
    match expression.kind {
        ExpressionKind::Int { value, .. } => value == 0,
        ExpressionKind::Real(value) => value == 0.0,
        _ => false,
    }
}
