//! The cells that the names of a program denote: their classes and shapes, scope by scope. This module reads
//! declarations, and creates no statements.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use compact_str::{CompactString, format_compact};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Rank, RealSystem};
use reviver_isa::names::register_class;

use crate::build;
use crate::depths::Depths;
use crate::lower::signature::{SourceKind, signature};
use crate::tree::{
    DeclarationNode, Directive, Expression, ExpressionKind, For, Local, ParameterNode, ShapeNode, Statement,
    StatementNode, Subscript,
};

/// A name: cells, or a constant argument of a macro.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    Cells { class: Class, shape: CellShape },
    Constant(SourceKind),
}

impl Bound {
    /// Returns a cell, or cells whose shape isn't known.
    pub fn cell(class: Class, is_scalar: bool) -> Bound {
        let shape = if is_scalar { CellShape::Lengths(Vec::new()) } else { CellShape::Other };
        Bound::Cells { class, shape }
    }

    fn parameter(parameter: &ParameterNode) -> Bound {
        let shape = match parameter.rank {
            Rank::Scalar => CellShape::Lengths(Vec::new()),
            Rank::Vector | Rank::Matrix => CellShape::Slice(parameter.rank),
        };
        Bound::Cells { class: parameter.class.unwrap_or(Class::Int), shape }
    }

    pub fn constant(class: Class, stands_for_real: bool) -> Bound {
        Bound::Constant(SourceKind { class, stands_for_real })
    }
}

/// The shape of cells.
#[derive(Clone, Debug)]
pub(crate) enum CellShape {
    /// The declared lengths; none for a scalar.
    Lengths(Vec<Expression>),
    /// An array of this rank, whose lengths the call determines.
    Slice(Rank),
    /// A stack, or an argument of a macro.
    Other,
}

/// The names that are visible at a statement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Shared, because each use of a macro continues with a copy of the names.
    globals: Rc<HashMap<CompactString, Bound>>,
    constants: Rc<HashMap<CompactString, Expression>>,
    current: LocalNames,
    /// The variables that may depend on an input; all of them if it is `None`.
    varied: Option<Rc<HashSet<CompactString>>>,
    /// The number system of reals, if the program states it.
    reals: Option<RealSystem>,
}

/// The names of a procedure or macro.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalNames {
    /// The name of the procedure or macro; empty for main.
    owner: CompactString,
    /// The open scopes, outermost first.
    scopes: Vec<HashMap<CompactString, Bound>>,
}

impl Names {
    /// Reads the declarations of globals and constants of a file.
    pub fn declare(&mut self, body: &[StatementNode]) {
        for node in body {
            match &node.statement {
                Statement::Directive(Directive::Globals { declarations, .. }) => {
                    let named = declarations.iter().map(|it| (it.name.text.clone(), declared(it)));
                    Rc::make_mut(&mut self.globals).extend(named);
                }
                Statement::Directive(Directive::Const { name, value }) => {
                    Rc::make_mut(&mut self.constants).insert(name.text.clone(), (**value).clone());
                }
                Statement::Directive(Directive::Real { system }) => self.reals = Some(*system),
                _ => {}
            }
        }
    }

    /// Begins a procedure or a macro with these parameters. No other local names are visible. The name of main is empty.
    pub fn begin(&mut self, owner: &str, parameters: HashMap<CompactString, Bound>) {
        self.current = LocalNames { owner: owner.into(), scopes: vec![parameters] };
    }

    /// Begins a procedure, and returns the names of the current one.
    pub fn exchange(&mut self, owner: &str, parameters: HashMap<CompactString, Bound>) -> LocalNames {
        let current = std::mem::take(&mut self.current);
        self.begin(owner, parameters);
        current
    }

    /// Continues a procedure with the names that [`Names::exchange`] has returned.
    pub fn restore(&mut self, names: LocalNames) {
        self.current = names;
    }

    /// Returns the number system of reals.
    pub fn reals(&self) -> RealSystem {
        self.reals.unwrap_or(RealSystem::F64)
    }

    /// Sets the variables that may depend on an input.
    pub fn set_varied(&mut self, varied: HashSet<CompactString>) {
        self.varied = Some(Rc::new(varied));
    }

    /// Counts parameters of the current macro as varied: a variant serves several uses.
    pub fn vary<'p>(&mut self, parameters: impl Iterator<Item = &'p str>) {
        let nodes: Vec<CompactString> = parameters.map(|name| self.node(name)).collect();
        if let Some(varied) = &mut self.varied {
            Rc::make_mut(varied).extend(nodes);
        }
    }

    /// Returns the node of a name in the graph of dependencies.
    pub fn node(&self, name: &str) -> CompactString {
        let is_local = self.current.scopes.iter().any(|scope| scope.contains_key(name));
        if is_local { local_node(&self.current.owner, name) } else { name.into() }
    }

    /// Returns the name of the current procedure or macro; empty for main.
    pub fn owner(&self) -> &str {
        &self.current.owner
    }

    /// Returns the node of a variable of the current procedure, which needn't be visible here.
    pub fn own_node(&self, name: &str) -> CompactString {
        local_node(&self.current.owner, name)
    }

    /// Returns true if an expression is a real cell that may depend on an input.
    pub fn receives(&self, expression: &Expression) -> bool {
        let name = match &expression.kind {
            ExpressionKind::Name { name, .. } => name,
            ExpressionKind::Element(element) => &element.name,
            _ => return false,
        };
        self.is_real_cell(expression)
            && self.varied.as_ref().is_none_or(|varied| varied.contains(&self.node(name)))
    }

    pub fn enter(&mut self) {
        self.current.scopes.push(HashMap::new());
    }

    pub fn leave(&mut self) {
        self.current.scopes.pop();
    }

    pub fn bind(&mut self, name: &str, cells: Bound) {
        if let Some(scope) = self.current.scopes.last_mut() {
            scope.insert(name.into(), cells);
        }
    }

    /// Closes a variable. From here on, its name denotes the cell that the variable has hidden.
    pub fn unbind(&mut self, name: &str) {
        if let Some(scope) = self.current.scopes.iter_mut().rev().find(|scope| scope.contains_key(name)) {
            scope.remove(name);
        }
    }

    pub fn bind_local(&mut self, local: &Local) {
        let shape = CellShape::Lengths(local.shape.clone());
        self.bind(&local.name.text, Bound::Cells { class: self.class_of_local(local), shape });
    }

    pub fn bind_ancillas(&mut self, declarations: &[DeclarationNode]) {
        declarations.iter().for_each(|declaration| self.bind(&declaration.name.text, declared(declaration)));
    }

    /// Returns what a name denotes; `None` for a constant of the program. Adjoints have the shapes of their cells.
    pub fn find(&self, name: &str) -> Option<Bound> {
        let (name, _) = Depths::of(name, false);
        let local = self.current.scopes.iter().rev().find_map(|scope| scope.get(name));
        if let Some(bound) = local.or_else(|| self.globals.get(name)) {
            return Some(bound.clone());
        }
        if self.constants.contains_key(name) {
            return None;
        }
        Some(Bound::cell(register_class(name)?, true))
    }

    /// Returns true if a name denotes a global or a constant outside of procedures.
    pub fn declares(&self, name: &str) -> bool {
        self.globals.contains_key(name) || self.constants.contains_key(name) || register_class(name).is_some()
    }

    /// Returns true if a name denotes a constant, unless a variable hides the constant.
    pub fn is_constant_name(&self, name: &str) -> bool {
        self.constants.contains_key(name) || name == "pi"
    }

    /// Returns true if a name, outside of procedures, denotes reals of the program.
    pub fn is_global_real(&self, name: &str) -> bool {
        match self.globals.get(name) {
            Some(Bound::Cells { class, .. }) => *class == Class::Real,
            _ => self.is_real_register(name),
        }
    }

    /// Returns true if a name, outside of procedures, denotes a register of reals.
    pub fn is_real_register(&self, name: &str) -> bool {
        let is_declared = self.globals.contains_key(name) || self.constants.contains_key(name);
        !is_declared && register_class(name) == Some(Class::Real)
    }

    fn class(&self, name: &str) -> Option<Class> {
        match self.find(name)? {
            Bound::Cells { class, .. } => Some(class),
            Bound::Constant(_) => None,
        }
    }

    /// Returns true if an expression is a scalar or an element.
    pub fn is_scalar(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name { name, .. } => match self.find(name) {
                Some(Bound::Cells { shape: CellShape::Lengths(lengths), .. }) => lengths.is_empty(),
                _ => false,
            },
            ExpressionKind::Element(element) => {
                element.subscripts.iter().all(|subscript| matches!(subscript, Subscript::At(_)))
            }
            _ => false,
        }
    }

    /// Returns the class of the variable of a `local` or `delocal`.
    pub fn class_of_local(&self, local: &Local) -> Class {
        local.class.unwrap_or_else(|| {
            let value = build::applied(local.function, local.sources.clone());
            if local.sources.is_empty() { Class::Int } else { self.kind(&value).class }
        })
    }

    /// Returns true if an expression is a real cell, or a part of a real array.
    pub fn is_real_cell(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name { name, adjoint: false } => self.is_real(name),
            ExpressionKind::Element(element) => !element.adjoint && self.is_real(&element.name),
            _ => false,
        }
    }

    fn is_real(&self, name: &str) -> bool {
        self.class(name) == Some(Class::Real)
    }

    /// Returns true if an expression applies a function to cells, so that it needs a temporary.
    pub fn is_computed(&self, expression: &Expression) -> bool {
        let is_applied = matches!(
            expression.kind,
            ExpressionKind::Unary(..)
                | ExpressionKind::Binary(..)
                | ExpressionKind::Apply(_)
                | ExpressionKind::InText(_)
        );
        is_applied && !self.is_constant(expression)
    }

    /// Returns true if an expression has no cells.
    pub fn is_constant(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Name { name, adjoint } => {
                !adjoint && self.class(name).is_none() && **name != "mode"
            }
            ExpressionKind::Element(_) | ExpressionKind::InText(_) => false,
            ExpressionKind::Length(length) => {
                matches!(self.find(&length.name), Some(Bound::Cells { shape: CellShape::Lengths(_), .. }))
            }
            ExpressionKind::Unary(_, operand) => self.is_constant(operand),
            ExpressionKind::Binary(_, sides) => sides.iter().all(|side| self.is_constant(side)),
            ExpressionKind::Apply(application) => {
                application.sources.iter().all(|source| self.is_constant(source))
            }
            _ => true,
        }
    }

    /// Returns the classes in which an expression can be used.
    pub fn kind(&self, expression: &Expression) -> SourceKind {
        let of = |class: Class| SourceKind { class, stands_for_real: class == Class::Real };
        let whole = SourceKind { class: Class::Int, stands_for_real: true };
        match &expression.kind {
            ExpressionKind::Int { .. } | ExpressionKind::LongInt { .. } | ExpressionKind::Length(_) => whole,
            ExpressionKind::Real(_) => of(Class::Real),
            ExpressionKind::Name { adjoint: true, .. } => of(Class::Real),
            ExpressionKind::Name { name, .. } => match (self.find(name), self.constants.get(&**name)) {
                (Some(Bound::Cells { class, .. }), _) => of(class),
                (Some(Bound::Constant(kind)), _) => kind,
                (None, Some(value)) => self.kind(value),
                (None, None) => of(if **name == "pi" { Class::Real } else { Class::Int }),
            },
            ExpressionKind::Element(element) if element.adjoint => of(Class::Real),
            ExpressionKind::Element(element) => of(self.class(&element.name).unwrap_or(Class::Int)),
            ExpressionKind::Unary(_, operand) => self.kind(operand),
            ExpressionKind::Binary(operator, sides) => {
                self.applied(operator.function(), &**sides, expression)
            }
            ExpressionKind::Apply(application) => {
                self.applied(application.function, &application.sources, expression)
            }
            ExpressionKind::InText(application) => {
                of(application.sources.first().map_or(Class::Int, |first| self.kind(first).class))
            }
        }
    }

    fn applied(&self, function: Function, sources: &[Expression], whole: &Expression) -> SourceKind {
        let found = signature(function, None, sources.iter().map(|source| self.kind(source)));
        let class = found.map_or(Class::Real, |signature| signature.result());
        SourceKind { class, stands_for_real: class == Class::Real || self.is_constant(whole) }
    }

    /// Visits the statements of a body that are executed, each with the names that are visible at it.
    pub fn visit<'t>(&mut self, body: &'t [StatementNode], each: &mut impl FnMut(&Names, &'t Statement)) {
        for node in body {
            match &node.statement {
                Statement::Directive(Directive::Ancillas(declarations)) => {
                    self.bind_ancillas(declarations);
                    each(self, &node.statement);
                }
                Statement::Local(local) => {
                    self.bind_local(local);
                    each(self, &node.statement);
                }
                Statement::Delocal(local) => {
                    each(self, &node.statement);
                    self.unbind(&local.name.text);
                }
                Statement::For(tree) => {
                    each(self, &node.statement);
                    self.visit_iteration(tree, each);
                }
                Statement::Tasks(tasks) => {
                    each(self, &node.statement);
                    tasks.rounds().into_iter().for_each(|rounds| self.visit_iteration(rounds, each));
                }
                // The locals of the first body stay open up to the end of the block.
                Statement::Compute(tree) => {
                    self.enter();
                    self.visit(&tree.body, each);
                    self.visit(&tree.apply, each);
                    self.leave();
                }
                Statement::Procedure(tree) => {
                    let main = self.exchange(&tree.name.text, parameters(&tree.parameters));
                    self.visit(&tree.body, each);
                    self.restore(main);
                }
                Statement::Macro(_) => {}
                other => {
                    each(self, other);
                    for inner in other.bodies() {
                        self.enter();
                        self.visit(inner, each);
                        self.leave();
                    }
                }
            }
        }
    }

    fn visit_iteration<'t>(&mut self, tree: &'t For, each: &mut impl FnMut(&Names, &'t Statement)) {
        self.enter();
        self.bind(&tree.counter.text, Bound::cell(Class::Int, true));
        self.visit(&tree.body, each);
        self.leave();
    }
}

/// Returns the parameters of a procedure as names.
pub(crate) fn parameters(parameters: &[ParameterNode]) -> HashMap<CompactString, Bound> {
    parameters.iter().map(|it| (it.name.text.clone(), Bound::parameter(it))).collect()
}

fn declared(declaration: &DeclarationNode) -> Bound {
    let shape = match &declaration.shape {
        ShapeNode::Lengths(lengths) => CellShape::Lengths(lengths.clone()),
        ShapeNode::Stack => CellShape::Other,
    };
    Bound::Cells { class: declaration.class.unwrap_or(Class::Int), shape }
}

/// Returns the node of a variable of a procedure or macro.
pub(crate) fn local_node(procedure: &str, name: &str) -> CompactString {
    format_compact!("{procedure} {name}")
}
