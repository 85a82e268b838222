//! Test helpers that run the command, check its outcome, and create files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Outcome of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Checks the exit code, and that the command didn't panic.
    #[track_caller]
    pub fn expect(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn says(self, part: &str) -> Ran {
        assert!(self.stderr.contains(part), "stderr lacks \"{part}\": {self:#?}");
        self
    }

    #[track_caller]
    pub fn prints_part(self, part: &str) -> Ran {
        assert!(self.stdout.contains(part), "stdout lacks \"{part}\": {self:#?}");
        self
    }

    #[track_caller]
    pub fn prints(self, stdout: &str) -> Ran {
        assert_eq!(self.stdout, stdout, "{self:#?}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one object on one line: {self:#?}");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs `reviver` in the root of the repository, with arguments separated by blanks.
pub fn reviver(arguments: &str) -> Ran {
    with_input(arguments, b"")
}

/// Runs `reviver` with data on standard input.
pub fn with_input(arguments: &str, input: &[u8]) -> Ran {
    ran(command().args(arguments.split_whitespace()), input)
}

/// Runs `reviver` so that no thread can be started: no system can provide the requested stack size.
pub fn crowded(arguments: &str, input: &[u8]) -> Ran {
    let mut command = command();
    command.env("RUST_MIN_STACK", (1_u64 << 60).to_string());
    ran(command.args(arguments.split_whitespace()), input)
}

/// Runs a command with data on standard input.
pub fn ran(command: &mut Command, input: &[u8]) -> Ran {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that doesn't read its input may have exited already.
    child.stdin.take().unwrap().write_all(input).ok();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.current_dir(root());
    command
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Temporary folder, deleted after the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and returns its path as an argument.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name).display().to_string()
    }

    /// Returns the path of a file as an argument.
    pub fn at(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Runs `reviver` in this folder.
    pub fn reviver(&self, arguments: &str) -> Ran {
        self.with_input(arguments, b"")
    }

    /// Runs `reviver` in this folder with data on standard input.
    pub fn with_input(&self, arguments: &str, input: &[u8]) -> Ran {
        ran(command().args(arguments.split_whitespace()).current_dir(self.0.path()), input)
    }

    /// Runs a shell command in this folder.
    pub fn shell(&self, line: &str) -> Ran {
        ran(Command::new("sh").args(["-c", line]).current_dir(self.0.path()), b"")
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of all files, including hidden ones.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
