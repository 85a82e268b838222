//! `reviver grad --emit`: the gradient of a program as a program.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Folder, Ran, reviver};

/// Emits the gradient of a program, and returns its text.
fn emitted(program: &str, options: &str) -> String {
    reviver(&format!("grad {program} --emit {options}")).expect(0).stdout
}

/// Returns the statements of the reverse part, without comments.
fn reverse_part(text: &str) -> Vec<String> {
    let part = text.split("; The reverse part.").nth(1).unwrap();
    let part = part.split("\n.proc").next().unwrap();
    part.lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty() && !line.starts_with(';'))
        .collect()
}

pub fn outputs(ran: &Ran) -> Value {
    ran.json()["outputs"].clone()
}

/// The inputs of a header line such as `;! grad y x=2 -> …`, as options. `None` unless a plain `grad` computes the
/// gradient.
pub fn options(line: &str, text: &str) -> Option<(String, String)> {
    let (given, expected) = line.strip_prefix(";! grad ")?.split_once("->")?;
    let fails = ["trap", "error", "mended", "reported"];
    if expected.split_whitespace().any(|word| fails.contains(&word)) {
        return None;
    }
    let mut words = given.split_whitespace();
    let loss = words.next()?.to_owned();
    let mut options = String::new();
    for word in words {
        let (name, _) = word.split_once('=').filter(|(name, _)| !["real", "word"].contains(name))?;
        let is_constant = text.lines().any(|line| line.starts_with(&format!(".const {name} ")));
        options += &format!(" {} {word}", if is_constant { "--const" } else { "--set" });
    }
    Some((loss, options))
}

/// Returns the suffix of the adjoints' names in a gradient program, such as `_bar`.
fn suffix(text: &str) -> &str {
    text.split("The result `x").nth(1).unwrap().split('`').next().unwrap()
}

/// Compares the gradients in the headers of a folder's programs with those of the emitted programs. Returns the number
/// of compared gradients, and the names of programs without a gradient program.
fn compare_gradients(programs: &str) -> (usize, BTreeSet<String>) {
    let folder = Folder::new();
    let mut compared = 0;
    let mut refused = BTreeSet::new();
    for entry in std::fs::read_dir(programs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rasm") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let program = path.to_str().unwrap();
        // Several lines can have numbers of the same gradient.
        let gradients: BTreeSet<_> = text.lines().filter_map(|line| options(line, &text)).collect();
        for (loss, options) in gradients {
            let target = folder.path("gradient.rasm");
            let target = target.to_str().unwrap();
            let ran = reviver(&format!("grad {program} --of {loss} --emit -O0 -o {target} --force"));
            if ran.code != 0 {
                assert!(ran.stderr.contains("error[E8"), "{ran:?}");
                refused.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
                continue;
            }
            let emitted = String::from_utf8(folder.read("gradient.rasm")).unwrap();
            let suffix = suffix(&emitted);
            let expected = reviver(&format!("grad {program} --of {loss} --json{options}")).expect(0).json();
            let found = outputs(&reviver(&format!("run {target} --json{options}")).expect(0));
            let name = loss.split('[').next().unwrap();
            assert_eq!(found[format!("{name}_value")], expected["value"], "{program} {loss} {options}");
            for (input, gradient) in expected["grad"].as_object().unwrap() {
                let adjoint = &found[format!("{input}{suffix}")];
                assert_eq!(adjoint, gradient, "{program} {loss} {options}: {input}");
            }
            levels_agree(
                &format!("grad {program} --of {loss} --emit -o {target} --force"),
                (target, &options),
                &found,
            );
            compared += 1;
        }
    }
    (compared, refused)
}

/// Compares the results at higher levels of optimization with those at level 0: the bits at level 1, and 13 digits at
/// level 2.
fn levels_agree(emit: &str, (target, options): (&str, &str), expected: &Value) {
    let run = || reviver(&format!("run {target} --json{options}")).expect(0).json();
    reviver(&format!("{emit} -O1")).expect(0);
    let first = run();
    assert_eq!(first["outputs"], *expected, "{emit}{options}");
    reviver(&format!("{emit} -O2")).expect(0);
    let second = run();
    let (found, expected) = (numbers(&second["outputs"]), numbers(expected));
    // The terms of a derivative are at least as large as the largest adjoint.
    let all = expected.iter().copied().chain(numbers(&first["garbage"]));
    let size = all.fold(0.0f64, |most, number| most.max(number.abs()));
    let is_close = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= relative_tolerance(emit) * size);
    assert!(is_close && found.len() == expected.len(), "{emit}{options}: {found:?} instead of {expected:?}");
    assert!(second["steps"].as_u64() <= first["steps"].as_u64(), "{emit}{options}: {first} {second}");
}

/// Returns the tolerance of results after other roundings, relative to the largest number. The listings of the NiLang paper
/// carry the rests of products on, which amplifies rounding errors.
pub fn relative_tolerance(command: &str) -> f64 {
    if command.contains("_listing.rasm") { 1e-10 } else { 1e-13 }
}

/// Returns the numbers of a JSON value, in order.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        Value::Object(map) => map.values().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// Every program that `grad` differentiates without a history, with the inputs in its header. Programs that overwrite or
/// switch gradient mode are refused.
#[test]
fn programs_compute_the_bits_of_their_gradients() {
    let (compared, refused) = compare_gradients("programs");
    let overwrites = |name: &String| name.ends_with("_plain") || name == "faq_overwrite";
    assert!(refused.iter().all(overwrites), "{refused:?}");
    assert!(compared >= 55, "only {compared} gradients were compared");
}

#[test]
fn tangent_functions_have_gradient_programs() {
    let (compared, refused) = compare_gradients("tests/tangent");
    assert!(refused.is_empty(), "{refused:?}");
    assert!(compared >= 280, "only {compared} gradients were compared");
}

#[test]
fn the_adjoint_of_a_statement_is_short() {
    let folder = Folder::new();
    let sum = folder.file("sum.rasm", ".inout x: real default 2\n.out y: real\nadd y, x\n");
    assert_eq!(reverse_part(&emitted(&sum, "--of y")), ["sub   y, x", "add   x_bar, y_bar"]);
    let square = folder.file("square.rasm", ".inout x: real default 3\n.out y: real\nadd y, x*x\n");
    let text = emitted(&square, "--of y");
    assert_eq!(reverse_part(&text), ["sub   y, x * x", "add.mul x_bar, y_bar, x", "add.mul x_bar, y_bar, x"]);
    assert!(text.contains("; 3: add y, x*x"), "{text}");
}

#[test]
fn a_gradient_program_is_a_program() {
    let folder = Folder::new();
    let (target, inverse) = (folder.path("bessel.rasm"), folder.path("inverse.rasm"));
    let (target, inverse) = (target.to_str().unwrap(), inverse.to_str().unwrap());
    reviver(&format!("grad programs/besselj.rasm --of out --emit -O0 -o {target}")).expect(0);
    reviver(&format!("check {target}")).expect(0);
    reviver(&format!("fmt --check {target}")).expect(0);
    let ran = reviver(&format!("run {target} --check --json")).expect(0).json();
    assert_eq!(ran["restored"], true);
    assert!(ran["steps"].as_u64().unwrap() <= 1121, "{ran}");
    reviver(&format!("invert {target} -o {inverse}")).expect(0);
    reviver(&format!("check {inverse}")).expect(0);
}

/// The second derivative of the Bessel function, in three ways.
#[test]
fn a_gradient_program_is_differentiated_again() {
    const SECOND: f64 = 0.134_466_838_533_916_16;
    let folder = Folder::new();
    let (once, twice) = (folder.path("once.rasm"), folder.path("twice.rasm"));
    let (once, twice) = (once.to_str().unwrap(), twice.to_str().unwrap());
    reviver(&format!("grad programs/besselj.rasm --of out --emit -o {once}")).expect(0);
    let close = |found: &Value| (found.as_f64().unwrap() - SECOND).abs() < 1e-14;
    let gradient = reviver(&format!("grad {once} --of z_bar --json")).expect(0).json();
    assert!(close(&gradient["grad"]["z"]), "{gradient}");
    // The first program keeps dropped adjoints on the stack, so the second one writes them to the tape.
    reviver(&format!("grad {once} --of z_bar --emit -o {twice}")).expect(0);
    let found = outputs(&reviver(&format!("run {twice} --json")).expect(0));
    assert!(close(&found["z_bar2"]), "{found}");
    assert_eq!(found["z_bar_value"], outputs(&reviver(&format!("run {once} --json")).expect(0))["z_bar"]);
}

#[test]
fn dropped_adjoints_are_kept_or_erased() {
    let kept = emitted("programs/norm.rasm", "--of length");
    assert!(kept.contains(".garbage dropped[]: real") && kept.contains("push  squares_bar"), "{kept}");
    let erased = emitted("programs/norm.rasm", "--of length --drop erase");
    assert!(!erased.contains("dropped") && erased.contains("erase squares_bar"), "{erased}");
}

/// Reals on the stack, arguments that overlap, and a macro with an expression as argument.
#[test]
fn stacks_overlaps_and_macros_have_adjoints() {
    let folder = Folder::new();
    let program = folder.file(
        "mixed.rasm",
        "
.inout x: real default 2, v[3]: real default {1, 2, 3}
.out y: real
.ancilla t: real
.macro weighted(to, by)
        add   to, by * x
.endm
        add   t, x*x
        push  t
        pop   t
        call  product(y, v[0], v[1])
        call  product(y, v[1], v[1])
        weighted y, t + v[2]
        sub   t, x*x
.proc product(inout to: real, in a: real, in b: real)
        add.mul to, a, b
.end
",
    );
    let target = folder.path("gradient.rasm");
    let target = target.to_str().unwrap();
    reviver(&format!("grad {program} --of y --emit -o {target}")).expect(0);
    let found = outputs(&reviver(&format!("run {target} --json")).expect(0));
    let expected = reviver(&format!("grad {program} --of y --json")).expect(0).json();
    assert_eq!(found["x_bar"], expected["grad"]["x"]);
    assert_eq!(found["v_bar"], expected["grad"]["v"]);
}

/// Two rows of a matrix of the frame are arguments of one call, by indices that may be the same.
#[test]
fn rows_of_an_ancilla_have_adjoints() {
    let folder = Folder::new();
    let program = folder.file(
        "rows.rasm",
        "
.inout x: real default 2, r
.out y: real
.ancilla v[5, 2]: real
        call  scaled(v[r+1, ..], v[r, ..], x)
        call  scaled(v[r+2, ..], v[r+1, ..], x)
        add   y, v[2, 0]
        uncall scaled(v[r+2, ..], v[r+1, ..], x)
        uncall scaled(v[r+1, ..], v[r, ..], x)
.proc scaled(inout a[]: real, in b[]: real, in by: real)
        add   a[0], b[0] * by + by
.end
",
    );
    let target = folder.path("gradient.rasm");
    let target = target.to_str().unwrap();
    reviver(&format!("grad {program} --of y --emit -o {target}")).expect(0);
    // y = x² + x
    assert_eq!(outputs(&reviver(&format!("run {target} --json")).expect(0))["x_bar"], 5.0);
}

/// Names that an adjoint program adds are in use.
#[test]
fn names_of_the_program_stay_free() {
    let folder = Folder::new();
    for name in ["part", "part_bar", "argument", "index", "zero", "dropped", "y_value", "x_bar2"] {
        let text = format!(
            ".inout x: real default 2, {name}: real default 3, v[2]: real default 1\n.out y: real\ncall f(y, x*x)\n\
             .proc f(inout y: real, in by: real)\nlocal t[2]: real\nadd y, sin({name}*{name})*{name} + by + v[1]\n\
             delocal t[2]: real\n.end\n"
        );
        let program = folder.file("program.rasm", text);
        let target = folder.at("gradient.rasm");
        reviver(&format!("grad {program} --of y --emit -o {target} --force")).expect(0);
        let text = String::from_utf8(folder.read("gradient.rasm")).unwrap();
        let suffix = suffix(&text);
        let found = outputs(&reviver(&format!("run {target} --json")).expect(0));
        let expected = reviver(&format!("grad {program} --of y --json")).expect(0).json();
        for input in ["x", name, "v"] {
            assert_eq!(found[format!("{input}{suffix}")], expected["grad"][input], "{name}: {input}");
        }
    }
}

#[test]
fn an_image_has_a_gradient_program() {
    let folder = Folder::new();
    let image = folder.at("norm.rbc");
    reviver(&format!("asm programs/norm.rasm -o {image}")).expect(0);
    let gradient = folder.file("gradient.rasm", emitted(&image, "--of length"));
    let expected = reviver("grad programs/norm.rasm --of length --json").expect(0).json();
    assert_eq!(
        outputs(&reviver(&format!("run {gradient} --json")).expect(0))["v_bar"],
        expected["grad"]["v"]
    );
}

#[test]
fn a_weighted_sum_has_several_seeds() {
    let folder = Folder::new();
    let program = folder
        .file("two.rasm", ".inout x: real default 3\n.out y: real, z[2]: real\nadd y, x*x\nadd z[1], x\n");
    let text = emitted(&program, "--seed y=10,z=1,-2");
    assert!(text.contains("add   y_bar, 10.0") && text.contains("sub   z_bar[1], 2.0"), "{text}");
    let gradient = folder.file("gradient.rasm", &text);
    assert_eq!(outputs(&reviver(&format!("run {gradient} --json")).expect(0))["x_bar"], 58.0);
}

#[test]
fn statements_without_an_adjoint_are_refused_at_their_places() {
    let folder = Folder::new();
    let refused = |name: &str, text: &str, code: &str, line: &str| {
        let program = folder.file(name, text);
        let ran = reviver(&format!("grad {program} --of y --emit")).expect(3);
        assert!(ran.stderr.contains(code) && ran.stderr.contains(&format!("{name}:{line}")), "{ran:?}");
        assert!(ran.stdout.is_empty(), "{ran:?}");
    };
    let head = ".inout x: real default 2\n.out y: real\n";
    refused("erases.rasm", &format!("{head}add y, x\nerase x\n"), "E85", "4");
    refused("tape.rasm", &format!("{head}add y, x\nwrite x\nunwrite x\nadd y, x\n"), "E88", "5");
    refused(
        "via.rasm",
        &format!(
            "{head}.inout c default 1\ncallvia c(y, x)\n.proc p(inout y: real, in x: real)\nadd y, x\n.end\n"
        ),
        "E88",
        "4",
    );
    refused("stack.rasm", &format!("{head}.in data[]: real default {{1, 2}}\nadd y, x\n"), "E88", "3");
    refused("macro.rasm", &format!("{head}.macro m(a)\npush a\npop a\n.endm\nadd y, x\nm x\n"), "E88", "4");
    let stores = "push x\npop x\nadd n, 1\nwrite n\nlocal t = x*x\nadd y, t\ndelocal t = x*x\n";
    refused("stores.rasm", &format!("{head}.ancilla n\n{stores}"), "E88", "1");
    refused("gamma.rasm", &format!("{head}add y, lgamma(x)\n"), "E88", "3");
    let tape = "add y, x
grad.on
write x
unwrite x
grad.off
";
    refused("mode.rasm", &format!("{head}{tape}"), "E88", "5");
}

/// The new program has no inputs yet, so options about the run of the old one would have no effect.
#[test]
fn options_of_a_run_are_refused() {
    let ran = reviver("grad programs/besselj.rasm --of out --emit --set z=1").expect(2);
    assert!(ran.stderr.contains("cannot be used with"), "{ran:?}");
    let ran = reviver("grad programs/besselj.rasm --of out --drop erase").expect(2);
    assert!(ran.stderr.contains("--emit"), "{ran:?}");
}

/// The gradient program of tanh computes the bits of `grad`, also where 1 - tanh² would be 0, and where the derivative
/// underflows.
#[test]
fn gradient_programs_of_tanh_keep_its_digits() {
    let folder = Folder::new();
    let program = folder.file("program.rasm", ".inout x: real default 20\n.out y: real\nadd y, tanh(x)\n");
    let target = folder.file("gradient.rasm", emitted(&program, "--of y"));
    for x in ["20", "-15", "0.3", "300", "-400", "1e300"] {
        let expected = reviver(&format!("grad {program} --of y --json --set x={x}")).expect(0).json();
        let found = outputs(&reviver(&format!("run {target} --json --set x={x}")).expect(0));
        assert_eq!(found["x_bar"], expected["grad"]["x"], "at {x}");
    }
}

/// The statements of a procedure, without comments.
fn procedure(text: &str, name: &str) -> Vec<String> {
    let body = text.split(&format!("\n.proc {name}(")).nth(1).unwrap().split("\n.end").next().unwrap();
    body.lines().map(|line| line.trim().to_owned()).filter(|line| !line.starts_with(';')).collect()
}

/// A training program contains the gradient that `grad --emit` writes, and is differentiated by its rate.
#[test]
fn a_training_program_is_differentiated_by_its_rate() {
    const PROGRAM: &str = "programs/training_rate.rasm";
    let text = std::fs::read_to_string(PROGRAM).unwrap();
    let model = format!(
        ".inout a: real, b: real, x: real, t: real\n.out loss: real\ncall add_error(a, b, x, t, loss)\n         .proc add_error({}\n.end\n",
        procedure(&text, "add_error").join("\n")
    );
    let folder = Folder::new();
    let emitted = emitted(&folder.file("model.rasm", model), "--of loss");
    assert_eq!(procedure(&text, "add_error_bar"), procedure(&emitted, "add_error_bar"));

    let loss = |rate: f64| {
        outputs(&reviver(&format!("run {PROGRAM} --json --set rate={rate}")).expect(0))["loss"]
            .as_f64()
            .unwrap()
    };
    for rate in [0.02, 0.05, 0.1, 0.2, 0.3] {
        let ran = reviver(&format!("grad {PROGRAM} --of loss --wrt rate --json --set rate={rate}"));
        let derivative = ran.expect(0).json()["grad"]["rate"].as_f64().unwrap();
        // Central differences with a step h and its half; their combination has an error of the order h⁴.
        let central = |h: f64| (loss(rate + h) - loss(rate - h)) / (2.0 * h);
        let (coarse, fine) = (central(1e-4), central(5e-5));
        let expected = fine + (fine - coarse) / 3.0;
        assert!((derivative - expected).abs() < 1e-8, "{derivative} at {rate}, by differences {expected}");
    }
}

/// Functions whose derivatives don't exist everywhere: the statements of the derivatives run although an adjoint or a
/// tangent is 0, so second derivatives are right.
#[test]
fn second_derivatives_exist_where_first_adjoints_are_zero() {
    let folder = Folder::new();
    let head = ".inout a: real default 0.25, b: real default 0, c: real default 0.5\n.out y: real\n";
    for function in
        ["sqrt(a)", "cbrt(a)", "asin(a)", "acos(a)", "hypot(a, c)", "atan2(a, c)", "sqrt(a*a + c)"]
    {
        for real in ["", ".real f32\n"] {
            let text = format!("{real}{head}local r = {function}\nadd y, r*b\ndelocal r = {function}\n");
            let program = folder.file("program.rasm", text);
            let hessian = reviver(&format!("hessian {program} --of y --json")).expect(0).json();
            let expected = hessian["hessian"][1][0].as_f64().unwrap();
            assert!(expected.abs() > 0.1, "{function}: {hessian}");
            let gradient = folder.file("gradient.rasm", emitted(&program, "--of y"));
            // b' doesn't depend on an adjoint that is 0; a' does, because its weight is b = 0.
            for (of, by) in [("a_bar", "b"), ("b_bar", "a")] {
                let ran = reviver(&format!("grad {gradient} --of {of} --json")).expect(0).json();
                let found = ran["grad"][by].as_f64().unwrap();
                assert!(
                    (found - expected).abs() < 1e-6,
                    "{function} {real}: {of} by {by} is {found}, not {expected}"
                );
            }
            let tangents = reviver(&format!("jvp {program} --wrt a --emit")).expect(0).stdout;
            let tangents = folder.file("tangents.rasm", tangents.replace("default 1", "default 0"));
            let ran = reviver(&format!("grad {tangents} --of y_dot --json --set b=1")).expect(0).json();
            let slope = ran["grad"]["a_dot"].as_f64().unwrap();
            assert!((slope - expected).abs() < 1e-6, "{function} {real}: {slope}, not {expected}");
        }
    }
    // At the singular point itself, an adjoint that is 0 has no derivative to pass on.
    let text = ".inout a: real, b: real\n.out y: real\nlocal r = sqrt(a)\nadd y, r*b\ndelocal r = sqrt(a)\n";
    let program = folder.file("program.rasm", text);
    let gradient = folder.file("gradient.rasm", emitted(&program, "--of y"));
    assert_eq!(outputs(&reviver(&format!("run {gradient} --json")).expect(0))["a_bar"], 0.0);
}

/// The derivatives by the values of the input tape are results at each level.
#[test]
fn derivatives_by_the_input_tape_are_written_to_the_output_tape() {
    let folder = Folder::new();
    let text = ".out a: real, b: real, y: real\nread a\nread b\nadd y, a*b*b\n";
    let program = folder.file("program.rasm", text);
    for level in ["-O0", "-O1", "-O2"] {
        let gradient = folder.file("gradient.rasm", emitted(&program, &format!("--of y {level}")));
        let ran = reviver(&format!("run {gradient} --tape 2.0,3.0 --json")).expect(0).json();
        assert_eq!(ran["tape"], serde_json::json!([12.0, 9.0]), "{level}: {ran}");
    }
    let mixture = emitted("programs/gmm.rasm", "--of objective -O1");
    assert!(mixture.contains("write"), "{mixture}");
}
