//! A level of segments as text: a procedure that leads from one state to another and removes the states in
//! between. It depends on the plan only, not on the program.

use crate::plan::SegmentPlan;
use crate::words::AddedNames;

/// Returns the procedure of a level; the lowest level is 1. It saves g - 1 intermediate states, where g is
/// the number of segments, and removes them again.
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
        "; Level {level}: {} segments, of which each is one of {}. Between them {between} kept, and cleared again.\n\
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
