//! Unchecked code: omitted checks, and save and restore instead of `uncompute`.

use reviver_compile::function::SsaEnd;
use reviver_flow::graph::CodeDirection;
use reviver_vm::{CheckLevel, Travel};

use crate::machines::{Machines, both_ends};
use crate::texts::lossless;
use crate::unrolling::whole_function;

/// Index checks stay in unchecked code, because passes have dropped other checks that the index checks imply.
#[test]
fn indices_are_checked_in_unchecked_code() {
    for i in [3, 15, 25, 1_000_000_000] {
        let text = format!(
            ".in i default {i}\n.in n default 100\n.out b[20], a[10]\nfor k in 0..n\n local t\n add t, a[i]\n \
             add b[i], k\n sub t, a[i]\n delocal t\nrof\n"
        );
        Machines::at(&text, CheckLevel::Unchecked).run(Travel::Forward, 1 << 40);
    }
}

/// A `compute … apply … uncompute` block with an empty `apply` is elided, too.
#[test]
fn a_pair_with_an_empty_apply_is_elided() {
    let text = ".in n default 40\n.out s\n.ancilla t\nfor i in 0..n\n compute\n  for j in 0..7\n   if (i + j) & 1 == 0\n    \
                add t, i * 3\n   fi (i + j) & 1 == 0\n  rof\n apply\n uncompute\n add s, i\nrof\n";
    let mut machines = Machines::at(text, CheckLevel::Unchecked);
    for budget in [1000, 77, 1 << 40] {
        machines.run(Travel::Forward, budget);
    }
    machines.run(Travel::Backward, 1 << 40);
}

#[test]
fn unchecked_runs_stop_at_the_same_steps() {
    for (text, steps) in lossless() {
        let [begin, far] = both_ends((&text, steps), CheckLevel::Unchecked);
        for budget in 0..steps {
            begin.copy().run(Travel::Forward, budget);
            far.copy().run(Travel::Backward, budget);
        }
    }
}

/// Returns the number of safepoints that skip a number of steps known only at run time, in the code that begins at one
/// end of a program.
fn skips(text: &str, direction: CodeDirection) -> usize {
    let (_, function) = whole_function(text, direction, CheckLevel::Unchecked);
    function
        .blocks
        .iter()
        .filter(|block| matches!(block.end, SsaEnd::Safepoint { skipped: Some(_), .. }))
        .count()
}

#[test]
fn computed_cells_are_restored_if_apply_does_not_change_them() {
    let text = |declared: &str, computed: &str, applied: &str| {
        format!(
            ".in n default 3\n.out s, A[9]\n{declared}\ncompute\n for i in 0..n\n {computed}\n rof\napply\n {applied}\nuncompute\n\
             .proc p(inout x, in y)\n add x, y\n.end\n.proc r(inout x, in y)\n if y > 0\n local z = y - 1\n call r(x, z)\n delocal z = y - 1\n fi y > 0\n.end\n"
        )
    };
    let cases = [
        (".ancilla t", "add t, i", "add s, t", 1),
        (".ancilla t", "add t, i", "add t, 1", 0),
        (".ancilla t", "add t, i * n", "add n, 1", 0),
        (".ancilla t", "add A[i], 1", "add s, A[2]", 1),
        (".ancilla T[900]", "add T[i], i", "add s, T[1]", 1),
        // The pair has too many cells to save, and their contents at its start are unknown.
        (".inout T[900]", "add T[i], i", "add s, T[1]", 0),
        (".ancilla T[900]", "add T[i], i", "add s, T[1]\n add T[8], 1", 0),
        (".ancilla t", "add t, i", "for i in 0..2\n add s, t + n * 2\n rof", 1),
        (".ancilla t, u", "add t, i\n add u, 1", "if n > 0\n add u, 1\n fi n > 0", 0),
        (".ancilla t, u", "vacate u\n add t, i", "vacate u\n add u, 1", 0),
        (".ancilla t", "call p(t, i)", "call p(s, t)", 1),
        (".ancilla t", "call p(t, i)", "call p(t, s)", 0),
        (".ancilla t", "call r(t, i)", "add s, t", 0),
        (".ancilla t", "add t, i", "show s", 0),
        (".ancilla t", "from t == 0\n add t, 1\n loop\n add t, 2\n until t > 5 * (i + 1)", "add s, t", 1),
    ]
    .map(|(declared, computed, applied, expected)| (text(declared, computed, applied), expected));
    for (text, expected) in cases {
        assert_eq!(
            [CodeDirection::Forward, CodeDirection::Backward].map(|direction| skips(&text, direction)),
            [expected; 2],
            "{text}"
        );
    }
}
