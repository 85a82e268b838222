//! Whole arrays: statements that are loops over elements.

use serde_json::{Value, json};

use crate::support::{Folder, reviver};

/// Pairs of programs with the same steps: one with whole arrays, the other with loops.
const PAIRS: &[(&str, &str)] = &[
    (
        ".inout A[3]: real default {1, 2, 3}, B[3]: real default {4, 5, 6}\nadd A, B\nsub B, A * 0.5\n",
        ".inout A[3]: real default {1, 2, 3}, B[3]: real default {4, 5, 6}\n\
         for i in 0..3\nadd A[i], B[i]\nrof\nfor i in 0..3\nsub B[i], A[i] * 0.5\nrof\n",
    ),
    (
        ".inout A[3]: real default {1, 2, 3}, B[3]: real default {4, 5, 6}, c: real default 2\n\
         add.mul A, B, c\nswap A, B\nneg A\nrot A, B, c\nadd -A, 1\nadd A, sin(B) + c\n",
        ".inout A[3]: real default {1, 2, 3}, B[3]: real default {4, 5, 6}, c: real default 2\n\
         for i in 0..3\nadd.mul A[i], B[i], c\nrof\nfor i in 0..3\nswap A[i], B[i]\nrof\n\
         for i in 0..3\nneg A[i]\nrof\nfor i in 0..3\nrot A[i], B[i], c\nrof\n\
         for i in 0..3\nsub A[i], 1\nrof\nfor i in 0..3\nadd A[i], sin(B[i]) + c\nrof\n",
    ),
    (
        ".inout i[4] default {1, 2, 3, 4}, j default 5\n.garbage kept[]\n\
         xor i, j\npush i[1..3]\npop i[1..3]\npush i\nadd i, j * 3\n",
        ".inout i[4] default {1, 2, 3, 4}, j default 5\n.garbage kept[]\n\
         for n in 0..4\nxor i[n], j\nrof\nfor n in 0..2\npush i[n + 1]\nrof\n\
         for n in 0..2 reversed\npop i[n + 1]\nrof\nfor n in 0..4\npush i[n]\nrof\n\
         for n in 0..4\nadd i[n], j * 3\nrof\n",
    ),
    (
        ".inout M[2, 3]: real default {1, 2, 3, 4, 5, 6}, v[3]: real default {1, -1, 2}, w[2]: real default {3, 7}\n\
         .out s: real, t: real, n: real\n\
         add M[0, ..], v\nsub M[.., 2], w\nadd s, sum(M)\nadd t, dot(M[1, ..], v)\nsub n, sum(v[0..2] * w)\n",
        ".inout M[2, 3]: real default {1, 2, 3, 4, 5, 6}, v[3]: real default {1, -1, 2}, w[2]: real default {3, 7}\n\
         .out s: real, t: real, n: real\n\
         for k in 0..3\nadd M[0, k], v[k]\nrof\nfor k in 0..2\nsub M[k, 2], w[k]\nrof\n\
         for i in 0..2\nfor j in 0..3\nadd s, M[i, j]\nrof\nrof\nfor k in 0..3\nadd t, M[1, k] * v[k]\nrof\n\
         for k in 0..2\nsub n, v[k] * w[k]\nrof\n",
    ),
    (
        ".inout P[2, 3]: real default {1, 2, 3, 4, 5, 6}, Q[3, 2]: real default {1, -1, 2, 0.5, 3, 7}\n\
         .inout v[3]: real default {1, 2, 4}\n.out C[2, 2]: real, y[2]: real, z[2]: real, D[3, 3]: real\n\
         add C, matmul(P, Q)\nadd y, matmul(P, v)\nsub z, matmul(v, Q)\nadd D, -matmul(transpose(P), P)\n\
         add P, transpose(Q)\n",
        ".inout P[2, 3]: real default {1, 2, 3, 4, 5, 6}, Q[3, 2]: real default {1, -1, 2, 0.5, 3, 7}\n\
         .inout v[3]: real default {1, 2, 4}\n.out C[2, 2]: real, y[2]: real, z[2]: real, D[3, 3]: real\n\
         for i in 0..2\nfor j in 0..2\nfor k in 0..3\nadd C[i, j], P[i, k] * Q[k, j]\nrof\nrof\nrof\n\
         for i in 0..2\nfor k in 0..3\nadd y[i], P[i, k] * v[k]\nrof\nrof\n\
         for j in 0..2\nfor k in 0..3\nsub z[j], v[k] * Q[k, j]\nrof\nrof\n\
         for i in 0..3\nfor j in 0..3\nfor k in 0..2\nadd D[i, j], -(P[k, i] * P[k, j])\nrof\nrof\nrof\n\
         for i in 0..2\nfor j in 0..3\nadd P[i, j], Q[j, i]\nrof\nrof\n",
    ),
    (
        ".inout a[6]: real default {1, 2, 3, 4, 5, 6}\n.out y: real\ncall f(y, a[0..3], a[3..6])\n\
         .proc f(inout y: real, inout u[]: real, in v[]: real)\n\
         compute\nlocal s = dot(u, v)\napply\nadd y, s * s\nuncompute\nadd u, v * 2\n.end\n",
        ".inout a[6]: real default {1, 2, 3, 4, 5, 6}\n.out y: real\ncall f(y, a[0..3], a[3..6])\n\
         .proc f(inout y: real, inout u[]: real, in v[]: real)\n\
         compute\nlocal s: real\nassert len(v) == len(u)\nfor i in 0..len(u)\nadd s, u[i] * v[i]\nrof\n\
         apply\nadd y, s * s\nuncompute\nassert len(v) == len(u)\nfor i in 0..len(u)\nadd u[i], v[i] * 2\nrof\n.end\n",
    ),
    (
        ".inout a[7]: real default {1, 2, 3, 4, 5, 6, 7}, b[3]: real default {10, 20, 30}, m default 1\n\
         .out y: real\nadd b, a[m..7 step 2]\nlocal t = sum(a[1..7 step 3])\nadd y, t\ndelocal t = sum(a[1..7 step 3])\n\
         add b[0..m], 1\n",
        ".inout a[7]: real default {1, 2, 3, 4, 5, 6, 7}, b[3]: real default {10, 20, 30}, m default 1\n\
         .out y: real\nassert (7 - m + (2 - 1)) / 2 == 3\nfor i in 0..3\nadd b[i], a[2 * i + m]\nrof\nlocal t: real\n\
         for i in 0..2\nadd t, a[3 * i + 1]\nrof\nadd y, t\nfor i in 0..2\nsub t, a[3 * i + 1]\nrof\ndelocal t: real\n\
         for i in 0..m\nadd b[i], 1\nrof\n",
    ),
];

fn found(folder: &Folder, text: &str, command: &str, options: &str) -> Value {
    let file = folder.file("program.rasm", text);
    let mut found = reviver(&format!("{command} {file} --json {options}")).expect(0).json();
    for hidden in ["digest", "engine", "memory_bytes"] {
        found.as_object_mut().unwrap().remove(hidden);
    }
    found
}

/// Returns the numbers of a result, so that 0 equals -0.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[test]
fn whole_arrays_have_the_meaning_of_their_loops() {
    let folder = Folder::new();
    for (arrays, loops) in PAIRS {
        for options in ["", "--engine interp", "--check", "--real fixed"] {
            let [short, long] = [arrays, loops].map(|text| found(&folder, text, "run", options));
            assert_eq!(short, long, "{options} {arrays}");
        }
    }
}

#[test]
fn derivatives_of_whole_arrays_are_those_of_their_loops() {
    let folder = Folder::new();
    // The programs with reals, and a result of each.
    for (n, loss) in [(0, "B[1]"), (1, "A[2]"), (3, "t"), (4, "y[1]"), (4, "D[0,1]"), (5, "y"), (6, "y")] {
        let (arrays, loops) = PAIRS[n];
        let [short, long] = [arrays, loops].map(|text| found(&folder, text, "grad", &format!("--of {loss}")));
        assert_eq!(short, long, "{loss} {arrays}");
        let emitted =
            reviver(&format!("grad {} --of {loss} --emit -O0", folder.file("short.rasm", arrays))).expect(0);
        let outputs = &found(&folder, &emitted.stdout, "run", "")["outputs"];
        for (name, derivative) in short["grad"].as_object().unwrap() {
            let written = &outputs[format!("{name}_bar")];
            assert_eq!(numbers(written), numbers(derivative), "{name} {loss} {}", emitted.stdout);
        }
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let head = ".inout A[3]: real, B[4]: real, M[2, 3]: real, N[3, 2]: real, s: real, n[3]\n";
    let cases = [
        ("add A, B", "expected 3 elements, found 4"),
        ("add M, A", "expected a matrix or a number, found a vector"),
        ("add A, M", "expected a vector or a number, found a matrix"),
        ("add M, N", "expected 2 elements, found 3"),
        ("swap A, s", "all targets must be arrays of the same number of dimensions"),
        ("add A, sum(B)", "a sum is a number: its target is a cell"),
        ("add s, sum(s)", "expected an array"),
        ("add s, 2 * sum(A)", "`sum` is a value of `add`, `sub` and `local` only"),
        ("add A, 2 * matmul(N, s)", "`matmul` is a value of `add`, `sub` and `local` only"),
        ("add s, dot(A, B)", "expected 3 elements, found 4"),
        ("add s, matmul(A, B)", "the product of two vectors is a number: write `dot`"),
        ("add M, matmul(M, N)", "expected 3 elements, found 2"),
        ("add s, matmul(M, N)", "the product is a matrix"),
        ("add A, transpose(A)", "only a matrix can be transposed"),
        ("if sum(A) > 1\nfi sum(A) > 1", "`sum` is a value of `add`, `sub` and `local` only"),
        ("add A, n", "`add` changes a real by an integer"),
        ("add A, A", "error"),
        ("add s, A", "`A` is an array: an element needs an index"),
        ("add s, dot(A)", "`dot` takes 2 sources, found 1"),
        ("add s, sum(A, A, A)", "`sum` takes 2 sources, found 3"),
    ];
    for (statement, message) in cases {
        let ran = reviver(&format!("check {}", folder.file("program.rasm", format!("{head}{statement}\n"))));
        assert!(ran.stderr.contains(message), "{statement}: {}", ran.stderr);
        assert_eq!(ran.code, 3, "{statement}");
    }
}

/// Lengths that only a call determines are compared when the program runs.
#[test]
fn lengths_of_slices_are_compared_in_the_run() {
    let folder = Folder::new();
    let text = ".inout A[5]: real default 1, n default 2\ncall f(A[0..n], A[2..2*n])\n\
                .proc f(inout u[]: real, in v[]: real)\nadd u, v\n.end\n";
    let file = folder.file("program.rasm", text);
    assert_eq!(
        reviver(&format!("run {file} --json")).expect(0).json()["outputs"]["A"],
        json!([2.0, 2.0, 1.0, 1.0, 1.0])
    );
    let trap = reviver(&format!("run {file} --set n=1"));
    assert!(trap.code == 4 && trap.stderr.contains("add u, v"), "{trap:?}");
}

/// The parts of a vector with each step and each length have the elements of the slice that a call passes.
#[test]
fn parts_with_steps_have_the_elements_of_slices() {
    let folder = Folder::new();
    for (from, to, step) in
        [(0, 0, 1), (0, 7, 1), (1, 6, 2), (1, 7, 2), (2, 7, 3), (3, 3, 2), (6, 7, 5), (0, 7, 4)]
    {
        let head = ".inout A[7] default {1, 2, 3, 4, 5, 6, 7}\n.out s\n";
        let part = format!("A[{from}..{to} step {step}]");
        let whole = format!("{head}add s, sum({part})\n");
        let called = format!(
            "{head}call f(s, {part})\n.proc f(inout s, in v[])\nfor i in 0..len(v)\nadd s, v[i]\nrof\n.end\n"
        );
        let [whole, called] =
            [whole, called].map(|text| found(&folder, &text, "run", "")["outputs"]["s"].clone());
        assert_eq!(whole, called, "{part}");
    }
}

#[test]
fn expand_shows_the_loops() {
    let folder = Folder::new();
    let file = folder.file("program.rasm", ".inout A[3]: real, B[3]: real\nadd A, B\n");
    let ran = reviver(&format!("expand {file}")).expect(0);
    assert!(
        ran.stdout.contains("; 2: add A, B") && ran.stdout.contains("add   A[i], B[i]"),
        "{}",
        ran.stdout
    );
}

/// Loops of whole arrays are written as such statements in derived programs, if each cell sees the same operations in the
/// same order.
#[test]
fn derived_programs_have_statements_with_whole_arrays() {
    let folder = Folder::new();
    let text = "\
.inout A[3]: real default {1, 2, 3}, B[4]: real default {4, 5, 6, 7}, c: real default 0.5
.inout P[3, 2]: real default {1, 2, 3, 4, 5, 6}, Q[2, 3]: real default {2, 1, 0, 1, 3, 5}
.out s: real, C[3, 3]: real, D[3, 2]: real, y[3]: real, z[2]: real

        add   A, c * B[1..4]
        swap  A, B[0..3]
        sub   P, transpose(Q)
        add   s, dot(A, B[1..4])
        add   s, sum(square(P) * 0.5)
        add   C, matmul(P, Q)
        add   C, -matmul(transpose(Q), Q)
        add   D, P * c + sin(P)
        add   y, matmul(P, Q[.., 1])
        add   z, matmul(A, P)
";
    let file = folder.file("program.rasm", text);
    let same = reviver(&format!("opt {file} -O0")).expect(0).stdout;
    let statements = text.split_once("\n\n").unwrap().1;
    assert!(same.ends_with(statements), "{same}");
    let inverse = reviver(&format!("invert {file}")).expect(0).stdout;
    for statement in
        ["sub   A, c * B[1..4]", "swap  A, B[0..3]", "add   P, transpose(Q)", "sub   D, P * c + sin(P)"]
    {
        assert!(inverse.contains(statement), "{statement}: {inverse}");
    }
    let gradient = reviver(&format!("grad {file} --of s --emit -O0")).expect(0).stdout;
    for statement in ["swap  A_bar, B_bar[0..3]", "sub   A, c * B[1..4]", "add.mul B_bar[1..4], A_bar, c"] {
        assert!(gradient.contains(statement), "{statement}: {gradient}");
    }
}

/// Views and signs of whole arrays, in derived programs too.
#[test]
fn whole_arrays_have_signs() {
    let folder = Folder::new();
    let text = ".inout A[3]: real default {1, 2, 3}, v[2]: real default {10, 20}\n.out y: real\n\
                add -A[0..2], v\nadd y, -sum(-A)\nsub y, -dot(v, v)\nswap -A[1..3], v\n";
    let file = folder.file("program.rasm", text);
    let outputs = |file: &str| reviver(&format!("run {file} --json")).expect(0).json()["outputs"].clone();
    let found = outputs(&file);
    assert_eq!(
        (&found["y"], &found["A"], &found["v"]),
        (&json!(476.0), &json!([-9.0, -10.0, -20.0]), &json!([18.0, -3.0]))
    );
    for level in ["-O0", "-O1", "-O2"] {
        let name = folder.file("written.rasm", reviver(&format!("opt {file} {level}")).expect(0).stdout);
        assert_eq!(outputs(&name), found, "{level}");
    }
}

/// A statement whose iterations depend on each other keeps its loop.
#[test]
fn dependent_iterations_keep_their_loop() {
    let folder = Folder::new();
    let text = ".inout A[4] default {1, 2, 3, 4}\nadd A[1..4], A[0..3]\n";
    let file = folder.file("program.rasm", text);
    let outputs = |file: &str| reviver(&format!("run {file} --json")).expect(0).json()["outputs"].clone();
    assert_eq!(outputs(&file)["A"], json!([1, 3, 6, 10]));
    for (command, expected) in
        [("opt -O0", [1, 3, 6, 10]), ("opt -O2", [1, 3, 6, 10]), ("invert", [1, 1, 1, 1])]
    {
        let written = reviver(&format!("{command} {file}")).expect(0).stdout;
        let name = folder.file("written.rasm", &written);
        assert_eq!(outputs(&name)["A"], json!(expected), "{written}");
    }
}
