//! Loop unrolling, and the SSA function of a whole program.

use reviver_assembler::assemble::assemble;
use reviver_assembler::files::FilesInMemory;
use reviver_compile::build;
use reviver_compile::function::{LiveAtExits, Specialization, SsaEnd, SsaFunction, StopPlaces, ZerosAtEntry};
use reviver_compile::passes::{PASSES, optimized};
use reviver_flow::Activity;
use reviver_flow::graph::CodeDirection;
use reviver_vm::{CheckLevel, Program, Travel};

use crate::machines::Machines;

/// Builds the SSA function of the code that begins at an end of a program.
pub fn whole_function(text: &str, direction: CodeDirection, level: CheckLevel) -> (Program, SsaFunction) {
    let module = assemble("pair.rasm", text.into(), &FilesInMemory::new()).module.unwrap();
    let program = Program::new(module, 0).unwrap();
    let position = if direction == CodeDirection::Forward { program.begin() } else { program.end() };
    let zeros = ZerosAtEntry { cells: true, ..ZerosAtEntry::default() };
    let (stops, live_at_exits) = (StopPlaces::default(), LiveAtExits::All);
    let (gradient, is_watched, activity) = (false, false, Activity::default());
    let specialization = Specialization {
        position,
        direction,
        gradient,
        activity,
        level,
        is_watched,
        stops,
        zeros,
        live_at_exits,
    };
    let function = build(program.module(), program.flow(), specialization).unwrap();
    (program, function)
}

/// Returns the number of safepoints in an optimized function, which is the number of its loops.
fn pauses(text: &str, direction: CodeDirection) -> usize {
    let function = optimized(whole_function(text, direction, CheckLevel::Checked).1, &PASSES);
    function.blocks.iter().filter(|block| matches!(block.end, SsaEnd::Safepoint { .. })).count()
}

#[test]
fn loops_with_literal_bounds_are_unrolled() {
    let body = "add A[i], x[i] * 2\nrof\n";
    let declared = ".in x[9], n default 3\n.out A[9]\n";
    let called = |length| {
        format!(
            "{declared}call p(A[0..{length}], x)\n.proc p(inout A[], in x[])\nfor i in 0..len(A)\n{body}.end\n"
        )
    };
    let cases = [
        (format!("{declared}for i in 0..4\n{body}"), 0),
        (format!("{declared}for i in 2..5\n{body}"), 0),
        (format!("{declared}for j in 0..3\nfor i in 0..3\n{body}rof\n"), 1),
        // The number of iterations exceeds the limit of unrolling, or depends on the input.
        (format!("{declared}for i in 0..9\n{body}"), 1),
        (format!("{declared}for i in 0..n\n{body}"), 1),
        (called(4), 0),
        (called(9), 1),
    ];
    for (text, expected) in cases {
        for direction in [CodeDirection::Forward, CodeDirection::Backward] {
            assert_eq!(pauses(&text, direction), expected, "{direction:?}\n{text}");
        }
        let mut machines = Machines::of(&text);
        for budget in [1, 5, 7, 1 << 20] {
            machines.run(Travel::Forward, budget);
        }
        for budget in [1, 6, 9, 1 << 20] {
            machines.run(Travel::Backward, budget);
        }
    }
}
