//! Liveness at loop heads, and the choice of values that must be variables of the whole function. This module is
//! independent of the meaning of operations.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use reviver_compile::emit_plan::{EmitPlan, followed};
use reviver_compile::function::{Definition, SsaFunction};
use reviver_compile::op::{OpKind, SsaValue};

use crate::irreducible_loops::ReducibleGraph;
use crate::statements::{FlowCondition, ShaderStatement, ShaderStatements};

/// Definitions and uses in each block. Only values that have a name in the text are included.
#[derive(Debug)]
pub(crate) struct BlockValues {
    /// The values that each block uses.
    uses: Vec<Vec<SsaValue>>,
    made: Vec<Vec<SsaValue>>,
    parameters: Vec<Vec<SsaValue>>,
    /// The values that each jump passes as arguments, by block and arm.
    passed: BTreeMap<(u32, usize), Vec<SsaValue>>,
    conditions: BTreeMap<u32, SsaValue>,
}

impl BlockValues {
    /// Collects the values of an SSA function. `others` are pairs of a block and an additional value that the block
    /// uses. Values for which `is_named` is false have no name: the text repeats their expression at each use.
    pub fn of(
        function: &SsaFunction,
        plan: &EmitPlan,
        others: &[(u32, SsaValue)],
        is_named: impl Fn(SsaValue) -> bool,
    ) -> BlockValues {
        let count = function.blocks.len();
        let mut found = BlockValues {
            uses: vec![Vec::new(); count],
            made: vec![Vec::new(); count],
            parameters: vec![Vec::new(); count],
            passed: BTreeMap::new(),
            conditions: BTreeMap::new(),
        };
        let named = |value: SsaValue| Some(plan.resolved(value)).filter(|&value| is_named(value));
        for &number in &plan.order {
            let (Some(block), at) = (function.blocks.get(number as usize), number as usize) else { continue };
            let mut uses = Vec::new();
            for &value in &block.ops {
                let Some(op) =
                    function.op(value).filter(|op| plan.has_effect(op, function) || plan.uses(value) > 0)
                else {
                    continue;
                };
                uses.extend(op.operands.iter().chain(&op.guard).filter_map(|&operand| named(operand)));
                if let Some(made) = found.made.get_mut(at) {
                    made.push(value);
                }
            }
            if let Some(test) = block.end.value().and_then(named) {
                uses.push(test);
                found.conditions.insert(number, test);
            }
            for (arm, jump) in followed(&block.end).into_iter().enumerate() {
                let passed = plan.passed(function, jump);
                let passed: Vec<SsaValue> =
                    passed.into_iter().filter_map(|(_, value)| named(value)).collect();
                found.passed.insert((number, arm), passed);
            }
            if let (Some(used), Some(parameters)) = (found.uses.get_mut(at), found.parameters.get_mut(at)) {
                *used = uses;
                parameters.extend(block.parameters.iter().filter(|&&value| plan.is_emitted(value)));
            }
        }
        for &(block, value) in others {
            if let (Some(uses), Some(value)) = (found.uses.get_mut(block as usize), named(value)) {
                uses.push(value);
            }
        }
        found
    }

    /// Returns the live values at each loop head, in ascending order. For a switch, these are the live values of all
    /// its entries.
    pub fn live_at_heads(
        &self,
        function: &SsaFunction,
        plan: &EmitPlan,
        heads: &ShaderStatements,
        reducible: &ReducibleGraph,
    ) -> BTreeMap<u32, Vec<SsaValue>> {
        let live = self.live(function, plan);
        let at = |&head: &u32| {
            let entries = reducible
                .dispatch_nodes
                .get(&head)
                .map_or(std::slice::from_ref(&head), |switch| switch.entries.as_slice());
            let needed = entries.iter().filter_map(|&entry| live.get(entry as usize)).flatten().copied();
            (head, needed.collect::<BTreeSet<SsaValue>>().into_iter().collect())
        };
        heads.heads.values().map(at).collect()
    }

    /// Returns the live values at the start of each block, including its parameters.
    fn live(&self, function: &SsaFunction, plan: &EmitPlan) -> Vec<BTreeSet<SsaValue>> {
        let mut live: Vec<BTreeSet<SsaValue>> = vec![BTreeSet::new(); function.blocks.len()];
        let mut has_changed = true;
        while std::mem::replace(&mut has_changed, false) {
            for &number in plan.order.iter().rev() {
                let Some(block) = function.blocks.get(number as usize) else { continue };
                let mut needed: BTreeSet<SsaValue> = of(&self.uses, number).iter().copied().collect();
                for (arm, jump) in followed(&block.end).into_iter().enumerate() {
                    needed.extend(self.passed.get(&(number, arm)).into_iter().flatten());
                    let parameters = of(&self.parameters, jump.to);
                    let behind = live.get(jump.to as usize).into_iter().flatten();
                    needed.extend(behind.filter(|value| !parameters.contains(value)));
                }
                of(&self.made, number).iter().for_each(|made| _ = needed.remove(made));
                if let Some(live) = live.get_mut(number as usize).filter(|live| live.len() != needed.len()) {
                    *live = needed;
                    has_changed = true;
                }
            }
        }
        live
    }

    /// Returns the values that must be variables of the whole function. These are parameters, values saved at loop
    /// heads, and values used outside the scope of their block's declarations.
    pub fn variables(
        &self,
        statements: &ShaderStatements,
        kept: &BTreeMap<u32, Vec<SsaValue>>,
    ) -> BTreeSet<SsaValue> {
        let mut scopes =
            ValueScopes { values: self, above: vec![0], homes: HashMap::new(), used: Vec::new() };
        scopes.find(&statements.all, 0);
        let made =
            (0..).zip(&self.made).flat_map(|(block, made)| made.iter().map(move |&value| (value, block)));
        let blocks: HashMap<SsaValue, u32> = made.collect();
        let is_hidden = |&&(value, scope): &&(SsaValue, usize)| {
            let home = blocks.get(&value).and_then(|block| scopes.homes.get(block));
            home.is_some_and(|&home| !scopes.is_within(scope, home))
        };
        let mut found: BTreeSet<SsaValue> = self.parameters.iter().flatten().copied().collect();
        found.extend(kept.values().flatten());
        found.extend(scopes.used.iter().filter(is_hidden).map(|(value, _)| *value));
        found
    }
}

fn of(all: &[Vec<SsaValue>], block: u32) -> &[SsaValue] {
    all.get(block as usize).map_or(&[], Vec::as_slice)
}

/// Lexical scopes of the text, with the values that are used in them.
struct ValueScopes<'v> {
    values: &'v BlockValues,
    /// The parent scope of each scope.
    above: Vec<usize>,
    /// The scope that contains the declarations of each block.
    homes: HashMap<u32, usize>,
    /// Each use of a value: the value, and the scope of the use.
    used: Vec<(SsaValue, usize)>,
}

impl ValueScopes<'_> {
    fn find(&mut self, statements: &[ShaderStatement], scope: usize) {
        for statement in statements {
            match statement {
                ShaderStatement::Block(block) => {
                    self.homes.insert(*block, scope);
                    let uses = of(&self.values.uses, *block).iter();
                    self.used.extend(uses.map(|&value| (value, scope)));
                }
                ShaderStatement::Pass { from, arm } => {
                    let passed = self.values.passed.get(&(*from, *arm)).into_iter().flatten();
                    self.used.extend(passed.map(|&value| (value, scope)));
                }
                ShaderStatement::If { test, yes, no } => {
                    if let FlowCondition::Condition(of) | FlowCondition::Branches { of, .. } = test {
                        self.used.extend(self.values.conditions.get(of).map(|&value| (value, scope)));
                    }
                    self.inner(yes, scope);
                    self.inner(no, scope);
                }
                ShaderStatement::Loop(body) => self.inner(body, scope),
                ShaderStatement::Iteration { .. }
                | ShaderStatement::Lead(_)
                | ShaderStatement::Break
                | ShaderStatement::Continue => {}
            }
        }
    }

    fn inner(&mut self, statements: &[ShaderStatement], scope: usize) {
        self.above.push(scope);
        self.find(statements, self.above.len() - 1);
    }

    fn is_within(&self, mut scope: usize, other: usize) -> bool {
        while scope > other {
            scope = self.above.get(scope).copied().unwrap_or(0);
        }
        scope == other
    }
}

/// Returns true if a value has a name in the text. Literals have none: they are repeated at each use.
pub(crate) fn has_name(function: &SsaFunction, value: SsaValue) -> bool {
    match function.definition(value) {
        Some(Definition::Op(op)) => !matches!(op.kind, OpKind::Int(_) | OpKind::Real(_)),
        Some(Definition::Parameter(_)) => true,
        None => false,
    }
}
