//! Drivers of devices at arm's length: a process of its own loads them first and asks the device, so that a driver that crashes there
//! takes nothing along; and what drivers write to standard error isn't mixed with what the command says. Knows no lane.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};

use reviver::Device;
use reviver_isa::names::printable;

use crate::failure::{Failure, Fallible};
use crate::probes::ProbeFiles;
use crate::streams;

/// Most lines of a driver that a message quotes.
const MOST_LINES: usize = 5;

/// The device of a name, which was asked in a process of its own first.
pub fn device(name: &str) -> Fallible<Device> {
    if name != "cpu"
        && may_load_drivers(name)
        && let Err(crash) = survives(&["devices", "--probe", name])
    {
        if name == "auto" {
            streams::complain(&format!(
                "note: {}: the cores of the processor carry out the lanes\n",
                crash.sentence()
            ));
            return Ok(Device::cpu());
        }
        let failure = Failure::usage(format_args!("--device {name}: {}", crash.sentence()))
            .help("`--device cpu` takes the cores of the processor; a newer driver may not crash");
        return Err(with_words(failure, &crash.words));
    }
    let (device, words) = captured(|| Device::known(name, &ProbeFiles::default()));
    device.map_err(|error| {
        let failure = Failure::usage(format_args!("--device {name}: {error}")).help(
            "`reviver devices` lists those that there are; `--device cpu` takes the cores of the processor",
        );
        with_words(failure, &words)
    })
}

#[cfg(feature = "gpu")]
fn may_load_drivers(name: &str) -> bool {
    name != "auto" || reviver_batch::Adapters::may_have_hardware()
}

#[cfg(not(feature = "gpu"))]
fn may_load_drivers(_: &str) -> bool {
    false
}

/// A process that was ended by a driver.
#[derive(Debug)]
pub struct Crash {
    how: String,
    /// The text on standard error until then.
    pub words: String,
}

impl Crash {
    pub fn sentence(&self) -> String {
        format!("a driver crashed while it was asked what it gets right ({})", self.how)
    }
}

/// The end of a process that no driver has crashed.
#[derive(Debug, Default)]
pub struct Survived {
    /// Its exit code; 0 where it couldn't be begun.
    pub code: i32,
    /// The text on standard error.
    pub words: String,
}

/// Runs this program with other arguments in a process of its own, which prints to the same standard output.
pub fn survives(arguments: &[&str]) -> Result<Survived, Crash> {
    let Ok(own) = std::env::current_exe() else { return Ok(Survived::default()) };
    let mut command = Command::new(own);
    // Its standard input is open as long as this process lives.
    command.args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return Ok(Survived::default()) };
    let mut bytes = Vec::new();
    if let Some(mut words) = child.stderr.take() {
        let _ = words.by_ref().take(1 << 16).read_to_end(&mut bytes);
        // Longer text is read to its end, and dropped.
        let _ = std::io::copy(&mut words, &mut std::io::sink());
    }
    let Ok(status) = child.wait() else { return Ok(Survived::default()) };
    let words = String::from_utf8_lossy(&bytes).into_owned();
    match status.code() {
        Some(code @ 0..=5) => Ok(Survived { code, words }),
        _ => Err(Crash { how: how(status), words }),
    }
}

/// Ends this process once the one that has begun it is gone, even if a driver hangs.
pub fn ends_with_parent() {
    let wait = || {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(0);
    };
    // Without a thread it ends when it is done.
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

/// A failure with what drivers wrote before.
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

    /// Does what has a driver work, and returns what was written to standard error meanwhile.
    pub fn captured<T>(work: impl FnOnce() -> T) -> (T, String) {
        let Some(mut capture) = Capture::begin() else { return (work(), String::new()) };
        let done = work();
        (done, capture.end())
    }

    /// Standard error, while it leads into a pipe.
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
                // The rest is read and dropped, so that the driver never waits.
                let _ = std::io::copy(&mut reader, &mut std::io::sink());
                let _ = tell.send(bytes);
            };
            thread::Builder::new().name("drivers".to_owned()).spawn(read).ok()?;
            refused::complain_to(own.try_clone().ok());
            dup2_stderr(&writer).ok()?;
            Some(Capture { own: Some(own), words })
        }

        /// Gives standard error back.
        fn end(&mut self) -> String {
            let Some(own) = self.own.take() else { return String::new() };
            let _ = dup2_stderr(&own);
            refused::complain_to(None);
            // A process that a driver has begun may hold the pipe open.
            let bytes = self.words.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }

    impl Drop for Capture {
        fn drop(&mut self) {
            // After a panic, whose message is among it.
            let words = self.end();
            streams::complain(&words);
        }
    }
}

/// Here standard error stays where it is.
#[cfg(not(unix))]
mod system {
    pub fn captured<T>(work: impl FnOnce() -> T) -> (T, String) {
        (work(), String::new())
    }
}
