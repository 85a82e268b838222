//! Long runs that are told to stop lose nothing: they save, and say where they were.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Folder, Ran};

/// Counts until somebody stops it.
const ENDLESS: &str = ".inout n default 1\n.out a\ntop: from again, a > 0\nadd a, 1\nagain: br top, n > 0\n";

/// The same with a real result.
const REAL: &str = ".inout n default 1\n.inout x: real default 2\n.out a\n.out y: real\nadd y, x\n\
                    top: from again, a > 0\nadd a, 1\nagain: br top, n > 0\n";

/// A command that runs, and has come as far as to heed signals.
fn started(folder: &Folder, line: &str) -> Child {
    // Whoever runs the tests in the background may have them ignore signals, and what they start too.
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

/// Whether a process has a handler for SIGTERM, as the system tells.
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

/// How a process ends. One that doesn't is a failure, and isn't left behind.
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

/// What a command comes to that is sent a signal.
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

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("endless.rasm", ENDLESS);
    folder.file("real.rasm", REAL);
    folder
}

#[test]
fn a_run_that_is_stopped_saves_its_state_and_says_where_it_was() {
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
        ran.says("give `--from-state state` in place of `--set`");
        // What it has saved is the state after so many steps, and one can go on.
        let straight =
            folder.reviver(&format!("run endless.rasm --max-steps {} --json", steps + 100)).expect(5);
        let resumed = folder.reviver("run endless.rasm --from-state state --max-steps 100 --json").expect(5);
        assert_eq!(straight.json()["digest"], resumed.json()["digest"]);
    }
}

#[test]
fn a_run_back_is_gone_on_with_backward() {
    let folder = folder();
    folder.file("back.rasm", ".out a\ntop: from again, a != 0\nsub a, 1\nagain: br top, a != 5\n");
    let line = "exec reviver run back.rasm --back --set a=5 --save-state state";
    let ran = stopped(&folder, line, "TERM");
    ran.expect(143).says("steps backward").says("--from-state state --back");
}

#[test]
fn without_a_file_it_is_said_how_the_next_run_is_saved() {
    let folder = folder();
    stopped(&folder, "exec reviver run endless.rasm", "INT")
        .expect(130)
        .prints("")
        .says("stopped by SIGINT after")
        .says("`--save-state FILE`");
    assert_eq!(folder.names(), ["endless.rasm", "real.rasm"]);
}

#[test]
fn derivatives_that_are_stopped_say_so() {
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
        ran.says("stopped at step").says("of the way there, by SIGINT");
    }
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let folder = folder();
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    // Saving to a pipe waits for its reader, who never comes.
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

/// In floats the way back doesn't find the number again that it would end at.
const NEVER_BACK: &str = ".var n: real\n  from n == 0\n    add n, 0.1\n  until n >= 1\n";

#[test]
fn a_check_that_is_stopped_on_its_way_back_knows_nothing_of_the_start() {
    let folder = Folder::new();
    folder.file("never.rasm", NEVER_BACK);
    let ran = stopped(&folder, "exec reviver run never.rasm --check", "TERM").expect(143);
    let ran = ran.says("stopped by SIGTERM after").says("steps backward");
    assert!(ran.stdout.contains("restored: not known, the way back was stopped\n"), "{ran:#?}");
    let object = stopped(&folder, "exec reviver run never.rasm --check --save-state state --json", "INT")
        .expect(130)
        .json();
    assert_eq!((&object["interrupted"], object.get("restored")), (&"SIGINT".into(), None));
    folder.reviver("run never.rasm --back --from-state state --max-steps 5").expect(5);
}

#[test]
fn a_gradient_that_is_stopped_on_the_way_there_is_saved() {
    let folder = folder();
    let line = "exec reviver grad real.rasm --loss y --save-state state --json";
    let ran = stopped(&folder, line, "HUP").expect(129);
    let object = ran.json();
    assert_eq!((&object["interrupted"], &object["saved_state"]), (&"SIGHUP".into(), &"state".into()));
    ran.says("of the way there, by SIGHUP").says("give the same command with `--from-state state`");
    // A run goes on from there as well as the gradient.
    folder.reviver("run real.rasm --from-state state --max-steps 10").expect(5);
    folder.reviver("grad real.rasm --loss y --from-state state --max-steps 10").expect(5);
}

#[test]
fn a_gradient_that_is_stopped_on_the_way_back_is_gone_on_with() {
    let folder = Folder::new();
    let program = ".inout x: real default 2\n.out y: real\n.inout n default 600000000\n  \
                   for i in 0..n\n    add y, x\n  rof\n";
    folder.file("long.rasm", program);
    let straight = folder.reviver("grad long.rasm --loss y --json").expect(0).json();
    let there = straight["steps"].as_u64().unwrap() - 1;
    folder.reviver(&format!("grad long.rasm --loss y --max-steps {there} --save-state end")).expect(5);
    let line = "exec reviver grad long.rasm --loss y --from-state end --save-state back --json";
    let ran = stopped(&folder, line, "INT").expect(130).says("of the way back, by SIGINT");
    assert_eq!(ran.json()["saved_state"], "back");
    let resumed = folder.reviver("grad long.rasm --loss y --from-state back --json").expect(0).json();
    assert_eq!(resumed["grad"], straight["grad"]);
    assert_eq!(resumed["steps_back"], straight["steps_back"]);
}

/// Only at the given input the loop ends, so the probes of `--verify` never arrive.
#[test]
fn a_gradient_is_printed_whose_check_is_stopped() {
    let folder = Folder::new();
    let program = ".inout x: real default 1\n.var n: real\n.out y: real\n  from n == 0\n    add n, 0.5\n  \
                   until n == x\n  add.mul y, x, 3\n  sub n, x\n";
    folder.file("probe.rasm", program);
    let gradient = folder.reviver("grad probe.rasm --loss y --json").expect(0).json()["grad"].clone();
    let line = "exec reviver grad probe.rasm --loss y --verify --json";
    let ran =
        stopped(&folder, line, "INT").expect(130).says("stopped before the gradient was verified, by SIGINT");
    let object = ran.json();
    assert_eq!((&object["grad"], &object["interrupted"]), (&gradient, &"SIGINT".into()));
    assert_eq!(object.get("verify"), None);
}

/// What a session that a signal ends has saved: it is sent once the lines have come so far.
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
    // Nobody closes it: the session waits for more.
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
fn a_session_that_is_ended_saves_what_was_typed() {
    for signal in ["TERM", "HUP"] {
        let saved = transcript("step 3\nmark here\n", "here", signal);
        assert!(saved.ends_with("step 3\nmark here\n"), "{saved}");
    }
}

#[test]
fn a_session_that_is_ended_in_the_middle_of_a_run_saves_how_far_it_was() {
    let saved = transcript("step 3\ncontinue\n", "step 3", "TERM");
    let last = saved.lines().last().unwrap();
    let step: u64 = last.strip_prefix("goto ").unwrap_or_else(|| panic!("{saved}")).parse().unwrap();
    assert!(step > 3, "{saved}");
}
