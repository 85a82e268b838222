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
        text("call p(x, y)", "local t = b\nadd a, t\ndelocal t = b"),
        &["local t2 = y", "add x, t2", "delocal t2 = y"],
    );
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
    let file = folder.file("primal.rasm", &primal.join("\n"));
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
