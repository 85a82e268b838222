//! Terminal with a shell in tmux: tests send keys and read the screen.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Maximum time for the screen to show an expected state; other tests run in parallel.
const PATIENCE: Duration = Duration::from_secs(30);

const PROMPT: &str = "shell>";

/// Terminal with its own tmux server. The server is killed when the terminal is dropped.
pub struct Terminal {
    server: String,
    /// Home folder of programs in the terminal.
    home: TempDir,
}

impl Terminal {
    /// Opens a terminal of `columns` columns and `rows` rows, with a shell prompt.
    pub fn open(columns: u16, rows: u16) -> Terminal {
        assert!(is_here(), "tmux is needed, and missing");
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let server = format!("reviver-{}-{number}", std::process::id());
        let terminal = Terminal { server, home: tempfile::tempdir().unwrap() };
        terminal.begin(columns, rows);
        terminal
    }

    fn begin(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let output = self
            .tmux()
            .args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, "sh"])
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path())
            .env("XDG_STATE_HOME", self.home.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .env_remove("COLORTERM")
            .env_remove("TMUX")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output();
        succeeded(&output.unwrap());
        self.line(&format!("PS1='{PROMPT} '; saved=$(stty -g); clear"));
        self.wait_for(|screen| screen.trim_end() == PROMPT);
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-u", "-L", &self.server]).stdin(Stdio::null());
        command
    }

    /// Sends keys by their names in tmux: `s`, `Enter`, `C-c`.
    pub fn keys(&self, keys: &[&str]) {
        succeeded(&self.tmux().args(["send-keys", "-t", "0"]).args(keys).output().unwrap());
    }

    /// Types a line of text.
    pub fn line(&self, text: &str) {
        self.bytes(text);
        self.keys(&["Enter"]);
    }

    fn bytes(&self, text: &str) {
        succeeded(&self.tmux().args(["send-keys", "-t", "0", "-l", text]).output().unwrap());
    }

    /// Drags the mouse with the left button from one column of a row to another. Columns and rows count from 0 here,
    /// and from 1 in the terminal's reports.
    pub fn drag(&self, row: usize, from: usize, to: usize) {
        let (row, from, to) = (row + 1, from + 1, to + 1);
        self.bytes(&format!("\x1b[<0;{from};{row}M\x1b[<32;{to};{row}M\x1b[<0;{to};{row}m"));
    }

    /// Returns the visible text of the screen.
    pub fn screen(&self) -> String {
        self.asked(&["capture-pane", "-p", "-t", "0"])
    }

    /// Waits until the screen is as expected, and returns it.
    #[track_caller]
    pub fn wait_for(&self, expected: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if expected(&screen) {
                return screen;
            }
            assert!(started.elapsed() < PATIENCE, "this stays on the screen:\n{screen}");
            sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub fn shows(&self, text: &str) -> String {
        self.wait_for(|screen| screen.contains(text))
    }

    /// Checks that a program has restored the terminal: the shell's screen, its cursor and its modes.
    #[track_caller]
    pub fn is_restored(&self) {
        self.wait_for(|screen| screen.trim_end().ends_with(PROMPT));
        let flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag}";
        assert_eq!(self.asked(&["display-message", "-p", "-t", "0", flags]).trim(), "0 1 0");
        self.line("test \"$(stty -g)\" = \"$saved\" && echo modes are the same");
        self.shows("\nmodes are the same");
    }

    fn asked(&self, arguments: &[&str]) -> String {
        let output = self.tmux().args(arguments).output().unwrap();
        succeeded(&output);
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The server may have ended already.
        let _ = self.tmux().arg("kill-server").output();
    }
}

/// Returns true if terminal tests must fail without a terminal.
pub fn is_required() -> bool {
    std::env::var_os("REVIVER_TERMINAL_TESTS").is_some_and(|value| value == "required")
}

/// Returns true if tmux is available.
pub fn is_here() -> bool {
    Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success())
}

#[track_caller]
fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
