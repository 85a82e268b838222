//! Gradient mode of any depth: programs that differentiate code that computes gradients itself.

use serde_json::{Value, json};

use crate::support::{Folder, reviver};

/// Adds the derivative of x³ to `slope`, and within `nested` the derivative of the slope to `curvature`.
const CUBE: &str = "\
.inout x: real default 3
.out slope: real, curvature: real

        call   derivative(slope, x)
        compute
            grad.on 2
            add    slope'2, 1
            uncall derivative(slope, x)
        apply
            add    curvature, x'2
        uncompute

.proc derivative(inout slope: real, in x: real)
        local  y: real
        compute
            call   cube(y, x)
            grad.on
            add    y', 1
            uncall cube(y, x)
        apply
            add    slope, x'
        uncompute
        delocal y: real
.end

.proc cube(inout y: real, in x: real)
        local  square = x * x
        add.mul y, square, x
        delocal square = x * x
.end
";

fn outputs(program: &str, options: &str) -> Value {
    reviver(&format!("run {program} --json {options}")).expect(0).json()["outputs"].clone()
}

fn derivatives(program: &str, options: &str) -> Value {
    reviver(&format!("grad {program} --json {options}")).expect(0).json()["grad"].clone()
}

#[test]
fn derivatives_nest() {
    let folder = Folder::new();
    let program = folder.file("cube.rasm", CUBE);
    assert_eq!(outputs(&program, ""), json!({"x": 3.0, "slope": 27.0, "curvature": 18.0}));
    reviver(&format!("run {program} --check")).expect(0).prints_part("restored: yes, bit for bit");
    // From outside: the second and the third derivative, and the fourth as a Hessian.
    assert_eq!(derivatives(&program, "--of slope")["x"], 18.0);
    assert_eq!(derivatives(&program, "--of curvature")["x"], 6.0);
    let jacobian = reviver(&format!("jacobian {program} --json")).expect(0).json();
    assert_eq!(jacobian["jacobian"], json!([[1.0], [18.0], [6.0]]), "{jacobian}");
    let hessian = reviver(&format!("hessian {program} --of slope --json")).expect(0).json();
    assert_eq!(hessian["hessian"], json!([[6.0]]), "{hessian}");
    let taylor = reviver(&format!("taylor {program} --of slope --along x --order 3 --json")).expect(0).json();
    assert_eq!(taylor["taylor"]["slope"], json!([27.0, 18.0, 3.0, 0.0]), "{taylor}");
}

/// A program of depth 3, whose third mode is in the machine, because it is switched on outside of `compute`.
#[test]
fn a_greater_depth_needs_a_limit() {
    let folder = Folder::new();
    let deeper = CUBE.replace("grad.on 2", "grad.on 3").replace("'2", "'3");
    let program = folder.file("deep.rasm", &deeper);
    reviver(&format!("run {program}"))
        .expect(3)
        .says("the depth 3")
        .says(".limit grad 3")
        .says("deep.rasm:6");
    let program = folder.file("deeper.rasm", format!(".limit grad 3\n{deeper}"));
    assert_eq!(outputs(&program, "")["curvature"], 18.0);
    let wrong = folder.file("wrong.rasm", ".inout x: real\nadd x'0, 1\n");
    reviver(&format!("run {wrong}")).expect(3).says("ascend");
    let wrong = folder.file("wrong2.rasm", ".inout x: real\ngrad.on 9\ngrad.off 9\n");
    reviver(&format!("run {wrong}")).expect(3).says("from 1 to 8");
}

/// The machine's gradient mode and the statements that replace it have the same results.
#[test]
fn own_gradients_have_the_bits_of_the_machine() {
    for (program, loss, own) in [("kick_drift", "fit_a", ""), ("graph_training", "loss", "rounds=4")] {
        let set = if own.is_empty() { String::new() } else { format!("--set {own}") };
        let value = outputs(&format!("programs/{program}.rasm"), &set)[loss].clone();
        let ran = reviver(&format!("grad programs/{program}.rasm --json --of {loss} {set}")).expect(0).json();
        assert_eq!(ran["value"], value, "{program}");
    }
}

#[test]
fn an_image_is_differentiated_again() {
    let folder = Folder::new();
    let image = folder.at("kick.rbc");
    reviver(&format!("asm programs/kick_drift.rasm -o {image}")).expect(0);
    let set = "--of fit_a --set rounds=3";
    assert_eq!(
        derivatives(&format!("{image} {set}"), "")["u"],
        derivatives(&format!("programs/kick_drift.rasm {set}"), "")["u"]
    );
}

/// The mode must be known at each statement.
#[test]
fn a_mode_that_depends_on_the_run_is_refused() {
    let folder = Folder::new();
    let refused = |name: &str, text: &str, line: &str, reason: &str| {
        let program = folder.file(name, format!(".inout x: real, n\n.out y: real\n{text}"));
        reviver(&format!("grad {program} --of y"))
            .expect(3)
            .says("E88")
            .says(&format!("{name}:{line}"))
            .says(reason);
    };
    refused(
        "if.rasm",
        "if n == 1\ngrad.on\nfi n == 1\nadd y, x\ngrad.off\n",
        "3",
        "the other branch of this `if`",
    );
    refused("for.rasm", "for i in 0..1\ngrad.on\nrof\nadd y, x\ngrad.off\n", "3", "the body of this loop");
    refused("twice.rasm", "grad.on\ngrad.on\nadd y, x\ngrad.off\n", "4", "on already");
    refused("end.rasm", "add y, x\ngrad.on\n", "4", "at the end of the program");
    refused("tape.rasm", "add y, x\ngrad.on\nwrite x\nunwrite x\ngrad.off\n", "5", "tape");
    refused("read.rasm", "add n, mode\ngrad.on\nadd y, x\ngrad.off\n", "3", "read the mode");
    let call = "grad.on\ncall p(y)\ngrad.off\n.proc p(inout y: real)\ngrad.on\nadd y, 1\ngrad.off\n.end\n";
    refused("call.rasm", call, "4", "is called in gradient mode");
    let argument = "compute\ngrad.on\napply\ncall p(y, x')\nuncompute\n.proc p(inout y: real, in a: real)\nadd y, a\n.end\n";
    refused("argument.rasm", argument, "6", "can't be passed");
    let function =
        "compute\nadd y, x*x\ngrad.on\nadd y', 1\nsub y, x*x\napply\nadd y, x * sin(x')\nuncompute\n";
    refused("function.rasm", function, "9", "reads an adjoint within a function");
    let branch = "a: br b, n == 1\ngrad.on\nb: from a, n == 1\nadd y, x\ngrad.off\n";
    refused("branch.rasm", branch, "5", "a branch leads");
}

/// Conjugate of the training of `hypergradient.rasm` by hand: from the last round to the first. Returns the derivatives of
/// the loss by the rate and by the decay of each round.
fn by_hand(rate: f64, decay: f64) -> (Vec<f64>, Vec<f64>) {
    const T: [f64; 5] = [0.0, 1.0, 2.0, 3.0, 4.0];
    const U: [f64; 5] = [1.1, 2.9, 5.2, 6.8, 9.1];
    let errors = |x: [f64; 2]| [0, 1, 2, 3, 4].map(|n| x[0] + x[1] * T[n] - U[n]);
    let slope = |x: [f64; 2]| {
        let errors = errors(x);
        [2.0 * errors.iter().sum::<f64>(), 2.0 * errors.iter().zip(T).map(|(e, t)| e * t).sum::<f64>()]
    };
    let (count, sum, squares) = (5.0, T.iter().sum::<f64>(), T.iter().map(|t| t * t).sum::<f64>());
    let curvature = |v: [f64; 2]| [2.0 * (count * v[0] + sum * v[1]), 2.0 * (sum * v[0] + squares * v[1])];
    let (mut x, mut v) = ([0.0; 2], [0.0; 2]);
    let mut rounds = Vec::new();
    for _ in 0..256 {
        let (old, g) = (v, slope(x));
        v = [0, 1].map(|n| decay * v[n] - (1.0 - decay) * g[n]);
        rounds.push((old, v, g));
        x = [0, 1].map(|n| x[n] + rate * v[n]);
    }
    let (mut x_bar, mut v_bar) = (slope(x), [0.0; 2]);
    let (mut by_rate, mut by_decay) = (Vec::new(), Vec::new());
    for (old, v, g) in rounds.into_iter().rev() {
        by_rate.push(x_bar[0] * v[0] + x_bar[1] * v[1]);
        v_bar = [0, 1].map(|n| v_bar[n] + rate * x_bar[n]);
        by_decay.push((0..2).map(|n| v_bar[n] * (old[n] + g[n])).sum());
        let curved = curvature(v_bar);
        x_bar = [0, 1].map(|n| x_bar[n] - (1.0 - decay) * curved[n]);
        v_bar = v_bar.map(|v| decay * v);
    }
    by_rate.reverse();
    by_decay.reverse();
    (by_rate, by_decay)
}

fn reals(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn largest(list: &[f64]) -> f64 {
    list.iter().fold(0.0, |most, number| most.max(number.abs()))
}

/// Hypergradients of 256 rounds: from inside, from outside, by hand and by differences.
#[test]
fn hypergradients_agree_with_an_adjoint_by_hand_and_with_differences() {
    const PROGRAM: &str = "programs/hypergradient.rasm";
    let inside = outputs(PROGRAM, "");
    let outside = derivatives(PROGRAM, "--of loss");
    let (by_rate, by_decay) = by_hand(0.001, 0.9);
    for (own, other, expected) in [("rate_slope", "rate", by_rate), ("decay_slope", "decay", by_decay)] {
        let (own, other) = (reals(&inside[own]), reals(&outside[other]));
        assert_eq!((own.len(), other.len()), (256, 256));
        let size = largest(&expected);
        let off = |list: &[f64]| {
            largest(&list.iter().zip(&expected).map(|(a, b)| a - b).collect::<Vec<_>>()) / size
        };
        assert!(off(&own) < 2e-7 && off(&other) < 2e-7, "{} {}", off(&own), off(&other));
    }
    for (name, usual, n) in [("rate", 0.001, 200), ("decay", 0.9, 30)] {
        let step = 1e-4;
        let loss = |moved: f64| {
            let list: Vec<String> =
                (0..256).map(|k| (if k == n { usual + moved } else { usual }).to_string()).collect();
            outputs(PROGRAM, &format!("--set {name}={}", list.join(",")))["loss"].as_f64().unwrap()
        };
        let difference = (loss(step) - loss(-step)) / (2.0 * step);
        let slope = reals(&outside[name])[n];
        assert!((difference - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{name}: {difference} {slope}");
    }
    reviver(&format!("run {PROGRAM} --check")).expect(0).prints_part("restored: yes, bit for bit");
}

/// Functions of whole arrays within expressions are errors of the text.
#[test]
fn functions_of_arrays_are_refused_as_in_other_programs() {
    let folder = Folder::new();
    for depth in ["", "2"] {
        let text = format!(
            ".inout A[2]: real\n.out s: real\ngrad.on {depth}\nadd s, 1 + sum(A'{depth})\ngrad.off {depth}\n"
        );
        let program = folder.file("sum.rasm", text);
        for command in ["run", "grad --of s", "jvp --wrt A --emit", "opt"] {
            let (command, options) = command.split_once(' ').unwrap_or((command, ""));
            reviver(&format!("{command} {program} {options}")).expect(3).says("E64").says("sum.rasm:4");
        }
    }
}

/// Without gradient mode, an adjoint outside of rules has a value only in a reverse sweep from outside.
#[test]
fn adjoints_without_gradient_mode_are_refused_in_derived_programs() {
    let folder = Folder::new();
    let program = folder.file("named.rasm", ".inout x: real default 2\n.out y: real\nadd y, x\nshow x'\n");
    for command in ["grad --of y --emit", "jvp --wrt x --emit"] {
        let (command, options) = command.split_once(' ').unwrap();
        reviver(&format!("{command} {program} {options}")).expect(3).says("E88").says("named.rasm:4");
    }
    reviver(&format!("grad {program} --of y")).expect(0).prints_part("x' = 1.0");
}
