//! Messages of the terminal tests without a terminal: the test binary is run again without tmux.

use std::process::Command;

/// Runs one of the tests without tmux, and returns its exit code and output.
fn without_tmux(required: Option<&str>) -> (Option<i32>, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_small_terminal"]).env("PATH", "").env_remove("REVIVER_TERMINAL_TESTS");
    let output = command.envs(required.map(|value| ("REVIVER_TERMINAL_TESTS", value))).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), said.concat())
}

pub fn without_tmux_the_tests_are_counted_as_ignored() {
    let (code, said) = without_tmux(None);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("0 passed; 0 failed; 1 ignored"), "{said}");
    assert!(said.contains("skipped: without tmux there is no terminal"), "{said}");
}

pub fn required_tests_fail_without_tmux() {
    let (code, said) = without_tmux(Some("required"));
    assert_eq!(code, Some(101), "{said}");
    assert!(said.contains("tmux is needed, and missing"), "{said}");
    assert!(said.contains("0 passed; 1 failed; 0 ignored"), "{said}");
}
