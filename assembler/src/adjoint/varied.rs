//! The cells that may depend on a real input (*varied* cells). Other cells are constants, so their adjoints get no
//! contributions, and no partial derivative by them is computed: it need not exist. The machine's analysis
//! (`reviver-flow`) has the same granularity: one node for each variable of a procedure, with all its elements, whatever
//! the order of the statements.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::CompactString;
use reviver_isa::instruction::Class;
use reviver_isa::module::Passing;
use reviver_isa::update::{Action, Store};

use crate::scopes::{Bound, Names, local_node};
use crate::tree::{
    Body, CallNode, Expression, ExpressionKind, InstructionNode, Macro, Operands, ProcedureNode, Statement,
    StatementNode,
};

/// A variable: a global by its name, or a variable of a procedure or macro.
type Node = CompactString;

/// The procedures and macros of a program, by name.
pub(super) struct Definitions<'d> {
    pub procedures: &'d HashMap<CompactString, Rc<ProcedureNode>>,
    pub macros: &'d HashMap<CompactString, Rc<Macro>>,
}

/// Returns the varied variables of a program. `inputs` are the globals that it depends on, and the input tape if it
/// depends on the tape.
pub(super) fn varied(
    names: &Names,
    bodies: &[Body],
    definitions: Definitions<'_>,
    inputs: Vec<CompactString>,
) -> HashSet<Node> {
    let mut graph =
        Dependencies { definitions, edges: HashMap::new(), parameters: Vec::new(), open: Vec::new() };
    for body in bodies {
        graph.body(&mut names.clone(), body);
    }
    let mut varied: HashSet<Node> = inputs.iter().cloned().collect();
    let mut pending = inputs;
    while let Some(node) = pending.pop() {
        for to in graph.edges.get(&node).into_iter().flatten() {
            if varied.insert(to.clone()) {
                pending.push(to.clone());
            }
        }
    }
    varied
}

/// The nodes of stores; no variable has such a name.
pub(super) const INPUT_TAPE: &str = "input tape";
const STACK: &str = "stack of reals";
const OUTPUT_TAPE: &str = "output tape";

/// Which variables depend on which others.
struct Dependencies<'d> {
    definitions: Definitions<'d>,
    edges: HashMap<Node, HashSet<Node>>,
    /// The arguments of the macros that are being expanded, by parameter; innermost macro last.
    parameters: Vec<HashMap<CompactString, Vec<Node>>>,
    /// The names of these macros.
    open: Vec<CompactString>,
}

impl Dependencies<'_> {
    fn body(&mut self, names: &mut Names, body: &[StatementNode]) {
        names.visit(body, &mut |names, statement| self.statement(names, statement));
    }

    fn statement(&mut self, names: &Names, statement: &Statement) {
        match statement {
            Statement::Instruction(InstructionNode { update, operands, .. }) => match operands {
                Operands::Cells(cells) => self.update(names, update.action(), cells),
                Operands::Call(call) => self.call(names, call),
                Operands::Condition(_) | Operands::Branch { .. } => {}
            },
            Statement::Local(local) | Statement::Delocal(local) => {
                let target = vec![names.node(&local.name.text)];
                local.sources.iter().for_each(|source| self.depends(names, &target, source));
            }
            Statement::Tasks(tasks) => tasks.calls().for_each(|call| self.call(names, call)),
            Statement::MacroUse { name, arguments, .. } => self.expand(names, &name.text, arguments),
            _ => {}
        }
    }

    fn update(&mut self, names: &Names, action: Action, cells: &[Expression]) {
        let Some((target, sources)) = cells.split_first() else { return };
        let targets = self.nodes(names, target);
        match action {
            Action::Put(store) | Action::Take(store) => {
                let store = match store {
                    Store::Stack => STACK,
                    Store::Input => INPUT_TAPE,
                    Store::Output => OUTPUT_TAPE,
                };
                for node in targets {
                    self.edge(store.into(), node.clone());
                    self.edge(node, store.into());
                }
            }
            Action::Exchange | Action::Rotate => {
                let others: Vec<Node> = sources.first().map_or(Vec::new(), |cell| self.nodes(names, cell));
                for cell in cells {
                    self.depends(names, &targets, cell);
                    self.depends(names, &others, cell);
                }
            }
            _ => sources.iter().for_each(|source| self.depends(names, &targets, source)),
        }
    }

    fn call(&mut self, names: &Names, call: &CallNode) {
        let Some(procedure) = self.definitions.procedures.get(&call.procedure.text).cloned() else { return };
        let reals = || procedure.parameters.iter().filter(|it| it.class == Some(Class::Real));
        let node = |name: &CompactString| local_node(&procedure.name.text, name);
        for (parameter, argument) in procedure.parameters.iter().zip(&call.arguments) {
            let own = vec![node(&parameter.name.text)];
            self.depends(names, &own, argument);
            if parameter.passing == Passing::InOut {
                for target in self.nodes(names, argument) {
                    self.edge(own[0].clone(), target);
                }
            }
        }
        // A rule may compute any derivative.
        if procedure.rules().next().is_some() {
            for to in reals().filter(|it| it.passing == Passing::InOut) {
                for from in reals() {
                    self.edge(node(&from.name.text), node(&to.name.text));
                }
            }
        }
    }

    /// Adds the dependencies of a macro's body at a use.
    fn expand(&mut self, names: &Names, name: &CompactString, arguments: &[Expression]) {
        let Some(tree) = self.definitions.macros.get(name).filter(|_| !self.open.contains(name)).cloned()
        else {
            return;
        };
        let mut bound = HashMap::new();
        let mut nodes = HashMap::new();
        for (parameter, argument) in tree.parameters.iter().zip(arguments) {
            let kind = names.kind(argument);
            let parameter = parameter.text.clone();
            bound.insert(
                parameter.clone(),
                match names.is_constant(argument) {
                    true => Bound::Constant(kind),
                    false => Bound::cell(kind.class, names.is_scalar(argument)),
                },
            );
            nodes.insert(parameter, self.nodes(names, argument));
        }
        let mut inner = names.clone();
        inner.begin(name, bound);
        self.parameters.push(nodes);
        self.open.push(name.clone());
        self.body(&mut inner, &tree.body);
        self.open.pop();
        self.parameters.pop();
    }

    fn depends(&mut self, names: &Names, targets: &[Node], source: &Expression) {
        for from in self.nodes(names, source) {
            for to in targets {
                self.edge(from.clone(), to.clone());
            }
        }
    }

    fn edge(&mut self, from: Node, to: Node) {
        self.edges.entry(from).or_default().insert(to);
    }

    /// Returns the variables whose reals an expression's value depends on.
    fn nodes(&self, names: &Names, expression: &Expression) -> Vec<Node> {
        if names.kind(expression).class != Class::Real {
            return Vec::new();
        }
        let of = |name: &CompactString| {
            let passed = self.parameters.last().and_then(|parameters| parameters.get(name));
            passed.cloned().unwrap_or_else(|| vec![names.node(name)])
        };
        match &expression.kind {
            ExpressionKind::Name { name, .. } => of(name),
            ExpressionKind::Element(element) => of(&element.name),
            ExpressionKind::Unary(_, operand) => self.nodes(names, operand),
            ExpressionKind::Binary(_, sides) => {
                sides.iter().flat_map(|side| self.nodes(names, side)).collect()
            }
            ExpressionKind::Apply(application) => {
                application.sources.iter().flat_map(|source| self.nodes(names, source)).collect()
            }
            _ => Vec::new(),
        }
    }
}
