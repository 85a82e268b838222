//! Text of a level of segments: a procedure that computes one saved state from another, and removes the states between
//! the two. The text depends only on the plan, not on the program.

use crate::plan::SegmentPlan;
use crate::words::AddedNames;

/// Returns the text of a level's procedure; the lowest level has number 1. With g segments, the procedure saves g - 1
/// states between the two, and removes these states again.
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
        "; Level {level}: {} segments, each of which is {}. In between, {between} saved and cleared again.\n\
         .proc {}{level}(in {source}, in {goal}, in {many})\n\
         compute\n\
         call {below}({source}, {first}, {many})\n\
         {further}\
         apply\n\
         call {below}({last}, {goal}, {many})\n\
         uncompute\n\
         .end\n",
        plan.segments,
        if level == 1 { "a segment of rounds".to_owned() } else { format!("level {}", level - 1) },
        words.level,
    )
}
