//! Values of `show` in derivatives, for every command, engine and strategy. Each value is printed once: those of the
//! forward sweep in its order, then those of rules in the reverse sweep.

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver};

const ENGINES: [&str; 3] = ["--engine interp", "--engine jit", "--engine auto"];
const STRATEGIES: [&str; 7] = [
    "",
    "--exact",
    "--strategy reverse",
    "--strategy tape",
    "--strategy checkpoint=2:3",
    "--strategy checkpoint=3:1",
    "--strategy auto",
];

/// Program that shows an element, a counter, and values in a procedure that is called and uncalled.
const PLAIN: &str = "
.inout x: real default 2
.inout A[3]: real default {1, 2, 3}
.out y: real
        for i in 0..3
            add   y, A[i]*x
            show  A[i]
            show  i
        rof
        call   f(y, x)
        uncall f(y, x)
        call   f(y, x)
.proc f(inout y: real, in x: real)
        add   y, x*x
        show  y
.end
";
const PLAIN_SHOWS: &str =
    "A[i] = 1.0\ni = 0\nA[i] = 2.0\ni = 1\nA[i] = 3.0\ni = 2\ny = 16.0\ny = 16.0\ny = 16.0\n";

/// Program that shows values in a procedure and its rule, in a loop, and uncalled. In the reverse sweep, the rule of
/// an uncalled procedure is undone.
const RULED: &str = "
.inout x: real default 3
.out y: real
.out z: real
        for i in 0..2
            call   f(y, x)
        rof
        uncall f(z, x)
        add   z, y
.proc f(inout y: real, in x: real) rule g
        add   y, x*x
        show  y
.end
.proc g(inout y: real, in x: real)
        show  y'
        show  x
        add   x', y'*2
.end
";
const RULED_FORWARD: &str = "y = 9.0\ny = 18.0\ny = 0.0\n";
const RULED_REVERSE: &str = "x = 3.0\ny' = 1.0\ny' = 1.0\nx = 3.0\ny' = 1.0\nx = 3.0\n";

/// Returns the lines in the form of `--json`.
fn members(lines: &str) -> Value {
    let member = |line: &str| {
        let (name, value) = line.split_once(" = ").unwrap();
        json!({ name: serde_json::from_str::<Value>(value).unwrap() })
    };
    lines.lines().map(member).collect()
}

/// Checks the output of a command, and its shown values with `--json`.
#[track_caller]
fn holds(command: &str, shown: &str) {
    let text = reviver(command).expect(0);
    let found = text.stdout.strip_prefix(shown).unwrap_or_else(|| panic!("{command}: {text:#?}"));
    let results = ["y =", "z =", "x =", "coefficients"];
    assert!(results.iter().any(|name| found.starts_with(name)), "{command}: {text:#?}");
    assert_eq!(found.lines().filter(|line| line.contains("' =")).count(), derivatives(command), "{text:#?}");
    let object = reviver(&format!("{command} --json")).expect(0).json();
    assert_eq!(object["shown"], members(shown), "{command}");
    assert_eq!(object["shown_left_out"], Value::Null);
}

/// Returns the number of adjoint lines in a command's results.
fn derivatives(command: &str) -> usize {
    match command.split_whitespace().next() {
        Some("grad" | "hessian") if command.contains("plain.rasm") => 2,
        Some("grad" | "hessian") => 1,
        _ => 0,
    }
}

#[test]
fn gradients_show_the_values_of_a_run() {
    let folder = Folder::new();
    let program = folder.file("plain.rasm", PLAIN);
    reviver(&format!("run {program}")).expect(0).prints_part(PLAIN_SHOWS);
    for engine in ENGINES {
        for strategy in STRATEGIES {
            holds(&format!("grad {program} --loss y {engine} {strategy}"), PLAIN_SHOWS);
        }
    }
}

#[test]
fn matrices_and_series_show_each_value_once() {
    let folder = Folder::new();
    let plain = folder.file("plain.rasm", PLAIN);
    for engine in ENGINES {
        // A Hessian has several forward sweeps, and so has a Jacobian with more results than inputs.
        holds(&format!("hessian {plain} --loss y {engine}"), PLAIN_SHOWS);
        holds(&format!("hessian {plain} --loss y --strategy checkpoint=2:3 {engine}"), PLAIN_SHOWS);
        holds(&format!("jacobian {plain} --of y {engine}"), PLAIN_SHOWS);
        holds(&format!("jacobian {plain} --of x,A,y --wrt x,A[1] {engine}"), PLAIN_SHOWS);
        holds(&format!("jacobian {plain} --of x,y --strategy checkpoint=2:3 {engine}"), PLAIN_SHOWS);
        holds(&format!("taylor {plain} --along x --order 3 --of y {engine}"), PLAIN_SHOWS);
    }
    let product = reviver(&format!("hessian {plain} --loss y --times x=1")).expect(0);
    assert!(product.stdout.starts_with(PLAIN_SHOWS), "{product:#?}");
}

#[test]
fn verification_shows_no_more_values() {
    let folder = Folder::new();
    let text = ".inout x: real default 3\n.out y: real\n        add   y, x*x\n        show  x\n";
    let program = folder.file("square.rasm", text);
    for command in ["grad --loss y", "jacobian", "hessian --loss y"] {
        let found = reviver(&format!("{command} {program} --verify")).expect(0);
        assert_eq!(found.stdout.matches("x = 3.0\n").count(), if command == "jacobian" { 2 } else { 1 });
        let found = reviver(&format!("{command} {program} --verify --json")).expect(0);
        assert_eq!(found.json()["shown"], json!([{"x": 3.0}]));
    }
}

#[test]
fn rules_show_in_the_reverse_sweep() {
    let folder = Folder::new();
    let program = folder.file("ruled.rasm", RULED);
    let both = format!("{RULED_FORWARD}{RULED_REVERSE}");
    reviver(&format!("run {program} --check")).expect(0).prints_part(RULED_FORWARD);
    for engine in ENGINES {
        for strategy in STRATEGIES {
            holds(&format!("grad {program} --loss z {engine} {strategy}"), &both);
            // A Hessian runs the rule for each direction, but prints its values only once.
            holds(&format!("hessian {program} --loss z {engine} {strategy}"), &both);
        }
    }
}

#[test]
fn rules_show_once_for_each_row_of_a_jacobian() {
    let folder = Folder::new();
    let program = folder.file("ruled.rasm", RULED);
    let rows = format!("{}{RULED_REVERSE}", RULED_REVERSE.replacen("y' = 1.0", "y' = 0.0", 1));
    for engine in ENGINES {
        for strategy in STRATEGIES {
            let command = format!("jacobian {program} --of y,z {engine} {strategy}");
            holds(&command, &format!("{RULED_FORWARD}{rows}"));
        }
    }
}

/// A rule that clips an adjoint, in a program that ends with `uncompute`.
#[test]
fn an_adjoint_is_shown_in_a_rule() {
    let folder = Folder::new();
    let text = "
.inout x: real default 7
.out y: real
        compute
          local u = x
          call clipped(u, x)
        apply
          add y, u*u
        uncompute
.proc clipped(inout u: real, in x: real) rule clip
.end
.proc clip(inout u: real, in x: real)
        show u'
        add x', min(u', 10.0)
        sub x', u'
.end
";
    let program = folder.file("clip.rasm", text);
    for strategy in STRATEGIES {
        let shown = reviver(&format!("grad {program} --loss y {strategy} --json")).expect(0).json();
        let first = shown["shown"].as_array().and_then(|all| all.last()).cloned();
        assert_eq!((first, &shown["grad"]["x"]), (Some(json!({"u'": 14.0})), &json!(10.0)), "{strategy}");
    }
}

/// Rounding makes the reverse sweep diverge, so both sweeps are repeated. Values shown by the first forward sweep
/// aren't shown twice, and values of its rules not at all.
#[test]
fn repeated_sweeps_show_each_value_once() {
    let folder = Folder::new();
    let text = "
.inout a: real default 0.3
.inout b: real default 0.3
.inout w: real default 5
.out paid: real
        show a
        call  f(paid, a)
        if b >= a
            add   paid, w * b
        else
            add   paid, w * 100
        fi b >= a
        add   a, 0.1
        add   a, 0.7
.proc f(inout y: real, in x: real) rule g
.end
.proc g(inout y: real, in x: real)
        show  x
.end
";
    let program = folder.file("tie.rasm", text);
    let shown = "a = 0.3\nx = 0.3\n";
    for command in ["grad --loss paid", "hessian --loss paid", "jacobian --of paid --wrt w,b"] {
        for engine in ENGINES {
            let ran = reviver(&format!("{command} {program} {engine}")).expect(0);
            assert!(ran.stdout.starts_with(&format!("{shown}paid =")), "{ran:#?}");
            ran.says("repeated with a history");
            let object = reviver(&format!("{command} {program} {engine} --json")).expect(0).json();
            assert_eq!(object["shown"], members(shown), "{command}");
            assert_eq!(object["mended"]["why"], "path");
        }
    }
}

/// A gradient that is interrupted and resumed shows the rest; both parts together show the same as an uninterrupted
/// one.
#[test]
fn a_resumed_gradient_shows_the_rest() {
    let folder = Folder::new();
    for (name, text, loss) in [("plain.rasm", PLAIN, "y"), ("ruled.rasm", RULED, "z")] {
        let program = folder.file(name, text);
        for strategy in ["", "--exact", "--strategy checkpoint=2:3"] {
            let command = format!("grad {program} --loss {loss} {strategy}");
            let whole = reviver(&command).expect(0).stdout;
            let shows = |ran: &Ran| ran.stdout.lines().take_while(|line| !line.starts_with("steps")).count();
            for steps in 1..40 {
                let state = folder.at("state");
                std::fs::remove_file(folder.path("state")).ok();
                let first = reviver(&format!("{command} --max-steps {steps} --save-state {state}"));
                if first.code == 0 {
                    assert_eq!(first.stdout, whole);
                    continue;
                }
                let first = first.expect(5);
                let rest = reviver(&format!("{command} --from-state {state}")).expect(0);
                let reported = shows(&rest);
                assert!(reported >= 2, "{rest:#?}");
                let together = format!("{}{}", first.stdout, rest.stdout);
                let results = |text: &str| text.split("steps:").next().map(str::to_owned);
                assert_eq!(results(&together), results(&whole), "{command} {steps}");
            }
        }
    }
}

#[test]
fn values_shown_before_a_failure_are_reported() {
    let folder = Folder::new();
    let text = ".inout x: real default 3\n.out y: real\n        show  x\n        assert x > 5.0\n        add   y, x\n";
    let program = folder.file("trap.rasm", text);
    for command in ["grad --loss y", "jacobian", "hessian --loss y", "taylor --along x --order 2"] {
        reviver(&format!("{command} {program}")).expect(4).prints("x = 3.0\n");
        let object = reviver(&format!("{command} {program} --json")).expect(4).json();
        assert_eq!((&object["shown"], &object["error"]["kind"]), (&json!([{"x": 3.0}]), &json!("trap")));
    }
    // A rule prints the values that it shows before it traps.
    let text = "
.inout x: real default 3
.out y: real
        call  f(y, x)
.proc f(inout y: real, in x: real) rule g
        add   y, x*x
        show  y
.end
.proc g(inout y: real, in x: real)
        show  y'
        assert x > 5.0
        show  x
.end
";
    let program = folder.file("trap.rasm", text);
    let shown = "y = 9.0\ny' = 1.0\n";
    for strategy in STRATEGIES {
        let command = format!("grad {program} --loss y {strategy}");
        reviver(&command).expect(4).prints(shown);
        assert_eq!(reviver(&format!("{command} --json")).expect(4).json()["shown"], members(shown));
    }
}

#[test]
fn a_closed_pipe_ends_the_sweep() {
    let folder = Folder::new();
    let text = "
.inout n default 0
.inout x: real default 3
.out y: real
        add   y, x
        from n == 0
        loop
            show  x
            add   n, 1
        until n == 1000000000
";
    folder.file("endless.rasm", text);
    let ran =
        folder.shell(&format!("{} grad endless.rasm --loss y | head -1", env!("CARGO_BIN_EXE_reviver")));
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, "x = 3.0\n", ""));
}

/// Tasks that show values run in order on any number of threads, and so do their rules.
#[test]
fn tasks_show_in_their_order() {
    let folder = Folder::new();
    let text = "
.inout x[4]: real default {1, 2, 3, 4}
.out y[4]: real
.out s: real
        par for i in 0..4 call f(y[i], x[i])
        for i in 0..4
            add   s, y[i]
        rof
.proc f(inout y: real, in x: real) rule g
        add   y, x*x
        show  x
.end
.proc g(inout y: real, in x: real)
        show  y'
        add   x', x*y'
.end
";
    let program = folder.file("tasks.rasm", text);
    let forward = "x = 1.0\nx = 2.0\nx = 3.0\nx = 4.0\n";
    let shown = format!("{forward}{}", "y' = 1.0\n".repeat(4));
    for threads in ["--threads 1", "--threads 4"] {
        let found = reviver(&format!("grad {program} --loss s {threads}")).expect(0);
        assert!(found.stdout.starts_with(&format!("{shown}s =")), "{found:#?}");
    }
}

/// If a program switches the mode itself, an `uncall` executes the rule of a procedure, and a `call` undoes it. In a
/// backward run it is the opposite. Code outside of rules shows values only in forward steps, and the second half of
/// `--check` shows nothing.
#[test]
fn a_backward_run_shows_the_values_of_rules() {
    let folder = Folder::new();
    let text = "
.inout x: real default 3
.out y: real
.out d: real
        call   f(y, x)
        grad.on
        add    y', 1
        uncall f(y, x)
        add    d, x'
        call   f(y, x)
        sub    y', 1
        grad.off
.proc f(inout y: real, in x: real) rule g
        add   y, x*x
        show  y
.end
.proc g(inout y: real, in x: real)
        show  y'
        show  x
        add   x', y'*2
.end
";
    let program = folder.file("switching.rasm", text);
    let rules = "y' = 1.0\nx = 3.0\nx = 3.0\ny' = 1.0\n";
    let forward = format!("y = 9.0\ny = 9.0\n{rules}y = 9.0\nx = 3.0\ny = 9.0\nd = 2.0\n");
    for engine in ENGINES {
        let run = |rest: &str| reviver(&format!("run {program} {engine} {rest}")).expect(0).stdout;
        assert_eq!(run(""), forward, "{engine}");
        assert_eq!(run("--back --set x=3,y=9,d=2"), format!("{rules}x = 3.0\n"), "{engine}");
        let checked = run("--check");
        let rest = checked.strip_prefix(&forward).unwrap_or_default();
        assert!(rest.starts_with("restored: yes, bit for bit\n"), "{engine}: {checked}");
    }
}

/// Shown values beyond the limit of the list are counted.
#[test]
fn the_list_of_shown_values_is_limited() {
    let folder = Folder::new();
    let text = ".inout x: real default 3\n.out y: real\n        for i in 0..1100000\n            show  x\n        rof\n        add   y, x\n";
    let program = folder.file("many.rasm", text);
    let object = reviver(&format!("grad {program} --loss y --json")).expect(0).json();
    assert_eq!(object["shown"].as_array().map(Vec::len), Some(1 << 20));
    assert_eq!(object["shown_left_out"], 1_100_000 - (1 << 20));
}

/// In the debugger, a `show` prints in the forward run. A `show` in a rule prints in the reverse sweep. Neither prints
/// again when its step is repeated.
#[test]
fn the_debugger_shows_rules_in_the_reverse_sweep() {
    let folder = Folder::new();
    let program = folder.file("ruled.rasm", RULED);
    for (walk, engine) in [
        (
            "goto end\ngradient z\nreverse-continue\ngoto end\ngoto start\nreverse-continue\n",
            "--engine interp",
        ),
        ("goto end\ngradient z\nreverse-continue\ngoto end\ngoto start\nreverse-continue\n", "--engine auto"),
        ("continue\ngradient z\ngoto start\ncontinue\n", "--engine auto"),
    ] {
        let script = folder.file("script", walk);
        let ran = reviver(&format!("debug {program} {engine} --batch {script}")).expect(0);
        let shown = |line: &&str| ["y = ", "x = ", "y' = "].iter().any(|name| line.starts_with(name));
        let lines: String = ran.stdout.lines().filter(shown).map(|line| format!("{line}\n")).collect();
        assert_eq!(lines, format!("{RULED_FORWARD}{RULED_REVERSE}"), "{ran:#?}");
    }
}
