//! Tasks. The cells that each task touches are found before the first task runs. In gradient mode, a cell that a task
//! can't change has the adjoint 0 while the task runs. The task's contributions are added to the adjoint afterwards.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::Passing;

use crate::integer;
use crate::outcome::{Bits, Halt, Step, Trap, trap};
use crate::plan::{
    Argument, Block, Call, Condition, For, Home, Part, Place, Plan, Source, Statement, Term, Variable,
};
use crate::prepare::Prepared;
use crate::reach::Frame;
use crate::real::Real;
use crate::store::{Cell, adjoint_of};
use crate::value::Value;
use crate::walk::{Direction, Walk};

/// Cells that a task may touch, and those that it may change.
#[derive(Default)]
struct TaskCells {
    touched: BTreeSet<Cell>,
    changed: BTreeSet<Cell>,
}

impl<'p> Walk<'p> {
    /// Checks that tasks don't conflict, and runs them one after another.
    pub(crate) fn tasks(
        &mut self,
        frame: &Frame,
        calls: &'p [Call],
        direction: Direction,
        all: &mut Prepared,
    ) -> Step<()> {
        let mut passed = Vec::new();
        for call in calls {
            let arguments = call.arguments.iter().map(|argument| self.passed(frame, argument, all));
            passed.push((call, arguments.collect::<Step<Vec<Argument>>>()?));
        }
        if direction == Direction::Backward {
            passed.reverse();
        }
        let mut cells = Vec::new();
        let mut looked_at = BTreeSet::new();
        for (call, arguments) in &passed {
            self.look_at(frame, arguments, &mut looked_at);
            match self.cells_of(frame, call, arguments) {
                Ok(own) => cells.push(own),
                // This call will trap, unless an earlier task traps first. So later tasks aren't checked.
                Err(Halt::Trap(_)) => break,
                Err(halt) => return Err(halt),
            }
        }
        demand_apart(&cells, &looked_at)?;
        passed.iter().try_for_each(|(call, arguments)| self.called(frame, call, arguments, direction))
    }

    /// Checks that the tasks of a loop's iterations don't conflict, and runs them in order.
    pub(crate) fn task_rounds(&mut self, frame: &Frame, rounds: &'p For, direction: Direction) -> Step<()> {
        self.demand_rounds_apart(frame, rounds)?;
        self.counted(frame, rounds, direction)
    }

    fn demand_rounds_apart(&mut self, frame: &Frame, rounds: &'p For) -> Step<()> {
        let [Statement::Call(call)] = &rounds.body[..] else { return Ok(()) };
        let bound = |this: &Self, source: &Source| {
            let bound = this.bound(frame, source)?;
            this.reach(frame).value(&bound)?.int().cloned()
        };
        let (low, high) = (bound(self, &rounds.low)?, bound(self, &rounds.high)?);
        let counter = self.reach(frame).place(&rounds.counter)?.cell;
        let mut looked_at = BTreeSet::from([counter]);
        for source in [&rounds.low, &rounds.high] {
            self.look_at_source(frame, source, &mut looked_at);
        }
        self.look_at(frame, &call.arguments, &mut looked_at);
        let mut cells = Vec::new();
        let mut number = if rounds.reversed { high.clone() - &rounds.step } else { low.clone() };
        // The counter is 0 before and after the loop, so it is set to 0 again after each iteration is examined.
        while low <= number && number < high || rounds.reversed && number > low {
            let value = Value::Int(integer::wrap(number.clone(), self.plan.numbers.bits));
            self.store.set(counter, value);
            let all = &mut Prepared::default();
            let count = self.store.count();
            let own = self.round_cells(frame, call, all);
            self.store.truncate(count);
            self.store.set(counter, Value::Int(BigInt::ZERO));
            match own {
                Ok(own) => cells.push(own),
                Err(Halt::Trap(_)) => break,
                Err(halt) => return Err(halt),
            }
            number += if rounds.reversed { -rounds.step.clone() } else { rounds.step.clone() };
        }
        demand_apart(&cells, &looked_at)
    }

    fn round_cells(&mut self, frame: &Frame, call: &'p Call, all: &mut Prepared) -> Step<TaskCells> {
        let arguments = call.arguments.iter().map(|argument| self.passed(frame, argument, all));
        let arguments = arguments.collect::<Step<Vec<Argument>>>()?;
        self.cells_of(frame, call, &arguments)
    }

    /// Returns the cells that a call may touch: those of its arguments, and the globals that the procedure accesses
    /// by name.
    fn cells_of(&self, frame: &Frame, call: &Call, arguments: &[Argument]) -> Step<TaskCells> {
        let mut cells = TaskCells::default();
        let passing = self.plan.procedures.get(call.procedure).map_or(&[][..], |callee| &callee.parameters);
        for (reference, passing) in self.arguments(frame, arguments)?.into_iter().zip(passing) {
            let Some(reference) = reference else { continue };
            cells.touched.extend(reference.iter());
            if *passing == Passing::InOut {
                cells.changed.extend(reference.iter());
            }
        }
        let named = Named::by(self.plan, call.procedure);
        cells.touched.extend(self.globals_of(&named.all));
        cells.changed.extend(self.globals_of(&named.changed));
        Ok(cells)
    }

    fn globals_of(&self, globals: &BTreeSet<usize>) -> Vec<Cell> {
        let cells = |&global: &usize| {
            let start = self.globals.get(global).copied().unwrap_or(0);
            let count = self.plan.globals.get(global).map_or(0, |global| global.shape.cells());
            start..start + count
        };
        globals.iter().flat_map(cells).collect()
    }

    /// Collects the integer cells on which the choice of passed cells depends, such as an index `i` in `A[i]`.
    fn look_at(&self, frame: &Frame, arguments: &[Argument], cells: &mut BTreeSet<Cell>) {
        for argument in arguments {
            match argument {
                Argument::One(Source::Place(place)) => {
                    place.index.iter().for_each(|term| self.look_at_term(frame, term, cells));
                }
                Argument::One(_) | Argument::Many { part: Part::Whole, .. } => {}
                Argument::Many { part: Part::Span { from, to, .. }, .. } => {
                    [from, to].into_iter().for_each(|term| self.look_at_term(frame, term, cells));
                }
                Argument::Many { part: Part::Row(term) | Part::Column(term), .. } => {
                    self.look_at_term(frame, term, cells);
                }
            }
        }
    }

    fn look_at_term(&self, frame: &Frame, term: &Term, cells: &mut BTreeSet<Cell>) {
        if let Some(scalar) = term.scalar {
            cells.extend(self.reach(frame).place(&Place::scalar(scalar)).ok().map(|reached| reached.cell));
        }
        if let Some(expression) = &term.expression {
            self.look_at_source(frame, expression, cells);
        }
    }

    fn look_at_source(&self, frame: &Frame, source: &Source, cells: &mut BTreeSet<Cell>) {
        match source {
            Source::Place(place) => {
                let reached = self.reach(frame).place(place);
                cells.extend(
                    reached.into_iter().flat_map(|reached| reached.indices.into_iter().chain([reached.cell])),
                );
            }
            Source::Computed(computed) => {
                computed.sources.iter().for_each(|source| self.look_at_source(frame, source, cells));
            }
            Source::Constant(_) | Source::Mode | Source::Held(_) | Source::Length(_) => {}
        }
    }

    /// Sets the adjoints of all cells that a task can't change to 0. Returns these cells with their adjoints.
    pub(crate) fn set_aside(
        &mut self,
        frame: &Frame,
        procedure: usize,
        arguments: &[Argument],
    ) -> Step<Vec<(Cell, Value)>> {
        let call = Call { undo: false, procedure, arguments: Vec::new(), is_task: true };
        let own = match self.cells_of(frame, &call, arguments) {
            Ok(own) => own.changed,
            // The call will trap, so the adjoints don't matter.
            Err(_) => return Ok(Vec::new()),
        };
        let mut waiting = Vec::new();
        for cell in 0..self.store.count() {
            if own.contains(&cell) || self.store.is_constant(cell) {
                continue;
            }
            if self.store.get(cell)?.class() == Class::Real {
                let adjoint = self.store.get(adjoint_of(cell))?.clone();
                self.store.set(adjoint_of(cell), Value::Real(Real::zero(self.plan.numbers.system)));
                waiting.push((cell, adjoint));
            }
        }
        Ok(waiting)
    }

    /// Adds the adjoints that [`Walk::set_aside`] returned to those that the task has left.
    pub(crate) fn add_shares(&mut self, waiting: Vec<(Cell, Value)>) -> Step<()> {
        let is_nothing = |value: &Value| value.bits() == Bits::Real(0);
        for (cell, waited) in waiting {
            let share = self.store.get(adjoint_of(cell))?.clone();
            let sum = match (is_nothing(&waited), is_nothing(&share)) {
                (true, _) => share,
                (false, true) => waited,
                (false, false) => {
                    Value::Real(Real::function(Function::Sum, waited.real()?, share.real()?)?.admit()?)
                }
            };
            self.store.set(adjoint_of(cell), sum);
        }
        Ok(())
    }
}

/// Traps with `Overlap` if a task may change a cell that another task touches, or an integer on which the passed
/// cells of any task depend.
fn demand_apart(tasks: &[TaskCells], looked_at: &BTreeSet<Cell>) -> Step<()> {
    for (n, task) in tasks.iter().enumerate() {
        let others = tasks.iter().enumerate().filter(|(m, _)| *m != n);
        let meets = |(_, other): (usize, &TaskCells)| !task.changed.is_disjoint(&other.touched);
        if others.into_iter().any(meets) || !task.changed.is_disjoint(looked_at) {
            return trap(Trap::Overlap);
        }
    }
    Ok(())
}

/// Globals that a procedure accesses by name, itself or through its callees, and the subset that it may change.
#[derive(Default)]
struct Named {
    all: BTreeSet<usize>,
    changed: BTreeSet<usize>,
    seen: BTreeSet<usize>,
}

impl Named {
    fn by(plan: &Plan, procedure: usize) -> Named {
        let mut named = Named::default();
        named.procedure(plan, procedure);
        named
    }

    fn procedure(&mut self, plan: &Plan, number: usize) {
        if self.seen.insert(number)
            && let Some(procedure) = plan.procedures.get(number)
        {
            self.block(plan, &procedure.body);
        }
    }

    fn variable(&mut self, variable: Variable, changes: bool) {
        if let Home::Global(number) = variable.home {
            self.all.insert(number);
            if changes {
                self.changed.insert(number);
            }
        }
    }

    fn term(&mut self, term: &Term) {
        term.scalar.into_iter().for_each(|scalar| self.variable(scalar, false));
        term.expression.iter().for_each(|expression| self.source(expression));
    }

    fn place(&mut self, place: &Place, changes: bool) {
        self.variable(place.variable, changes && !place.adjoint);
        place.index.iter().for_each(|term| self.term(term));
    }

    fn source(&mut self, source: &Source) {
        match source {
            Source::Place(place) => self.place(place, false),
            Source::Computed(computed) => computed.sources.iter().for_each(|source| self.source(source)),
            Source::Length(measured) => self.variable(measured.array, false),
            Source::Constant(_) | Source::Mode | Source::Held(_) => {}
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Always | Condition::Forgotten => {}
            Condition::Compare(_, a, b) => [a, b].into_iter().for_each(|source| self.source(source)),
            Condition::Not(inner) => self.condition(inner),
            Condition::And(a, b) | Condition::Or(a, b) => {
                [a, b].into_iter().for_each(|part| self.condition(part))
            }
        }
    }

    fn call(&mut self, plan: &Plan, call: &Call) {
        let passing = plan.procedures.get(call.procedure).map_or(&[][..], |callee| &callee.parameters);
        for (argument, passing) in call.arguments.iter().zip(passing) {
            let changes = *passing == Passing::InOut;
            match argument {
                Argument::One(Source::Place(place)) => self.place(place, changes),
                Argument::One(source) => self.source(source),
                Argument::Many { array, part } => {
                    self.variable(*array, changes);
                    match part {
                        Part::Whole => {}
                        Part::Span { from, to, .. } => {
                            [from, to].into_iter().for_each(|term| self.term(term))
                        }
                        Part::Row(term) | Part::Column(term) => self.term(term),
                    }
                }
            }
        }
        self.procedure(plan, call.procedure);
    }

    fn block(&mut self, plan: &Plan, block: &Block) {
        block.iter().for_each(|statement| self.statement(plan, statement));
    }

    fn statement(&mut self, plan: &Plan, statement: &Statement) {
        match statement {
            Statement::Accumulate { target, sources, .. } => {
                self.place(target, true);
                sources.iter().for_each(|source| self.source(source));
            }
            Statement::Single { target, .. } => self.place(target, true),
            Statement::Swap(x, y) => [x, y].into_iter().for_each(|place| self.place(place, true)),
            Statement::Rotate { x, y, angle, .. } => {
                [x, y].into_iter().for_each(|place| self.place(place, true));
                self.source(angle);
            }
            Statement::Assert(condition)
            | Statement::Br { condition, .. }
            | Statement::From { condition, .. } => {
                self.condition(condition);
            }
            Statement::Call(call) => self.call(plan, call),
            Statement::Tasks(calls) => calls.iter().for_each(|call| self.call(plan, call)),
            Statement::CallVia { cell, calls } => {
                self.place(cell, false);
                calls.iter().for_each(|call| self.call(plan, call));
            }
            Statement::Show(source) => self.source(source),
            Statement::Switch { .. } | Statement::Vacant(_) => {}
            Statement::If { entry, then, otherwise, exit } => {
                [entry, exit].into_iter().for_each(|condition| self.condition(condition));
                [then, otherwise].into_iter().for_each(|block| self.block(plan, block));
            }
            Statement::Loop { entry, first, again, exit } => {
                [entry, exit].into_iter().for_each(|condition| self.condition(condition));
                [first, again].into_iter().for_each(|block| self.block(plan, block));
            }
            Statement::For(counted) | Statement::TaskRounds(counted) => {
                [&counted.low, &counted.high].into_iter().for_each(|source| self.source(source));
                self.block(plan, &counted.body);
            }
            Statement::Compute { body, apply } => {
                [body, apply].into_iter().for_each(|block| self.block(plan, block))
            }
            Statement::Local { sources, .. } | Statement::Delocal { sources, .. } => {
                sources.iter().for_each(|source| self.source(source));
            }
            Statement::Macro { values, body, .. } => {
                let sources = values.iter().flat_map(|(_, computed)| &computed.sources);
                sources.for_each(|source| self.source(source));
                self.block(plan, body);
            }
        }
    }
}
