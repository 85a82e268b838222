//! `--unchecked`: the results are the same, all outputs label them as unchecked, and an engine that can't skip checks
//! refuses.

use crate::support::{Folder, reviver};

/// Program with a failing last check, after steps that are compiled to native code.
const LEFT_OVER: &str =
    ".in n default 200\n.out s\n.ancilla t\nfor i in 0..n\n add s, i\n add t, 1\nrof\nvacate t\n";

#[test]
fn unchecked_runs_print_the_same_results_and_report_their_level() {
    const LINE: &str = "unchecked: ancilla and join checks were skipped\n";
    for command in [
        "run programs/fib.rasm --set n=1000000",
        "run programs/fib.rasm --back --set a=55,b=89",
        "run programs/gcd.rasm --check",
        "run programs/besselj.rasm --real f32",
        "run programs/besselj.rasm --set z=3",
        "run programs/graph_embedding.rasm --real fixed --check",
        "run programs/particles.rasm --real fixed --check",
    ] {
        let checked = reviver(&format!("{command} --engine jit")).expect(0);
        for engine in ["jit", "auto"] {
            let unchecked = reviver(&format!("{command} --engine {engine} --unchecked")).expect(0);
            assert_eq!(unchecked.stdout, checked.stdout.clone() + LINE, "{command}");
        }
    }
    let object = reviver("run programs/fib.rasm --unchecked --json").expect(0).json();
    assert_eq!(object["level"], "unchecked");
    let object = reviver("run programs/fib.rasm --json --stats").expect(0).json();
    assert_eq!((object.get("level"), object.get("discarded_bits").is_some()), (None, true));
    let object = reviver("run programs/fib.rasm --json --stats --unchecked").expect(0).json();
    assert_eq!(object.get("discarded_bits"), None);
}

#[test]
fn unchecked_gradients_are_equal_and_unverified() {
    const LINE: &str = "unchecked: the reverse sweep wasn't verified";
    let command = "grad programs/besselj.rasm --loss out --engine jit";
    let checked = reviver(command).expect(0);
    let unchecked = reviver(&format!("{command} --unchecked --verify"))
        .expect(0)
        .prints_part(LINE)
        .prints_part("verified");
    assert_eq!(unchecked.stdout.lines().next(), checked.stdout.lines().next());
    assert!(!checked.stdout.contains("unchecked"));
    let object = reviver(&format!("{command} --unchecked --json")).expect(0).json();
    assert_eq!((object["level"].as_str(), object["loss_error"].is_null()), (Some("unchecked"), true));
    assert!(object["drops"].is_null() && unchecked.stdout.contains("drops: not counted"));
    reviver("jacobian programs/rotation.rasm --engine jit --unchecked").expect(0);
    reviver("jacobian programs/norm.rasm --of length --engine jit --unchecked").expect(0).prints_part(LINE);
    // The interpreter always computes Hessians, with all checks.
    let object = reviver("hessian programs/besselj.rasm --loss out --unchecked --json").expect(0).json();
    assert_eq!((object.get("level"), object["loss_error"].is_null()), (None, false));
}

#[test]
fn a_saved_state_records_that_it_is_unchecked() {
    let folder = Folder::new();
    let [checked, unchecked] = ["checked", "unchecked"].map(|name| folder.at(name));
    let run = "run programs/fib.rasm --engine jit";
    reviver(&format!("{run} --set n=100000 --max-steps 40000 --save-state {checked}")).expect(5);
    reviver(&format!("{run} --unchecked --set n=100000 --max-steps 40000 --save-state {unchecked}"))
        .expect(5);
    reviver(&format!("{run} --from-state {checked}")).expect(0);
    reviver(&format!("{run} --from-state {unchecked}")).expect(2).says("saved by a run with `--unchecked`");
    reviver(&format!("{run} --from-state {unchecked} --unchecked"))
        .expect(0)
        .prints_part("unchecked: ancilla and join checks were skipped");
}

#[test]
fn unchecked_runs_skip_vacancy_checks_only() {
    let folder = Folder::new();
    let file = folder.file("left.rasm", LEFT_OVER);
    reviver(&format!("run {file} --engine jit")).expect(4).says("`t` must be vacant");
    reviver(&format!("run {file} --engine jit --unchecked")).expect(0).prints_part("s = 19900");
    // Assertions are part of the program, so they are always checked.
    let text = LEFT_OVER.replace("vacate t", "assert t == 0");
    let file = folder.file("asserted.rasm", &text);
    reviver(&format!("run {file} --engine jit --unchecked")).expect(4).says("assertion");
}

#[test]
fn the_interpreter_and_histories_refuse_unchecked_runs() {
    reviver("run programs/fib.rasm --engine interp --unchecked")
        .expect(2)
        .says("the interpreter always checks everything")
        .says("leave out `--unchecked`");
    reviver("grad programs/besselj.rasm --loss out --exact --unchecked")
        .expect(2)
        .says("`--exact` needs the interpreter for its history")
        .says("leave out `--unchecked` or `--exact`");
}

#[test]
fn benches_have_both_levels_and_c_text_reports_its_level() {
    let reported = reviver("bench programs/fib.rasm --unchecked --seconds 0").expect(0);
    assert!(reported.stdout.contains("jit unchecked"), "{}", reported.stdout);
    let object = reviver("bench programs/fib.rasm --unchecked --seconds 0 --json").expect(0).json();
    assert!(object["engines"]["jit_unchecked"]["forward"]["steps"].is_u64(), "{object}");
    let build = "build programs/besselj.rasm --loss out";
    let reported = reviver(&format!("{build} --header --unchecked")).expect(0);
    for words in [
        "#define BESSELJ_UNCHECKED 1",
        "Unchecked: vacancy and join checks are left out",
        "the derivatives are silently wrong",
    ] {
        assert!(reported.stdout.contains(words), "{words}: {}", reported.stdout);
    }
    assert!(reviver(&format!("{build} --unchecked")).expect(0).stdout.contains(" unchecked\";"));
    assert!(!reviver(&format!("{build} --header")).expect(0).stdout.contains("UNCHECKED"));
}
