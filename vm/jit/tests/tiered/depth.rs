//! Nested calls: the number of open calls, their memory, and traps at the depth limit.

use reviver_vm::{CheckLevel, Travel};

use crate::machines::Machines;

/// Returns a program with a recursion of this depth, a frame and inlined callees, and with a depth limit.
fn deep(calls: u32, limit: u32, at_the_bottom: &str) -> String {
    format!(
        ".limit depth {limit}\n.inout n default {calls}\n.out s, bottom, A[3]\n.ancilla r: real\ncall down(s, n)\n\
         .proc down(inout s, in k)\n.ancilla less, T[9], t: real\nif k > 1\n add less, k - 1\n add T[k % 9], k\n\
         add t, toreal(k) / 3\n call both(s, less)\n add s, less + T[k % 9]\n sub t, toreal(k) / 3\n\
         sub T[k % 9], k\n sub less, k - 1\nelse\n add bottom, 1\n {at_the_bottom}\nfi k > 1\n.end\n\
         .proc both(inout s, in k)\n.ancilla i\nadd i, k\nif k % 2 == 0\n call down(s, i)\nelse\n uncall up(s, i)\n\
         fi k % 2 == 0\nsub i, k\n.end\n\
         .proc up(inout s, in k)\nuncall down(s, k)\n.end\n"
    )
}

#[test]
fn deep_recursions_run_forward_and_backward() {
    let mut machines = Machines::of(&deep(20_000, 100_000, ""));
    for budget in [1, 77, 20_011, 123_456, 1 << 40] {
        machines.run(Travel::Forward, budget);
    }
    for budget in [5, 99, 45_678, 98_765, 7, 1 << 40] {
        machines.run(Travel::Backward, budget);
    }
    for budget in (0..40).map(|n| n * 977 % 1301) {
        machines.run(Travel::Forward, 13 * budget);
        machines.run(Travel::Backward, 11 * budget);
    }
}

/// The code returns from calls that have records at entry, and then opens calls with larger frames.
#[test]
fn memory_of_small_calls_is_reused_by_large_ones() {
    let text = |limit: u32, (g, q, m): (u32, u32, u32), cells: u32| {
        format!(
            ".limit depth {limit}\n.in g default {g}\n.in q default {q}\n.in m default {m}\n.out s\ncall P(g, q, m, s)\n\
             .proc P(in g, in q, in m, inout s)\n add s, 1\n if g > 0\n  local g1 = g - 1\n  local q1 = q - 1\n  \
             call P(g1, q1, m, s)\n  delocal q1 = q - 1\n  delocal g1 = g - 1\n fi g > 0\n \
             if q == 0 and m > 0\n  call H(m, s)\n fi q == 0 and m > 0\n.end\n\
             .proc H(in m, inout s)\n call I(m, s)\n.end\n\
             .proc I(in m, inout s)\n local big[{cells}]\n local m1 = m - 1\n local z\n add big[7], m\n \
             call P(z, z, m1, s)\n sub big[7], m\n delocal z\n delocal m1 = m - 1\n delocal big[{cells}]\n.end\n"
        )
    };
    for (limit, sizes, cells) in
        [(10_000, (100, 2, 60), 600), (10_000, (50, 0, 60), 4000), (70, (33, 2, 17), 8), (75, (33, 2, 17), 8)]
    {
        for level in [CheckLevel::Checked, CheckLevel::Unchecked] {
            let mut machines = Machines::at(&text(limit, sizes, cells), level);
            for budget in [401, 7, 300, 1 << 40] {
                machines.run(Travel::Forward, budget);
            }
            for budget in [399, 11, 1 << 40] {
                machines.run(Travel::Backward, budget);
            }
        }
    }
}

#[test]
fn the_limit_of_open_calls_is_exact() {
    // Each second call contains another call.
    let (calls, most) = (200, 200 + 199 + 100);
    for limit in [0, 1, 2, 3, 15, 16, 17, 18, 31, 33, 97, most - 2, most - 1, most, most + 1] {
        let mut machines = Machines::of(&deep(calls, limit, ""));
        machines.run(Travel::Forward, 1 << 40);
        machines.run(Travel::Backward, 1 << 40);
    }
}

#[test]
fn a_trap_in_a_deep_call_equals_that_of_the_interpreter() {
    let broken =
        ["add A[k + 2], 1", "assert k > 1", "add s, 1 / (k - 1)", "add less, 1", "show s", "push less"];
    for at_the_bottom in broken {
        for calls in [1, 2, 3, 17, 40, 3000] {
            let mut machines = Machines::of(&deep(calls, 100_000, at_the_bottom));
            machines.run(Travel::Forward, 1 << 40);
            machines.run(Travel::Forward, 1 << 40);
            machines.run(Travel::Backward, 1 << 40);
            machines.run(Travel::Backward, 1 << 40);
        }
    }
}
