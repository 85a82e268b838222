//! Grading in child processes: one for each folder, so that the programs in a folder can't end the grading of other
//! folders. The child prints a JSON object for each exercise, one per line. If an exercise ends the process or times
//! out, the exercise has failed, and a new process continues with the next exercise.

use std::env;
use std::ffi::OsString;
use std::io;
use std::mem;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};

use super::pipes::{ChildPipes, Received};
use super::score::FailureReason;
use crate::failure::{Exit, Failure, Fallible};
use crate::interrupt::{self, Signal};

/// Limits that the parent enforces on a child.
#[derive(Clone, Copy, Debug)]
pub struct ChildLimits {
    /// Time for each exercise.
    pub time: Duration,
    /// Bytes of output for each exercise.
    pub output: u64,
}

/// Reason why the parent stopped reading a child's output.
enum ChildEnding {
    /// The child exited, before or after its last grade.
    Ended,
    /// The child exceeded a limit at the current exercise.
    Stopped(FailureReason),
    Signal(Signal),
}

/// Maximum time for which the parent waits before it checks for signals and the time limit again.
const LOOK: Duration = Duration::from_millis(50);
/// Maximum number of bytes of a child's standard error that are kept.
const COMPLAINT: usize = 4096;
/// Time for which the parent waits for the standard error of a killed child.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Returns the grades of a folder, one for each of `count` exercises. `command` returns the arguments of a child that
/// starts at an exercise index. `failed` returns the grade of an exercise that ended its child.
///
/// # Errors
/// A child can't be started or refuses its arguments, or a signal arrived.
pub fn grades(
    count: usize,
    limits: ChildLimits,
    command: impl Fn(usize) -> Vec<OsString>,
    failed: impl Fn(usize, FailureReason, Duration) -> Json,
) -> Fallible<Vec<Json>> {
    let mut grades = Vec::new();
    while grades.len() < count {
        let begun = Instant::now();
        let before = grades.len();
        let mut child = start(&command(before))?;
        let mut output = ChildOutput::of(&mut child, limits);
        let ending = output.follow(count, &mut grades);
        if !matches!(ending, Ok(ChildEnding::Ended)) {
            // The kill fails if the child has exited in the meantime.
            child.kill().ok();
        }
        let complaint = output.complaint();
        let code = ended(child)?;
        let reason = match ending? {
            ChildEnding::Ended => None,
            ChildEnding::Stopped(reason) => Some(reason),
            ChildEnding::Signal(signal) => return Err(stopped(signal)),
        };
        if grades.len() == count {
            break;
        }
        // A child that refuses its arguments would refuse them for every folder.
        if let (None, Some(code @ (2 | 3)), true) = (reason, code, grades.len() == before) {
            let failure =
                Failure::load(format_args!("grading could not begin (exit code {code}): {complaint}"));
            return Err(failure);
        }
        let has_run_out = code == Some(Exit::Trap as i32);
        let reason = reason.unwrap_or(match has_run_out {
            true => FailureReason::Memory,
            false => FailureReason::Crash,
        });
        grades.push(failed(grades.len(), reason, begun.elapsed()));
    }
    Ok(grades)
}

fn start(arguments: &[OsString]) -> Fallible<Child> {
    let unstarted =
        |error: io::Error| Failure::load(format_args!("can't start a process for grading: {error}"));
    let program = env::current_exe().map_err(unstarted)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(unstarted)
}

/// Output of a child: grades, one per line, and the start of its standard error.
struct ChildOutput {
    pipes: ChildPipes,
    limits: ChildLimits,
    /// Bytes of the last line, whose line end hasn't arrived yet.
    line: Vec<u8>,
    complaint: Vec<u8>,
    /// True until the child's standard error has ended.
    may_complain: bool,
}

impl ChildOutput {
    fn of(child: &mut Child, limits: ChildLimits) -> ChildOutput {
        let (line, complaint) = (Vec::new(), Vec::new());
        ChildOutput { pipes: ChildPipes::of(child), limits, line, complaint, may_complain: true }
    }

    /// Collects grades until there are `count` of them, or until the child exits or exceeds a limit.
    fn follow(&mut self, count: usize, grades: &mut Vec<Json>) -> Fallible<ChildEnding> {
        let has_come = interrupt::flag();
        let mut since = Instant::now();
        while grades.len() < count {
            let received = self.pipes.receive(LOOK.min(self.limits.time)).map_err(|error| {
                Failure::load(format_args!("can't read the output of the grading process: {error}"))
            })?;
            match received {
                Received::Output(bytes) => {
                    let before = grades.len();
                    if let Some(reason) = self.take(&bytes, grades) {
                        return Ok(ChildEnding::Stopped(reason));
                    }
                    if grades.len() > before {
                        since = Instant::now();
                    }
                }
                Received::Complaint(bytes) => self.complain(&bytes),
                Received::EndOfOutput => return Ok(ChildEnding::Ended),
                Received::EndOfComplaints => self.may_complain = false,
                Received::Nothing => {}
            }
            if grades.len() < count && since.elapsed() > self.limits.time {
                return Ok(ChildEnding::Stopped(FailureReason::Time));
            }
            if has_come.load(Ordering::Relaxed) {
                return Ok(ChildEnding::Signal(interrupt::received().unwrap_or(Signal::Terminate)));
            }
        }
        Ok(ChildEnding::Ended)
    }

    /// Collects the grades of completed lines. Returns the reason to stop the child, if there is one.
    fn take(&mut self, bytes: &[u8], grades: &mut Vec<Json>) -> Option<FailureReason> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let content = piece.strip_suffix(b"\n").unwrap_or(piece);
            if (self.line.len() + content.len()) as u64 > self.limits.output {
                return Some(FailureReason::Output);
            }
            self.line.extend_from_slice(content);
            if piece.len() > content.len() {
                match serde_json::from_slice(&mem::take(&mut self.line)) {
                    Ok(grade @ Json::Object(_)) => grades.push(grade),
                    _ => return Some(FailureReason::Crash),
                }
            }
        }
        None
    }

    fn complain(&mut self, bytes: &[u8]) {
        let left = COMPLAINT.saturating_sub(self.complaint.len());
        self.complaint.extend_from_slice(bytes.get(..left).unwrap_or(bytes));
    }

    /// Waits for the rest of an exiting child's standard error, at most [`LAST_WORDS`], and returns the first
    /// [`COMPLAINT`] bytes of the standard error. Standard output is discarded.
    fn complaint(mut self) -> String {
        let begun = Instant::now();
        while self.may_complain && begun.elapsed() < LAST_WORDS {
            match self.pipes.receive(LOOK) {
                Ok(Received::Complaint(bytes)) => self.complain(&bytes),
                Ok(Received::EndOfComplaints) | Err(_) => self.may_complain = false,
                Ok(Received::Output(_) | Received::EndOfOutput | Received::Nothing) => {}
            }
        }
        String::from_utf8_lossy(&self.complaint).into_owned()
    }
}

/// Waits for a child and returns its exit code; `None` if a signal killed the child.
fn ended(mut child: Child) -> Fallible<Option<i32>> {
    let status = child.wait();
    let status =
        status.map_err(|error| Failure::load(format_args!("can't wait for the grading process: {error}")))?;
    Ok(status.code())
}

fn stopped(signal: Signal) -> Failure {
    let name = signal.name();
    Failure::new(
        signal.exit(),
        format_args!("stopped by {name}; the table has the folders that were graded before the signal"),
    )
}

/// Returns the grade of an exercise that ended the grading process. `known` has the JSON members that identify the
/// exercise.
pub fn failed(known: Map<String, Json>, reason: FailureReason, took: Duration) -> Json {
    let mut members = known;
    members.insert("state".into(), "failed".into());
    members.insert("reason".into(), reason.name().into());
    members.insert("met".into(), 0.into());
    members.insert("points".into(), 0.into());
    members.insert("seconds".into(), took.as_secs_f64().into());
    Json::Object(members)
}

/// Limits the memory of the current process, which is a grading child, to `bytes`.
#[cfg(unix)]
pub fn confine(bytes: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let most = |value| Rlimit { current: Some(value), maximum: Some(value) };
    // These calls fail if a stricter limit is in force; the stricter limit then stays in force.
    setrlimit(Resource::Data, most(bytes)).ok();
    setrlimit(Resource::Core, most(0)).ok();
}

/// Does nothing on other systems; the parent limits time and output.
#[cfg(not(unix))]
pub fn confine(_: u64) {}
