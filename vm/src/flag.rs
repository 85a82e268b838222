//! Conditions made of `and` and `or`, which the code computes in a flag, put together again from the
//! instructions that do so. Reads code; knows no state.
//!
//! A junction with such a condition is `vacate F; flips; br …, F` or `from …, F; flips; vacate F`. The
//! flips compute partial results, flip F by the last of them, and uncompute the others. The `vacate`
//! traps where the condition isn't what the way there says, and people want to read the condition.

use reviver_isa::arith::Order;
use reviver_isa::function::Function;
use reviver_isa::instruction::{Base, Instruction, Operand, Place};
use reviver_isa::text::Speller;
use reviver_isa::update::Update;

/// The condition of a junction.
pub struct Condition<'a> {
    /// The instructions that flip the flag.
    flips: &'a [Instruction],
    flag: &'a Operand,
}

impl<'a> Condition<'a> {
    /// The condition whose flag an instruction vacates; none if it vacates something else.
    pub fn vacated_at(code: &'a [Instruction], at: u32) -> Option<Condition<'a>> {
        let (before, rest) = code.split_at_checked(at as usize)?;
        let (vacate, after) = rest.split_first()?;
        let flag = vacate.operands.first().filter(|_| vacate.update == Update::Vacate)?;
        let is_flip = |i: &&Instruction| i.update == Update::Xor;
        let count = after.iter().take_while(is_flip).count();
        let split = (after.get(count), after.get(..count), Update::Br);
        let count = before.iter().rev().take_while(is_flip).count();
        let first = before.len() - count;
        let join = (first.checked_sub(1).and_then(|n| before.get(n)), before.get(first..), Update::From);
        let (_, flips, _) = [split, join].into_iter().find(|(half, flips, update)| {
            half.is_some_and(|half| half.update == *update && half.operands.first() == Some(flag))
                && flips.is_some_and(|flips| flip_of(flips, flag).is_some())
        })?;
        Some(Condition { flips: flips?, flag })
    }

    /// As it would stand in source text.
    pub fn text(&self, speller: &Speller<'_>) -> String {
        self.part(self.flag, speller).map_or_else(String::new, |(text, _)| text)
    }

    /// The text of the result in a flag and, if that combines others, the function that does.
    fn part(&self, flag: &Operand, speller: &Speller<'_>) -> Option<(String, Option<Function>)> {
        let flip = flip_of(self.flips, flag)?;
        let [_, a, b] = &flip.operands[..] else { return None };
        let word = match flip.function {
            Function::And => "and",
            Function::Or => "or",
            function => {
                let symbol = function.order().map_or("?", Order::symbol);
                return Some((format!("{} {symbol} {}", speller.operand(a), speller.operand(b)), None));
            }
        };
        let side = |operand: &Operand| match self.part(operand, speller) {
            Some((text, Some(inner))) if inner != flip.function => format!("({text})"),
            Some((text, _)) => text,
            None => speller.operand(operand),
        };
        Some((format!("{} {word} {}", side(a), side(b)), Some(flip.function)))
    }

    /// The cells that are compared, each once.
    pub fn operands(&self) -> Vec<&'a Operand> {
        let mut found: Vec<&Operand> = Vec::new();
        let sources = self.flips.iter().flat_map(|flip| flip.operands.iter().skip(1));
        for operand in sources.filter(|operand| matches!(operand, Operand::Place(_))) {
            if flip_of(self.flips, operand).is_none() && !found.contains(&operand) {
                found.push(operand);
            }
        }
        found
    }
}

/// The instruction that flips a variable of the frame by two others.
fn flip_of<'a>(flips: &'a [Instruction], flag: &Operand) -> Option<&'a Instruction> {
    let Operand::Place(Place { base: Base::Frame(_), index: None, .. }) = flag else { return None };
    flips.iter().find(|flip| flip.operands.len() == 3 && flip.operands.first() == Some(flag))
}
