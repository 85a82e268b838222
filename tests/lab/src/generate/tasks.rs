//! Calls that may be made at the same time. What can be a task works on its parameters alone, and the tasks of a `par` are passed
//! variables that differ, unless all of them only read it.

use super::procedure::{Call, Parameter, Procedure, Use};
use super::scope::{Extent, Id};
use super::writer::Writer;

/// What no task may do, by how a line that does it begins.
const UNFIT: [&str; 9] = ["push", "pop", "read", "unread", "write", "unwrite", "grad.", "uncall q", "call q"];

impl Writer<'_> {
    /// A few procedures that can be tasks: they see nothing but what they are passed.
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

    /// `par p(…), q(…)`, or the same of rounds.
    pub fn tasks(&mut self) -> bool {
        let is_possible = !self.task_procedures.is_empty() && !self.in_rule && self.rng.chance(60);
        is_possible && if self.rng.chance(35) { self.rounds_of_tasks() } else { self.several_tasks() }
    }

    /// One that fits the room that is left for so many.
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
        // What was touched so far are indices: no task may change them.
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

    fn rounds_of_tasks(&mut self) -> bool {
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

    /// An element of a vector that has as many as there are rounds.
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

/// Whether a variable is passed to be changed.
fn changes(taken: &[(Id, Use)], id: Id) -> bool {
    taken.iter().any(|&(other, usage)| other == id && usage != Use::Read)
}
