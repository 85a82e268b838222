//! Complex, logarithmic and tropical numbers.

use serde_json::Value;

use crate::support::{Folder, reviver};

fn outputs(folder: &Folder, text: &str, options: &str) -> Value {
    let file = folder.file("program.rasm", text);
    reviver(&format!("run {file} --json --check {options}")).expect(0).json()["outputs"].clone()
}

fn complex(outputs: &Value, name: &str) -> (f64, f64) {
    let part = |part: &str| outputs[format!("{name}.{part}")].as_f64().unwrap();
    (part("re"), part("im"))
}

const EPSILON: f64 = 1e-13;

fn near((a, b): (f64, f64), (c, d): (f64, f64)) -> bool {
    (a - c).hypot(b - d) <= EPSILON * (1.0 + c.hypot(d))
}

/// The operations of complex numbers, compared with results of Python's `complex` and `cmath`.
#[test]
fn complex_arithmetic_agrees_with_python() {
    let folder = Folder::new();
    let cases = [
        ("a * b", (2.5, 0.0)),
        ("a / b", (-1.2, 1.6)),
        ("3 / b", (1.2, 2.4)),
        ("b / 4 - a", (-0.875, -2.25)),
        ("(a + b) * (a - b) / b", (-4.9, 0.2)),
        ("conj(a) * 2 + complex(0, 1)", (2.0, -3.0)),
        ("powi(a, 5)", (41.0, -38.0)),
        ("powi(a, 0)", (1.0, 0.0)),
        ("powi(a, n)", (-11.0, -2.0)),
        ("square(a)", (-3.0, 4.0)),
        ("inv(b)", (0.4, 0.8)),
        ("exp(a)", (-1.131_204_383_756_813_5, 2.471_726_672_004_818_8)),
        ("log(b)", (0.111_571_775_657_104_85, -1.107_148_717_794_090_4)),
        ("exp(log(a * b - a)) * b", (-1.25, -2.5)),
        ("-a", (-1.0, -2.0)),
        ("complex(-abs(a), 0) * (1 + 2) / (0.5 + 1.5)", (-3.354_101_966_249_684_5, 0.0)),
        ("powi(a, 0) / 2", (0.5, 0.0)),
        ("3 / (2 * complex(im(a), 1))", (0.6, -0.3)),
        ("powi(powi(complex(0.5, 0.5), 8), 8)", (2.328_306_436_538_696_3e-10, 0.0)),
        ("conj(3) / 2 + a", (2.5, 2.0)),
        ("2 * 3 * a / conj(2)", (3.0, 6.0)),
        ("complex(re(conj(7) / 2), 0) * a", (3.5, 7.0)),
        ("complex(abs(a), arg(b))", (2.236_067_977_499_79, -1.107_148_717_794_090_4)),
        ("a * re(b) - complex(im(a), 1)", (-1.5, 0.0)),
    ];
    let head =
        ".inout a: complex default {1, 2}, b: complex default {0.5, -1}, n default 3\n.out z: complex\n";
    for (value, expected) in cases {
        for options in ["", "--engine interp", "--real fixed"] {
            let found = complex(&outputs(&folder, &format!("{head}add z, {value}\n"), options), "z");
            let epsilon = if options.contains("fixed") { 1e-9 } else { EPSILON };
            let distance = (found.0 - expected.0).hypot(found.1 - expected.1);
            assert!(distance <= epsilon * (1.0 + expected.0.hypot(expected.1)), "{value}: {found:?}");
        }
        let local = format!("{head}local w = {value}\nadd z, w\ndelocal w = {value}\n");
        assert!(near(complex(&outputs(&folder, &local, ""), "z"), expected), "{value}");
    }
}

#[test]
fn complex_cells_are_changed_as_wholes() {
    let folder = Folder::new();
    let text = ".inout a[2]: complex default {1, 2, 0.5, -1}, k\n.out z: complex\n.garbage kept[]: real\n\
                swap a[0], a[1]\nneg a[k]\nconj a[1]\nadd z, sum(a)\nadd z, dot(conj(a), a)\npush a[1]\npop a[1]\n\
                rot z.re, z.im, pi / 2\n";
    let found = outputs(&folder, text, "");
    // a = (-0.5 + i, 1 - 2i), their sum is 0.5 - i, the sum of the squares 6.25; then times i.
    assert!(near(complex(&found, "z"), (1.0, 6.75)), "{found}");
    assert_eq!(found["a.re"], serde_json::json!([-0.5, 1.0]));
    assert_eq!(found["a.im"], serde_json::json!([1.0, -2.0]));
}

/// A statement reads its sources before it changes a part of its target, or it is refused.
#[test]
fn elements_that_may_be_the_same_are_compared() {
    let folder = Folder::new();
    let text = ".inout x[2]: complex default {1, 2, 3, -1}, k default 1, j, a: complex default {0, 1}\nadd x[k], x[j] * a\n";
    let file = folder.file("program.rasm", text);
    let found = reviver(&format!("run {file} --json --check")).expect(0).json()["outputs"].clone();
    assert_eq!((&found["x.re"][1], &found["x.im"][1]), (&1.0.into(), &0.0.into()));
    let same = reviver(&format!("run {file} --set j=1"));
    assert!(same.code == 4 && same.stderr.contains("`k != j` does not hold"), "{same:?}");
    let literals = folder.file("literals.rasm", text.replace("x[k], x[j]", "x[1], x[0]"));
    assert_eq!(
        reviver(&format!("run {literals} --json --check")).expect(0).json()["outputs"]["x.im"][1],
        0.0
    );
    for statement in ["add x, x[0] * a", "add x[0], sum(x)", "add x[k], complex(x[k].im, 0)"] {
        let text = text.replace("add x[k], x[j] * a", statement);
        let ran = reviver(&format!("check {}", folder.file("refused.rasm", text)));
        assert!(ran.code == 3 && ran.stderr.contains("is the target and a source"), "{statement}: {ran:?}");
    }
}

/// Statements with whole arrays of complex numbers.
#[test]
fn complex_arrays_have_products() {
    let folder = Folder::new();
    let text = ".inout A[2, 2]: complex default {1, 2, 0, 1, -1, 0, 2, 2}, v[2]: complex default {1, 1, 0, -1}\n\
                .out C[2, 2]: complex, y[2]: complex, z[2]: complex, w[2]: complex, u[2]: complex\n\
                add C, matmul(A, transpose(A))\nsub y, matmul(A, v)\nadd z, v * v * v\nadd w, 1 / v\n\
                add u, exp(v) / complex(0, 2)\n";
    let found = outputs(&folder, text, "");
    let row = |name: &str| -> Vec<f64> { serde_json::from_value(found[name].clone()).unwrap() };
    assert_eq!((row("y.re"), row("y.im")), (vec![0.0, -1.0], vec![-3.0, 3.0]), "{found}");
    assert_eq!((row("z.re"), row("z.im")), (vec![-2.0, 0.0], vec![2.0, 1.0]), "{found}");
    assert_eq!((row("w.re"), row("w.im")), (vec![0.5, 0.0], vec![-0.5, 1.0]), "{found}");
    assert_eq!(found["C.re"], serde_json::json!([[-4.0, -3.0], [-3.0, 1.0]]), "{found}");
    assert_eq!(found["C.im"], serde_json::json!([[4.0, 0.0], [0.0, 8.0]]), "{found}");
    assert!((row("u.re")[0] - 1.0f64.exp() * 1.0f64.sin() / 2.0).abs() < EPSILON, "{found}");
}

/// The derivative of |z|²/2 by z is z, and that of re(f(z)) is the conjugate of f'(z).
#[test]
fn adjoints_of_complex_numbers_have_two_parts() {
    let folder = Folder::new();
    let head = ".inout a: complex default {1, 2}\n.out y: real\n";
    let cases = [
        ("square(abs(a)) / 2", (1.0, 2.0)),
        ("re(a * a * a)", (-9.0, -12.0)),
        ("re(exp(a))", (-1.131_204_383_756_813_5, -2.471_726_672_004_818_8)),
        ("re(log(a))", (0.2, 0.4)),
        ("arg(a)", (-0.4, 0.2)),
        ("abs(a * a)", (2.0, 4.0)),
        ("im(1 / a)", (0.16, 0.12)),
    ];
    for (value, expected) in cases {
        let file = folder.file("program.rasm", format!("{head}add y, {value}\n"));
        let found = reviver(&format!("grad {file} --of y --json")).expect(0).json()["grad"].clone();
        assert!(near(complex(&found, "a"), expected), "{value}: {found}");
        let emitted = reviver(&format!("grad {file} --of y --emit")).expect(0).stdout;
        let again = outputs(&folder, &emitted, "");
        let part = |part: &str| again[format!("a.{part}_bar")].as_f64().unwrap();
        assert!(near((part("re"), part("im")), expected), "{value}: {again}");
    }
}

/// Fifty factors are multiplied and divided again without a history, and nothing is lost.
#[test]
fn logarithms_are_exact_in_both_directions() {
    let folder = Folder::new();
    let text = ".inout f[50]: real default 1e-10\n.out y: real, sign\n.var t: log\n\
                for i in 0..50\nmul t, -f[i]\nrof\nadd y, t.log\nxor sign, t.negative\n\
                for i in 0..50\ndiv t, f[i]\nrof\n";
    let ran = reviver(&format!("run {} --json --check", folder.file("log.rasm", text))).expect(0).json();
    assert!((ran["outputs"]["y"].as_f64().unwrap() - -1_151.292_546_497_0).abs() < 1e-10, "{ran}");
    assert_eq!((&ran["outputs"]["sign"], &ran["history_bytes"]), (&0.into(), &0.into()));
    let odd = text
        .replace("0..50\nmul", "0..49\nmul")
        .replace("0..50\ndiv", "0..49\ndiv")
        .replace("default 1e-10", "default 0.7");
    assert_eq!(outputs(&folder, &(odd + "neg t\n"), "")["sign"], 1);
    let quotient = ".inout x: real default 6, y: real default -4\n.out z: real\n.var t: log, u: log\n\
                    mul u, y\nmul t, x * u / (y * y)\nswap t, u\nadd z, toreal(u)\nswap t, u\n\
                    div t, x * u / (y * y)\ndiv u, y\n";
    let z = outputs(&folder, quotient, "")["z"].as_f64().unwrap();
    assert!((z + 1.5).abs() < 1e-10, "{z}");
    let file = folder.file("log.rasm", quotient);
    let found =
        reviver(&format!("grad {file} --of z --json")).expect(0).json()["grad"]["x"].as_f64().unwrap();
    assert!((found + 0.25).abs() < 1e-10, "{found}");
    let given =
        ".inout t: log default 3, x: real default 7\nmul t, x\n.proc p(inout t[]: real)\nneg t\n.end\n";
    let found = reviver(&format!("run {} --check --json", folder.file("given.rasm", given))).expect(0).json();
    assert_eq!(found["bit_exact"], true, "{found}");
    // Sums of larger logarithms would be rounded, so the product traps.
    let large = folder
        .file("large.rasm", ".inout x: real default 1e300\n.garbage t: log\nfor i in 0..20\nmul t, x\nrof\n");
    let trap = reviver(&format!("run {large}"));
    assert!(trap.code == 4 && trap.stderr.contains("abs(t.log) <= 8192"), "{trap:?}");
    assert_eq!(reviver(&format!("run {large} --set x=1e100")).code, 0);
    let zero = folder.file("zero.rasm", ".inout x: real\n.var t: log\nmul t, x\ndiv t, x\n");
    assert_eq!(reviver(&format!("run {zero}")).code, 4);
}

#[test]
fn tropical_products_are_sums_and_tropical_sums_are_maxima() {
    let folder = Folder::new();
    let text = ".inout a: tropical default 3, b: tropical default 5, x: real default 2\n\
                .out t: tropical, u: tropical, s: real, m[2]: tropical\n\
                mul t, a * b\nmul.sum u, a, b\nmul u, a + b * b + abs(x)\nadd s, t\ndiv t, a\nswap t, u\nmul m, a / x\n\
                local q: tropical = a * 3\nmul u, q\ndelocal q = a * 3\ndiv u, a\ndiv u, 3\n";
    for options in ["", "--real fixed"] {
        let found = outputs(&folder, text, options);
        let real = |name: &str| found[name].as_f64().unwrap();
        assert_eq!((real("t"), real("u"), real("s")), (15.0, 5.0, 8.0), "{found}");
        assert_eq!(found["m"], serde_json::json!([1.0, 1.0]));
    }
    let integers = ".inout a: tropical int default 3, b: tropical int default 5\n.out t: tropical int, u[2]: tropical int\n\
                    local q: tropical int = a * b\nmul t, q + b\nmul u, q\ndelocal q: tropical int = a * b\n";
    assert_eq!(outputs(&folder, integers, "")["t"], serde_json::json!(8));
    let file = folder.file("integers.rasm", integers);
    assert!(reviver(&format!("fmt {file}")).expect(0).stdout.contains("local q: tropical int = a * b"));
    let negated = outputs(
        &folder,
        ".inout a: tropical default 2, b: tropical default 3\n.out t: tropical\nmul t, -(a + b) / -b\n",
        "",
    );
    assert_eq!(negated["t"], 0.0);
    let file = folder.file("tropical.rasm", text);
    let found = reviver(&format!("grad {file} --of t --json")).expect(0).json()["grad"].clone();
    assert_eq!((&found["a"], &found["b"]), (&0.0.into(), &3.0.into()), "{found}");
}

#[test]
fn misused_classes_are_refused() {
    let folder = Folder::new();
    let head = ".inout a: complex default {1, 2}, x: real, t: log, m: tropical, v[3]: tropical, w[2]: log\n.out z: complex\n";
    let cases = [
        ("add z, z * a", "`z` is the target and a source"),
        ("add z, z.im", "`z` is the target and a source"),
        ("add x, a", "expected a real, found a complex number"),
        ("mul z, a", "`mul` can't be applied to a complex cell"),
        ("add t, x", "`add` can't be applied to a logarithm"),
        ("add m, x", "`add` can't be applied to a tropical cell"),
        ("mul m, sin(m)", "`sin` isn't an operation of tropical numbers"),
        ("add z, sin(a)", "`sin` of a complex number can't be computed"),
        ("add x, t", "a logarithm is a factor only"),
        ("swap a, t", "expected a `complex`"),
        ("if a > 1\nfi a > 1", "a record is used in the place of a cell"),
        ("add x, complex(1, 2)", "expected a real, found a complex number"),
        ("mul m, sum(v)", "`sum` of tropical numbers can't be computed"),
        (
            "if abs(a*a*(a*a)*(a*a*(a*a))) > 1\nfi abs(a*a*(a*a)*(a*a*(a*a))) > 1",
            "this complex expression is too long at this place",
        ),
        ("add x, m * 2", "a tropical number in an operation of reals"),
        ("local q = m + 1\nadd x, q", "a tropical number in an operation of reals"),
        ("mul w, x", "an array of logarithms is changed by a loop only"),
        (".record log: x: real\nadd x, 1", "`log` is a class of the language"),
    ];
    for (statement, message) in cases {
        let ran = reviver(&format!("check {}", folder.file("program.rasm", format!("{head}{statement}\n"))));
        assert!(ran.stderr.contains(message), "{statement}: {}", ran.stderr);
        assert_eq!(ran.code, 3, "{statement}");
    }
    let without = folder.file("program.rasm", ".inout x: real, y: real\nadd y, arg(x)\n");
    let ran = reviver(&format!("check {without}"));
    assert!(ran.stderr.contains("`arg` belongs to complex numbers"), "{}", ran.stderr);
}
