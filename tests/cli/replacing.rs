//! `overwrite`: permitted operands, derivatives through lost values, and messages if nothing can restore them.

use serde_json::json;

use crate::support::{reviver, with_input};

const ENGINES: [&str; 2] = ["--engine interp", "--engine jit"];

fn outputs(text: &str, options: &str) -> serde_json::Value {
    with_input(&format!("run - --json {options}"), text.as_bytes()).expect(0).json()["outputs"].clone()
}

/// The new value of a cell may depend on the cell's old value: as an index or as an operand, directly or in a part of
/// an expression.
#[test]
fn a_cell_is_replaced_by_a_function_of_itself() {
    let cells = ".inout k default 1\n.inout x: real default 3\n.inout A[4] default {2, 3, 1, 0}\n";
    for (statement, expected) in [
        ("overwrite k, A[k]", json!({ "k": 3, "x": 3.0, "A": [2, 3, 1, 0] })),
        ("overwrite k, A[A[k]]", json!({ "k": 0, "x": 3.0, "A": [2, 3, 1, 0] })),
        ("overwrite k, A[k+1] * 10 + k", json!({ "k": 11, "x": 3.0, "A": [2, 3, 1, 0] })),
        ("overwrite k, k*k + 100", json!({ "k": 101, "x": 3.0, "A": [2, 3, 1, 0] })),
        ("overwrite.sum k, A[k], k", json!({ "k": 4, "x": 3.0, "A": [2, 3, 1, 0] })),
        ("overwrite x, sin(x - x) + x*x", json!({ "k": 1, "x": 9.0, "A": [2, 3, 1, 0] })),
        ("overwrite x, x / 2", json!({ "k": 1, "x": 1.5, "A": [2, 3, 1, 0] })),
        ("overwrite A[k], A[k]*A[k] + 1", json!({ "k": 1, "x": 3.0, "A": [2, 10, 1, 0] })),
        ("overwrite A[k], A[0]*A[1] + A[k]", json!({ "k": 1, "x": 3.0, "A": [2, 9, 1, 0] })),
        // The new value may be an index beyond the array.
        ("overwrite k, A[k] * 100", json!({ "k": 300, "x": 3.0, "A": [2, 3, 1, 0] })),
    ] {
        let text = format!("{cells}        {statement}\n");
        for engine in ENGINES {
            assert_eq!(outputs(&text, engine), expected, "{statement} by {engine}");
            let restored = with_input(&format!("run - --check --exact --json {engine}"), text.as_bytes());
            let reported = restored.expect(0).json();
            assert_eq!(reported["restored"], json!(true), "{statement} by {engine}");
        }
    }
}

#[test]
fn other_updates_still_refuse_their_own_index() {
    let text = ".inout k default 1\n.var next[4]\n        add k, next[k]\n";
    with_input("check -", text.as_bytes())
        .expect(3)
        .says("`k` is the target and an index of one instruction");
}

/// A derivative through an `overwrite` uses a history automatically, and the output mentions the history.
#[test]
fn a_gradient_keeps_what_the_program_overwrites() {
    let text = "\
.inout x: real default 3
.out y: real
.var t: real
        overwrite t, x*x
        overwrite t, t*t + x
        add y, t*x
        overwrite t, 0.0
";
    // The expected result is y = x^5 + x^2.
    for engine in ENGINES {
        let reported =
            with_input(&format!("grad - --loss y --json {engine}"), text.as_bytes()).expect(0).json();
        assert_eq!((&reported["value"], &reported["grad"]["x"]), (&json!(252.0), &json!(411.0)));
        assert_eq!(reported["strategy"]["name"], json!("reverse"));
        with_input(&format!("grad - --loss y {engine}"), text.as_bytes())
            .expect(0)
            .prints_part("strategy: reverse: its history takes");
    }
    let asked =
        with_input("grad - --loss y --json --strategy checkpoint=3", text.as_bytes()).expect(0).json();
    assert_eq!((&asked["strategy"]["name"], &asked["grad"]["x"]), (&json!("checkpoint"), &json!(411.0)));
    let exact = with_input("grad - --loss y --json --exact", text.as_bytes()).expect(0).json();
    assert_eq!((&exact["strategy"], &exact["grad"]["x"]), (&json!(null), &json!(411.0)));
    let rows = with_input("jacobian - --of y --json", text.as_bytes()).expect(0).json();
    assert_eq!(rows["jacobian"], json!([[411.0]]));
    // This program loses nothing, so no history is kept or mentioned.
    let plain = ".inout x: real default 3\n.out y: real\n        add y, x*x\n";
    let reported = with_input("grad - --loss y --json", plain.as_bytes()).expect(0).json();
    assert_eq!(reported["strategy"], json!(null));
}

/// If a program would undo its own `overwrite`, a history can't help. The error says what to do.
#[test]
fn irreversible_uncomputation_gets_advice() {
    let text = "\
.inout x: real default 3
.out slope: real
.ancilla y: real
        compute
            call   f(y, x)
            grad.on
            add    y', 1
            uncall f(y, x)
        apply
            add    slope, x'
        uncompute
.proc f(inout y: real, in x: real)
    overwrite y, x*x
.end
";
    for command in ["run -", "run - --engine jit", "run - --exact"] {
        with_input(command, text.as_bytes())
            .expect(4)
            .says("can't be undone without a history")
            .says("the program itself undoes the statement, and keeps no history")
            .says("rewrite the whole program by `reviver bennett`")
            .says("which keeps a history if one is needed");
    }
    let from_outside = ".inout n\n        overwrite n, 7\n";
    let reported = with_input("run - --back --set n=7 --json", from_outside.as_bytes()).expect(4).json();
    assert_eq!(reported["trap"]["help"], json!(null));
}

/// With the number of steps that the header of `particles.rasm` recommends, the loss doesn't underflow to 0.
#[test]
fn the_advised_steps_do_not_underflow() {
    let reported =
        reviver("grad programs/particles.rasm --loss loss --set steps=20000 --json").expect(0).json();
    assert!(reported["value"].as_f64().unwrap().abs() > 1e-80, "{reported}");
    let text = std::fs::read_to_string(crate::support::root().join("programs/particles.rasm")).unwrap();
    assert!(text.contains("try --set steps=20000"));
}

/// Inverting twice restores garbage under its name.
#[test]
fn garbage_survives_being_inverted_twice() {
    let text = "\
.inout  x default 2
.garbage g, trail[]
.out    y
        add   g, x
        add   y, g
        push  x
        add   x, y
";
    let once = with_input("invert -", text.as_bytes()).expect(0).stdout;
    assert!(once.contains(".inverse") && once.contains(".garbage g, trail[]"), "{once}");
    let twice = with_input("invert -", once.as_bytes()).expect(0).stdout;
    assert!(!twice.contains(".inverse") && twice.contains(".garbage g, trail[]"), "{twice}");
    let thrice = with_input("invert -", twice.as_bytes()).expect(0).stdout;
    assert_eq!(once, thrice);
    // The inverse takes the garbage as an input.
    let made = with_input("run - --json", text.as_bytes()).expect(0).json();
    assert_eq!(made["garbage"], json!({ "g": 2, "trail": [2] }));
    assert_eq!(outputs(&once, "--set x=2,g=2,y=2,trail=2"), json!({ "x": 2 }));
}
