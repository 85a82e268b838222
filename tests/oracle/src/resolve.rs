//! Translates the syntax tree to the plan: names become variables, macro uses become the bodies of the macros, and
//! labels become indices in their lists. Nothing is executed. Little is checked, because the assembler has already
//! reported errors.

use std::collections::HashMap;

use reviver_assembler::tree::{
    self, Body, Directive, InstructionNode, KeptStrategy, Name, Operands, StatementNode,
};
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::Rank;
use reviver_isa::update::Update;

use crate::Settings;
use crate::declared::Declared;
use crate::expression::Operand;
use crate::outcome::{Step, unsupported};
use crate::plan::{
    Argument, Block, Call, Computed, Condition, For, FrameVariable, Home, Place, Plan, Procedure, Shape,
    Source, Statement, Variable,
};
use crate::scope::{Meaning, Scopes};
use crate::signature::{common, source_classes, value_class};

/// Maximum nesting depth of macros. Deeper nesting is taken for recursion.
const DEEPEST: usize = 200;

/// Resolves a program with expanded includes.
pub(crate) fn resolve(body: &Body, settings: Settings) -> Step<Plan> {
    let declared = Declared::read(body, settings)?;
    let trees = declared.procedures.clone();
    let mut resolver = Resolver { declared, scopes: Scopes::default(), frame: Vec::new(), switches: false };
    let mut procedures = vec![resolver.procedure(&[], body)?];
    for tree in trees {
        let rule = tree.rule.as_ref().map(|rule| resolver.number(rule)).transpose()?;
        let strategy = strategy(&tree.body);
        procedures.push(Procedure { rule, strategy, ..resolver.procedure(&tree.parameters, &tree.body)? });
    }
    let switches = resolver.switches;
    let Declared { numbers, depth, stack, tape, globals, .. } = resolver.declared;
    Ok(Plan { numbers, depth, stack, tape, globals, procedures, switches })
}

/// State while a program is resolved. The module `expression` resolves expressions.
pub(crate) struct Resolver<'t> {
    pub(crate) declared: Declared<'t>,
    pub(crate) scopes: Scopes,
    /// Frame of the current procedure, as far as it has been resolved.
    frame: Vec<FrameVariable>,
    /// True if a statement that has been resolved switches gradient mode.
    switches: bool,
}

impl Resolver<'_> {
    fn procedure(&mut self, parameters: &[tree::ParameterNode], body: &Body) -> Step<Procedure> {
        self.scopes = Scopes::default();
        self.scopes.enter(false);
        for (n, tree) in parameters.iter().enumerate() {
            let class = tree.class.unwrap_or(Class::Int);
            let shape = match tree.rank {
                Rank::Scalar => Shape::Scalar,
                Rank::Vector => Shape::Slice,
                Rank::Matrix => Shape::PassedMatrix,
            };
            let variable = Variable { home: Home::Parameter(n), class, shape };
            self.scopes.bind(&tree.name.text, Meaning::Variable(variable));
        }
        let parameters = parameters.iter().map(|tree| tree.passing).collect();
        let body = self.list(body)?;
        let frame = std::mem::take(&mut self.frame);
        Ok(Procedure { parameters, rule: None, strategy: None, frame, body })
    }

    /// Adds a variable to the frame, and binds its name.
    fn fresh(&mut self, name: &Name, class: Class, shape: Shape) -> Variable {
        let variable = self.hidden(&name.text, class, shape);
        self.scopes.bind(&name.text, Meaning::Variable(variable));
        variable
    }

    /// Adds a variable to the frame without a name.
    fn hidden(&mut self, name: &str, class: Class, shape: Shape) -> Variable {
        let variable = Variable { home: Home::Frame(self.frame.len()), class, shape };
        self.frame.push(FrameVariable { name: name.to_owned(), class, cells: shape.cells() });
        variable
    }

    /// Resolves a list of statements in a new scope.
    fn scoped(&mut self, body: &Body) -> Step<Block> {
        self.scopes.enter(false);
        let block = self.list(body);
        self.scopes.leave();
        block
    }

    fn list(&mut self, body: &Body) -> Step<Block> {
        let mut block = Block::new();
        let mut labels: HashMap<&str, usize> = HashMap::new();
        let mut waiting: Vec<&str> = Vec::new();
        let mut halves: Vec<(usize, &str)> = Vec::new();
        for node in body {
            waiting.extend(node.label.iter().map(|label| label.text.as_str()));
            let here = block.len();
            if let tree::Statement::Instruction(instruction) = &node.statement {
                waiting.drain(..).for_each(|label| {
                    labels.insert(label, here);
                });
                if let Operands::Branch { partner, .. } = &instruction.operands {
                    halves.push((here, &partner.text));
                }
            }
            block.extend(self.statement(node)?);
        }
        for (at, name) in halves {
            let Some(&number) = labels.get(name) else {
                return unsupported(format!("the branch to `{name}`, out of its list of statements"));
            };
            if let Some(Statement::Br { partner, .. } | Statement::From { partner, .. }) = block.get_mut(at) {
                *partner = number;
            }
        }
        Ok(block)
    }

    /// Resolves a line or a block. Returns `None` if it only declares something.
    fn statement(&mut self, node: &StatementNode) -> Step<Option<Statement>> {
        let statement = match &node.statement {
            tree::Statement::Directive(Directive::Ancillas(declarations)) => {
                for declaration in declarations {
                    let shape = self.declared.declared_shape(&declaration.shape)?;
                    self.fresh(&declaration.name, declaration.class.unwrap_or(Class::Int), shape);
                }
                return Ok(None);
            }
            tree::Statement::Empty
            | tree::Statement::Directive(_)
            | tree::Statement::Procedure(_)
            | tree::Statement::Macro(_) => return Ok(None),
            tree::Statement::Instruction(instruction) => self.instruction(instruction)?,
            tree::Statement::MacroUse { name, arguments, undo } => {
                let (values, body) = self.expand(name, arguments)?;
                Statement::Macro { undo: *undo, values, body }
            }
            tree::Statement::If(tree) => self.choice(tree)?,
            tree::Statement::Loop(tree) => self.repetition(tree)?,
            tree::Statement::For(tree) => self.counted(tree)?,
            tree::Statement::Compute(tree) => self.compute(tree)?,
            tree::Statement::Tasks(tree) => self.tasks(tree)?,
            tree::Statement::CallVia(tree) => self.call_via(tree)?,
            tree::Statement::Local(tree) => self.local(tree)?,
            tree::Statement::Delocal(tree) => self.delocal(tree)?,
        };
        Ok(Some(statement))
    }

    /// Expands a use of a macro. Returns the computations of its arguments, and its body.
    fn expand(
        &mut self,
        name: &Name,
        arguments: &[tree::Expression],
    ) -> Step<(Vec<(Place, Computed)>, Block)> {
        let Some(&tree) = self.declared.macros.get(name.text.as_str()) else {
            return unsupported(format!("the macro `{}`", name.text));
        };
        if self.scopes.macros() >= DEEPEST {
            return unsupported("a recursive macro");
        }
        let meanings: Vec<Meaning> = arguments.iter().map(|a| self.evaluate(a)).collect::<Step<_>>()?;
        let mut values = Vec::new();
        let meanings: Vec<Meaning> = meanings
            .into_iter()
            .map(|meaning| match meaning {
                Meaning::Computed(value) => {
                    let variable = self.hidden("value", value.class, Shape::Scalar);
                    values.push((Place::scalar(variable), value));
                    Meaning::Variable(variable)
                }
                other => other,
            })
            .collect();
        self.scopes.enter(true);
        for (parameter, meaning) in tree.parameters.iter().zip(meanings) {
            self.scopes.bind(&parameter.text, meaning);
        }
        let body = self.list(&tree.body);
        self.scopes.leave();
        Ok((values, body?))
    }

    fn choice(&mut self, tree: &tree::If) -> Step<Statement> {
        let entry = self.condition(&tree.entry)?;
        let exit = self.condition(&tree.exit)?;
        let then = self.scoped(&tree.then)?;
        let otherwise = tree.otherwise.as_ref().map_or(Ok(Block::new()), |body| self.scoped(body))?;
        Ok(Statement::If { entry, then, otherwise, exit })
    }

    fn repetition(&mut self, tree: &tree::Loop) -> Step<Statement> {
        let entry = self.condition(&tree.entry)?;
        let exit = self.condition(&tree.exit)?;
        let first = self.scoped(&tree.first)?;
        let again = tree.again.as_ref().map_or(Ok(Block::new()), |body| self.scoped(body))?;
        Ok(Statement::Loop { entry, first, again, exit })
    }

    fn counted(&mut self, tree: &tree::For) -> Step<Statement> {
        let low = self.source(&tree.from, Class::Int)?;
        let high = self.source(&tree.to, Class::Int)?;
        let step = match &tree.step {
            Some(step) => self.constant(step)?.to_integer()?,
            None => 1.into(),
        };
        self.scopes.enter(false);
        let counter = Place::scalar(self.fresh(&tree.counter, Class::Int, Shape::Scalar));
        let body = self.list(&tree.body);
        self.scopes.leave();
        Ok(Statement::For(For { counter, low, high, step, reversed: tree.reversed, body: body? }))
    }

    /// Resolves a `compute` block. Names that its first body declares are visible in its second body.
    fn compute(&mut self, tree: &tree::Compute) -> Step<Statement> {
        self.scopes.enter(false);
        let body = self.list(&tree.body);
        let apply = self.scoped(&tree.apply);
        self.scopes.leave();
        Ok(Statement::Compute { body: body?, apply: apply? })
    }

    fn local(&mut self, tree: &tree::Local) -> Step<Statement> {
        if !tree.shape.is_empty() {
            let shape = self.declared.shape(&tree.shape)?;
            let class = tree.class.unwrap_or(Class::Int);
            return Ok(Statement::Vacant(self.fresh(&tree.name, class, shape)));
        }
        let operands = self.operands(&tree.sources)?;
        let written: Vec<Class> = operands.iter().map(Operand::class).collect();
        let class = match tree.class {
            Some(class) => class,
            None if tree.sources.is_empty() => Class::Int,
            None => value_class(tree.function, &written)?,
        };
        let cell = Place::scalar(self.fresh(&tree.name, class, Shape::Scalar));
        let (function, sources) = self.value_sources(tree, class, operands)?;
        Ok(Statement::Local { cell, function, sources })
    }

    fn delocal(&mut self, tree: &tree::Local) -> Step<Statement> {
        let operands = self.operands(&tree.sources)?;
        let Some(Meaning::Variable(variable)) = self.scopes.unbind(&tree.name.text) else {
            return unsupported(format!("the end of `{}`", tree.name.text));
        };
        if !tree.shape.is_empty() {
            return Ok(Statement::Vacant(variable));
        }
        let (function, sources) = self.value_sources(tree, variable.class, operands)?;
        Ok(Statement::Delocal { cell: Place::scalar(variable), function, sources })
    }

    fn instruction(&mut self, tree: &InstructionNode) -> Step<Statement> {
        match &tree.operands {
            Operands::Cells(_) if matches!(tree.update, Update::Fork | Update::Join) => {
                unsupported("a `fork` or a `join` by itself")
            }
            Operands::Cells(list) if list.is_empty() => {
                self.switches = true;
                Ok(Statement::Switch { on: tree.update == Update::GradOn })
            }
            Operands::Cells(list) => self.cells(tree, list),
            Operands::Condition(condition) => self.condition(condition).map(Statement::Assert),
            Operands::Branch { condition, .. } => {
                // The index of the partner is filled in when the whole list has been resolved.
                let (partner, condition) = (0, self.condition(condition)?);
                match tree.update {
                    Update::Br => Ok(Statement::Br { partner, condition }),
                    Update::From => Ok(Statement::From { partner, condition }),
                    _ => unsupported(format!("`{:?}` with a partner", tree.update)),
                }
            }
            Operands::Call(call) => self.call(call, tree.update == Update::Uncall).map(Statement::Call),
        }
    }

    fn cells(&mut self, tree: &InstructionNode, list: &[tree::Expression]) -> Step<Statement> {
        let mut operands = self.operands(list)?;
        match (tree.update, operands.len()) {
            (Update::Swap, 2) => {
                let [x, y] = places(operands)?;
                Ok(Statement::Swap(x, y))
            }
            (Update::Rot | Update::Irot, 3) => {
                let angle = operands.pop().map(|angle| self.typed(angle, Class::Real)).transpose()?;
                let [x, y] = places(operands)?;
                let back = tree.update == Update::Irot;
                angle.map_or_else(
                    || unsupported("a rotation without an angle"),
                    |angle| Ok(Statement::Rotate { back, x, y, angle }),
                )
            }
            (Update::Show, 1) => {
                let [shown] = exactly(operands)?;
                let class = shown.class();
                self.typed(shown, class).map(Statement::Show)
            }
            (update, _) if accumulates(update) => {
                let sources = operands.split_off(1.min(operands.len()));
                let [target] = places(operands)?;
                let (function, sources) =
                    self.typed_sources(tree.function, target.variable.class, sources)?;
                Ok(Statement::Accumulate { update, function, target, sources })
            }
            (update, 1) => {
                let [target] = places(operands)?;
                Ok(Statement::Single { update, target })
            }
            (update, n) => unsupported(format!("`{update:?}` with {n} operands")),
        }
    }

    /// Returns the sources of a value; none if the value is 0.
    fn value_sources(
        &mut self,
        tree: &tree::Local,
        class: Class,
        operands: Vec<Operand>,
    ) -> Step<(Function, Vec<Source>)> {
        if operands.is_empty() {
            return Ok((tree.function, Vec::new()));
        }
        self.typed_sources(tree.function, class, operands)
    }

    /// Returns the function and the sources of a value. If the value is an expression, these are its outermost
    /// function and operands.
    fn typed_sources(
        &mut self,
        function: Function,
        target: Class,
        mut operands: Vec<Operand>,
    ) -> Step<(Function, Vec<Source>)> {
        if let (Function::Copy, [Operand::Computed(_)]) = (function, operands.as_slice())
            && let Some(Operand::Computed(computed)) = operands.pop()
        {
            return Ok((computed.function, computed.sources));
        }
        let written: Vec<Class> = operands.iter().map(Operand::class).collect();
        let classes = source_classes(function, target, &written);
        let typed = operands.into_iter().zip(classes).map(|(operand, class)| self.typed(operand, class));
        Ok((function, typed.collect::<Step<_>>()?))
    }

    fn condition(&mut self, tree: &tree::Condition) -> Step<Condition> {
        use tree::ConditionKind;
        Ok(match &tree.kind {
            ConditionKind::Always => Condition::Always,
            ConditionKind::Forgotten => Condition::Forgotten,
            ConditionKind::Compare(order, a, b) => {
                let operands = self.operands(&[(**a).clone(), (**b).clone()])?;
                let cells: Vec<Class> = operands.iter().filter_map(Operand::cell_class).collect();
                let written: Vec<Class> = operands.iter().map(Operand::class).collect();
                // The literals of a comparison have the class of the cell on the other side.
                let class = cells.first().copied().unwrap_or_else(|| common(&written));
                let [a, b] = exactly(operands)?;
                Condition::Compare(*order, self.typed(a, class)?, self.typed(b, class)?)
            }
            ConditionKind::Not(inner) => Condition::Not(Box::new(self.condition(inner)?)),
            ConditionKind::And(a, b) => {
                Condition::And(Box::new(self.condition(a)?), Box::new(self.condition(b)?))
            }
            ConditionKind::Or(a, b) => {
                Condition::Or(Box::new(self.condition(a)?), Box::new(self.condition(b)?))
            }
        })
    }

    /// Resolves several calls as tasks, or a loop with a task in each iteration.
    fn tasks(&mut self, tree: &tree::Tasks) -> Step<Statement> {
        match &tree.kind {
            tree::TaskKind::Calls(calls) => {
                let mut tasks = Vec::new();
                for call in calls.iter() {
                    tasks.push(Call { is_task: true, ..self.call(call, tree.undo)? });
                }
                if tree.undo {
                    tasks.reverse();
                }
                Ok(Statement::Tasks(tasks))
            }
            tree::TaskKind::Rounds(rounds) => {
                let Statement::For(mut rounds) = self.counted(rounds)? else {
                    return unsupported("rounds that are no loop");
                };
                for statement in &mut rounds.body {
                    if let Statement::Call(call) = statement {
                        call.is_task = true;
                    }
                }
                Ok(Statement::TaskRounds(rounds))
            }
        }
    }

    /// Resolves a call via a cell. The result has one call for each procedure whose parameters fit the arguments.
    fn call_via(&mut self, tree: &tree::CallVia) -> Step<Statement> {
        let Ok([cell]) = places::<1>(self.operands(std::slice::from_ref(&tree.cell))?) else {
            return unsupported("a call through a constant");
        };
        let mut calls = Vec::new();
        for number in 0..self.declared.procedures.len() {
            if !self.takes(number, &tree.arguments)? {
                continue;
            }
            let procedure = self.declared.procedures[number].name.clone();
            let node = tree::CallNode { procedure, arguments: tree.arguments.clone(), span: tree.cell.span };
            calls.push(self.call(&node, tree.undo)?);
        }
        Ok(Statement::CallVia { cell, calls })
    }

    /// Returns true if the parameters of a procedure fit the arguments.
    fn takes(&mut self, number: usize, arguments: &[tree::Expression]) -> Step<bool> {
        let parameters = &self.declared.procedures[number].parameters;
        if parameters.len() != arguments.len() {
            return Ok(false);
        }
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let class = parameter.class.unwrap_or(Class::Int);
            let fits = match self.evaluate(argument)? {
                Meaning::Variable(variable) => {
                    let is_array = variable.shape != Shape::Scalar;
                    let is_matrix = matches!(variable.shape, Shape::Matrix(..) | Shape::PassedMatrix);
                    let of_rank = match parameter.rank {
                        Rank::Scalar => !is_array,
                        Rank::Vector => is_array,
                        Rank::Matrix => is_matrix,
                    };
                    of_rank && variable.class == class
                }
                // The programs that the oracle runs pass only variables here, so it doesn't support other arguments.
                _ => return unsupported("a call through a cell that is passed anything but variables"),
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn call(&mut self, tree: &tree::CallNode, undo: bool) -> Step<Call> {
        let procedure = self.number(&tree.procedure)?;
        let head = self.declared.procedures.get(procedure - 1);
        let parameters: Vec<(Class, Rank)> = head.map_or(Vec::new(), |p| {
            p.parameters.iter().map(|p| (p.class.unwrap_or(Class::Int), p.rank)).collect()
        });
        let mut arguments = Vec::new();
        for (expression, (class, rank)) in tree.arguments.iter().zip(parameters) {
            arguments.push(if rank == Rank::Scalar {
                Argument::One(self.source(expression, class)?)
            } else {
                let (array, part) = self.part(expression)?;
                Argument::Many { array, part }
            });
        }
        Ok(Call { undo, procedure, arguments, is_task: false })
    }

    /// Returns the index of a procedure; main has index 0.
    fn number(&self, name: &Name) -> Step<usize> {
        let found = self.declared.procedures.iter().position(|p| p.name.text == name.text);
        found.map_or_else(|| unsupported(format!("the procedure `{}`", name.text)), |n| Ok(n + 1))
    }
}

/// Returns the strategy that a body declares in its first line.
fn strategy(body: &Body) -> Option<KeptStrategy> {
    body.iter().find_map(|node| match node.statement {
        tree::Statement::Directive(Directive::Strategy(strategy)) => Some(strategy),
        _ => None,
    })
}

fn accumulates(update: Update) -> bool {
    use Update::{Add, Div, Mul, Overwrite, Rol, Ror, Sub, Xor};
    matches!(update, Add | Sub | Xor | Mul | Div | Rol | Ror | Overwrite)
}

fn exactly<const N: usize>(operands: Vec<Operand>) -> Step<[Operand; N]> {
    operands.try_into().or_else(|_| unsupported(format!("another number of operands than {N}")))
}

fn places<const N: usize>(operands: Vec<Operand>) -> Step<[Place; N]> {
    let places: Vec<Place> = operands.into_iter().map(Operand::place).collect::<Step<_>>()?;
    places.try_into().or_else(|_| unsupported(format!("another number of targets than {N}")))
}
