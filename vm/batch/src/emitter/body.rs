//! Emits statements: blocks, arguments of jumps, and the points where a lane is suspended. This module is independent
//! of operations.

use reviver_compile::call::region::Region;
use reviver_compile::emit_plan::followed;
use reviver_compile::function::SsaEnd;
use reviver_compile::op::SsaValue;
use reviver_isa::instruction::Class;

use super::{ControlType, Writer};
use crate::shader::KernelKind;
use crate::statements::{FlowCondition, ShaderStatement};

impl Writer<'_> {
    pub(super) fn statements(&mut self, statements: &[ShaderStatement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &ShaderStatement) {
        match statement {
            ShaderStatement::Block(block) => self.block(*block),
            ShaderStatement::Pass { from, arm } => self.pass(*from, *arm),
            ShaderStatement::If { test, yes, no } => {
                let test = self.test(test);
                self.open(format!("if ({test}) {{"));
                self.statements(yes);
                if !no.is_empty() {
                    self.depth = self.depth.saturating_sub(1);
                    self.open("} else {");
                    self.statements(no);
                }
                self.close();
            }
            ShaderStatement::Loop(body) => {
                self.open("loop {");
                self.statements(body);
                self.close();
            }
            ShaderStatement::Iteration { head, label } => self.iteration(*head, *label),
            ShaderStatement::Lead(label) => self.line(format!("lead = {label}u;")),
            ShaderStatement::Break => self.line("break;"),
            ShaderStatement::Continue => self.line("continue;"),
        }
    }

    fn test(&self, test: &FlowCondition) -> String {
        let condition = |of: u32| {
            if let Some(switch) = self.reducible.dispatch_nodes.get(&of) {
                return format!("chosen < {}u", switch.below);
            }
            let block = self.text.lane_run.function.blocks.get(of as usize);
            match block.map(|block| &block.end) {
                Some(SsaEnd::Branch { condition, .. }) => {
                    format!("{} != {}", self.value(*condition), self.zero())
                }
                // Only a branch has a condition.
                Some(SsaEnd::Jump(_) | SsaEnd::Safepoint { .. } | SsaEnd::Exit { .. }) | None => {
                    "true".to_owned()
                }
            }
        };
        match test {
            FlowCondition::Condition(of) => condition(*of),
            FlowCondition::Flows => "lead == 0u".to_owned(),
            FlowCondition::Enters(range) => {
                format!("lead == 0u || (lead >= {}u && lead <= {}u)", range.start(), range.end())
            }
            FlowCondition::Branches { of, entered: None } => format!("lead == 0u && {}", condition(*of)),
            FlowCondition::Branches { of, entered: Some(range) } => format!(
                "(lead == 0u && {}) || (lead >= {}u && lead <= {}u)",
                condition(*of),
                range.start(),
                range.end()
            ),
            FlowCondition::LeadsTo(label) => format!("lead == {label}u"),
            FlowCondition::LeadsPast(label) => format!("lead != 0u && lead != {label}u"),
        }
    }

    fn block(&mut self, number: u32) {
        let text = self.text;
        let Some(block) = text.lane_run.function.blocks.get(number as usize) else { return };
        self.region = text.lane_run.region(number);
        for &value in &block.ops {
            self.op(value);
        }
        let sign = if self.leads_back() { "-" } else { "+" };
        if block.steps > 0 {
            self.line(format!("clock = clock {sign} {}li;", block.steps));
        }
        if let SsaEnd::Safepoint { skipped: Some(skipped), .. } = block.end {
            let skipped = self.value_in_steps(skipped);
            self.line(format!("clock = clock {sign} {skipped};"));
        }
        if let Some(lane_end) = text.lane_ends.get(&number) {
            self.arrive(lane_end);
        }
    }

    /// Emits the start of a loop iteration. At this point of a resumable kernel, a failed lane ends, and a lane that
    /// has exhausted its iterations is suspended. In a non-resumable kernel, both kinds of lanes leave the loop.
    fn iteration(&mut self, head: u32, label: u32) {
        self.region = self.region_of(head);
        let is_back = self.leads_back();
        self.line("rounds = rounds + 1u;");
        // If the reverse sweep has more steps than the primal sweep, the sweeps have diverged.
        if is_back {
            self.line("failed = failed | (clock < 0li);");
        }
        self.open("if (has_failed() | (rounds > most_rounds)) {");
        match self.pass {
            KernelKind::NonResumable => self.line("break;"),
            KernelKind::Resumable => self.keep(head, label, is_back),
        }
        self.close();
    }

    /// Emits code that suspends a lane at a loop head, or ends the lane if it has failed. A suspended lane resumes at
    /// the same loop head.
    fn keep(&mut self, head: u32, label: u32, is_back: bool) {
        self.line(format!("lead = {label}u;"));
        let kept = self.kept.get(&head).cloned().unwrap_or_default();
        for (word, value) in (self.control.len()..).zip(kept) {
            let bits = self.word_of(value);
            self.line(format!("hold({word}u, {bits});"));
        }
        for word in &self.text.memory.variables {
            self.line(format!("hold({}u, m{word});", self.memory_at() + word));
        }
        for (word, control) in self.control.clone().into_iter().enumerate() {
            let bits = match control.of {
                ControlType::Label | ControlType::Steps => format!("u64({})", control.name),
                ControlType::Mark => control.name.clone(),
                ControlType::Real => self.to_word(Some(Class::Real), &control.name),
            };
            self.line(format!("hold({word}u, {bits});"));
        }
        let is_over = if is_back { "false" } else { "bitcast<u64>(clock) > most_steps" };
        if !is_back {
            self.report_steps();
        }
        self.line(format!("end_lane(false, {is_over}, UNDERWAY);"));
        self.line("return;");
    }

    /// Returns the sweep that the loop with this head belongs to. If the head is a switch, all of its entries belong to
    /// the same sweep.
    fn region_of(&self, head: u32) -> Region {
        let entry = self.reducible.dispatch_nodes.get(&head).and_then(|switch| switch.entries.first());
        self.text.lane_run.region(*entry.unwrap_or(&head))
    }

    /// Returns true if the emitted code belongs to the reverse sweep of a gradient, or follows this sweep. In these
    /// regions, the step counter counts down.
    pub(super) fn leads_back(&self) -> bool {
        match self.region {
            Region::Reverse | Region::Verification => true,
            Region::Forward | Region::Backward => false,
        }
    }

    fn pass(&mut self, from: u32, arm: usize) {
        self.pass_arguments(from, arm);
        if let Some(entry) = self.reducible.chosen.get(&(from, arm)) {
            self.line(format!("chosen = {entry}u;"));
        }
    }

    /// Emits the assignment of a jump's arguments to the target's parameters. Each parameter is assigned after all
    /// arguments that refer to it are read. Switches have no parameters.
    fn pass_arguments(&mut self, from: u32, arm: usize) {
        let function = &self.text.lane_run.function;
        let Some(block) = function.blocks.get(from as usize) else { return };
        let jumps = followed(&block.end);
        let Some(jump) = jumps.get(arm) else { return };
        let moves: Vec<(SsaValue, SsaValue)> =
            self.plan.passed(function, jump).into_iter().filter(|(to, from)| to != from).collect();
        let changed: Vec<SsaValue> = moves.iter().map(|(to, _)| *to).collect();
        let is_changed_before = |n: usize, from: &SsaValue| changed.iter().take(n).any(|to| to == from);
        let texts: Vec<(String, String, bool)> = moves
            .iter()
            .enumerate()
            .map(|(n, (to, from))| (self.value(*to), self.value_for(*from, *to), is_changed_before(n, from)))
            .collect();
        let needs_scope = texts.iter().any(|(.., is_changed)| *is_changed);
        if needs_scope {
            self.open("{");
        }
        for (to, from, _) in texts.iter().filter(|(.., is_changed)| *is_changed) {
            self.line(format!("let {to}_next = {from};"));
        }
        for (to, from, is_changed) in texts {
            self.line(if is_changed { format!("{to} = {to}_next;") } else { format!("{to} = {from};") });
        }
        if needs_scope {
            self.close();
        }
    }
}
