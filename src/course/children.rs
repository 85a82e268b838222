//! A child process for each folder that is graded, so that no submission ends the grading of the others. The child prints
//! an object on a line for each exercise. An exercise that ends its process, or takes too long, has failed, and another process goes on with
//! the next one.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json};

use super::score::FailureReason;
use crate::failure::{Failure, Fallible};
use crate::interrupt::{self, Signal};

/// Limits of a child that its parent watches.
#[derive(Clone, Copy, Debug)]
pub struct ChildLimits {
    /// For each exercise.
    pub time: Duration,
    /// Bytes that it prints for each exercise.
    pub output: u64,
}

/// The end of a child.
enum ChildEnding {
    /// It has ended by itself, with all grades or before.
    Ended(Child),
    /// It took too much for the exercise that it was at.
    Stopped(FailureReason),
    Signal(Signal),
}

/// Part of what a child prints.
enum PrintedLine {
    Whole(String),
    TooMuch,
}

/// The time between two checks for a signal.
const LOOK: Duration = Duration::from_millis(50);
/// Of what a child says on its standard error only so many bytes are kept.
const COMPLAINT: u64 = 4096;

/// The grades of a folder, one for each of `count` exercises. `command` is the child that goes on from the exercise with this index;
/// `failed` is the grade of an exercise that has ended its child.
///
/// # Errors
/// A child can't be started, has refused its arguments, or a signal has come.
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
        let complaint = listen(&mut child);
        let ending = follow(child, count, limits, &mut grades)?;
        let (reason, said) = match ending {
            ChildEnding::Ended(child) => (None, ended(child)?),
            ChildEnding::Stopped(reason) => (Some(reason), None),
            ChildEnding::Signal(signal) => return Err(stopped(signal)),
        };
        if grades.len() == count {
            break;
        }
        let complaint = complaint.join().unwrap_or_default();
        // A child that refuses its arguments would refuse them for every folder.
        if let (Some(code @ (2 | 3)), true) = (said, grades.len() == before) {
            let failure =
                Failure::load(format_args!("grading could not begin (exit code {code}): {complaint}"));
            return Err(failure);
        }
        let has_run_out = complaint.contains("memory allocation of");
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
        |error: io::Error| Failure::load(format_args!("can't start a process to grade in: {error}"));
    let program = env::current_exe().map_err(unstarted)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(unstarted)
}

/// The beginning of what a child complains about.
fn listen(child: &mut Child) -> thread::JoinHandle<String> {
    let stderr = child.stderr.take();
    thread::spawn(move || {
        let Some(mut stderr) = stderr else { return String::new() };
        let mut beginning = Vec::new();
        stderr.by_ref().take(COMPLAINT).read_to_end(&mut beginning).ok();
        io::copy(&mut stderr, &mut io::sink()).ok();
        String::from_utf8_lossy(&beginning).into_owned()
    })
}

/// Takes grades until the child has printed all, ends, or has taken too much.
fn follow(
    mut child: Child,
    count: usize,
    limits: ChildLimits,
    grades: &mut Vec<Json>,
) -> Fallible<ChildEnding> {
    let (sender, printed) = channel();
    if let Some(stdout) = child.stdout.take() {
        let most = limits.output;
        thread::spawn(move || read_lines(stdout, most, &sender));
    }
    let has_come = interrupt::flag();
    let mut since = Instant::now();
    while grades.len() < count {
        match printed.recv_timeout(LOOK.min(limits.time)) {
            Ok(PrintedLine::Whole(line)) => {
                let Ok(grade @ Json::Object(_)) = serde_json::from_str(&line) else {
                    return stop(child, FailureReason::Crash);
                };
                grades.push(grade);
                since = Instant::now();
            }
            Ok(PrintedLine::TooMuch) => return stop(child, FailureReason::Output),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if since.elapsed() > limits.time => {
                return stop(child, FailureReason::Time);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if has_come.load(std::sync::atomic::Ordering::Relaxed) {
            let signal = interrupt::arrived().unwrap_or(Signal::Terminate);
            stop(child, FailureReason::Crash)?;
            return Ok(ChildEnding::Signal(signal));
        }
    }
    Ok(ChildEnding::Ended(child))
}

fn read_lines(stdout: ChildStdout, most: u64, sender: &Sender<PrintedLine>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = String::new();
        match stdout.by_ref().take(most.saturating_add(1)).read_line(&mut line) {
            Ok(0) => return,
            Ok(_) if line.ends_with('\n') => {
                if sender.send(PrintedLine::Whole(line)).is_err() {
                    return;
                }
            }
            Ok(read) if read as u64 > most => {
                sender.send(PrintedLine::TooMuch).ok();
                return;
            }
            // It ended in the middle of a line.
            Ok(_) | Err(_) => return,
        }
    }
}

/// Ends a child that takes too much.
fn stop(mut child: Child, reason: FailureReason) -> Fallible<ChildEnding> {
    // It may have ended by itself meanwhile.
    child.kill().ok();
    ended(child)?;
    Ok(ChildEnding::Stopped(reason))
}

/// The exit code of a child that ends; none where a signal has ended it.
fn ended(mut child: Child) -> Fallible<Option<i32>> {
    let status = child.wait();
    let status = status
        .map_err(|error| Failure::load(format_args!("can't wait for the process that grades: {error}")))?;
    Ok(status.code())
}

fn stopped(signal: Signal) -> Failure {
    let name = signal.name();
    Failure::new(
        signal.exit(),
        format_args!("stopped by {name}: the folders that were graded until then are in the table"),
    )
}

/// The grade of an exercise whose process has ended: `known` names it.
pub fn failed(known: Map<String, Json>, reason: FailureReason, took: Duration) -> Json {
    let mut members = known;
    members.insert("state".into(), "failed".into());
    members.insert("reason".into(), reason.name().into());
    members.insert("met".into(), 0.into());
    members.insert("points".into(), 0.into());
    members.insert("seconds".into(), took.as_secs_f64().into());
    Json::Object(members)
}

/// Confines this process, which is such a child.
#[cfg(unix)]
pub fn confine(bytes: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let most = |value| Rlimit { current: Some(value), maximum: Some(value) };
    // A stricter limit stays: then these calls are refused.
    setrlimit(Resource::Data, most(bytes)).ok();
    setrlimit(Resource::Core, most(0)).ok();
}

/// Nothing is confined here but time and output, which the parent watches.
#[cfg(not(unix))]
pub fn confine(_: u64) {}
