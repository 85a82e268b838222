//! Rules about tasks. Every `fork` has its `join`. Between them there are only calls, and instructions that
//! count the calls. No task certainly accesses a cell that another task changes. Cases that depend on values
//! are checked when the `fork` is executed.

use std::collections::{BTreeMap, HashMap};

use super::elements::{self, CertainElements};
use super::overlap::PassedPlaces;
use super::{Checker, Site};
use crate::codes::ProblemCode;
use crate::effects::Effects;
use crate::instruction::{Argument, Base, Call, Instruction, Link, Operand, Place};
use crate::module::{Parameter, Passing, Procedure};
use crate::tasks::{MisplacedBound, TaskRegion, regions};
use crate::update::{Action, TaskBound};

/// The maximum number of arguments that are compared element by element. Conflicts with further arguments are
/// detected at run time.
const MOST_ELEMENTS: usize = 64;

/// An argument of a task, with the array elements that it certainly names.
struct PassedElements {
    /// The index of the argument in the list of all tasks' arguments.
    n: u32,
    elements: CertainElements,
    may_change: bool,
}

/// A call between a `fork` and its `join`.
#[derive(Clone, Copy)]
struct CalledTask<'a> {
    at: u32,
    call: &'a Call,
    callee: &'a Procedure,
}

impl<'a> Checker<'a> {
    pub(super) fn tasks(&mut self) {
        let code = &self.module.code;
        let opens = |instruction: &Instruction| matches!(instruction.update.action(), Action::Tasks(_));
        // The following checks assume that all instructions are valid.
        if !self.violations.is_empty() || !code.iter().any(opens) {
            return;
        }
        let Some(effects) = Effects::of(self.module) else {
            self.report(
                ProblemCode::TooMuch,
                Site::Module,
                "the procedures name too many globals to check which ones tasks share",
            );
            return;
        };
        for procedure in &self.module.procedures {
            let first = procedure.entry + 1;
            let body = code.get(first as usize..procedure.exit as usize).unwrap_or_default();
            match regions(first, body) {
                Ok(found) => found.iter().for_each(|&region| self.region(region, &effects)),
                Err(misplaced) => self.misplaced(misplaced),
            }
        }
    }

    fn misplaced(&mut self, misplaced: MisplacedBound) {
        let code = ProblemCode::TasksMisplaced;
        match misplaced {
            MisplacedBound::ForkInFork { at, open } => {
                let violation = self.report(
                    code,
                    Site::Instruction(at),
                    "this `fork` is between another `fork` and its `join`",
                );
                violation.other =
                    Some((Site::Instruction(open), "no `join` ends this `fork` before the inner one".into()));
                violation.help = Some(
                    "end the first `fork` with `join`, or write this `fork` in a procedure that a task calls"
                        .into(),
                );
            }
            MisplacedBound::JoinAlone { at } => {
                self.report(code, Site::Instruction(at), "this `join` has no `fork`").help =
                    Some("write a `fork` before the calls, and its `join` after them".into());
            }
            MisplacedBound::ForkAlone { at } => {
                self.report(code, Site::Instruction(at), "this `fork` has no `join`").help =
                    Some("write `join` after the calls, in the same procedure".into());
            }
        }
    }

    fn region(&mut self, region: TaskRegion, effects: &Effects) {
        let module = self.module;
        let mut tasks = Vec::new();
        let mut is_straight = true;
        for at in region.opens + 1..region.closes {
            let Some(instruction) = module.code.get(at as usize) else { return };
            match instruction.update.action() {
                Action::Call(_) => {
                    let task = self.task(at, instruction);
                    // If several tasks call the same procedure, only the first is reported.
                    let is_first = |task: &CalledTask<'_>| {
                        tasks.iter().all(|other: &CalledTask<'_>| other.call.procedure != task.call.procedure)
                    };
                    if let Some(task) = task.filter(is_first) {
                        self.unfit(task, effects);
                    }
                    tasks.extend(task);
                }
                Action::Jump | Action::Join => {
                    is_straight = false;
                    self.branch_of_tasks(region, at, instruction);
                }
                _ if self.counts_tasks(instruction) => {}
                _ => self.no_task(at, instruction),
            }
        }
        self.globals_of_tasks(&tasks, is_straight, effects);
        match is_straight {
            true => self.same_cells_of_tasks(&tasks),
            false => self.same_cell_of_each_task(&tasks),
        }
    }

    fn task(&self, at: u32, instruction: &'a Instruction) -> Option<CalledTask<'a>> {
        let Link::Calls(calls) = &instruction.link else { return None };
        let call = calls.first()?;
        let callee = self.module.procedures.get(call.procedure as usize)?;
        Some(CalledTask { at, call, callee })
    }

    /// Reports a task that uses a stack, a tape or gradient mode, which all tasks share.
    fn unfit(&mut self, CalledTask { at, call, callee }: CalledTask<'_>, effects: &Effects) {
        let Some(unfit) = effects.unfit_for_tasks(call.procedure) else { return };
        let what = self.module.code.get(unfit as usize).map_or("this", |unfit| unfit.update.name());
        let message = format!("`{}` can't be a task: it executes a `{what}`", callee.name);
        let violation = self.report(ProblemCode::NoTask, Site::Instruction(at), message);
        violation.other =
            Some((Site::Instruction(unfit), "all tasks share the stacks, the tapes and the mode".into()));
        violation.help = Some("pass the values in cells, or call the procedure outside of the `par`".into());
    }

    /// Reports a branch between `fork` and `join` whose partner is outside of that region.
    fn branch_of_tasks(&mut self, region: TaskRegion, at: u32, instruction: &Instruction) {
        let Link::Partner(partner) = instruction.link else { return };
        if !region.contains(partner) {
            let violation = self.report(
                ProblemCode::TasksMisplaced,
                Site::Instruction(at),
                "a branch leads out of the part between `fork` and `join`",
            );
            violation.other = Some((Site::Instruction(partner), "its partner".into()));
        }
    }

    /// Returns true if an instruction changes only scalars of the procedure's own frame, as do the instructions that
    /// count the tasks of a `par for`.
    fn counts_tasks(&self, instruction: &Instruction) -> bool {
        let targets = instruction.update.shape().targets();
        let is_own = |operand: &Operand| {
            matches!(operand, Operand::Place(Place { base: Base::Frame(_), index: None, .. }))
        };
        let is_counting = matches!(
            instruction.update.action(),
            Action::Accumulate | Action::Map | Action::Exchange | Action::Clear | Action::Test
        );
        is_counting && instruction.operands.iter().take(targets).all(is_own)
    }

    fn no_task(&mut self, at: u32, instruction: &Instruction) {
        let message = match instruction.update.action() {
            Action::Tasks(TaskBound::Opens | TaskBound::Closes) => return,
            _ => format!("`{}` isn't allowed between `fork` and `join`", instruction.update.name()),
        };
        self.report(ProblemCode::NoTask, Site::Instruction(at), message).help =
            Some("between `fork` and `join`, write only calls, and statements that count the calls in variables of the procedure; move other statements into the callees".into());
    }

    /// Reports the first global that one task changes and another task names. In a loop, each call is several
    /// tasks, so it is also compared with itself.
    fn globals_of_tasks(&mut self, tasks: &[CalledTask<'a>], is_straight: bool, effects: &Effects) {
        let uses = uses_of_globals(tasks, effects);
        let Some((global, at, other)) = uses.iter().find_map(|(&global, uses)| {
            let (at, other) = uses.conflict(is_straight)?;
            Some((global, at, other))
        }) else {
            return;
        };
        let name = self.module.globals.get(global as usize).map_or("a global", |global| &global.name);
        let message = match at == other {
            true => format!("each of these tasks changes `{name}`"),
            false => format!("one task changes `{name}`, and another task uses it"),
        };
        let violation = self.report(ProblemCode::TasksShare, Site::Instruction(at), message);
        if at != other {
            violation.other = Some((Site::Instruction(other), "the other task".into()));
        }
        violation.help = Some("pass each task separate cells, or different elements".into());
    }

    /// Reports an `inout` argument of a task in a loop if the argument is the same cell in each iteration.
    fn same_cell_of_each_task(&mut self, tasks: &[CalledTask<'a>]) {
        let found = tasks.iter().find_map(|task| {
            let arguments = task.call.arguments.iter().zip(&task.callee.parameters);
            let changed = |(_, (argument, parameter)): &(u32, (&Argument, &Parameter))| {
                parameter.passing == Passing::InOut && elements::is_fixed(argument)
            };
            (0..).zip(arguments).find(changed).map(|(nth, _)| (task.at, nth))
        });
        let Some((at, nth)) = found else { return };
        let message = "each of these tasks is passed the same cells, and may change them";
        self.report(ProblemCode::TasksShare, Site::Operand(at, nth), message).help =
            Some("pass each task separate cells; cells that tasks only read can be `in`".into());
    }

    /// Reports arguments of two tasks that certainly share cells, unless both are `in`.
    fn same_cells_of_tasks(&mut self, tasks: &[CalledTask<'a>]) {
        let mut passed = PassedPlaces::default();
        let mut numbers: Vec<(u32, u32)> = Vec::new();
        let mut elements: Vec<PassedElements> = Vec::new();
        for task in tasks {
            let first = numbers.len() as u32;
            let arguments = task.call.arguments.iter().zip(&task.callee.parameters);
            for (nth, (argument, parameter)) in (0..).zip(arguments) {
                let n = first + nth;
                numbers.push((task.at, nth));
                let may_change = parameter.passing == Passing::InOut;
                let certain = CertainElements::of(self.module, argument);
                let of_others = || elements.iter().filter(|other| other.n < first);
                let meets = |own: CertainElements| {
                    of_others().find(|other| (may_change || other.may_change) && own.meet(&other.elements))
                };
                let earlier = passed.add(n, argument, may_change).filter(|&m| m < first);
                let earlier = earlier.or_else(|| certain.and_then(meets).map(|other| other.n));
                if elements.len() < MOST_ELEMENTS {
                    elements.extend(certain.map(|elements| PassedElements { n, elements, may_change }));
                }
                if let Some(&(at, m)) = earlier.and_then(|m| numbers.get(m as usize)) {
                    let violation = self.report(
                        ProblemCode::TasksShare,
                        Site::Operand(task.at, nth),
                        "two tasks are passed the same cells, and one of them may change them",
                    );
                    violation.other = Some((Site::Operand(at, m), "passed here too".into()));
                    violation.help =
                        Some("pass each task separate cells; cells that tasks only read can be `in`".into());
                    return;
                }
            }
        }
    }
}

/// The instruction indices of the first two tasks that use a global in some way.
#[derive(Clone, Copy, Default)]
struct FirstTwo([Option<u32>; 2]);

impl FirstTwo {
    fn note(&mut self, at: u32) {
        match self.0 {
            [None, _] => self.0[0] = Some(at),
            [Some(first), None] if first != at => self.0[1] = Some(at),
            _ => {}
        }
    }

    fn iter(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().flatten()
    }
}

/// The tasks that use a global, separately for each kind of use.
#[derive(Clone, Copy, Default)]
struct GlobalUses {
    /// Tasks whose procedure may change the global by its name.
    change: FirstTwo,
    /// Tasks whose procedure names the global.
    name: FirstTwo,
    /// Tasks with an argument, `in` or `inout`, that is the global or a part of the global.
    are_passed: FirstTwo,
    may_change_passed: FirstTwo,
}

impl GlobalUses {
    /// Returns the instruction indices of two tasks of which one changes the global and the other accesses
    /// it. Two tasks that are both passed parts of the global don't count, because the parts may be disjoint.
    fn conflict(&self, is_straight: bool) -> Option<(u32, u32)> {
        let pair = |changing: FirstTwo, touching: FirstTwo| {
            let touching = || touching.iter();
            changing
                .iter()
                .find_map(|at| touching().find(|&other| other != at || !is_straight).map(|other| (at, other)))
        };
        pair(self.change, self.name)
            .or_else(|| pair(self.change, self.are_passed))
            .or_else(|| pair(self.may_change_passed, self.name))
    }
}

fn uses_of_globals(tasks: &[CalledTask<'_>], effects: &Effects) -> BTreeMap<u32, GlobalUses> {
    let mut uses: BTreeMap<u32, GlobalUses> = BTreeMap::new();
    let mut seen: HashMap<u32, FirstTwo> = HashMap::new();
    for task in tasks {
        let callee = task.call.procedure;
        let of_callee = seen.entry(callee).or_default();
        of_callee.note(task.at);
        // All calls of a procedure have the same effects on globals, so recording two of them suffices.
        if of_callee.iter().any(|at| at == task.at) {
            effects.of_call(callee).for_each(|global| uses.entry(global).or_default().change.note(task.at));
            effects.named_by(callee).for_each(|global| uses.entry(global).or_default().name.note(task.at));
        }
        for (argument, parameter) in task.call.arguments.iter().zip(&task.callee.parameters) {
            let base = match argument {
                Argument::Scalar(Operand::Place(Place { base, .. })) => *base,
                Argument::Slice(slice) => slice.base,
                Argument::Scalar(_) => continue,
            };
            let Base::Global(global) = base else { continue };
            let uses = uses.entry(global).or_default();
            uses.are_passed.note(task.at);
            if parameter.passing == Passing::InOut {
                uses.may_change_passed.note(task.at);
            }
        }
    }
    uses
}
