//! `reviver bench`: its measurements, and its reports if some measurements are impossible for a program. Speeds aren't
//! checked.

use serde_json::Value;

use crate::support::{Folder, reviver};

/// Returns the JSON report of `bench`.
fn measured(arguments: &str) -> Value {
    reviver(&format!("bench {arguments} --seconds 0.05 --json")).expect(0).json()
}

#[test]
fn both_engines_are_measured_in_both_directions() {
    let found = measured("programs/fib.rasm --set n=100");
    assert!(found["rounds"].as_u64().unwrap() >= 1 && found["seconds"].as_f64().unwrap() < 30.0);
    for engine in ["interp", "jit"] {
        for direction in ["forward", "back"] {
            let figure = &found["engines"][engine][direction];
            assert_eq!(figure["steps"], 502, "{found}");
            let (seconds, speed) =
                (figure["seconds"].as_f64().unwrap(), figure["steps_per_second"].as_f64().unwrap());
            assert!(seconds > 0.0 && (seconds * speed / 502.0 - 1.0).abs() < 1e-6, "{found}");
        }
        assert!(found["engines"][engine].get("gradient").is_none());
    }
    assert_eq!(found["engines"]["jit"]["all_native"], true);
    assert!(found["engines"]["jit"]["compile_seconds"].as_f64().unwrap() > 0.0);
    assert!(found["engines"]["interp"].get("compile_seconds").is_none());
}

#[test]
fn a_gradient_is_measured_next_to_the_run() {
    let found = measured("programs/besselj.rasm --loss out");
    for engine in ["interp", "jit"] {
        let figures = &found["engines"][engine];
        assert_eq!(figures["gradient"]["steps"], 390, "{found}");
        let ratio = figures["gradient"]["seconds"].as_f64().unwrap()
            / figures["forward"]["seconds"].as_f64().unwrap();
        assert!((figures["gradient_per_objective"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-6);
        assert_eq!(figures["mended"], false);
    }
    assert_eq!(measured("programs/tie.rasm --loss paid")["engines"]["interp"]["mended"], true);
}

#[test]
fn the_text_is_a_table() {
    let ran = reviver("bench programs/besselj.rasm --loss out --seconds 0.05").expect(0);
    for part in [
        "interp  forward",
        "jit     gradient",
        "as long as a run",
        "native code was compiled in",
        "times vary from call to call",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

/// Tapes and stacks are given as for `run`.
#[test]
fn measured_runs_use_the_given_values() {
    let folder = Folder::new();
    let file = folder.file(
        "sum.rasm",
        ".in n\n.out s\nfor i in 0..n\n  read r0\n  add s, r0\n  push r0\nrof\n.garbage t[]\n",
    );
    let short =
        measured(&format!("{file} --set n=2 --tape 3,4"))["engines"]["interp"]["forward"]["steps"].clone();
    let long = measured(&format!("{file} --set n=4 --tape 3,4,5,6"))["engines"]["interp"]["forward"]["steps"]
        .clone();
    assert!(long.as_u64() > short.as_u64(), "{long} and {short}");
    reviver(&format!("bench {file} --set n=2 --tape 3")).expect(4).says("tape");
}

#[test]
fn an_irreversible_program_is_reported() {
    let found = measured("programs/erase.rasm");
    assert!(found["engines"]["interp"]["no_way_back"].as_str().unwrap().contains("erase"), "{found}");
    assert!(found["engines"]["interp"]["forward"]["steps"].as_u64().unwrap() > 0);
}

#[test]
fn programs_that_cannot_be_measured_are_refused() {
    reviver("bench programs/fib.rasm --loss q").expect(2).says("--of: the program has no cell `q`");
    reviver("bench programs/fib.rasm --loss a").expect(2).says("--of: `a` is an integer");
    reviver("bench programs/fib.rasm --seconds -1").expect(2).says("a number of seconds from 0");
    reviver("bench programs/fib.rasm --set b=1").expect(2).says("`b` can't be given");
    let error = reviver("bench nothing.rasm --json").expect(3).json();
    assert_eq!(error["error"]["kind"], "load");
}

/// A statement after the first one, an exponential in a loop, and an exponential that uncomputing computes again.
const SOURCES: &str = ".inout x: real default 0.5, v[3]: real default 0.25, n default 3\n.out y: real\n.ancilla e: real\n\
    compute\nadd e, exp(x)\napply\nadd y, e * x\nfor i in 0..n\nadd y, cos(v[i])\nrof\nuncompute\n";

#[test]
fn explain_lists_the_source_of_each_value() {
    let folder = Folder::new();
    folder.file("a.rasm", SOURCES);
    let found = folder.reviver("bench a.rasm --of y --explain --json").expect(0).json();
    let values = found["values"].as_array().unwrap();
    let has = |line: u64, source: &str, value: &str| {
        let is_it = |found: &Value| {
            found["line"] == line
                && found["source"] == source
                && found["value"] == value
                && found["place"] == format!("a.rasm:{line}")
        };
        values.iter().any(is_it)
    };
    // Value numbering proves that the exponential is the same in both sweeps.
    assert!(has(5, "kept", "exp(x)") && !has(5, "recomputed", "exp(x)"), "{found}");
    assert!(has(9, "recomputed", "cos(v[i])") && has(9, "inverted", "y"), "{found}");
    let text = folder.reviver("bench a.rasm --of y --explain").expect(0).stdout;
    assert!(text.contains("a.rasm:5  kept        exp(x)\n"), "{text}");
    // Unchecked code restores no value that no partial derivative uses.
    let unchecked = folder.reviver("bench a.rasm --of y --explain --unchecked").expect(0).stdout;
    assert!(!unchecked.contains("inverted    y"), "{unchecked}");
}

#[test]
fn explain_needs_a_loss_and_a_call_function() {
    let folder = Folder::new();
    folder.file("a.rasm", ".inout x: real\n.out y: real\nadd y, x\nshow y\n");
    assert!(folder.reviver("bench a.rasm --explain").expect(2).stderr.contains("--of"));
    let refused = folder.reviver("bench a.rasm --of y --explain").expect(1).stderr;
    assert!(refused.contains("`show`"), "{refused}");
    assert!(folder.reviver("bench a.rasm --of z --explain").expect(2).stderr.contains("`z`"));
}
