//! Explanations of conflicts between tasks: shared cells that one of the tasks may change.

use reviver_isa::instruction::Link;
use reviver_isa::structure::{Block, BlockKind};

use super::{Explainer, ExplanationText};
use crate::trap::TaskArgument;

impl Explainer<'_> {
    /// Explains a conflict between two tasks. The conflict was found before the tasks began.
    pub(super) fn tasks_share(&self, first: TaskArgument, second: TaskArgument) -> ExplanationText {
        let message = match first.task == second.task {
            true => format!(
                "{} includes an integer that selects the cells of tasks, and the task may change this integer",
                self.task_text(first)
            ),
            false => format!(
                "{} and {} share cells, and one of the tasks may change these cells",
                self.task_text(first),
                self.task_text(second)
            ),
        };
        let is_elsewhere = |argument: &TaskArgument| self.place(argument.site) != self.place(self.trap.at);
        let sites = [first, second].into_iter().filter(is_elsewhere);
        let others = sites.filter_map(|argument| {
            self.other(self.place(argument.site)?, self.program.statement(argument.site), "this task")
        });
        ExplanationText {
            message,
            label: "none of these tasks has begun".to_owned(),
            others: others.collect(),
            help: Some(
                "pass each task separate cells, or make the calls one after the other, without `par`"
                    .to_owned(),
            ),
            ..ExplanationText::default()
        }
    }

    /// Formats an argument of a task, for example "`A[i]` of task 3, `more(A[i])` with i = 2,".
    fn task_text(&self, TaskArgument { task, site, argument }: TaskArgument) -> String {
        let call = match &self.instruction(site).link {
            Link::Calls(calls) => calls.first().map(|call| self.renderer().call(call)),
            Link::None | Link::Partner(_) => None,
        };
        let with =
            self.counter_of(site, task).map_or(String::new(), |(name, i)| format!(" with {name} = {i}"));
        let call = call.map_or(String::new(), |call| format!(", `{call}`{with},"));
        let number = u64::from(task) + 1;
        match argument.and_then(|argument| self.argument_of(site, argument)) {
            Some((text, _)) => format!("`{text}` of task {number}{call}"),
            None => format!("a variable used by task {number}{call}"),
        }
    }

    /// Returns the name and value of a `par for` counter in one of its tasks.
    fn counter_of(&self, site: u32, task: u32) -> Option<(String, i64)> {
        // A loop that contains the whole task region isn't the loop that creates the tasks.
        let holds_all = |block: &&Block| (block.start()..block.end()).contains(&self.trap.at);
        let counting =
            self.program.blocks_around(site).take_while(|block| !holds_all(block)).find_map(|block| {
                if let BlockKind::For(counting) = &block.kind { Some(counting) } else { None }
            });
        self.counter_in_iteration(counting?, task)
    }
}
