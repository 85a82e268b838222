//! What of a form somebody writes who makes text of it, and in which order: blocks that are come to without a pause, values that something comes
//! of, and no parameter that always is one and the same value. Knows no text.

use std::collections::HashMap;

use crate::form::{Definition, Jump, SsaEnd, SsaForm};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::passes::parameters::{passed, replace_trivial};
use crate::passes::replacing::Replacements;

/// What is written of a form.
#[derive(Debug)]
pub struct TextPlan {
    /// The blocks: each is behind all that lead to it, but for loops.
    pub order: Vec<u32>,
    /// What each value is replaced by in the end.
    stands_for: Vec<SsaValue>,
    /// How often a value is used by what is written.
    uses: Vec<u32>,
    /// Whether a value is used outside of the block that makes it, or passed to another one.
    is_shared: Vec<bool>,
}

/// Where a block leads to: a pause goes on, because nobody counts steps.
pub fn followed(end: &SsaEnd) -> Vec<&Jump> {
    match end {
        SsaEnd::Pause { next, .. } => vec![next],
        SsaEnd::Go(_) | SsaEnd::Branch { .. } | SsaEnd::Exit { .. } => end.jumps().collect(),
    }
}

impl TextPlan {
    pub fn of(form: &SsaForm) -> TextPlan {
        TextPlan::with(form, [], [])
    }

    /// What is written of a form in which some values stand for others, and others are used, besides, by blocks.
    pub fn with(
        form: &SsaForm,
        stands_for: impl IntoIterator<Item = (SsaValue, SsaValue)>,
        used: impl IntoIterator<Item = (u32, SsaValue)>,
    ) -> TextPlan {
        let order = order(form);
        let mut replacements = Replacements::of(form);
        stands_for.into_iter().for_each(|(value, other)| replacements.replace(value, other));
        let jumps = order.iter().flat_map(|&block| followed(&form.blocks[block as usize].end));
        replace_trivial(passed(form, jumps), &mut replacements);
        let mut plan = TextPlan {
            stands_for: replacements.all(),
            uses: vec![0; form.definitions.len()],
            is_shared: vec![false; form.definitions.len()],
            order,
        };
        plan.find_uses(form, used.into_iter().map(|(block, value)| (value, Some(block))).collect());
        plan
    }

    /// Whether an operation is written whatever comes of it: it changes something, or may fail.
    pub fn acts(&self, op: &SsaOp, form: &SsaForm) -> bool {
        let is_effect = op.kind.facts().is_placed || op.kind.may_fail(form.numbers.system);
        is_effect && !matches!(op.kind, OpKind::Load(_) | OpKind::Clock { .. })
    }

    /// The value that stands for one.
    pub fn resolved(&self, value: SsaValue) -> SsaValue {
        self.stands_for.get(value.0 as usize).copied().unwrap_or(value)
    }

    /// How often it is used.
    pub fn uses(&self, value: SsaValue) -> u32 {
        self.uses.get(self.resolved(value).0 as usize).copied().unwrap_or(0)
    }

    /// Whether it is used outside of the block that makes it, or passed to another one.
    pub fn is_shared(&self, value: SsaValue) -> bool {
        self.is_shared.get(value.0 as usize).copied().unwrap_or(true)
    }

    /// The parameters of a block that are written, with what a jump passes for each.
    pub fn passed(&self, form: &SsaForm, jump: &Jump) -> Vec<(SsaValue, SsaValue)> {
        let parameters = form.blocks.get(jump.to as usize).map_or(&[][..], |block| &block.parameters);
        let pairs = parameters.iter().zip(&jump.arguments);
        let written = pairs.filter(|(parameter, _)| self.is_written(**parameter));
        written.map(|(&parameter, &argument)| (parameter, self.resolved(argument))).collect()
    }

    /// Whether a parameter is one of the text.
    pub fn is_written(&self, parameter: SsaValue) -> bool {
        self.resolved(parameter) == parameter && self.uses(parameter) > 0
    }

    fn find_uses(&mut self, form: &SsaForm, mut open: Vec<(SsaValue, Option<u32>)>) {
        let passed = self.passed_for(form);
        let homes = homes(form);
        for &block in &self.order {
            let here = &form.blocks[block as usize];
            for &value in &here.ops {
                if let Some(op) = form.op(value).filter(|op| self.acts(op, form)) {
                    open.extend(op.operands.iter().chain(&op.guard).map(|&operand| (operand, Some(block))));
                }
            }
            if let Some(value) = here.end.value() {
                open.push((value, Some(block)));
            }
        }
        while let Some((value, user)) = open.pop() {
            let value = self.resolved(value);
            let home = homes.get(value.0 as usize).copied().flatten();
            if user.is_none() || user != home {
                self.is_shared[value.0 as usize] = true;
            }
            let uses = &mut self.uses[value.0 as usize];
            *uses += 1;
            if *uses > 1 {
                continue;
            }
            match form.definition(value) {
                Some(Definition::Op(op)) if !self.acts(op, form) => {
                    open.extend(op.operands.iter().chain(&op.guard).map(|&operand| (operand, home)));
                }
                Some(Definition::Op(_)) | None => {}
                Some(Definition::Parameter(_)) => {
                    open.extend(passed.get(&value).into_iter().flatten().map(|&argument| (argument, None)));
                }
            }
        }
    }

    /// All that is passed for each parameter.
    fn passed_for(&self, form: &SsaForm) -> HashMap<SsaValue, Vec<SsaValue>> {
        let mut passed: HashMap<SsaValue, Vec<SsaValue>> = HashMap::new();
        for &block in &self.order {
            for jump in followed(&form.blocks[block as usize].end) {
                for (&parameter, &argument) in
                    form.blocks[jump.to as usize].parameters.iter().zip(&jump.arguments)
                {
                    passed.entry(parameter).or_default().push(argument);
                }
            }
        }
        passed
    }
}

/// The block in which each value is made.
fn homes(form: &SsaForm) -> Vec<Option<u32>> {
    let mut homes = vec![None; form.definitions.len()];
    for (number, block) in (0..).zip(&form.blocks) {
        for value in block.parameters.iter().chain(&block.ops) {
            homes[value.0 as usize] = Some(number);
        }
    }
    homes
}

/// The blocks that are come to, each behind all that lead to it but for loops.
fn order(form: &SsaForm) -> Vec<u32> {
    let mut is_seen = vec![false; form.blocks.len()];
    let mut order = Vec::new();
    // Each with the jumps that are still to be followed, the last one first.
    let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
    let successors = |block: u32| -> Vec<u32> {
        followed(&form.blocks[block as usize].end).iter().map(|jump| jump.to).collect()
    };
    if form.blocks.is_empty() {
        return order;
    }
    is_seen[0] = true;
    path.push((0, successors(0)));
    while let Some((block, left)) = path.last_mut() {
        match left.pop() {
            Some(to) if std::mem::replace(&mut is_seen[to as usize], true) => {}
            Some(to) => path.push((to, successors(to))),
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}
