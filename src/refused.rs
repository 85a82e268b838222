//! Ends the process when an allocation fails. Removes unfinished files, restores the terminal, and reports the error
//! like any other. Nothing in this module allocates, or waits for a lock that the failing thread may hold.

use std::cell::Cell;
use std::io::Write as _;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reviver_debugger::tui::terminal;
use reviver_files::remove_unfinished;

use crate::failure::Exit;

/// Work that the command is doing, for the message "memory ran out while …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandWork {
    /// Any work without its own variant.
    Running,
    Reading,
    Assembling,
    Printing,
    Writing,
}

impl CommandWork {
    const ALL: [(CommandWork, &'static str); 5] = [
        (CommandWork::Running, "the command ran"),
        (CommandWork::Reading, "a file was read"),
        (CommandWork::Assembling, "the program was assembled"),
        (CommandWork::Printing, "results were printed"),
        (CommandWork::Writing, "a file was written"),
    ];
}

static WORK: AtomicU8 = AtomicU8::new(0);
/// True if the command must print one JSON object to standard output.
static AS_JSON: AtomicBool = AtomicBool::new(false);
/// True if something was written to standard output.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True in the thread that ends the process.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// Guard that sets the current work. Dropping the guard restores the previous work.
#[derive(Debug)]
#[must_use]
pub struct During(u8);

/// Sets the current work, see [`During`].
pub fn during(work: CommandWork) -> During {
    let at = CommandWork::ALL.iter().position(|(other, _)| *other == work);
    During(WORK.swap(at.and_then(|at| u8::try_from(at).ok()).unwrap_or_default(), Ordering::Relaxed))
}

impl Drop for During {
    fn drop(&mut self) {
        WORK.store(self.0, Ordering::Relaxed);
    }
}

/// Sets whether the command must print one JSON object, also on failure.
pub fn as_json(is_json: bool) {
    AS_JSON.store(is_json, Ordering::Relaxed);
}

/// Records that something was written to standard output, so that no JSON object can follow.
pub fn has_printed() {
    HAS_PRINTED.store(true, Ordering::Relaxed);
}

/// The user's standard error, while file descriptor 2 is redirected into a pipe.
#[cfg(unix)]
static COMPLAINTS: Mutex<Option<OwnedFd>> = Mutex::new(None);

/// Sets where to report errors while standard error is redirected; `None` restores the default.
#[cfg(unix)]
pub fn complain_to(stderr: Option<OwnedFd>) {
    *COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner) = stderr;
}

/// Ends the process because an allocation of `bytes` bytes was refused.
pub fn end(bytes: usize) -> ! {
    if IS_ENDING.swap(true, Ordering::SeqCst) {
        // Reached if another thread is already ending the process, or if an allocation failed while this thread was
        // ending the process.
        while !ENDS.get() {
            std::thread::sleep(Duration::from_secs(1));
        }
        system::exit(Exit::Trap);
    }
    ENDS.set(true);
    remove_unfinished();
    terminal::restore_without_memory();
    let work = CommandWork::ALL.get(usize::from(WORK.load(Ordering::Relaxed))).map_or("", |(_, words)| words);
    if AS_JSON.load(Ordering::Relaxed) && !HAS_PRINTED.load(Ordering::Relaxed) {
        system::print(ShortText::of(format_args!(
            "{{\"error\":{{\"kind\":\"{}\",\"message\":\"memory ran out while {work}: {bytes} bytes were refused\",\
             \"help\":[\"{HELP}\"]}}}}\n",
            Exit::Trap.kind()
        ))
        .bytes());
    }
    system::complain(
        ShortText::of(format_args!(
            "error: memory ran out while {work}: {bytes} bytes were refused\n  = help: {HELP}\n"
        ))
        .bytes(),
    );
    system::exit(Exit::Trap)
}

const HELP: &str = "use a smaller input or fewer threads, or raise the limit of the system (`ulimit -v`)";

/// Text in a fixed buffer.
struct ShortText {
    bytes: [u8; 512],
    length: usize,
}

impl ShortText {
    fn of(text: std::fmt::Arguments<'_>) -> ShortText {
        let mut bytes = [0; 512];
        let mut left = bytes.as_mut_slice();
        // A text that is too long is truncated.
        let _ = left.write_fmt(text);
        let left = left.len();
        ShortText { bytes, length: 512 - left }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(unix)]
mod system {
    use rustix::fd::{AsFd as _, BorrowedFd};
    use rustix::io::{Errno, write};
    use rustix::stdio::{stderr, stdout};

    use crate::failure::Exit;

    pub fn print(bytes: &[u8]) {
        all(stdout(), bytes);
    }

    pub fn complain(bytes: &[u8]) {
        match super::COMPLAINTS.try_lock().as_deref() {
            Ok(Some(own)) => all(own.as_fd(), bytes),
            _ => all(stderr(), bytes),
        }
    }

    fn all(to: BorrowedFd<'_>, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match write(to, bytes) {
                Ok(0) => return,
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => (),
                Err(_) => return,
            }
        }
    }

    /// Exits without running exit handlers, which may allocate.
    pub fn exit(exit: Exit) -> ! {
        signal_hook::low_level::exit(exit as i32)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::{Write as _, stderr, stdout};

    use crate::failure::Exit;

    pub fn print(bytes: &[u8]) {
        let _ = stdout().write_all(bytes);
    }

    pub fn complain(bytes: &[u8]) {
        let _ = stderr().write_all(bytes);
    }

    pub fn exit(exit: Exit) -> ! {
        std::process::exit(exit as i32)
    }
}
