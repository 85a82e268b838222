//! Code by which a group of lanes goes through a form: what is the same for all lanes is a number in one register, everything else one in vectors of two lanes. Checks of
//! reals are looked at where the form is left, and every now and then in loops, which might not end where they fail; what integers are checked for fails at once, because
//! addresses may depend on it, and so does a branch that lanes would take differently.
//! What there is no vector instruction for is done lane after lane, as for one lane.
//!
//! | module | what it is |
//! |---|---|
//! | `order` | in which order operations are done, and by whom |
//! | `vectors`, `numbers`, `memory` | what values are, what operations give, where cells lie |
//! | `checks`, `ends` | what fails; how blocks end |

mod checks;
mod ends;
mod memory;
mod numbers;
mod order;
mod vectors;

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{self, InstBuilder, MemFlags, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use reviver_compile::form::SsaForm;
use reviver_compile::group::form::{GroupForm, Spread};
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::group::GROUP;

use super::Translation;
use crate::context::{ContextField, GroupField};

use memory::{steady, unchanged};
use vectors::SharedVector;

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

/// How many vectors the operations of a form make at most.
pub fn vectors_of(group: &GroupForm) -> usize {
    let ops: usize = group.form().blocks.iter().map(|block| block.ops.len()).sum();
    ops.saturating_mul(VECTORS)
}

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
    let [freed_errors, missed_errors] =
        [(); 2].map(|()| (0..VECTORS * rows(form)).map(|_| reals(&mut lane)).collect());
    let [sums, largest, freed, missed] = [(); 4].map(|()| [(); VECTORS].map(|()| reals(&mut lane)));
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
        freed,
        missed,
        freed_errors,
        missed_errors,
    };
    translation.write()?;
    translation.lane.finish();
    Some(())
}

/// The number of rows of adjoints in a call function.
fn rows(form: &SsaForm) -> usize {
    let ops = form.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| form.op(value));
    let row = |op: &SsaOp| match op.kind {
        OpKind::Freed { row, .. } | OpKind::Missed { row } => Some(row as usize + 1),
        _ => None,
    };
    ops.filter_map(row).max().unwrap_or(0)
}

/// The vectors of a number.
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
    known: HashMap<SharedVector, ir::Value>,
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
    /// Greatest magnitudes at the turning point, of freed cells, and of differences from the start.
    largest: [Variable; VECTORS],
    freed: [Variable; VECTORS],
    missed: [Variable; VECTORS],
    /// By row the errors of freed cells, and of differences: all vectors of a row before those of the next one.
    freed_errors: Vec<Variable>,
    missed_errors: Vec<Variable>,
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
        for (_, variables) in self.evidence() {
            variables.into_iter().for_each(|variable| self.lane.builder.def_var(variable, zero));
        }
        self.lane.builder.ins().jump(*self.lane.blocks.first()?, &[]);
        Some(())
    }

    /// Evidence for verification: its fields, and the variables that hold it while the code runs.
    fn evidence(&self) -> [(ContextField, Vec<Variable>); 5] {
        [
            (GroupField::LARGEST, self.largest.to_vec()),
            (GroupField::FREED, self.freed.to_vec()),
            (GroupField::MISSED, self.missed.to_vec()),
            (GroupField::FREED_ERRORS, self.freed_errors.clone()),
            (GroupField::MISSED_ERRORS, self.missed_errors.clone()),
        ]
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
}

/// Puts a vector into its place among those of a value.
fn put(all: &mut [Vec<Option<ir::Value>>], value: SsaValue, n: usize, vector: ir::Value) {
    let Some(own) = all.get_mut(value.0 as usize) else { return };
    own.resize(own.len().max(n + 1), None);
    own.get_mut(n).into_iter().for_each(|own| *own = Some(vector));
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
