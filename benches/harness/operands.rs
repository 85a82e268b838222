//! Programs that call a procedure with a loop. Each iteration has four steps on operands of one kind. This module
//! depends on no machine.

/// Number of loop iterations in a run of a program.
pub const ROUNDS: u64 = 100_000;
/// Number of steps in an iteration, without the steps of the loop counter.
pub const STEPS: u64 = 4;

/// Kinds of operands, as triples: a name, and two statements that undo each other.
pub const KINDS: &[(&str, &str, &str)] = &[
    ("globals", "add a, b", "sub a, b"),
    ("variables of a frame", "add p, q", "sub p, q"),
    ("parameters", "add x, y", "sub x, y"),
    ("reals of a frame, products", "add.mul r, s, s", "sub.mul r, s, s"),
    ("one element", "add A[i], p", "sub A[i], p"),
    ("one element of a parameter", "add S[i], p", "sub S[i], p"),
    ("three elements, products", "add.mul R[i], R[j], R[k]", "sub.mul R[i], R[j], R[k]"),
    ("three integer elements, products", "add.mul A[i], A[j], A[k]", "sub.mul A[i], A[j], A[k]"),
    ("calls and returns", "call empty(p)", "uncall empty(p)"),
    ("a stack", "push p", "pop p"),
];

/// Returns the program of a kind, or for `None` the program with an empty loop.
pub fn text(kind: Option<(&str, &str)>) -> String {
    let body = kind.map_or_else(String::new, |(add, sub)| format!("{add}\n{sub}\n{add}\n{sub}\n"));
    format!(
        ".inout a\n.inout b default 3\n.inout A[8]\n.inout R[8]: real\ncall work(a, b, A)\n\
         .proc empty(inout x)\n.end\n\
         .proc work(inout x, in y, inout S[])\n\
         .ancilla p, q, i, j, k, r: real, s: real\n\
         add q, 2\nadd i, 1\nadd j, 2\nadd k, 3\nadd s, 0.5\n\
         for n in 0..{ROUNDS}\n{body}rof\n\
         sub s, 0.5\nsub k, 3\nsub j, 2\nsub i, 1\nsub q, 2\n.end\n"
    )
}
