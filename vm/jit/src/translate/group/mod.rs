//! Translation of a call function for a SIMD group. A value that is the same for all lanes is one number in a register.
//! Any other value is a list of vectors, one for each pair of lanes.
//!
//! - Checks of reals are deferred. The code tests them at the function's end, and at intervals in loops, because a loop
//!   might not terminate after a failed check.
//! - A failed check of integers abandons the group at once, because addresses may depend on the integers.
//! - A branch on which lanes diverge also abandons the group at once.
//! - For an operation without a vector instruction, the translation for one lane is used for each lane in turn.
//!
//! | module | subject |
//! |---|---|
//! | `order` | order of operations, and how often each is executed |
//! | `vectors`, `numbers`, `memory` | vectors of values, results of operations, cells |
//! | `checks`, `ends` | checks and evidence; terminators |

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
use reviver_compile::function::SsaFunction;
use reviver_compile::group::divergence::{GroupFunction, Uniformity};
use reviver_compile::op::{OpKind, Space, SsaOp, SsaValue};
use reviver_isa::instruction::Class;
use reviver_isa::module::RealSystem;
use reviver_vm::differentiate::group::GROUP;

use super::Translation;
use crate::context::{ContextField, GroupField};

use memory::{steady, unchanged};
use vectors::SharedVector;

/// Number of lanes in a vector.
const IN_VECTOR: usize = 2;
/// Number of vectors of a value that differs between lanes.
const VECTORS: usize = GROUP / IN_VECTOR;

/// Mask with a bit for each lane of a vector.
const ALL: i64 = (1 << IN_VECTOR) - 1;

/// Approximate number of steps between two tests of deferred checks.
const UNCHECKED_STEPS: i64 = 1 << 16;

/// Size of a vector in bytes.
const VECTOR_BYTES: usize = 16;

/// Returns an upper bound on the vectors that the operations of a function produce.
pub fn vectors_of(group: &GroupFunction) -> usize {
    let ops: usize = group.function().blocks.iter().map(|block| block.ops.len()).sum();
    ops.saturating_mul(VECTORS)
}

/// Translates a call function for a group into a Cranelift function with the signature that [`super::signature`]
/// returns. The argument of the Cranelift function is a [`crate::context::GroupContext`]. Returns `None` if an
/// operation isn't supported.
pub fn translate_for_group(
    group: &GroupFunction,
    ir_function: &mut ir::Function,
    config: TargetFrontendConfig,
) -> Option<()> {
    let mut own = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(ir_function, &mut own);
    let function = group.function();
    let mut lane = Translation::new(function, builder, config, &[ContextField::LEFT, ContextField::MARKS]);
    let reals = |lane: &mut Translation<'_>| lane.builder.declare_var(types::F64X2);
    let found = lane.builder.declare_var(types::I64X2);
    let unchecked = lane.builder.declare_var(types::I64);
    let [freed_errors, missed_errors] =
        [(); 2].map(|()| (0..VECTORS * rows(function)).map(|_| reals(&mut lane)).collect());
    let [sums, largest, freed, missed] = [(); 4].map(|()| [(); VECTORS].map(|()| reals(&mut lane)));
    let (count, unchanged) = (function.definitions.len(), unchanged(group));
    let mut translation = GroupTranslation {
        group,
        lane,
        vectors: vec![Vec::new(); count],
        masks: vec![Vec::new(); count],
        known: HashMap::new(),
        steady: steady(group, &unchanged),
        unchanged,
        found,
        unchecked,
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

/// Returns the number of rows of adjoints for which a call function collects evidence.
fn rows(function: &SsaFunction) -> usize {
    let ops = function.blocks.iter().flat_map(|block| &block.ops).filter_map(|&value| function.op(value));
    let row = |op: &SsaOp| match op.kind {
        OpKind::Freed { row, .. } | OpKind::Missed { row } => Some(row as usize + 1),
        _ => None,
    };
    ops.filter_map(row).max().unwrap_or(0)
}

/// All vectors of one value.
type Vectors = Vec<ir::Value>;

struct GroupTranslation<'a> {
    group: &'a GroupFunction,
    /// Translation for one lane. It holds the values that are the same for all lanes. It also translates operations
    /// that are executed lane after lane.
    lane: Translation<'a>,
    /// Vectors of each value that differs between lanes.
    vectors: Vec<Vec<Option<ir::Value>>>,
    /// Masks of each value that is the result of a comparison. In a mask, all bits of a lane are 1 if the comparison
    /// holds, otherwise 0.
    masks: Vec<Vec<Option<ir::Value>>>,
    /// Vectors that the current block emits at their first use, so that they don't occupy registers earlier. If the
    /// translation of a block has two paths, the first use must not be on only one of them, because the vector would be
    /// undefined on the other path.
    known: HashMap<SharedVector, ir::Value>,
    /// Spaces to which only the blocks at the function's end store.
    unchanged: Vec<Space>,
    /// Steady loads, as defined by `memory::steady`. Each block that uses the value of such a load emits the load
    /// again.
    steady: HashSet<SsaValue>,
    /// Bits that record failed checks: 0 unless a check has failed.
    found: Variable,
    /// Number of remaining steps below which deferred checks are tested.
    unchecked: Variable,
    /// Sums of the reals that must be finite. If a sum is finite, all its terms are finite. A sum of finite terms
    /// overflows only if the terms are very large. The group is then abandoned without need, but this is rare.
    sums: [Variable; VECTORS],
    /// Greatest magnitudes of reals at the turning point.
    largest: [Variable; VECTORS],
    /// Greatest magnitudes of freed cells.
    freed: [Variable; VECTORS],
    /// Greatest magnitudes of differences from the start.
    missed: [Variable; VECTORS],
    /// Errors of freed cells, by row: all vectors of a row precede the vectors of the next row.
    freed_errors: Vec<Variable>,
    /// Errors of differences from the start, in the same order as `freed_errors`.
    missed_errors: Vec<Variable>,
}

impl GroupTranslation<'_> {
    fn write(&mut self) -> Option<()> {
        for number in 0..self.group.function().blocks.len() {
            self.parameters(number)?;
        }
        self.lane.begin()?;
        self.begin()?;
        for number in reviver_compile::order::reached(self.group.function()).into_iter().rev() {
            self.block(number)?;
        }
        self.lane.write_failed();
        Some(())
    }

    /// Adds the parameters of an SSA block to its Cranelift block.
    fn parameters(&mut self, number: usize) -> Option<()> {
        let block = *self.lane.blocks.get(number)?;
        for &parameter in &self.group.function().blocks.get(number)?.parameters {
            let class = self.group.function().class(parameter)?;
            match self.count(self.group.uniformity(parameter)) {
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

    /// Returns the number of vectors of a value with this uniformity; `None` if the value is the same for all lanes.
    fn count(&self, uniformity: Uniformity) -> Option<usize> {
        match uniformity {
            Uniformity::Uniform => None,
            Uniformity::Varying => Some(VECTORS),
        }
    }

    fn define(&mut self, value: SsaValue, n: usize, vector: ir::Value) {
        put(&mut self.vectors, value, n, vector);
    }

    /// Writes the prologue before the first block, which sets the evidence to empty, and clears the record of failed
    /// checks.
    fn begin(&mut self) -> Option<()> {
        let none = self.constant(types::I64X2, 0);
        self.lane.builder.def_var(self.found, none);
        let left = self.lane.held(ContextField::LEFT)?;
        self.schedule_check(left, 0);
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

    /// Returns the fields of the evidence for verification, each with the variables that hold it while the code runs.
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
        let block = self.group.function().blocks.get(number as usize)?;
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

/// Stores vector `n` of a value.
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

/// Returns the memory flags of vectors of cells: accesses don't trap, but needn't be aligned to the size of a vector.
fn unaligned() -> MemFlags {
    MemFlags::new().with_notrap()
}
