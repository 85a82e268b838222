//! Describes movements in sentences, for beginners. A single step is described by the effect of its
//! instruction, with values, as on the instruction card.

use reviver_vm::Travel;

use super::card::{CardView, Topic};
use crate::outcome::Motion;

/// Describes a movement in a sentence. Returns `None` if the session hasn't moved. `before` is the card at the time
/// point where the movement began, and `after` the card at the time point where it ended.
pub fn described(motion: &Motion, before: Option<&CardView>, after: Option<&CardView>) -> Option<String> {
    let (from, to) = (motion.from, motion.to);
    let passed = match motion.travel {
        Travel::Forward => before.filter(|card| !card.is_end),
        Travel::Backward => after.filter(|card| !card.is_end),
    };
    match (from.branch == to.branch, to.step.abs_diff(from.step), passed) {
        (true, 0, _) => None,
        (true, 1, Some(card)) => Some(single(card, motion.travel)),
        (true, steps, _) if to.step > from.step => {
            Some(format!("{steps} steps forward, from step {} to step {}.", from.step, to.step))
        }
        (true, steps, _) => Some(format!(
            "{steps} steps back, from step {} to step {}: each instruction was undone, the last one first.",
            from.step, to.step
        )),
        (false, ..) => Some(format!("To step {} of branch {}.", to.step, to.branch)),
    }
}

/// Describes one instruction that was executed or undone.
fn single(card: &CardView, travel: Travel) -> String {
    let lines = card.lines(&str::to_owned);
    let is_of_way = |topic: Topic| match travel {
        Travel::Forward => topic == Topic::Does,
        Travel::Backward => matches!(topic, Topic::Undone | Topic::Lost),
    };
    let name = &card.instruction;
    let mut text = match travel {
        Travel::Forward => format!("`{name}` {}", within(first_sentence(&card.doc))),
        Travel::Backward => format!("`{name}` is undone"),
    };
    for (_, line) in lines.iter().filter(|(topic, _)| is_of_way(*topic)) {
        text = format!("{text}: {}", line.formula);
        text.extend(line.numbers.iter().map(|numbers| format!("; here {numbers}")));
    }
    // The first adjoint line is for the session's direction of travel.
    if card.carries_adjoints() && lines.first().is_some_and(|(topic, _)| is_of_way(*topic)) {
        let carried = lines.iter().filter(|(topic, _)| *topic == Topic::Adjoint);
        text.extend(carried.map(|(_, line)| format!("; adjoint: {}", line.formula)));
    }
    text + "."
}

fn first_sentence(doc: &str) -> &str {
    doc.split_once(". ").map_or(doc, |(first, _)| first).trim_end_matches('.')
}

/// Returns a sentence with its first letter in lower case, so that another sentence can contain it.
fn within(sentence: &str) -> String {
    let mut rest = sentence.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}
