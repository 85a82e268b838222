//! Translation of an SSA function to Cranelift's intermediate representation. This module is independent of executable
//! memory.

mod group;
mod ints;
mod memory;
mod reals;

use std::collections::HashSet;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AbiParam, BlockArg, InstBuilder, MemFlags, Signature, types};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use reviver_compile::function::{Definition, Jump, NumberKinds, SsaEnd, SsaFunction};
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_compile::order::{back_edges, dominators};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;

use crate::context::ContextField;
use crate::functions::Address;

pub use group::{translate_for_group, vectors_of};

/// Return value of native code after a failed check. Otherwise native code returns 0.
pub const FAILED: i64 = 1;

/// Returns the signature of native code. The code takes the context. It returns [`FAILED`] if a check has failed,
/// otherwise 0.
pub fn signature(config: TargetFrontendConfig) -> Signature {
    let mut signature = Signature::new(config.default_call_conv);
    signature.params.push(AbiParam::new(config.pointer_type()));
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

/// Translates an SSA function into a Cranelift function with the signature that [`signature`] returns. Returns `None`
/// if an operation isn't supported.
pub fn translate(
    function: &SsaFunction,
    ir_function: &mut ir::Function,
    config: TargetFrontendConfig,
) -> Option<()> {
    let mut own = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(ir_function, &mut own);
    let mut translation = Translation::new(function, builder, config, &held_fields(function));
    translation.write()?;
    translation.finish();
    Some(())
}

/// Returns a flag for each block: true if the block has an edge into a loop that doesn't contain the block.
fn enters_loop(function: &SsaFunction) -> Vec<bool> {
    let back_edges: HashSet<(u32, u32)> = back_edges(function, &dominators(function)).into_iter().collect();
    let heads: HashSet<u32> = back_edges.iter().map(|&(_, head)| head).collect();
    let enters = |from: u32, to: u32| heads.contains(&to) && !back_edges.contains(&(from, to));
    let blocks = (0..).zip(&function.blocks);
    blocks.map(|(from, block)| block.end.jumps().any(|jump| enters(from, jump.to))).collect()
}

/// Counter field of the context that code keeps in a register. Code loads the field at entry, and stores it at exits.
#[derive(Clone, Copy)]
struct HeldField {
    field: ContextField,
    variable: Variable,
    type_: ir::Type,
}

impl HeldField {
    fn of(field: ContextField, builder: &mut FunctionBuilder) -> HeldField {
        let type_ = if field == ContextField::FREED_ERROR { types::F64 } else { types::I64 };
        HeldField { field, variable: builder.declare_var(type_), type_ }
    }
}

/// Returns the address spaces that a function loads from or stores to.
fn spaces(function: &SsaFunction) -> HashSet<Space> {
    let ops = function.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| function.op(value));
    let space = |op: &SsaOp| match op.kind {
        OpKind::Load(space) | OpKind::Store(space) => Some(space),
        _ => None,
    };
    ops.filter_map(space).collect()
}

/// Returns the counter fields that a function changes.
fn held_fields(function: &SsaFunction) -> Vec<ContextField> {
    let ops = function.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| function.op(value));
    let counted = ops.filter_map(|op| match op.kind {
        OpKind::CountErased(_) => Some(ContextField::ERASED_BITS),
        OpKind::CountDiscarded => Some(ContextField::DISCARDED_BITS),
        OpKind::CountDropped => Some(ContextField::DROPS),
        OpKind::Jumped => Some(ContextField::MARKS),
        OpKind::Freed { row: 0, .. } => Some(ContextField::FREED_ERROR),
        _ => None,
    });
    let counts_calls = function.blocks.iter().any(|block| block.calls > 0);
    let calls = counts_calls.then_some(ContextField::CALLS);
    let mut fields: Vec<ContextField> = counted.chain(calls).chain([ContextField::LEFT]).collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}

struct Translation<'a> {
    function: &'a SsaFunction,
    kinds: NumberKinds,
    /// Cranelift value of each SSA value.
    values: Vec<Option<ir::Value>>,
    blocks: Vec<ir::Block>,
    /// Target block of failed checks.
    failed: ir::Block,
    held: Vec<HeldField>,
    context: Option<ir::Value>,
    pointer: ir::Type,
    calls: CallConv,
    /// Base address of each space's cells.
    memories: [Variable; 7],
    /// Spaces that the function accesses.
    spaces: HashSet<Space>,
    /// For each block, true if the block has an edge into a loop that doesn't contain it.
    enters_loop: Vec<bool>,
    builder: FunctionBuilder<'a>,
}

/// Returns the Cranelift type of a class's values.
fn type_of(class: Class, system: RealSystem) -> ir::Type {
    match (class, system) {
        (Class::Int, _) | (Class::Real, RealSystem::Fixed(_)) => types::I64,
        (Class::Real, RealSystem::F64) => types::F64,
        (Class::Real, RealSystem::F32) => types::F32,
    }
}

impl<'a> Translation<'a> {
    /// Creates blocks and variables, without any instruction.
    fn new(
        function: &'a SsaFunction,
        mut builder: FunctionBuilder<'a>,
        config: TargetFrontendConfig,
        held: &[ContextField],
    ) -> Translation<'a> {
        let blocks: Vec<ir::Block> = function.blocks.iter().map(|_| builder.create_block()).collect();
        let failed = builder.create_block();
        builder.set_cold_block(failed);
        let held = held.iter().map(|&field| HeldField::of(field, &mut builder)).collect();
        Translation {
            function,
            kinds: function.numbers,
            values: vec![None; function.definitions.len()],
            blocks,
            failed,
            held,
            context: None,
            pointer: config.pointer_type(),
            calls: config.default_call_conv,
            memories: [(); 7].map(|()| builder.declare_var(config.pointer_type())),
            spaces: spaces(function),
            enters_loop: enters_loop(function),
            builder,
        }
    }

    fn finish(mut self) {
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    fn write(&mut self) -> Option<()> {
        for (number, block) in self.function.blocks.iter().enumerate() {
            for &parameter in &block.parameters {
                let class = self.function.class(parameter)?;
                let type_ = type_of(class, self.kinds.system);
                let value = self.builder.append_block_param(*self.blocks.get(number)?, type_);
                self.define(parameter, value);
            }
        }
        self.begin()?;
        self.builder.ins().jump(*self.blocks.first()?, &[]);
        // In reverse postorder, values are defined before they are used, and unreachable blocks are left out.
        for block in reviver_compile::order::reached(self.function).into_iter().rev() {
            self.block(block)?;
        }
        self.write_failed();
        Some(())
    }

    /// Writes the block to which failed checks branch.
    fn write_failed(&mut self) {
        self.builder.switch_to_block(self.failed);
        let answer = self.builder.ins().iconst(types::I64, FAILED);
        self.builder.ins().return_(&[answer]);
    }

    /// Writes the prologue before the first block.
    fn begin(&mut self) -> Option<()> {
        let entry = self.builder.create_block();
        self.builder.append_block_params_for_function_params(entry);
        self.builder.switch_to_block(entry);
        self.context = self.builder.block_params(entry).first().copied();
        for HeldField { field, variable, type_ } in self.held.clone() {
            let value = self.load(type_, field)?;
            self.builder.def_var(variable, value);
        }
        self.find_memories()
    }

    /// Loads a field of the context.
    fn load(&mut self, type_: ir::Type, field: ContextField) -> Option<ir::Value> {
        Some(self.builder.ins().load(type_, MemFlags::trusted(), self.context?, field.0))
    }

    fn store(&mut self, value: ir::Value, field: ContextField) -> Option<()> {
        self.builder.ins().store(MemFlags::trusted(), value, self.context?, field.0);
        Some(())
    }

    /// Returns the current value of a counter field.
    fn held(&mut self, field: ContextField) -> Option<ir::Value> {
        let held = self.held.iter().find(|held| held.field == field)?.variable;
        Some(self.builder.use_var(held))
    }

    fn hold(&mut self, field: ContextField, value: ir::Value) -> Option<()> {
        let held = self.held.iter().find(|held| held.field == field)?.variable;
        self.builder.def_var(held, value);
        Some(())
    }

    fn block(&mut self, number: u32) -> Option<()> {
        let block = self.function.blocks.get(number as usize)?;
        self.builder.switch_to_block(*self.blocks.get(number as usize)?);
        for &value in &block.ops {
            let Definition::Op(op) = self.function.definition(value)? else { return None };
            if let Some(made) = self.op(op)? {
                self.define(value, made);
            }
        }
        self.count_steps(number)?;
        if block.calls > 0 {
            let made = self.held(ContextField::CALLS)?;
            let made = self.builder.ins().iadd_imm(made, i64::from(block.calls));
            self.hold(ContextField::CALLS, made)?;
        }
        self.end(&block.end)
    }

    /// Subtracts a block's steps from the budget, and reloads base addresses before a loop.
    fn count_steps(&mut self, number: u32) -> Option<()> {
        if self.enters_loop.get(number as usize) == Some(&true) {
            self.find_memories()?;
        }
        let steps = self.function.blocks.get(number as usize)?.steps;
        if steps > 0 {
            let left = self.held(ContextField::LEFT)?;
            let left = self.builder.ins().iadd_imm(left, -i64::from(steps));
            self.hold(ContextField::LEFT, left)?;
        }
        Some(())
    }

    fn end(&mut self, end: &SsaEnd) -> Option<()> {
        match end {
            SsaEnd::Jump(jump) => {
                let (to, arguments) = self.jump(jump)?;
                self.builder.ins().jump(to, &arguments);
            }
            SsaEnd::Branch { condition, yes, no } => {
                let condition = self.value(*condition)?;
                self.branch(condition, yes, no)?;
            }
            SsaEnd::Safepoint { steps, skipped: None, next, stop } => {
                let left = self.held(ContextField::LEFT)?;
                let lasts =
                    self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, left, i64::from(*steps));
                self.branch(lasts, next, stop)?;
            }
            SsaEnd::Safepoint { steps, skipped: Some(skipped), next, stop } => {
                let (left, skipped) = (self.held(ContextField::LEFT)?, self.value(*skipped)?);
                // Step counts are far from overflow.
                let behind = self.builder.ins().isub(left, skipped);
                let lasts =
                    self.builder.ins().icmp_imm(IntCC::SignedGreaterThanOrEqual, behind, i64::from(*steps));
                let left = self.builder.ins().select(lasts, behind, left);
                self.hold(ContextField::LEFT, left)?;
                self.branch(lasts, next, stop)?;
            }
            SsaEnd::Exit { exit } => {
                self.store_held()?;
                let exit = self.builder.ins().iconst(types::I32, i64::from(*exit));
                self.store(exit, ContextField::EXIT)?;
                let answer = self.builder.ins().iconst(types::I64, 0);
                self.builder.ins().return_(&[answer]);
            }
        }
        Some(())
    }

    /// Stores all counter fields to the context.
    fn store_held(&mut self) -> Option<()> {
        for HeldField { field, variable, .. } in self.held.clone() {
            let value = self.builder.use_var(variable);
            self.store(value, field)?;
        }
        Some(())
    }

    fn branch(&mut self, condition: ir::Value, yes: &Jump, no: &Jump) -> Option<()> {
        let ((yes, yes_arguments), (no, no_arguments)) = (self.jump(yes)?, self.jump(no)?);
        self.builder.ins().brif(condition, yes, &yes_arguments, no, &no_arguments);
        Some(())
    }

    fn jump(&self, jump: &Jump) -> Option<(ir::Block, Vec<BlockArg>)> {
        let arguments = jump.arguments.iter().map(|&value| self.value(value).map(BlockArg::from));
        Some((*self.blocks.get(jump.to as usize)?, arguments.collect::<Option<_>>()?))
    }

    fn define(&mut self, value: SsaValue, made: ir::Value) {
        if let Some(slot) = self.values.get_mut(value.0 as usize) {
            *slot = Some(made);
        }
    }

    fn undefine(&mut self, value: SsaValue) {
        self.values.get_mut(value.0 as usize).into_iter().for_each(|slot| *slot = None);
    }

    fn value(&self, value: SsaValue) -> Option<ir::Value> {
        self.values.get(value.0 as usize).copied().flatten()
    }

    fn operands<const N: usize>(&self, op: &SsaOp) -> Option<[ir::Value; N]> {
        let mut found = [ir::Value::from_u32(0); N];
        for (found, &operand) in found.iter_mut().zip(&op.operands) {
            *found = self.value(operand)?;
        }
        (op.operands.len() == N).then_some(found)
    }

    /// Translates an operation. Returns `None` if the operation isn't supported. The inner option is the operation's
    /// value, if it has one.
    fn op(&mut self, op: &SsaOp) -> Option<Option<ir::Value>> {
        match op.kind {
            OpKind::Int(value) => Some(Some(self.builder.ins().iconst(types::I64, value))),
            OpKind::IntAdd
            | OpKind::IntSub
            | OpKind::IntNeg
            | OpKind::IntMul
            | OpKind::IntDiv
            | OpKind::IntRem
            | OpKind::IntPow
            | OpKind::IntAnd
            | OpKind::IntOr
            | OpKind::IntXor
            | OpKind::IntNot
            | OpKind::IntRol
            | OpKind::IntRor
            | OpKind::IntShl
            | OpKind::IntShr
            | OpKind::IntSar
            | OpKind::IntTest(_)
            | OpKind::IntChoose => self.int_op(op).map(Some),
            OpKind::Real(_)
            | OpKind::Add
            | OpKind::Sub
            | OpKind::Mul
            | OpKind::Div
            | OpKind::Neg
            | OpKind::Magnitude
            | OpKind::Pow
            | OpKind::Powi
            | OpKind::Atan2
            | OpKind::Hypot
            | OpKind::Elementary(_)
            | OpKind::Turn { .. }
            | OpKind::Test(_)
            | OpKind::Choose
            | OpKind::RealOf
            | OpKind::IntOf => self.real_op(op).map(Some),
            OpKind::Clock { here } => {
                let left = self.held(ContextField::LEFT)?;
                let here = self.builder.ins().iconst(types::I64, i64::from(here));
                Some(Some(self.builder.ins().isub(here, left)))
            }
            OpKind::Input(_) | OpKind::Index { .. } | OpKind::Place | OpKind::Load(_) | OpKind::Store(_) => {
                self.memory_op(op)
            }
            OpKind::RequireAdmitted | OpKind::RequireVacant | OpKind::RequireTrue | OpKind::RequireApart => {
                let fails = self.requirement(op)?;
                self.fail_if(fails, op);
                Some(None)
            }
            OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped => {
                self.count(op)?;
                Some(None)
            }
            OpKind::Jumped => {
                self.mark_jump()?;
                Some(None)
            }
            OpKind::Turned { slack } => {
                self.turn(slack)?;
                Some(None)
            }
            OpKind::Arrived => Some(None),
            OpKind::Largest => {
                self.largest(op)?;
                Some(None)
            }
            OpKind::Missed { row } => {
                self.missed(op, row)?;
                Some(None)
            }
            OpKind::Freed { row: row @ 1.., .. } => {
                self.freed_in_row(op, row)?;
                Some(None)
            }
            OpKind::Freed { at, row: 0 } => {
                self.freed(op, at)?;
                Some(None)
            }
        }
    }

    /// Returns the condition under which a check fails, without its guard.
    fn requirement(&mut self, op: &SsaOp) -> Option<ir::Value> {
        match op.kind {
            OpKind::RequireTrue => {
                let [condition] = self.operands(op)?;
                Some(self.builder.ins().icmp_imm(IntCC::Equal, condition, 0))
            }
            OpKind::RequireApart => {
                let [a, b] = self.operands(op)?;
                Some(self.builder.ins().icmp(IntCC::Equal, a, b))
            }
            _ => self.real_requirement(op),
        }
    }

    /// Branches to the failure block if `fails` and the operation's guard isn't 0.
    fn fail_if(&mut self, fails: ir::Value, op: &SsaOp) {
        let fails = match op.guard.and_then(|guard| self.value(guard)) {
            Some(guard) => {
                let counts = self.builder.ins().icmp_imm(IntCC::NotEqual, guard, 0);
                self.builder.ins().band(fails, counts)
            }
            None => fails,
        };
        let next = self.builder.create_block();
        self.builder.ins().brif(fails, self.failed, &[], next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Calls an external function by its address.
    fn call(
        &mut self,
        address: Address,
        arguments: &[ir::Value],
        gives: Option<ir::Type>,
    ) -> Option<ir::Value> {
        let mut signature = Signature::new(self.calls);
        for &argument in arguments {
            let type_ = self.builder.func.dfg.value_type(argument);
            signature.params.push(AbiParam::new(type_));
        }
        signature.returns.extend(gives.map(AbiParam::new));
        let signature = self.builder.import_signature(signature);
        let callee = self.builder.ins().iconst(self.pointer, address.0 as i64);
        let call = self.builder.ins().call_indirect(signature, callee, arguments);
        self.builder.inst_results(call).first().copied()
    }

    /// Converts a condition to the integer 1 or 0.
    fn bit(&mut self, holds: ir::Value) -> ir::Value {
        self.builder.ins().uextend(types::I64, holds)
    }
}
