//! Reverse sweeps in floats that diverge from the primal sweep: they are recomputed and reported, or refused.

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver};

/// In this program's reverse sweep, `a` is slightly above 0.3, so that `b >= a` no longer holds.
const TIE: &str = "
.inout a: real default 0.3
.inout b: real default 0.3
.inout w: real default 5
.out loss: real
if b >= a
    add.mul loss, w, b
else
    add.mul loss, w, 100
fi b >= a
add a, 0.1
add a, 0.7
";

fn on(program: &str, command: &str) -> Ran {
    let folder = Folder::new();
    let file = folder.file("program.rasm", program);
    let (command, options) = command.split_once(' ').unwrap();
    reviver(&format!("{command} {file} {options}"))
}

/// Returns the gradient of `grad --strict --json`, and the reason for its recomputation.
fn recomputed(program: &str) -> (Value, Value) {
    let object = on(program, "grad --loss loss --strict --json").expect(0).json();
    assert_eq!(object["loss_error"], json!(0.0), "{object}");
    assert!(object["history_bytes"].as_u64().unwrap() > 0, "{object}");
    (object["grad"].clone(), object["mended"]["why"].clone())
}

#[test]
fn a_branch_that_flips_in_the_reverse_sweep_is_recomputed() {
    let (grad, why) = recomputed(TIE);
    assert_eq!((&grad["w"], why), (&json!(0.3), json!("path")));
    let ran =
        on(TIE, "grad --loss loss").expect(0).says("note: the reverse sweep was repeated with a history");
    assert!(ran.stdout.contains("\nw' = 0.3\n"), "{ran:?}");
    let ran = ran.says("a comparison had another result than in the primal sweep");
    assert!(!ran.stderr.contains("warning"), "{ran:?}");
}

#[test]
fn jacobians_and_hessians_are_recomputed_too() {
    let object = on(TIE, "jacobian --of loss --strict --json").expect(0).json();
    assert_eq!((&object["jacobian"], &object["sweep"]), (&json!([[0.0, 5.0, 0.3]]), &json!("reverse")));
    assert_eq!(object["mended"]["why"], json!("path"));
    on(TIE, "jacobian --of loss").expect(0).says("repeated with a history");
    // At a tie of `a` and `b`, the second derivatives on the two sides differ. The command reports this, and fails only
    // with `--strict`.
    let object = on(TIE, "hessian --loss loss --json").expect(0).json();
    assert_eq!(object["reported"][0]["code"], json!("L06"));
    on(TIE, "hessian --loss loss --strict").expect(1).says("warning[L06]");
    let rows = json!([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    assert_eq!((&object["hessian"], &object["mended"]["why"]), (&rows, &json!("path")));
    on(TIE, "hessian --loss loss --times b=1").expect(0).says("repeated with a history");
}

#[test]
fn exact_programs_need_no_recomputation() {
    for options in ["--exact", "--real fixed"] {
        let object = on(TIE, &format!("grad --loss loss --json {options}")).expect(0).says("").json();
        assert_eq!(object["mended"], Value::Null);
        assert!((object["grad"]["w"].as_f64().unwrap() - 0.3).abs() < 1e-12, "{object}");
    }
}

/// In the reverse sweep, both conditions have the opposite results. So the two sweeps have the same number of steps,
/// but in another order.
#[test]
fn paths_of_equal_length_are_distinguished() {
    let text = "
.inout a: real default 0.3, b: real default 0.3, w: real default 5
.out loss: real
if b >= a
    add.mul loss, w, b
    add.mul loss, w, b
else
    add.mul loss, w, 100
fi b >= a
if a > b
    add.mul loss, w, 100
    add.mul loss, w, 100
else
    add.mul loss, w, b
fi a > b
add a, 0.1
add a, 0.7
";
    let (grad, why) = recomputed(text);
    assert_eq!(why, json!("path"));
    assert!((grad["w"].as_f64().unwrap() - 0.9).abs() < 1e-15, "{grad}");
}

/// The reverse sweep takes the same path as the primal sweep, but it restores the factor inexactly, as 0.29999995.
#[test]
fn a_sensitive_drift_is_recomputed() {
    let text = ".inout a: real default 0.3, w: real default 5\n.out loss: real\n\
                add.mul loss, w, a\nadd a, 1e9\n";
    let (grad, why) = recomputed(text);
    assert_eq!((grad, why), (json!({ "a": 5.0, "w": 0.3 }), json!("sensitive")));
    let lost = text.replace("1e9", "1e17");
    assert_eq!(recomputed(&lost), (json!({ "a": 5.0, "w": 0.3 }), json!("missed")));
}

/// A freed cell has the value 1e-10, which counts as 0 but determines the loss. Tested alone, and next to a large term.
#[test]
fn a_small_freed_number_is_not_taken_for_rounding() {
    for large in ["", "add.mul loss, z, 1000\n"] {
        let text = format!(
            ".inout x: real default 1e-10, w: real default 2, z: real default 3\n.out loss: real\n\
             local t = x\nadd.mul loss, t, w\n{large}delocal t = 0.0\n"
        );
        let (grad, why) = recomputed(&text);
        assert_eq!((&grad["w"], &grad["x"], why), (&json!(1e-10), &json!(2.0), json!("freed")));
        on(&text, "grad --loss loss")
            .expect(0)
            .says("in `main`\n   | vacate t\n   = without a history, a freed cell");
        let frame = text.replace("local t = x\n", ".ancilla t: real\nadd t, x\n");
        let frame = frame.replace("delocal t = 0.0\n", "vacate t\n");
        assert_eq!(recomputed(&frame).0["w"], json!(1e-10), "{frame}");
    }
}

#[test]
fn a_trap_caused_by_drift_is_recomputed() {
    let text = ".inout a: real default 0.3, b: real default 0.3\n.out loss: real\n\
                assert b >= a\nadd.square loss, b\nadd a, 0.1\nadd a, 0.7\n";
    let (grad, why) = recomputed(text);
    assert_eq!((grad, why), (json!({ "a": 0.0, "b": 0.6 }), json!("trap")));
}

/// In the reverse sweep the counter misses 0, so the loop would never end.
#[test]
fn a_backward_run_that_misses_the_start_of_a_loop_ends() {
    let text = ".inout x: real default 2\n.out loss: real, i: real\n\
                from i == 0.0\nadd loss, x\nadd i, 0.1\nuntil i >= 1.0\n";
    let (grad, why) = recomputed(text);
    assert_eq!((grad, why), (json!({ "x": 11.0 }), json!("path")));
}

#[test]
fn a_divergence_in_spite_of_a_history_is_an_error() {
    let text = ".inout x: real default 3\n.out loss: real, s: real\nadd s, x'\nadd.square loss, x\n";
    for options in ["", " --exact", " --real fixed"] {
        on(text, &format!("grad --loss loss{options}"))
            .expect(1)
            .says("error: the reverse sweep does not reach the start, although it loses nothing")
            .says("`s` differs from the start")
            .says("= help: don't compute cells from adjoints");
    }
}

/// Rounding residues of sums don't cause warnings about gradients that are right.
#[test]
fn programs_with_right_gradients_pass_strictly() {
    let mut tried = 0;
    for entry in std::fs::read_dir("programs").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rasm") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix(";! grad ")) {
            let (given, results) = line.split_once("->").unwrap();
            // Runs with traps or errors have no gradient. `reported=1` announces a report of a lost value. Such a
            // report isn't about rounding, so it is expected.
            let results = results.trim();
            let without = ["trap ", "error "].iter().any(|word| results.starts_with(word));
            if without || results.contains("reported=1") {
                continue;
            }
            let mut words = given.split_whitespace();
            let mut command = format!("grad {} --strict --loss {}", path.display(), words.next().unwrap());
            for word in words {
                command += &match word.split_once('=') {
                    None => format!(" --{word}"),
                    Some(("real", system)) => format!(" --real {system}"),
                    Some(_) => format!(" --set {word}"),
                };
            }
            let ran = reviver(&command).expect(0);
            let recomputed = results.split_whitespace().any(|word| word == "mended");
            assert_eq!(ran.stderr.contains("history"), recomputed, "{command}\n{ran:?}");
            tried += 1;
        }
    }
    assert!(tried > 50, "{tried}");
}

/// Cross entropy of a logistic regression, with all variables in frames.
#[test]
fn a_logistic_regression_passes_strictly() {
    let text = "
.inout X[4, 2]: real default {0.5, 1.2, -1.1, 0.3, 0.8, -0.6, 2.1, 0.4}
.inout w[2]: real default {0.7, -0.3}
.inout y[4]: real default {1, 0, 1, 0}
.out loss: real
for i in 0..4
    call example(loss, X[i, ..], w, y[i])
rof

.proc example(inout loss: real, in x[]: real, in w[]: real, in y: real)
.ancilla score: real, odds: real
    compute
        add.mul score, x[0], w[0]
        add.mul score, x[1], w[1]
        add.exp odds, score
        add odds, 1
    apply
        add.log loss, odds
        sub.mul loss, y, score
    uncompute
.end
";
    let object = on(text, "grad --loss loss --strict --verify --json").expect(0).says("").json();
    assert_eq!((&object["mended"], &object["reported"]), (&Value::Null, &json!([])));
    let error = object["loss_error"].as_f64().unwrap();
    assert!(error < 1e-14, "{object}");
}

/// A residue of a sum with a tiny term keeps all its digits, and hardly affects the loss.
#[test]
fn a_tiny_freed_number_is_compared_by_its_effect() {
    let frame = |body: &str| {
        format!(
            ".inout a: real default 1.23e-14, b: real default 1.1\n.out loss: real\n\
             .proc f(inout y: real, in a: real, in b: real)\n.ancilla s: real\n{body}.end\ncall f(loss, a, b)\n"
        )
    };
    let sum = "compute\nadd s, a\nadd s, b\napply\nadd loss, s*s\nuncompute\n".replace("loss", "y");
    let larger = "compute\nadd s, a\nadd s, exp(10*b)\napply\nadd y, log(s)\nuncompute\n";
    let weights = "compute\nfor k in 0..8\nadd s, exp(0.0 - 30.0*toreal(k) - b)\nadd s, a\nrof\napply\n\
                   add y, log(s)\nuncompute\n";
    let mut programs: Vec<String> = [&sum[..], larger, weights].map(frame).into();
    programs.push(frame(larger).replace("1.23e-14", "7.7e-12"));
    for (a, b) in
        [("1.234567890123e-9", "1.1"), ("3.3e-17", "1.1"), ("7.7e-12", "1000.1"), ("-1.7e-15", "-0.3")]
    {
        programs.push(frame(&sum).replace("1.23e-14", a).replace("1.1", b));
    }
    for text in &programs {
        let exact = on(text, "grad --loss loss --exact --json").expect(0).json();
        for engine in ["interp", "jit"] {
            let options = format!("grad --loss loss --strict --engine {engine} --json");
            let found = on(text, &options).expect(0).says("").json();
            assert_eq!(found["mended"], Value::Null, "{engine}\n{text}");
            for name in ["a", "b"] {
                let [own, known] = [&found, &exact].map(|object| object["grad"][name].as_f64().unwrap());
                assert!((own - known).abs() <= 1e-12 * known.abs(), "{engine} {name}: {own} {known}\n{text}");
            }
        }
        let folder = Folder::new();
        folder.file("program.rasm", text);
        let lane = text.lines().next().unwrap().replace(".inout", "").replace(": real default", "");
        let values: Vec<&str> = lane.split(',').map(|part| part.split_whitespace().last().unwrap()).collect();
        let lanes = format!("a,b\n{}", format!("{},{}\n", values[0], values[1]).repeat(16));
        folder.file("lanes.csv", &lanes);
        let batch = "batch program.rasm --lanes lanes.csv --grad loss --device cpu --strict --json";
        let found = folder.reviver(batch).expect(0).json();
        assert_eq!(found.get("mended"), None, "{found}\n{text}");
        let known = exact["grad"]["b"].as_f64().unwrap();
        for slope in found["results"]["b'"].as_array().unwrap() {
            assert!((slope.as_f64().unwrap() - known).abs() <= 1e-12 * known.abs(), "{found}\n{text}");
        }
    }
}

/// The loss is a small difference of large numbers, or depends on a term that was nearly lost.
#[test]
fn a_loss_without_right_digits_is_reported() {
    let difference = ".inout x: real default 0.1\n.out loss: real\nadd x, 1e8\nadd loss, x - 100000000.099\n";
    let sum = ".inout x: real default 0.3, w: real default 3000\n.out loss: real\nadd x, 1e9\n\
               add loss, w*x\nsub loss, 3000000000899.5\n";
    for text in [difference, sum] {
        for engine in ["interp", "jit"] {
            let options = format!("grad --loss loss --json --engine {engine}");
            let object =
                on(text, &options).expect(0).says("warning[L07]: rounding errors change the loss").json();
            assert_eq!(object["mended"]["why"], json!("sensitive"), "{object}");
            assert_eq!(object["reported"][0]["code"], json!("L07"), "{object}");
            let (error, loss) = (&object["reported"][0]["largest"], object["value"].as_f64().unwrap());
            assert!(error.as_f64().unwrap() > 1e-6 * loss.abs(), "{object}");
            let exact = on(text, "grad --loss loss --exact --json").expect(0).json();
            assert_eq!(object["grad"], exact["grad"]);
            on(text, &format!("{options} --strict")).expect(1);
        }
        for command in ["jacobian --of loss", "hessian --loss loss"] {
            on(text, command).expect(0).says("warning[L07]");
            on(text, &format!("{command} --strict")).expect(1);
        }
    }
    let folder = Folder::new();
    folder.file("program.rasm", difference);
    folder.file("lanes.csv", format!("x\n{}", "0.1\n".repeat(12)));
    let batch = "batch program.rasm --lanes lanes.csv --grad loss --device cpu --json";
    let object = folder.reviver(batch).expect(0).json();
    assert_eq!(
        (&object["doubtful"]["lanes"], &object["mended"]["lanes"]),
        (&json!(12), &json!(12)),
        "{object}"
    );
    assert!(object["doubtful"]["message"].as_str().unwrap().contains("rounding errors change"), "{object}");
    let ran = folder.reviver(&format!("{batch} --strict --keep-going")).expect(1);
    assert_eq!(ran.json()["failed"], json!(12));
}

/// The loss of a converged fit is the square of a tiny number. It has few correct digits, and isn't reported.
#[test]
fn a_loss_near_its_minimum_is_not_reported() {
    for x in ["1.0000000001", "1.0000000000001", "1.0", "0.99999999"] {
        let text = format!(
            ".inout x: real default {x}, a: real default 0.3\n.out loss: real\n.var r: real\n\
             compute\nadd r, a\nadd r, x\nsub r, 1.3\napply\nadd loss, r*r\nuncompute\n"
        );
        let object = on(&text, "grad --loss loss --strict --json").expect(0).json();
        assert_eq!(object["reported"], json!([]), "{object}");
    }
}
