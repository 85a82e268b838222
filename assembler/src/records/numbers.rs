//! Statements with complex, logarithmic and tropical numbers. Their cells are records, and each statement with such cells is
//! replaced by statements for the fields.
//!
//! | class | fields | a vacant cell is |
//! |---|---|---|
//! | `complex` | `re`, `im` | 0 |
//! | `log` | `log`, the natural logarithm of the magnitude; `negative`, 1 for a negative number | 1 |
//! | `tropical` | the cell itself; the product of two numbers is their sum, and their sum is the larger one | 1, which is 0 as a real |

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::update::{Action, Update};

use super::classes::NumberClass;
use super::fields::{of_field, place_at, with_value};
use super::values::Values;
use super::{Records, complex, logarithmic, tropical};
use crate::arrays::is_undone_move;
use crate::build;
use crate::source::Span;
use crate::tree::{
    Body, Compute, Expression, FieldNode, InstructionNode, Local, Name, Operands, Statement, StatementNode,
};
use crate::visit;

/// A statement that is replaced.
struct Replaced<'n> {
    instruction: &'n InstructionNode,
    target: &'n Expression,
    class: NumberClass,
}

impl Records {
    /// Returns the statements that replace an instruction with numbers of these classes; `None` if it has none.
    pub(super) fn numbers(&mut self, instruction: &InstructionNode, span: Span) -> Option<Body> {
        let Operands::Cells(cells) = &instruction.operands else { return None };
        let (targets, sources) = match instruction.update.action() {
            Action::Show => (&**cells, &[][..]),
            action => cells.split_at_checked(action.shape().targets())?,
        };
        let target = targets.first()?;
        let class = self.number_class(target);
        if class != Some(NumberClass::Tropical) && instruction.update.action() != Action::Show {
            let value = build::applied(instruction.function, sources.to_vec());
            self.refuse_tropical_source(&value);
        }
        if class.is_none() && !sources.iter().any(|source| self.has_numbers(source)) {
            return None;
        }
        let mut values = Values::new(self, instruction, span);
        let made = match class {
            Some(class) => {
                let replaced = Replaced { instruction, target, class };
                statements(&mut values, &replaced, (targets, sources))
            }
            None => {
                let value = build::applied(instruction.function, sources.to_vec());
                let value = Expression { span: span_of(sources, instruction), ..value };
                values.real(&value).map(|value| vec![with_value(instruction, target, value)])
            }
        };
        let (helpers, problems) = values.finish();
        self.diagnostics.extend(problems);
        let Some(made) = made else { return Some(Body::new()) };
        let nodes =
            made.into_iter().map(|statement| StatementNode { span, ..build::node(statement) }).collect();
        let place = span_of(sources, instruction);
        let mut body = computed(helpers, nodes, span);
        body.iter_mut().for_each(|node| place_in(node, place));
        Some(body)
    }

    /// Returns the statements that open or close a variable whose value has numbers of these classes; `None` if there are
    /// none. The class of the variable is that of the value, unless the statement names it.
    pub(super) fn number_variable(&mut self, local: &Local, (update, span): (Update, Span)) -> Option<Body> {
        let value = build::applied(local.function, local.sources.clone());
        let record = local.record.as_deref().map(|record| &record.text);
        let record = match update {
            Update::Sub => record.or_else(|| self.record(&local.name.text)),
            _ => record,
        };
        let declared = record.and_then(|record| NumberClass::of(record));
        if declared.is_none() {
            self.refuse_tropical_source(&value);
        }
        if local.sources.is_empty() || declared.is_none() && !self.has_numbers(&value) {
            return None;
        }
        let class = declared.or_else(|| self.class_of_value(&value));
        let node = |statement| StatementNode { span, ..build::node(statement) };
        let (record, real) = match class {
            Some(class) => (Some(Box::new(Name { text: class.name().into(), span: local.name.span })), None),
            None => (None, Some(Class::Real)),
        };
        let bare = Local {
            record,
            class: real.or(local.class),
            function: Function::Copy,
            sources: Vec::new(),
            ..local.clone()
        };
        let target = Expression { span: local.name.span, ..build::cell(&local.name.text) };
        let (open, update) = match (update, class) {
            (Update::Sub, Some(NumberClass::Log | NumberClass::Tropical)) => (false, Update::Div),
            (Update::Sub, _) => (false, Update::Sub),
            (_, Some(NumberClass::Log | NumberClass::Tropical)) => (true, Update::Mul),
            _ => (true, Update::Add),
        };
        let operands = Operands::Cells([target].into_iter().chain(local.sources.iter().cloned()).collect());
        let changed = InstructionNode { update, function: local.function, mnemonic: span, operands };
        let mut made = Body::new();
        if open {
            self.variable(node(Statement::Local(Box::new(bare))), &mut made);
            made.extend(self.numbers(&changed, span)?);
        } else {
            made.extend(self.numbers(&changed, span)?);
            self.variable(node(Statement::Delocal(Box::new(bare))), &mut made);
        }
        Some(made)
    }

    /// Replaces the functions of numbers of these classes whose values are reals, such as `abs(z)` in a condition.
    pub(super) fn replace_functions(&mut self, statement: &mut Statement) {
        let mut problems = Vec::new();
        visit::expressions_mut(statement, &mut |part| {
            if !self.yields_real(part) {
                return;
            }
            let place = part.span;
            let mut values = Values::inline(self, place);
            if let Some(mut value) = values.real(part) {
                visit::in_expression_mut(&mut value, &mut |inner| place_at(inner, place));
                *part = value;
            }
            problems.extend(values.finish().1);
        });
        self.diagnostics.extend(problems);
    }
}

/// Sets the places of the expressions of a statement that have none, so that diagnostics show the value.
fn place_in(node: &mut StatementNode, place: Span) {
    visit::expressions_mut(&mut node.statement, &mut |part| place_at(part, place));
    for body in node.statement.bodies_mut() {
        body.iter_mut().for_each(|node| place_in(node, place));
    }
}

fn span_of(sources: &[Expression], instruction: &InstructionNode) -> Span {
    match sources {
        [first, .., last] => first.span.to(last.span),
        [only] => only.span,
        [] => instruction.mnemonic,
    }
}

/// Returns statements that may use helper variables, which are computed before and uncomputed after them.
fn computed(parts: Vec<(CompactString, Expression)>, statements: Body, span: Span) -> Body {
    if parts.is_empty() {
        return statements;
    }
    let local = |(name, value): (CompactString, Expression)| {
        let name = Name { text: name, span };
        let (shape, function, sources) = (Vec::new(), Function::Copy, vec![value]);
        let class = Some(Class::Real);
        let local = Local { name, shape, class, record: None, function, sources };
        StatementNode { span, ..build::node(Statement::Local(Box::new(local))) }
    };
    let tree = Compute {
        body: parts.into_iter().map(local).collect(),
        middle: span,
        apply: statements,
        apply_comment: None,
        end_comment: None,
        end: span,
    };
    vec![StatementNode { span, ..build::node(Statement::Compute(Box::new(tree))) }]
}

/// Returns the statements for the fields of the target.
fn statements(
    values: &mut Values,
    replaced: &Replaced,
    (targets, sources): (&[Expression], &[Expression]),
) -> Option<Vec<Statement>> {
    let Replaced { instruction, target, class } = replaced;
    let fields = class.fields();
    let each = |cell: &Expression| -> Vec<Statement> {
        let with = |field: &FieldNode| {
            let operands = Operands::Cells([of_field(cell, field)].into());
            Statement::Instruction(InstructionNode { operands, ..(*instruction).clone() })
        };
        fields.iter().map(with).collect()
    };
    match instruction.update {
        Update::Swap => {
            let [a, b] = targets else { return None };
            values.swapped(instruction, a, b)
        }
        Update::Push | Update::Read | Update::Write | Update::Show | Update::Erase | Update::Vacate => {
            Some(each(target))
        }
        update if is_undone_move(update) => Some(each(target).into_iter().rev().collect()),
        _ => {
            let value = build::applied(instruction.function, sources.to_vec());
            let value = Expression { span: span_of(sources, instruction), ..value };
            match class {
                NumberClass::Complex => complex::statements(values, instruction, target, &value),
                NumberClass::Log => logarithmic::statements(values, instruction, target, &value),
                NumberClass::Tropical => tropical::statements(values, instruction, target, &value),
            }
        }
    }
}
