//! `reviver jvp --emit`: derivatives along a direction as a program.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::emission::{options, outputs, relative_tolerance};
use crate::support::{Folder, reviver};

/// Emits the tangent program, and returns its text.
fn emitted(program: &str, options: &str) -> String {
    reviver(&format!("jvp {program} --emit {options}")).expect(0).stdout
}

/// Returns the suffix of the tangents' names in a tangent program, such as `_dot`.
fn suffix(text: &str) -> &str {
    text.split("The input `x").nth(1).unwrap().split('`').next().unwrap()
}

/// Returns the numbers of a scalar, a vector or a matrix.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

/// Returns the components of a direction for an input with this number of cells.
fn direction(cells: usize) -> String {
    let components = ["1", "-0.5", "0.25", "0", "-1", "2"];
    (0..cells).map(|n| components[n % components.len()]).collect::<Vec<_>>().join(",")
}

/// A program with the inputs of one of its header lines.
struct Case<'c> {
    program: &'c str,
    target: &'c str,
    loss: &'c str,
    options: &'c str,
}

impl Case<'_> {
    /// Returns the error that many roundings to 43 fraction bits may cause; 0 for floats.
    fn unit(&self) -> f64 {
        let is_fixed =
            std::fs::read_to_string(self.program).unwrap().lines().any(|line| line == ".real fixed");
        if is_fixed { 64.0 / (1u64 << 43) as f64 } else { 0.0 }
    }

    /// Compares the derivative of the loss along a direction that changes one input with that of `jacobian --times`. Sums
    /// and products have the same bits; other functions have other formulas: a'/b - a·b'/b² instead of
    /// (a' - (a/b)·b')/b.
    /// Returns true if the bits are the same.
    fn compare(&self, suffix: &str, inputs: &[(String, usize)], moved: &str) -> bool {
        let Case { program, target, loss, options } = self;
        let component = |(input, cells): &(String, usize)| match input == moved {
            true => direction(*cells),
            false => vec!["0"; *cells].join(","),
        };
        let name = loss.split('[').next().unwrap();
        let cells = inputs.iter().find(|(input, _)| input == moved).unwrap().1;
        let times = format!("--times {moved}={}", direction(cells));
        let jacobian = reviver(&format!("jacobian {program} --of {name} {times} --json{options}"));
        let expected = numbers(&jacobian.expect(0).json()["product"][name]);
        let set: String =
            inputs.iter().map(|it| format!(" --set {}{suffix}={}", it.0, component(it))).collect();
        let ran = outputs(&reviver(&format!("run {target} --json{options}{set}")).expect(0));
        let found = numbers(&ran[format!("{name}{suffix}")]);
        let size = expected.iter().fold(0.0f64, |most, number| most.max(number.abs()));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            let differ = (found - expected).abs();
            assert!(
                differ <= relative_tolerance(program) * size + self.unit(),
                "{program} {loss} {options} {moved}: {found} {expected}"
            );
        }
        found == expected
    }
}

/// Every program whose header has a gradient, along each real input.
#[test]
fn programs_compute_the_products_of_their_jacobians() {
    let folder = Folder::new();
    let target = folder.path("tangent.rasm");
    let target = target.to_str().unwrap();
    let mut compared = 0;
    let (mut refused, mut rounded) = (BTreeSet::new(), BTreeSet::new());
    for entry in std::fs::read_dir("programs").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rasm") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let program = path.to_str().unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let gradients: BTreeSet<_> = text.lines().filter_map(|line| options(line, &text)).collect();
        for (loss, options) in gradients {
            let gradient = reviver(&format!("grad {program} --of {loss} --json{options}")).expect(0).json();
            let gradient = gradient["grad"].as_object().unwrap();
            let inputs: Vec<(String, usize)> =
                gradient.iter().map(|(input, value)| (input.clone(), numbers(value).len())).collect();
            let names: Vec<&str> = inputs.iter().map(|(input, _)| input.as_str()).collect();
            let wrt = names.join(",");
            let ran = reviver(&format!("jvp {program} --wrt {wrt} --emit -o {target} --force"));
            if ran.code != 0 {
                assert!(ran.stderr.contains("error[E88]"), "{ran:?}");
                refused.insert(stem.to_owned());
                continue;
            }
            // Rounding leaves a unit in the last place of a tangent whose cell is vacant.
            if stem == "hypergradient" {
                reviver(&format!("run {target}")).expect(4).says("needs old_dot to be 0");
                continue;
            }
            let emitted = String::from_utf8(folder.read("tangent.rasm")).unwrap();
            let case = Case { program, target, loss: &loss, options: &options };
            for input in names {
                if !case.compare(suffix(&emitted), &inputs, input) {
                    rounded.insert(stem.to_owned());
                }
                compared += 1;
            }
        }
    }
    // These programs have procedures with rules.
    assert!(refused.into_iter().eq([
        "clipped_gradient",
        "safe_softmax",
        "straight_through",
        "truncated_bptt"
    ]));
    assert!(compared >= 100, "only {compared} directions were compared");
    // These programs only add and multiply.
    for exact in ["complex_multiply", "dot", "horner", "matrix_product"] {
        assert!(!rounded.contains(exact), "{exact}: {rounded:?}");
    }
}

#[test]
fn a_statement_is_accompanied_by_its_tangent() {
    let folder = Folder::new();
    let program = folder.file(
        "product.rasm",
        "; A product.\n.inout x: real default 3, n: real default 2\n.out y: real\n        add   y, sin(x) * n ; done\n",
    );
    assert_eq!(
        emitted(&program, "--wrt x"),
        "\
; The derivatives along a direction, by a forward run. Made from product.rasm by `reviver jvp --emit`.
; The input `x_dot` is the direction's component for `x`, and the result `y_dot` is the derivative of `y`.
;
; A product.

.inout x: real default 3, n: real default 2
.inout x_dot: real default 1
.out n_dot: real
.out y: real
.out y_dot: real
        add   y, sin(x) * n  ; done
        add   y_dot, x_dot * cos(x) * n
"
    );
}

#[test]
fn a_tangent_program_is_a_program() {
    let folder = Folder::new();
    let (target, inverse) = (folder.path("bessel.rasm"), folder.path("inverse.rasm"));
    let (target, inverse) = (target.to_str().unwrap(), inverse.to_str().unwrap());
    reviver(&format!("jvp programs/besselj.rasm --wrt z --emit -o {target}")).expect(0);
    reviver(&format!("check {target}")).expect(0);
    reviver(&format!("fmt --check {target}")).expect(0);
    let ran = reviver(&format!("run {target} --check --json")).expect(0).json();
    assert_eq!(ran["restored"], true);
    reviver(&format!("invert {target} -o {inverse}")).expect(0);
    reviver(&format!("check {inverse}")).expect(0);
}

/// The second derivative of the Bessel function: the gradient of a tangent, and the tangent of a tangent.
#[test]
fn a_tangent_program_is_differentiated_again() {
    const SECOND: f64 = 0.134_466_838_533_916_16;
    let folder = Folder::new();
    let (once, twice) = (folder.path("once.rasm"), folder.path("twice.rasm"));
    let (once, twice) = (once.to_str().unwrap(), twice.to_str().unwrap());
    let close = |found: &Value| (found.as_f64().unwrap() - SECOND).abs() < 1e-14;
    reviver(&format!("jvp programs/besselj.rasm --wrt z --emit -o {once}")).expect(0);
    let gradient = reviver(&format!("grad {once} --of out_dot --wrt z --json")).expect(0).json();
    assert!(close(&gradient["grad"]["z"]), "{gradient}");
    reviver(&format!("jvp {once} --wrt z --emit -o {twice}")).expect(0);
    let found = outputs(&reviver(&format!("run {twice} --json")).expect(0));
    assert!(close(&found["out_dot_dot2"]), "{found}");
    assert_eq!(found["out_dot"], found["out_dot2"]);
    reviver(&format!("run {twice} --check")).expect(0);
}

/// The tangent of a cell that a program overwrites or erases. `grad --emit` refuses such programs.
#[test]
fn programs_that_lose_bits_have_tangents() {
    let folder = Folder::new();
    let program = folder.file(
        "overwrites.rasm",
        "
.inout x: real default 2
.out y: real, z: real
        overwrite y, x*x
        overwrite y, exp(y*y) * (y*x + 1.0) ; needs helper cells and the old value
        add   z, y
        erase y
        overwrite y, x*3.0
",
    );
    let target = folder.file("tangent.rasm", emitted(&program, "--wrt x"));
    let found = outputs(&reviver(&format!("run {target} --json")).expect(0));
    let expected = reviver(&format!("jacobian {program} --times x=1 --json")).expect(0).json();
    assert_eq!(found["y_dot"], 3.0);
    let (found, expected) = (&found["z_dot"], &expected["product"]["z"]);
    let (found, expected) = (found.as_f64().unwrap(), expected.as_f64().unwrap());
    assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{found} {expected}");
}

/// Stacks, tapes, rotations, calls in both directions, macros, and arguments that are expressions.
#[test]
fn every_kind_of_statement_has_a_tangent() {
    let folder = Folder::new();
    let program = folder.file(
        "mixed.rasm",
        "
.inout x: real default 2, v[3]: real default {1, 2, 3}
.out y: real, p: real, q: real
.ancilla t: real
.macro weighted(to, by)
        add   to, by * x
.endm
        add   t, x*x
        push  t
        pop   t
        write t
        unwrite t
        call  product(y, v[0], v[1])
        call  product(y, v[1], v[1])
        uncall product(y, x*v[0], 3.0)
        weighted y, t + v[2]
        undo weighted y, v[0]
        sub   t, x*x
        add   p, v[2]
        rot   p, q, x*0.5
        irot  p, q, v[1]
        swap  p, q
        neg   q
        local s = sqrt(abs(x)) + min(v[0], x)
        add   y, s * s
        delocal s = sqrt(abs(x)) + min(v[0], x)
        compute
            local m[2]: real
            add   m[0], x/v[2]
            add   m[1], pow(x, v[1])
        apply
            add   y, m[0] * m[1]
        uncompute
.proc product(inout to: real, in a: real, in b: real)
.ancilla c: real
        add.mul c, a, b
        add   to, c
        sub.mul c, a, b
.end
",
    );
    for level in 0..=2 {
        let target = folder.at("tangent.rasm");
        reviver(&format!("jvp {program} --wrt x,v --emit -O{level} -o {target} --force")).expect(0);
        let ran = reviver(&format!("run {target} --json --check --set v_dot=1,-0.5,2")).expect(0).json();
        assert_eq!(ran["restored"], true);
        let jacobian = reviver(&format!("jacobian {program} --times x=1,v=1,-0.5,2 --json")).expect(0).json();
        for result in ["x", "v", "y", "p", "q"] {
            let found = numbers(&ran["outputs"][format!("{result}_dot")]);
            let expected = numbers(&jacobian["product"][result]);
            for (found, expected) in found.iter().zip(&expected) {
                let differ = (found - expected).abs();
                assert!(differ <= 1e-12 * expected.abs().max(1.0), "-O{level} {result}: {found} {expected}");
            }
        }
    }
}

/// A function without a derivative where the tangent of its argument is 0.
#[test]
fn a_derivative_is_computed_only_if_its_argument_moves() {
    let folder = Folder::new();
    let program = folder.file(
        "root.rasm",
        ".inout x: real default 0, z: real default 2\n.out y: real\nadd y, sqrt(x*x) + z*z\n",
    );
    let target = folder.file("tangent.rasm", emitted(&program, "--wrt x,z"));
    let ran = reviver(&format!("run {target} --json --set x_dot=0 --check")).expect(0).json();
    assert_eq!(ran["outputs"]["y_dot"], 4.0);
    // The derivative of the square is 0 at 0, so the root's isn't computed, as with dual numbers.
    assert_eq!(outputs(&reviver(&format!("run {target} --json")).expect(0))["y_dot"], 4.0);
    let program = folder.file("plain_root.rasm", ".inout x: real default 0\n.out y: real\nadd y, sqrt(x)\n");
    let target = folder.file("plain_tangent.rasm", emitted(&program, "--wrt x"));
    reviver(&format!("run {target}")).expect(4);
    reviver(&format!("run {target} --set x_dot=0")).expect(0);
}

/// Cells that don't depend on the direction have no tangents in the optimized program.
#[test]
fn tangents_that_are_always_zero_are_left_out() {
    let text = emitted("programs/besselj.rasm", "--wrt z");
    let all = emitted("programs/besselj.rasm", "--wrt z -O0");
    assert!(!text.contains("size_dot") && all.contains("size_dot"), "{text}");
}

/// A tangent procedure replaces the procedure, under the comment of the procedure.
#[test]
fn definitions_that_are_not_used_are_replaced() {
    let text = emitted("programs/besselj.rasm", "--wrt z");
    assert!(text.contains("in `dirt`.\n.proc imul_dot(") && !text.contains(".proc imul("), "{text}");
}

/// Each component of the direction is 1 by default, and can be set.
#[test]
fn the_direction_is_an_input() {
    let folder = Folder::new();
    let target = folder.at("tangent.rasm");
    reviver(&format!("jvp programs/norm.rasm --wrt v --emit -o {target}")).expect(0);
    let ran = outputs(&reviver(&format!("run {target} --json")).expect(0));
    assert!((ran["length_dot"].as_f64().unwrap() - 1.8).abs() < 1e-14, "{ran}");
    let ran = outputs(&reviver(&format!("run {target} --json --set v_dot=0,1,0,0")).expect(0));
    assert_eq!(ran["length_dot"], 0.4);
}

/// The tangents of included cells, and procedures of an included file.
#[test]
fn includes_have_tangents() {
    let folder = Folder::new();
    folder.file("lib.rasm", ".var g: real\n.proc half(inout y: real, in x: real)\nadd y, x*0.5\n.end\n");
    let program = folder.file(
        "main.rasm",
        ".include \"lib.rasm\"\n.inout x: real default 3\n.out y: real\nadd g, x\ncall half(y, g)\nsub g, x\n",
    );
    let target = folder.file("tangent.rasm", emitted(&program, "--wrt x -O0"));
    assert_eq!(outputs(&reviver(&format!("run {target} --json --check")).expect(0))["y_dot"], 0.5);
}

#[test]
fn an_image_has_a_tangent_program() {
    let folder = Folder::new();
    let image = folder.at("norm.rbc");
    reviver(&format!("asm programs/norm.rasm -o {image}")).expect(0);
    let target = folder.file("tangent.rasm", emitted(&image, "--wrt v"));
    let ran = outputs(&reviver(&format!("run {target} --json --set v_dot=0,1,0,0")).expect(0));
    assert_eq!(ran["length_dot"], 0.4);
}

#[test]
fn statements_without_a_tangent_are_refused_at_their_places() {
    let folder = Folder::new();
    let refused = |name: &str, text: &str, line: &str| {
        let program = folder.file(name, text);
        let ran = reviver(&format!("jvp {program} --wrt x --emit")).expect(3);
        assert!(ran.stderr.contains("E88") && ran.stderr.contains(&format!("{name}:{line}")), "{ran:?}");
        assert!(ran.stdout.is_empty(), "{ran:?}");
        ran.stderr
    };
    let head = ".inout x: real default 2\n.out y: real\n";
    let procedure = ".proc p(inout y: real, in x: real)";
    let via = format!("{head}.inout c default 1\ncallvia c(y, x)\n{procedure}\nadd y, x\n.end\n");
    assert!(refused("via.rasm", &via, "4").contains("the tangent of `callvia`"));
    let rule = format!(
        "{head}call p(y, x)\n{procedure} rule r\nadd y, x\n.end\n.proc r(inout y: real, in x: real)\nadd x', y'\n.end\n"
    );
    assert!(refused("rule.rasm", &rule, "3").contains("jacobian --times"));
    refused("stack.rasm", &format!("{head}.in data[]: real default {{1, 2}}\nadd y, x\n"), "3");
    refused("gamma.rasm", &format!("{head}add y, lgamma(x)\n"), "3");
    refused("unread.rasm", &format!("{head}add y, x\nunread x\nread x\n"), "4");
    let tape = "add y, x
grad.on
write x
unwrite x
grad.off
";
    refused("mode.rasm", &format!("{head}{tape}"), "5");
}

#[test]
fn wrong_usage_is_explained() {
    let refused = |options: &str, part: &str| {
        let ran = reviver(&format!("jvp {options}")).expect(2);
        assert!(ran.stderr.contains(part), "{ran:?}");
    };
    refused("programs/besselj.rasm --wrt z", "jacobian programs/besselj.rasm --times z=1");
    refused("programs/complex_multiply.rasm --wrt u_re,v_re", "--times u_re=1,v_re=1");
    refused("programs/besselj.rasm --emit", "--wrt");
    refused("programs/besselj.rasm --emit --wrt y", "`y`");
    refused("programs/besselj.rasm --emit --wrt out", "isn't an input");
    refused("programs/norm.rasm --emit --wrt v[1]", "--wrt v");
}

/// A procedure with a rule and a tangent rule has tangents as a program, those of its statements.
#[test]
fn tangent_rules_are_called() {
    let folder = Folder::new();
    let body = "local t = x + 1\nadd.log y, t\ndelocal t = x + 1\n.end\n";
    let plain = format!(
        ".inout x: real default 0.5, z: real default 2\n.out y: real\ncall p(y, x)\ncall p(y, z)\nuncall p(y, x)\n\
         .proc p(inout y: real, in x: real)\n{body}"
    );
    let text = |rules: &str, tangent: &str| {
        let rule = ".proc q(inout y: real, in x: real)\nadd x', y' / (1 + x)\n.end\n";
        let own = plain.replace("x: real)\n", &format!("x: real){rules}\n"));
        let rule = if rules.contains("rule") { rule } else { "" };
        let tangent = format!(".proc t(inout y: real, in x: real)\n{tangent}\n.end\n");
        own + rule + if rules.contains("tangent") { &tangent } else { "" }
    };
    let right = folder.file("right.rasm", text(" rule q tangent t", "add y', x' / (1 + x)"));
    let plain = folder.file("plain.rasm", &plain);
    let along = "--set x_dot=3,z_dot=-2";
    let dot = |program: &str| {
        let target = folder.file("tangent.rasm", emitted(program, "--wrt x,z"));
        let ran = reviver(&format!("run {target} --json {along}")).expect(0).json();
        reviver(&format!("run {target} {along} --check")).expect(0).prints_part("restored: yes");
        ran["outputs"]["y_dot"].as_f64().unwrap()
    };
    assert_eq!(dot(&right), dot(&plain));
    // A rule alone has no tangents, and a tangent rule alone leaves the adjoint to the procedure itself.
    let lacks = folder.file("lacks.rasm", text(" rule q", "add y', x'"));
    reviver(&format!("jvp {lacks} --wrt x --emit")).expect(3).says("rule q tangent t");
    let alone = folder.file("alone.rasm", text(" tangent t", "add y', 7 * x'"));
    assert_eq!(dot(&alone), -14.0);
    let gradient =
        |program: &str| reviver(&format!("grad {program} --of y --json")).expect(0).json()["grad"].clone();
    assert_eq!(gradient(&alone), gradient(&plain));
    for (tangent, reason) in [
        ("add y, x'", "may change only its own variables"),
        ("add x', y'", "may change only its own variables"),
        ("local s = x\nadd s, 1\nsub s, 1\ndelocal s = x\nadd y', x'\npush y'\npop y'", "may change only"),
    ] {
        let wrong = folder.file("wrong.rasm", text(" rule q tangent t", tangent));
        reviver(&format!("check {wrong}")).expect(3).says("E73").says(reason);
    }
    let other = text(" rule q tangent r", "add y', x'") + ".proc r(inout y: real)\n.end\n";
    reviver(&format!("check {}", folder.file("other.rasm", other))).expect(3).says("the same parameters");
    let unknown = folder.file("unknown.rasm", text(" rule q tangent nobody", "add y', x'"));
    reviver(&format!("check {unknown}")).expect(3).says("no procedure `nobody`");
}
