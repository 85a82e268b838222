//! `--strategy`, `--memory`, `--plan` and `--stats`: the same derivatives in different amounts of memory, refusals,
//! and interrupted gradients.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Folder, command, reviver};

const LISTING: &str = "grad programs/checkpoint_listing.rasm --loss y";

#[test]
fn plans_count_the_steps_of_revolve() {
    let known =
        [(10, 3, 25), (100, 10, 322), (1_000, 40, 3_097), (10_000, 10, 67_624), (100_003, 30, 547_658)];
    for (steps, slots, forward) in known {
        let plan = format!("{LISTING} --strategy checkpoint={slots}:1 --plan {steps}");
        reviver(&plan).expect(0).prints_part(&format!("{forward} steps forward in total"));
        let object = reviver(&format!("{plan} --json")).expect(0).json();
        assert_eq!(object["forward_steps"], forward);
    }
    let object = reviver(&format!("{LISTING} --strategy checkpoint=2:1 --plan 3 --json")).expect(0).json();
    let actions = r#"[{"run":[0,1]},{"keep":1},{"run":[1,2]},{"back":[3,2]},{"back":[2,1]},{"free":1},{"back":[1,0]},{"free":0}]"#;
    assert_eq!(object["actions"].to_string(), actions);
    let lossless = "run programs/fib.rasm --check --strategy checkpoint --plan 100";
    reviver(lossless).expect(0).prints_part("nothing is kept").prints_part("100 steps forward in total");
}

/// Returns the members that no strategy may change.
fn reported(object: &Value) -> String {
    let keys = ["value", "grad", "tape", "steps", "steps_back", "turned", "drops", "reported", "loss_error"];
    keys.map(|key| object[key].to_string()).join(" ")
}

#[test]
fn all_strategies_give_the_same_gradient() {
    let of =
        |options: &str| reviver(&format!("{LISTING} --set n=300 --strict --json {options}")).expect(0).json();
    let exact = of("--exact");
    assert_eq!(exact["strategy"], Value::Null);
    for (options, name, why) in [
        ("--strategy reverse", "reverse", "asked"),
        ("--strategy tape", "tape", "asked"),
        ("--strategy checkpoint", "checkpoint", "asked"),
        ("--strategy checkpoint=2:500", "checkpoint", "asked"),
        ("--strategy auto", "reverse", "fits"),
        ("--memory 64K", "checkpoint", "exceeds"),
        ("--strategy checkpoint --memory 64K", "checkpoint", "asked"),
    ] {
        let found = of(&format!("{options} --stats"));
        assert_eq!(reported(&found), reported(&exact), "{options}");
        assert_eq!((&found["strategy"]["name"], &found["strategy"]["why"]), (&name.into(), &why.into()));
        let cost = &found["cost"];
        assert_eq!(cost["peak_bytes"], found["history_bytes"]);
        let number = |value: &Value| value.as_u64().unwrap();
        let run_steps = number(&found["steps"]) + number(&found["steps_back"]);
        assert_eq!(number(&cost["steps"]), run_steps + number(&cost["again"]), "{options}");
        if options.contains("64K") {
            assert!(number(&cost["peak_bytes"]) <= 64 << 10, "{cost}");
        }
    }
}

/// More memory means fewer recomputed steps. A plan reports the same numbers of slots and leaves as the run.
#[test]
fn memory_is_divided_between_snapshots_and_leaves() {
    let mut least = u64::MAX;
    for memory in ["2K", "3K", "4K", "5K", "8K", "16K", "64K"] {
        let command = format!("{LISTING} --strategy checkpoint --memory {memory} --json");
        let found = reviver(&format!("{command} --stats")).expect(0).json();
        let number = |value: &Value| value.as_u64().unwrap();
        let again = number(&found["cost"]["again"]);
        assert!(
            again <= least.saturating_add(least / 4),
            "{memory}: {}, and {least} with less",
            found["cost"]
        );
        least = least.min(again);
        let plan = reviver(&format!("{command} --plan 57586")).expect(0).json();
        let bounds = [&found["strategy"]["slots"], &found["strategy"]["leaf"]];
        assert_eq!([&plan["slots"], &plan["leaf"]], bounds, "{memory}");
        assert_eq!([&plan["strategy"]["slots"], &plan["strategy"]["leaf"]], bounds, "{memory}");
    }
    // Numbers of slots and leaves that exceed the memory are reduced.
    let asked = reviver(&format!("{LISTING} --strategy checkpoint=2:1000000 --memory 5K --stats --json"));
    let found = asked.expect(0).json();
    assert!(found["strategy"]["leaf"].as_u64() < Some(64), "{}", found["strategy"]);
    assert!(found["cost"]["peak_bytes"].as_u64() <= Some(5 << 10), "{}", found["cost"]);
    assert!(found["cost"]["steps"].as_u64() < Some(10_000_000), "{}", found["cost"]);
}

/// States are large while calls are open, and small later. Snapshots of both sizes fit into the memory.
#[test]
fn snapshots_of_any_size_fit_the_memory() {
    let folder = Folder::new();
    let text = ".inout x: real default 1.1\n.out y: real\n.inout d default 60\n.inout n default 3000\ncall down(x, d)\n\
                for i in 0..n\noverwrite.sin x, x\nrof\nadd y, x\n\
                .proc down(inout a: real, in d)\n.ancilla e, s[10]: real\nif d > 0\nadd e, d - 1\n\
                overwrite.sin a, a\ncall down(a, e)\noverwrite.mul a, a, 1.01\nsub e, d - 1\nfi d > 0\n.end\n";
    let file = folder.file("deep.rasm", text);
    let of =
        |options: &str| reviver(&format!("grad {file} --loss y --json --stats {options}")).expect(0).json();
    let exact = of("--exact");
    for memory in [5, 8, 12, 16, 20, 24, 32, 48, 64] {
        let found = of(&format!("--strategy checkpoint --memory {memory}K"));
        assert_eq!(reported(&found), reported(&exact), "{memory}K");
        assert!(found["cost"]["peak_bytes"].as_u64() <= Some(memory << 10), "{memory}K: {}", found["cost"]);
    }
}

/// If a strategy fails for lack of memory, it isn't reported as the strategy that was used.
#[test]
fn a_strategy_without_memory_is_not_reported_as_used() {
    let folder = Folder::new();
    let file = folder.file("lossy.rasm", ".inout n default 9\n.out t\nfor i in 0..n\noverwrite t, i\nrof\n");
    for command in ["--check", "--exact"] {
        let ran =
            reviver(&format!("run {file} {command} --memory 10")).expect(4).says("takes more than 10 bytes");
        assert!(!ran.stdout.contains("strategy"), "{ran:#?}");
        let object = reviver(&format!("run {file} {command} --memory 10 --json")).expect(4).json();
        assert_eq!(object["strategy"], Value::Null, "{object}");
    }
    reviver(&format!("run {file} --check --strategy checkpoint --memory 1"))
        .expect(4)
        .says("takes more than 1 byte");
}

#[test]
fn assignments_are_differentiated_in_little_memory() {
    for (n, bytes) in [(1_000, 128 << 10), (10_000, 128 << 10)] {
        let ran = format!("{LISTING} --set n={n} --strict --strategy checkpoint --stats --json");
        let object = reviver(&ran).expect(0).json();
        assert_eq!((&object["value"].to_string()[..], &object["grad"]["x"].to_string()[..]), ("3.0", "1.0"));
        assert!(object["history_bytes"].as_u64().unwrap() <= bytes, "{object}");
    }
}

#[test]
fn jacobians_hessians_and_round_trips_have_strategies() {
    for command in [
        "jacobian programs/checkpoint_listing.rasm --set n=50 --of y",
        "hessian programs/checkpoint_listing.rasm --set n=50 --loss y",
        "hessian programs/besselj.rasm --loss out",
    ] {
        let of = |options: &str| reviver(&format!("{command} --json {options}"));
        let exact = of("--exact").expect(0).json();
        let by_states = of("--strategy checkpoint=3:40 --stats").expect(0).json();
        for key in ["values", "jacobian", "value", "grad", "hessian", "reported"] {
            assert_eq!(by_states[key], exact[key], "{command}: {key}");
        }
        assert_eq!(by_states["strategy"]["slots"], 3);
        assert!(by_states["cost"]["again"].as_u64().unwrap() > 0);
    }
    let trip = "run programs/checkpoint_listing.rasm --set n=200 --check";
    reviver(&format!("{trip} --strategy checkpoint --stats"))
        .expect(0)
        .prints_part("restored: yes, bit for bit")
        .prints_part("strategy: checkpoint with 30 slots and leaves of 5000 steps")
        .prints_part("repeated");
    let object = reviver(&format!("{trip} --strategy checkpoint=2:777 --json")).expect(0).json();
    let exact = reviver(&format!("{trip} --exact --json")).expect(0).json();
    for key in ["outputs", "steps", "restored", "bit_exact", "erased_bits", "digest"] {
        assert_eq!(object[key], exact[key], "{key}");
    }
    reviver("run programs/fib.rasm --check --strategy checkpoint")
        .expect(0)
        .prints_part("history: 0 bytes")
        .prints_part("no step loses anything");
}

#[test]
fn conflicting_options_are_refused() {
    let listing = "programs/checkpoint_listing.rasm";
    reviver(&format!("run {listing} --strategy tape")).expect(2).says("--check");
    reviver(&format!("run {listing} --check --strategy auto --save-state s")).expect(2).says("--save-state");
    reviver(&format!("{LISTING} --strategy auto --unchecked")).expect(2).says("a strategy needs all checks");
    reviver(&format!("{LISTING} --strategy bennett")).expect(2).says("the strategies are");
    reviver(&format!("{LISTING} --strategy checkpoint=0")).expect(2).says("at least 1");
    reviver(&format!("{LISTING} --strategy reverse --memory 1K"))
        .expect(4)
        .says("takes more than 1024 bytes");
    reviver(&format!("{LISTING} --strategy checkpoint --memory 100"))
        .expect(4)
        .says("takes more than 100 bytes");
}

#[test]
fn the_debugger_takes_strategies() {
    let folder = Folder::new();
    let script = folder.file("script", "goto end\nreverse-step 2000\ngoto 1\nprint y\n");
    let of = |options: &str| {
        let line = format!("debug programs/checkpoint_listing.rasm --set n=50 --batch {script} {options}");
        reviver(&line).expect(0).stdout
    };
    let expected = of("");
    for options in [
        "--strategy reverse",
        "--strategy tape",
        "--strategy checkpoint=2:100",
        "--strategy auto",
        "--memory 64K",
    ] {
        assert_eq!(of(options), expected, "{options}");
    }
}

/// A tape stores the changes of integer steps, which no other strategy needs.
#[test]
fn a_tape_stores_reversible_steps_too() {
    let folder = Folder::new();
    let script = folder.file("script", "goto end\ninfo status\nreverse-continue\nprint a\n");
    let of = |strategy: &str| {
        reviver(&format!("debug programs/fib.rasm --batch {script} --strategy {strategy}")).expect(0).stdout
    };
    let (taped, plain) = (of("tape"), of("reverse"));
    assert_eq!(taped.lines().last(), plain.lines().last());
    assert!(plain.contains("history: 0 B of residues"), "{plain}");
    assert!(taped.contains("history: ") && !taped.contains("history: 0 B of residues"), "{taped}");
}

/// Program in which one step loses something, and many others lose nothing, so that hardly anything needs to be kept.
const LOSES_ONCE: &str =
    ".inout n default 3\n.out y\n.out t\noverwrite t, n\nfor i in 0..200000\nadd y, t\nrof\n";

#[test]
fn lossless_segments_keep_few_snapshots() {
    let folder = Folder::new();
    let file = folder.file("once.rasm", LOSES_ONCE);
    let of =
        |options: &str| reviver(&format!("run {file} --check --json --stats {options}")).expect(0).json();
    let kept = of("--strategy checkpoint");
    assert_eq!(kept["bit_exact"], json!(true));
    let (peak, state) = (kept["cost"]["peak_bytes"].as_u64(), kept["state_bytes"].as_u64());
    // Of 30 slots only these are used: the start, and one for each doubling of the spacing.
    assert!(peak < state.map(|state| 8 * state), "{kept}");
    // A history that fits into memory is kept, even if the memory is small.
    let auto = of("--strategy auto --memory 1K");
    assert_eq!((&auto["strategy"]["name"], &auto["cost"]["again"]), (&json!("reverse"), &json!(0)), "{auto}");
}

/// Snapshots are discarded where nothing is lost. That causes no recomputation elsewhere: the number of steps is the
/// same as with all snapshots.
#[test]
fn discarded_snapshots_cause_no_recomputation() {
    let folder = Folder::new();
    let text = ".inout quiet, lossy, pairs\n.out y, t\nfor k in 0..pairs\nfor i in 0..quiet\nadd y, i\nrof\n\
                for j in 0..lossy\noverwrite t, y + j\nrof\nrof\n";
    let file = folder.file("pairs.rasm", text);
    for (sizes, slots, again) in [
        ("quiet=200000,lossy=20000,pairs=1", 4, 530_000),
        ("quiet=200000,lossy=20000,pairs=1", 8, 260_000),
        ("quiet=100000,lossy=20000,pairs=10", 30, 2_050_000),
    ] {
        let command =
            format!("run {file} --set {sizes} --check --stats --json --strategy checkpoint={slots}");
        let found = reviver(&command).expect(0).json();
        assert!(found["cost"]["again"].as_u64() <= Some(again), "{sizes}: {}", found["cost"]);
    }
}

#[test]
fn a_run_that_keeps_a_history_takes_a_strategy() {
    let ran = reviver("run programs/checkpoint_listing.rasm --exact --strategy checkpoint=4 --stats --json");
    let object = ran.expect(0).json();
    assert_eq!(object["strategy"]["slots"], json!(4));
    assert!(object["cost"]["checkpoints"].as_u64() > Some(0), "{object}");
}

/// A gradient interrupted repeatedly in both sweeps equals an uninterrupted one.
#[test]
fn a_resumed_gradient_keeps_its_snapshots() {
    let folder = Folder::new();
    for strategy in ["checkpoint=4:200", "auto --memory 40K", "tape", "reverse"] {
        let command = format!("{LISTING} --set n=40 --json --strategy {strategy}");
        let whole = reviver(&command).expect(0).json();
        let mut from = String::new();
        let mut pieces = 0;
        let found = loop {
            let state = folder.at(&format!("state{pieces}"));
            let ran = reviver(&format!("{command} --max-steps 700 --save-state {state} --force{from}"));
            if ran.code == 0 {
                break ran.json();
            }
            ran.expect(5);
            from = format!(" --from-state {state}");
            pieces += 1;
        };
        assert!(pieces > 4, "{strategy}: {pieces} pieces");
        assert_eq!(reported(&found), reported(&whole), "{strategy}");
        reviver(&format!("{LISTING} --set n=40 --strategy checkpoint=5{from}"))
            .expect(2)
            .says("another strategy");
        // The file contains the strategy.
        let without = reviver(&format!("{LISTING} --set n=40 --json{from}")).expect(0).json();
        assert_eq!(reported(&without), reported(&whole), "{strategy}");
        if strategy != "reverse" {
            assert_eq!(without["strategy"], whole["strategy"], "{strategy}");
            reviver(&format!("{LISTING} --set n=40 --exact{from}")).expect(2).says("instead of `--exact`");
        }
    }
}

/// A gradient stores nothing in files, so a killed process leaves no files.
#[test]
fn a_killed_gradient_leaves_no_files() {
    for milliseconds in [5, 50, 200, 500] {
        let folder = Folder::new();
        let program = crate::support::root().join("programs/checkpoint_listing.rasm");
        let mut child = Command::new(command().get_program())
            .args(["grad", &program.display().to_string(), "--loss", "y", "--set", "n=3000000"])
            .args(["--strategy", "checkpoint", "--save-state", "state"])
            .current_dir(folder.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(folder.names(), [""; 0], "after {milliseconds} ms");
    }
}
