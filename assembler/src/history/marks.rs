//! Marks on the stacks, which tell whose history is there. The mark of a call is a number that depends on the procedure, on
//! the names and indices of the arguments, and on the place of the caller: the hidden parameter that the caller was given.

use std::collections::{HashMap, HashSet};

use compact_str::{CompactString, format_compact};
use reviver_isa::codes::ProblemCode;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Passing, Rank, Word};
use reviver_isa::operator::BinaryOperator;
use reviver_isa::update::Update;

use super::lossy::{Lossy, strategy};
use crate::build;
use crate::diagnostic::Diagnostic;
use crate::format::spelled;
use crate::keep::make;
use crate::keep::names::UnusedNames;
use crate::tree::{
    Body, CallNode, Directive, Expression, ExpressionKind, InstructionNode, Operands, ParameterNode,
    ProcedureNode, Statement, StatementNode, Subscript,
};
use crate::visit;

/// The numbers from which marks are computed.
pub(super) struct Marks {
    /// The name of the hidden parameter of each procedure.
    places: HashMap<CompactString, CompactString>,
    /// The largest integer literal of the program.
    largest: u64,
    /// The number of each procedure, name and expression.
    numbers: HashMap<CompactString, u64>,
}

impl Marks {
    /// Adds the hidden parameter to the procedures from which calls reach one with a strategy, and to their calls.
    pub fn add(
        trees: &mut [Body],
        lossy: &Lossy,
        names: &mut UnusedNames,
        problems: &mut Vec<Diagnostic>,
    ) -> Marks {
        let reaching = reaching(trees, lossy);
        let word = trees.iter().flatten().find_map(|node| match &node.statement {
            Statement::Directive(Directive::Word { word }) => Some(*word),
            _ => None,
        });
        let largest = if word == Some(Word::W32) { i32::MAX as u64 } else { i64::MAX as u64 };
        let named = |it: &CompactString| (it.clone(), names.fresh(&format!("place_of_{it}")));
        let mut sorted: Vec<&CompactString> = reaching.iter().collect();
        sorted.sort();
        let places = sorted.into_iter().map(named).collect();
        let mut marks = Marks { places, largest, numbers: HashMap::new() };
        for tree in trees {
            for node in tree {
                match &mut node.statement {
                    Statement::Procedure(tree) if reaching.contains(&tree.name.text) => {
                        let owner = tree.name.text.clone();
                        marks.calls(Some(&owner), &mut tree.body, &reaching);
                        let parameter = marks.parameter(&owner);
                        tree.parameters.push(parameter);
                    }
                    Statement::Macro(tree) => refuse_calls(&tree.body, &reaching, problems),
                    _ => marks.calls(None, std::slice::from_mut(node), &reaching),
                }
            }
        }
        marks
    }

    fn parameter(&self, procedure: &str) -> ParameterNode {
        ParameterNode {
            passing: Passing::In,
            name: build::name(self.place_name(procedure)),
            rank: Rank::Scalar,
            class: None,
            record: None,
        }
    }

    /// Adds the places of the arguments to calls. `owner` is the procedure that contains the statements.
    fn calls(&mut self, owner: Option<&str>, body: &mut [StatementNode], reaching: &HashSet<CompactString>) {
        for node in body {
            let calls: Vec<&mut CallNode> = match &mut node.statement {
                Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => vec![call],
                _ => Vec::new(),
            };
            for call in calls.into_iter().filter(|call| reaching.contains(&call.procedure.text)) {
                let place = self.place_of(owner, call);
                call.arguments.push(place);
            }
            node.statement.bodies_mut().into_iter().for_each(|body| self.calls(owner, body, reaching));
        }
    }

    /// Returns the place of a call's arguments as an expression.
    fn place_of(&mut self, owner: Option<&str>, call: &CallNode) -> Expression {
        let mut place = match owner {
            Some(owner) if self.places.contains_key(owner) => build::cell(self.place_name(owner)),
            _ => build::int(0),
        };
        for argument in &call.arguments {
            let (name, subscripts) = match &argument.kind {
                ExpressionKind::Name { name, .. } => (name.to_string(), &[][..]),
                ExpressionKind::Element(element) => (element.name.to_string(), element.subscripts.as_slice()),
                _ => (spelled(argument), &[][..]),
            };
            let number = self.number(&format_compact!("{} {name}", owner.unwrap_or_default()));
            place = self.extended(place, build::int(number));
            for subscript in subscripts {
                // The kind of a subscript comes first, so that `v[0]`, `v[0..4]` and `v[0..4 step 2]` differ.
                let parts = match subscript {
                    Subscript::At(index) => vec![build::int(1), index.clone()],
                    Subscript::All => vec![build::int(2)],
                    Subscript::Span { from, to, step } => {
                        let step = step.clone().unwrap_or_else(|| build::int(1));
                        vec![build::int(3), from.clone(), to.clone(), step]
                    }
                };
                place = parts.into_iter().fold(place, |place, part| self.extended(place, part));
            }
        }
        place
    }

    fn place_name(&self, procedure: &str) -> &str {
        self.places.get(procedure).map_or("", CompactString::as_str)
    }

    fn extended(&self, place: Expression, part: Expression) -> Expression {
        if let (ExpressionKind::Int { value: place, .. }, ExpressionKind::Int { value: part, .. }) =
            (&place.kind, &part.kind)
        {
            let known = place.checked_mul(BASE).and_then(|product| product.checked_add(*part));
            if let Some(known) = known.filter(|known| *known <= self.largest) {
                return build::int(known);
            }
        }
        let product = build::binary(BinaryOperator::Multiply, place, build::int(BASE));
        build::binary(BinaryOperator::Add, product, part)
    }

    fn number(&mut self, name: &str) -> u64 {
        let next = self.numbers.len() as u64 + 1;
        *self.numbers.entry(name.into()).or_insert(next)
    }

    /// Appends statements that push the mark of a procedure, on the stack of reals, too, if the procedure pushes reals.
    pub fn push(&mut self, procedure: &str, has_reals: bool, names: &mut UnusedNames, body: &mut Body) {
        // A trap names this variable if calls are undone in a wrong order.
        let mark = names.fresh(&format!("history_of_{procedure}"));
        let number = self.number(procedure);
        let value = self.extended(build::cell(self.place_name(procedure)), build::int(number));
        let push = |class: Class, value: Expression| {
            [
                Statement::Local(make::variable(&mark, class, Function::Copy, &[value])),
                make::update(Update::Push, [make::cell(&mark)]),
                Statement::Delocal(make::nothing(&mark, class)),
            ]
        };
        body.extend(push(Class::Int, value).map(make::node));
        if has_reals {
            let value = build::real(number as f64 / 128.0 + MARK);
            body.extend(push(Class::Real, value).map(make::node));
        }
    }
}

/// The factor between the parts of a mark. It is odd, so that products of it don't lose bits.
const BASE: u64 = 1_000_003;

/// A number that marks of reals differ from other reals by.
const MARK: f64 = 0.314_159;

/// Returns the procedures that keep or discard values, those that they call, and those from which calls reach one of them. A
/// rule has the parameters of its procedure.
fn reaching(trees: &[Body], lossy: &Lossy) -> HashSet<CompactString> {
    let procedures: Vec<&ProcedureNode> = trees
        .iter()
        .flatten()
        .filter_map(|node| match &node.statement {
            Statement::Procedure(tree) => Some(&**tree),
            _ => None,
        })
        .collect();
    // Variants of these procedures keep a history, too.
    let (mut found, mut within): (HashSet<CompactString>, HashSet<CompactString>) = Default::default();
    loop {
        let before = found.len() + within.len();
        for tree in &procedures {
            if strategy(tree).is_some() || within.contains(&tree.name.text) {
                called(&tree.body, &mut within);
            }
            let rules = || tree.rules().map(|rule| rule.text.clone());
            let is_in = strategy(tree).is_some()
                || within.contains(&tree.name.text)
                || lossy.is_lossy(&tree.name.text)
                || calls_any(&tree.body, &found)
                || rules().any(|rule| found.contains(&rule));
            if is_in || found.contains(&tree.name.text) {
                found.insert(tree.name.text.clone());
                found.extend(rules());
            }
        }
        if found.len() + within.len() == before {
            return found;
        }
    }
}

/// Adds the procedures that statements call.
fn called(body: &Body, names: &mut HashSet<CompactString>) {
    visit::statements(body, &mut |statement| {
        if let Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) = statement {
            names.insert(call.procedure.text.clone());
        }
    });
}

fn calls_any(body: &Body, procedures: &HashSet<CompactString>) -> bool {
    body.iter().any(|node| match &node.statement {
        Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) => {
            procedures.contains(&call.procedure.text)
        }
        other => other.bodies().into_iter().any(|body| calls_any(body, procedures)),
    })
}

/// Reports a macro that calls a procedure with a strategy, because the macro's arguments aren't known here.
fn refuse_calls(body: &Body, reaching: &HashSet<CompactString>, problems: &mut Vec<Diagnostic>) {
    for node in body {
        if let Statement::Instruction(InstructionNode { operands: Operands::Call(call), .. }) =
            &node.statement
            && reaching.contains(&call.procedure.text)
        {
            let message = format!("a macro calls `{}`, which keeps a history", call.procedure.text);
            let problem = Diagnostic::error(
                ProblemCode::NotTransformed,
                message,
                call.procedure.span,
                "called in a macro",
            );
            problems.push(problem.help("write a procedure instead of the macro"));
        }
        node.statement.bodies().into_iter().for_each(|body| refuse_calls(body, reaching, problems));
    }
}
