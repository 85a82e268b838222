//! Executes a plan, forward or backward. In a backward run, statements are executed in the opposite order, and each
//! one is inverted when it is reached; nothing is inverted in advance. A position is just an index in the current
//! list of statements.

use std::ops::Range;
use std::rc::Rc;

use num_bigint::BigInt;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_isa::update::Update;

use crate::integer;
use crate::order::holds;
use crate::outcome::{Halt, Step, Trap, trap, unsupported};
use crate::plan::{
    Argument, Block, Call, Computed, Condition, For, FrameVariable, Global, Place, Plan, Procedure, Shape,
    Source, Statement,
};
use crate::prepare::Prepared;
use crate::reach::{Frame, Reach, Reached, Reference, demand_disjoint};
use crate::real::Real;
use crate::signature::evaluate;
use crate::store::{Cell, Entry, Store, adjoint_of};
use crate::transport;
use crate::value::Value;

/// Direction in which a list of statements is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// Returns the other direction.
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }

    fn turned(self, turn: bool) -> Direction {
        if turn { self.opposite() } else { self }
    }

    fn is_backward(self) -> bool {
        self == Direction::Backward
    }
}

/// Maximum number of open calls. Each open call is a recursion of the executing thread.
const DEEPEST: usize = 20_000;

/// State of a run.
pub(crate) struct Walk<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) store: Store,
    pub(crate) globals: Vec<Cell>,
    /// Frame of main, which exists as long as the run.
    main: Rc<Frame>,
    open_calls: usize,
    /// Number of open calls of procedures that keep what they discard.
    pub(crate) keeping: usize,
    /// The values that were kept, with their adjoints; the last one was discarded last.
    pub(crate) history: Vec<Entry>,
    /// Number of statements that may still be executed.
    pub(crate) fuel: u64,
}

impl<'p> Walk<'p> {
    /// Creates a run with every global at its initial value.
    pub(crate) fn new(plan: &'p Plan) -> Walk<'p> {
        let mut store = Store::new(plan);
        let mut globals = Vec::new();
        for global in &plan.globals {
            globals.push(store.count());
            global.initial.iter().for_each(|value| {
                store.add(value.clone());
            });
        }
        let variables = plan.procedures.first().map_or(Vec::new(), |main| variables(&mut store, plan, main));
        let main = Frame { variables, references: Vec::new() };
        Walk {
            plan,
            store,
            globals,
            main: Rc::new(main),
            open_calls: 0,
            keeping: 0,
            history: Vec::new(),
            fuel: 0,
        }
    }

    /// Sets the cells of a global to the given values.
    pub(crate) fn give(&mut self, global: usize, values: &[Value]) {
        if let Some(Global { shape: Shape::Stack, class, .. }) = self.plan.globals.get(global) {
            let entries = values.iter().map(|value| self.store.entry(value.clone())).collect();
            *self.store.stack_mut(*class) = entries;
            return;
        }
        let start = self.globals.get(global).copied().unwrap_or(usize::MAX);
        (start..).zip(values).for_each(|(cell, value)| self.store.set(cell, value.clone()));
    }

    /// Sets the adjoints of all real globals; `adjoint` returns that of a cell.
    pub(crate) fn seed(&mut self, adjoint: impl Fn(&str, usize) -> Step<Value>) -> Step<()> {
        let globals = self.plan.globals.iter().zip(&self.globals);
        for (global, &start) in globals.filter(|(global, _)| global.class == Class::Real) {
            if global.shape == Shape::Stack {
                for (n, entry) in self.store.stack_mut(Class::Real).iter_mut().enumerate() {
                    entry.adjoint = adjoint(&global.name, n)?;
                }
            }
            for n in 0..global.shape.cells() {
                self.store.set(adjoint_of(start + n), adjoint(&global.name, n)?);
            }
        }
        Ok(())
    }

    /// Returns the values of a global's cells.
    pub(crate) fn values(&self, global: usize) -> Vec<&Value> {
        let start = self.globals.get(global).copied().unwrap_or(usize::MAX);
        let count = self.plan.globals.get(global).map_or(0, |global| global.shape.cells());
        (start..).take(count).filter_map(|cell| self.store.get(cell).ok()).collect()
    }

    /// Runs main from one end to the other.
    pub(crate) fn main(&mut self, direction: Direction) -> Step<()> {
        let Some(main) = self.plan.procedures.first() else { return Ok(()) };
        self.block(&Rc::clone(&self.main), &main.body, direction)
    }

    /// Returns the names of the variables in main's frame that aren't vacant.
    pub(crate) fn left_in_frame(&self) -> Vec<&'p str> {
        let left = self.main_frame().filter(|(cells, _)| !self.are_vacant(cells.clone()));
        left.map(|(_, variable)| variable.name.as_str()).collect()
    }

    /// Returns the variables of main's frame, with their cells.
    fn main_frame(&self) -> impl Iterator<Item = (Range<Cell>, &'p FrameVariable)> {
        let frame = self.plan.procedures.first().map_or(&[][..], |main| &main.frame);
        let starts = self.main.variables.iter().copied();
        starts.zip(frame).map(|(start, variable)| (start..start + variable.cells, variable))
    }

    fn are_vacant(&self, mut cells: Range<Cell>) -> bool {
        cells.all(|cell| self.store.demand_vacant(cell).is_ok())
    }

    /// Returns the names of the leftovers of gradient mode: the mode if it is on, and each adjoint that isn't 0 at the
    /// end. The adjoints of globals, of the real stack, and of main's frame are checked.
    pub(crate) fn left_in_gradient_mode(&self) -> Vec<String> {
        let of_globals = self
            .plan
            .globals
            .iter()
            .zip(&self.globals)
            .map(|(global, &start)| (start..start + global.shape.cells(), global.name.as_str()));
        let of_frame = self.main_frame().map(|(cells, variable)| (cells, variable.name.as_str()));
        let left = of_globals
            .chain(of_frame)
            .filter(|(cells, _)| !self.are_vacant(adjoint_of(cells.start)..adjoint_of(cells.end)));
        let tolerance = self.plan.numbers.tolerance;
        let entries = self.store.stack(Class::Real);
        let on_stack = entries.iter().any(|entry| !entry.adjoint.is_vacant(tolerance));
        let is_stack = |global: &&Global| global.shape == Shape::Stack && global.class == Class::Real;
        let stack = self.plan.globals.iter().find(is_stack).filter(|_| on_stack);
        let mode = self.store.mode.then(|| "mode".to_owned());
        let names = left.map(|(_, name)| name).chain(stack.map(|global| global.name.as_str()));
        mode.into_iter().chain(names.map(|name| format!("{name}'"))).collect()
    }

    /// Runs a procedure from its entry to its exit, or backward. The caller removes the cells of its frame.
    fn procedure(
        &mut self,
        procedure: &'p Procedure,
        references: Vec<Reference>,
        direction: Direction,
    ) -> Step<()> {
        let start = self.store.count();
        let variables = variables(&mut self.store, self.plan, procedure);
        self.block(&Frame { variables, references }, &procedure.body, direction)?;
        (start..self.store.count()).try_for_each(|cell| self.store.demand_vacant(cell))
    }

    pub(crate) fn reach<'a>(&'a self, frame: &'a Frame) -> Reach<'a> {
        Reach { store: &self.store, globals: &self.globals, frame }
    }

    fn tick(&mut self) -> Step<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Halt::TooLong)?;
        Ok(())
    }

    /// Executes a list of statements with the branches between its labels. `at` is the number of statements before
    /// the current position.
    fn block(&mut self, frame: &Frame, block: &'p Block, direction: Direction) -> Step<()> {
        let backward = direction.is_backward();
        let mut at = if backward { block.len() } else { 0 };
        while let Some(number) = if backward { at.checked_sub(1) } else { Some(at) }
            && let Some(statement) = block.get(number)
        {
            self.tick()?;
            let passed = if backward { number } else { number + 1 };
            at = match (statement, backward) {
                // In this direction the statement is a test. If its condition holds, control continues after the
                // partner, and the partner's condition must hold, too.
                (Statement::Br { partner, condition }, false)
                | (Statement::From { partner, condition }, true) => {
                    if self.condition(frame, condition)? {
                        self.demand(frame, agreement(block.get(*partner)), true)?;
                        if backward { *partner } else { partner + 1 }
                    } else {
                        passed
                    }
                }
                // In this direction the statement is a join. It is reached without a jump, so its condition must not
                // hold.
                (Statement::From { condition, .. }, false) | (Statement::Br { condition, .. }, true) => {
                    self.demand(frame, condition, false)?;
                    passed
                }
                _ => {
                    self.statement(frame, statement, direction)?;
                    passed
                }
            };
        }
        Ok(())
    }

    fn statement(&mut self, frame: &Frame, statement: &'p Statement, direction: Direction) -> Step<()> {
        let backward = direction.is_backward();
        let all = &mut Prepared::default();
        let count = self.store.count();
        match statement {
            Statement::Accumulate { update, function, target, sources } => {
                let target = self.found(frame, target, all)?;
                let sources = self.all_held(frame, sources, all)?;
                self.accumulate(frame, turned(*update, backward), *function, &target, &sources)?;
            }
            Statement::Single { update, target } => {
                let target = self.found(frame, target, all)?;
                let cell = self.lone_target(frame, &target)?;
                match update {
                    Update::Erase if self.keeping > 0 => self.discard(None, cell, backward)?,
                    Update::Forget if self.keeping > 0 => return unsupported("a kept bit"),
                    _ => self.store.single(reversible(turned(*update, backward))?, cell)?,
                }
            }
            Statement::Swap(x, y) => {
                let (x, y) = (self.found(frame, x, all)?, self.found(frame, y, all)?);
                self.swap(frame, &x, &y)?;
            }
            Statement::Rotate { back, x, y, angle } => {
                let (x, y) = (self.found(frame, x, all)?, self.found(frame, y, all)?);
                let angle = self.held(frame, angle, all)?;
                self.rotate(frame, &x, &y, &angle, *back != backward)?;
            }
            Statement::Call(call) => self.calling(frame, call, direction, all)?,
            Statement::Tasks(calls) => self.tasks(frame, calls, direction, all)?,
            Statement::Show(source) => {
                let source = self.held(frame, source, all)?;
                self.reach(frame).source(&source)?;
            }
            Statement::Local { cell, function, sources } => {
                let sources = self.all_held(frame, sources, all)?;
                self.ancilla(frame, cell, *function, &sources, backward)?;
            }
            Statement::Delocal { cell, function, sources } => {
                let sources = self.all_held(frame, sources, all)?;
                self.ancilla(frame, cell, *function, &sources, !backward)?;
            }
            other => return self.compound(frame, other, direction),
        }
        self.release(frame, all)?;
        self.store.truncate(count);
        Ok(())
    }

    fn all_held(&mut self, frame: &Frame, sources: &[Source], all: &mut Prepared) -> Step<Vec<Source>> {
        sources.iter().map(|source| self.held(frame, source, all)).collect()
    }

    /// Executes a statement that has no expressions, except in its conditions.
    fn compound(&mut self, frame: &Frame, statement: &'p Statement, direction: Direction) -> Step<()> {
        let backward = direction.is_backward();
        match statement {
            Statement::Assert(condition) => {
                if self.condition(frame, condition)? {
                    Ok(())
                } else {
                    trap(Trap::Assert)
                }
            }
            Statement::Switch { on } => self.switch(*on != backward),
            Statement::Vacant(array) => {
                let cells = self.reach(frame).cells(*array)?;
                cells.iter().try_for_each(|&cell| self.store.vacate(cell))
            }
            Statement::If { entry, then, otherwise, exit } => {
                let (entry, exit) = if backward { (exit, entry) } else { (entry, exit) };
                let first = self.condition(frame, entry)?;
                self.block(frame, if first { then } else { otherwise }, direction)?;
                self.demand(frame, exit, first)
            }
            Statement::Loop { entry, first, again, exit } => {
                let (entry, exit) = if backward { (exit, entry) } else { (entry, exit) };
                self.repeat(frame, [entry, exit], [first, again], direction)
            }
            Statement::For(counted) => self.counted(frame, counted, direction),
            Statement::TaskRounds(rounds) => self.task_rounds(frame, rounds, direction),
            Statement::CallVia { cell, calls } => self.call_via(frame, cell, calls, direction),
            Statement::Compute { body, apply } => {
                self.block(frame, body, Direction::Forward)?;
                self.block(frame, apply, direction)?;
                self.block(frame, body, Direction::Backward)
            }
            Statement::Macro { undo, values, body } => {
                let all = &mut Prepared::default();
                let count = self.store.count();
                let mut made = Vec::new();
                for (cell, Computed { function, sources, .. }) in values {
                    let sources = self.all_held(frame, sources, all)?;
                    self.ancilla(frame, cell, *function, &sources, false)?;
                    made.push((cell, *function, sources));
                }
                self.block(frame, body, direction.turned(*undo))?;
                for (cell, function, sources) in made.iter().rev() {
                    self.ancilla(frame, cell, *function, sources, true)?;
                }
                self.release(frame, all)?;
                self.store.truncate(count);
                Ok(())
            }
            // `block` executes branches, and separate methods execute the other statements.
            Statement::Br { .. }
            | Statement::From { .. }
            | Statement::Accumulate { .. }
            | Statement::Single { .. }
            | Statement::Swap(..)
            | Statement::Rotate { .. }
            | Statement::Call(_)
            | Statement::Tasks(_)
            | Statement::Show(_)
            | Statement::Local { .. }
            | Statement::Delocal { .. } => Ok(()),
        }
    }

    fn switch(&mut self, on: bool) -> Step<()> {
        if self.store.mode == on {
            return trap(Trap::Mode);
        }
        self.store.mode = on;
        Ok(())
    }

    /// Returns the target of an instruction without sources. Traps if the target's index depends on the target.
    fn lone_target(&self, frame: &Frame, target: &Place) -> Step<Cell> {
        let target = self.reach(frame).place(target)?;
        demand_no_index(&[target.cell], &[&target])?;
        Ok(target.cell)
    }

    /// Applies an update by a function value. `update` is `None` for a step that can't be undone; the cells are still
    /// resolved first, because that may trap.
    fn accumulate(
        &mut self,
        frame: &Frame,
        update: Option<Update>,
        function: Function,
        target: &Place,
        sources: &[Source],
    ) -> Step<()> {
        let reach = self.reach(frame);
        let target = reach.place(target)?;
        let cells: Vec<Option<Reached>> =
            sources.iter().map(|source| reach.source(source)).collect::<Step<_>>()?;
        let reached: Vec<&Reached> = cells.iter().flatten().collect();
        // An assignment has no inverse, so the replaced cell may be one of its sources.
        let assigns = update.is_none_or(|update| update == Update::Overwrite);
        if !assigns && reached.iter().any(|source| source.cell == target.cell) {
            return trap(Trap::Alias);
        }
        demand_no_index(&[target.cell], &[&[&target], &reached[..]].concat())?;
        let sources = cells.iter().zip(sources).map(|(reached, source)| {
            let cell = reached.as_ref().map(|reached| reached.cell);
            Ok(transport::Source { cell, value: reach.value(source)? })
        });
        let sources: Vec<transport::Source> = sources.collect::<Step<_>>()?;
        if assigns && self.keeping > 0 {
            return self.discard(Some((function, &sources)), target.cell, update.is_none());
        }
        self.update(reversible(update)?, function, target.cell, &sources)
    }

    /// Adds the value of an expression to the cell that holds it, or subtracts the value from this cell, depending on
    /// `update`.
    pub(crate) fn put(
        &mut self,
        frame: &Frame,
        update: Update,
        function: Function,
        cell: Cell,
        sources: &[Source],
    ) -> Step<()> {
        let reach = self.reach(frame);
        let sources = sources.iter().map(|source| {
            let cell = reach.source(source)?.map(|reached| reached.cell);
            Ok(transport::Source { cell, value: reach.value(source)? })
        });
        let sources: Vec<transport::Source> = sources.collect::<Step<_>>()?;
        self.update(update, function, cell, &sources)
    }

    pub(crate) fn system(&self) -> RealSystem {
        self.plan.numbers.system
    }

    pub(crate) fn update(
        &mut self,
        update: Update,
        function: Function,
        target: Cell,
        sources: &[transport::Source],
    ) -> Step<()> {
        let numbers = self.plan.numbers;
        let old = self.store.get(target)?;
        let values: Vec<&Value> = sources.iter().map(|source| &source.value).collect();
        let f = evaluate(function, old.class(), &values, numbers)?;
        let new = match old {
            Value::Int(old) => Value::Int(integer::update(update, old, f.int()?, numbers.bits)?),
            Value::Real(old) => Value::Real(old.updated(update, f.real()?)?),
        };
        let cells: Vec<Cell> = sources.iter().filter_map(|source| source.cell).chain([target]).collect();
        let adds = matches!(update, Update::Add | Update::Sub) && new.class() == Class::Real;
        if adds && self.store.carries(&cells) {
            let changes = self.store.shares(function, target, sources, update == Update::Add)?;
            self.store.carry(changes);
        }
        self.store.set(target, new);
        Ok(())
    }

    fn swap(&mut self, frame: &Frame, x: &Place, y: &Place) -> Step<()> {
        let reach = self.reach(frame);
        let (x, y) = (reach.place(x)?, reach.place(y)?);
        demand_no_index(&[x.cell, y.cell], &[&x, &y])?;
        self.store.swap(x.cell, y.cell)
    }

    fn rotate(&mut self, frame: &Frame, x: &Place, y: &Place, angle: &Source, back: bool) -> Step<()> {
        let reach = self.reach(frame);
        let (x, y, by) = (reach.place(x)?, reach.place(y)?, reach.source(angle)?);
        let angle_cell = by.as_ref().map(|by| by.cell);
        if x.cell == y.cell || angle_cell == Some(x.cell) || angle_cell == Some(y.cell) {
            return trap(Trap::Alias);
        }
        let angle = transport::Source { cell: angle_cell, value: reach.value(angle)? };
        let (new_x, new_y) = Real::rotated(
            self.store.get(x.cell)?.real()?,
            self.store.get(y.cell)?.real()?,
            angle.value.real()?,
            back,
        )?;
        let cells: Vec<Cell> = angle_cell.into_iter().chain([x.cell, y.cell]).collect();
        if self.store.carries(&cells) {
            let changes = self.store.rotated_adjoints([x.cell, y.cell], (&new_x, &new_y), &angle, back)?;
            self.store.carry(changes);
        }
        self.store.set(x.cell, Value::Real(new_x));
        self.store.set(y.cell, Value::Real(new_y));
        Ok(())
    }

    /// Executes a `local`, which sets a cell from 0 to a value, or if `ends` is true a `delocal`, which returns the
    /// cell to 0.
    fn ancilla(
        &mut self,
        frame: &Frame,
        place: &Place,
        function: Function,
        sources: &[Source],
        ends: bool,
    ) -> Step<()> {
        let cell = self.reach(frame).place(place)?.cell;
        if sources.is_empty() {
            return self.store.vacate(cell);
        }
        if ends {
            self.accumulate(frame, Some(Update::Sub), function, place, sources)?;
            return self.store.vacate(cell);
        }
        self.store.vacate(cell)?;
        self.accumulate(frame, Some(Update::Add), function, place, sources)
    }

    fn condition(&self, frame: &Frame, condition: &Condition) -> Step<bool> {
        Ok(match condition {
            Condition::Always => true,
            Condition::Forgotten if self.keeping > 0 => return unsupported("a kept path"),
            Condition::Forgotten => return trap(Trap::Irreversible),
            Condition::Compare(order, a, b) => {
                let reach = self.reach(frame);
                let found = match (reach.value(a)?, reach.value(b)?) {
                    (Value::Real(a), Value::Real(b)) => a.compare(&b)?,
                    (a, b) => a.int()?.cmp(b.int()?),
                };
                holds(*order, found)
            }
            Condition::Not(inner) => !self.condition(frame, inner)?,
            Condition::And(a, b) => self.condition(frame, a)? && self.condition(frame, b)?,
            Condition::Or(a, b) => self.condition(frame, a)? || self.condition(frame, b)?,
        })
    }

    /// Traps unless a condition has the value `wanted`, as the path taken requires.
    fn demand(&self, frame: &Frame, condition: &Condition, wanted: bool) -> Step<()> {
        if matches!(condition, Condition::Forgotten) || self.condition(frame, condition)? == wanted {
            return Ok(());
        }
        trap(if condition.is_compound() { Trap::Vacant } else { Trap::Branch })
    }

    fn repeat(
        &mut self,
        frame: &Frame,
        [entry, exit]: [&Condition; 2],
        [first, again]: [&'p Block; 2],
        direction: Direction,
    ) -> Step<()> {
        self.demand(frame, entry, true)?;
        loop {
            self.tick()?;
            self.block(frame, first, direction)?;
            if self.condition(frame, exit)? {
                return Ok(());
            }
            self.block(frame, again, direction)?;
            self.demand(frame, entry, false)?;
        }
    }

    pub(crate) fn counted(&mut self, frame: &Frame, tree: &'p For, direction: Direction) -> Step<()> {
        let bounds = [&tree.low, &tree.high];
        let [low, high] = bounds.map(|bound| self.bound(frame, bound));
        let (low, high) = (low?, high?);
        let checked = |this: &Self| {
            let [low_now, high_now] = bounds.map(|bound| this.bound(frame, bound));
            let same = this.compare(frame, &low, &low_now?)?.is_eq()
                && this.compare(frame, &high, &high_now?)?.is_eq();
            if same { Ok(()) } else { trap(Trap::Vacant) }
        };
        if self.compare(frame, &low, &high)?.is_ge() {
            return Ok(());
        }
        let counter = self.reach(frame).place(&tree.counter)?.cell;
        let source = Source::Place(tree.counter.clone());
        let down = tree.reversed != direction.is_backward();
        let (start, end) = if down { (&high, &low) } else { (&low, &high) };
        self.store.vacate(counter)?;
        let first = self.reach(frame).value(start)?;
        self.advance(counter, first.int()?.clone())?;
        loop {
            self.tick()?;
            if down {
                self.advance(counter, -&tree.step)?;
            }
            self.block(frame, &tree.body, direction)?;
            if !down {
                self.advance(counter, tree.step.clone())?;
            }
            let inside = |found: std::cmp::Ordering| if down { found.is_gt() } else { found.is_lt() };
            let behind = |found: std::cmp::Ordering| if down { found.is_lt() } else { found.is_gt() };
            if !inside(self.compare(frame, &source, end)?) {
                break;
            }
            if !behind(self.compare(frame, &source, start)?) {
                return trap(Trap::Branch);
            }
        }
        let last = self.reach(frame).value(end)?;
        self.advance(counter, -(last.int()?.clone()))?;
        self.store.vacate(counter)?;
        // After the loop, the bounds must still describe a range that isn't empty.
        if self.compare(frame, &low, &high)?.is_ge() {
            return trap(Trap::Branch);
        }
        checked(self)
    }

    /// Returns a bound of a loop. A bound that is an expression is evaluated here, once.
    pub(crate) fn bound(&self, frame: &Frame, bound: &Source) -> Step<Source> {
        if bound.is_computed() {
            self.reach(frame).value(bound).map(Source::Constant)
        } else {
            Ok(bound.clone())
        }
    }

    fn advance(&mut self, counter: Cell, by: BigInt) -> Step<()> {
        let sum = self.store.get(counter)?.int()? + by;
        self.store.set(counter, Value::Int(integer::wrap(sum, self.plan.numbers.bits)));
        Ok(())
    }

    fn compare(&self, frame: &Frame, a: &Source, b: &Source) -> Step<std::cmp::Ordering> {
        let reach = self.reach(frame);
        Ok(reach.value(a)?.int()?.cmp(reach.value(b)?.int()?))
    }

    /// Executes a call in the text: evaluates its arguments first.
    pub(crate) fn calling(
        &mut self,
        frame: &Frame,
        call: &'p Call,
        direction: Direction,
        all: &mut Prepared,
    ) -> Step<()> {
        let arguments = call.arguments.iter().map(|argument| self.passed(frame, argument, all));
        let arguments = arguments.collect::<Step<Vec<Argument>>>()?;
        self.called(frame, call, &arguments, direction)
    }

    /// Executes a call with evaluated arguments.
    pub(crate) fn called(
        &mut self,
        frame: &Frame,
        call: &'p Call,
        arguments: &[Argument],
        direction: Direction,
    ) -> Step<()> {
        let direction = direction.turned(call.undo);
        // If sums are exact, the order in which contributions are added doesn't matter, so no adjoints are set to 0
        // during the task.
        if !call.is_task || !self.store.mode || self.plan.numbers.system.is_exact() {
            return self.call(frame, call.procedure, arguments, direction);
        }
        let waiting = self.set_aside(frame, call.procedure, arguments)?;
        let outcome = self.call(frame, call.procedure, arguments, direction);
        // If a task traps, the contributions that it made before still count.
        let added = self.add_shares(waiting);
        outcome.and(added)
    }

    /// Executes the procedure whose number the cell holds. The cell must still hold this number afterwards.
    fn call_via(&mut self, frame: &Frame, cell: &Place, calls: &'p [Call], direction: Direction) -> Step<()> {
        let chosen = |this: &Self| {
            let reach = this.reach(frame);
            let number = this.store.get(reach.place(cell)?.cell)?.int()?.clone();
            Ok::<_, Halt>(calls.iter().find(|call| BigInt::from(call.procedure) == number))
        };
        let Some(call) = chosen(self)? else { return trap(Trap::Assert) };
        let all = &mut Prepared::default();
        let count = self.store.count();
        self.calling(frame, call, direction, all)?;
        self.release(frame, all)?;
        self.store.truncate(count);
        let after = chosen(self)?;
        if after.map(|call| call.procedure) == Some(call.procedure) { Ok(()) } else { trap(Trap::Branch) }
    }

    fn call(
        &mut self,
        frame: &Frame,
        number: usize,
        arguments: &[Argument],
        direction: Direction,
    ) -> Step<()> {
        if self.open_calls >= self.plan.depth {
            return trap(Trap::Depth);
        }
        if self.open_calls >= DEEPEST {
            return Err(Halt::TooLong);
        }
        let Some(procedure) = self.plan.procedures.get(number) else { return Ok(()) };
        let count = self.store.count();
        let resolved = self.arguments(frame, arguments)?;
        let references: Vec<Reference> = resolved
            .iter()
            .zip(arguments)
            .map(|(reference, argument)| self.reference(reference.clone(), argument))
            .collect();
        let outcome = demand_disjoint(&references, &procedure.parameters);
        if outcome.is_err() {
            self.store.truncate(count);
            return outcome;
        }
        self.open_calls += 1;
        let rule = procedure.rule.filter(|_| self.store.mode).and_then(|n| self.plan.procedures.get(n));
        match rule {
            None => self.part(frame, arguments, &resolved, (procedure, direction), references)?,
            Some(rule) => {
                // In gradient mode a call with a derivative rule has two parts. In both directions, the rule runs in
                // the state at the procedure's entry.
                let parts = match direction {
                    Direction::Forward => [(rule, Direction::Backward), (procedure, direction)],
                    Direction::Backward => [(procedure, direction), (rule, Direction::Forward)],
                };
                self.store.mode = false;
                for part in parts {
                    self.part(frame, arguments, &resolved, part, references.clone())?;
                }
                self.store.mode = true;
            }
        }
        self.open_calls -= 1;
        self.store.truncate(count);
        Ok(())
    }

    /// Runs a procedure's body as a call, or as one of the parts of a call with a rule. Traps if the arguments refer
    /// to other cells afterwards.
    fn part(
        &mut self,
        frame: &Frame,
        arguments: &[Argument],
        resolved: &[Option<Reference>],
        (procedure, direction): (&'p Procedure, Direction),
        references: Vec<Reference>,
    ) -> Step<()> {
        let count = self.store.count();
        let keeps = self.keep_from(procedure)?;
        self.procedure(procedure, references, direction)?;
        self.keeping -= usize::from(keeps);
        if self.arguments(frame, arguments)? != resolved {
            return trap(Trap::References);
        }
        self.store.truncate(count);
        Ok(())
    }

    pub(crate) fn arguments(&self, frame: &Frame, arguments: &[Argument]) -> Step<Vec<Option<Reference>>> {
        let reach = self.reach(frame);
        arguments.iter().map(|argument| reach.argument(argument)).collect()
    }

    /// Returns the reference for a parameter. A constant argument gets a separate cell.
    fn reference(&mut self, resolved: Option<Reference>, argument: &Argument) -> Reference {
        match (resolved, argument) {
            (Some(reference), _) => reference,
            (None, Argument::One(Source::Constant(value))) => {
                Reference::of(&[self.store.add_constant(value.clone())])
            }
            (None, _) => Reference::of(&[]),
        }
    }
}

/// Allocates the cells of a procedure's frame. Returns the first cell of each variable.
fn variables(store: &mut Store, plan: &Plan, procedure: &Procedure) -> Vec<Cell> {
    let mut variables = Vec::new();
    for variable in &procedure.frame {
        variables.push(store.count());
        for _ in 0..variable.cells {
            store.add(Value::zero(variable.class, plan.numbers.system));
        }
    }
    variables
}

/// Returns the condition of a branch's partner.
fn agreement(partner: Option<&Statement>) -> &Condition {
    match partner {
        Some(Statement::Br { condition, .. } | Statement::From { condition, .. }) => condition,
        _ => &Condition::Always,
    }
}

/// Traps if a target is a cell that was read to find an operand.
fn demand_no_index(targets: &[Cell], operands: &[&Reached]) -> Step<()> {
    let is_target = |cell: &Cell| targets.contains(cell);
    if operands.iter().any(|operand| operand.indices.iter().any(is_target)) {
        return trap(Trap::Alias);
    }
    Ok(())
}

/// Returns the update that a step executes: in a backward run the inverse. Returns `None` if there is none.
fn turned(update: Update, backward: bool) -> Option<Update> {
    use Update::{Add, Erase, Forget, Overwrite, Pop, Push, Read, Rol, Ror, Sub, Unread, Unwrite, Write};
    if !backward {
        return Some(update);
    }
    Some(match update {
        Add => Sub,
        Sub => Add,
        Rol => Ror,
        Ror => Rol,
        Push => Pop,
        Pop => Push,
        Read => Unread,
        Unread => Read,
        Write => Unwrite,
        Unwrite => Write,
        Overwrite | Erase | Forget => return None,
        // The others are their own inverse: involutions, and `vacate`.
        other => other,
    })
}

fn reversible(update: Option<Update>) -> Step<Update> {
    update.map_or_else(|| trap(Trap::Irreversible), Ok)
}
