//! `reviver grad`, `jacobian`, `hessian`, `taylor`: numbers, JSON, warnings, errors, exit codes.

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver, with_input};

/// Program for y = eˣ; B = (A[1,0], x·A[0,1]).
const MIXED: &str = "
.inout x: real default 0.5, A[2, 2]: real default {1, 2, 3, 4}
.inout n default 3
.out y: real, B[2]: real
add.exp y, x
add B[0], A[1, 0]
add.mul B[1], A[0, 1], x
add n, 1
";

/// Program for y += x². Its rule is wrong: it has the opposite sign.
const WRONG_RULE: &str = "
.inout x: real default 3
.out y: real
call squared(y, x)
.proc squared(inout y: real, in x: real) rule wrong
add.square y, x
.end
.proc wrong(inout y: real, in x: real)
sub.mul x', y', x
sub.mul x', y', x
.end
";

const ERASES: &str = "
.inout x: real default 3, y: real default 2
.out z: real
add.mul z, x, y
erase y
";

fn on(program: &str, command: &str, options: &str) -> Ran {
    let folder = Folder::new();
    let file = folder.file("program.rasm", program);
    reviver(&format!("{command} {file} {options}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_bessel_function_has_its_derivatives() {
    let ran = reviver("grad programs/besselj.rasm --loss out --set nu=2 --set z=1.0 --verify").expect(0);
    assert!(ran.stdout.starts_with("out = 0.11490348492980"), "{ran:?}");
    assert!(ran.stdout.contains("\nz' = 0.2102436158518"), "{ran:?}");
    assert!(ran.stdout.contains("history: 0 bytes") && ran.stdout.contains("\nverified: tangent 0.21024361"));
    let ran = reviver("hessian programs/besselj.rasm --loss out").expect(0);
    assert!(ran.stdout.contains("by [z]:\n  z [0.13446683853"), "{ran:?}");
}

#[test]
fn a_gradient_in_json_has_the_shapes_of_its_inputs() {
    let object = on(MIXED, "grad", "--loss B[1] --json").expect(0).json();
    let wanted = [
        "value",
        "grad",
        "steps",
        "steps_back",
        "turned",
        "drops",
        "reported",
        "loss_error",
        "mended",
        "memory_bytes",
        "history_bytes",
        "engine",
    ];
    assert_eq!(keys(&object), wanted);
    assert_eq!(object["value"], json!(1.0));
    assert_eq!(object["grad"], json!({ "x": 2.0, "A": [[0.0, 0.5], [0.0, 0.0]] }));
    assert_eq!(
        (&object["steps"], &object["steps_back"], &object["history_bytes"]),
        (&json!(4), &json!(4), &json!(0))
    );
    let object = on(MIXED, "grad", "--loss B[1] --wrt A[0,1],x --json").expect(0).json();
    assert_eq!(object["grad"], json!({ "A[0,1]": 0.5, "x": 2.0 }));
    on(MIXED, "grad", "--loss B[1] --wrt A[0,1]").expect(0).says("").prints(
        "B[1] = 1.0\nA'[0,1] = 0.5\nsteps: 4 forward, 4 backward, drops: 0, history: 0 bytes, memory: 176 bytes\n",
    );
}

#[test]
fn a_check_reports_every_comparison() {
    let object = on(MIXED, "grad", "--loss B[1] --wrt x --verify --json").expect(0).json();
    assert_eq!(object["verify"]["agrees"], json!(true));
    let comparison = &object["verify"]["comparisons"][0];
    assert_eq!((&comparison["input"], &comparison["adjoint"]), (&json!("x"), &json!(2.0)));
    assert!((number(&comparison["difference"]["value"]) - 2.0).abs() < 1e-9);
    assert!(number(&comparison["tangent"]["error"]) > 0.0);
    let ran = on(MIXED, "grad", "--loss B[1] --verify").expect(0);
    assert!(ran.stdout.contains("verified: 6 directions, tangents differ by at most "), "{ran:?}");
}

#[test]
fn a_gradient_that_is_zero_by_cancellation_passes_its_check() {
    let circle = ".inout x: real default 1.3\n.out y: real\ncompute\nlocal s = sin(x)\nlocal c = cos(x)\n\
                  apply\nadd.square y, s\nadd.square y, c\nuncompute\n";
    on(circle, "grad", "--loss y --verify").expect(0);
}

#[test]
fn a_wrong_rule_does_not_pass_the_check() {
    on(WRONG_RULE, "grad", "--loss y").expect(0);
    on(WRONG_RULE, "grad", "--loss y --verify")
        .expect(1)
        .says("error: the gradient of `y` failed the verification")
        .says("for `x`: the gradient says -6.0, dual numbers say 6.0 ± ")
        .says("the gradient says -6.0, differences say 6.0")
        .says("a rule computes the adjoint of `squared`");
    let object = on(WRONG_RULE, "grad", "--loss y --verify --json").expect(1).json();
    assert_eq!(object["verify"]["agrees"], json!(false));
    let right = WRONG_RULE.replace("sub.mul", "add.mul");
    on(&right, "grad", "--loss y --verify").expect(0);
}

/// `--verify` compares with dual numbers and with differences. Either comparison can fail alone.
#[test]
fn one_disagreement_is_enough() {
    // If x isn't exactly 3, the run takes the other branch. So differences compare runs of the other branch, and only
    // the tangent can detect the wrong rule.
    let call = "if x == 3.0\ncall squared(y, x)\nelse\nadd y, x\nadd y, x\nfi x == 3.0\n";
    on(&WRONG_RULE.replace("call squared(y, x)\n", call), "grad", "--loss y --verify")
        .expect(1)
        .says("for `x`: the gradient says -6.0, dual numbers say 6.0 ± ")
        .says("no finite differences");
    // Rounding to many places has derivative 0 almost everywhere, and appears to have derivative 1 at a larger scale.
    let places = ".inout x: real default 1.3\n.out y: real\nlocal t = mul(x, 1e6)\nlocal r = round(t)\n\
                  add.div y, r, 1e6\ndelocal r = round(t)\ndelocal t = mul(x, 1e6)\n";
    let ran = on(places, "grad", "--loss y --verify").expect(1);
    assert!(!ran.stderr.contains("dual numbers say"), "{ran:?}");
    ran.says("for `x`: the gradient says 0.0, differences say 0.99");
}

/// Tangents alone don't verify a gradient, because they follow the same path. So differences are taken on each side of
/// a branch or kink.
#[test]
fn differences_are_taken_on_both_sides_of_a_branch_and_of_a_kink() {
    let head = ".inout x: real\n.out y: real\n";
    let branch = |point: &str, here: &str, beside: &str| {
        format!("{head}if x {point}\n{here}else\n{beside}fi x {point}\n")
    };
    let (once, twice) = ("add y, x\n", "add y, x\nadd y, x\n");
    let kink = "there is a kink: the gradient says";
    for (text, at, says) in [
        (branch(">= 0.0", twice, once), "0", "says 2.0, differences say 1.0 below and 2.0 above"),
        (format!("{head}add y, abs(x)\n"), "0", kink),
        (format!("{head}add y, relu(x - 1.0)\n"), "1", kink),
        (format!("{head}add y, max(x, 2*x)\n"), "0", kink),
        (branch("== 1.0", "add y, 5.0\n", "add y, x*x\n"), "1", "no finite differences: at nearby inputs"),
        (format!("{head}assert x == 1.0\nadd y, x*x\n"), "1", "no finite differences: at nearby inputs"),
    ] {
        let options = format!("--loss y --set x={at} --verify");
        on(&text, "grad", &options).expect(1).says("error: the gradient of `y` is not verified").says(says);
        let object = on(&text, "grad", &format!("{options} --json")).expect(1).json();
        assert_eq!(object["verify"]["agrees"], Value::Null, "{object}");
        let why = if says.starts_with("no ") { "no-difference" } else { "kink" };
        assert_eq!(object["verify"]["why"], json!(why), "{object}");
    }
    for (text, at) in [
        (branch("== 1.0", "add y, 1.0\n", "add y, x*x\n"), "1"),
        (branch("== 0.0", "add y, 0.0\n", "add y, sin(x)\n"), "0"),
        (format!("{head}add y, max(x, 0.0) + min(x, 0.0)\n"), "0"),
        (format!("{head}add y, relu(x) - relu(0.0 - x)\n"), "0"),
        (format!("{head}add y, abs(x) + 3*x - abs(x)\nsub y, max(x, 0.0) + min(x, 0.0)\n"), "0"),
    ] {
        let options = format!("--loss y --set x={at} --verify");
        on(&text, "grad", &options).expect(1).says("failed the verification").says("differences say ");
        let object = on(&text, "grad", &format!("{options} --json")).expect(1).json();
        assert_eq!((&object["verify"]["agrees"], &object["verify"]["why"]), (&json!(false), &Value::Null));
    }
    // These gradients are verified: at a branch without effect, at a branch whose pieces join smoothly, at two points
    // beside a kink, and at a point where only runs on one side trap.
    for (text, at) in [
        (branch("== 1.0", once, once), "1"),
        (branch(">= 1.0", "add y, x*x\n", "add y, 2*x\nsub y, 1.0\n"), "1"),
        (format!("{head}add y, abs(x)\n"), "0.001"),
        (format!("{head}add y, relu(x - 1.0)\n"), "1.00001"),
        (format!("{head}assert x >= 0.0\nadd y, x*x\n"), "0"),
    ] {
        on(&text, "grad", &format!("--loss y --set x={at} --verify")).expect(0);
    }
}

#[test]
fn jacobians_and_hessians_are_verified() {
    let smooth = ".inout x: real default 0.7, z: real default 1.2\n.out y: real, w: real\n\
                  add y, sin(x)*z\nadd w, exp(z)*x + x*x*x\n";
    for command in ["jacobian", "hessian --loss y", "hessian --loss w", "hessian --loss w --times x=1,z=0.5"]
    {
        let (command, options) = command.split_once(' ').unwrap_or((command, ""));
        let ran = on(smooth, command, &format!("{options} --verify")).expect(0);
        assert!(ran.stdout.contains("\nverified: "), "{ran:?}");
        let object = on(smooth, command, &format!("{options} --verify --json")).expect(0).json();
        assert_eq!(object["verify"]["agrees"], json!(true), "{object}");
        assert!(object["verify"]["comparisons"][0]["output"].is_string(), "{object}");
    }
    let wrong = WRONG_RULE;
    on(wrong, "jacobian", "--of y --verify").expect(1).says("the Jacobian failed the verification");
    on(wrong, "hessian", "--loss y --verify").expect(1);
    let kink = ".inout x: real\n.out y: real, z: real\nadd y, abs(x)\nadd z, x*abs(x)\n";
    on(kink, "jacobian", "--verify")
        .expect(1)
        .says("the Jacobian is not verified")
        .says("`y` for `x`: there is a kink");
    on(kink, "hessian", "--loss y --verify").expect(1).says("the Hessian of `y` is not verified");
    on(kink, "hessian", "--loss z --verify").expect(1);
}

#[test]
fn losses_are_reported_with_their_places() {
    let place = "program.rasm:5, in `main`\n   | erase y\n   = once; for each unit of the value after the erasure, the loss changes by up to 1e0";
    let lossy = "--loss y --exact";
    on(ERASES, "grad", lossy).expect(0).says("warning[L01]: an active cell was erased").says(place);
    on(ERASES, "grad", &format!("{lossy} --strict"))
        .expect(1)
        .says("may be wrong: values that affect the derivatives were lost at 1 place");
    let twice = ".inout x: real, y: real\n.out z: real\nerase x\nerase y\nadd z, x + y\n";
    on(twice, "grad", "--loss z --exact --strict").expect(1).says("were lost at 2 places");
    let object = on(ERASES, "grad", &format!("{lossy} --strict --json")).expect(1).json();
    assert_eq!(object["error"]["kind"], json!("check"));
    for command in ["jacobian --of y --exact --strict", "hessian --loss y --exact --strict"] {
        let (command, options) = command.split_once(' ').unwrap();
        on(ERASES, command, options).expect(1).says("may be wrong");
    }
    let object = on(ERASES, "grad", &format!("{lossy} --json")).expect(0).json();
    let reported = json!([
        { "code": "L01", "kind": "erased", "instruction": "erase y", "line": 5, "count": 1, "largest": 1.0 }
    ]);
    assert_eq!(object["reported"], reported);
    assert!(number(&object["history_bytes"]) > 0.0);
    on(ERASES, "grad", "--loss z --exact --strict --verify").expect(0);
    on(ERASES, "jacobian", "--of y --exact").expect(0).says("warning[L01]: an active cell was erased");
    on(ERASES, "hessian", "--loss y --exact").expect(0).says("program.rasm:5, in `main`");
}

#[test]
fn a_loss_in_an_included_file_has_its_place_there() {
    let folder = Folder::new();
    let library = folder.file("library.rasm", ".proc lose(inout x: real)\n\n\n    erase x\n.end\n");
    let text = ".include \"library.rasm\"\n.inout x: real default 3\n.out y: real\nadd y, x\ncall lose(x)\n";
    let program = folder.file("program.rasm", text);
    let place = format!("--> {library}:4, in `lose`");
    let ran = reviver(&format!("grad {program} --loss x --exact --json")).expect(0);
    let reported = &ran.json()["reported"][0];
    assert_eq!((&reported["file"], &reported["line"]), (&json!("library.rasm"), &json!(4)));
    ran.says(&place);
}

#[test]
fn a_loss_independent_of_the_inputs_is_a_warning_and_zeros() {
    let ran = on(MIXED, "grad", "--loss y --wrt A --strict --json").expect(0);
    assert_eq!(ran.json()["grad"], json!({ "A": [[0.0, 0.0], [0.0, 0.0]] }));
    ran.says("warning: every adjoint is 0: `y` doesn't depend on the inputs");
}

/// tanh' is far below the last digit of tanh, so 1 - tanh² would be 0 at 20. The expected values were computed with
/// mpmath.
#[test]
fn the_derivatives_of_tanh_keep_their_digits() {
    let text = ".inout x: real default 20\n.out y: real\nadd y, tanh(x)\n";
    let close = |found: &Value, expected: f64| {
        let off = (number(found) - expected).abs();
        assert!(off <= 2e-15 * expected.abs(), "{found}, not {expected}");
    };
    let values = [
        ("5", 1.815832309438067e-4, -3.631334879209056e-4),
        ("10", 8.244614455767397e-9, -1.6489228843561127e-8),
        ("-15", 3.743049187535369e-13, 7.486098375069338e-13),
        ("20", 1.6993417021166355e-17, -3.398683404233271e-17),
        ("300", 1.0601586212017243e-260, -2.1203172424034486e-260),
    ];
    for engine in ["interp", "jit"] {
        for (x, first, second) in values {
            let options = format!("--json --engine {engine} --set x={x}");
            let ran = on(text, "grad", &format!("--loss y {options}")).expect(0);
            assert!(!ran.stderr.contains("every adjoint is 0"), "{ran:?}");
            close(&ran.json()["grad"]["x"], first);
            let ran = on(text, "hessian", &format!("--loss y {options}")).expect(0);
            close(&ran.json()["hessian"][0][0], second);
            let ran = on(text, "taylor", &format!("--along x --of y --order 2 {options}")).expect(0);
            close(&ran.json()["taylor"]["y"][2], second / 2.0);
        }
        let ran = on(text, "grad", &format!("--loss y --json --engine {engine} --set x=400")).expect(0);
        assert_eq!(ran.json()["grad"]["x"], json!(0.0));
    }
}

#[test]
fn traps_are_explained_in_both_directions() {
    on(MIXED, "grad", "--loss y --set x=1e4").expect(4).says("trap[T05]: the result is not a finite number");
    let ran = on(ERASES, "grad", "--loss z").expect(0);
    assert!(ran.stdout.contains("strategy: reverse: "), "what erases gets a strategy: {ran:?}");
    on(MIXED, "grad", "--loss y --max-steps 2").expect(5).says("stopped after 2 steps, before the end");
}

/// Functions without a derivative at a point are reported by their name, with source, value and line. The help doesn't
/// advise a history, because a history wouldn't help.
#[test]
fn functions_without_a_derivative_are_named() {
    let cases = [
        ("sqrt", "0", "`sqrt(x)` has no finite derivative by `x` where `x` is 0.0"),
        ("log", "1e-320", "`log(x)` has no finite derivative by `x` where `x` is 1e-320"),
        ("asin", "1", "`asin(x)` has no finite derivative by `x` where `x` is 1.0"),
    ];
    for (function, x, message) in cases {
        let text = format!(".inout x: real default {x}\n.out y: real\nadd.{function} y, x\n");
        for command in ["grad --loss y", "jacobian", "hessian --loss y", "taylor --along x --order 2"] {
            let (command, options) = command.split_once(' ').unwrap_or((command, ""));
            let ran = on(&text, command, options).expect(4).says(message).says("program.rasm:3");
            let ran = ran.says("= help: choose inputs at which the function has a derivative");
            assert!(!ran.stderr.contains("--exact"), "{ran:?}");
        }
    }
    let power = ".inout x: real default -2, n: real default 3\n.out y: real\nadd.pow y, x, n\n";
    let message = "`x^n` has no finite derivative by `n` where `n` is 3.0";
    on(power, "grad", "--loss y").expect(4).says(message).says("x is -2.0");
    let fixed = ".inout x: real default 0\n.out y: real\nadd.sqrt y, x\n";
    let message = "`sqrt(x)` has no finite derivative by `x` where `x` is 0.0";
    on(fixed, "grad", "--loss y --real fixed").expect(4).says(message);
    let large = ".inout x: real default 1e300\n.out y: real\nadd.square y, x\n";
    on(large, "grad", "--loss y").expect(4).says("the result is not a finite number");
    let chain = ".inout x: real default 1e-300\n.out y: real\n.ancilla t: real\ncompute\nadd.mul t, x, 1e300\n\
                 apply\nadd.mul y, t, 1e300\nuncompute\n";
    on(chain, "grad", "--loss y").expect(4).says("a derivative is too large");
}

#[test]
fn programs_without_derivative_are_refused() {
    let cases = [
        ("grad", "--loss n", "--of: `n` is an integer, but reals were requested"),
        ("grad", "--loss y --wrt n", "--wrt: `n` is an integer"),
        ("grad", "--loss B", "name one of them, such as `B[0]`"),
        ("grad", "--loss B[2]", "it is declared as `B[2]`, and indices start at 0"),
        ("grad", "--loss BB", "did you mean `B`?"),
        ("grad", "--loss loss", "choose one of `x`, `A`, `y`, `B`"),
        ("grad", "--loss y --wrt A[1,0],A", "`A[1,0]` is named twice"),
        ("grad", "", "--of <NAME>"),
        ("jacobian", "--of y,y", "`y` is named twice"),
        ("jacobian", "--of z", "no cell `z`"),
        ("hessian", "--loss y --times x=1,x=2", "`x` is named twice"),
        ("hessian", "--loss y --times A=1", "`A` has 4 cells, and the number of values is 1"),
        ("hessian", "--loss y --times x", "NAME=VALUE"),
        ("hessian", "--loss y --times x=one", "`one` is not a number"),
        ("hessian", "--loss y --wrt A --times x=1", "`x` isn't an input of this derivative"),
        ("taylor", "--along x --order 0", "0 is not in 1..=16"),
        ("taylor", "--along x --order 17", "17 is not in 1..=16"),
        ("taylor", "--along A --order 2", "--along: `A` has 4 cells"),
        ("taylor", "--along n --order 2", "`n` is an integer, but reals were requested"),
    ];
    for (command, options, reason) in cases {
        on(MIXED, command, options).expect(2).says(reason).prints("");
    }
    let reads = ".inout x: real\n.out y: real, n\nadd n, mode\nadd y, x\n";
    for command in ["grad --loss y", "jacobian", "hessian --loss y", "taylor --along x --order 1"] {
        let (command, options) = command.split_once(' ').unwrap_or((command, ""));
        on(reads, command, options).expect(2).says("reads `mode`");
    }
    reviver("grad programs/fib.rasm --loss a").expect(2).says("`a` is an integer");
    let constant = ".out y: real\nadd y, 1.0\n";
    on(constant, "grad", "--loss y").expect(2).says("the program has no real inputs");
    on(".in n\n.inout x: real\nadd x, 1.0\n", "jacobian", "--wrt x --of n").expect(2);
}

#[test]
fn jacobians_use_the_cheaper_sweep() {
    let object = on(MIXED, "jacobian", "--of y,B --json").expect(0).json();
    assert_eq!(
        keys(&object),
        ["values", "jacobian", "rows", "columns", "sweep", "reported", "loss_error", "mended", "engine"]
    );
    assert_eq!(object["rows"], json!(["y", "B[0]", "B[1]"]));
    assert_eq!(object["columns"], json!(["x", "A[0,0]", "A[0,1]", "A[1,0]", "A[1,1]"]));
    assert_eq!(object["jacobian"][2], json!([2.0, 0.0, 0.5, 0.0, 0.0]));
    assert_eq!((&object["values"][1], &object["sweep"]), (&json!(3.0), &json!("reverse")));
    let object = on(MIXED, "jacobian", "--of B --wrt A[0,1] --json").expect(0).json();
    assert_eq!((&object["jacobian"], &object["sweep"]), (&json!([[0.0], [0.5]]), &json!("forward")));
    on(MIXED, "jacobian", "--of B --wrt x")
        .expect(0)
        .prints("B[0] = 3.0\nB[1] = 1.0\nby [x]:\n  B[0] [0.0]\n  B[1] [2.0]\n");
}

#[test]
fn hessians_are_whole_or_applied() {
    let object = on(MIXED, "hessian", "--loss B[1] --wrt A[0,1],x --json").expect(0).json();
    assert_eq!(
        keys(&object),
        ["value", "grad", "reported", "loss_error", "mended", "hessian", "rows", "columns", "engine"]
    );
    assert_eq!(object["hessian"], json!([[0.0, 1.0], [1.0, 0.0]]));
    assert_eq!(object["rows"], json!(["A[0,1]", "x"]));
    let object = on(MIXED, "hessian", "--loss B[1] --times A[0,1]=2,x=-1 --json").expect(0).json();
    assert_eq!(keys(&object), ["value", "grad", "reported", "loss_error", "mended", "product", "engine"]);
    assert_eq!(object["product"], json!({ "x": 2.0, "A": [[0.0, -1.0], [0.0, 0.0]] }));
    let ran = on(MIXED, "hessian", "--loss B[1] --times x=1 --wrt x").expect(0);
    assert_eq!(ran.stdout, "B[1] = 1.0\nx' = 2.0\nproduct x = 0.0\n");
}

#[test]
fn the_exponential_has_its_taylor_series() {
    let ran = on(MIXED, "taylor", "--along x --of y,B --order 5 --json").expect(0).json();
    assert_eq!(
        (&ran["along"], &ran["taylor"]["B"][1]),
        (&json!("x"), &json!([1.0, 2.0, 0.0, 0.0, 0.0, 0.0]))
    );
    let mut wanted = 0.5f64.exp();
    for (k, coefficient) in ran["taylor"]["y"].as_array().unwrap().iter().enumerate() {
        wanted /= k.max(1) as f64;
        assert!((number(coefficient) - wanted).abs() < 1e-15, "{ran:?}");
    }
    let ran = on(MIXED, "taylor", "--along A[0,1] --of B[1] --order 1").expect(0);
    assert_eq!(ran.stdout, "coefficients of t⁰, t¹, … with A[0,1] + t:\nB[1] = [1.0, 0.5]\n");
}

/// A conversion discards every coefficient of a series.
#[test]
fn a_series_reports_discarded_coefficients() {
    let text = ".inout x: real default 1.5\n.out n\n.out y: real\nadd.toint n, x\nadd.square y, x\n";
    let ran = on(text, "taylor", "--along x --order 2").expect(0);
    assert!(ran.stdout.ends_with("y = [2.25, 3.0, 1.0]\n"), "{ran:?}");
    ran.says("warning[L04]: a real was converted to an integer although its tangent is not 0")
        .says("program.rasm:4")
        .says("its tangent along the inputs' direction is up to");
    let object = on(text, "taylor", "--along x --order 2 --json").expect(0).json();
    assert_eq!(keys(&object), ["along", "taylor", "sweep", "reported", "engine"]);
    assert_eq!(object["reported"][0]["kind"], json!("converted-with-tangent"));
    assert_eq!(on(MIXED, "taylor", "--along x --order 1 --json").expect(0).json()["reported"], json!([]));
}

/// Both branches have equally many steps, so only jumps show that the probe takes another path than the run.
#[test]
fn a_jump_next_to_the_input_is_no_derivative() {
    let text = ".inout x: real default 1\n.out y: real\nif x == 1.0\nadd.mul y, x, 5.0\nelse\n\
                add.mul y, x, 2.0\nfi x == 1.0\n";
    let object = on(text, "grad", "--loss y --verify --json").expect(1).json();
    let comparison = &object["verify"]["comparisons"][0];
    assert_eq!((&comparison["adjoint"], &comparison["tangent"]["value"]), (&json!(5.0), &json!(5.0)));
    for found in ["difference", "below", "above"] {
        assert_eq!(comparison[found], json!(null), "{object}");
    }
    assert_eq!(object["verify"]["agrees"], json!(null));
}

#[test]
fn numbers_on_a_tape_have_adjoints() {
    let square = ".out y: real\n.ancilla t: real, n\nread n\nread t\nadd.square y, t\nwrite t\nwrite n\n";
    let folder = Folder::new();
    let (file, tape) = (folder.file("square.rasm", square), folder.file("tape.txt", "3\n\t-1.5  \n"));
    let object = reviver(&format!("grad {file} --loss y --tape {tape} --json")).expect(0).json();
    assert_eq!((&object["value"], &object["tape"]), (&json!(2.25), &json!([null, -3.0])));
    assert_eq!(keys(&object)[..3], ["value", "grad", "tape"]);
    let ran = with_input(&format!("grad {file} --loss y --tape - --verify"), b"3 -1.5").expect(0);
    assert!(ran.stdout.contains("tape' = [·, -3.0]\n"), "{ran:?}");
    assert!(ran.stdout.contains("verified: tangent -3.0"), "{ran:?}");
    let object = reviver(&format!("grad {file} --loss y --tape 3,-1.5 --verify --json")).expect(0).json();
    assert_eq!(object["verify"]["comparisons"][0]["input"], json!("tape[1]"));
}

#[test]
fn gradients_in_f32_and_fixed_point() {
    for (system, digits) in [("fixed", 1e-11), ("f32", 1e-5)] {
        let options = format!("--loss y --wrt x --verify --json --real {system}");
        let object = on(MIXED, "grad", &options).expect(0).json();
        assert!((number(&object["grad"]["x"]) - 0.5f64.exp()).abs() < digits, "{object}");
    }
}

/// A final `uncompute` is neither run nor reversed. The gradient is the same as that of the whole run.
#[test]
fn the_turning_point_follows_the_last_change_of_the_loss() {
    let grad = |more: &str| {
        reviver(&format!("grad programs/besselj.rasm --loss out --set z=1.5 --json{more}")).expect(0).json()
    };
    let (early, late) = (grad(""), grad(" --whole"));
    let steps = |object: &serde_json::Value| object["steps"].as_u64().unwrap();
    assert!(steps(&early) * 3 < steps(&late) * 2, "{early} {late}");
    assert_eq!((&early["value"], &late["turned"]), (&late["value"], &json!(null)));
    let slope = |object: &serde_json::Value| object["grad"]["z"].as_f64().unwrap();
    assert!((slope(&early) - slope(&late)).abs() < 1e-14, "{early} {late}");
    let text = reviver("grad programs/besselj.rasm --loss out").expect(0).stdout;
    assert!(text.contains("\nturning point: before the `uncompute` of line 83"), "{text}");
}

/// Every change of the loss after an `uncompute` belongs to the gradient.
#[test]
fn the_turning_point_follows_every_change_of_the_loss() {
    let head = ".inout x: real default 3\n.inout n default 1\n.out y: real\n.var t: real\n";
    let body = "compute\nadd.square t, x\napply\nadd y, t\nuncompute\n";
    let double = ".proc double(inout a: real, in b: real)\nadd a, b\n.end\n";
    let through = ".proc through(in b: real)\nadd y, b\n.end\n";
    for (behind, slope) in [
        ("add y, x\n", 7.0),
        ("neg y\n", -6.0),
        ("call double(y, x)\n", 7.0),
        ("call through(x)\n", 7.0),
        ("swap y, t\nadd t, x\nswap y, t\n", 7.0),
        ("for i in 0..2\nadd y, x\nrof\n", 8.0),
        ("if n > 0\nadd y, x\nfi n > 0\n", 7.0),
        ("", 6.0),
    ] {
        let text = format!("{head}{double}{through}{body}{behind}");
        let object = on(&text, "grad", "--loss y --verify --json").expect(0).json();
        assert_eq!(object["grad"]["x"], json!(slope), "{behind}: {object}");
        assert_eq!(object["turned"].is_null(), !behind.is_empty(), "{behind}: {object}");
    }
}

/// A conversion that is computed and uncomputed is reported once.
#[test]
fn a_statement_is_reported_once() {
    let text = ".inout x: real default 2.5\n.out y: real, n\nadd n, toint(x) * 3\nadd y, x * x\n";
    for (command, options, codes) in [
        ("taylor", "--along x --order 2", &["L04"][..]),
        ("grad", "--loss y", &["L02"]),
        ("hessian", "--loss y", &["L02", "L04"]),
    ] {
        let object = on(text, command, &format!("{options} --json")).expect(0).json();
        let reported = object["reported"].as_array().unwrap();
        let told: Vec<&str> = reported.iter().filter_map(|loss| loss["code"].as_str()).collect();
        assert_eq!(told, codes, "{command}");
        assert!(reported.iter().all(|loss| loss["count"] == 1), "{command}: {reported:?}");
    }
}

/// Every command reports as many conversions as the forward sweep executes.
#[test]
fn conversions_are_counted_in_the_primal_sweep() {
    let text =
        ".inout x: real default 1.5\n.out n, y: real\nfor i in 0..5\nadd.toint n, x\nrof\nadd.square y, x\n";
    let both = [
        ("taylor", "--along x --order 2"),
        ("jacobian", "--of y --wrt x"),
        ("hessian", "--loss y"),
        ("grad", "--loss y --verify"),
    ];
    for (command, options) in both {
        let object = on(text, command, &format!("{options} --json")).expect(0).json();
        let reported = object["reported"].as_array().unwrap();
        let told = reported.iter().filter(|loss| loss["code"] == "L04").map(|loss| &loss["count"]);
        assert!(told.clone().all(|count| *count == json!(5)), "{command}: {reported:?}");
        assert!(command == "jacobian" || told.count() == 1, "{command}: {reported:?}");
    }
}

/// A freed cell that depends on the inputs is reported if derivatives of the requested order can depend on it.
#[test]
fn freed_cells_count_up_to_the_requested_order() {
    let freed = |value: &str| {
        format!(
            ".inout x: real default 0, z: real default 0\n.out y: real\n.var t: real\nadd t, {value}\nvacate t\nadd y, x + z\n"
        )
    };
    for (value, first) in [("x", 1), ("x*x", 2), ("x*z", 3), ("x*x*x", 3)] {
        for order in 1..4 {
            let ran = on(&freed(value), "taylor", &format!("--along x --order {order}")).expect(0);
            let is_told = ran.stderr.contains("warning[L03]");
            assert_eq!(is_told, order >= first && value != "x*z", "{value}, {order}: {ran:?}");
        }
    }
    for command in ["hessian", "hessian --times x=1"] {
        for (value, is_told) in
            [("x", true), ("x*x", true), ("x*z", true), ("x*x*x", false), ("x - x", false)]
        {
            let (command, times) = command.split_once(' ').unwrap_or((command, ""));
            let ran = on(&freed(value), command, &format!("--loss y {times}")).expect(0);
            assert_eq!(ran.stderr.matches("warning[L03]").count(), usize::from(is_told), "{value}: {ran:?}");
        }
    }
    // Conversions to integers are also reported only at an order at which they matter.
    let converted = ".inout x: real default 0\n.out y: real, n\nadd n, toint(x*x)\nadd y, x\n";
    assert!(!on(converted, "taylor", "--along x --order 1").expect(0).stderr.contains("L04"));
    on(converted, "taylor", "--along x --order 2").expect(0).says("warning[L04]");
    on(converted, "hessian", "--loss y").expect(0).says("warning[L04]");
}
