//! Code by which a group of lanes goes through a form: what is the same for all lanes is a number in one register, everything else one in vectors of two lanes. Checks of
//! reals are looked at where the form is left, and every now and then in loops, which might not end where they fail; what integers are checked for fails at once, because
//! addresses may depend on it, and so does a branch that lanes would take differently.
//! What there is no vector instruction for is done lane after lane, as for one lane.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::V128Imm;
use cranelift_codegen::ir::{self, BlockArg, ConstantData, InstBuilder, MemFlags, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use reviver_compile::form::{Jump, SsaEnd, SsaForm};
use reviver_compile::group::form::{GroupForm, Spread};
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_isa::arith::Elementary;
use reviver_isa::instruction::Class;
use reviver_isa::module::{RealSystem, Word};
use reviver_vm::differentiate::group::GROUP;
use reviver_vm::watch::Rounding;

use super::ints::comparison;
use super::memory::CELL;
use super::reals::float_comparison;
use super::{FAILED, Translation};
use crate::context::{ContextField, GroupField};

/// Lanes of a vector.
const IN_VECTOR: usize = 2;
/// Vectors of a number that differs between lanes.
const VECTORS: usize = GROUP / IN_VECTOR;

/// The bits of all lanes of a vector.
const ALL: i64 = (1 << IN_VECTOR) - 1;

/// About so many steps are made until checks are looked at.
const UNLOOKED: i64 = 1 << 16;

/// Bytes of a vector.
const VECTOR_BYTES: usize = 16;

/// Writes the code of a form for a group into a function of [`super::signature`], which takes a [`crate::context::GroupContext`]. `None` where it has something that there
/// is no code for.
pub fn translate_for_group(
    group: &GroupForm,
    function: &mut ir::Function,
    config: TargetFrontendConfig,
) -> Option<()> {
    let mut own = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(function, &mut own);
    let form = group.form();
    let mut lane = Translation::new(form, builder, config, &[ContextField::LEFT, ContextField::MARKS]);
    let reals = |lane: &mut Translation<'_>| lane.builder.declare_var(types::F64X2);
    let found = lane.builder.declare_var(types::I64X2);
    let unlooked = lane.builder.declare_var(types::I64);
    let largest = reals(&mut lane);
    let errors = (0..VECTORS * group.rows()).map(|_| reals(&mut lane)).collect();
    let sums = [(); VECTORS].map(|()| reals(&mut lane));
    let (count, unchanged) = (form.definitions.len(), unchanged(group));
    let mut translation = GroupTranslation {
        group,
        lane,
        vectors: vec![Vec::new(); count],
        masks: vec![Vec::new(); count],
        known: HashMap::new(),
        steady: steady(group, &unchanged),
        unchanged,
        found,
        unlooked,
        sums,
        largest,
        errors,
    };
    translation.write()?;
    translation.lane.finish();
    Some(())
}

/// How an operation is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It isn't.
    LeftOut,
    /// Once for all lanes.
    Common,
    /// By each vector for itself.
    Apart,
    /// By all vectors before anything else is done.
    Together,
}

/// A vector that is made once in a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    Constant(ir::Type, u64),
    /// Of what all lanes have in common.
    Copies(SsaValue),
    /// What a cell holds.
    Load(SsaValue, usize),
}

/// The vectors of a number, all lanes of a row before those of the next one.
type Vectors = Vec<ir::Value>;

struct GroupTranslation<'a> {
    group: &'a GroupForm,
    /// What is the same for all lanes, and what is done lane after lane.
    lane: Translation<'a>,
    /// What each value is that differs between lanes.
    vectors: Vec<Vec<Option<ir::Value>>>,
    /// Of integers that say whether something holds: all bits of a lane where it does, none where it doesn't.
    masks: Vec<Vec<Option<ir::Value>>>,
    /// Vectors that are made in each block where they are needed first, so that they don't wait in registers for that. None is made first on one of two ways through a block.
    known: HashMap<Known, ir::Value>,
    /// Spaces that only the blocks where the form arrives store to.
    unchanged: Vec<Space>,
    /// Loads of these, of literal addresses, that no store of their block comes before: they are made in each block that needs them.
    steady: HashSet<SsaValue>,
    /// Bits that are 0 unless a check has failed.
    found: Variable,
    /// Where fewer steps than these are left, checks are looked at.
    unlooked: Variable,
    /// Sums of numbers that may be neither infinite nor none: then they aren't either, unless they are so large that nothing is lost by giving a group up.
    sums: [Variable; VECTORS],
    /// The greatest magnitude that was freed.
    largest: Variable,
    /// The error of each row and lane.
    errors: Vec<Variable>,
}

impl GroupTranslation<'_> {
    fn write(&mut self) -> Option<()> {
        for number in 0..self.group.form().blocks.len() {
            self.parameters(number)?;
        }
        self.lane.begin()?;
        self.begin()?;
        for number in reviver_compile::order::reached(self.group.form()).into_iter().rev() {
            self.block(number)?;
        }
        self.lane.write_failed();
        Some(())
    }

    /// Gives a block its parameters.
    fn parameters(&mut self, number: usize) -> Option<()> {
        let block = *self.lane.blocks.get(number)?;
        for &parameter in &self.group.form().blocks.get(number)?.parameters {
            let class = self.group.form().class(parameter)?;
            match self.count(self.group.spread(parameter)) {
                None => {
                    let type_ = super::type_of(class, RealSystem::F64);
                    let value = self.lane.builder.append_block_param(block, type_);
                    self.lane.define(parameter, value);
                }
                Some(count) => {
                    let type_ = vector_type(class);
                    for n in 0..count {
                        let vector = self.lane.builder.append_block_param(block, type_);
                        self.define(parameter, n, vector);
                    }
                }
            }
        }
        Some(())
    }

    /// Vectors of a number that has this spread; none of one that all lanes have in common.
    fn count(&self, spread: Spread) -> Option<usize> {
        match spread {
            Spread::Common => None,
            Spread::ByLane => Some(VECTORS),
            Spread::ByRow => Some(VECTORS * self.group.rows()),
        }
    }

    fn define(&mut self, value: SsaValue, n: usize, vector: ir::Value) {
        put(&mut self.vectors, value, n, vector);
    }

    /// What stands before the first block: what was seen so far.
    fn begin(&mut self) -> Option<()> {
        let none = self.constant(types::I64X2, 0);
        self.lane.builder.def_var(self.found, none);
        let left = self.lane.held(ContextField::LEFT)?;
        self.look_later(left, 0);
        let zero = self.constant(types::F64X2, 0);
        for sum in self.sums {
            self.lane.builder.def_var(sum, zero);
        }
        let largest = self.lane.load(types::F64, GroupField::LARGEST)?;
        let largest = self.lane.builder.ins().splat(types::F64X2, largest);
        self.lane.builder.def_var(self.largest, largest);
        let errors = self.lane.load(self.lane.pointer, GroupField::ERRORS)?;
        for (n, variable) in self.errors.clone().into_iter().enumerate() {
            let error =
                self.lane.builder.ins().load(types::F64X2, unaligned(), errors, (n * VECTOR_BYTES) as i32);
            self.lane.builder.def_var(variable, error);
        }
        self.lane.builder.ins().jump(*self.lane.blocks.first()?, &[]);
        Some(())
    }

    fn block(&mut self, number: u32) -> Option<()> {
        let block = self.group.form().blocks.get(number as usize)?;
        self.known.clear();
        self.lane.builder.switch_to_block(*self.lane.blocks.get(number as usize)?);
        if !self.group.is_followed(number) {
            self.lane.builder.ins().jump(self.lane.failed, &[]);
            return Some(());
        }
        self.ops(&block.ops)?;
        self.lane.count_steps(number)?;
        self.end(&block.end)
    }

    fn end(&mut self, end: &SsaEnd) -> Option<()> {
        match end {
            SsaEnd::Go(jump) => {
                let (to, arguments) = self.jump(jump)?;
                self.lane.builder.ins().jump(to, &arguments);
            }
            SsaEnd::Branch { condition, yes, no } if self.group.spread(*condition) == Spread::Common => {
                let condition = self.lane.value(*condition)?;
                self.branch(condition, yes, no)?;
            }
            SsaEnd::Branch { condition, yes, no } => self.branch_of_lanes(*condition, yes, no)?,
            // Where it is to stop a group is given up.
            SsaEnd::Pause { steps, skipped, next, .. } => self.pause((*steps, *skipped), next)?,
            SsaEnd::Exit { .. } => self.leave()?,
        }
        Some(())
    }

    fn branch(&mut self, condition: ir::Value, yes: &Jump, no: &Jump) -> Option<()> {
        let ((yes, yes_arguments), (no, no_arguments)) = (self.jump(yes)?, self.jump(no)?);
        self.lane.builder.ins().brif(condition, yes, &yes_arguments, no, &no_arguments);
        Some(())
    }

    /// Goes where all lanes go.
    fn branch_of_lanes(&mut self, condition: SsaValue, yes: &Jump, no: &Jump) -> Option<()> {
        let masks = (0..VECTORS).map(|n| self.mask(condition, n)).collect::<Option<Vectors>>()?;
        let joined = |own: &mut Self, join: fn(&mut Self, ir::Value, ir::Value) -> ir::Value| {
            let joined = masks.iter().copied().reduce(|a, b| join(own, a, b))?;
            Some(own.lane.builder.ins().vhigh_bits(types::I32, joined))
        };
        let all = joined(self, |own, a, b| own.lane.builder.ins().band(a, b))?;
        let all = self.lane.builder.ins().icmp_imm(IntCC::Equal, all, ALL);
        let ((yes, yes_arguments), (no, no_arguments)) = (self.jump(yes)?, self.jump(no)?);
        let others = self.lane.builder.create_block();
        self.lane.builder.ins().brif(all, yes, &yes_arguments, others, &[]);
        self.lane.builder.switch_to_block(others);
        let any = joined(self, |own, a, b| own.lane.builder.ins().bor(a, b))?;
        let parted = self.lane.builder.create_block();
        self.lane.builder.set_cold_block(parted);
        self.lane.builder.ins().brif(any, parted, &[], no, &no_arguments);
        self.lane.builder.switch_to_block(parted);
        let mut ways = self.lane.builder.ins().iconst(types::I64, 0);
        for (n, &mask) in masks.iter().enumerate() {
            let own = self.lane.builder.ins().vhigh_bits(types::I64, mask);
            let own = self.lane.builder.ins().ishl_imm(own, (n * IN_VECTOR) as i64);
            ways = self.lane.builder.ins().bor(ways, own);
        }
        self.lane.store(ways, GroupField::WAYS)?;
        self.lane.builder.ins().jump(self.lane.failed, &[]);
        Some(())
    }

    /// Where a jump leads, and what is passed there.
    fn jump(&mut self, jump: &Jump) -> Option<(ir::Block, Vec<BlockArg>)> {
        let parameters = &self.group.form().blocks.get(jump.to as usize)?.parameters;
        let mut arguments: Vec<BlockArg> = Vec::new();
        for (&parameter, &argument) in parameters.iter().zip(&jump.arguments) {
            match self.count(self.group.spread(parameter)) {
                None => arguments.push(self.lane.value(argument)?.into()),
                Some(count) => {
                    for n in 0..count {
                        arguments.push(self.vector(argument, n)?.into());
                    }
                }
            }
        }
        Some((*self.lane.blocks.get(jump.to as usize)?, arguments))
    }

    /// Goes on if so many steps may still be made, behind those that are skipped, and no check was found to have failed.
    fn pause(&mut self, (steps, skipped): (u32, Option<SsaValue>), next: &Jump) -> Option<()> {
        let mut left = self.lane.held(ContextField::LEFT)?;
        if let Some(skipped) = skipped {
            // Numbers of steps are far from where they would wrap.
            let skipped = self.lane.value(skipped)?;
            left = self.lane.builder.ins().isub(left, skipped);
        }
        let unlooked = self.lane.builder.use_var(self.unlooked);
        let margin = self.lane.builder.ins().isub(left, unlooked);
        let [looks, goes_on, renews] = [(); 3].map(|()| self.lane.builder.create_block());
        self.lane.builder.set_cold_block(looks);
        self.lane.builder.set_cold_block(renews);
        let at_least = IntCC::SignedGreaterThanOrEqual;
        let is_early = self.lane.builder.ins().icmp_imm(at_least, margin, i64::from(steps));
        self.lane.builder.ins().brif(is_early, goes_on, &[], looks, &[]);
        self.lane.builder.switch_to_block(looks);
        self.look()?;
        let lasts = self.lane.builder.ins().icmp_imm(at_least, left, i64::from(steps));
        self.lane.builder.ins().brif(lasts, renews, &[], self.lane.failed, &[]);
        self.lane.builder.switch_to_block(renews);
        self.look_later(left, steps);
        self.lane.builder.ins().jump(goes_on, &[]);
        self.lane.builder.switch_to_block(goes_on);
        self.lane.hold(ContextField::LEFT, left)?;
        let (next, next_arguments) = self.jump(next)?;
        self.lane.builder.ins().jump(next, &next_arguments);
        Some(())
    }

    /// Has checks looked at some steps later, but no fewer than so many.
    fn look_later(&mut self, left: ir::Value, steps: u32) {
        let later = self.lane.builder.ins().iadd_imm(left, -UNLOOKED.max(i64::from(steps)));
        let zero = self.lane.builder.ins().iconst(types::I64, 0);
        let later = self.lane.builder.ins().smax(later, zero);
        self.lane.builder.def_var(self.unlooked, later);
    }

    /// Fails if a check has.
    fn look(&mut self) -> Option<()> {
        for sum in self.sums {
            let sum = self.lane.builder.use_var(sum);
            let bits = self.bits_unless_finite(sum);
            self.find(bits);
        }
        let found = self.lane.builder.use_var(self.found);
        let fails = self.lane.builder.ins().vany_true(found);
        let next = self.lane.builder.create_block();
        self.lane.builder.ins().brif(fails, self.lane.failed, &[], next, &[]);
        self.lane.builder.switch_to_block(next);
        Some(())
    }

    /// Leaves the form with what was seen, unless a check has failed.
    fn leave(&mut self) -> Option<()> {
        self.look()?;
        self.lane.store_held()?;
        let largest = self.lane.builder.use_var(self.largest);
        let [one, other] = [0, 1].map(|lane| self.lane.builder.ins().extractlane(largest, lane));
        let largest = self.lane.builder.ins().fmax(one, other);
        self.lane.store(largest, GroupField::LARGEST)?;
        let errors = self.lane.load(self.lane.pointer, GroupField::ERRORS)?;
        for (n, variable) in self.errors.clone().into_iter().enumerate() {
            let error = self.lane.builder.use_var(variable);
            self.lane.builder.ins().store(unaligned(), error, errors, (n * VECTOR_BYTES) as i32);
        }
        let answer = self.lane.builder.ins().iconst(types::I64, 1 - FAILED);
        self.lane.builder.ins().return_(&[answer]);
        Some(())
    }

    /// Operations that follow each other. What vectors do each for themselves is done for the first one, and then for the others, so that fewer numbers wait in registers.
    fn ops(&mut self, ops: &[SsaValue]) -> Option<()> {
        let mut waiting: Vec<usize> = Vec::new();
        for (place, &value) in ops.iter().enumerate() {
            let op = self.group.form().op(value)?;
            match self.manner(value, op) {
                Manner::LeftOut => {}
                Manner::Common => {
                    if let Some(made) = self.lane.op(op)? {
                        self.lane.define(value, made);
                    }
                }
                Manner::Apart => waiting.push(place),
                Manner::Together => {
                    self.apart(ops, &waiting)?;
                    waiting.clear();
                    if let OpKind::Store(space) = op.kind {
                        self.load_before_store(space, ops.get(place..)?, |_| true)?;
                    }
                    self.together(value, op)?;
                }
            }
        }
        self.apart(ops, &waiting)
    }

    /// How an operation is done.
    fn manner(&self, value: SsaValue, op: &SsaOp) -> Manner {
        let is_common = self.group.spread_of(op) == Spread::Common;
        match op.kind {
            // Nobody is told of these counts.
            OpKind::CountErased(_) | OpKind::CountDiscarded | OpKind::CountDropped => Manner::LeftOut,
            OpKind::Load(_) if self.steady.contains(&value) => Manner::LeftOut,
            OpKind::Store(_) if self.group.is_idle(value) => Manner::LeftOut,
            OpKind::Store(space) if self.unchanged.contains(&space) => Manner::Apart,
            OpKind::Load(_) | OpKind::Store(_) => Manner::Together,
            OpKind::Freed { .. } => Manner::Apart,
            _ if is_common => Manner::Common,
            OpKind::RequireTrue | OpKind::RequireApart | OpKind::Powi => Manner::Together,
            _ => Manner::Apart,
        }
    }

    /// Some of the operations, by their places, for each vector: of the first lanes all rows, and then of the others.
    fn apart(&mut self, ops: &[SsaValue], places: &[usize]) -> Option<()> {
        let rows = self.group.rows();
        for n in (0..VECTORS).flat_map(|first| (0..rows).map(move |row| first + row * VECTORS)) {
            for &place in places {
                let value = *ops.get(place)?;
                let op = self.group.form().op(value)?;
                if n >= self.vectors_of(op) {
                    continue;
                }
                if let OpKind::Store(space) = op.kind {
                    self.load_before_store(space, ops.get(place..)?, |own| own == n)?;
                }
                self.vector_op(value, op, n)?;
            }
        }
        Some(())
    }

    /// How many vectors an operation is done for.
    fn vectors_of(&self, op: &SsaOp) -> usize {
        match op.kind {
            OpKind::Store(Space::Adjoints) | OpKind::Freed { .. } => VECTORS * self.group.rows(),
            OpKind::Store(_) => VECTORS,
            _ => self.count(self.group.spread_of(op)).unwrap_or(0),
        }
    }

    /// What an operation does, or gives, in one vector.
    fn vector_op(&mut self, value: SsaValue, op: &SsaOp, n: usize) -> Option<()> {
        match op.kind {
            OpKind::Store(space) => self.store(op, space, n)?,
            OpKind::Freed { .. } => self.freed(op, n)?,
            OpKind::RequireAdmitted | OpKind::RequireVacant => self.require(op, n)?,
            OpKind::Test(_) | OpKind::IntTest(_) => {
                let mask = self.test(op, n)?;
                let number = self.lane.builder.ins().ushr_imm(mask, 63);
                self.define(value, n, number);
                put(&mut self.masks, value, n, mask);
            }
            _ => {
                let made = self.made(op, n)?;
                self.define(value, n, made);
            }
        }
        Some(())
    }

    /// What an operation does, or gives, in all vectors.
    fn together(&mut self, value: SsaValue, op: &SsaOp) -> Option<()> {
        let count = self.count(self.group.spread_of(op));
        match (op.kind, count) {
            (OpKind::Load(space), _) => self.load(value, op, space),
            (OpKind::Store(space), _) => (0..self.vectors_of(op)).try_for_each(|n| self.store(op, space, n)),
            (OpKind::RequireTrue | OpKind::RequireApart, Some(count)) => self.require_at_once(op, count),
            (OpKind::Powi, Some(count)) => {
                let made = self.powers(op, count)?;
                (0..).zip(made).for_each(|(n, made)| self.define(value, n, made));
                Some(())
            }
            _ => None,
        }
    }

    /// A vector of a value; where all lanes have it in common, of copies.
    fn vector(&mut self, value: SsaValue, n: usize) -> Option<ir::Value> {
        let own = match self.group.spread(value) {
            Spread::Common => return self.copies(value),
            Spread::ByLane => n % VECTORS,
            Spread::ByRow => n,
        };
        match self.vectors.get(value.0 as usize)?.get(own).copied().flatten() {
            Some(vector) => Some(vector),
            None => self.loaded(value, own),
        }
    }

    /// What a cell holds, loaded when this block needs it first.
    fn loaded(&mut self, value: SsaValue, n: usize) -> Option<ir::Value> {
        if let Some(&known) = self.known.get(&Known::Load(value, n)) {
            return Some(known);
        }
        let op = self.group.form().op(value).filter(|_| self.steady.contains(&value))?;
        let (OpKind::Load(space), &[address]) = (op.kind, op.operands.as_slice()) else { return None };
        let Places::Vector(place, offset) = self.places(space, address, n)? else { return None };
        let type_ = vector_type(space.class());
        let made = self.lane.builder.ins().load(type_, unaligned(), place, offset);
        self.known.insert(Known::Load(value, n), made);
        Some(made)
    }

    /// Loads what is needed of a space, in some vectors, by operations that may come behind a store to it.
    fn load_before_store(
        &mut self,
        space: Space,
        ops: &[SsaValue],
        wanted: impl Fn(usize) -> bool,
    ) -> Option<()> {
        if !self.unchanged.contains(&space) {
            return Some(());
        }
        for op in ops.iter().filter_map(|&value| self.group.form().op(value)) {
            for &value in op.operands.iter().chain(&op.guard) {
                let load = self.group.form().op(value).filter(|_| self.steady.contains(&value));
                if let Some(load) = load.filter(|op| op.kind == OpKind::Load(space)) {
                    let count = self.count(self.group.spread_of(load))?;
                    let wanted = (0..count).filter(|&n| wanted(n));
                    wanted.into_iter().try_for_each(|n| self.loaded(value, n).map(|_| ()))?;
                }
            }
        }
        Some(())
    }

    fn copies(&mut self, value: SsaValue) -> Option<ir::Value> {
        match self.group.form().op(value).map(|op| op.kind) {
            Some(OpKind::Real(bits)) => Some(self.constant(types::F64X2, bits)),
            Some(OpKind::Int(value)) => Some(self.constant(types::I64X2, value as u64)),
            _ => {
                if let Some(&known) = self.known.get(&Known::Copies(value)) {
                    return Some(known);
                }
                let type_ = vector_type(self.group.form().class(value)?);
                let number = self.lane.value(value)?;
                let made = self.lane.builder.ins().splat(type_, number);
                self.known.insert(Known::Copies(value), made);
                Some(made)
            }
        }
    }

    /// The same bits in each lane.
    fn constant(&mut self, type_: ir::Type, bits: u64) -> ir::Value {
        if let Some(&known) = self.known.get(&Known::Constant(type_, bits)) {
            return known;
        }
        let bytes: Vec<u8> = [bits.to_le_bytes(); IN_VECTOR].concat();
        let data = ConstantData::from(V128Imm::from(bytes.as_slice()).to_vec());
        let handle = self.lane.builder.func.dfg.constants.insert(data);
        let made = self.lane.builder.ins().vconst(type_, handle);
        self.known.insert(Known::Constant(type_, bits), made);
        made
    }

    fn vectors<const N: usize>(&mut self, op: &SsaOp, n: usize) -> Option<[ir::Value; N]> {
        let mut found = [ir::Value::from_u32(0); N];
        for (found, &operand) in found.iter_mut().zip(&op.operands) {
            *found = self.vector(operand, n)?;
        }
        (op.operands.len() == N).then_some(found)
    }

    /// All bits of the lanes where an integer isn't 0.
    fn mask(&mut self, value: SsaValue, n: usize) -> Option<ir::Value> {
        let own = if self.group.spread(value) == Spread::ByRow { n } else { n % VECTORS };
        if let Some(mask) = self.masks.get(value.0 as usize)?.get(own).copied().flatten() {
            return Some(mask);
        }
        let (vector, zero) = (self.vector(value, n)?, self.constant(types::I64X2, 0));
        Some(self.lane.builder.ins().icmp(IntCC::NotEqual, vector, zero))
    }

    /// All bits of the lanes where a comparison holds.
    fn test(&mut self, op: &SsaOp, n: usize) -> Option<ir::Value> {
        if let (OpKind::IntTest(order), &[a, b]) = (op.kind, op.operands.as_slice())
            && let Some(mask) = self.test_of_truth(order, a, b, n)
        {
            return Some(mask);
        }
        let [a, b] = self.vectors(op, n)?;
        Some(match op.kind {
            OpKind::Test(order) => self.lane.builder.ins().fcmp(float_comparison(order), a, b),
            OpKind::IntTest(order) => self.lane.builder.ins().icmp(comparison(order), a, b),
            _ => return None,
        })
    }

    /// The same, where what is compared with 0 says itself whether something holds.
    fn test_of_truth(
        &mut self,
        order: reviver_isa::arith::Order,
        a: SsaValue,
        b: SsaValue,
        n: usize,
    ) -> Option<ir::Value> {
        use reviver_isa::arith::Order;
        let is_zero = matches!(self.group.form().op(b)?.kind, OpKind::Int(0));
        let is_known = is_zero && !self.masks.get(a.0 as usize)?.is_empty();
        match order {
            Order::Ne if is_known => self.mask(a, n),
            Order::Eq if is_known => {
                let mask = self.mask(a, n)?;
                Some(self.lane.builder.ins().bnot(mask))
            }
            _ => None,
        }
    }

    /// What an operation gives two lanes.
    fn made(&mut self, op: &SsaOp, n: usize) -> Option<ir::Value> {
        let is_whole = self.lane.kinds.word == Word::W64;
        match op.kind {
            OpKind::Add | OpKind::Sub | OpKind::Mul | OpKind::Div => {
                let [a, b] = self.vectors(op, n)?;
                let ins = self.lane.builder.ins();
                Some(match op.kind {
                    OpKind::Add => ins.fadd(a, b),
                    OpKind::Sub => ins.fsub(a, b),
                    OpKind::Mul => ins.fmul(a, b),
                    _ => ins.fdiv(a, b),
                })
            }
            OpKind::Neg => {
                let [a] = self.vectors(op, n)?;
                Some(self.opposite(a))
            }
            OpKind::Elementary(Elementary::Sqrt) => {
                let [a] = self.vectors(op, n)?;
                Some(self.lane.builder.ins().sqrt(a))
            }
            OpKind::Magnitude => {
                let [a] = self.vectors(op, n)?;
                let opposite = self.opposite(a);
                let is_greater = self.lane.builder.ins().fcmp(FloatCC::LessThan, a, opposite);
                Some(self.chosen(is_greater, [opposite, a], types::F64X2))
            }
            OpKind::Choose | OpKind::IntChoose => {
                let &[condition, yes, no] = op.operands.as_slice() else { return None };
                let (yes, no) = (self.vector(yes, n)?, self.vector(no, n)?);
                let mask = self.mask(condition, n)?;
                Some(self.chosen(mask, [yes, no], vector_type(op.kind.facts().gives?)))
            }
            OpKind::IntAdd | OpKind::IntSub if is_whole => {
                let [a, b] = self.vectors(op, n)?;
                let ins = self.lane.builder.ins();
                Some(if op.kind == OpKind::IntAdd { ins.iadd(a, b) } else { ins.isub(a, b) })
            }
            OpKind::IntAnd | OpKind::IntOr | OpKind::IntXor => {
                let [a, b] = self.vectors(op, n)?;
                let ins = self.lane.builder.ins();
                Some(match op.kind {
                    OpKind::IntAnd => ins.band(a, b),
                    OpKind::IntOr => ins.bor(a, b),
                    _ => ins.bxor(a, b),
                })
            }
            _ => self.each_lane(op, n),
        }
    }

    /// Of two numbers the first one in the lanes of a mask.
    fn chosen(&mut self, mask: ir::Value, [yes, no]: [ir::Value; 2], type_: ir::Type) -> ir::Value {
        let mask = if type_ == types::I64X2 { mask } else { self.bits(type_, mask) };
        self.lane.builder.ins().bitselect(mask, yes, no)
    }

    /// The same bits as another type.
    fn bits(&mut self, type_: ir::Type, vector: ir::Value) -> ir::Value {
        self.lane.builder.ins().bitcast(type_, MemFlags::new(), vector)
    }

    /// Powers whose exponent is an integer: where all lanes have it in common, no function is needed for 0, 1 and 2.
    fn powers(&mut self, op: &SsaOp, count: usize) -> Option<Vectors> {
        let &[base, exponent] = op.operands.as_slice() else { return None };
        if self.group.spread(exponent) != Spread::Common {
            return (0..count).map(|n| self.each_lane(op, n)).collect();
        }
        let exponent = self.lane.value(exponent)?;
        let bases = (0..count).map(|n| self.vector(base, n)).collect::<Option<Vectors>>()?;
        let one = self.constant(types::F64X2, 1.0_f64.to_bits());
        let [few, others, next] = [(); 3].map(|()| self.lane.builder.create_block());
        let is_few = self.lane.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, exponent, 2);
        let is_one = self.lane.builder.ins().icmp_imm(IntCC::Equal, exponent, 1);
        let is_two = self.lane.builder.ins().icmp_imm(IntCC::Equal, exponent, 2);
        self.lane.builder.ins().brif(is_few, few, &[], others, &[]);
        self.lane.builder.switch_to_block(few);
        let mut made: Vec<BlockArg> = Vec::with_capacity(count);
        for base in bases {
            let square = self.lane.builder.ins().fmul(base, base);
            let up_to_one = self.lane.builder.ins().select(is_one, base, one);
            made.push(self.lane.builder.ins().select(is_two, square, up_to_one).into());
        }
        self.lane.builder.ins().jump(next, &made);
        self.lane.builder.switch_to_block(others);
        made.clear();
        for n in 0..count {
            made.push(self.each_lane(op, n)?.into());
        }
        self.lane.builder.ins().jump(next, &made);
        self.lane.builder.switch_to_block(next);
        Some((0..count).map(|_| self.lane.builder.append_block_param(next, types::F64X2)).collect())
    }

    /// What an operation gives one lane after the other.
    fn each_lane(&mut self, op: &SsaOp, n: usize) -> Option<ir::Value> {
        let type_ = vector_type(op.kind.facts().gives?);
        let used: Vec<SsaValue> = op.operands.iter().chain(&op.guard).copied().collect();
        let used: Vec<SsaValue> =
            used.into_iter().filter(|&value| self.group.spread(value) != Spread::Common).collect();
        let mut made = None;
        for lane in 0..IN_VECTOR as u8 {
            for &value in &used {
                let vector = self.vector(value, n)?;
                let number = self.lane.builder.ins().extractlane(vector, lane);
                self.lane.define(value, number);
            }
            let number = self.lane.op(op)??;
            made = Some(match made {
                None => self.lane.builder.ins().splat(type_, number),
                Some(made) => self.lane.builder.ins().insertlane(made, number, lane),
            });
        }
        used.into_iter().for_each(|value| self.lane.undefine(value));
        made
    }

    /// Fails unless something holds in all lanes.
    fn require_at_once(&mut self, op: &SsaOp, count: usize) -> Option<()> {
        let mut all = None;
        for n in 0..count {
            let holds = match (op.kind, op.operands.as_slice()) {
                (OpKind::RequireTrue, &[condition]) => self.mask(condition, n)?,
                _ => {
                    let [a, b] = self.vectors(op, n)?;
                    self.lane.builder.ins().icmp(IntCC::NotEqual, a, b)
                }
            };
            let holds = match op.guard {
                Some(guard) => {
                    let counts = self.mask(guard, n)?;
                    self.lane.builder.ins().bor_not(holds, counts)
                }
                None => holds,
            };
            all = Some(match all {
                Some(all) => self.lane.builder.ins().band(all, holds),
                None => holds,
            });
        }
        let all = self.lane.builder.ins().vhigh_bits(types::I32, all?);
        let holds = self.lane.builder.ins().icmp_imm(IntCC::Equal, all, ALL);
        let next = self.lane.builder.create_block();
        self.lane.builder.ins().brif(holds, next, &[], self.lane.failed, &[]);
        self.lane.builder.switch_to_block(next);
        Some(())
    }

    /// Remembers whether a check of a real has failed in two lanes.
    fn require(&mut self, op: &SsaOp, n: usize) -> Option<()> {
        let first = *op.operands.first()?;
        let fails = match op.kind {
            OpKind::RequireVacant => {
                let a = self.vector(first, n)?;
                let magnitude = self.magnitude(a);
                let tolerance = self.constant(types::F64X2, self.lane.kinds.tolerance.to_bits());
                self.lane.builder.ins().fcmp(FloatCC::UnorderedOrGreaterThan, magnitude, tolerance)
            }
            _ if op.guard.is_none() => {
                let (a, sum) = (self.vector(first, n)?, *self.sums.get(n % VECTORS)?);
                let before = self.lane.builder.use_var(sum);
                let after = self.lane.builder.ins().fadd(before, a);
                self.lane.builder.def_var(sum, after);
                return Some(());
            }
            _ => {
                let a = self.vector(first, n)?;
                self.bits_unless_finite(a)
            }
        };
        let fails = match op.guard {
            Some(guard) => {
                let counts = self.mask(guard, n)?;
                self.lane.builder.ins().band(fails, counts)
            }
            None => fails,
        };
        self.find(fails);
        Some(())
    }

    /// Of what is infinite or no number some bits, else none.
    fn bits_unless_finite(&mut self, a: ir::Value) -> ir::Value {
        // This is no number then, else 0.
        let difference = self.lane.builder.ins().fsub(a, a);
        self.bits(types::I64X2, difference)
    }

    /// Without signs. (What the library makes of its own instruction builds the mask each time.)
    fn magnitude(&mut self, a: ir::Value) -> ir::Value {
        let mask = self.constant(types::F64X2, !(-0.0_f64).to_bits());
        self.lane.builder.ins().band(a, mask)
    }

    /// With the opposite signs.
    fn opposite(&mut self, a: ir::Value) -> ir::Value {
        let mask = self.constant(types::F64X2, (-0.0_f64).to_bits());
        self.lane.builder.ins().bxor(a, mask)
    }

    /// Remembers bits that aren't 0 where a check has failed.
    fn find(&mut self, bits: ir::Value) {
        let found = self.lane.builder.use_var(self.found);
        let found = self.lane.builder.ins().bor(found, bits);
        self.lane.builder.def_var(self.found, found);
    }

    /// Remembers what two lanes free, and by how much that changes a row's loss. A number that has more digits than what is left of a sum is nothing that a judge
    /// vouches for.
    fn freed(&mut self, op: &SsaOp, n: usize) -> Option<()> {
        let &[value, adjoint] = op.operands.as_slice() else { return None };
        let number = self.vector(value, n)?;
        if n < VECTORS {
            let long = self.constant(types::I64X2, Rounding::of(RealSystem::F64).long());
            let bits = self.bits(types::I64X2, number);
            let bits = self.lane.builder.ins().band(bits, long);
            self.find(bits);
            let (magnitude, largest) = (self.magnitude(number), self.lane.builder.use_var(self.largest));
            let is_larger = self.lane.builder.ins().fcmp(FloatCC::LessThan, largest, magnitude);
            let largest = self.chosen(is_larger, [magnitude, largest], types::F64X2);
            self.lane.builder.def_var(self.largest, largest);
        }
        // Times 0 it is nothing.
        if self.group.form().op(adjoint).is_some_and(|op| op.kind == OpKind::Real(0)) {
            return Some(());
        }
        let adjoint = self.vector(adjoint, n)?;
        let product = self.lane.builder.ins().fmul(number, adjoint);
        let product = self.magnitude(product);
        let variable = *self.errors.get(n)?;
        let error = self.lane.builder.use_var(variable);
        let error = self.lane.builder.ins().fadd(error, product);
        self.lane.builder.def_var(variable, error);
        Some(())
    }

    /// Bytes from a cell to the next one.
    fn distance(&self, space: Space) -> i64 {
        let rows = if space == Space::Adjoints { self.group.rows() } else { 1 };
        CELL * (GROUP * rows) as i64
    }

    /// Where the first number of a cell lies.
    fn place(&mut self, space: Space, address: ir::Value) -> Option<ir::Value> {
        self.lane.place(space, address, self.distance(space))
    }

    fn load(&mut self, value: SsaValue, op: &SsaOp, space: Space) -> Option<()> {
        let address = *op.operands.first()?;
        let Some(count) = self.count(self.group.spread_of(op)) else {
            let Places::Vector(place, offset) = self.places(space, address, 0)? else { return None };
            let made = self.lane.builder.ins().load(types::I64, unaligned(), place, offset);
            self.lane.define(value, made);
            return Some(());
        };
        let type_ = vector_type(space.class());
        for n in 0..count {
            let made = match self.places(space, address, n)? {
                Places::Vector(place, offset) => {
                    self.lane.builder.ins().load(type_, unaligned(), place, offset)
                }
                Places::Lanes([first, second]) => {
                    let [first, second] = [first, second].map(|(place, offset)| {
                        self.lane.builder.ins().load(type_.lane_type(), unaligned(), place, offset)
                    });
                    let first = self.lane.builder.ins().splat(type_, first);
                    self.lane.builder.ins().insertlane(first, second, 1)
                }
            };
            self.define(value, n, made);
        }
        Some(())
    }

    fn store(&mut self, op: &SsaOp, space: Space, n: usize) -> Option<()> {
        let &[address, value] = op.operands.as_slice() else { return None };
        let vector = self.vector(value, n)?;
        match self.places(space, address, n)? {
            Places::Vector(place, offset) => {
                self.lane.builder.ins().store(unaligned(), vector, place, offset);
            }
            Places::Lanes(places) => {
                for (lane, (place, offset)) in (0..).zip(places) {
                    let number = self.lane.builder.ins().extractlane(vector, lane);
                    self.lane.builder.ins().store(unaligned(), number, place, offset);
                }
            }
        }
        Some(())
    }

    /// Where a cell lies whose address is a literal: a place, and how many bytes behind it.
    fn known_place(&mut self, space: Space, address: SsaValue) -> Option<(ir::Value, i32)> {
        let first = literal(self.group.form(), address)?.checked_mul(self.distance(space))?;
        Some((self.lane.memory(space), i32::try_from(first).ok()?))
    }

    /// Where a vector of a cell lies, whose address may differ between lanes.
    fn places(&mut self, space: Space, address: SsaValue, n: usize) -> Option<Places> {
        let offset = (n * VECTOR_BYTES) as i32;
        if let Some((memory, first)) = self.known_place(space, address)
            && let Some(offset) = first.checked_add(offset)
        {
            return Some(Places::Vector(memory, offset));
        }
        if self.group.spread(address) == Spread::Common {
            let address = self.lane.value(address)?;
            return Some(Places::Vector(self.place(space, address)?, offset));
        }
        let addresses = self.vector(address, n)?;
        let mut found = [(addresses, 0); IN_VECTOR];
        for (lane, found) in (0..).zip(&mut found) {
            let address = self.lane.builder.ins().extractlane(addresses, lane);
            *found = (self.place(space, address)?, offset + i32::from(lane) * CELL as i32);
        }
        Some(Places::Lanes(found))
    }
}

/// Puts a vector into its place among those of a value.
fn put(all: &mut [Vec<Option<ir::Value>>], value: SsaValue, n: usize, vector: ir::Value) {
    let Some(own) = all.get_mut(value.0 as usize) else { return };
    own.resize(own.len().max(n + 1), None);
    own.get_mut(n).into_iter().for_each(|own| *own = Some(vector));
}

/// Spaces that nothing stores to but the blocks where a form arrives.
fn unchanged(group: &GroupForm) -> Vec<Space> {
    let form = group.form();
    let blocks = (0..).zip(&form.blocks).filter(|&(number, _)| group.is_followed(number));
    let before = blocks.filter(|(_, block)| !matches!(block.end, SsaEnd::Exit { .. }));
    let ops: Vec<OpKind> = before
        .flat_map(|(_, block)| block.ops.iter().filter_map(|&value| form.op(value)))
        .map(|op| op.kind)
        .collect();
    let spaces = [Space::Ints, Space::Reals, Space::Adjoints];
    spaces.into_iter().filter(|&space| !ops.contains(&OpKind::Store(space))).collect()
}

/// Loads of spaces that nothing stores to before a form arrives, which can be made wherever they are needed.
fn steady(group: &GroupForm, unchanged: &[Space]) -> HashSet<SsaValue> {
    let form = group.form();
    let mut steady = HashSet::new();
    for (_, block) in (0..).zip(&form.blocks).filter(|&(number, _)| group.is_followed(number)) {
        let mut left = unchanged.to_vec();
        for (value, op) in block.ops.iter().filter_map(|&value| Some((value, form.op(value)?))) {
            match op.kind {
                OpKind::Store(space) => left.retain(|&own| own != space),
                OpKind::Load(space) if left.contains(&space) => {
                    let is_literal = op.operands.first().is_some_and(|&cell| literal(form, cell).is_some());
                    if is_literal && group.spread(value) > Spread::Common {
                        steady.insert(value);
                    }
                }
                _ => {}
            }
        }
    }
    steady
}

/// The integer that a value is, if that is a literal.
fn literal(form: &SsaForm, value: SsaValue) -> Option<i64> {
    match form.op(value)?.kind {
        OpKind::Int(value) => Some(value),
        _ => None,
    }
}

/// Where two lanes' numbers of a cell lie: a place, and how many bytes behind it.
enum Places {
    Vector(ir::Value, i32),
    Lanes([(ir::Value, i32); IN_VECTOR]),
}

fn vector_type(class: Class) -> ir::Type {
    match class {
        Class::Int => types::I64X2,
        Class::Real => types::F64X2,
    }
}

/// Cells are there, but lie on no boundaries of vectors.
fn unaligned() -> MemFlags {
    MemFlags::new().with_notrap()
}
