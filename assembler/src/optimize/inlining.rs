//! Inlining: the call of a procedure that is called once is replaced by the procedure's body.
//!
//! ```text
//! call double(x)           local half = a*0.5
//!                          add   x, half
//! .proc double(…)     →    delocal half = a*0.5
//! ```
//!
//! A variable of the procedure's frame becomes a local, with a new name if its name is visible at the call. Parameters
//! are replaced by the arguments. An argument that is computed becomes a local, as in a call.
//!
//! A procedure stays in these cases:
//!
//! - Its locals would need more steps than the call.
//! - It is called by several statements, by a cell's number, or in parallel.
//! - It has a rule, or it is one.
//! - It has labels, or uses macros.

mod refusals;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Rank};
use reviver_isa::update::Update;

use self::refusals::{Refusals, accepts_number};
use super::accesses::names_adjoint;
use super::effects::{own_names, visit_declared};
use super::program::{ProgramInPasses, cell_name};
use crate::build;
use crate::definitions::ProgramNames;
use crate::fresh::FreshNames;
use crate::invert::invert_body;
use crate::scopes::{Bound, CellShape, Names};
use crate::tree::{
    Body, CallNode, DeclarationNode, Directive, Expression, ExpressionKind, InstructionNode, Local, Operands,
    ParameterNode, ProcedureNode, Statement, StatementNode, Subscript,
};
use crate::visit;

/// Upper bound on the variables of a frame that become locals. A local without a value needs two steps, and so does a
/// call.
const LOCALS: usize = 1;

/// Replaces calls of procedures that are called once. Returns true if the program has changed.
pub(super) fn run(program: &mut ProgramInPasses) -> bool {
    let definitions = program.definitions();
    let candidates = candidates(program, &definitions);
    if candidates.is_empty() {
        return false;
    }
    let declared = declarations(program, &definitions);
    let mut fresh = std::mem::take(&mut program.fresh);
    let mut inlined = HashSet::new();
    program.rewrite(&definitions.names, &mut |names: &Names, node: StatementNode, made: &mut Body| {
        let body = call_of(&node.statement).filter(|_| node.label.is_none()).and_then(|(update, call)| {
            let procedure = candidates.get(&call.procedure.text)?;
            let body = Inlined { names, fresh: &mut fresh, definitions: &definitions, declared: &declared }
                .body(procedure, update, call)?;
            inlined.insert(call.procedure.text.clone());
            Some(body)
        });
        made.extend(body.unwrap_or_else(|| vec![node]));
    });
    program.fresh = fresh;
    program.rewrite(&definitions.names, &mut |_: &Names, node: StatementNode, made: &mut Body| {
        let is_inlined =
            matches!(&node.statement, Statement::Procedure(tree) if inlined.contains(&tree.name.text));
        if !is_inlined {
            made.push(node);
        }
    });
    !inlined.is_empty()
}

fn call_of(statement: &Statement) -> Option<(Update, &CallNode)> {
    match statement {
        Statement::Instruction(InstructionNode { update, operands: Operands::Call(call), .. }) => {
            Some((*update, call))
        }
        _ => None,
    }
}

/// Returns the procedures of the program's own file that one statement calls. They call no procedures of this kind, so
/// that each is complete when it is inlined.
fn candidates(
    program: &ProgramInPasses,
    definitions: &ProgramNames,
) -> HashMap<CompactString, Rc<ProcedureNode>> {
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut kept: HashSet<&str> = HashSet::new();
    let mut is_fixed = false;
    let all = std::iter::once(program.body()).chain(program.included());
    for body in all {
        visit::statements(body, &mut |statement| match statement {
            // The number of a procedure is its place among all. A region of tasks contains only calls.
            Statement::CallVia(_) => is_fixed = true,
            Statement::Instruction(InstructionNode { update: Update::Fork | Update::Join, .. }) => {
                is_fixed = true
            }
            Statement::Tasks(tasks) => kept.extend(tasks.calls().map(|call| call.procedure.text.as_str())),
            Statement::Procedure(tree) => {
                kept.extend(tree.rules().flat_map(|rule| [rule.text.as_str(), tree.name.text.as_str()]));
            }
            _ => {
                let called = call_of(statement).map(|(_, call)| call.procedure.text.as_str());
                called.into_iter().for_each(|name| *calls.entry(name).or_default() += 1);
            }
        });
    }
    if is_fixed {
        return HashMap::new();
    }
    let is_candidate = |name: &str| calls.get(name) == Some(&1) && !kept.contains(name);
    let own = program.body().iter().filter_map(|node| match &node.statement {
        Statement::Procedure(tree) if is_candidate(&tree.name.text) && is_plain(tree) => {
            Some(&tree.name.text)
        }
        _ => None,
    });
    let own: HashSet<&CompactString> = own.collect();
    let calls_no_candidate = |name: &CompactString| {
        let mut found = false;
        let body = definitions.procedures.get(name).map_or(&[][..], |tree| &tree.body);
        visit::statements(body, &mut |statement| {
            found |= call_of(statement).is_some_and(|(_, call)| own.contains(&call.procedure.text));
        });
        !found
    };
    let leaves = own.iter().copied().filter(|name| calls_no_candidate(name));
    leaves.filter_map(|name| Some((name.clone(), definitions.procedures.get(name)?.clone()))).collect()
}

/// Returns true if another procedure can contain a procedure's body.
fn is_plain(procedure: &ProcedureNode) -> bool {
    let mut is_plain = true;
    let mut has_label = |body: &Body| is_plain &= body.iter().all(|node| node.label.is_none());
    has_label(&procedure.body);
    visit::statements(&procedure.body, &mut |statement| {
        statement.bodies().into_iter().for_each(&mut has_label);
    });
    let ancillas =
        |node: &StatementNode| matches!(node.statement, Statement::Directive(Directive::Ancillas(_)));
    let own = procedure.body.iter().filter(|node| ancillas(node)).count();
    let mut directives = 0;
    visit::statements(&procedure.body, &mut |statement| {
        directives += usize::from(matches!(statement, Statement::Directive(_)));
        is_plain &= !names_adjoint(statement)
            && !matches!(statement, Statement::MacroUse { .. } | Statement::Tasks(_) | Statement::CallVia(_))
            && !matches!(
                statement,
                Statement::Instruction(InstructionNode { operands: Operands::Branch { .. }, .. })
            )
            // A `show` prints the name of its operand.
            && !matches!(statement, Statement::Instruction(InstructionNode { update: Update::Show, .. }));
    });
    is_plain && directives == own
}

/// The body of a procedure at a call.
struct Inlined<'i> {
    /// The names that are visible at the call.
    names: &'i Names,
    fresh: &'i mut FreshNames,
    definitions: &'i ProgramNames,
    /// For each name, the number of procedures that declare it, with main.
    declared: &'i HashMap<CompactString, usize>,
}

/// The arguments of a call.
#[derive(Default)]
struct Arguments {
    /// The expression or the name that replaces each name of the procedure.
    replacements: HashMap<CompactString, Expression>,
    /// The computed arguments, as locals that are open while the body runs.
    locals: Vec<Local>,
}

impl Inlined<'_> {
    /// Returns the statements that replace a call. Returns `None` if the call must stay.
    fn body(&mut self, procedure: &ProcedureNode, update: Update, call: &CallNode) -> Option<Body> {
        let own = own_names(procedure);
        let mut variables = own.iter().filter(|(_, is_parameter)| !**is_parameter).map(|(name, _)| name);
        if self.hides_global(procedure, &own) || variables.any(|name| self.names.declares(name)) {
            return None;
        }
        let mut arguments = self.arguments(procedure, call)?;
        for (name, _) in own.iter().filter(|(_, is_parameter)| !**is_parameter) {
            if self.declared.get(name) != Some(&1) {
                let renamed = self.fresh.fresh(name);
                arguments.replacements.insert(name.clone(), build::cell(&renamed));
            }
        }
        let body = match update {
            Update::Uncall => invert_body(&procedure.body).ok()?,
            _ => procedure.body.clone(),
        };
        arguments.around(body)
    }

    /// Returns true if the procedure uses a global whose name denotes another cell at the call.
    fn hides_global(&self, procedure: &ProcedureNode, own: &HashMap<CompactString, bool>) -> bool {
        let mut is_hidden = false;
        visit::statements(&procedure.body, &mut |statement| {
            visit::expressions(statement, &mut |part| {
                let global = cell_name(part).filter(|name| !own.contains_key(*name));
                is_hidden |= global.is_some_and(|name| self.names.node(name) != *name);
            });
        });
        is_hidden
    }

    fn arguments(&mut self, procedure: &ProcedureNode, call: &CallNode) -> Option<Arguments> {
        if Refusals::new(self.names, procedure, call).may_occur(procedure) {
            return None;
        }
        let mut arguments = Arguments::default();
        for (parameter, argument) in procedure.parameters.iter().zip(&call.arguments) {
            let name = &parameter.name.text;
            let value = if self.is_cell(parameter, argument)
                || self.is_number(parameter, argument) && accepts_number(self.names, procedure, name)
            {
                argument.clone()
            } else if parameter.passing == Passing::In && self.names.is_computed(argument) {
                let local = self.fresh.fresh(name);
                arguments.locals.push(Local {
                    name: build::name(&local),
                    shape: Vec::new(),
                    class: Some(parameter.class.unwrap_or(Class::Int)),
                    record: None,
                    function: Function::Copy,
                    sources: vec![argument.clone()],
                });
                build::cell(&local)
            } else {
                return None;
            };
            arguments.replacements.insert(name.clone(), value);
        }
        Some(arguments)
    }

    /// Returns true if an argument is a cell or a whole array that can replace a parameter. An element has constant
    /// indices, because the procedure may change other ones.
    fn is_cell(&self, parameter: &ParameterNode, argument: &Expression) -> bool {
        match &argument.kind {
            ExpressionKind::Name { name, adjoint: false } => self.rank(name) == Some(parameter.rank),
            ExpressionKind::Element(element) if !element.adjoint => {
                let is_literal = |index: &Expression| matches!(index.kind, ExpressionKind::Int { .. });
                let is_constant = |it: &Subscript| matches!(it, Subscript::At(index) if is_literal(index));
                element.subscripts.iter().all(is_constant)
            }
            _ => false,
        }
    }

    /// Returns true if an argument is a number of the parameter's class.
    fn is_number(&self, parameter: &ParameterNode, argument: &Expression) -> bool {
        let class = parameter.class.unwrap_or(Class::Int);
        parameter.passing == Passing::In
            && parameter.rank == Rank::Scalar
            && self.names.is_constant(argument)
            && self.names.kind(argument).class == class
    }

    /// Returns the rank of the cells that a name denotes; `None` if it isn't known.
    fn rank(&self, name: &str) -> Option<Rank> {
        let Bound::Cells { shape, .. } = self.names.find(name)? else { return None };
        let CellShape::Lengths(lengths) = shape else {
            let owner = self.definitions.procedures.get(self.names.owner())?;
            return owner.parameters.iter().find(|it| it.name.text == name).map(|it| it.rank);
        };
        match lengths.len() {
            0 => Some(Rank::Scalar),
            1 => Some(Rank::Vector),
            _ => Some(Rank::Matrix),
        }
    }
}

/// Returns for each name the number of procedures that declare it, with main.
fn declarations(program: &ProgramInPasses, definitions: &ProgramNames) -> HashMap<CompactString, usize> {
    let mut declared: HashMap<CompactString, usize> = HashMap::new();
    for tree in definitions.procedures.values() {
        own_names(tree).into_keys().for_each(|name| *declared.entry(name).or_default() += 1);
    }
    let mut of_main = HashSet::new();
    for node in program.body().iter().filter(|node| !matches!(node.statement, Statement::Procedure(_))) {
        visit_declared(std::slice::from_ref(node), &mut |name| of_main.extend([name.clone()]));
    }
    of_main.into_iter().for_each(|name| *declared.entry(name).or_default() += 1);
    declared
}

impl Arguments {
    /// Returns a body with the names of the call, between the declarations of its variables. Returns `None` if the
    /// declarations need more steps than the call.
    fn around(&self, body: Body) -> Option<Body> {
        let mut frame = Vec::new();
        let mut made = Body::new();
        for mut node in body {
            self.replace(&mut node);
            match node.statement {
                Statement::Directive(Directive::Ancillas(declarations)) => {
                    frame.extend(declarations.into_iter().map(local_of));
                }
                _ => made.push(node),
            }
        }
        if frame.len() > LOCALS || frame.iter().any(|local| !local.shape.is_empty()) {
            return None;
        }
        let opened: Vec<&Local> = self.locals.iter().chain(&frame).collect();
        let open = opened.iter().map(|local| build::node(Statement::Local(Box::new((*local).clone()))));
        let close =
            opened.iter().rev().map(|local| build::node(Statement::Delocal(Box::new((*local).clone()))));
        let close: Body = close.collect();
        Some(open.chain(made).chain(close).collect())
    }

    fn replace(&self, node: &mut StatementNode) {
        visit::expressions_mut(&mut node.statement, &mut |expression| self.replace_in(expression));
        match &mut node.statement {
            Statement::Local(local) | Statement::Delocal(local) => self.rename(&mut local.name.text),
            Statement::For(tree) => self.rename(&mut tree.counter.text),
            Statement::Directive(Directive::Ancillas(declarations)) => {
                declarations.iter_mut().for_each(|it| self.rename(&mut it.name.text));
            }
            _ => {}
        }
        for body in node.statement.bodies_mut() {
            body.iter_mut().for_each(|node| self.replace(node));
        }
    }

    fn replace_in(&self, expression: &mut Expression) {
        match &mut expression.kind {
            ExpressionKind::Name { name, .. } => {
                if let Some(value) = self.replacements.get(&**name) {
                    *expression = value.clone();
                }
            }
            ExpressionKind::Element(element) => self.rename(Rc::make_mut(&mut element.name)),
            ExpressionKind::Length(length) => self.rename(Rc::make_mut(&mut length.name)),
            _ => {}
        }
    }

    fn rename(&self, name: &mut CompactString) {
        if let Some(new) = self.replacements.get(name).and_then(cell_name) {
            *name = new.clone();
        }
    }
}

/// Returns the `local` for a variable of a frame.
fn local_of(declaration: DeclarationNode) -> Local {
    Local {
        shape: declaration.shape.lengths().to_vec(),
        class: Some(declaration.class.unwrap_or(Class::Int)),
        record: None,
        name: declaration.name,
        function: Function::Copy,
        sources: Vec::new(),
    }
}
