//! Summary of a batch: number of lanes, failures, sums, and times. Text for users, a JSON object for programs.
//! Executes nothing.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use reviver::batch::device::BlockOutcome;
use reviver::batch::plan::{LanePlan, LaneTask, ResultSource};
use reviver::batch::prepared::PreparedBatch;
use reviver::{CheckLevel, Device, Error, LaneFailure, NotedLanes, Program, SumOverLanes};
use reviver_isa::instruction::Class;
use reviver_isa::names::adjoint_name;
use reviver_vm::differentiate::check::{Check, Verdict};
use reviver_vm::values::Value;
use serde_json::{Map, Value as Json, json};

use super::json_values::{self, Object};
use super::trap;
use super::verified::CheckReport;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::lanes::LaneSample;

/// Maximum number of failed lanes in the JSON object.
const TOLD: usize = 1000;
/// Maximum number of failed lanes in the text.
const WARNED: usize = 3;

/// Times of the batch's phases.
pub struct Stopwatch {
    last: Instant,
    pub load: Duration,
    pub compile: Duration,
    pub read: Duration,
    pub run: Duration,
    pub write: Duration,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        let [load, compile, read, run, write] = [Duration::ZERO; 5];
        Stopwatch { last: Instant::now(), load, compile, read, run, write }
    }

    /// Records the time since the last phase as the time of loading the program.
    pub fn loaded(&mut self) {
        self.load = self.lap();
    }

    /// Records the time since the last phase as the time of compiling the code and opening the lanes.
    pub fn compiled(&mut self) {
        self.compile = self.lap();
    }

    /// Adds the time since `since` to the time spent writing.
    pub fn written(&mut self, since: Instant) {
        self.write += since.elapsed();
    }

    fn lap(&mut self) -> Duration {
        let lap = self.last.elapsed();
        self.last = Instant::now();
        lap
    }
}

/// Names of a batch's files, for messages.
pub struct BatchFiles {
    pub program: String,
    pub lanes: String,
}

/// Data of a batch summary.
pub struct BatchPage {
    files: BatchFiles,
    program: Program,
    level: CheckLevel,
    /// True to include the times of the phases.
    stats: bool,
    device: String,
    all_native: bool,
    /// Number of irreducible loops, which the device executes by a dispatch switch.
    switched_loops: u32,
    pub lanes: u64,
    pub watch: Stopwatch,
    pub sums: Vec<SumOverLanes>,
    outcome: BlockOutcome,
    /// Number of all failed lanes; `outcome.failures` lists only the first of them.
    failed: u64,
    /// Sampled lanes, whose derivatives are verified; as many as `--verify` requests.
    pub sample: LaneSample,
    /// Names of the outputs to differentiate.
    losses: Vec<String>,
    /// Names of the cells with respect to which the outputs are differentiated.
    inputs: Vec<String>,
}

/// Returns the names of a plan's differentiated outputs, and of the inputs with respect to which these outputs are
/// differentiated.
fn derivatives(plan: &LanePlan) -> [Vec<String>; 2] {
    let cells = || plan.inputs.iter().chain(plan.shared.iter().map(|(cell, _)| cell));
    let name = |cell: usize| {
        let found = cells().find(|given| given.class == Class::Real && given.cell == cell);
        found.map(|given| given.name.clone()).unwrap_or_default()
    };
    let (mut losses, mut inputs) = (Vec::new(), Vec::new());
    for column in &plan.results {
        match column.source {
            ResultSource::Value { seeded: 0, .. } => losses.push(column.name.clone()),
            ResultSource::Adjoint { loss: 0, cell } => inputs.push(name(cell)),
            ResultSource::Value { .. }
            | ResultSource::Adjoint { .. }
            | ResultSource::Second { .. }
            | ResultSource::Product { .. }
            | ResultSource::Cell(_) => {}
        }
    }
    // In the order of the verification, the rows of a Hessian precede the gradient.
    if matches!(plan.task, LaneTask::Hessian { .. } | LaneTask::HessianProduct { .. }) {
        losses.splice(0..0, inputs.iter().map(|input| adjoint_name(input)));
    }
    [losses, inputs]
}

impl BatchPage {
    /// Creates a page for a batch that verifies `verified` lanes.
    pub fn new(
        prepared: &PreparedBatch,
        files: BatchFiles,
        (watch, stats): (Stopwatch, bool),
        verified: usize,
    ) -> BatchPage {
        let plan = prepared.plan();
        let [losses, inputs] = derivatives(plan);
        BatchPage {
            files,
            program: Program::clone(plan.executable.program()),
            level: plan.executable.level(),
            stats,
            device: prepared.device().to_owned(),
            all_native: plan.is_native(),
            switched_loops: prepared.switched_loops(),
            lanes: 0,
            watch,
            sums: Vec::new(),
            outcome: BlockOutcome::default(),
            failed: 0,
            sample: LaneSample::new(verified),
            losses,
            inputs,
        }
    }

    /// Adds the outcome of a block.
    pub fn add(&mut self, outcome: BlockOutcome) {
        self.failed += outcome.failures.len() as u64;
        self.outcome.add(outcome);
        self.outcome.failures.truncate(TOLD);
    }

    /// Returns the verdict on the batch.
    pub fn verdict(&self) -> Fallible {
        if self.failed == 0 {
            return self.verified();
        }
        let (failed, lanes) = (self.failed, usize::try_from(self.lanes).unwrap_or(usize::MAX));
        let message = format!("{failed} of {} failed", counted(lanes, "lane"));
        Err(Failure::new(Exit::Check, message).help("the column `status` has the error of each failed lane"))
    }

    /// Returns a failure unless the derivatives of all sampled lanes are verified.
    fn verified(&self) -> Fallible {
        let mut lines = Vec::new();
        let (mut differ, mut open, mut lanes) = (0, 0, 0);
        for (lane, check) in self.checks() {
            lanes += 1;
            let count = match check.verdict() {
                Verdict::Verified => continue,
                Verdict::Differs => &mut differ,
                Verdict::NotVerified(_) => &mut open,
            };
            *count += 1;
            let reported = self.reported(check, |reported| reported.lines());
            lines.extend(reported.into_iter().map(|line| format!("lane {lane}: {line}")));
        }
        if differ + open == 0 {
            return Ok(());
        }
        let lanes = counted(lanes, "lane");
        let mut failure = Failure::new(
            Exit::Check,
            format_args!(
                "the derivatives of {lanes} were compared: they differ in {differ}, and couldn't be verified in {open}"
            ),
        );
        for line in lines.iter().take(WARNED) {
            failure.push_line(&format!("  = {line}"));
        }
        Err(failure)
    }

    /// Returns the verified lanes with their checks.
    fn checks(&self) -> impl Iterator<Item = (u64, &Check)> {
        self.sample.lanes().filter_map(|sampled| Some((sampled.lane, sampled.check.as_ref()?)))
    }

    /// Calls `of` with a report of a lane's check. The report has the program's names.
    fn reported<T>(&self, check: &Check, of: impl FnOnce(&CheckReport) -> T) -> T {
        let input = |n: usize| self.inputs.get(n).cloned();
        let output = |n: usize| self.losses.get(n).filter(|_| self.losses.len() > 1).cloned();
        let what = "the gradient";
        of(&CheckReport { program: &self.program, check, what, input: &input, output: &output })
    }

    /// Returns failures and remarks as text for standard error.
    pub fn warnings(&self) -> String {
        let mut text = String::new();
        for failure in self.outcome.failures.iter().take(WARNED) {
            let _ = writeln!(text, "lane {}: {}", failure.lane, reported(&failure.error));
        }
        let noted = [
            ("warning: in {} derivatives may be wrong", &self.outcome.doubtful),
            ("note: in {} the reverse sweep was repeated with a history", &self.outcome.recomputed),
            ("note: {} ended with nonzero values in cells that must be 0", &self.outcome.leftovers),
        ];
        for (words, noted) in noted {
            if let Some((lane, why)) = &noted.first {
                let count = counted(usize::try_from(noted.count).unwrap_or(usize::MAX), "lane");
                let _ = writeln!(text, "{}; lane {lane}: {why}", words.replace("{}", &count));
            }
        }
        if self.outcome.by_processor > 0 {
            let count = counted(usize::try_from(self.outcome.by_processor).unwrap_or(usize::MAX), "lane");
            let _ = writeln!(
                text,
                "note: {count} ran on the CPU, because {} couldn't determine the outcome",
                self.device
            );
        }
        text
    }

    /// Returns the summary as text, without the results. `counts_lanes` is true to include the number of lanes.
    pub fn text(&self, counts_lanes: bool) -> String {
        let mut text = String::new();
        for sum in &self.sums {
            let _ = writeln!(text, "sum of {} = {}", sum.name, self.program.text(Value::Real(sum.bits)));
        }
        if counts_lanes {
            let lanes = counted(usize::try_from(self.lanes).unwrap_or(usize::MAX), "lane");
            let _ = writeln!(text, "{lanes}, {} failed", self.failed);
        }
        let lanes = self.checks().count();
        if lanes > 0 && self.verified().is_ok() {
            let _ = writeln!(text, "verified: the derivatives of {}", counted(lanes, "lane"));
        }
        if !self.level.is_checked() {
            text.push_str("unchecked: ancilla and join checks were skipped\n");
        }
        if self.stats {
            for (name, time) in self.times() {
                let _ = writeln!(text, "{name}: {:.3} s", time.as_secs_f64());
            }
            let native =
                if self.all_native { "all steps in native code" } else { "some steps in the interpreter" };
            let _ = writeln!(text, "{:.0} lanes a second on {}, {native}", self.rate(), self.device);
            if self.switched_loops > 0 {
                let loops = counted(self.switched_loops as usize, "loop");
                let _ = writeln!(
                    text,
                    "control flow: a switch executes {loops} with several entries, and the rest is structured"
                );
            }
        }
        text
    }

    /// Returns the times of the phases. Transfers to and from a device are part of `run`.
    fn times(&self) -> Vec<(&'static str, Duration)> {
        let Stopwatch { load, compile, read, write, .. } = self.watch;
        let compile = compile + self.outcome.compile;
        let mut times = vec![("load", load), ("compile", compile), ("read", read), ("run", self.run())];
        if !self.is_by_cores() {
            times.extend([("upload", self.outcome.upload), ("download", self.outcome.download)]);
            times.extend(self.outcome.worked.map(|worked| ("device", worked)));
        }
        times.push(("write", write));
        times
    }

    /// Returns true if the CPU executes the lanes.
    fn is_by_cores(&self) -> bool {
        self.device == Device::cpu().name()
    }

    /// Returns the time of execution, without the time of compilation during the execution.
    fn run(&self) -> Duration {
        self.watch.run.saturating_sub(self.outcome.compile)
    }

    fn rate(&self) -> f64 {
        self.lanes as f64 / self.run().as_secs_f64().max(1e-9)
    }

    /// Returns the summary as JSON members.
    pub fn members<'a>(&self, results: Option<Object<'a>>) -> Object<'a> {
        let mut object = Object::default();
        object.insert("lanes", self.lanes);
        object.insert("failed", self.failed);
        if let Some(results) = results {
            object.insert("results", results);
        }
        if !self.outcome.failures.is_empty() {
            object.insert("failures", self.outcome.failures.iter().map(failure).collect::<Json>());
        }
        if !self.sums.is_empty() {
            let sums = self.sums.iter();
            let sums =
                sums.map(|sum| (sum.name.clone(), json_values::value(&self.program, Value::Real(sum.bits))));
            object.insert("sums", sums.collect::<Object>());
        }
        let noted = [
            ("doubtful", &self.outcome.doubtful),
            ("mended", &self.outcome.recomputed),
            ("leftovers", &self.outcome.leftovers),
        ];
        for (name, noted) in noted {
            if let Some(reported) = note(noted) {
                object.insert(name, reported);
            }
        }
        if self.sample.is_asked() {
            let lane = |(lane, check): (u64, &Check)| {
                let mut members = Map::new();
                members.insert("lane".into(), lane.into());
                members.extend(self.reported(check, |reported| reported.members()));
                Json::Object(members)
            };
            let agrees = agreement(self.checks().map(|(_, check)| check.agrees()));
            let lanes: Vec<Json> = self.checks().map(lane).collect();
            object.insert("verify", json!({ "agrees": agrees, "lanes": lanes }));
        }
        object.insert("device", self.device.clone());
        if !self.is_by_cores() {
            object.insert("by_processor", self.outcome.by_processor);
        }
        object.insert("all_native", self.all_native);
        if !self.level.is_checked() {
            object.insert("level", self.level.name());
        }
        if self.stats {
            let seconds = self.times();
            let seconds = seconds.iter().map(|(name, time)| ((*name).to_owned(), time.as_secs_f64().into()));
            object.insert("seconds", Json::Object(seconds.collect()));
            object.insert("lanes_per_second", self.rate());
            if !self.is_by_cores() {
                object.insert("switched_loops", self.switched_loops);
            }
        }
        object
    }

    /// Failure for the lane that ended the batch.
    pub fn lane_failed(&self, lane: u64, line: Option<u64>, error: &Error) -> Failure {
        let lanes = &self.files.lanes;
        let place =
            line.map_or_else(|| format!("lane {lane}"), |line| format!("lane {lane} ({lanes}:{line})"));
        let failure = match error {
            Error::Trap { backward, explanation, .. } => {
                let what = if *backward { " while running backward" } else { "" };
                let steps =
                    counted(usize::try_from(explanation.step.unsigned_abs()).unwrap_or(usize::MAX), "step");
                let (which, file) = (format!(" of {place}, after {steps}{what}"), &self.files.program);
                trap(Exit::Trap, &which, file, explanation).detail("step", explanation.step.into())
            }
            error => Failure::within(Exit::of_lane(error), &place, error),
        };
        let failure =
            failure.help("add `--keep-going` to continue with the other lanes").detail("lane", lane.into());
        match line {
            Some(line) => failure.detail("place", json!({ "file": lanes, "line": line })),
            None => failure,
        }
    }
}

/// Combines verdicts: false if any is false; otherwise `None` if any is unknown or there are none; otherwise true.
fn agreement(mut lanes: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let first = lanes.next()?;
    lanes.fold(first, |all, lane| match (all, lane) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

/// Formats the error of a lane in one line.
pub fn reported(error: &Error) -> String {
    match error {
        Error::Trap { explanation, .. } => {
            let steps = usize::try_from(explanation.step.unsigned_abs()).unwrap_or(usize::MAX);
            let cure = error.cure().map_or_else(String::new, |cure| format!("; {cure}"));
            format!("{}, after {}{cure}", error.summary(), counted(steps, "step"))
        }
        error => error.to_string(),
    }
}

fn failure(failure: &LaneFailure) -> Json {
    let LaneFailure { lane, error } = failure;
    let mut members = Map::new();
    members.insert("lane".into(), (*lane).into());
    members.insert("kind".into(), Exit::of_lane(error).kind().into());
    members.insert("message".into(), error.to_string().into());
    if let Error::Trap { explanation, .. } = error {
        members.insert("step".into(), explanation.step.into());
        members.insert("trap".into(), super::trap::object(explanation));
    }
    Json::Object(members)
}

fn note(noted: &NotedLanes) -> Option<Json> {
    let (lane, message) = noted.first.as_ref()?;
    Some(json!({ "lanes": noted.count, "first": lane, "message": message }))
}
