//! `reviver opt`: equivalent programs that need fewer steps.

use crate::support::{Folder, reviver};

/// Returns the lines of a program after one pass, without their indentation.
fn after(pass: &str, program: &str) -> Vec<String> {
    let folder = Folder::new();
    let file = folder.file("program.rasm", program);
    let text = reviver(&format!("opt {file} --pass {pass}")).expect(0).stdout;
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Asserts that a pass changes the statements of a program with these declarations.
fn assert_pass(pass: &str, declarations: &str, before: &[&str], expected: &[&str]) {
    let found = after(pass, &format!("{declarations}\n{}\n", before.join("\n")));
    let declared = after(pass, &format!("{declarations}\nadd y, 7\n")).len() - 1;
    assert_eq!(found[declared.min(found.len())..], *expected, "{pass}: {before:?}");
}

#[test]
fn a_statement_and_its_inverse_are_removed() {
    let pairs = |before: &[&str], expected: &[&str]| {
        assert_pass("pairs", ".in a, b: real, v[4]\n.inout x, y, z: real, s[]", before, expected);
    };
    pairs(&["add x, a", "sub x, a", "add y, a"], &["add y, a"]);
    pairs(&["swap x, y", "swap x, y", "add y, a"], &["add y, a"]);
    // From the inside to the outside.
    pairs(&["add x, a", "xor y, x", "xor y, x", "sub x, a", "add y, a"], &["add y, a"]);
    pairs(&["local t = a*a", "add x, 1", "delocal t = a*a"], &["add x, 1"]);
    pairs(&["push x", "pop x", "add y, a"], &["add y, a"]);
    pairs(&["push x", "add y, a", "pop x"], &["add y, a"]);
    let block = ["if a > 0", "add x, a", "fi a > 0", "if a > 0", "sub x, a", "fi a > 0", "add y, 1"];
    pairs(&block, &["add y, 1"]);
    pairs(
        &["for i in 0..4", "add x, v[i]", "rof", "for i in 0..4 reversed", "sub x, v[i]", "rof", "add y, 1"],
        &["add y, 1"],
    );
    pairs(&["compute", "add x, a", "apply", "add y, a", "uncompute"], &["add y, a"]);
}

#[test]
fn a_statement_stays_if_something_between_the_pair_depends_on_it() {
    for body in [
        &["add x, a", "add y, x", "sub x, a"][..],
        &["add x, y", "add y, 1", "sub x, y"],
        &["push x", "push y", "pop x"],
        &["assert x == a", "assert x == a"],
        &["show x", "show x"],
        &["add x, v[y]", "add y, 1", "sub x, v[y]"],
        &["compute", "add x, a", "apply", "add y, x", "uncompute"],
    ] {
        assert_pass("pairs", ".in a, v[4]\n.inout x, y, s[]", body, body);
    }
}

#[test]
fn results_that_nothing_reads_are_not_computed() {
    let dead = |before: &[&str], expected: &[&str]| {
        assert_pass("dead", ".in a\n.inout x, y", before, expected);
    };
    dead(&["local t = a*a", "add x, a", "delocal t = a*a"], &["add x, a"]);
    dead(&["add r0, a", "add r1, r0", "sub r1, r0", "add x, a", "sub r0, a"], &["add x, a"]);
    dead(
        &["for i in 0..9", "add r0, i", "rof", "for i in 0..9", "sub r0, i", "rof", "add x, 1"],
        &["add x, 1"],
    );
    // The swap moves a value from the result.
    dead(&["swap r0, x", "swap x, r0"], &["swap r0, x", "swap x, r0"]);
    dead(
        &["local t = a", "assert t == a", "delocal t = a"],
        &["local t = a", "assert t == a", "delocal t = a"],
    );
    let text = after("dead", ".in a\n.out y\n.garbage g, h\nadd y, a\nadd g, a\n; about h\nadd h, g\n");
    assert_eq!(text, [".in a", ".out y", "add y, a"]);
}

#[test]
fn terms_that_are_always_zero_are_removed() {
    let activity = |before: &[&str], expected: &[&str]| {
        assert_pass("activity", ".in a: real, b: real\n.out y: real\n.var z: real, n", before, expected);
    };
    activity(&["add y, a + z*b"], &["add y, a"]);
    activity(&["add y, z*exp(b)"], &[]);
    activity(&["add.mul y, z, b", "add y, a - z"], &["add y, a"]);
    activity(&["add y, z - a"], &["add y, -a"]);
    activity(&["add z, toreal(n*2)", "add y, z + a"], &["add y, a"]);
    // z isn't always 0.
    activity(&["add y, z*b", "add z, a", "sub z, a"], &["add y, z * b", "add z, a", "sub z, a"]);
    activity(&["add y, z/b + exp(z)"], &["add y, exp(z)"]);
    activity(&["add y, a/(b + z)"], &["add y, a / (b + z)"]);
}

#[test]
fn constants_are_folded() {
    let constants = |before: &[&str], expected: &[&str]| {
        assert_pass("constants", ".in a: real, n\n.out y: real, m", before, expected);
    };
    constants(&["add y, 1.0*a + 0.0"], &["add y, a"]);
    constants(&["add.mul m, n, 1", "add m, n/1"], &["add m, n", "add m, n"]);
    constants(&["add m, 0", "add m, n"], &["add m, n"]);
    constants(&["if 1 < 2", "add m, n", "else", "add m, 1", "fi 1 < 2"], &["add m, n"]);
    constants(&["assert 1 < 2", "add m, n"], &["add m, n"]);
    constants(&["assert 2 < n"], &["assert 2 < n"]);
    assert_pass(
        "divisions",
        ".in a: real, b: real\n.out y: real",
        &["add y, a * (1.0 / b)"],
        &["add y, a / b"],
    );
}

#[test]
fn procedures_that_are_called_once_are_inlined() {
    let text = |call: &str, body: &str| {
        after(
            "inlining",
            &format!(".inout x, y, v[3], t\n{call}\n; adds twice\n.proc p(inout a, in b)\n{body}\n.end\n"),
        )
    };
    let head = [".inout x, y, v[3], t"];
    let check = |found: Vec<String>, expected: &[&str]| assert_eq!(found, [&head[..], expected].concat());
    check(text("call p(x, y)", "add a, b"), &["add x, y"]);
    check(text("uncall p(x, y)", "add a, b"), &["sub x, y"]);
    check(text("call p(v[1], y)", "add a, b"), &["add v[1], y"]);
    check(text("call p(x, 3)", "add a, b"), &["add x, 3"]);
    check(
        text("call p(x, y*y)", "add a, b*b"),
        &["local b2: int = y * y", "add x, b2 * b2", "delocal b2: int = y * y"],
    );
    // A name that is visible at the call denotes another cell there.
    check(
        text("local u = 1\ncall p(x, y)\ndelocal u = 1", "local u = b\nadd a, u\ndelocal u = b"),
        &["local u = 1", "local u2 = y", "add x, u2", "delocal u2 = y", "delocal u = 1"],
    );
    let hides = text("call p(x, y)", "local t = b\nadd a, t\ndelocal t = b");
    assert!(hides.contains(&".proc p(inout a, in b)".to_owned()), "{hides:?}");
    let stays = text("call p(x, y)\ncall p(y, t)", "add a, b");
    assert!(stays.contains(&".proc p(inout a, in b)".to_owned()), "{stays:?}");
}

#[test]
fn optimized_programs_have_the_results_of_the_original() {
    let folder = Folder::new();
    let (target, again) = (folder.path("optimized.rasm"), folder.path("again.rasm"));
    let (target, again) = (target.to_str().unwrap(), again.to_str().unwrap());
    let mut compared = 0;
    for entry in std::fs::read_dir("programs").unwrap() {
        let path = entry.unwrap().path();
        let program = path.to_str().unwrap();
        if path.extension().is_none_or(|extension| extension != "rasm") {
            continue;
        }
        let original = reviver(&format!("run {program} --json"));
        if original.code != 0 {
            continue;
        }
        let original = original.json();
        for level in ["-O1", "-O2"] {
            reviver(&format!("opt {program} {level} -o {target} --force")).expect(0);
            reviver(&format!("fmt --check {target}")).expect(0);
            reviver(&format!("opt {target} {level} -o {again} --force")).expect(0);
            assert_eq!(folder.read("optimized.rasm"), folder.read("again.rasm"), "{program}");
            let optimized = reviver(&format!("run {target} --json")).expect(0).json();
            assert_eq!(optimized["outputs"], original["outputs"], "{program} {level}");
            assert!(optimized["steps"].as_u64() <= original["steps"].as_u64(), "{program} {level}");
        }
        compared += 1;
    }
    assert!(compared >= 60, "only {compared} programs were compared");
}

/// The forward sweep and the reverse sweep of the Bessel function, without the statements of adjoints.
#[test]
fn the_gradient_of_besselj_makes_at_most_390_primal_steps() {
    let text = reviver("grad programs/besselj.rasm --of out --emit -O2").expect(0).stdout;
    let primal: Vec<&str> =
        text.lines().filter(|line| !line.contains("_bar") && !line.contains("dropped")).collect();
    let folder = Folder::new();
    std::fs::create_dir(folder.path("lib")).unwrap();
    std::fs::copy("programs/lib/arithmetic.rasm", folder.path("lib/arithmetic.rasm")).unwrap();
    let file = folder.file("primal.rasm", primal.join("\n"));
    let steps = reviver(&format!("run {file} --json")).expect(0).json()["steps"].as_u64().unwrap();
    assert!((300..=390).contains(&steps), "{steps} steps");
}

#[test]
fn the_page_has_the_steps_of_each_level() {
    let page = std::fs::read_to_string("docs/optimization.md").unwrap();
    let folder = Folder::new();
    let target = folder.path("gradient.rasm");
    let target = target.to_str().unwrap();
    for level in ["-O0", "-O1", "-O2"] {
        reviver(&format!("grad programs/besselj.rasm --of out --emit {level} -o {target} --force")).expect(0);
        let steps = reviver(&format!("run {target} --json")).expect(0).json()["steps"].clone();
        assert!(page.contains(&format!("| `{level}` | {steps} |")), "{level}: {steps} steps");
    }
}

#[test]
fn programs_that_switch_gradient_mode_stay() {
    let folder = Folder::new();
    let text = ".inout x: real, y: real\n        add   y, x\n        sub   y, x\n        grad.on\n        grad.off\n";
    let file = folder.file("mode.rasm", text);
    let ran = reviver(&format!("opt {file}")).expect(0);
    assert_eq!(ran.stdout, text);
    assert!(ran.stderr.contains("switches gradient mode"), "{ran:?}");
}

#[test]
fn a_program_without_effects_keeps_its_declarations() {
    assert_eq!(after("dead", ".var x\nadd x, 1\nsub x, 1\n"), [".var x", "add x, 1", "sub x, 1"]);
}

/// Programs in which an analysis that is too coarse would see fewer accesses than there are.
const HIDDEN_ACCESSES: &[(&str, &str)] = &[
    (
        "a macro calls a procedure",
        ".inout x default 3\n.out y\n.var z\n.macro m(c)\ncall p(y, c)\n.endm\ncall p(y, z)\nm x\n\
         .proc p(inout y, in a)\nadd y, a\n.end\n",
    ),
    (
        "an uncalled procedure takes what it writes",
        ".inout x default 3\n.out c\n.var b\nlocal a = x\nwrite a\ndelocal a\nuncall p(b)\nadd c, b\ncall p(b)\n\
         .proc p(inout z)\nwrite z\n.end\n",
    ),
    (
        "an uncalled procedure takes what it pushes",
        ".inout x default 3\n.garbage s[]\n.out b\nlocal a = x\npush a\ndelocal a\nuncall p(b)\n\
         .proc p(inout z)\npush z\n.end\n",
    ),
    (
        "a macro is undone",
        ".inout x default 3\n.garbage s[]\n.out y\n.macro m(c)\npush c\n.endm\nlocal a = x\npush a\ndelocal a\nundo m y\n",
    ),
    (
        "a push is undone by uncompute",
        ".inout x default 3\n.garbage s[]\n.out y\ncompute\nlocal t = x\npush t\napply\nadd y, x\nuncompute\n",
    ),
    (
        "a local hides a global",
        ".inout x default 3\n.garbage g\n.out t\ncall p()\ncall p()\nadd t, g\n.proc p()\nlocal g = x\ndelocal g = x\n\
         add g, 1\n.end\n",
    ),
    (
        "a parameter has the name of a global",
        ".inout x default 3\n.out g, y\nadd y, g\ncall p(x)\nsub y, g\ncall p(x)\ncall q()\n.proc p(inout g)\ncall q()\n\
         .end\n.proc q()\nadd g, 1\n.end\n",
    ),
    (
        "a global is passed to a procedure that changes it",
        ".inout g default 3\n.out y\ncall p(g)\ncall p(y)\n.proc p(inout a)\nlocal t\nadd t, a\nadd g, 1\nsub g, 1\n\
         sub t, a\ndelocal t\nadd y, 0\n.end\n",
    ),
    (
        "a callee changes the index of an argument",
        ".inout i default 0\n.out A[4]\ncall p(A[i])\ncall q()\n.proc p(inout x)\nadd x, 1\ncall q()\nadd x, 2\n\
         uncall q()\n.end\n.proc q()\nadd i, 1\n.end\n",
    ),
    (
        "a comparison depends on the width of integers",
        ".word 8\n.inout x default 3\nif 0xff > 0\nadd x,1\nelse\nadd x,2\nfi 0xff > 0\n",
    ),
    (
        "a comparison depends on the precision",
        ".real f32\n.inout x default 3\nif 0.1 == 0.1000000001\nadd x, 1\nelse\nadd x, 2\nfi 0.1 == 0.1000000001\n",
    ),
    (
        "a value is computed twice",
        ".real fixed\n.inout a: real default 1000, b: real default 7\n.out y: real\nlocal inv = 1.0/b\nlocal t = a*inv\n\
         add y, t\ndelocal t = a*(1.0/b)\ndelocal inv = 1.0/b\n",
    ),
    (
        "a zero term hides a use of the target",
        ".inout w default 0\n.out u = 4\n.var y\ncall p(u)\ncall p(u)\n.proc p(inout z)\nsub u, w*y + w*z\n.end\n",
    ),
    (
        "tasks are calls",
        ".inout a, b\nfork\ncall p(a)\ncall q(b)\njoin\n.proc p(inout x)\nadd x, 1\n.end\n.proc q(inout x)\nadd x, 2\n.end\n",
    ),
    (
        "an index is outside of the array in a branch that isn't taken",
        ".inout A[2] = {1,2}\n.out y\ncall p(A, y)\n.proc p(in v[], inout y)\nif len(v) > 4\nadd y, v[4]\nfi len(v) > 4\n.end\n",
    ),
    (
        "a target is a source in a loop that doesn't run",
        ".inout n default 0, y default 5\ncall p(y)\n.proc p(in x)\nfor i in 0..n\nsub y, x\nrof\n.end\n",
    ),
    (
        "a local has the name of a constant",
        ".const K = 2\n.out y\ncall p(y)\nadd y, K\n.proc p(inout y)\nlocal K = 1\nadd y, K\ndelocal K = 1\n.end\n",
    ),
    (
        "a local has the name of a register",
        ".out y\nadd r1, 1\ncall p(y)\nsub r1, 1\n.proc p(inout y)\nlocal r1 = 1\nadd y, r1\ndelocal r1 = 1\n.end\n",
    ),
    (
        "an ancilla is declared after the call",
        ".out y\ncall r(y)\ncall r(y)\n.proc r(inout y)\ncall p(y)\n.ancilla t\nadd t, 1\nadd y, t\nsub t, 1\n.end\n\
         .proc p(inout y)\nlocal t = 1\nadd y, t\ndelocal t = 1\n.end\n",
    ),
    (
        "a macro names a global that a local hides",
        ".inout x default 3\n.out y\n.garbage t\n.macro m(c)\nadd t, c\n.endm\ncall p(y)\ncall p(y)\nadd y, t\n\
         .proc p(inout y)\nlocal t\nm x\nadd y, t\ndelocal t\n.end\n",
    ),
    (
        "a local variable is exchanged",
        ".inout x: real default 1\n.out z: real\nlocal y: real = 0\nswap y, x\nadd z, y*y\nswap y, x\ndelocal y = 0\n",
    ),
    ("a procedure shows its parameter", ".inout x default 3\ncall p(x)\n.proc p(inout a)\nshow a\n.end\n"),
];

#[test]
fn hidden_accesses_are_found() {
    let folder = Folder::new();
    let target = folder.path("optimized.rasm");
    let target = target.to_str().unwrap();
    let result = |file: &str| {
        let ran = reviver(&format!("run {file} --json")).expect(0).json();
        [ran["outputs"].clone(), ran["tape"].clone(), ran["shown"].clone()]
    };
    for (case, text) in HIDDEN_ACCESSES {
        let file = folder.file("program.rasm", text);
        let expected = result(&file);
        for level in ["-O1", "-O2"] {
            reviver(&format!("opt {file} {level} -o {target} --force")).expect(0);
            assert_eq!(
                result(target),
                expected,
                "{case} {level}: {}",
                std::fs::read_to_string(target).unwrap()
            );
            reviver(&format!("run {target} --check")).expect(0);
        }
    }
}

/// The parameters of a rule are given by the reverse sweep, not by calls.
#[test]
fn a_rule_that_is_also_called_keeps_its_parameters() {
    let text = ".inout x: real default 2\n.out y: real, w: real\n.var z: real\ncall q(w, z)\ncall p(y, x)\n\
        .proc p(inout y: real, in x: real) rule q\nadd y, x*x*x\n.end\n\
        .proc q(inout y: real, in x: real)\nadd x', y'*3*x*x\n.end\n";
    let folder = Folder::new();
    let file = folder.file("rule.rasm", text);
    let optimized = folder.file("optimized.rasm", &reviver(&format!("opt {file}")).expect(0).stdout);
    for file in [file, optimized] {
        let gradient = reviver(&format!("grad {file} --of y --json")).expect(0).json();
        assert_eq!(gradient["grad"]["x"], 12.0, "{file}");
    }
}

/// The garbage of an inverse is given by the user.
#[test]
fn an_inverse_keeps_its_garbage() {
    let text = after("dead", ".inverse\n.out x\n.garbage g\nswap x, g\n");
    assert_eq!(text, [".inverse", ".out x", ".garbage g", "swap x, g"]);
}

/// Procedures that call each other in a long chain, and many statements in a procedure.
#[test]
fn large_programs_are_optimized() {
    let folder = Folder::new();
    let mut chain = ".out y\ncall p0(y)\ncall p0(y)\n".to_owned();
    for n in 0..20_000 {
        chain += &format!(".proc p{n}(inout y)\nadd y, 1\ncall p{}(y)\nadd y, {n}\n.end\n", n + 1);
    }
    chain += ".proc p20000(inout y)\nadd y, 1\n.end\n";
    let file = folder.file("chain.rasm", &chain);
    reviver(&format!("opt {file}")).expect(0);
    let lines: String = (0..20_000).map(|n| format!("add y, x\nadd g, {n}\n")).collect();
    let long =
        format!(".inout x\n.out g, z\ncall p(z, x)\ncall p(z, x)\n.proc p(inout y, in x)\n{lines}.end\n");
    let file = folder.file("long.rasm", &long);
    reviver(&format!("opt {file}")).expect(0);
}

/// A procedure stays if its body, which isn't executed, would have a constant index or a constant expression with an error.
#[test]
fn inlining_makes_no_constant_errors() {
    let folder = Folder::new();
    for (call, parameters, statement) in [
        ("A, n", "inout a[], in n", "add a[K], 1"),
        ("A, n", "inout a[], in n", "add a[7], 1"),
        ("A, n", "inout a[], in n", "add a[K - 1], 1"),
        ("m, n, 3", "inout m, in n, in b", "add A[b + K], 1"),
        ("m, n, 0", "inout m, in n, in b", "add m, 7 / (b * K)"),
        ("x, n, 0.0", "inout x: real, in n, in b: real", "add x, sqrt(b - pi)"),
        ("x, n, 0.0", "inout x: real, in n, in b: real", "add x, 1 / (b * RATE)"),
    ] {
        let text = format!(
            ".const K = 5\n.const RATE = 0.5\n.inout A[3], m, n, x: real\ncall p({call})\n\
             .proc p({parameters})\nif n > 3\n{statement}\nfi n > 3\n.end\n"
        );
        let file = folder.file("program.rasm", text);
        let optimized = reviver(&format!("opt {file} --pass inlining")).expect(0).stdout;
        assert!(optimized.contains(".proc p("), "{statement}: {optimized}");
        reviver(&format!("run {}", folder.file("optimized.rasm", optimized))).expect(0);
    }
}
