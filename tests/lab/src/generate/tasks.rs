//! Generates tasks. A task's procedure accesses only its parameters. The tasks of a `par` are passed different
//! variables, unless all of them only read.

use super::procedure::{Call, Parameter, Procedure, Use};
use super::scope::{Extent, Id};
use super::writer::Writer;

/// Beginnings of lines that a task must not contain.
const UNFIT: [&str; 9] = ["push", "pop", "read", "unread", "write", "unwrite", "grad.", "uncall q", "call q"];

impl Writer<'_> {
    /// Writes a few procedures for tasks, which access only their parameters.
    pub fn task_procedures(&mut self) -> Vec<String> {
        if !self.profile.tasks {
            return Vec::new();
        }
        let (scope, procedures) = (std::mem::take(&mut self.scope), std::mem::take(&mut self.procedures));
        let mut lines = Vec::new();
        for _ in 0..4 {
            let own = self.procedure();
            let is_unfit = |line: &String| UNFIT.iter().any(|word| line.trim_start().starts_with(word));
            let switches = self.procedures.last().is_some_and(|procedure| procedure.switches);
            if switches || own.iter().any(is_unfit) {
                self.procedures.pop();
            } else {
                lines.extend(own);
            }
        }
        self.task_procedures = std::mem::replace(&mut self.procedures, procedures);
        self.scope = scope;
        lines
    }

    /// Writes `par p(…), q(…)`, or a `par for`.
    pub fn tasks(&mut self) -> bool {
        let is_possible = !self.task_procedures.is_empty() && !self.in_rule && self.rng.chance(60);
        is_possible && if self.rng.chance(35) { self.iterations_of_tasks() } else { self.several_tasks() }
    }

    /// Returns a task procedure for which `count` calls fit into the remaining step budget.
    fn task_procedure(&mut self, count: u64) -> Option<Procedure> {
        let procedure = self.rng.pick(&self.task_procedures.clone()).clone();
        (procedure.cost * 2 * count < self.room).then_some(procedure)
    }

    fn several_tasks(&mut self) -> bool {
        let count = self.rng.within(1..=4) as u64;
        let mark = self.scope.mark();
        let (mut taken, mut calls, mut cost) = (Vec::new(), Vec::new(), 0);
        for _ in 0..count {
            let Some(procedure) = self.task_procedure(count) else { return false };
            let mut call = Call::default();
            let mut arguments = Vec::new();
            for parameter in &procedure.parameters {
                let Some(argument) = self.argument(parameter, &mut taken, &mut call) else { return false };
                arguments.push(argument);
            }
            cost += procedure.cost;
            call.callee = format!("{}({})", procedure.name, arguments.join(", "));
            calls.push(call);
        }
        // The indices in these arguments depend on the variables named so far, which no task may change.
        let indices = self.scope.touched_since(mark);
        if indices.iter().any(|index| changes(&taken, *index)) {
            return false;
        }
        taken.iter().for_each(|&(id, _)| self.scope.touch(id));
        self.room = self.room.saturating_sub(cost);
        let update = if self.rng.chance(60) { "par" } else { "unpar" };
        let callees: Vec<&str> = calls.iter().map(|call| call.callee.as_str()).collect();
        calls.iter().flat_map(|call| &call.before).for_each(|line| self.line(line));
        self.line(format!("{update} {}", callees.join(", ")));
        calls.iter().rev().flat_map(|call| &call.after).for_each(|line| self.line(line));
        true
    }

    fn iterations_of_tasks(&mut self) -> bool {
        let count = self.rng.within(1..=4);
        let Some(procedure) = self.task_procedure(count as u64) else { return false };
        let counter = self.name("i");
        let mark = self.scope.mark();
        let (mut taken, mut call, mut arguments) = (Vec::new(), Call::default(), Vec::new());
        for parameter in &procedure.parameters {
            let argument = match (parameter.usage, parameter.least) {
                (Use::Change, Extent::Scalar) => {
                    self.element_of_round(parameter, count, &counter, &mut taken)
                }
                (Use::Read, _) => self.argument(parameter, &mut taken, &mut call),
                _ => None,
            };
            let Some(argument) = argument else { return false };
            arguments.push(argument);
        }
        let indices = self.scope.touched_since(mark);
        if indices.iter().any(|index| changes(&taken, *index)) {
            return false;
        }
        taken.iter().for_each(|&(id, _)| self.scope.touch(id));
        self.room = self.room.saturating_sub(procedure.cost * count as u64);
        let update = if self.rng.chance(60) { "par" } else { "unpar" };
        let reversed = if self.rng.chance(30) { " reversed" } else { "" };
        let arguments = arguments.join(", ");
        self.line(format!(
            "{update} for {counter} in 0..{count}{reversed} call {}({arguments})",
            procedure.name
        ));
        true
    }

    /// Returns an element of a vector for the task of an iteration. The vector has at least as many elements as there
    /// are iterations.
    fn element_of_round(
        &mut self,
        parameter: &Parameter,
        count: i64,
        counter: &str,
        taken: &mut Vec<(Id, Use)>,
    ) -> Option<String> {
        let vector = Parameter { least: Extent::Vector(count), ..parameter.clone() };
        let id = self.free_variable(&vector, taken)?;
        let variable = self.scope.get(id).clone();
        if !matches!(variable.extent, Extent::Vector(_)) {
            return None;
        }
        taken.push((id, Use::Change));
        Some(format!("{}[{counter}]", variable.name))
    }
}

/// Returns true if a variable is among those passed to a task that may change them.
fn changes(taken: &[(Id, Use)], id: Id) -> bool {
    taken.iter().any(|&(other, usage)| other == id && usage != Use::Read)
}
