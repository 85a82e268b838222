//! Long runs that are told to stop lose nothing: they save, and say where they were.
#![cfg(target_os = "linux")]

use std::io::Read as _;
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
