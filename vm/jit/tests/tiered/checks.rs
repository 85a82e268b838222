//! Tests of traps at any time of a run, and of hoisted checks: compiled code executes such a check once for a loop
//! instead of once for each iteration.

use reviver_compile::function::SsaBlock;
use reviver_compile::op::OpKind;
use reviver_compile::order::{dominators, loop_depths};
use reviver_compile::passes::{PASSES, optimized};
use reviver_flow::graph::CodeDirection;
use reviver_vm::{CheckLevel, Travel};

use crate::machines::Machines;
use crate::unrolling::whole_function;

/// Programs with a loop that changes a cell. The address of the cell is the same in every iteration, but its bounds
/// check is executed only in the loop. In one program, the index was checked against another array before the loop. In
/// the other one, the index is just after the end of a slice.
const PLACES_LOOKED_AT_LATE: [&str; 2] = [
    ".inout A[10]: real, B[10], k default 3, s, x: real default 1\nfor i in 0..20\n add s, B[k]\n add A[k], x\nrof\n",
    ".inout A[10]: real, B[10], k default 3, s, x: real default 1\ncall p(A[k..10], B[k..10], s, x)\n\
     .proc p(inout a[]: real, in b[], inout s, in x: real)\nfor i in 0..20\n add s, b[0]\n add a[0], x\nrof\n.end\n",
];

#[test]
fn a_deferred_check_replaces_a_bounds_check() {
    for text in PLACES_LOOKED_AT_LATE {
        for k in [0, 9, 10, 11, -1, 1 << 40, i64::MIN] {
            let mut machines = Machines::of(text);
            for machine in machines.each() {
                let (k_is, _) = machine.program().global("k").unwrap();
                let cells = machine.program().cells(k_is);
                machine.state_mut().ints[cells.start] = k;
            }
            for budget in (0..60).chain([1000]) {
                machines.copy().run(Travel::Forward, budget);
            }
        }
    }
}

#[test]
fn late_traps_equal_those_of_the_interpreter() {
    for (iterations, broken) in
        [(1, "div"), (400_000, "div"), (400_000, "index"), (400_000, "vacate"), (3, "assert")]
    {
        let at = iterations - 1;
        let step = match broken {
            "div" => format!("add s, 10 / ({at} - i)"),
            "index" => format!("local k = i / {at} * 3\n add A[k], 1\n delocal k = i / {at} * 3"),
            "vacate" => format!("local k = i / {at}\n vacate k\n delocal k = i / {at}"),
            _ => format!("assert i < {at}"),
        };
        let text =
            format!(".in n default {iterations}\n.out s, A[3]\nfor i in 0..n\n add s, i\n {step}\nrof\n");
        let mut machines = Machines::of(&text);
        machines.run(Travel::Forward, u64::MAX >> 2);
        assert!(machines.plain.run(Travel::Forward, 1).is_err(), "{broken}");
        machines.run(Travel::Backward, u64::MAX >> 2);
    }
}

/// An infinite float is passed from iteration to iteration, and is stored in memory before the loop ends. Its check
/// must fail.
#[test]
fn overflow_carried_around_a_loop_is_detected() {
    for (position, system) in [(0, "f64"), (7, "f32"), (30, "f64"), (58, "f64"), (59, "f32")] {
        let large = if system == "f64" { "1e200" } else { "1e30" };
        let text = format!(
            ".real {system}\n.inout t: real\n.inout u: real\n.inout a[60]: real\n.inout b[60]: real\n\
             add b[{position}], {large}\nfor i in 0..60\n swap u, a[i]\n swap t, u\n add t, b[i] * b[i]\nrof\n"
        );
        let mut machines = Machines::of(&text);
        machines.run(Travel::Forward, u64::MAX >> 2);
        assert!(machines.plain.run(Travel::Forward, 1).is_err(), "{position} {system}");
    }
}

/// Program with sums in array cells in nested loops; the cells are checked at exits. In any iteration and either
/// direction, a sum or an adjoint may become too large. Two names may denote one cell, whose adjoint then has two
/// contributions.
fn sums_of_arrays(system: &str) -> String {
    format!(
        ".real {system}\n.inout x[6]: real default {{1, 2, 3, 4, 5, 6}}, y[6]: real, w: real default 0.5, n default 3\n\
         for t in 0..n\n for i in 0..6\n  add y[i], square(x[i] - x[(i + t) % 6]) * w\n  sub y[i], x[i] * x[i]\n rof\nrof\n"
    )
}

#[test]
fn overflow_of_sums_is_detected_after_the_loop() {
    for (system, large) in [("f64", [1e160, -1e308]), ("f32", [1e20, -3e38])] {
        let machines = Machines::of(&sums_of_arrays(system));
        let first = machines.plain.program().cells(machines.plain.program().global("x").unwrap().0).start;
        let bits = |value: f64| match system {
            "f64" => value.to_bits(),
            _ => u64::from((value as f32).to_bits()),
        };
        let mut ended = machines.copy();
        ended.run(Travel::Forward, 1 << 60);
        for (cell, value) in (0..12).flat_map(|cell| large.map(|value| (first + cell, value))) {
            let mut there = machines.copy();
            there.each().for_each(|machine| machine.state_mut().reals[cell] = bits(value));
            for budget in (0..90).step_by(7).chain([1 << 60]) {
                there.copy().run(Travel::Forward, budget);
            }
            let mut back = ended.copy();
            for machine in back.each() {
                let state = machine.state_mut();
                state.set_mode(true);
                state.adjoints_mut().cells[cell] = bits(value);
                state.adjoints_mut().cells[first + 7] = bits(-value);
            }
            for budget in (0..90).step_by(7).chain([1 << 60]) {
                back.copy().run(Travel::Backward, budget);
            }
        }
    }
}

/// Loops that only accumulate in arrays check no float in their iterations.
#[test]
fn accumulated_cells_are_checked_once() {
    let (program, function) =
        whole_function(&sums_of_arrays("f64"), CodeDirection::Forward, CheckLevel::Checked);
    let function = optimized(function, &PASSES);
    let depths = loop_depths(&function, &dominators(&function));
    let checks = |block: &SsaBlock| {
        let ops = block.ops.iter().filter_map(|&value| function.op(value));
        ops.filter(|op| op.kind == OpKind::RequireAdmitted).count()
    };
    let deep: usize = function
        .blocks
        .iter()
        .zip(&depths)
        .filter(|(_, depth)| **depth > 1)
        .map(|(block, _)| checks(block))
        .sum();
    let all: usize = function.blocks.iter().map(checks).sum();
    assert_eq!(deep, 0, "{function}");
    assert!(all >= program.cells(program.global("y").unwrap().0).len(), "{function}");
}

/// Counted loops, up and down, over arrays that may be too short for them.
const COUNTED: [&str; 3] = [
    ".inout x[6]: real, y: real, n, s\nfor i in 0..n\n add y, x[i]\n add s, i\nrof\n",
    ".inout x[6], y, n, k default 2\ncall p(x[k..6], y, n)\n.proc p(inout a[], inout y, in n)\n\
     for i in 0..n\n add a[i], n\n add y, a[i]\nrof\n.end\n",
    ".word 8\n.inout x[100], y, n\nfor i in 0..n\n add y, i\n add x[i], y\nrof\n",
];

/// Program with a loop that executes at least one iteration for any n.
const MADE_ONCE: &str = ".inout x[6], y, n\nlocal i = 0\nfrom i == 0\n add y, x[i]\n add i, 1\nuntil i >= n\ndelocal i = max(n, 1)\n";

#[test]
fn indices_of_counted_loops_are_checked_once() {
    for text in COUNTED.into_iter().chain([MADE_ONCE]) {
        // In a backward run, the loop condition tests if the counter differs from a value, so the counter has no upper
        // bound.
        let directions = if text == MADE_ONCE {
            vec![CodeDirection::Forward]
        } else {
            vec![CodeDirection::Forward, CodeDirection::Backward]
        };
        for direction in directions {
            let (_, function) = whole_function(text, direction, CheckLevel::Checked);
            let function = optimized(function, &PASSES);
            let depths = loop_depths(&function, &dominators(&function));
            let in_loops = function.blocks.iter().zip(&depths).filter(|(_, depth)| **depth > 0);
            let ops = in_loops.flat_map(|(block, _)| &block.ops).filter_map(|&value| function.op(value));
            assert_eq!(ops.filter(|op| matches!(op.kind, OpKind::Index { .. })).count(), 0, "{function}");
        }
        for n in (-2..9).chain([99, 100, 101, 127]) {
            for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
                let mut machines = Machines::at(text, level);
                for machine in machines.each() {
                    let n_is = machine.program().cells(machine.program().global("n").unwrap().0).start;
                    machine.state_mut().ints[n_is] = n;
                }
                for budget in (0..45).chain([1 << 60]) {
                    machines.copy().run(Travel::Forward, budget);
                }
                machines.run(Travel::Forward, 1 << 60);
                for budget in (0..45).chain([1 << 60]) {
                    machines.copy().run(Travel::Backward, budget);
                }
            }
        }
    }
}

/// Elements with an offset that exceeds a word.
#[test]
fn index_offsets_may_exceed_the_word() {
    for (text, steps) in [
        (".word 8\n.inout s\n.inout x[1000]\nfor i in 0..100\n add x[i + 200], 1\nrof\n", 400),
        (".word 8\n.inout x[200]\nfor i in 0..100\n add x[i + 100], 1\nrof\n", 400),
        (".word 16\n.inout x[60000]\nfor i in 0..20000\n add x[i + 30000], 1\nrof\n", 90_000),
    ] {
        let mut machines = Machines::of(text);
        machines.run(Travel::Forward, steps);
        machines.run(Travel::Backward, steps);
    }
}
