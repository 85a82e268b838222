//! Translation of operations on memory cells, inputs, counters and evidence.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, AliasRegion, InstBuilder, MemFlags, types};
use reviver_compile::op::{OpKind, Space, SsaOp};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::watch::{MARK_FACTOR, MARK_ROUNDS, MARK_SHIFT};

use super::{Translation, type_of};
use crate::context::ContextField;
use crate::functions;

/// Size of a cell in bytes.
pub(super) const CELL: i64 = 8;

/// Returns the byte offset of a number within its cell: a narrow number is in the low bits.
fn offset_in_cell(type_: ir::Type) -> i32 {
    if cfg!(target_endian = "big") { CELL as i32 - type_.bytes() as i32 } else { 0 }
}

fn number(space: Space) -> usize {
    match space {
        Space::Ints => 0,
        Space::Reals => 1,
        Space::Adjoints => 2,
        Space::References => 3,
        Space::StartInts => 4,
        Space::StartReals => 5,
        Space::Results => 6,
    }
}

/// Returns the alias flags of a space: cells of different spaces never alias.
fn flags(space: Space) -> MemFlags {
    let region = match space {
        Space::Ints => Some(AliasRegion::Heap),
        Space::Reals => Some(AliasRegion::Table),
        Space::Adjoints => Some(AliasRegion::Vmctx),
        Space::References | Space::StartInts | Space::StartReals | Space::Results => None,
    };
    MemFlags::trusted().with_alias_region(region)
}

impl Translation<'_> {
    /// Emits loads of each space's base address. Called at entry, and again before each loop: the reload keeps base
    /// addresses in registers within loops, even if code outside of the loop needs the registers.
    pub(super) fn find_memories(&mut self) -> Option<()> {
        // These loads have the alias flags of a space, although stores to cells don't change these fields. With other
        // flags, Cranelift would reuse addresses that were loaded earlier, possibly from the stack.
        let flags = flags(Space::Reals);
        for (space, field) in [
            (Space::Ints, ContextField::INTS),
            (Space::Reals, ContextField::REALS),
            (Space::Adjoints, ContextField::ADJOINTS),
            (Space::References, ContextField::REFERENCES),
            (Space::StartInts, ContextField::START_INTS),
            (Space::StartReals, ContextField::START_REALS),
            (Space::Results, ContextField::RESULTS),
        ] {
            if !self.spaces.contains(&space) {
                continue;
            }
            let memory = self.builder.ins().load(self.pointer, flags, self.context?, field.0);
            self.builder.def_var(self.memories[number(space)], memory);
        }
        Some(())
    }

    /// Returns the base address of a space's cells.
    pub(super) fn memory(&mut self, space: Space) -> ir::Value {
        self.builder.use_var(self.memories[number(space)])
    }

    /// Returns the machine address of a cell. Adjacent cells of the space are `apart` bytes apart.
    pub(super) fn place(&mut self, space: Space, address: ir::Value, apart: i64) -> Option<ir::Value> {
        let offset = self.builder.ins().imul_imm(address, apart);
        let memory = self.memory(space);
        Some(self.builder.ins().iadd(memory, offset))
    }

    pub(super) fn memory_op(&mut self, op: &SsaOp) -> Option<Option<ir::Value>> {
        match op.kind {
            OpKind::Input(wanted) => {
                let place = self.function.inputs().position(|(_, input)| input == wanted)?;
                let inputs = self.load(self.pointer, ContextField::INPUTS)?;
                let offset = i32::try_from(place * size_of::<u32>()).ok()?;
                let value = self.builder.ins().load(types::I32, MemFlags::trusted(), inputs, offset);
                Some(Some(self.builder.ins().uextend(types::I64, value)))
            }
            OpKind::Index { offset } => {
                let [index, length] = self.operands(op)?;
                let index = self.builder.ins().iadd_imm(index, offset);
                let fails = self.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
                self.fail_if(fails, op);
                Some(Some(index))
            }
            OpKind::Place => {
                let [base, index, stride] = self.operands(op)?;
                let distance = self.builder.ins().imul(index, stride);
                Some(Some(self.builder.ins().iadd(base, distance)))
            }
            OpKind::Load(space) => {
                let [address] = self.operands(op)?;
                let place = self.place(space, address, CELL)?;
                let type_ = type_of(space.class(), self.kinds.system);
                let offset = offset_in_cell(type_);
                Some(Some(self.builder.ins().load(type_, flags(space), place, offset)))
            }
            OpKind::Store(space) => {
                let [address, value] = self.operands(op)?;
                let place = self.place(space, address, CELL)?;
                // A store writes all 64 bits of the cell.
                let whole = if self.builder.func.dfg.value_type(value) == types::F32 {
                    self.bits_of(space.class(), value)
                } else {
                    value
                };
                self.builder.ins().store(flags(space), whole, place, 0);
                Some(None)
            }
            _ => None,
        }
    }

    /// Returns the bits of a cell that holds this value.
    fn bits_of(&mut self, class: Class, value: ir::Value) -> ir::Value {
        match type_of(class, self.kinds.system) {
            types::F64 => self.builder.ins().bitcast(types::I64, MemFlags::new(), value),
            types::F32 => {
                let bits = self.builder.ins().bitcast(types::I32, MemFlags::new(), value);
                self.builder.ins().uextend(types::I64, bits)
            }
            _ => value,
        }
    }

    pub(super) fn count(&mut self, op: &SsaOp) -> Option<()> {
        match op.kind {
            OpKind::CountErased(bits) => {
                let before = self.held(ContextField::ERASED_BITS)?;
                let after = self.builder.ins().iadd_imm(before, i64::from(bits));
                self.hold(ContextField::ERASED_BITS, after)
            }
            OpKind::CountDiscarded => {
                let [value] = self.operands(op)?;
                let bits = self.bits_of(Class::Real, value);
                let counts = self.builder.ins().icmp_imm(IntCC::NotEqual, bits, 0);
                self.add_where(counts, ContextField::DISCARDED_BITS, self.kinds.system.width())
            }
            _ => {
                let [value] = self.operands(op)?;
                let counts = match self.kinds.system {
                    RealSystem::Fixed(_) => self.builder.ins().icmp_imm(IntCC::NotEqual, value, 0),
                    RealSystem::F64 | RealSystem::F32 => {
                        let zero = self.zero();
                        self.builder.ins().fcmp(FloatCC::NotEqual, value, zero)
                    }
                };
                self.add_where(counts, ContextField::DROPS, 1)
            }
        }
    }

    /// Adds the mark of a jump to the sum of marks, as defined in [`reviver_vm::watch`]. The step of the jump must
    /// already be counted.
    pub(super) fn mark_jump(&mut self) -> Option<()> {
        let last = self.load(types::I64, ContextField::LAST_INTERVAL)?;
        let per_step_left = self.load(types::I64, ContextField::PER_STEP_LEFT)?;
        let left = self.held(ContextField::LEFT)?;
        let distance = self.builder.ins().imul(left, per_step_left);
        let number = self.builder.ins().iadd(last, distance);
        let mut mark = self.builder.ins().imul_imm(number, MARK_FACTOR as i64);
        for (shift, factor) in MARK_ROUNDS {
            let shifted = self.builder.ins().ushr_imm(mark, i64::from(shift));
            let mixed = self.builder.ins().bxor(mark, shifted);
            mark = self.builder.ins().imul_imm(mixed, factor as i64);
        }
        let shifted = self.builder.ins().ushr_imm(mark, i64::from(MARK_SHIFT));
        let mark = self.builder.ins().bxor(mark, shifted);
        let marks = self.held(ContextField::MARKS)?;
        let marks = self.builder.ins().iadd(marks, mark);
        self.hold(ContextField::MARKS, marks)
    }

    /// Translates the turning point. The code replaces the budget of the primal sweep by that of the reverse sweep. It
    /// also negates the sum of the primal sweep's marks, so that equal marks of the reverse sweep cancel this sum.
    pub(super) fn turn(&mut self, slack: u32) -> Option<()> {
        let budget = self.load(types::I64, ContextField::BUDGET)?;
        let left = self.held(ContextField::LEFT)?;
        let made = self.builder.ins().isub(budget, left);
        self.store(made, ContextField::PRIMAL_STEPS)?;
        let left = self.builder.ins().iadd_imm(made, i64::from(slack));
        self.store(left, ContextField::BUDGET)?;
        self.hold(ContextField::LEFT, left)?;
        if !self.function.specialization.is_watched {
            return Some(());
        }
        let last = self.load(types::I64, ContextField::LAST_INTERVAL)?;
        let first = self.builder.ins().isub(last, budget);
        let last = self.builder.ins().iadd_imm(first, 1 - i64::from(slack));
        self.store(last, ContextField::LAST_INTERVAL)?;
        let one = self.builder.ins().iconst(types::I64, 1);
        self.store(one, ContextField::PER_STEP_LEFT)?;
        if self.held.iter().any(|held| held.field == ContextField::MARKS) {
            let marks = self.held(ContextField::MARKS)?;
            let negated = self.builder.ins().ineg(marks);
            self.hold(ContextField::MARKS, negated)?;
        }
        Some(())
    }

    /// Replaces the recorded largest magnitude by the magnitude of a real, if the real's magnitude is greater.
    pub(super) fn largest(&mut self, op: &SsaOp) -> Option<()> {
        let [value] = self.operands(op)?;
        let value = self.in_double(value);
        let magnitude = self.builder.ins().fabs(value);
        let before = self.load(types::F64, ContextField::LARGEST)?;
        let after = self.builder.ins().fmax(before, magnitude);
        self.store(after, ContextField::LARGEST)
    }

    /// Emits a check that fails if the reverse sweep restored a real to different bits, and rounding doesn't explain
    /// the difference.
    pub(super) fn missed(&mut self, op: &SsaOp, row: u32) -> Option<()> {
        let reals: [ir::Value; 3] = self.operands(op)?;
        let [from, to] = [reals[0], reals[1]].map(|real| self.bits_of(Class::Real, real));
        let differs = self.builder.ins().icmp(IntCC::NotEqual, from, to);
        let [records, next] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.set_cold_block(records);
        self.builder.ins().brif(differs, records, &[], next, &[]);
        self.builder.switch_to_block(records);
        let [from, to, adjoint] = reals.map(|real| self.in_double(real));
        let (context, row) = (self.context?, self.builder.ins().iconst(types::I64, i64::from(row)));
        let fails = self.call(functions::missed(), &[context, row, from, to, adjoint], Some(types::I64))?;
        self.builder.ins().brif(fails, self.failed, &[], next, &[]);
        self.builder.switch_to_block(next);
        Some(())
    }

    /// Reports a freed value to the watcher, if it isn't 0.
    pub(super) fn freed(&mut self, op: &SsaOp, at: u32) -> Option<()> {
        // Exact numbers aren't watched.
        if matches!(self.kinds.system, RealSystem::Fixed(_)) {
            return None;
        }
        let [value, adjoint] = self.operands(op)?;
        let zero = self.zero();
        let counts = self.builder.ins().fcmp(FloatCC::NotEqual, value, zero);
        let [some, tells, adds, next] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.set_cold_block(tells);
        self.builder.ins().brif(counts, some, &[], next, &[]);
        self.builder.switch_to_block(some);
        let [value, adjoint] = [value, adjoint].map(|real| self.in_double(real));
        let is_reported = self.is_reported(value)?;
        self.builder.ins().brif(is_reported, tells, &[], adds, &[]);
        self.builder.switch_to_block(tells);
        let (context, at) = (self.context?, self.builder.ins().iconst(types::I64, i64::from(at)));
        let error = self.held(ContextField::FREED_ERROR)?;
        self.store(error, ContextField::FREED_ERROR)?;
        self.call(functions::freed(), &[context, at, value, adjoint], None);
        let error = self.load(types::F64, ContextField::FREED_ERROR)?;
        self.hold(ContextField::FREED_ERROR, error)?;
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(adds);
        let product = self.builder.ins().fmul(value, adjoint);
        let product = self.builder.ins().fabs(product);
        let error = self.held(ContextField::FREED_ERROR)?;
        let error = self.builder.ins().fadd(error, product);
        self.hold(ContextField::FREED_ERROR, error)?;
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        Some(())
    }

    /// Adds the magnitude of freed value × adjoint to the error of a row other than the first.
    pub(super) fn freed_in_row(&mut self, op: &SsaOp, row: u32) -> Option<()> {
        let [value, adjoint] = self.operands(op)?;
        let zero = self.zero();
        let counts = self.builder.ins().fcmp(FloatCC::NotEqual, value, zero);
        let [adds, next] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.ins().brif(counts, adds, &[], next, &[]);
        self.builder.switch_to_block(adds);
        let [value, adjoint] = [value, adjoint].map(|real| self.in_double(real));
        let product = self.builder.ins().fmul(value, adjoint);
        let product = self.builder.ins().fabs(product);
        let field = ContextField::freed_in_row(row)?;
        let error = self.load(types::F64, field)?;
        let error = self.builder.ins().fadd(error, product);
        self.store(error, field)?;
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        Some(())
    }

    /// Emits the condition under which a freed number changes fields other than the error, as defined by
    /// [`reviver_vm::watch::FreedSoFar`].
    fn is_reported(&mut self, value: ir::Value) -> Option<ir::Value> {
        let magnitude = self.builder.ins().fabs(value);
        let largest = self.load(types::F64, ContextField::FREED_LARGEST)?;
        let is_larger = self.builder.ins().fcmp(FloatCC::GreaterThan, magnitude, largest);
        let bits = self.builder.ins().bitcast(types::I64, MemFlags::new(), value);
        let long = self.load(types::I64, ContextField::FREED_LONG)?;
        let long = self.builder.ins().band(bits, long);
        let is_long = self.builder.ins().icmp_imm(IntCC::NotEqual, long, 0);
        Some(self.builder.ins().bor(is_larger, is_long))
    }

    /// Adds `count`, a power of two, to a counter if a condition holds.
    fn add_where(&mut self, counts: ir::Value, field: ContextField, count: u32) -> Option<()> {
        let before = self.held(field)?;
        let one = self.bit(counts);
        let more = self.builder.ins().ishl_imm(one, i64::from(count.trailing_zeros()));
        let after = self.builder.ins().iadd(before, more);
        self.hold(field, after)
    }
}
