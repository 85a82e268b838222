//! Parameters of blocks that are one value on every way: that value stands for them. Knows no operation.

use super::replacing::Replacements;
use crate::form::SsaForm;
use crate::op::SsaValue;

/// Drops the parameters that always are the same value, made elsewhere.
pub(super) fn drop_trivial(form: &mut SsaForm) {
    let mut replacements = Replacements::of(form);
    let mut is_trivial = vec![false; form.definitions.len()];
    while find(form, &mut replacements, &mut is_trivial) {}
    replacements.apply(form);
    remove(form, |value| is_trivial.get(value.0 as usize).copied().unwrap_or(false));
}

/// What is passed for a parameter, as far as it is known.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Nothing,
    /// This value, or the parameter itself.
    One(SsaValue),
    Several,
}

/// Finds parameters for which one value is passed, or they themselves. Whether there were any.
fn find(form: &SsaForm, replacements: &mut Replacements, is_trivial: &mut [bool]) -> bool {
    let mut given: Vec<Vec<Given>> =
        form.blocks.iter().map(|block| vec![Given::Nothing; block.parameters.len()]).collect();
    for jump in form.blocks.iter().flat_map(|block| block.end.jumps()) {
        let (Some(block), Some(given)) = (form.blocks.get(jump.to as usize), given.get_mut(jump.to as usize))
        else {
            continue;
        };
        for ((given, &argument), &parameter) in given.iter_mut().zip(&jump.arguments).zip(&block.parameters) {
            let argument = replacements.find(argument);
            *given = match *given {
                known if argument == replacements.find(parameter) => known,
                Given::Nothing => Given::One(argument),
                Given::One(value) if value == argument => Given::One(value),
                Given::One(_) | Given::Several => Given::Several,
            };
        }
    }
    let mut has_found = false;
    for (block, given) in form.blocks.iter().zip(&given) {
        for (&parameter, given) in block.parameters.iter().zip(given) {
            let slot = is_trivial.get_mut(parameter.0 as usize);
            if let (&Given::One(value), Some(is_trivial @ false)) = (given, slot) {
                // Another one that was found just now may have led back here.
                let value = replacements.find(value);
                if value != parameter {
                    *is_trivial = true;
                    replacements.replace(parameter, value);
                    has_found = true;
                }
            }
        }
    }
    has_found
}

/// Removes parameters, and what is passed for them.
pub(super) fn remove(form: &mut SsaForm, is_gone: impl Fn(SsaValue) -> bool) {
    let stays: Vec<Vec<bool>> = form
        .blocks
        .iter()
        .map(|block| block.parameters.iter().map(|&parameter| !is_gone(parameter)).collect())
        .collect();
    for block in &mut form.blocks {
        block.parameters.retain(|&parameter| !is_gone(parameter));
        for jump in block.end.jumps_mut() {
            let mut stays = stays.get(jump.to as usize).into_iter().flatten();
            jump.arguments.retain(|_| stays.next().copied().unwrap_or(true));
        }
    }
}
