//! `--save-state` and `--from-state`: a run continues as if it had never stopped, and only from a state of the
//! same program.

use crate::support::{Folder, reviver};

/// Runs `run PROGRAM OPTIONS` in two halves with a state file between them.
fn halves(folder: &Folder, program: &str, options: &str, flags: &str, steps: u32) -> String {
    let state = folder.path("state");
    let state = state.display();
    reviver(&format!("run {program} {options} {flags} --max-steps {steps} --save-state {state}")).expect(5);
    reviver(&format!("run {program} {flags} --from-state {state} --json")).expect(0).stdout
}

fn digest(json: &str) -> String {
    let object: serde_json::Value = serde_json::from_str(json).unwrap();
    format!("{} {}", object["outputs"], object["digest"])
}

#[test]
fn a_resumed_run_ends_the_same() {
    let folder = Folder::new();
    let cases = [
        ("programs/fib.rasm", "--set n=30", "", 77),
        ("programs/fib.rasm", "--set a=55,b=89", "--back", 20),
        ("programs/fib_recursive.rasm", "", "", 50),
        ("programs/sum3.rasm", "", "--exact", 2),
        ("programs/sort.rasm", "", "", 60),
        ("programs/xtea.rasm", "", "", 100),
    ];
    for (program, options, flags, steps) in cases {
        let whole = reviver(&format!("run {program} {options} {flags} --json")).expect(0).stdout;
        let resumed = halves(&folder, program, options, flags, steps);
        assert_eq!(digest(&whole), digest(&resumed), "{program} {options} {flags}");
    }
}

/// The final states of these runs of one program differ in only one part.
#[test]
fn the_digest_covers_every_part_of_a_state() {
    let folder = Folder::new();
    let call = ".inout A[2], n\nadd n, 1\ncall p(A[n-1])\n.proc p(in a)\nshow a\n.end\n";
    for (text, one, other) in [
        (".inout n\nadd n, 1\n", "--set n=1", "--set n=2"),
        (".inout x: real\nadd x, 1\n", "--set x=0.0", "--set x=0.5"),
        (".inout n\npush n\n", "--set n=1", "--set n=2"),
        (".inout x: real\npush x\n", "--set x=0.5", "--set x=1.5"),
        (".inout n\nwrite n\n", "--set n=1", "--set n=2"),
        (".inout x: real\nwrite x\n", "--set x=0.5", "--set x=1.5"),
        (".inout n\nadd n, 1\n", "--tape 1", "--tape 2"),
        (".inout n\nadd n, 1\n", "--tape 0", "--tape 0.0"),
        (call, "--set n=0 --max-steps 2", "--set n=1 --max-steps 2"),
    ] {
        let program = folder.file("part.rasm", text);
        let digest = |options: &str| {
            let object = reviver(&format!("run {program} {options} --json")).json();
            object["digest"].as_str().unwrap().to_owned()
        };
        assert_eq!(digest(one), digest(one), "{text}");
        assert_ne!(digest(one), digest(other), "{text}");
    }
}

#[test]
fn a_saved_end_can_run_back_to_the_start() {
    let folder = Folder::new();
    let state = folder.path("end");
    let state = state.display();
    reviver(&format!("run programs/sum3.rasm --exact --save-state {state}")).expect(0);
    let back = format!("run programs/sum3.rasm --exact --back --from-state {state} --json");
    let object = reviver(&back).expect(0).json();
    assert_eq!(object["history_bytes"], 0, "the residues were used up: {object}");
}

#[test]
fn restored_bits_are_subtracted_from_the_erased_bits() {
    let folder = Folder::new();
    // The residue in t isn't 0, but counts as 0.
    let text = ".inout s: real default 1\nlocal t = 0.1\nadd t, 0.2\nsub t, 0.3\ndelocal t = 0\nerase s\n";
    let program = folder.file("lossy.rasm", text);
    let state = folder.at("state");
    let lost = |options: &str| {
        let object = reviver(&format!("run {program} --exact --stats --json {options}")).expect(0).json();
        [&object["discarded_bits"], &object["erased_bits"]].map(|bits| bits.as_u64().unwrap())
    };
    assert_eq!(lost(&format!("--save-state {state}")), [64, 64]);
    assert_eq!(lost(&format!("--back --from-state {state}")), [0, 0]);
}

#[test]
fn a_state_of_another_program_is_refused() {
    let folder = Folder::new();
    let state = folder.path("state");
    let state = state.display();
    reviver(&format!("run programs/fib.rasm --max-steps 10 --save-state {state}")).expect(5);
    let other = "belongs to another program";
    reviver(&format!("run programs/gcd.rasm --from-state {state}")).expect(3).says(other);
    reviver(&format!("run programs/fib.rasm --word 32 --from-state {state}")).expect(3).says(other);
    reviver(&format!("run programs/fib.rasm --from-state {state} --set n=3")).expect(2).says("--set");
}

#[test]
fn a_damaged_state_is_refused() {
    let folder = Folder::new();
    let state = folder.path("state").display().to_string();
    reviver(&format!("run programs/fib.rasm --max-steps 10 --save-state {state}")).expect(5);
    let good = folder.read("state");
    let resume = |bytes: &[u8]| {
        let file = folder.file("bad", bytes);
        reviver(&format!("run programs/fib.rasm --from-state {file}")).expect(3).says("error: ").prints("");
    };
    for length in [0, 1, 7, 8, 9, 13, 14, good.len() / 2, good.len() - 1] {
        resume(&good[..length]);
    }
    for place in (0..good.len()).step_by(good.len().div_ceil(24)) {
        let mut bad = good.clone();
        bad[place] ^= 1 << (place % 8);
        resume(&bad);
    }
    resume(&[&good[..], b"more"].concat());
    reviver("run programs/fib.rasm --from-state programs/fib.rasm").expect(3).says("not a state file");
    reviver("run programs/fib.rasm --from-state programs/none").expect(3).says("there is no file");
}

/// Runs a gradient in pieces of at most `steps` steps. Returns its result, and the number of pieces.
fn in_pieces(folder: &Folder, command: &str, steps: u32) -> (serde_json::Value, u32) {
    let mut from = String::new();
    for pieces in 1..1000 {
        let state = folder.at(&format!("state{pieces}"));
        let ran = reviver(&format!("{command} --max-steps {steps} --save-state {state}{from} --json"));
        if ran.code == 0 {
            return (ran.json(), pieces);
        }
        let ran = ran.expect(5).says(&format!("`--from-state {state}`"));
        assert_eq!(ran.json()["saved_state"], state);
        from = format!(" --from-state {state}");
    }
    panic!("{command} never arrives");
}

/// Removes members that depend on memory allocation.
fn reported(mut object: serde_json::Value) -> serde_json::Value {
    object.as_object_mut().unwrap().remove("memory_bytes");
    object
}

/// Creates a program that fixed point computes exactly.
fn loops(folder: &Folder) -> String {
    let text =
        ".inout x: real default 2\n.out y: real\n.inout n default 50\n  for i in 0..n\n    add y, x\n  rof\n";
    folder.file("loops.rasm", text)
}

#[test]
fn a_resumed_gradient_equals_an_uninterrupted_one() {
    let folder = Folder::new();
    let loops = loops(&folder);
    for (program, options, steps) in [
        ("programs/besselj.rasm", "--loss out --set nu=2,z=1.0", 50),
        ("programs/besselj.rasm", "--loss out --set nu=2,z=1.0 --exact", 35),
        (&loops, "--loss y --real fixed", 50),
        ("programs/norm.rasm", "--loss length", 3),
    ] {
        let command = format!("grad {program} {options}");
        let whole = reviver(&format!("{command} --json")).expect(0).json();
        let (found, pieces) = in_pieces(&folder, &command, steps);
        assert!(pieces > 3, "{command}: {pieces}");
        assert_eq!(reported(found), reported(whole), "{command}");
    }
}

/// In floats, a comparison flips in the reverse sweep. So the sweep is recomputed with a history, also if the gradient
/// is computed in pieces.
#[test]
fn a_resumed_gradient_is_recomputed() {
    let folder = Folder::new();
    let text = ".inout a: real default 0.3\n.inout b: real default 0.3\n.inout w: real default 5\n.out loss: real\n  \
                if b >= a\n    add.mul loss, w, b\n  else\n    add.mul loss, w, 100\n  fi b >= a\n  \
                add a, 0.1\n  add a, 0.7\n";
    let file = folder.file("flips.rasm", text);
    let command = format!("grad {file} --loss loss");
    let whole = reviver(&format!("{command} --json")).expect(0).json();
    for steps in [1, 2, 3, 4] {
        let (found, _) = in_pieces(&folder, &command, steps);
        assert_eq!(found["grad"], whole["grad"], "{found}");
        assert!(found["mended"].is_object(), "{found}");
    }
}

#[test]
fn a_gradient_resumes_only_from_its_own_states() {
    let folder = Folder::new();
    let (there, back) = (folder.at("there"), folder.at("back"));
    let grad = "grad programs/besselj.rasm --loss out";
    reviver(&format!("{grad} --set z=1.0 --max-steps 190 --save-state {there}")).expect(5);
    reviver(&format!("{grad} --set z=1.0 --max-steps 100 --from-state {there} --save-state {back}"))
        .expect(5);
    for state in [&there, &back] {
        reviver(&format!("{grad} --set z=1.0 --from-state {state}")).expect(0);
        let other = reviver(&format!("{grad} --set z=1.5 --from-state {state}"));
        other.expect(2).says("the saved gradient began with other inputs").prints("");
        let exact = reviver(&format!("{grad} --set z=1.0 --exact --from-state {state}"));
        exact.expect(2).says("but none was saved");
    }
    let other = reviver(&format!("grad programs/besselj.rasm --loss z --set z=1.0 --from-state {back}"));
    other.expect(2).says("the state is in the reverse sweep of another loss");
    reviver(&format!("{grad} --save-state -")).expect(2).says("a state can't be printed");
    reviver(&format!("{grad} --from-state {there} --save-state {there}"))
        .expect(2)
        .says("would be overwritten");
}

/// A plain run records no data for verification. So in floats, a gradient that continues the run needs a history.
#[test]
fn a_gradient_resumes_from_a_run_that_is_exactly_reversible() {
    let folder = Folder::new();
    let state = folder.at("state");
    let loops = loops(&folder);
    for (program, given, loss, options, is_sure) in [
        ("programs/besselj.rasm", "--set z=1.0", "out", "", false),
        ("programs/besselj.rasm", "--set z=1.0", "out", "--exact", true),
        (&loops, "", "y", "--real fixed", true),
    ] {
        reviver(&format!("run {program} {given} {options} --max-steps 90 --save-state {state}")).expect(5);
        let command = format!("grad {program} {given} {options} --loss {loss} --json");
        let ran = reviver(&format!("{command} --from-state {state}"));
        if is_sure {
            let whole = reviver(&command).expect(0).json();
            assert_eq!(ran.expect(0).json()["grad"], whole["grad"]);
        } else {
            ran.expect(2).says("a plain run doesn't record its branches");
        }
    }
}

/// A gradient can't continue from the state of a run that continued a gradient.
#[test]
fn a_gradient_cannot_resume_after_a_run() {
    let folder = Folder::new();
    let (program, back, other) = (loops(&folder), folder.at("back"), folder.at("other"));
    let grad = format!("grad {program} --loss y");
    reviver(&format!("{grad} --max-steps 100 --save-state {other}")).expect(5);
    reviver(&format!("{grad} --max-steps 100 --from-state {other} --save-state {back}")).expect(5);
    reviver(&format!("run {program} --back --max-steps 1 --from-state {back} --save-state {other}"))
        .expect(5);
    reviver(&format!("{grad} --from-state {other}")).expect(2).says("gradient mode is on in the saved state");
}
