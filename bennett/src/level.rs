//! A level of segments as text: a procedure that goes from one state to another and takes away the states in between.
//! Knows the plan, and no program.

use crate::plan::SegmentPlan;
use crate::words::AddedNames;

/// The procedure of a level, of which the lowest is 1. Between its ends it keeps g - 1 states, which are its own.
pub fn text(words: &AddedNames, plan: &SegmentPlan, level: u32) -> String {
    let AddedNames { source, goal, state, many, .. } = words;
    let below = match level {
        1 => words.segment.to_string(),
        _ => format!("{}{}", words.level, level - 1),
    };
    let kept = u64::from(plan.segments.saturating_sub(1));
    let first = u64::from(plan.levels.saturating_sub(level)) * kept + 1;
    let last = first + kept - 1;
    let further = format!("for {state} in {first}..{last}\ncall {below}({state}, {state}+1, {many})\nrof\n");
    let further = if kept > 1 { further } else { String::new() };
    let between =
        if kept > 1 { format!("states {first} to {last} are") } else { format!("state {first} is") };
    format!(
        "; Level {level}: {} segments, of which each is one of {}. Between them {between} kept, and taken away again.\n\
         .proc {}{level}(in {source}, in {goal}, in {many})\n\
         compute\n\
         call {below}({source}, {first}, {many})\n\
         {further}\
         apply\n\
         call {below}({last}, {goal}, {many})\n\
         uncompute\n\
         .end\n",
        plan.segments,
        if level == 1 { "rounds".to_owned() } else { format!("level {}", level - 1) },
        words.level,
    )
}
