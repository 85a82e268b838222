//! Well-formedness check of SSA functions, for the properties that every engine relies on. Tests run it after
//! construction and after every pass. This module is independent of the meaning of operations.

use reviver_isa::instruction::Class;

use crate::function::{Definition, SsaFunction};
use crate::op::{SsaOp, SsaValue};
use crate::order::dominators;

/// Checks that a function is well-formed.
///
/// # Errors
/// Returns a description of the first fault, for compiler developers.
pub fn check(function: &SsaFunction) -> Result<(), String> {
    let made = places(function)?;
    let dominators = dominators(function);
    let checked = Checked { function, made: &made, dominators: &dominators };
    for (number, block) in (0..).zip(&function.blocks) {
        for (place, &value) in (1..).zip(&block.ops) {
            let Some(Definition::Op(op)) = function.definition(value) else {
                return Err(format!("{value:?} is listed as an operation of block {number}, but isn't one"));
            };
            checked.op(op, (number, place))?;
        }
        checked.end(number, block.ops.len() + 1)?;
    }
    Ok(())
}

/// Returns the place of each value's definition: the block's number, and the place in the block. The place is 0 for a
/// parameter, and the operation's index plus 1 for an operation.
fn places(function: &SsaFunction) -> Result<Vec<Option<(u32, usize)>>, String> {
    let mut made = vec![None; function.definitions.len()];
    for (number, block) in (0..).zip(&function.blocks) {
        let parameters = block.parameters.iter().map(|&value| (value, 0));
        for (value, place) in parameters.chain(block.ops.iter().copied().zip(1..)) {
            match made.get_mut(value.0 as usize) {
                Some(known @ None) => *known = Some((number, place)),
                _ => return Err(format!("{value:?} is defined twice, or doesn't exist")),
            }
        }
    }
    Ok(made)
}

struct Checked<'f> {
    function: &'f SsaFunction,
    made: &'f [Option<(u32, usize)>],
    dominators: &'f [Option<u32>],
}

impl Checked<'_> {
    /// Returns an error unless a value has the class `class`, and its definition dominates its use at `place` in
    /// `block`.
    fn used(&self, value: SsaValue, (block, place): (u32, usize), class: Class) -> Result<(), String> {
        if self.function.class(value) != Some(class) {
            return Err(format!("{value:?} in block {block} doesn't have the class {class:?}"));
        }
        let Some(&Some((home, made))) = self.made.get(value.0 as usize) else {
            return Err(format!("{value:?} is used in block {block}, but defined in no block"));
        };
        let is_above = || {
            let mut above = Some(block);
            std::iter::from_fn(|| {
                above = self.dominators[above? as usize];
                above
            })
            .any(|above| above == home)
        };
        if home == block && made < place || home != block && is_above() {
            return Ok(());
        }
        Err(format!("{value:?} is used in block {block}, but its definition doesn't dominate the use"))
    }

    fn op(&self, op: &SsaOp, at: (u32, usize)) -> Result<(), String> {
        let wanted = op.kind.facts().operands;
        if wanted.len() != op.operands.len() {
            return Err(format!(
                "{op:?} in block {} has the wrong number of operands: {}",
                at.0,
                op.operands.len()
            ));
        }
        let operands = op.operands.iter().zip(wanted).map(|(&value, &class)| (value, class));
        let guard = op.guard.map(|guard| (guard, Class::Int));
        operands.chain(guard).try_for_each(|(value, class)| self.used(value, at, class))
    }

    fn end(&self, block: u32, place: usize) -> Result<(), String> {
        let end = &self.function.blocks[block as usize].end;
        if let Some(value) = end.value() {
            self.used(value, (block, place), Class::Int)?;
        }
        for jump in end.jumps() {
            let to = self.function.blocks.get(jump.to as usize).filter(|_| jump.to != 0);
            let wanted = to.map(|to| &to.parameters);
            let wanted = wanted
                .ok_or(format!("block {block} jumps to {}, which is the entry or doesn't exist", jump.to))?;
            if wanted.len() != jump.arguments.len() {
                return Err(format!(
                    "block {block} passes {} arguments to block {}, which has another number of parameters",
                    jump.arguments.len(),
                    jump.to
                ));
            }
            for (&argument, &parameter) in jump.arguments.iter().zip(wanted) {
                let class = self.function.class(parameter).ok_or(format!("{parameter:?} has no class"))?;
                self.used(argument, (block, place), class)?;
            }
        }
        Ok(())
    }
}
