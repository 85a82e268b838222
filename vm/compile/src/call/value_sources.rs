//! Sources of the reals that the reverse sweep of a gradient uses. Partial derivatives and inverse updates need values
//! of the primal sweep. The reverse sweep has such a value in one of three ways ([`ValueSource`]).
//!
//! Call functions keep a value if value numbering proves that the reverse sweep would compute the same bits. So the
//! choice never changes a result. Otherwise the reverse sweep computes the value of a function again, and restores the
//! old value of a target by the inverse update.

use std::collections::{BTreeSet, HashMap};

use reviver_isa::instruction::Class;
use reviver_vm::{CheckLevel, Program};

use super::compiled_call::addresses;
use super::region::{Region, regions};
use super::{CallFunction, CallGoal, CallTask, Lift};
use crate::function::{SsaFunction, StepOrigin, StepPart};
use crate::op::{OpKind, SsaValue};
use crate::order::reached;

/// How the reverse sweep gets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueSource {
    /// The value that the primal sweep computed is still in a register or on the native stack.
    Kept,
    /// The reverse sweep computes the value again.
    Recomputed,
    /// The inverse of an update restores the value.
    Inverted,
}

/// A real of a step, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SweepValue {
    /// The instruction of the step.
    pub at: u32,
    /// The source of the value.
    pub source: ValueSource,
    /// True for the value of the step's target, false for the value of the step's function.
    pub is_target: bool,
}

/// Lists the reals that the reverse sweep of a gradient uses, by instruction. `turn` is the turning point, and `seeded`
/// has the loss's cells. Code of several iterations or calls counts once. Returns `None` if no call function computes
/// the gradient.
pub fn value_sources(
    program: &Program,
    (turn, level): (u32, CheckLevel),
    seeded: &[usize],
) -> Option<BTreeSet<SweepValue>> {
    let seeded = addresses(seeded)?;
    let (goal, lift) = (CallGoal::Gradient, Lift::NONE);
    let task = CallTask { goal, turn, level, seeded: &seeded, rows: 1, lift };
    let CallFunction { function, .. } = CallFunction::build(program, task)?;
    Some(used(&function))
}

/// Lists the reals that the reverse sweep of a call function uses.
fn used(function: &SsaFunction) -> BTreeSet<SweepValue> {
    let places = places(function);
    let mut found = BTreeSet::new();
    for (&value, region) in &places {
        if *region != Region::Reverse {
            continue;
        }
        let own = part(function, value);
        if let Some(origin) = own {
            found.insert(match origin.part {
                StepPart::Update => sweep_value(origin, ValueSource::Inverted),
                StepPart::Function | StepPart::Other => sweep_value(origin, ValueSource::Recomputed),
            });
        }
        let is_update = own.is_some_and(|origin| origin.part == StepPart::Update);
        // An operation without a result only checks or stores its operands.
        let computes = function.op(value).filter(|op| op.kind.facts().result.is_some());
        let operands = computes.map_or(&[][..], |op| &op.operands);
        for operand in operands.iter().filter(|operand| places.get(operand) == Some(&Region::Forward)) {
            let kept = part(function, *operand);
            // The operand of an inverse update is the target's new value, which the step doesn't need otherwise.
            let is_needed = |origin: &StepOrigin| !(is_update && origin.part == StepPart::Update);
            found.extend(kept.filter(is_needed).map(|origin| sweep_value(origin, ValueSource::Kept)));
        }
    }
    found
}

fn sweep_value(StepOrigin { at, part }: StepOrigin, source: ValueSource) -> SweepValue {
    SweepValue { at, source, is_target: part == StepPart::Update }
}

/// Returns the origin of a real that is the value of a function or of a target; `None` for all other values.
fn part(function: &SsaFunction, value: SsaValue) -> Option<StepOrigin> {
    let is_real = function.class(value) == Some(Class::Real);
    let is_computed =
        function.op(value).is_some_and(|op| !op.operands.is_empty() && !matches!(op.kind, OpKind::Load(_)));
    function.origin(value).filter(|origin| is_real && is_computed && origin.part != StepPart::Other)
}

/// Returns the region of each operation that is reached.
fn places(function: &SsaFunction) -> HashMap<SsaValue, Region> {
    let at_start = regions(function);
    let mut places = HashMap::new();
    for number in reached(function) {
        let Some(block) = function.blocks.get(number as usize) else { continue };
        let mut region = at_start.get(&number).copied().unwrap_or(Region::Forward);
        for &value in &block.ops {
            places.insert(value, region);
            region = function.op(value).map_or(region, |op| region.after(op.kind));
        }
    }
    places
}
