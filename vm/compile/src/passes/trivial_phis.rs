//! Trivial phi removal: replaces a block parameter that receives one value on all edges. This pass is independent of
//! operations.

use std::collections::VecDeque;

use super::replacements::Replacements;
use crate::function::{Jump, SsaFunction};
use crate::op::SsaValue;

/// Replaces and removes each block parameter whose arguments, apart from the parameter itself, have one common value.
pub(super) fn drop_trivial(function: &mut SsaFunction) {
    let mut replacements = Replacements::of(function);
    let jumps = function.blocks.iter().flat_map(|block| block.end.jumps());
    let is_trivial = replace_trivial(passed(function, jumps), &mut replacements);
    replacements.apply(function);
    remove(function, |value| is_trivial.get(value.0 as usize).copied().unwrap_or(false));
}

/// Iterates over the parameters of the blocks that some edges target. Each parameter comes with the argument that the
/// edge passes for it.
pub(crate) fn passed<'f>(
    function: &'f SsaFunction,
    jumps: impl Iterator<Item = &'f Jump>,
) -> impl Iterator<Item = (SsaValue, SsaValue)> {
    jumps.flat_map(|jump| {
        let parameters = function.blocks.get(jump.to as usize).map_or(&[][..], |block| &block.parameters);
        parameters.iter().copied().zip(jump.arguments.iter().copied())
    })
}

/// Replaces each parameter whose arguments, apart from the parameter itself, have one common value. The result has a
/// flag for each value, which is true if this function has replaced the value.
///
/// A parameter is examined again only after one of its arguments was replaced. So the time grows with the size of the
/// function, and not with the length of chains of replacements.
pub(crate) fn replace_trivial(
    all: impl Iterator<Item = (SsaValue, SsaValue)>,
    replacements: &mut Replacements,
) -> Vec<bool> {
    let mut passed: Vec<Vec<SsaValue>> = vec![Vec::new(); replacements.count()];
    // Parameters that receive each value.
    let mut receivers = passed.clone();
    for (parameter, argument) in all {
        let argument = replacements.find(argument);
        if let Some(passed) = passed.get_mut(parameter.0 as usize) {
            passed.push(argument);
        }
        if let Some(receivers) = receivers.get_mut(argument.0 as usize) {
            receivers.push(parameter);
        }
    }
    let mut is_trivial = vec![false; passed.len()];
    let mut open: VecDeque<SsaValue> = (0..passed.len() as u32).map(SsaValue).collect();
    while let Some(parameter) = open.pop_front() {
        let Some(passed) = passed.get(parameter.0 as usize).filter(|passed| !passed.is_empty()) else {
            continue;
        };
        if replacements.find(parameter) != parameter {
            continue;
        }
        let Some(value) = sole(parameter, passed, replacements) else { continue };
        replacements.replace(parameter, value);
        is_trivial[parameter.0 as usize] = true;
        let mut moved = std::mem::take(&mut receivers[parameter.0 as usize]);
        open.extend(&moved);
        if let Some(known) = receivers.get_mut(value.0 as usize) {
            if known.len() < moved.len() {
                std::mem::swap(known, &mut moved);
            }
            known.append(&mut moved);
        }
    }
    is_trivial
}

/// Returns the only argument of a parameter other than the parameter itself, if there is exactly one.
fn sole(parameter: SsaValue, passed: &[SsaValue], replacements: &mut Replacements) -> Option<SsaValue> {
    let mut sole = None;
    for &argument in passed {
        let argument = replacements.find(argument);
        if argument != parameter && *sole.get_or_insert(argument) != argument {
            return None;
        }
    }
    sole
}

/// Removes block parameters and their arguments.
pub(super) fn remove(function: &mut SsaFunction, is_gone: impl Fn(SsaValue) -> bool) {
    let stays: Vec<Vec<bool>> = function
        .blocks
        .iter()
        .map(|block| block.parameters.iter().map(|&parameter| !is_gone(parameter)).collect())
        .collect();
    for block in &mut function.blocks {
        block.parameters.retain(|&parameter| !is_gone(parameter));
        for jump in block.end.jumps_mut() {
            let mut stays = stays.get(jump.to as usize).into_iter().flatten();
            jump.arguments.retain(|_| stays.next().copied().unwrap_or(true));
        }
    }
}
