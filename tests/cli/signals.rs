//! An interrupted long run loses nothing: it saves its state, and reports its position.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, Ran};

/// Program that counts until it is interrupted.
const ENDLESS: &str = ".inout n default 1\n.out a\ntop: from again, a > 0\nadd a, 1\nagain: br top, n > 0\n";

/// Endless program with a real result.
const REAL: &str = ".inout n default 1\n.inout x: real default 2\n.out a\n.out y: real\nadd y, x\n\
                    top: from again, a > 0\nadd a, 1\nagain: br top, n > 0\n";

/// Starts a command, and waits until it handles signals.
fn started(folder: &Folder, line: &str) -> Child {
    // Background test runs may ignore signals, and child processes inherit that.
    let mut shell = Command::new("env");
    let binary = env!("CARGO_BIN_EXE_reviver");
    shell
        .args(["--default-signal=HUP,INT,TERM", "sh", "-c", &line.replace("reviver", binary)])
        .current_dir(folder.path(""));
    let child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !heeds_termination(child.id()) {
        assert!(began.elapsed() < Duration::from_secs(60), "{line}: it never heeds signals");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Returns true if a process has a handler for SIGTERM.
fn heeds_termination(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() >> 14 & 1 == 1
}

fn send(child: &Child, signal: &str) {
    let status =
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits for a process to end. One that doesn't is killed, and fails the test.
fn end(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("it doesn't end");
}

/// Returns the outcome of a command that is sent a signal.
fn stopped(folder: &Folder, line: &str, signal: &str) -> Ran {
    let mut child = started(folder, line);
    std::thread::sleep(Duration::from_millis(100));
    send(&child, signal);
    end(&mut child);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The run is stopped while it waits for compiled code. Compiling all loops takes much longer than the response to a
/// signal may take.
#[test]
fn a_run_that_waits_for_code_is_stopped() {
    let folder = Folder::new();
    let loops = "for i in 0..3\nadd b, i\nrof\n".repeat(4000);
    folder.file("loops.rasm", format!(".inout m default 1000000\n.out b\nfor q in 0..m\n{loops}rof\n"));
    for engine in ["jit", "auto"] {
        let mut child = started(&folder, &format!("exec reviver run loops.rasm --engine {engine}"));
        std::thread::sleep(Duration::from_millis(300));
        let sent = Instant::now();
        send(&child, "INT");
        assert_eq!(end(&mut child).code(), Some(130), "{engine}");
        // A response takes at most 100 ms; a busy machine, or an unoptimized build, takes longer.
        assert!(sent.elapsed() < Duration::from_secs(2), "{engine}: {:?}", sent.elapsed());
    }
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("endless.rasm", ENDLESS);
    folder.file("real.rasm", REAL);
    folder
}

#[test]
fn an_interrupted_run_saves_its_state_and_reports_its_place() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let folder = folder();
        let ran =
            stopped(&folder, "exec reviver run endless.rasm --save-state state --json", signal).expect(code);
        let object = ran.json();
        assert_eq!(object["interrupted"], format!("SIG{signal}"), "{object}");
        assert_eq!(object["error"]["kind"], "interrupted", "{object}");
        let steps = object["steps"].as_u64().unwrap();
        assert!(steps > 0, "{object}");
        let ran = ran.says(&format!("stopped by SIG{signal} after {steps} steps forward"));
        ran.says("give `--from-state state` instead of `--set`");
        // The saved state is the state after the reported number of steps, and can be resumed.
        let straight =
            folder.reviver(&format!("run endless.rasm --max-steps {} --json", steps + 100)).expect(5);
        let resumed = folder.reviver("run endless.rasm --from-state state --max-steps 100 --json").expect(5);
        assert_eq!(straight.json()["digest"], resumed.json()["digest"]);
    }
}

#[test]
fn a_backward_run_is_resumed_backward() {
    let folder = folder();
    folder.file("back.rasm", ".out a\ntop: from again, a != 0\nsub a, 1\nagain: br top, a != 5\n");
    let line = "exec reviver run back.rasm --back --set a=5 --save-state state";
    let ran = stopped(&folder, line, "TERM");
    ran.expect(143).says("steps backward").says("--from-state state --back");
}

#[test]
fn without_a_file_the_option_to_save_is_suggested() {
    let folder = folder();
    stopped(&folder, "exec reviver run endless.rasm", "INT")
        .expect(130)
        .prints("")
        .says("stopped by SIGINT after")
        .says("`--save-state FILE`");
    assert_eq!(folder.names(), ["endless.rasm", "real.rasm"]);
}

#[test]
fn interrupted_derivatives_are_reported() {
    let folder = folder();
    for command in [
        "grad real.rasm --loss y",
        "grad real.rasm --loss y --exact",
        "jacobian real.rasm",
        "hessian real.rasm --loss y",
        "taylor real.rasm --along x --order 2",
    ] {
        let ran = stopped(&folder, &format!("exec reviver {command} --json"), "INT").expect(130);
        let object = ran.json();
        assert_eq!(
            (&object["interrupted"], &object["error"]["kind"]),
            (&"SIGINT".into(), &"interrupted".into())
        );
        ran.says("stopped at step").says("of the primal sweep, by SIGINT");
    }
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let folder = folder();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    // `--save-state` writes to a pipe, and waits for a reader that never comes.
    let mut child = started(&folder, "exec reviver run endless.rasm --save-state pipe");
    send(&child, "INT");
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it waits");
    send(&child, "TERM");
    assert_eq!(end(&mut child).signal(), Some(15));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = folder();
    let mut child = started(&folder, "trap '' HUP; exec reviver run endless.rasm --save-state state");
    send(&child, "HUP");
    std::thread::sleep(Duration::from_millis(300));
    send(&child, "TERM");
    assert_eq!(end(&mut child).code(), Some(143));
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("SIGTERM"));
}

/// Program that never returns to its start in floats, because its loop counter misses 0.
const NEVER_BACK: &str = ".var n: real\n  from n == 0\n    add n, 0.1\n  until n >= 1\n";

#[test]
fn a_check_stopped_in_its_backward_run_reports_no_start() {
    let folder = Folder::new();
    folder.file("never.rasm", NEVER_BACK);
    let ran = stopped(&folder, "exec reviver run never.rasm --check", "TERM").expect(143);
    let ran = ran.says("stopped by SIGTERM after").says("steps backward");
    assert!(ran.stdout.contains("restored: unknown, because the backward run was stopped\n"), "{ran:#?}");
    let object = stopped(&folder, "exec reviver run never.rasm --check --save-state state --json", "INT")
        .expect(130)
        .json();
    assert_eq!((&object["interrupted"], object.get("restored")), (&"SIGINT".into(), None));
    folder.reviver("run never.rasm --back --from-state state --max-steps 5").expect(5);
}

#[test]
fn a_gradient_stopped_in_the_primal_sweep_is_saved() {
    let folder = folder();
    let line = "exec reviver grad real.rasm --loss y --save-state state --json";
    let ran = stopped(&folder, line, "HUP").expect(129);
    let object = ran.json();
    assert_eq!((&object["interrupted"], &object["saved_state"]), (&"SIGHUP".into(), &"state".into()));
    ran.says("of the primal sweep, by SIGHUP").says("run the same command with `--from-state state`");
    // Both a run and a gradient can continue from the saved state.
    folder.reviver("run real.rasm --from-state state --max-steps 10").expect(5);
    folder.reviver("grad real.rasm --loss y --from-state state --max-steps 10").expect(5);
}

#[test]
fn a_gradient_stopped_in_the_reverse_sweep_is_resumed() {
    let folder = Folder::new();
    let program = ".inout x: real default 2\n.out y: real\n.inout n default 600000000\n  \
                   for i in 0..n\n    add y, x\n  rof\n";
    folder.file("long.rasm", program);
    let straight = folder.reviver("grad long.rasm --loss y --json").expect(0).json();
    let there = straight["steps"].as_u64().unwrap() - 1;
    folder.reviver(&format!("grad long.rasm --loss y --max-steps {there} --save-state end")).expect(5);
    let line = "exec reviver grad long.rasm --loss y --from-state end --save-state back --json";
    let ran = stopped(&folder, line, "INT").expect(130).says("of the reverse sweep, by SIGINT");
    assert_eq!(ran.json()["saved_state"], "back");
    let resumed = folder.reviver("grad long.rasm --loss y --from-state back --json").expect(0).json();
    assert_eq!(resumed["grad"], straight["grad"]);
    assert_eq!(resumed["steps_back"], straight["steps_back"]);
}

/// The loop only ends for the given input, so the probes of `--verify` never complete.
#[test]
fn a_gradient_is_printed_whose_check_is_stopped() {
    let folder = Folder::new();
    let program = ".inout x: real default 1\n.var n: real\n.out y: real\n  from n == 0\n    add n, 0.5\n  \
                   until n == x\n  add.mul y, x, 3\n  sub n, x\n";
    folder.file("probe.rasm", program);
    let gradient = folder.reviver("grad probe.rasm --loss y --json").expect(0).json()["grad"].clone();
    let line = "exec reviver grad probe.rasm --loss y --verify --json";
    let ran = stopped(&folder, line, "INT")
        .expect(130)
        .says("stopped before the derivatives were verified, by SIGINT");
    let object = ran.json();
    assert_eq!((&object["grad"], &object["interrupted"]), (&gradient, &"SIGINT".into()));
    assert_eq!(object.get("verify"), None);
}

/// Returns the saved transcript of a session ended by a signal, which is sent when the output contains `until`.
fn transcript(lines: &str, until: &str, signal: &str) -> String {
    let folder = folder();
    let mut child = Command::new("env")
        .args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_reviver")])
        .args(["repl", "endless.rasm", "--transcript", "session"])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The input stays open, so the session waits for more.
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.as_bytes()).unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut seen = String::new();
    while !seen.contains(until) {
        let mut bytes = [0; 256];
        let count = output.read(&mut bytes).unwrap();
        assert!(count > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    std::thread::sleep(Duration::from_millis(200));
    send(&child, signal);
    let ended = child.wait_with_output().unwrap();
    let code = if signal == "TERM" { 143 } else { 129 };
    assert_eq!(ended.status.code(), Some(code), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains(&format!("stopped by SIG{signal}")), "{ended:?}");
    drop(input);
    String::from_utf8(folder.read("session")).unwrap()
}

#[test]
fn a_terminated_session_saves_its_commands() {
    for signal in ["TERM", "HUP"] {
        let saved = transcript("step 3\nmark here\n", "here", signal);
        assert!(saved.ends_with("step 3\nmark here\n"), "{saved}");
    }
}

#[test]
fn a_session_terminated_during_a_run_saves_its_step() {
    let saved = transcript("step 3\ncontinue\n", "step 3", "TERM");
    let last = saved.lines().last().unwrap();
    let step: u64 = last.strip_prefix("goto ").unwrap_or_else(|| panic!("{saved}")).parse().unwrap();
    assert!(step > 3, "{saved}");
}

/// Runs a command, and sends it a signal after it has worked for a while.
fn stopped_at_work(folder: &Folder, line: &str, signal: &str) -> Ran {
    let mut child = started(folder, line);
    std::thread::sleep(Duration::from_secs(2));
    send(&child, signal);
    end(&mut child);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn an_interrupted_batch_keeps_its_results() {
    let folder = folder();
    // The last lane is endless.
    folder.file("lanes.csv", format!("n\n{}1\n", "0\n".repeat(300)));
    let batch = "exec reviver batch endless.rasm --device cpu --lanes lanes.csv";
    for (format, signal, code) in [("csv", "INT", 130), ("npz", "TERM", 143)] {
        let line = format!("{batch} -o out.{format} --keep-partial --json");
        let ran = stopped_at_work(&folder, &line, signal).expect(code);
        let object = ran.json();
        let lanes = object["lanes"].as_u64().unwrap();
        assert!((1..301).contains(&lanes), "{object}");
        assert_eq!((&object["interrupted"], &object["failed"]), (&format!("SIG{signal}").into(), &0.into()));
        let ran = ran.says(&format!("stopped after {lanes} lanes, by SIG{signal}"));
        ran.says(&format!("out.{format} has the first {lanes} lanes"));
        let kept = folder.reviver(&format!("batch endless.rasm --lanes out.{format} --back")).expect(0);
        assert_eq!(kept.stdout.lines().count() as u64, lanes + 1);
    }
    let kept = String::from_utf8(folder.read("out.csv")).unwrap();
    assert!(kept.starts_with("n,a\n0,1\n") && kept.lines().skip(1).all(|line| line == "0,1"), "{kept}");
    // Results in the JSON object are kept, too.
    let object =
        stopped_at_work(&folder, &format!("{batch} --keep-partial --json"), "INT").expect(130).json();
    let results = object["results"]["a"].as_array().unwrap();
    assert_eq!(
        (results.len() as u64, &object["error"]["kind"]),
        (object["lanes"].as_u64().unwrap(), &"interrupted".into())
    );
    // Without `--keep-partial` no file appears. The object has the number of lanes.
    let ran = stopped_at_work(&folder, &format!("{batch} -o none.csv --json"), "INT").expect(130);
    assert_eq!((&ran.json()["lanes"], &ran.json()["interrupted"]), (&0.into(), &"SIGINT".into()));
    ran.says("add `--keep-partial` to keep the results of finished lanes");
    assert!(!folder.path("none.csv").exists());
    // A trapping lane, or an invalid line, doesn't affect the lanes before it.
    folder.file("picky.rasm", ".inout n\n.out y\nassert n != 3\nadd y, n\n");
    for (last, code) in [("3", 4), ("x", 2)] {
        folder.file("lanes.csv", format!("n\n{}{last}\n", "0\n".repeat(70)));
        let ran =
            folder.reviver("batch picky.rasm --device cpu --lanes lanes.csv -o kept.csv --keep-partial");
        assert_eq!(ran.code, code, "{ran:#?}");
        ran.says("kept.csv has the first 64 lanes");
        assert_eq!(folder.read("kept.csv").iter().filter(|byte| **byte == b'\n').count(), 65);
    }
}

#[test]
fn interrupted_tests_report_their_results() {
    let folder = folder();
    folder.file("a.rasm", format!(";! run n=0 -> a=1\n{ENDLESS}"));
    folder.file(
        "b.rasm",
        format!(";! run n=0 -> a=1\n;! run n=1 -> a=1\n;! run n=0 -> a=2\n;! restored\n{ENDLESS}"),
    );
    folder.file("c.rasm", format!(";! run n=0 -> a=1\n{ENDLESS}"));
    let line = "exec reviver test a.rasm b.rasm c.rasm --max-steps 1000000000000 --json";
    let ran =
        stopped_at_work(&folder, line, "INT").expect(130).says("stopped in file 2 of 3 files, by SIGINT");
    let object = ran.json();
    assert_eq!(
        (&object["met"], &object["missed"], &object["interrupted"]),
        (&2.into(), &0.into(), &"SIGINT".into())
    );
    let lines = object["files"][1]["expectations"].as_array().unwrap();
    let met: Vec<Option<bool>> = lines.iter().map(|line| line["met"].as_bool()).collect();
    assert_eq!(met, [Some(true), None, None, None], "{object}");
}

#[test]
fn an_interrupted_bench_reports_its_measurements() {
    let folder = folder();
    let object = stopped_at_work(&folder, "exec reviver bench endless.rasm --set n=1 --json", "TERM")
        .expect(143)
        .json();
    assert_eq!((&object["rounds"], &object["interrupted"]), (&0.into(), &"SIGTERM".into()));
    assert!(object["engines"]["interp"].is_object(), "{object}");
    let ran =
        stopped_at_work(&folder, "exec reviver bench endless.rasm --set n=0 --seconds 600 --json", "INT");
    let object = ran.expect(130).json();
    assert!(object["rounds"].as_u64().unwrap() > 0, "{object}");
    assert!(object["engines"]["interp"]["forward"]["steps"].as_u64().unwrap() > 0, "{object}");
}
