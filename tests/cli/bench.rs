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
