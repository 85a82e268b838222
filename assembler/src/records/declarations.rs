//! Declarations of records: globals, ancillas, parameters and locals become those of the fields.

use compact_str::format_compact;
use reviver_isa::codes::ProblemCode;
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use super::classes::NumberClass;
use super::{Records, VisibleName, append, text_of, with_first};
use crate::diagnostic::Diagnostic;
use crate::tree::{
    Body, DeclarationNode, FieldNode, Initial, Local, Name, ParameterNode, ShapeNode, Statement,
    StatementNode,
};

impl Records {
    pub(super) fn declarations(&mut self, declarations: Vec<DeclarationNode>) -> Vec<DeclarationNode> {
        let mut made = Vec::with_capacity(declarations.len());
        for mut declaration in declarations {
            let Some(record) = declaration.record.take() else {
                made.push(declaration);
                continue;
            };
            let Some(fields) = self.fields_of(&record) else { continue };
            if matches!(declaration.shape, ShapeNode::Stack) {
                self.refuse_stack(&declaration.name);
                continue;
            }
            let class = NumberClass::of(&record.text);
            let counts = declaration.initial.iter().chain(&declaration.default);
            if let Some(count) = counts.filter_map(count).find(|count| count % fields.len() != 0) {
                self.refuse_values(&declaration.name, count, fields.len());
                continue;
            }
            for (n, field) in fields.iter().enumerate() {
                let share = |initial: &Option<Initial>| {
                    let initial = initial.as_ref()?;
                    let of_class = class.and_then(|class| class.initial(initial)?.into_iter().nth(n));
                    Some(of_class.unwrap_or_else(|| of_field(initial, n, fields.len())))
                };
                made.push(DeclarationNode {
                    name: field_name(&declaration.name, field),
                    class: declaration.class.or(field.class),
                    initial: share(&declaration.initial),
                    default: share(&declaration.default),
                    ..declaration.clone()
                });
            }
        }
        made
    }

    fn refuse_stack(&mut self, name: &Name) {
        let problem = Diagnostic::error(
            ProblemCode::NoSuchShape,
            "records can't be moved to a stack",
            name.span,
            "a stack has values of one class",
        );
        self.diagnostics.push(problem.help("declare an array: write a length, such as `[10]`"));
    }

    fn refuse_values(&mut self, name: &Name, values: usize, fields: usize) {
        let noun = if values == 1 { "value" } else { "values" };
        let message = format!("{values} {noun} for records of {fields} fields");
        let label = "expected the values of all fields of the first element, then of the second, and so on";
        self.diagnostics.push(Diagnostic::error(ProblemCode::ValuesDoNotFit, message, name.span, label));
    }

    pub(super) fn parameters(&mut self, parameters: Vec<ParameterNode>) -> Vec<ParameterNode> {
        let mut made = Vec::with_capacity(parameters.len());
        for mut parameter in parameters {
            let Some(record) = parameter.record.take() else {
                made.push(parameter);
                continue;
            };
            let Some(fields) = self.fields_of(&record) else { continue };
            made.extend(fields.iter().map(|field| ParameterNode {
                name: field_name(&parameter.name, field),
                class: parameter.class.or(field.class),
                ..parameter.clone()
            }));
        }
        made
    }

    /// Replaces a `local` or a `delocal`, and opens or closes its name.
    pub(super) fn variable(&mut self, mut node: StatementNode, made: &mut Body) {
        match &mut node.statement {
            Statement::Local(local) => {
                if let Some(body) = self.number_variable(local, (Update::Add, node.span)) {
                    return append(node, body, made);
                }
                self.visible.push(VisibleName {
                    name: local.name.text.clone(),
                    record: text_of(local.record.as_deref()),
                    is_array: !local.shape.is_empty(),
                });
                if let Some(fields) = self.fields_of_local(local) {
                    let opened = fields.into_iter().map(|field| Statement::Local(Box::new(field)));
                    return made.extend(with_first(node, opened.collect()));
                }
            }
            Statement::Delocal(local) => {
                if let Some(body) = self.number_variable(local, (Update::Sub, node.span)) {
                    return append(node, body, made);
                }
                if local.record.is_none()
                    && let Some(record) = self.record(&local.name.text)
                {
                    local.record = Some(Box::new(Name { text: record.clone(), span: local.name.span }));
                }
                let fields = self.fields_of_local(local);
                if let Some(at) = self.visible.iter().rposition(|it| it.name == local.name.text) {
                    self.visible.remove(at);
                }
                if let Some(fields) = fields {
                    let closed = fields.into_iter().rev().map(|field| Statement::Delocal(Box::new(field)));
                    return made.extend(with_first(node, closed.collect()));
                }
            }
            _ => {}
        }
        self.check(&mut node.statement);
        made.push(node);
    }

    fn fields_of_local(&mut self, local: &mut Local) -> Option<Vec<Local>> {
        let record = local.record.take()?;
        if !local.sources.is_empty() {
            let problem = Diagnostic::error(
                ProblemCode::NoSuchBeginning,
                "a local record can't have a value",
                local.name.span,
                "its fields begin and end as 0",
            );
            self.diagnostics.push(problem.help("add values to the fields after the `local`"));
            return Some(Vec::new());
        }
        let fields = self.fields_of(&record)?;
        let of_field = |field: &FieldNode| Local {
            name: field_name(&local.name, field),
            class: Some(local.class.or(field.class).unwrap_or(Class::Int)),
            ..local.clone()
        };
        Some(fields.iter().map(of_field).collect())
    }
}

fn count(initial: &Initial) -> Option<usize> {
    match initial {
        Initial::Every(_) => None,
        Initial::Each(values) => Some(values.len()),
    }
}

/// Returns the values of field `n`: a list has the fields of the first element, then those of the second, and so on.
fn of_field(initial: &Initial, n: usize, fields: usize) -> Initial {
    match initial {
        Initial::Every(value) => Initial::Every(value.clone()),
        Initial::Each(values) => Initial::Each(values.iter().skip(n).step_by(fields).cloned().collect()),
    }
}

fn field_name(record: &Name, field: &FieldNode) -> Name {
    let text = match field.name.text.as_str() {
        "" => record.text.clone(),
        field => format_compact!("{}.{field}", record.text),
    };
    Name { text, span: record.span }
}
