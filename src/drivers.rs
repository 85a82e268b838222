//! Isolation of device drivers. A child process loads and probes a driver first, so that a driver crash doesn't affect
//! this process. A driver's output on standard error is captured and shown separately.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};

use reviver::Device;
use reviver_isa::names::printable;

use crate::failure::{Failure, Fallible};
use crate::probes::ProbeFiles;
use crate::streams;

/// Maximum number of driver output lines in a message.
const MOST_LINES: usize = 5;

/// Returns the device called `name`, after a child process has probed it.
pub fn device(name: &str) -> Fallible<Device> {
    if Device::loads_drivers(name)
        && let Err(crash) = survives(&["devices", "--probe", name])
    {
        if name == "auto" {
            streams::complain(&format!("note: {}: the CPU executes the lanes\n", crash.sentence()));
            return Ok(Device::cpu());
        }
        let failure = Failure::usage(format_args!("--device {name}: {}", crash.sentence()))
            .help("use `--device cpu`, or install a newer driver");
        return Err(with_words(failure, &crash.words));
    }
    let (device, words) = captured(|| Device::known(name, &ProbeFiles::default()));
    device.map_err(|error| {
        let failure = Failure::usage(format_args!("--device {name}: {error}"))
            .help("`reviver devices` lists the devices; `--device cpu` uses the CPU");
        with_words(failure, &words)
    })
}

/// Child process that ended abnormally, because a driver crashed in it.
#[derive(Debug)]
pub struct Crash {
    how: String,
    /// Standard error of the child up to the crash.
    pub words: String,
}

impl Crash {
    pub fn sentence(&self) -> String {
        format!("a driver crashed while it was probed ({})", self.how)
    }
}

/// Child process that exited normally, so no driver crashed in it.
#[derive(Debug, Default)]
pub struct Survived {
    /// Exit code; 0 if the process couldn't be started.
    pub code: i32,
    /// Complete standard error of the child.
    pub words: String,
}

/// Runs this executable as a child process with other arguments. The child inherits standard output. Returns an error
/// if a driver crashes the child.
pub fn survives(arguments: &[&str]) -> Result<Survived, Crash> {
    let Ok(own) = std::env::current_exe() else { return Ok(Survived::default()) };
    let mut command = Command::new(own);
    // The child detects the parent's end by the end of its standard input, which this pipe keeps open.
    command.args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return Ok(Survived::default()) };
    let mut bytes = Vec::new();
    if let Some(mut words) = child.stderr.take() {
        let _ = words.by_ref().take(1 << 16).read_to_end(&mut bytes);
        // Longer output is read and discarded.
        let _ = std::io::copy(&mut words, &mut std::io::sink());
    }
    let Ok(status) = child.wait() else { return Ok(Survived::default()) };
    let words = String::from_utf8_lossy(&bytes).into_owned();
    match status.code() {
        Some(code @ 0..=5) => Ok(Survived { code, words }),
        _ => Err(Crash { how: how(status), words }),
    }
}

/// Starts a thread that ends this process when the parent process has ended, even while a driver hangs.
pub fn ends_with_parent() {
    let wait = || {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(0);
    };
    // If no thread can be started, the process ends only when its work is done.
    let _ = std::thread::Builder::new().name("parent".to_owned()).spawn(wait);
}

#[cfg(unix)]
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal();
    let name = signal.and_then(signal_hook::low_level::signal_name);
    match (name, signal) {
        (Some(name), _) => name.to_owned(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> String {
    status.to_string()
}

/// Adds the output of a driver to a failure, as lines of advice.
pub fn with_words(failure: Failure, words: &str) -> Failure {
    let lines = words.lines().filter(|line| !line.trim().is_empty()).take(MOST_LINES);
    lines.fold(failure, |failure, line| {
        failure.help(format_args!("the driver wrote: {}", printable(line.trim())))
    })
}

pub use system::captured;

#[cfg(unix)]
mod system {
    use std::io::Read as _;
    use std::os::fd::OwnedFd;
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::thread;
    use std::time::Duration;

    use rustix::stdio::{dup2_stderr, stderr};

    use crate::{refused, streams};

    /// Runs `work`, which uses a driver. Returns its result, and the text that was written to standard error
    /// meanwhile.
    pub fn captured<T>(work: impl FnOnce() -> T) -> (T, String) {
        let Some(mut capture) = Capture::begin() else { return (work(), String::new()) };
        let done = work();
        (done, capture.end())
    }

    /// Redirection of standard error into a pipe.
    struct Capture {
        own: Option<OwnedFd>,
        words: Receiver<Vec<u8>>,
    }

    impl Capture {
        fn begin() -> Option<Capture> {
            let own = stderr().try_clone_to_owned().ok()?;
            let (reader, writer) = std::io::pipe().ok()?;
            let (tell, words) = sync_channel(1);
            let read = move || {
                let (mut bytes, mut reader) = (Vec::new(), reader);
                let _ = reader.by_ref().take(1 << 16).read_to_end(&mut bytes);
                // Further output is discarded, so that the driver never blocks.
                let _ = std::io::copy(&mut reader, &mut std::io::sink());
                let _ = tell.send(bytes);
            };
            thread::Builder::new().name("drivers".to_owned()).spawn(read).ok()?;
            refused::complain_to(own.try_clone().ok());
            dup2_stderr(&writer).ok()?;
            Some(Capture { own: Some(own), words })
        }

        /// Restores standard error, and returns the captured text.
        fn end(&mut self) -> String {
            let Some(own) = self.own.take() else { return String::new() };
            let _ = dup2_stderr(&own);
            refused::complain_to(None);
            // If the driver has started a child process, that process may keep the pipe open, so the wait has a
            // limit.
            let bytes = self.words.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }

    impl Drop for Capture {
        fn drop(&mut self) {
            // Reached after a panic in the work: the captured text is printed, because it contains the panic's message.
            let words = self.end();
            streams::complain(&words);
        }
    }
}

/// Without Unix, standard error isn't captured.
#[cfg(not(unix))]
mod system {
    pub fn captured<T>(work: impl FnOnce() -> T) -> (T, String) {
        (work(), String::new())
    }
}
