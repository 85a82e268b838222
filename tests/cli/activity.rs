//! Activity analysis: derivatives are computed only with respect to the requested inputs. Also tests the reports of
//! infinite derivatives times 0 and of kinks at second order, and that only reverse sweeps apply rules.

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver};

/// Program with f = 4x, built from a function without a derivative at 0.
const CUBE_OF_ROOT: &str = "
.inout x: real default 0, c: real default 0
.out f: real, g: real, h: real
        add     g, x
        add     h, 2*x
        compute
            local r = cbrt(x)
        apply
            add     f, 3*x + r*r*r
        uncompute
";

fn on(program: &str, command: &str, options: &str) -> Ran {
    let folder = Folder::new();
    let file = folder.file("program.rasm", program);
    reviver(&format!("{command} {file} {options}"))
}

fn codes(object: &Value) -> Vec<&str> {
    object["reported"].as_array().unwrap().iter().filter_map(|loss| loss["code"].as_str()).collect()
}

/// Runs on both engines explicitly, because `auto` would interpret such short runs.
fn gradient(program: &str, options: &str) -> Value {
    let [interpreted, compiled] = ["interp", "jit"]
        .map(|engine| on(program, "grad", &format!("{options} --json --engine {engine}")).expect(0).json());
    for key in ["value", "grad", "reported"] {
        assert_eq!(interpreted[key], compiled[key], "{program}");
    }
    interpreted
}

/// An expression gets no adjoint if it doesn't depend on the requested inputs, but only on other inputs, integers,
/// constants or other data.
#[test]
fn unvaried_cells_receive_no_adjoint() {
    let head = ".inout x: real default 3, c: real default 0, tiny: real default 1e-200\n.inout n default 0\n.out y: real\n";
    let root = ".proc root(inout to: real, in of: real)\nadd to, sqrt(of)\n.end\n";
    let through =
        ".proc through(inout to: real, in of: real)\nlocal t = of\nadd to, sqrt(t)\ndelocal t = of\n.end\n";
    let varied = "add y, x*x\n";
    for (body, slope) in [
        ("add y, sqrt(c)\n", 6.0),
        ("add y, x*cbrt(c)\n", 6.0),
        ("add y, asin(c + 1) + hypot(c, c) + atan2(c, c)\n", 6.0),
        ("add y, sqrt(toreal(n))\n", 6.0),
        ("for i in 0..3\nadd y, x*sqrt(toreal(i))\nrof\n", 6.0 + 1.0 + 2f64.sqrt()),
        ("local t = c\nadd y, sqrt(t)\ndelocal t = c\n", 6.0),
        ("call root(y, c)\n", 6.0),
        ("call through(y, c)\n", 6.0),
        ("call root(y, 0.0)\n", 6.0),
        ("push c\npop c\nadd y, sqrt(c)\n", 6.0),
        ("add y, (x*tiny)/tiny\n", 7.0),
    ] {
        let text = format!("{head}{root}{through}{varied}{body}");
        let object = gradient(&text, "--loss y --wrt x");
        let found = object["grad"]["x"].as_f64().unwrap();
        assert!((found - slope).abs() < 1e-12, "{body}: {object}");
        assert_eq!(object["reported"], json!([]), "{body}");
        let rows = on(&text, "jacobian", "--of y --wrt x --json").expect(0).json();
        assert_eq!(rows["jacobian"], json!([[found]]), "{body}");
    }
    // The derivative with respect to c doesn't exist at this point.
    let text = format!("{head}{varied}add y, sqrt(c)\n");
    on(&text, "grad", "--loss y").expect(4).says("T07");
    on(&text, "grad", "--loss y --wrt x,c").expect(4).says("T07");
}

/// At base 0, the derivative of a power with respect to the base may exist although the derivative with respect to the
/// exponent doesn't.
#[test]
fn a_power_is_differentiated_by_its_base_alone() {
    let power = ".inout a: real default 0\n.inout b: real default 2\n.out y: real\nadd y, pow(a, b)\n";
    for (b, first, second) in [("2", 0.0, 2.0), ("1", 1.0, 0.0), ("0", 0.0, 0.0), ("3", 0.0, 0.0)] {
        let object = gradient(power, &format!("--loss y --wrt a --set b={b}"));
        assert_eq!(object["grad"]["a"], json!(first), "{b}");
        let object = on(power, "hessian", &format!("--loss y --wrt a --set b={b} --json")).expect(0).json();
        assert_eq!(object["hessian"], json!([[second]]), "{b}");
    }
    on(power, "grad", "--loss y --wrt a --set b=0.5").expect(4).says("T07");
    on(power, "grad", "--loss y").expect(4).says("T07");
}

/// The derivative with respect to a tiny denominator is infinite. It isn't evaluated if the denominator is data.
#[test]
fn derivatives_with_respect_to_data_are_not_evaluated() {
    let text = ".inout x: real default 3, c: real default 1e-200\n.out y: real\nadd y, x / c\n";
    assert_eq!(gradient(text, "--loss y --wrt x")["grad"]["x"], json!(1e200));
}

#[test]
fn an_infinite_derivative_that_meets_0_is_reported() {
    let object = gradient(CUBE_OF_ROOT, "--loss f");
    assert_eq!((&object["grad"]["x"], codes(&object)), (&json!(3.0), vec!["L05"]));
    assert_eq!(object["reported"][0]["line"], json!(7), "{object}");
    on(CUBE_OF_ROOT, "grad", "--loss f").expect(0).says("warning[L05]").says("program.rasm:7");
    on(CUBE_OF_ROOT, "grad", "--loss f --strict")
        .expect(1)
        .says("values that affect the derivatives were lost");
    on(CUBE_OF_ROOT, "grad", "--loss f --strict --engine jit").expect(1);
    on(CUBE_OF_ROOT, "grad", "--loss f --unchecked --engine jit").expect(0).says("warning[L05]");
    on(CUBE_OF_ROOT, "grad", "--loss f --exact --strict").expect(1).says("L05");
    on(CUBE_OF_ROOT, "grad", "--loss f --strategy checkpoint --strict").expect(1).says("L05");
    // Nothing is lost at another point, for other results, or with respect to other inputs.
    for options in ["--loss f --set x=1", "--loss g", "--loss h", "--loss f --wrt c"] {
        assert_eq!(codes(&gradient(CUBE_OF_ROOT, options)), [""; 0], "{options}");
    }
    for real in ["fixed", "f32"] {
        assert_eq!(codes(&gradient(CUBE_OF_ROOT, &format!("--loss f --real {real}"))), ["L05"], "{real}");
    }
}

/// Infinite derivatives times 0 are also reported for other functions, for intermediate values, in procedures and
/// loops, and in the reverse sweep of an `overwrite`.
#[test]
fn infinite_derivatives_that_meet_0_are_reported_everywhere() {
    let head = ".inout x: real default 0, k: real default 0\n.out y: real\n";
    let root = ".proc root(inout to: real, in of: real)\nadd to, sqrt(of)\n.end\n";
    for (body, options) in [
        ("add y, x + sqrt(x)*k\n", ""),
        ("add y, x + pow(x, 0.5)*pow(x, 1.5)\n", ""),
        ("add y, x + asin(x + 1)*k\n", ""),
        ("add y, x + acos(x - 1)*k\n", ""),
        ("add y, x + hypot(x, k)*k\n", ""),
        ("add y, x + atan2(x, k)*k\n", ""),
        ("local t = 0.0\ncall root(t, x)\nadd y, x + t*k\nuncall root(t, x)\ndelocal t = 0.0\n", ""),
        ("for i in 0..3\nadd y, x + sqrt(x)*k\nrof\n", ""),
        (".var t: real\noverwrite t, sqrt(x)\nadd y, x + t*k\nerase t\n", " --exact"),
    ] {
        let object = on(&format!("{head}{root}{body}"), "grad", &format!("--loss y --json{options}"));
        let object = object.expect(0).json();
        assert!(codes(&object).contains(&"L05"), "{body}: {object}");
    }
}

/// The derivatives of a result don't depend on which other results are requested, in either mode of the Jacobian.
#[test]
fn a_row_does_not_depend_on_other_rows() {
    for of in ["f", "f,g", "f,g,h"] {
        let object = on(CUBE_OF_ROOT, "jacobian", &format!("--of {of} --wrt x --json")).expect(0).json();
        assert_eq!(object["jacobian"][0], json!([3.0]), "{of}: {object}");
        assert_eq!(codes(&object), ["L05"], "{of}");
        on(CUBE_OF_ROOT, "jacobian", &format!("--of {of} --wrt x --strict")).expect(1);
    }
    let object = on(CUBE_OF_ROOT, "jacobian", "--of g,h --wrt x --json").expect(0).json();
    assert_eq!((&object["jacobian"], codes(&object)), (&json!([[1.0], [2.0]]), Vec::<&str>::new()));
    // The adjoint of `sqrt(x*x)` is 1, so the root's missing derivative causes a trap. With tangents, the tangent of
    // `x*x` is 0, and 0 times the missing derivative would cause no trap.
    let root = ".inout x: real default 0\n.out f: real, g: real\nadd f, sqrt(x*x)\nadd g, x\n";
    for of in ["f", "f,g"] {
        on(root, "jacobian", &format!("--of {of}")).expect(4).says("T07");
    }
}

#[test]
fn second_derivatives_report_kinks_and_zeros() {
    let kinks = [
        "abs(0 - x*x)",
        "abs(x)*x",
        "max(x, 0.0) + min(x, 0.0)",
        "relu(x) - relu(0.0 - x)",
        "max(x*x, x) + z",
        "min(x, 2*x)",
    ];
    let text =
        |value: &str| format!(".inout x: real default 0, z: real default 0\n.out y: real\nadd y, {value}\n");
    for value in kinks {
        let object = on(&text(value), "hessian", "--loss y --json").expect(0).json();
        let codes = codes(&object);
        assert!(!codes.is_empty() && codes.iter().all(|code| *code == "L06"), "{value}: {object}");
        on(&text(value), "hessian", "--loss y --strict").expect(1);
        on(&text(value), "hessian", "--loss y --times x=1").expect(0).says("warning[L06]");
        on(&text(value), "taylor", "--along x --order 2").expect(0).says("warning[L06]");
        for beside in ["0.5", "-0.5"] {
            let ran = on(&text(value), "hessian", &format!("--loss y --set x={beside}")).expect(0);
            assert!(!ran.stderr.contains("L06"), "{value} at {beside}: {ran:?}");
        }
        // At a tie, the rule for ties defines the first derivative, so no report is needed.
        let object = on(&text(value), "grad", "--loss y --json").expect(0).json();
        assert_eq!(object["reported"], json!([]), "{value}");
    }
    for smooth in ["x*x", "max(x*x, x*x)", "abs(x + 1)", "abs(x*x*x)*1.0"] {
        let ran = on(&text(smooth), "hessian", "--loss y").expect(0);
        assert!(!ran.stderr.contains("L06"), "{smooth}: {ran:?}");
    }
    let flat = ".inout x: real default 0, z: real default 0, k: real default 0\n.out y: real\nadd y, x*x + sqrt(z*z*z*z)*k\n";
    on(flat, "hessian", "--loss y --wrt x,z").expect(0).says("warning[L05]");
    on(flat, "hessian", "--loss y --wrt x,z --strict").expect(1);
    on(flat, "hessian", "--loss y --wrt x,z --set k=1").expect(4).says("T07");
    let ran = on(flat, "hessian", "--loss y --wrt x").expect(0);
    assert_eq!(ran.stderr, "", "{ran:?}");
    // The series is truncated before this power of z.
    let power = ["z"; 20].join("*");
    let flat = text(&format!("x + sqrt({power})"));
    on(&flat, "taylor", "--along z --order 2").expect(0).says("warning[L05]");
    on(&flat, "taylor", "--along z --order 2 --strict").expect(1);
    on(&flat, "taylor", "--along x --order 2 --strict").expect(0);
}

#[test]
fn a_branch_on_equal_reals_is_a_kink() {
    for condition in ["x == 1.0", "x > 1.0", "x*x <= 1.0"] {
        let text = format!(
            ".inout x: real default 1\n.out y: real\nif {condition}\nadd y, 5*x*x\nelse\nadd y, 2*x*x\nfi {condition}\n"
        );
        on(&text, "hessian", "--loss y").expect(0).says("warning[L06]");
        on(&text, "taylor", "--along x --order 2").expect(0).says("warning[L06]");
        let ran = on(&text, "hessian", "--loss y --set x=2").expect(0);
        assert!(!ran.stderr.contains("L06"), "{condition}: {ran:?}");
    }
}

/// Program for u += x, with a rule that bounds the adjoint.
const CLIPPED: &str = "
.inout x: real default 7
.out y: real, z: real
   compute
     local u: real = 0
     call id(u, x)
   apply
     add y, u*u
     add z, u*3.0
   uncompute
.proc id(inout u: real, in x: real) rule clip
   add u, x
.end
.proc clip(inout u: real, in x: real)
   add x', min(u', 10.0)
.end
";

#[test]
fn rules_apply_to_reverse_sweeps_only() {
    for (of, rows) in [("y", json!([[10.0]])), ("y,z", json!([[10.0], [3.0]]))] {
        let object = on(CLIPPED, "jacobian", &format!("--of {of} --json")).expect(0).json();
        assert_eq!((&object["jacobian"], &object["sweep"]), (&rows, &json!("reverse")));
    }
    // A series is the integral of the clipped gradient, which is constant here.
    let object = on(CLIPPED, "taylor", "--along x --order 2 --json").expect(0).json();
    let series = json!({ "x": [7.0, 1.0, 0.0], "y": [49.0, 10.0, 0.0], "z": [21.0, 3.0, 0.0] });
    assert_eq!((&object["taylor"], &object["sweep"]), (&series, &json!("reverse")));
    // The Hessian is the derivative of the computed gradient. Where the rule bounds the adjoint, this derivative is 0.
    let object = on(CLIPPED, "hessian", "--loss y --json").expect(0).json();
    assert_eq!(object["hessian"], json!([[0.0]]));
    let other = "
.inout a: real default 2, b: real default 3
.out y: real
call product(y, a, b)
.proc product(inout y: real, in a: real, in b: real) rule slopes
add.mul y, a, b
.end
.proc slopes(inout y: real, in a: real, in b: real)
add.mul a', y', b
RULE
.end
";
    let right = other.replace("RULE", "add.mul b', y', a");
    let object = on(&right, "hessian", "--loss y --json").expect(0).json();
    assert_eq!(object["hessian"], json!([[0.0, 1.0], [1.0, 0.0]]));
    on(&right, "hessian", "--loss y --times a=1").expect(0).prints_part("product b = 1.0");
    let wrong = other.replace("RULE", "add b', y'");
    on(&wrong, "hessian", "--loss y").expect(1).says("the Hessian is not symmetric");
    on(&wrong, "hessian", "--loss y --times a=1").expect(1).says("the Hessian is not symmetric");
}

/// The reports of lanes have the same wording as those of single runs, and each lane has its own report.
#[test]
fn lanes_report_losses_and_ignored_options() {
    let folder = Folder::new();
    let file = folder.file("program.rasm", CUBE_OF_ROOT);
    let lanes = folder.file("lanes.csv", "x,c\n1,0\n0,0\n8,0\n");
    let ran = reviver(&format!("batch {file} --lanes {lanes} --grad f --json")).expect(0);
    let object = ran.json();
    let slopes: Vec<f64> =
        object["results"]["x'"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    let is_close = |(found, wanted): (&f64, f64)| (found - wanted).abs() < 1e-12;
    assert!(slopes.iter().zip([4.0, 3.0, 4.0]).all(is_close), "{object}");
    reviver(&format!("batch {file} --lanes {lanes} --grad f")).expect(0).says("infinite or undefined");
    reviver(&format!("batch {file} --lanes {lanes} --grad f --strict")).expect(1);
    reviver(&format!("batch {file} --lanes {lanes} --grad g --strict")).expect(0);
    let root = ".inout x: real default 0, c: real default 0\n.out y: real\nadd y, x*x + sqrt(c)\n";
    let file = folder.file("root.rasm", root);
    let object = reviver(&format!("batch {file} --lanes {lanes} --grad y --wrt x --json")).expect(0).json();
    assert_eq!(object["results"]["x'"], json!([2.0, 0.0, 16.0]));
    reviver(&format!("batch {file} --lanes {lanes} --grad y")).expect(4);
}
