//! Corner cases: small programs at the limits of one rule each, which random programs rarely reach. Some trap, others
//! are just within the limit. Two more programs contain every function of integers and of reals.

use reviver_isa::function::{Function, Signature};

/// Returns each program's text with a description of the case.
pub fn all() -> Vec<(&'static str, String)> {
    let written = WRITTEN.iter().map(|&(what, text)| (what, text.to_owned()));
    written
        .chain([("values of integers", of_integers()), ("values and derivatives of reals", of_reals())])
        .collect()
}

/// Returns a program that uses every integer function, on operands with different signs.
fn of_integers() -> String {
    let of = |f: &&Function| {
        **f != Function::Always && f.signatures().any(|signature| signature == Signature::Int)
    };
    let lines =
        Function::ALL.iter().filter(of).map(|f| format!("add.{} y{}\n", f.name(), sources(*f, ["a", "b"])));
    format!(".inout a = -7, b = 2, y\n{}", lines.collect::<String>())
}

/// Returns a program that uses every function of reals, at points at which values and derivatives exist. Each function
/// with two sources occurs with its sources in both orders.
fn of_reals() -> String {
    let line = |function: Function, names| format!("add.{} y{}\n", function.name(), sources(function, names));
    let lines = Function::ALL.iter().flat_map(|&function| {
        function.signatures().flat_map(move |signature| match signature {
            Signature::Real if function.arity() == 2 => {
                vec![line(function, ["x", "z"]), line(function, ["z", "x"])]
            }
            Signature::Real => vec![line(function, ["x", ""])],
            Signature::RealInt => vec![line(function, ["x", "n"])],
            Signature::IntsToReal => vec![line(function, ["n", "n"])],
            Signature::Int | Signature::RealsToInt => Vec::new(),
        })
    });
    format!(".inout x: real = 0.5, z: real = 2, n = 3, y: real\n{}", lines.collect::<String>())
}

/// Returns the sources of a function as text, each after a comma.
fn sources(function: Function, names: [&str; 2]) -> String {
    names.iter().take(function.arity()).map(|name| format!(", {name}")).collect()
}

const WRITTEN: &[(&str, &str)] = &[
    ("a join that was not jumped to", ".inout a = 1\nx: br y, a == 0\nadd a, 1\ny: from x, a == 2\n"),
    ("a join that does not expect the jump", ".inout a\nx: br y, a == 0\nadd a, 1\ny: from x, a == 2\n"),
    ("a jump over an instruction", ".inout a\nx: br y, a == 0\nadd a, 1\ny: from x, a == 0\nadd a, 5\n"),
    ("an assertion that fails", ".inout a = 3\nadd a, 1\nassert a == 3\nadd a, 1\n"),
    (
        "the adjoint of a constant",
        ".var z: real = 1.4\ncall p(0.0)\n.proc p(in a: real)\n.ancilla t: real\nadd t, z\nfor i in 0..6\n\
         add a', t\nrof\nsub t, z\n.end\n",
    ),
    (
        "tasks that share a cell",
        ".inout A[2], i\ncall both(A, i)\n.proc both(inout v[], in i)\npar one(v[i]), five(v[0])\n.end\n\
         .proc one(inout x)\nadd x, 1\n.end\n.proc five(inout x)\nadd x, 5\n.end\n",
    ),
    (
        "rounds of tasks that may share cells",
        ".inout A[6], n = 2\npar for i in 0..3 call up(A[i..i+n])\n.proc up(inout v[])\nadd v[0], 1\n.end\n",
    ),
    (
        "what several tasks read",
        ".inout w: real = 1.7, x: real = 0.3, v[3]: real = 0.1\n.out y: real, z: real, u[3]: real\n\
         par for i in 0..3 call twice(u[i], v[i], w)\npar twice(y, x, w), twice(z, w, x)\n\
         unpar twice(y, x, w * 0.1), twice(z, w, x)\n\
         .proc twice(inout y: real, in x: real, in w: real)\nadd y, x * w\nadd y, w * 0.1\nadd y, w * w\n.end\n",
    ),
    (
        "what several tasks read, in fixed point",
        ".real fixed 32\n.inout w: real = 1.5, v[3]: real = 0.25\n.out u[3]: real\n\
         par for i in 0..3 call twice(u[i], v[i], w)\n\
         .proc twice(inout y: real, in x: real, in w: real)\nadd y, x * w\nadd y, w * 0.25\nadd y, f1\n.end\n",
    ),
    (
        "tasks that name the adjoint of what they only read",
        ".inout w: real = 1.7, u[3]: real, g: real\npar for i in 0..3 call more(u[i], w, 0.5)\n\
         par more(u[0], w, 0.5), more(u[1], w, u[2])\n\
         .proc more(inout u: real, in w: real, in c: real)\nadd u, w * c\nadd w', 0.1\nadd c', w' * 0.3\n\
         add g', 0.7\n.end\n",
    ),
    (
        "a call of what a cell chooses",
        ".inout c = 2, x\ncallvia c(x)\nuncallvia c(x)\ncallvia c(x)\n.proc up(inout x)\nadd x, 1\n.end\n\
         .proc down(inout x)\nsub x, 1\n.end\n",
    ),
    (
        "an index that the part before it rules out",
        ".inout A[3], j, x = -1\nif j > 0 and A[j-1] > x\nadd x, 5\nelse\nadd x, 1\nfi x == 4\n\
         from j == 0 or j < 4 and A[j-1] == 7\nadd A[j], 7\nadd j, 1\nuntil j == 3 or not A[j] == 0\n\
         assert (j < 0 or j > 2) and j == 3 or A[j] == 0\n",
    ),
    (
        "an index that the part before it lets through",
        ".inout A[3], j = 4, x\nadd x, 1\nif A[0] == 0 and (j == 0 or A[j] > x)\nadd x, 5\nfi x == 6\n",
    ),
    (
        "an assertion of several that fails",
        ".inout a = 3, b\nadd b, 1\nassert a == 3 and b == 1\nassert b == 0 or a < 3 and b == 1\nadd a, 1\n",
    ),
    ("an assertion of reals that fails", ".inout x: real = 0.5\nadd x, 1.0\nassert x < 1.5\n"),
    ("popping into a cell that is not vacant", ".inout a = 1, b = 2\npush a\npop b\nadd b, 1\n"),
    (
        "popping a real into a cell that is not vacant",
        ".inout x: real = 1, y: real = 2\npush x\npop y\nneg y\n",
    ),
    ("reading into a cell that is not vacant", "; tape: 7\n.inout a = 1\nread a\nadd a, 1\n"),
    ("vacating a cell that is not vacant", ".inout a = 1\nneg a\nvacate a\nneg a\n"),
    ("vacating a real that nearly is", ".inout x: real = 1e-12\nvacate x\nadd x, 1.0\n"),
    ("popping off an empty stack", ".inout a\nadd a, 0\npop a\nadd a, 1\n"),
    ("popping what was pushed twice", ".inout a = 1, b = 2, c\npush a\npush b\npop c\npop a\npop b\n"),
    ("a stack that is full", ".limit stack 2\n.inout a = 1\nadd a, 1\npush a\npush a\npush a\nadd a, 1\n"),
    ("a tape of the other class", "; tape: 1, 2.5, 3\n.inout a, x: real, b\nread a\nread x\nread b\n"),
    ("a tape entry of the wrong class", "; tape: 2.5\n.inout a\nadd a, 0\nread a\nadd a, 1\n"),
    ("a tape that is empty", ".inout a\nadd a, 0\nread a\nadd a, 1\n"),
    (
        "writing and reading back",
        ".inout a = 5, b = 7\nwrite a\nwrite b\nunwrite a\nunwrite b\nunread a\nread a\n",
    ),
    (
        "a frame that is not vacant",
        ".inout a = 1\ncall p(a)\nadd a, 1\n.proc p(inout b)\n.ancilla t\nadd t, b\n.end\n",
    ),
    (
        "a frame of reals that is not vacant",
        ".inout x: real = 1\ncall p(x)\nneg x\n.proc p(inout y: real)\n.ancilla t: real\nadd t, y\n.end\n",
    ),
    (
        "a frame that is vacant again",
        ".inout a = 4\ncall p(a)\nuncall p(a)\nuncall p(a)\nadd a, 1\n.proc p(inout b)\n.ancilla t\nadd t, 3\n\
         add b, t\nsub t, 3\n.end\n",
    ),
    (
        "a reference that changes",
        ".inout i, A[2]\ncall p(A[i], i)\nadd i, 1\n.proc p(inout a, inout i)\nadd i, 1\nadd a, 1\n.end\n",
    ),
    (
        "a reference that changes and comes back",
        ".inout i, A[2]\ncall p(A[i], i)\nadd i, 1\n.proc p(inout a, inout i)\nadd i, 1\nadd a, i\nsub i, 1\n.end\n",
    ),
    (
        "arguments that overlap",
        ".inout i = 1, j = 1, A[2]\nadd A[0], 1\ncall p(A[i], A[j])\n.proc p(inout a, inout b)\nadd a, 1\nneg b\n.end\n",
    ),
    (
        "slices that overlap",
        ".inout i = 2, A[5] = 3\nadd A[0], 1\ncall p(A[0..5 step 2], A[i..4])\n\
         .proc p(inout a[], in b[])\nadd a[0], b[0]\n.end\n",
    ),
    (
        "arguments that may overlap",
        ".inout i = 1, A[2] = 3, b\ncall p(A[i], A[1], b)\n.proc p(in x, in y, inout z)\nadd.mul z, x, y\n.end\n",
    ),
    ("a target that is its source", ".inout i = 1, A[2] = 5\nadd A[0], A[i]\nadd A[1], A[i]\nadd A[0], 1\n"),
    ("a target that is its second source", ".inout i = 1, A[2] = 5\nadd A[0], 1\nxor.and A[1], 3, A[i]\n"),
    (
        "a target that is its own index",
        ".inout i = 1, A[2] = 5\nadd A[0], 1\ncall p(i)\n.proc p(inout x)\nadd x, A[i]\n.end\n",
    ),
    (
        "an exchange with its own index",
        ".inout i = 1, A[2] = 5\nadd A[0], 1\ncall p(i)\n.proc p(inout x)\nswap A[i], x\n.end\n",
    ),
    (
        "overwriting by a function that has no derivative there",
        ".inout f: real = 1, g: real\nadd f, 1.0\noverwrite.atan2 f, 0.0, g\nadd f, 1.0\n",
    ),
    (
        "words without a sign that are equal",
        ".inout a = 3, b = -1, y[4]\nadd.ltu y[0], a, a\nadd.leu y[1], b, b\nadd.gtu y[2], b, b\nadd.geu y[3], a, a\n",
    ),
    (
        "a rotation of a point by itself",
        ".inout i, A[2]: real = 0.5\nrot A[0], A[1], 1.0\nrot A[0], A[i], 1.0\nneg A[0]\n",
    ),
    ("exchanging a cell with itself", ".inout i = 1, A[2] = {3, 4}\nswap A[1], A[i]\nswap A[0], A[i]\n"),
    ("an index that is too large", ".inout i = 1, A[2], b\nadd A[i], 1\nadd i, 1\nadd A[i], 1\nadd b, 1\n"),
    ("an index below 0", ".inout i, A[2], b\nadd A[i], 1\nsub i, 1\nadd A[i], 1\nadd b, 1\n"),
    (
        "a second index that is too large",
        ".inout i = 2, M[2, 3], b = 7\nadd M[1, i], 1\nadd i, 1\nadd M[0, i], 1\nadd b, 1\n",
    ),
    (
        "a slice that is too long",
        ".inout i = 3, A[4] = 1\ncall p(A[1..i+2])\n.proc p(inout v[])\nneg v[0]\n.end\n",
    ),
    ("an index outside of a slice", ".inout A[4] = 1\ncall p(A[1..3])\n.proc p(inout v[])\nneg v[2]\n.end\n"),
    (
        "calls and uncalls in each other",
        ".inout a = 1\ncall p(a)\nadd a, 1\nuncall p(a)\nuncall q(a)\nxor a, 5\n\
         .proc p(inout b)\nadd b, 3\nuncall q(b)\nxor b, 6\n.end\n.proc q(inout c)\nadd c, 7\nxor c, 2\n.end\n",
    ),
    (
        "a recursion without end",
        ".limit depth 5\n.inout a\ncall p(a)\n.proc p(inout b)\nadd b, 1\ncall p(b)\n.end\n",
    ),
    (
        "a recursion to the depth allowed",
        ".limit depth 5\n.inout a\ncall p(4, a)\n.proc p(in n, inout b)\nadd b, n\nif n > 0\nlocal m = diff(n, 1)\n\
         call p(m, b)\ndelocal m = diff(n, 1)\nfi n > 0\nxor b, 1\n.end\n",
    ),
    (
        "showing on the way there and back",
        ".inout a = 1, x: real = 0.5\nshow a\nadd a, 1\nshow a\nshow x\nuncall p(a)\nshow a\n\
         .proc p(inout b)\nshow b\nadd b, 1\n.end\n",
    ),
    (
        "erasing and overwriting",
        ".inout a = 5, b = 3, x: real = 0.5, y: real = 2\nerase a\nadd b, 1\noverwrite.mul a, b, 7\nerase x\n\
         overwrite.sin y, 1.0\noverwrite x, 3.0\nadd x, y\noverwrite.lt b, x, y\n",
    ),
    ("undoing an erasure", ".inout a\nuncall p(a)\n.proc p(inout b)\nadd b, 1\nerase b\nadd b, 2\n.end\n"),
    (
        "undoing an overwriting",
        ".inout a = 1\nuncall p(a)\n.proc p(inout b)\noverwrite b, 2\nadd b, 2\n.end\n",
    ),
    (
        "a sum that rounds",
        ".inout x: real = 0.1, y: real = 1e17\nadd x, y\nsub x, y\nrot x, y, 0.3\nirot x, y, 0.3\n",
    ),
    (
        "a sum that rounds in 32 bits",
        ".real f32\n.inout x: real = 0.1, y: real = 1e9\nadd x, y\nsub x, y\nadd.pow x, y, 0.5\n",
    ),
    ("a zero that loses its sign", ".inout x: real = -0.0, y: real\nadd x, y\nsub x, y\nadd.toreal x, 0\n"),
    ("a sum out of range", ".inout x: real = 1e308\nadd x, 1e308\nadd x, 1e308\n"),
    ("a fixed sum out of range", ".real fixed 56\n.inout x: real = 100\nadd x, 20.0\nadd x, 20.0\nneg x\n"),
    (
        "words that wrap",
        ".word 8\n.inout a = 127, b = -128\nadd a, 1\nsub b, 1\nadd.mul a, 100, 100\nneg b\nadd.shl a, 1, 7\n",
    ),
    (
        "bits of negative integers",
        ".word 8\n.inout a = -100, b, c, d, e, f, g\nadd.sar b, a, 2\nadd.shr c, a, 2\nadd.shl d, a, 2\n\
         add.sar e, a, 9\nadd.sar f, a, -1\nadd.and g, a, 77\nadd.or g, a, 77\nrol a, 3\nror a, -2\n",
    ),
    (
        "signs of quotients",
        ".word 8\n.inout a = -128, b, c, d, e, f\nadd.div b, a, -1\nadd.rem c, a, -1\nadd.div d, -7, 2\n\
         add.rem e, -7, 2\nadd.rem f, 7, -2\nadd.abs f, a\nadd.pow f, -3, 3\nadd.pow f, 0, 0\n",
    ),
    ("switching gradient mode on twice", ".inout a\nadd a, mode\ngrad.on\nadd a, mode\ngrad.on\nadd a, 1\n"),
    ("switching gradient mode off where it is", ".inout a\ngrad.on\ngrad.off\nadd a, mode\ngrad.off\n"),
    (
        "a constant that has no derivative",
        ".inout x: real = -2, y: real = 1\ngrad.on\nadd y', 1\nsub.pow y, x, 2.0\nadd x, x'\ngrad.off\n",
    ),
    (
        "a derivative that does not exist",
        ".inout x: real, y: real = 1\ngrad.on\nadd y', 1\nadd.square y, x\nadd.sqrt y, x\ngrad.off\n",
    ),
    (
        "a source that depends on an input only after its use",
        ".out y: real\n.inout x: real = 1\nadd.atan2 y, f0, 0\nadd y, x\ncall p(f0)\n.proc p(inout a: real)\nadd a, x\n\
         .end\n",
    ),
    (
        "an adjoint that is dropped",
        ".inout x: real = 2, y: real = 1\n.ancilla t: real\ngrad.on\nadd y', 1\nadd t, x\nadd.square y, t\n\
         sub t, x\nvacate t\nadd t, x\nsub x', t'\nsub t, x\ngrad.off\n",
    ),
    (
        "what moves with its adjoint, and what doesn't",
        "; tape: 1.5\n.inout x: real = 2, y: real = 1, z: real\nadd x', 2\npush x\ngrad.on\npush y\npop x\nswap x, y\n\
         sub x', y'\nread z\nwrite z\ngrad.off\npop z\n",
    ),
    (
        "exchanges of adjoints",
        ".inout x: real = 2, y: real = 1\nadd x', 3\nswap x', y\nswap x', y'\nif y' > 2\nadd x, 1\nfi y' > 2\n\
         rot x', y', y\nneg x'\npush x'\npop y\n",
    ),
    (
        "a rule, called and uncalled",
        ".inout x: real = 2, y: real = 1\ngrad.on\nadd y', 1\ncall p(y, x)\nadd.square x, y\nuncall p(y, x)\ngrad.off\n\
         .proc p(inout y: real, in x: real) rule q\nadd.square y, x\n.end\n\
         .proc q(inout y: real, in x: real)\nadd.mul x', y', y\nadd.exp y', x\n.end\n",
    ),
    (
        "what was overwritten before a rule",
        ".inout x: real = 0.3, y: real = 1, a: real\noverwrite y, 3\nadd.mul y, x, 0.3\noverwrite y, 5\ncall p(a, x)\n\
         call p(a, x)\nadd.mul y, a, 0.3\n.proc p(inout y: real, in x: real) rule q\nadd.square y, x\n.end\n\
         .proc q(inout y: real, in x: real)\n.ancilla t: real\nadd.mul t, x, 2.0\nadd.mul x', y', t\nsub.mul t, x, 2.0\n.end\n",
    ),
    (
        "adjoints that round",
        ".inout x: real = 0.1, y: real = 1\nadd x', 0.3\nadd y', 1e17\ngrad.on\nadd.square y, x\nrot x, y, 0.3\n\
         add.mul y, x, x\ngrad.off\n",
    ),
    (
        "a comparison that flips on the way back",
        // Both branches add 1.5, so the values don't show that the reverse sweep takes another branch.
        ".inout loss: real, a: real = 0.3, b: real = 0.3, w: real = 5\nif b >= a\nadd.mul loss, w, b\nelse\n\
         add loss, 1.5\nfi b >= a\nadd a, 0.1\nadd a, 0.7\n",
    ),
    ("words of 16 bits", ".word 16\n.inout a = 32767, b\nadd a, 1\nsub.square b, a\nrol a, 5\n"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{LONGEST, travel};
    use crate::subject::Subject;
    use reviver_vm::Travel;

    /// Every function has a value at the tested points. Otherwise the trap would end the program before its later
    /// functions are tested.
    #[test]
    fn all_functions_have_values_at_tested_points() {
        for text in [of_integers(), of_reals()] {
            let mut machine = Subject::on(crate::engine::ALL[0], &text).unwrap().machine(false);
            let end = travel(&mut machine, Travel::Forward, LONGEST);
            assert!(end.arrived(), "{text}");
        }
    }
}
