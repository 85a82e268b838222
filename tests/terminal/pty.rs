//! Pseudoterminal without a terminal emulator: a test controls the bytes that it sends, their timing, and its answers
//! to queries. There is no screen; the effect of a session is read from its saved file.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Maximum time to wait for an expected event.
const PATIENCE: Duration = Duration::from_secs(30);

/// Program on a pseudoterminal.
pub struct Line {
    terminal: File,
    program: Child,
    /// Everything that the program has sent.
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Line {
    /// Starts a program on a new pseudoterminal.
    pub fn start(command: &mut Command) -> Line {
        let terminal: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let no_owner = OFlags::NOCTTY.bits().cast_signed();
        let open = || File::options().read(true).write(true).custom_flags(no_owner).open(path).unwrap();
        let program = command
            .stdin(open())
            .stdout(open())
            .stderr(open())
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .env_remove("COLORFGBG")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .spawn()
            .unwrap();
        let terminal = File::from(terminal);
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (mut source, kept) = (terminal.try_clone().unwrap(), sent.clone());
        // The thread ends when the program closes the terminal.
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut piece) {
                kept.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Line { terminal, program, sent }
    }

    /// Sends bytes at once.
    pub fn send(&mut self, bytes: &str) {
        self.terminal.write_all(bytes.as_bytes()).unwrap();
    }

    /// Sends bytes one by one, with a pause after each.
    pub fn send_slowly(&mut self, bytes: &str, pause: Duration) {
        for byte in bytes.bytes() {
            self.terminal.write_all(&[byte]).unwrap();
            sleep(pause);
        }
    }

    /// Returns everything that the program has sent so far.
    pub fn sent(&self) -> String {
        String::from_utf8_lossy(&self.sent.lock().unwrap()).into_owned()
    }

    /// Waits until the program has sent a text.
    #[track_caller]
    pub fn shows(&self, text: &str) {
        self.waits_until(text, |sent| sent.contains(text));
    }

    /// Waits until `has_happened` returns true for everything that was sent.
    #[track_caller]
    pub fn waits_until(&self, what: &str, has_happened: impl Fn(&str) -> bool) {
        let started = Instant::now();
        while !has_happened(&self.sent()) {
            assert!(started.elapsed() < PATIENCE, "not yet: {what}. There is {:?}", self.sent());
            sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the program has ended.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.program.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "it goes on: {:?}", self.sent());
            sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The program may have ended already.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
