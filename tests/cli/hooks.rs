//! Rules as hooks into the reverse sweep: they print, clip, count, check and stop, in every command and on every engine.

use serde_json::{Value, json};

use crate::support::{Folder, reviver, with_input};

const ENGINES: [&str; 3] = ["--engine interp", "--engine jit", "--engine auto"];
const PROGRAM: &str = "programs/clipped_gradient.rasm";

/// Result of a clipped reverse sweep of [`PROGRAM`].
struct Clipped {
    /// Adjoints that the rule shows, in the order of the sweep.
    shown: Vec<f64>,
    /// Derivatives by `position`, `velocity`, `gravity`, `target` and `clips`.
    gradient: [f64; 5],
}

/// Computes a clipped gradient of [`PROGRAM`] with a list of positions. `seeds` are the adjoints of `loss` and
/// `position` at the end.
fn clipped([mut position, mut velocity, gravity, target]: [f64; 4], seeds: [f64; 2]) -> Clipped {
    let positions: Vec<f64> = (0..5)
        .map(|_| {
            let before = position;
            velocity += gravity * position;
            position += velocity;
            before
        })
        .collect();
    let of_loss = 2.0 * (position - target) * seeds[0];
    let (mut by_position, mut by_velocity, mut by_gravity, mut clips) = (of_loss + seeds[1], 0.0, 0.0, 0.0);
    let mut shown = Vec::new();
    for before in positions.iter().rev() {
        shown.push(by_position);
        if by_position.abs() >= 10.0 {
            by_position = 10.0 * by_position.signum();
            clips += 1.0;
        }
        by_velocity += by_position;
        by_gravity += by_velocity * before;
        by_position += gravity * by_velocity;
    }
    // `0.0 -` avoids a negative zero.
    Clipped { shown, gradient: [by_position, by_velocity, by_gravity, 0.0 - of_loss, clips] }
}

const START: [f64; 4] = [1.0, 0.0, 1.0, 87.0];

/// Returns shown values in the form of `--json`.
fn members(name: &str, shown: &[f64]) -> Value {
    shown.iter().map(|value| json!({ name: value })).collect()
}

/// Returns shown values as lines.
fn lines(name: &str, shown: &[f64]) -> String {
    shown.iter().map(|value| format!("{name} = {value:?}\n")).collect()
}

fn by_input(gradient: [f64; 5]) -> Value {
    let [position, velocity, gravity, target, clips] = gradient;
    json!({ "position": position, "velocity": velocity, "gravity": gravity, "target": target, "clips": clips })
}

#[track_caller]
fn close(found: &Value, expected: &[f64]) {
    let found: Vec<f64> = found.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-3 * expected.abs().max(1.0), "{found} and {expected}");
    }
}

#[test]
fn gradients_are_printed_clipped_and_counted() {
    for engine in ENGINES {
        for (options, seeds) in [("--of loss", [1.0, 0.0]), ("--seed loss=2,position=3", [2.0, 3.0])] {
            let expected = clipped(START, seeds);
            let command = format!("grad {PROGRAM} {options} {engine}");
            let text = reviver(&command).expect(0).stdout;
            assert!(text.starts_with(&lines("position'", &expected.shown)), "{text}");
            assert!(text.contains(&format!("clips' = {:?}\n", expected.gradient[4])), "{text}");
            let object = reviver(&format!("{command} --json")).expect(0).json();
            assert_eq!(object["shown"], members("position'", &expected.shown));
            assert_eq!(object["grad"], by_input(expected.gradient));
        }
        // The comparison finds the clipped derivatives, and shows nothing again.
        let verified =
            reviver(&format!("grad {PROGRAM} --of loss --verify --json {engine}")).expect(1).json();
        assert_eq!(verified["shown"], members("position'", &clipped(START, [1.0, 0.0]).shown));
        assert_eq!(verified["verify"]["agrees"], false);
        // Without clips, only the counter would differ.
        let still = format!("grad {PROGRAM} --of loss --verify --set gravity=-0.5,target=0 {engine}");
        reviver(&still).expect(0).prints_part("clips' = 0.0\n");
    }
}

#[test]
fn jacobians_execute_a_rule_for_each_result() {
    let (loss, position) = (clipped(START, [1.0, 0.0]), clipped(START, [0.0, 1.0]));
    let shown = [&loss.shown[..], &position.shown].concat();
    for engine in ENGINES {
        let command = format!("jacobian {PROGRAM} --of loss,position {engine}");
        assert!(reviver(&command).expect(0).stdout.starts_with(&lines("position'", &shown)));
        let object = reviver(&format!("{command} --json")).expect(0).json();
        assert_eq!(object["jacobian"], json!([loss.gradient, position.gradient]));
        assert_eq!((&object["shown"], &object["sweep"]), (&members("position'", &shown), &json!("reverse")));
        let product = reviver(&format!("{command} --times gravity=1,velocity=2 --json")).expect(0).json();
        let along = |found: &Clipped| found.gradient[2] + 2.0 * found.gradient[1];
        assert_eq!(product["product"], json!({ "loss": along(&loss), "position": along(&position) }));
        assert_eq!(product["shown"], members("position'", &shown));
    }
}

/// The coefficients of a series are those of the integral of the clipped gradient along the direction.
#[test]
fn series_follow_rules() {
    let at = |t: f64| clipped([START[0] + t, START[1] + 2.0 * t, START[2], START[3]], [1.0, 0.0]);
    let slope = |t: f64| at(t).gradient[0] + 2.0 * at(t).gradient[1];
    let h = 1e-4;
    let second = (slope(h) - slope(-h)) / (2.0 * h) / 2.0;
    let third = (slope(h) - 2.0 * slope(0.0) + slope(-h)) / (h * h) / 6.0;
    let coefficients = [4.0, slope(0.0), second, third];
    let shown = at(0.0).shown;
    for engine in ENGINES {
        for order in 1..=3 {
            let command =
                format!("taylor {PROGRAM} --of loss --along position=1,velocity=2 --order {order} {engine}");
            let text = reviver(&command).expect(0).stdout;
            assert!(text.starts_with(&format!("{}coefficients", lines("position'", &shown))), "{text}");
            let object = reviver(&format!("{command} --json")).expect(0).json();
            close(&object["taylor"]["loss"], &coefficients[..=order]);
            assert_eq!(object["taylor"]["loss"][1], slope(0.0));
            assert_eq!(object["shown"], members("position'", &shown));
            assert_eq!((&object["sweep"], &object["mended"]), (&json!("reverse"), &Value::Null));
        }
    }
}

/// A rule that is the derivative of its procedure changes no series.
#[test]
fn a_correct_rule_has_the_series_of_its_procedure() {
    let folder = Folder::new();
    let ruled = "
.inout x: real default 0.5
.inout z: real default 0.7
.out y: real
        call  log1p(y, x*z)
.proc log1p(inout y: real, in x: real) rule derivative
        add   y, log(1 + x)
.end
.proc derivative(inout y: real, in x: real)
        show  y'
        add   x', y'/(1 + x)
.end
";
    let (plain, _) = ruled.split_once(".proc derivative").unwrap();
    let [plain, ruled] = [plain.replace(" rule derivative", ""), ruled.to_owned()]
        .map(|text| folder.file(&format!("{}.rasm", text.len()), text));
    for options in ["", "--real f32", "--real fixed", "--unchecked"] {
        let series = |program: &str, order: usize| {
            let command = format!("taylor {program} --along x=1,z=2 --of y --order {order} {options} --json");
            reviver(&command).expect(0).json()
        };
        for order in [1, 2, 7, 16] {
            let (expected, found) = (series(&plain, order), series(&ruled, order));
            let numbers: Vec<f64> =
                expected["taylor"]["y"].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect();
            close(&found["taylor"]["y"], &numbers);
            assert_eq!((&expected["sweep"], &found["sweep"]), (&json!("forward"), &json!("reverse")));
            assert_eq!((&found["shown"], &found["level"]), (&json!([{"y'": 1.0}]), &Value::Null));
            assert!(found["loss_error"].is_number(), "series are always checked: {found}");
        }
    }
}

/// A series by reverse sweeps keeps a history if the program discards values, and if rounding makes the sweep diverge.
#[test]
fn series_by_reverse_sweeps_keep_a_history_if_needed() {
    let folder = Folder::new();
    let rule = ".proc f(inout y: real, in x: real) rule g\n.end\n.proc g(inout y: real, in x: real)\n.end\n";
    let overwriting = format!(
        ".inout x: real default 3\n.out y: real\n.garbage t: real\n\
         call f(y, x)\noverwrite t, x*x\nadd y, t*x\noverwrite t, 0.0\n{rule}"
    );
    let program = folder.file("overwriting.rasm", overwriting);
    let object = reviver(&format!("taylor {program} --along x --of y --order 3 --json")).expect(0).json();
    assert_eq!(object["taylor"]["y"], json!([27.0, 27.0, 9.0, 1.0]));
    let tie = format!(
        ".inout a: real default 0.3\n.inout b: real default 0.3\n.inout w: real default 5\n.out paid: real\n\
         call f(paid, a)\nif b >= a\nadd paid, w*w\nelse\nadd paid, w*100\nfi b >= a\nadd a, 0.1\nadd a, 0.7\n{rule}"
    );
    let program = folder.file("tie.rasm", tie);
    for order in [1, 2] {
        let command = format!("taylor {program} --along w --of paid --order {order}");
        reviver(&command).expect(0).says("repeated with a history");
        let object = reviver(&format!("{command} --json")).expect(0).json();
        assert_eq!(object["taylor"]["paid"], json!([25.0, 10.0, 1.0].split_at(order + 1).0));
        assert_eq!(object["mended"]["why"], "path");
    }
}

/// Lanes show nothing, but their adjoints are clipped and counted.
#[test]
fn rules_act_in_lanes() {
    let folder = Folder::new();
    let lanes = folder.file("lanes.csv", "position,target\n1,87\n2,87\n-1,-91\n");
    for engine in ENGINES {
        let ran = reviver(&format!("batch {PROGRAM} --lanes {lanes} --grad loss {engine} --json")).expect(0);
        let results = ran.json()["results"].clone();
        for (n, (position, target)) in [(1.0, 87.0), (2.0, 87.0), (-1.0, -91.0)].into_iter().enumerate() {
            let expected = clipped([position, 0.0, 1.0, target], [1.0, 0.0]);
            let columns = ["position'", "velocity'", "gravity'", "target'", "clips'"];
            assert_eq!(columns.map(|name| results[name][n].as_f64().unwrap()), expected.gradient);
        }
    }
}

/// The gradient as a program executes the rule as a procedure.
#[test]
fn rules_act_in_gradients_as_programs() {
    let folder = Folder::new();
    let emitted = folder.at("gradient.rasm");
    reviver(&format!("grad {PROGRAM} --of loss --emit -o {emitted}")).expect(0);
    let expected = clipped(START, [1.0, 0.0]);
    for engine in ENGINES {
        let object = reviver(&format!("run {emitted} {engine} --json")).expect(0).json();
        assert_eq!(object["shown"], members("position_bar", &expected.shown));
        let names = ["position_bar", "velocity_bar", "gravity_bar", "target_bar", "clips_bar"];
        assert_eq!(names.map(|name| object["outputs"][name].as_f64().unwrap()), expected.gradient);
    }
}

/// A procedure that is called in `compute`: the reverse sweep executes its rule backward and forward.
const COMPUTED: &str = "
.inout x: real default 1.5
.inout clips: real default 0
.inout calls: real default 0
.out y: real
        compute
            local a: real = 0
            call  pass(a, x)
        apply
            add   y, a*a*a
        uncompute
.proc pass(inout a: real, in x: real) rule hook
        add   a, x*x
.end
.proc hook(inout a: real, in x: real)
        local g = 2.0*x*a'
        if abs(g) > 10.0
            add   x', max(min(g, 10.0), -10.0)
            add   clips', 1
        else
            add   x', g
        fi abs(g) > 10.0
        delocal g = 2.0*x*a'
        add   calls', 1
.end
";

#[test]
fn counts_of_undone_calls_cancel() {
    let folder = Folder::new();
    let program = folder.file("computed.rasm", COMPUTED);
    for engine in ENGINES {
        let object = reviver(&format!("grad {program} --of y {engine} --json")).expect(0).json();
        assert_eq!(object["grad"], json!({ "x": 10.0, "clips": 1.0, "calls": 0.0 }));
    }
}

#[test]
fn a_failed_assertion_is_a_trap_in_the_rule() {
    let folder = Folder::new();
    let text = COMPUTED
        .replace("        local g = 2.0*x*a'", "        assert abs(a') < 10.0\n        local g = 2.0*x*a'");
    let program = folder.file("asserted.rasm", text);
    let lanes = folder.file("lanes.csv", "x\n1\n1.5\n");
    let commands = [
        "grad --of y",
        "grad --seed y=2",
        "jacobian --of y",
        "jacobian --of y --times x=1",
        "hessian --of y",
        "taylor --of y --along x --order 1",
        "taylor --of y --along x --order 2",
        &format!("batch --lanes {lanes} --grad y"),
    ];
    for engine in ENGINES {
        for command in commands {
            let (name, options) = command.split_once(' ').unwrap();
            let command = format!("{name} {program} {options} {engine}");
            let ran = reviver(&command).expect(4);
            ran.says("asserted.rasm:16:9").says("the assertion `abs(a') < 10.0` does not hold");
            let object = reviver(&format!("{command} --json")).expect(4).json();
            let trap = &object["trap"];
            assert_eq!(
                (&trap["code"], &trap["procedure"], &trap["line"]),
                (&json!("T10"), &json!("hook"), &json!(16))
            );
        }
    }
}

/// A rule that runs backward can't undo an overwriting: the message says what to do instead, and no strategy helps.
#[test]
fn overwriting_in_a_rule_that_runs_backward_is_explained() {
    let folder = Folder::new();
    let text = "
.inout x: real default 1.5
.out y: real
        compute
            local a = x
            call  watched(a)
        apply
            add   y, a*a*a
        uncompute
.proc watched(inout a: real) rule clip
.end
.proc clip(inout a: real)
        overwrite a', 1.0
.end
";
    let program = folder.file("computed.rasm", text);
    for command in
        ["grad --of y", "grad --of y --exact", "jacobian --of y", "taylor --of y --along x --order 2"]
    {
        let (name, options) = command.split_once(' ').unwrap();
        let ran = reviver(&format!("{name} {program} {options}")).expect(4);
        let ran = ran.says("trap[T12]").says("in the rule, add to an adjoint instead of overwriting it");
        assert!(!ran.stderr.contains("--exact"), "{ran:#?}");
    }
    // Outside of `compute`, the rule runs forward only, and needs no history.
    let outside = text
        .replace("        compute\n", "")
        .replace("        apply\n", "")
        .replace("        uncompute\n", "        delocal a = x\n");
    let program = folder.file("outside.rasm", outside);
    let object = reviver(&format!("grad {program} --of y --json")).expect(0).json();
    assert_eq!((&object["grad"]["x"], &object["history_bytes"]), (&json!(1.0), &json!(0)));
}

/// A breakpoint at a procedure stops before its rule, a breakpoint at the rule after it.
#[test]
fn the_debugger_stops_in_the_reverse_sweep() {
    let shown = clipped(START, [1.0, 0.0]).shown;
    for engine in ENGINES {
        let script = "break watched if position' > 10\nbreak clip if clips' == 2\ngoto end\ngradient loss\n\
                      reverse-continue\nexpect-stop breakpoint\nexpect position' == 20\nexpect clips' == 0\n\
                      reverse-continue\nexpect position' == 32\nexpect clips' == 1\n\
                      reverse-continue\nexpect-stop breakpoint\nexpect position' == 10\nexpect clips' == 2\n\
                      delete\nreverse-continue\nexpect-stop begin\nexpect clips' == 3\nexpect gravity' == 508\n";
        let ran = with_input(&format!("debug {PROGRAM} --batch - {engine}"), script.as_bytes()).expect(0);
        let printed = |line: &&str| shown.iter().any(|value| *line == format!("position' = {value:?}"));
        assert_eq!(ran.stdout.lines().filter(printed).count(), shown.len(), "{ran:#?}");
    }
}
