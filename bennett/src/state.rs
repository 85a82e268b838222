//! The cells of a state: all cells that change during a run. This module generates the statements that copy a state,
//! and those that set its initial values. Other modules decide where the statements are placed.

use std::collections::HashSet;

use compact_str::{CompactString, format_compact};
use reviver_assembler::tree::{
    BinaryOperator, Body, Expression, ExpressionKind, Initial, Operands, Statement, StatementNode,
};
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_isa::update::Update;

use crate::constant::{NamedConstants, value};
use reviver_assembler::keep::make::{self, node};

/// A cell or an array that belongs to the state.
#[derive(Clone, Debug)]
pub struct StateVariable {
    pub name: CompactString,
    pub class: Class,
    pub shape: Vec<Expression>,
    /// The role in the program's interface; variables of main's frame and registers are private.
    pub role: Role,
    pub initial: Option<Initial>,
    /// The array that holds the variable's values in all saved states.
    pub kept: CompactString,
    /// The separate cell for the result, if there is one. An `.inout` always has one, because its input is preserved,
    /// too. An `.out` needs one while segments use the variable's own cell.
    pub result: Option<CompactString>,
}

/// Names of the counters in generated loops over arrays.
#[derive(Clone, Debug)]
pub struct LoopCounters {
    pub row: CompactString,
    pub column: CompactString,
}

/// One element of a variable: its own cell, and its place in a saved state.
pub struct KeptPlace<'v> {
    variable: &'v StateVariable,
    indices: Vec<Expression>,
}

impl KeptPlace<'_> {
    pub fn own(&self) -> Expression {
        self.of(&self.variable.name)
    }

    /// Returns the element of another array at the same indices. Both arrays must have the same shape.
    pub fn of(&self, name: &str) -> Expression {
        if self.indices.is_empty() {
            make::cell(name)
        } else {
            make::element(name, self.indices.iter().cloned())
        }
    }

    pub fn kept(&self, state: &Expression) -> Expression {
        let within = match (&*self.indices, &*self.variable.shape) {
            ([row, column], [_, columns]) => {
                let before = make::binary(BinaryOperator::Multiply, row.clone(), columns.clone());
                Some(make::binary(BinaryOperator::Add, before, column.clone()))
            }
            (indices, _) => indices.first().cloned(),
        };
        make::element(&self.variable.kept, std::iter::once(state.clone()).chain(within))
    }
}

impl StateVariable {
    /// Returns true if the variable must end with its initial value.
    pub fn is_private(&self) -> bool {
        matches!(self.role, Role::Private | Role::In)
    }

    /// Returns true if the variable is an input.
    pub fn is_given(&self) -> bool {
        matches!(self.role, Role::In | Role::InOut)
    }

    /// Returns the number of cells, or `None` if a length isn't a constant.
    pub fn cells(&self, constants: &NamedConstants) -> Option<u64> {
        let mut lengths = self.shape.iter().map(|length| u64::try_from(value(length, constants)?).ok());
        lengths.try_fold(1u64, |all, length| all.checked_mul(length?))
    }

    /// Returns the shape of an array that holds `states` saved values of the variable.
    pub fn kept_shape(&self, states: Expression) -> Vec<Expression> {
        let cells = self.shape.iter().cloned().reduce(|a, b| make::binary(BinaryOperator::Multiply, a, b));
        std::iter::once(states).chain(cells).collect()
    }

    /// Returns loops that run a statement for each element.
    pub fn each(&self, counters: &LoopCounters, statement: impl Fn(&KeptPlace) -> Statement) -> Body {
        let names = [&counters.row, &counters.column];
        let indices = names.iter().zip(&self.shape).map(|(name, _)| make::cell(name)).collect();
        let mut body = vec![node(statement(&KeptPlace { variable: self, indices }))];
        for (length, name) in self.shape.iter().zip(names).rev() {
            body = vec![node(make::counted(name, length.clone(), body))];
        }
        body
    }

    /// Returns a statement for each element with an initial value other than 0.
    pub fn each_initial(
        &self,
        counters: &LoopCounters,
        constants: &NamedConstants,
        statement: impl Fn(&KeptPlace, Expression) -> Statement,
    ) -> Body {
        match &self.initial {
            None => Body::new(),
            Some(Initial::Every(value)) if is_zero(value) => Body::new(),
            Some(Initial::Every(value)) => self.each(counters, |place| statement(place, value.clone())),
            Some(Initial::Each(values)) => {
                let columns = self.shape.get(1).and_then(|columns| value(columns, constants)).unwrap_or(1);
                let columns = u64::try_from(columns).unwrap_or(1).max(1);
                let numbered = (0u64..).zip(values).filter(|(_, value)| !is_zero(value));
                numbered
                    .map(|(at, value)| {
                        let indices = match self.shape.len() {
                            0 => Vec::new(),
                            1 => vec![make::int(at)],
                            _ => vec![make::int(at / columns), make::int(at % columns)],
                        };
                        node(statement(&KeptPlace { variable: self, indices }, value.clone()))
                    })
                    .collect()
            }
        }
    }

    /// Returns the statement that erases a scalar at the end of the program. The variable must not be a result. Returns
    /// `None` for an array: a loop that erases the elements would be lossy, and add rounds. Instead the array stays in
    /// the last state, which is removed like all saved states.
    pub fn ended(&self) -> Option<StatementNode> {
        let place = KeptPlace { variable: self, indices: Vec::new() };
        self.shape.is_empty().then(|| node(make::update(Update::Erase, [place.own()])))
    }
}

fn is_zero(value: &Expression) -> bool {
    match value.kind {
        ExpressionKind::Int { value, .. } => value == 0,
        ExpressionKind::Real(value) => value == 0.0,
        _ => false,
    }
}

/// Returns the name of the array in which a variable is saved.
pub fn kept_name(name: &str) -> CompactString {
    format_compact!("kept_{name}")
}

/// Collects the names that statements may change: targets, and arguments of calls.
pub fn changed(body: &[StatementNode], names: &mut HashSet<CompactString>) {
    for node in body {
        if let Statement::Instruction(instruction) = &node.statement {
            match &instruction.operands {
                Operands::Cells(cells) => {
                    let targets = cells.iter().take(instruction.update.shape().targets());
                    names.extend(targets.filter_map(named));
                }
                Operands::Call(call) => names.extend(call.arguments.iter().filter_map(named)),
                _ => {}
            }
        }
        node.statement.bodies().into_iter().for_each(|inner| changed(inner, names));
    }
}

fn named(cell: &Expression) -> Option<CompactString> {
    match &cell.kind {
        ExpressionKind::Name { name, .. } => Some((**name).clone()),
        ExpressionKind::Element(element) => Some((*element.name).clone()),
        _ => None,
    }
}
