//! Expands macros, and renames locals and counters so that no name shadows another one. The meaning of statements is
//! preserved. The exception is `show`, which is removed because segments run repeatedly.

use std::collections::{BTreeMap, HashMap};

use compact_str::{CompactString, format_compact};
use reviver_assembler::diagnostic::Diagnostic;
use reviver_assembler::invert::invert_body;
use reviver_assembler::tree::{
    Application, Body, CallNode, Compute, Condition, ConditionKind, Element, Expression, ExpressionKind, For,
    If, InstructionNode, LengthOf, Local, Loop, Macro, Name, Operands, Statement, StatementNode, Subscript,
};
use reviver_isa::instruction::Class;
use reviver_isa::update::Update;

use reviver_assembler::keep::class::{Classes, class_of, class_of_applied};
use reviver_assembler::keep::make;
use reviver_assembler::keep::names::UnusedNames;

/// Stack of the visible names, each with the expression that replaces the name.
#[derive(Default)]
struct Meanings {
    /// Names with their meanings, innermost last. An entry becomes `None` when its name is removed, and is deleted when
    /// all later entries are removed.
    open: Vec<Option<(CompactString, Expression)>>,
    /// Indices in `open` of the meanings of a name, innermost last.
    places: HashMap<CompactString, Vec<usize>>,
}

impl Meanings {
    fn get(&self, name: &str) -> Option<&Expression> {
        let place = *self.places.get(name)?.last()?;
        self.open.get(place)?.as_ref().map(|(_, meaning)| meaning)
    }

    fn push(&mut self, name: CompactString, meaning: Expression) {
        self.places.entry(name.clone()).or_default().push(self.open.len());
        self.open.push(Some((name, meaning)));
    }

    /// Removes the innermost meaning of a name.
    fn remove(&mut self, name: &str) -> Option<Expression> {
        let place = self.places.get_mut(name)?.pop()?;
        let (_, meaning) = self.open.get_mut(place)?.take()?;
        while let Some(None) = self.open.last() {
            self.open.pop();
        }
        Some(meaning)
    }

    /// Returns the innermost visible name, if its index in `open` is at least `behind`.
    fn innermost(&self, behind: usize) -> Option<CompactString> {
        let last = self.open.get(behind..)?.last()?.as_ref();
        last.map(|(name, _)| name.clone())
    }
}

/// Names generated for a routine's scalars. A name is reused after its variable has ended, so that consecutive loops
/// have the same counter. Names of arrays aren't reused.
#[derive(Default)]
struct IssuedNames {
    /// For each generated name: the requested name, the class, and the number of names generated earlier.
    made: HashMap<CompactString, (CompactString, Class, usize)>,
    /// Names of variables that have ended, by requested name and class, in the order of generation.
    closed: HashMap<(CompactString, Class), BTreeMap<usize, CompactString>>,
}

impl IssuedNames {
    /// Takes the earliest generated name whose variable has ended, for a new variable. Returns `None` if there is
    /// none.
    fn reopen(&mut self, wanted: &CompactString, class: Class) -> Option<CompactString> {
        let closed = self.closed.get_mut(&(wanted.clone(), class))?;
        closed.pop_first().map(|(_, name)| name)
    }

    fn insert(&mut self, name: CompactString, wanted: CompactString, class: Class) {
        let before = self.made.len();
        self.made.insert(name, (wanted, class, before));
    }

    fn close(&mut self, name: &CompactString) {
        if let Some((wanted, class, before)) = self.made.get(name) {
            self.closed.entry((wanted.clone(), *class)).or_default().insert(*before, name.clone());
        }
    }
}

/// The expander of one routine's statements.
pub struct Expander<'p> {
    macros: &'p HashMap<CompactString, Macro>,
    names: UnusedNames,
    /// The classes of all names. The classes of locals and counters are added during expansion.
    pub classes: Classes,
    pub problems: Vec<Diagnostic>,
    issued: IssuedNames,
    uses: u32,
}

/// Context in which statements are expanded: the meanings of names, and the suffix that is appended to labels.
#[derive(Default)]
struct ExpansionScope {
    meanings: Meanings,
    suffix: CompactString,
}

impl<'p> Expander<'p> {
    /// Creates an expander; `names` are all names that new names must differ from.
    pub fn new(
        macros: &'p HashMap<CompactString, Macro>,
        names: UnusedNames,
        classes: Classes,
    ) -> Expander<'p> {
        Expander { macros, names, classes, problems: Vec::new(), issued: IssuedNames::default(), uses: 0 }
    }

    /// Returns the expanded statements of a routine. `renamed` has pairs of a name in the routine and its replacement.
    pub fn routine(&mut self, body: &Body, renamed: Vec<(CompactString, CompactString)>) -> Body {
        let mut meanings = Meanings::default();
        renamed.into_iter().for_each(|(name, other)| meanings.push(name, make::cell(&other)));
        self.body(body, &mut ExpansionScope { meanings, suffix: CompactString::default() })
    }

    /// Returns all names in use after the expansion, including new ones.
    pub fn into_names(self) -> UnusedNames {
        self.names
    }

    fn body(&mut self, body: &Body, scope: &mut ExpansionScope) -> Body {
        let mut expanded = Body::with_capacity(body.len());
        for node in body {
            self.node(node, scope, &mut expanded);
        }
        expanded
    }

    fn node(&mut self, node: &StatementNode, scope: &mut ExpansionScope, to: &mut Body) {
        let statement = match &node.statement {
            // `show` is removed, because segments run repeatedly. `fork` and `join` are removed, because
            // tasks run one after the other with one history.
            Statement::Instruction(instruction)
                if matches!(instruction.update, Update::Show | Update::Fork | Update::Join) =>
            {
                if node.label.is_none() {
                    return;
                }
                Statement::Empty
            }
            Statement::MacroUse { name, arguments, undo } => {
                to.extend(self.macro_use(node, name, arguments, *undo, scope));
                return;
            }
            Statement::Tasks(tasks) => {
                to.extend(self.body(&tasks.in_order(), scope));
                return;
            }
            statement => self.statement(statement, scope),
        };
        let label = node.label.as_ref().map(|label| Box::new(labelled(label, &scope.suffix)));
        to.push(StatementNode { label, statement, comment: node.comment.clone(), span: node.span });
    }

    fn statement(&mut self, statement: &Statement, scope: &mut ExpansionScope) -> Statement {
        match statement {
            Statement::Instruction(instruction) => Statement::Instruction(in_instruction(instruction, scope)),
            Statement::If(tree) => Statement::If(Box::new(self.branching(tree, scope))),
            Statement::Loop(tree) => Statement::Loop(Box::new(self.repetition(tree, scope))),
            Statement::For(tree) => Statement::For(Box::new(self.counted(tree, scope))),
            Statement::Compute(tree) => Statement::Compute(Box::new(self.compute(tree, scope))),
            Statement::Local(local) => Statement::Local(Box::new(self.local(local, scope))),
            Statement::Delocal(local) => Statement::Delocal(Box::new(self.delocal(local, scope))),
            _ => statement.clone(),
        }
    }

    fn branching(&mut self, tree: &If, scope: &mut ExpansionScope) -> If {
        If {
            entry: in_condition(&tree.entry, scope),
            then: self.body(&tree.then, scope),
            otherwise: tree.otherwise.as_ref().map(|body| self.body(body, scope)),
            exit: in_condition(&tree.exit, scope),
            ..tree.clone()
        }
    }

    fn repetition(&mut self, tree: &Loop, scope: &mut ExpansionScope) -> Loop {
        Loop {
            entry: in_condition(&tree.entry, scope),
            first: self.body(&tree.first, scope),
            again: tree.again.as_ref().map(|body| self.body(body, scope)),
            exit: in_condition(&tree.exit, scope),
            ..tree.clone()
        }
    }

    fn counted(&mut self, tree: &For, scope: &mut ExpansionScope) -> For {
        let (from, to) = (in_expression(&tree.from, scope), in_expression(&tree.to, scope));
        let counter = self.open(&tree.counter.text, Class::Int, true, scope);
        let body = self.body(&tree.body, scope);
        self.close(&tree.counter.text, scope);
        let counter = Name { text: counter, span: tree.counter.span };
        For { counter, from, to, body, ..tree.clone() }
    }

    /// Expands a `compute` block. The variables that its first body declares are visible in the second body, and end
    /// after it.
    fn compute(&mut self, tree: &Compute, scope: &mut ExpansionScope) -> Compute {
        let outside = scope.meanings.open.len();
        let body = self.body(&tree.body, scope);
        let apply = self.body(&tree.apply, scope);
        while let Some(innermost) = scope.meanings.innermost(outside) {
            self.close(&innermost, scope);
        }
        Compute { body, apply, ..tree.clone() }
    }

    fn local(&mut self, local: &Local, scope: &mut ExpansionScope) -> Local {
        let sources: Vec<Expression> = in_all(&local.sources, scope);
        let class = local.class.unwrap_or_else(|| match &*sources {
            [] => Class::Int,
            sources => class_of_applied(local.function, sources, &self.classes),
        });
        let name = self.open(&local.name.text, class, local.shape.is_empty(), scope);
        let shape = in_all(&local.shape, scope);
        Local {
            name: Name { text: name, ..local.name.clone() },
            shape,
            sources,
            class: local.class,
            ..local.clone()
        }
    }

    fn delocal(&mut self, local: &Local, scope: &mut ExpansionScope) -> Local {
        let name = renamed(&local.name.text, scope);
        self.close(&local.name.text, scope);
        let (sources, shape) = (in_all(&local.sources, scope), in_all(&local.shape, scope));
        Local { name: Name { text: name, ..local.name.clone() }, shape, sources, ..local.clone() }
    }

    /// Returns a name for a variable that a statement declares: a new name, or the name of an earlier variable that has
    /// ended.
    fn open(
        &mut self,
        wanted: &CompactString,
        class: Class,
        is_scalar: bool,
        scope: &mut ExpansionScope,
    ) -> CompactString {
        let reopened = if is_scalar { self.issued.reopen(wanted, class) } else { None };
        let name = reopened.unwrap_or_else(|| {
            let name = self.names.fresh(wanted);
            if is_scalar {
                self.issued.insert(name.clone(), wanted.clone(), class);
            }
            name
        });
        self.classes.insert(name.clone(), class);
        scope.meanings.push(wanted.clone(), make::cell(&name));
        name
    }

    fn close(&mut self, wanted: &CompactString, scope: &mut ExpansionScope) {
        let meaning = scope.meanings.remove(wanted);
        if let Some(ExpressionKind::Name { name, .. }) = meaning.map(|meaning| meaning.kind) {
            self.issued.close(&name);
        }
    }

    /// Expands a use of a macro. An argument that isn't a valid operand is computed into a variable before the
    /// macro's statements, and uncomputed after them.
    fn macro_use(
        &mut self,
        node: &StatementNode,
        name: &Name,
        arguments: &[Expression],
        undo: bool,
        scope: &mut ExpansionScope,
    ) -> Body {
        let macros = self.macros;
        let Some(definition) = macros.get(&name.text) else { return Body::new() };
        self.uses += 1;
        let mut inner =
            ExpansionScope { meanings: Meanings::default(), suffix: format_compact!("${}", self.uses) };
        let mut computed = Vec::new();
        for (parameter, argument) in definition.parameters.iter().zip(arguments) {
            let argument = in_expression(argument, scope);
            let meaning = if is_operand(&argument) {
                argument
            } else {
                self.computed(&parameter.text, argument, &mut computed)
            };
            inner.meanings.push(parameter.text.clone(), meaning);
        }
        let body = match invert_if(undo, &definition.body) {
            Ok(body) => body,
            Err(problems) => {
                self.problems
                    .extend(problems.into_iter().map(|problem| problem.with(node.span, "used here")));
                return Body::new();
            }
        };
        let mut expanded: Body =
            computed.iter().cloned().map(|local| make::node(Statement::Local(Box::new(local)))).collect();
        expanded.extend(self.body(&body, &mut inner));
        for local in computed.into_iter().rev() {
            self.issued.close(&local.name.text);
            expanded.push(make::node(Statement::Delocal(Box::new(local))));
        }
        match expanded.first_mut() {
            Some(first) if first.comment.is_none() => first.comment = node.comment.clone(),
            _ => {}
        }
        if let (Some(label), Some(first)) = (&node.label, expanded.first_mut()) {
            first.label = Some(Box::new(labelled(label, &scope.suffix)));
        }
        expanded
    }

    /// Returns a new variable, which is given the value of an argument.
    fn computed(
        &mut self,
        parameter: &CompactString,
        argument: Expression,
        to: &mut Vec<Local>,
    ) -> Expression {
        let class = class_of(&argument, &self.classes);
        let name = self.open(parameter, class, true, &mut ExpansionScope::default());
        to.push(*make::variable(&name, class, reviver_isa::function::Function::Copy, &[argument]));
        make::cell(&name)
    }
}

fn invert_if(undo: bool, body: &Body) -> Result<Body, Vec<Diagnostic>> {
    if undo { invert_body(body) } else { Ok(body.clone()) }
}

/// Returns true if an argument can replace a macro's parameter directly, without a variable for its value.
fn is_operand(argument: &Expression) -> bool {
    match &argument.kind {
        ExpressionKind::Unary(_, operand) => is_constant(operand),
        ExpressionKind::Binary(_, sides) => sides.iter().all(is_constant),
        ExpressionKind::Apply(_) | ExpressionKind::Length(_) | ExpressionKind::InText(_) => false,
        _ => true,
    }
}

fn is_constant(part: &Expression) -> bool {
    match &part.kind {
        ExpressionKind::Int { .. } | ExpressionKind::LongInt { .. } | ExpressionKind::Real(_) => true,
        ExpressionKind::Unary(_, operand) => is_constant(operand),
        ExpressionKind::Binary(_, sides) => sides.iter().all(is_constant),
        _ => false,
    }
}

fn labelled(label: &Name, suffix: &str) -> Name {
    Name { text: format_compact!("{}{suffix}", label.text), span: label.span }
}

/// Returns the name that replaces a variable's name.
fn renamed(name: &CompactString, scope: &ExpansionScope) -> CompactString {
    match scope.meanings.get(name).map(|meaning| &meaning.kind) {
        Some(ExpressionKind::Name { name, .. }) => (**name).clone(),
        _ => name.clone(),
    }
}

fn in_all<L: FromIterator<Expression>>(list: &[Expression], scope: &ExpansionScope) -> L {
    list.iter().map(|part| in_expression(part, scope)).collect()
}

fn in_expression(expression: &Expression, scope: &ExpansionScope) -> Expression {
    let of = |part: &Expression| in_expression(part, scope);
    let kind = match &expression.kind {
        ExpressionKind::Name { name, .. } => {
            return scope.meanings.get(name).cloned().unwrap_or_else(|| expression.clone());
        }
        ExpressionKind::Element(element) => ExpressionKind::Element(Box::new(in_element(element, scope))),
        ExpressionKind::Unary(operator, operand) => ExpressionKind::Unary(*operator, Box::new(of(operand))),
        ExpressionKind::Binary(operator, sides) => {
            let [left, right] = &**sides;
            ExpressionKind::Binary(*operator, Box::new([of(left), of(right)]))
        }
        ExpressionKind::Apply(application) => {
            let sources = in_all(&application.sources, scope);
            ExpressionKind::Apply(Box::new(Application { function: application.function, sources }))
        }
        ExpressionKind::Length(length) => {
            let name = std::rc::Rc::new(renamed(&length.name, scope));
            ExpressionKind::Length(Box::new(LengthOf { name, dimension: length.dimension.as_ref().map(of) }))
        }
        other => other.clone(),
    };
    Expression { kind, span: expression.span }
}

fn in_element(element: &Element, scope: &ExpansionScope) -> Element {
    let of = |part: &Expression| in_expression(part, scope);
    let subscripts = element.subscripts.iter().map(|subscript| match subscript {
        Subscript::At(index) => Subscript::At(of(index)),
        Subscript::All => Subscript::All,
        Subscript::Span { from, to, step } => {
            Subscript::Span { from: of(from), to: of(to), step: step.as_ref().map(of) }
        }
    });
    let name = std::rc::Rc::new(renamed(&element.name, scope));
    Element { name, adjoint: element.adjoint, subscripts: subscripts.collect() }
}

fn in_condition(condition: &Condition, scope: &ExpansionScope) -> Condition {
    let of = |part: &Condition| Box::new(in_condition(part, scope));
    let kind = match &condition.kind {
        ConditionKind::Always => ConditionKind::Always,
        ConditionKind::Forgotten => ConditionKind::Forgotten,
        ConditionKind::Compare(order, left, right) => {
            let of = |part: &Expression| Box::new(in_expression(part, scope));
            ConditionKind::Compare(*order, of(left), of(right))
        }
        ConditionKind::Not(inner) => ConditionKind::Not(of(inner)),
        ConditionKind::And(left, right) => ConditionKind::And(of(left), of(right)),
        ConditionKind::Or(left, right) => ConditionKind::Or(of(left), of(right)),
    };
    Condition { kind, span: condition.span }
}

fn in_instruction(instruction: &InstructionNode, scope: &ExpansionScope) -> InstructionNode {
    let operands = match &instruction.operands {
        Operands::Cells(cells) => Operands::Cells(in_all(cells, scope)),
        Operands::Condition(condition) => Operands::Condition(Box::new(in_condition(condition, scope))),
        Operands::Branch { partner, condition } => Operands::Branch {
            partner: Box::new(labelled(partner, &scope.suffix)),
            condition: Box::new(in_condition(condition, scope)),
        },
        Operands::Call(call) => Operands::Call(Box::new(CallNode {
            arguments: in_all(&call.arguments, scope),
            ..(**call).clone()
        })),
    };
    InstructionNode { operands, ..instruction.clone() }
}
