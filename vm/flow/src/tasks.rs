//! Tasks: the calls between a `fork` and its `join`. Two tasks have a conflict if one task changes a cell that the
//! other task reads or changes. This module finds the task regions for which conflicts can be excluded before a run. If
//! conflicts can't be excluded before a run, the engine compares the arguments of the calls when it executes the
//! `fork`.

use reviver_isa::Module;
use reviver_isa::effects::Effects;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::{Parameter, Passing};
use reviver_isa::tasks::{TaskRegion, regions};
use reviver_isa::update::{Action, Update};

use crate::alias::{Alias, Aliases};
use crate::call::{Array, CallSite, Passed};
use crate::slot::{Anchor, ArrayElement, ArrayIndex, Location, Slot};
use crate::{Access, Flow, Step, StepLink};

/// A task region: the calls between a `fork` and its `join`.
#[derive(Clone, Debug)]
pub struct TaskFork {
    /// The positions of the `fork` and of its `join`.
    pub region: TaskRegion,
    /// The numbers of the call instructions.
    pub calls: Vec<u32>,
    /// True if the tasks are known before a run to be free of conflicts.
    pub is_apart: bool,
    /// True if one of the tasks may print.
    pub shows: bool,
    /// The integer cells that determine which calls are executed, and with which arguments. No task may change these
    /// cells.
    pub call_inputs: Vec<Slot>,
}

/// The cells of a global that a procedure names, directly or through its callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalCells {
    /// The class of all cells of the global.
    pub class: Class,
    /// The first cell of the global, among all cells of the class.
    pub base: u32,
    /// The number of cells of the global.
    pub length: u32,
    /// True if the procedure may change the cells.
    pub may_change: bool,
}

/// Maximum number of pairs of arguments that are compared before a run for one `fork`. If there are more, the engine
/// compares arguments when it executes the `fork`.
const MOST_PAIRS: usize = 1 << 12;

/// Finds the task regions of a module, and for each procedure the globals that it names; `None` if there are no
/// tasks.
pub(crate) fn of(module: &Module, flow: &Flow) -> Option<(Vec<TaskFork>, Vec<Vec<GlobalCells>>)> {
    let bounds = |action| matches!(action, Action::Tasks(_));
    if !flow.steps().iter().any(|step| bounds(step.operation.update.action())) {
        return None;
    }
    let effects = Effects::of(module)?;
    let named: Vec<Vec<GlobalCells>> = (0..module.procedures.len() as u32)
        .map(|procedure| named(module, flow, &effects, procedure))
        .collect();
    let mut forks = Vec::new();
    for procedure in &module.procedures {
        let first = procedure.entry + 1;
        let code = module.code.get(first as usize..procedure.exit as usize).unwrap_or_default();
        let found = regions(first, code).unwrap_or_default();
        forks.extend(found.into_iter().map(|region| fork(module, flow, &effects, &named, region)));
    }
    Some((forks, named))
}

fn named(module: &Module, flow: &Flow, effects: &Effects, procedure: u32) -> Vec<GlobalCells> {
    let changed: Vec<u32> = effects.of_call(procedure).collect();
    let cells = |global: u32| {
        let declared = module.globals.get(global as usize)?;
        Some(GlobalCells {
            class: declared.class,
            base: *flow.layout().globals.get(global as usize)?,
            length: declared.shape.cells() as u32,
            may_change: changed.binary_search(&global).is_ok(),
        })
    };
    effects.named_by(procedure).filter_map(cells).collect()
}

fn fork(
    module: &Module,
    flow: &Flow,
    effects: &Effects,
    named: &[Vec<GlobalCells>],
    region: TaskRegion,
) -> TaskFork {
    let mut calls = Vec::new();
    let mut call_inputs = Vec::new();
    let (mut shows, mut is_straight) = (false, true);
    for at in region.opens + 1..region.closes {
        let Some(step) = flow.step(at) else { continue };
        match step.operation.update.action() {
            Action::Call(_) => {
                calls.push(at);
                shows |= flow.call_at(at).is_none_or(|call| effects.shows(call.procedure));
                flow.visit_passed(at, |slot| call_inputs.push(*slot));
            }
            _ => {
                is_straight = false;
                flow.visit_accesses(at, |access, slot| {
                    if access == Access::Read && slot.class == Class::Int && !slot.is_constant() {
                        call_inputs.push(*slot);
                    }
                });
            }
        }
    }
    call_inputs.sort_unstable_by_key(|slot| format!("{slot:?}"));
    call_inputs.dedup();
    let tasks = TaskArguments { module, flow, named, call_inputs: &call_inputs };
    let is_apart = match (is_straight, calls.as_slice()) {
        (true, _) => tasks.are_apart(&calls),
        (false, &[call]) => tasks.iterations_are_independent(region, call),
        (false, _) => false,
    };
    TaskFork { region, calls, is_apart, shows, call_inputs }
}

/// The arguments of calls and the globals that callees name, with queries for conflicts between them.
#[derive(Clone, Copy)]
struct TaskArguments<'f> {
    module: &'f Module,
    flow: &'f Flow,
    named: &'f [Vec<GlobalCells>],
    call_inputs: &'f [Slot],
}

/// Cells that a task may read or change.
struct Touched {
    class: Class,
    passed: Passed,
    may_change: bool,
}

impl<'f> TaskArguments<'f> {
    fn aliases(self) -> Aliases<'f> {
        Aliases { elements: self.flow.elements() }
    }

    fn parameters(self, call: &CallSite) -> &'f [Parameter] {
        self.module.procedures.get(call.procedure as usize).map_or(&[], |callee| &callee.parameters)
    }

    /// Returns all cells that a call may read or change: its arguments, and the globals that the callee names.
    fn touched(self, call: &CallSite) -> Vec<Touched> {
        let passed = call.arguments.iter().zip(self.parameters(call)).map(|(passed, parameter)| Touched {
            class: parameter.class,
            passed: *passed,
            may_change: parameter.passing == Passing::InOut,
        });
        let named = self.named.get(call.procedure as usize).into_iter().flatten().map(|cells| Touched {
            class: cells.class,
            passed: Passed::Whole(Array { base: Anchor::Fixed(cells.base), length: Some(cells.length) }),
            may_change: cells.may_change,
        });
        passed.chain(named).collect()
    }

    /// Returns true if two accesses may share a cell that one of them changes.
    fn may_share(self, a: &Touched, b: &Touched) -> bool {
        a.class == b.class && (a.may_change || b.may_change) && self.aliases().may_share(&a.passed, &b.passed)
    }

    /// Returns true if a call may change an integer that determines which calls the region executes, or their
    /// arguments.
    fn may_change_call_inputs(self, touched: &[Touched]) -> bool {
        let changes = |touched: &&Touched| touched.may_change && touched.class == Class::Int;
        touched.iter().filter(changes).any(|touched| {
            self.call_inputs
                .iter()
                .any(|slot| self.aliases().may_share(&touched.passed, &Passed::Cell(*slot)))
        })
    }

    /// Returns true if the calls, each executed once, are free of conflicts.
    fn are_apart(self, calls: &[u32]) -> bool {
        let tasks: Vec<Vec<Touched>> =
            calls.iter().filter_map(|&at| self.flow.call_at(at)).map(|call| self.touched(call)).collect();
        let all: usize = tasks.iter().map(Vec::len).sum();
        if tasks.len() != calls.len() || all * all > MOST_PAIRS {
            return false;
        }
        let share = |a: &[Touched], b: &[Touched]| a.iter().any(|a| b.iter().any(|b| self.may_share(a, b)));
        let pairs_share = tasks
            .iter()
            .enumerate()
            .any(|(n, task)| tasks.iter().take(n).any(|earlier| share(earlier, task)));
        !pairs_share && !tasks.iter().any(|task| self.may_change_call_inputs(task))
    }

    /// Returns true if the iterations of a loop around one call are free of conflicts. Freedom from conflicts is known
    /// if the loop counter selects each argument that the call changes: an element, a row or a column. The counter
    /// differs in every iteration. In addition, no other argument may overlap the array of a changed argument.
    fn iterations_are_independent(self, region: TaskRegion, at: u32) -> bool {
        let (Some(counter), Some(call)) = (self.counter(region, at), self.flow.call_at(at)) else {
            return false;
        };
        let touched = self.touched(call);
        let are_apart = touched.iter().enumerate().filter(|(_, one)| one.may_change).all(|(n, one)| {
            let others = touched.iter().enumerate().filter(|&(m, _)| m != n);
            self.differs_by_iteration(&one.passed, counter)
                && !others.into_iter().any(|(_, other)| self.may_share(one, other))
        });
        are_apart && !self.may_change_call_inputs(&touched)
    }

    /// Returns true if the counter selects the argument: an element, row or column that differs in each iteration.
    fn differs_by_iteration(self, passed: &Passed, counter: Anchor) -> bool {
        let counts = |index: ArrayIndex| index.cell == Some(counter);
        match *passed {
            Passed::Cell(Slot { location: Location::Element(number), .. }) => match self.flow.element(number)
            {
                Some(ArrayElement::Vector { index, .. }) => counts(*index),
                Some(ArrayElement::Matrix { row, column, .. }) => counts(*row) || counts(*column),
                None => false,
            },
            Passed::Row { row: index, .. } | Passed::Column { column: index, .. } => counts(index),
            Passed::Cell(_)
            | Passed::Whole(_)
            | Passed::Matrix(_)
            | Passed::Flat(_)
            | Passed::Span { .. } => false,
        }
    }

    /// Returns the counter of the loop around a call: an integer that exactly one step of an iteration changes, by
    /// adding or subtracting a constant. Returns `None` if no counter is found.
    fn counter(self, region: TaskRegion, call: u32) -> Option<Anchor> {
        let steps = || (region.opens + 1..region.closes).filter_map(|at| Some((at, self.flow.step(at)?)));
        let around = steps().find_map(|(at, step)| match (step.operation.update, step.link) {
            (Update::From, StepLink::Partner(partner)) if at < call && call < partner => Some((at, partner)),
            _ => None,
        });
        let (top, back) = around?;
        let body = || (top + 1..back).filter(|&at| at != call).filter_map(|at| self.flow.step(at));
        let is_branch = |action| matches!(action, Action::Jump | Action::Join | Action::Call(_));
        if body().any(|step| is_branch(step.operation.update.action())) {
            return None;
        }
        let advances = |step: &&Step| {
            let Some(by) = step.slots.get(1).filter(|slot| slot.is_constant()) else { return false };
            matches!(step.operation.update, Update::Add | Update::Sub)
                && step.operation.function == Function::Copy
                && self.constant(by).is_some_and(|by| by != 0)
        };
        let target = |step: &Step| match step.slots.first().map(|slot| slot.location) {
            Some(Location::Cell(anchor)) => Some(anchor),
            _ => None,
        };
        let counter = target(body().find(advances)?)?;
        let changes = |step: &Step, cell: &Slot| {
            let targets = step.operation.update.shape().targets();
            step.slots.iter().take(targets).any(|slot| self.aliases().of(slot, cell) != Alias::Never)
        };
        let own = Slot::int(counter);
        // The loop's `from` compares the counter with a loop invariant, so the counter never has its initial value
        // again. With a constant increment, it never has any other value twice either.
        let compared = &self.flow.step(top)?.slots;
        let stays = |slot: &&Slot| {
            matches!(slot.location, Location::Cell(_))
                && **slot != own
                && !body().any(|step| changes(step, slot))
        };
        let is_compared = compared.contains(&own) && compared.iter().filter(stays).count() == 1;
        (is_compared && body().filter(|step| changes(step, &own)).count() == 1).then_some(counter)
    }

    /// Returns the value of an integer immediate.
    fn constant(self, slot: &Slot) -> Option<i64> {
        let Location::Cell(Anchor::Constant(cell)) = slot.location else { return None };
        let layout = self.flow.layout();
        layout.pool_ints.get(cell.checked_sub(layout.pool_ints_start)? as usize).copied()
    }
}
