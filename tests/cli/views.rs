//! Views: `-x` in the place of a cell that a statement changes.

use serde_json::{Value, json};

use crate::support::{Folder, reviver};

const HEAD: &str = ".inout x default 5, y default 3, A[3] default {1, 2, 4}, k default 1\n.inout u: real default 0.5, v: real default 2\n";

fn outputs(text: &str, options: &str) -> Value {
    let folder = Folder::new();
    let file = folder.file("view.rasm", format!("{HEAD}{text}"));
    reviver(&format!("run {file} --json {options}")).expect(0).json()["outputs"].clone()
}

/// A statement with views has the effect of the statements that negate the cells around it.
#[test]
fn views_negate_around_the_statement() {
    for (view, plain) in [
        ("add -x, y", "sub x, y"),
        ("sub -x, y*2", "add x, y*2"),
        ("add.mul -u, v, v", "sub.mul u, v, v"),
        ("xor -x, y", "neg x\nxor x, y\nneg x"),
        ("swap -x, y", "neg x\nswap x, y\nneg x"),
        ("swap -x, -y", "neg x\nneg y\nswap x, y\nneg y\nneg x"),
        ("swap -A[k], -A[k+1]", "neg A[k]\nneg A[k+1]\nswap A[k], A[k+1]\nneg A[k+1]\nneg A[k]"),
        ("rot -u, v, 0.25", "neg u\nrot u, v, 0.25\nneg u"),
        ("rol -x, 3", "neg x\nrol x, 3\nneg x"),
        ("overwrite -x, y", "overwrite x, -y"),
        ("overwrite -u, u*v", "overwrite u, -(u*v)"),
        ("overwrite.mul -u, u, v", "overwrite u, -(u*v)"),
        ("neg -x", "neg x"),
        ("call p(-x, y)\n.proc p(inout a, in b)\nadd a, b\n.end", "sub x, y"),
        ("uncall p(-A[2], -y)\n.proc p(inout a, in b)\nadd a, b\n.end", "add A[2], -y"),
        ("push -x\npop y2\n.out y2", "neg x\npush x\npop y2\n.out y2"),
    ] {
        for options in ["", "--engine interp", "--engine jit"] {
            assert_eq!(outputs(view, options), outputs(plain, options), "{view} {options}");
        }
    }
}

#[test]
fn views_are_undone() {
    let folder = Folder::new();
    let text = format!("{HEAD}for i in 0..3\nswap -A[i], x\nadd -y, A[i]*2\nrof\nrot -u, v, 1.5\n");
    let file = folder.file("view.rasm", text);
    let ran = reviver(&format!("run {file} --check --json")).expect(0).json();
    assert_eq!(ran["restored"], true, "{ran}");
    let inverse = reviver(&format!("invert {file}")).expect(0).stdout;
    reviver(&format!("check {}", folder.file("inverse.rasm", inverse))).expect(0);
    // The formatter preserves views.
    let text = reviver(&format!("fmt {file}")).expect(0).stdout;
    assert!(text.contains("swap  -A[i], x"), "{text}");
}

/// d/du of v - u·v² and others: the adjoint of a view is the view of the adjoint.
#[test]
fn views_have_derivatives() {
    let folder = Folder::new();
    let text = ".inout u: real default 0.5, v: real default 2\n.out y: real\n\
                add -y, u*v\nrot -u, v, 0.25\nadd y, u*u*u\n";
    let file = folder.file("view.rasm", text);
    let found = reviver(&format!("grad {file} --of y --json")).expect(0).json()["grad"].clone();
    // The rotation of (-u, v) by 0.25, and its first component negated again: w = u·cos 0.25 + v·sin 0.25.
    let (sin, cos) = 0.25_f64.sin_cos();
    let w = 0.5 * cos + 2.0 * sin;
    for (name, expected) in [("u", 3.0 * w * w * cos - 2.0), ("v", 3.0 * w * w * sin - 0.5)] {
        let derivative = found[name].as_f64().unwrap();
        assert!((derivative - expected).abs() < 1e-12, "{name}: {derivative}, expected {expected}");
    }
    let target = folder.file("emitted.rasm", reviver(&format!("grad {file} --of y --emit")).expect(0).stdout);
    let emitted = reviver(&format!("run {target} --json")).expect(0).json()["outputs"].clone();
    assert_eq!(json!([emitted["u_bar"], emitted["v_bar"]]), json!([found["u"], found["v"]]));
}

#[test]
fn other_views_are_refused() {
    let folder = Folder::new();
    for text in [
        // The index may change before the element is negated again.
        "call p(-A[k], k)\n.proc p(inout a, inout b)\nadd a, 1\nadd b, 1\n.end",
        "swap -A[k], -k",
        "add -(x + y), 1",
        "add -3, x",
        "add -A, B",
    ] {
        let ran =
            reviver(&format!("check {}", folder.file("view.rasm", format!("{HEAD}{text}\n")))).expect(3);
        assert!(ran.stderr.contains("error["), "{text}: {ran:?}");
    }
}

/// Views are replaced in linear time: 100,000 of them in one body.
#[test]
fn many_views_are_replaced_quickly() {
    let folder = Folder::new();
    let text = format!("{HEAD}{}", "swap -x, y\n".repeat(100_000));
    let begin = std::time::Instant::now();
    reviver(&format!("check {}", folder.file("views.rasm", text))).expect(0);
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}
