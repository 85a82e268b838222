//! Plan for emitters of text: the blocks and values of an SSA function that are written, and the order of the blocks.
//! The plan omits blocks that only the `stop` edges of safepoints reach, dead values, and trivial block parameters (φ).
//! This module is independent of the target language.

use std::collections::HashMap;

use crate::function::{Definition, Jump, SsaEnd, SsaFunction};
use crate::op::{OpKind, SsaOp, SsaValue};
use crate::passes::replacements::Replacements;
use crate::passes::trivial_phis::{passed, replace_trivial};

/// Blocks and values that an emitter writes.
#[derive(Debug)]
pub struct EmitPlan {
    /// Blocks in reverse postorder: each block comes after its predecessors, except for back edges.
    pub order: Vec<u32>,
    /// Final replacement of each value: the value itself if it isn't replaced.
    replacements: Vec<SsaValue>,
    /// Number of uses of each value in the written code.
    uses: Vec<u32>,
    /// True for a value that is used outside of its block or passed to another block.
    is_shared: Vec<bool>,
}

/// Returns the edges that an emitter follows. Of a safepoint, this is only the edge `next`, because emitted text has no
/// step budget.
pub fn followed(end: &SsaEnd) -> Vec<&Jump> {
    match end {
        SsaEnd::Safepoint { next, .. } => vec![next],
        SsaEnd::Jump(_) | SsaEnd::Branch { .. } | SsaEnd::Exit { .. } => end.jumps().collect(),
    }
}

impl EmitPlan {
    /// Plans a function without additional replacements or uses of values.
    pub fn of(function: &SsaFunction) -> EmitPlan {
        EmitPlan::with(function, [], [])
    }

    /// Plans a function with additional replacements and additional uses of values. A replacement is a value and the
    /// value that replaces it; a use is a block and the value that the block uses.
    pub fn with(
        function: &SsaFunction,
        others: impl IntoIterator<Item = (SsaValue, SsaValue)>,
        used: impl IntoIterator<Item = (u32, SsaValue)>,
    ) -> EmitPlan {
        let order = order(function);
        let mut replacements = Replacements::of(function);
        others.into_iter().for_each(|(value, other)| replacements.replace(value, other));
        let jumps = order.iter().flat_map(|&block| followed(&function.blocks[block as usize].end));
        replace_trivial(passed(function, jumps), &mut replacements);
        let mut plan = EmitPlan {
            replacements: replacements.all(),
            uses: vec![0; function.definitions.len()],
            is_shared: vec![false; function.definitions.len()],
            order,
        };
        plan.find_uses(function, used.into_iter().map(|(block, value)| (value, Some(block))).collect());
        plan
    }

    /// Returns true if an operation is written even without uses: it has an effect or may fail.
    pub fn has_effect(&self, op: &SsaOp, function: &SsaFunction) -> bool {
        let is_effect = op.kind.facts().is_placed || op.kind.may_fail(function.numbers.system);
        is_effect && !matches!(op.kind, OpKind::Load(_) | OpKind::Clock { .. })
    }

    /// Returns the final replacement of a value.
    pub fn resolved(&self, value: SsaValue) -> SsaValue {
        self.replacements.get(value.0 as usize).copied().unwrap_or(value)
    }

    /// Returns the number of uses of a value.
    pub fn uses(&self, value: SsaValue) -> u32 {
        self.uses.get(self.resolved(value).0 as usize).copied().unwrap_or(0)
    }

    /// Returns true if a value is used outside of its block or passed to another block.
    pub fn is_shared(&self, value: SsaValue) -> bool {
        self.is_shared.get(value.0 as usize).copied().unwrap_or(true)
    }

    /// Returns the parameters of an edge's target that are written as variables, each with its argument.
    pub fn passed(&self, function: &SsaFunction, jump: &Jump) -> Vec<(SsaValue, SsaValue)> {
        let parameters = function.blocks.get(jump.to as usize).map_or(&[][..], |block| &block.parameters);
        let pairs = parameters.iter().zip(&jump.arguments);
        let written = pairs.filter(|(parameter, _)| self.is_emitted(**parameter));
        written.map(|(&parameter, &argument)| (parameter, self.resolved(argument))).collect()
    }

    /// Returns true if a parameter is written as a variable.
    pub fn is_emitted(&self, parameter: SsaValue) -> bool {
        self.resolved(parameter) == parameter && self.uses(parameter) > 0
    }

    fn find_uses(&mut self, function: &SsaFunction, mut open: Vec<(SsaValue, Option<u32>)>) {
        let passed = self.passed_for(function);
        let homes = homes(function);
        for &block in &self.order {
            let here = &function.blocks[block as usize];
            for &value in &here.ops {
                if let Some(op) = function.op(value).filter(|op| self.has_effect(op, function)) {
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
            match function.definition(value) {
                Some(Definition::Op(op)) if !self.has_effect(op, function) => {
                    open.extend(op.operands.iter().chain(&op.guard).map(|&operand| (operand, home)));
                }
                Some(Definition::Op(_)) | None => {}
                Some(Definition::Parameter(_)) => {
                    open.extend(passed.get(&value).into_iter().flatten().map(|&argument| (argument, None)));
                }
            }
        }
    }

    /// Collects the arguments of each parameter.
    fn passed_for(&self, function: &SsaFunction) -> HashMap<SsaValue, Vec<SsaValue>> {
        let mut passed: HashMap<SsaValue, Vec<SsaValue>> = HashMap::new();
        for &block in &self.order {
            for jump in followed(&function.blocks[block as usize].end) {
                for (&parameter, &argument) in
                    function.blocks[jump.to as usize].parameters.iter().zip(&jump.arguments)
                {
                    passed.entry(parameter).or_default().push(argument);
                }
            }
        }
        passed
    }
}

/// Returns the defining block of each value.
fn homes(function: &SsaFunction) -> Vec<Option<u32>> {
    let mut homes = vec![None; function.definitions.len()];
    for (number, block) in (0..).zip(&function.blocks) {
        for value in block.parameters.iter().chain(&block.ops) {
            homes[value.0 as usize] = Some(number);
        }
    }
    homes
}

/// Returns the reachable blocks in reverse postorder: each after its predecessors, except for back edges.
fn order(function: &SsaFunction) -> Vec<u32> {
    let mut is_seen = vec![false; function.blocks.len()];
    let mut order = Vec::new();
    // Depth-first path: each block with its remaining successors. The last of these successors is visited next.
    let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
    let successors = |block: u32| -> Vec<u32> {
        followed(&function.blocks[block as usize].end).iter().map(|jump| jump.to).collect()
    };
    if function.blocks.is_empty() {
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
