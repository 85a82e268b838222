//! Engines that call the library: single lanes in native code, SIMD groups, and shaders on a device.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use reviver::batch::device::BlockOutcome;
use reviver::batch::plan::{LaneDirection, LaneTask};
use reviver::batch::prepared::PreparedBatch;
use reviver::{
    Batch, BatchOptions, CompileOptions, Device, EngineChoice, Error, Executable, LaneInputs, RealCells,
};
use reviver_isa::module::RealSystem;
use reviver_lab::calls::subject::{CallKind, CallSubject, LaneWords, MOST_STEPS};
use reviver_lab::calls::{CallAnswers, CallEngine, CallOutcome, CallResult, ReadyCalls, TrapSeen};

/// Maximum number of instructions in a program for shaders, except in campaigns. The compiler of a software device
/// takes many seconds for longer programs.
const MOST_INSTRUCTIONS: usize = 100;
/// The maximum for shaders on dual numbers, which are longer.
const MOST_INSTRUCTIONS_ON_SERIES: usize = 40;

/// Part of the library that an engine tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryPart {
    /// Batches whose lanes run alone, in native code.
    Native,
    /// Batches of derivatives whose lanes run in SIMD groups.
    Groups,
    /// Batches on a device, which executes shaders.
    Shaders,
}

/// Engine that calls the library.
#[derive(Clone, Debug)]
pub struct LibraryCalls {
    pub part: LibraryPart,
    pub device: Device,
}

impl CallEngine for LibraryCalls {
    fn name(&self) -> &'static str {
        match self.part {
            LibraryPart::Native => "native code",
            LibraryPart::Groups => "SIMD groups",
            LibraryPart::Shaders => "shaders",
        }
    }

    fn prepare<'s>(&self, subjects: &'s [CallSubject]) -> Vec<Option<Box<dyn ReadyCalls + 's>>> {
        subjects.iter().map(|subject| self.ready(subject)).collect()
    }
}

impl LibraryCalls {
    fn ready<'s>(&self, subject: &'s CallSubject) -> Option<Box<dyn ReadyCalls + 's>> {
        // SIMD groups support only binary64.
        if self.part == LibraryPart::Groups && subject.program.module().real != RealSystem::F64 {
            return None;
        }
        let is_long = subject.program.module().code.len() > MOST_INSTRUCTIONS;
        if self.part == LibraryPart::Shaders && is_long && std::env::var_os("REVIVER_CAMPAIGN").is_none() {
            return None;
        }
        let options = CompileOptions { engine: EngineChoice::Jit, level: subject.level };
        let executable = Executable::new("subject.rasm", &subject.program, options).expect("native code");
        let options = BatchOptions {
            most_steps: MOST_STEPS,
            keeps_going: true,
            allows_doubt: true,
            ..BatchOptions::default()
        };
        let batch = Batch::new(&executable, self.device.clone()).with(options);
        let ready =
            LibraryReady { part: self.part, subject, executable, batch, prepared: RefCell::default() };
        let is_refused = match self.part {
            LibraryPart::Native => false,
            LibraryPart::Groups => ready.prepared(CallKind::Gradient).is_none(),
            LibraryPart::Shaders => ready.prepared(CallKind::Forward).is_none(),
        };
        (!is_refused).then(|| Box::new(ready) as Box<dyn ReadyCalls>)
    }
}

struct LibraryReady<'s> {
    part: LibraryPart,
    subject: &'s CallSubject,
    executable: Executable,
    batch: Batch,
    /// Prepared batch for each kind of call that was requested; `None` if the device refuses it.
    prepared: RefCell<BTreeMap<CallKind, Option<Rc<PreparedBatch>>>>,
}

impl ReadyCalls for LibraryReady<'_> {
    fn call(&self, kind: CallKind, lanes: &[LaneWords]) -> Option<CallAnswers> {
        let has_groups = matches!(kind, CallKind::Gradient | CallKind::Jacobian);
        if self.part == LibraryPart::Groups && !has_groups {
            return None;
        }
        let is_long = self.subject.program.module().code.len() > MOST_INSTRUCTIONS_ON_SERIES;
        let is_on_series = matches!(kind, CallKind::Hessian | CallKind::Tangents);
        if self.part == LibraryPart::Shaders
            && is_on_series
            && is_long
            && std::env::var_os("REVIVER_CAMPAIGN").is_none()
        {
            return None;
        }
        let prepared = self.prepared(kind)?;
        match self.part {
            LibraryPart::Native => {
                let one = |lane: &LaneWords| {
                    let (mut outcomes, outcome) = carried_out(&prepared, std::slice::from_ref(lane));
                    let notes = [&outcome.recomputed, &outcome.doubtful, &outcome.leftovers];
                    if let Some(CallOutcome::Done(result)) = outcomes.first_mut() {
                        result.is_noted = Some(notes.iter().any(|noted| noted.count > 0));
                    }
                    outcomes.pop().expect("one lane")
                };
                Some(CallAnswers { outcomes: lanes.iter().map(one).collect(), by_others: 0 })
            }
            LibraryPart::Groups => {
                let (outcomes, outcome) = carried_out(&prepared, lanes);
                Some(CallAnswers { outcomes, by_others: lanes.len() - outcome.in_groups as usize })
            }
            LibraryPart::Shaders => {
                let (outcomes, outcome) = carried_out(&prepared, lanes);
                Some(CallAnswers { outcomes, by_others: outcome.by_processor as usize })
            }
        }
    }
}

impl LibraryReady<'_> {
    /// Returns the direction of tangents.
    fn direction(&self) -> LaneDirection {
        let inputs: Vec<RealCells> = self
            .subject
            .real_inputs()
            .map(|cell| self.executable.reals(&cell.name).expect("a real"))
            .collect();
        let components = self.subject.direction();
        let parts: Vec<(RealCells, &[f64])> = inputs.into_iter().zip(components.chunks(1)).collect();
        LaneDirection::new(&self.executable, &parts).expect("a direction")
    }

    fn prepared(&self, kind: CallKind) -> Option<Rc<PreparedBatch>> {
        self.prepared.borrow_mut().entry(kind).or_insert_with(|| self.prepare(kind)).clone()
    }

    fn prepare(&self, kind: CallKind) -> Option<Rc<PreparedBatch>> {
        let task = match kind {
            CallKind::Forward => LaneTask::Run,
            CallKind::Backward => LaneTask::Back,
            // A gradient would also be summed over all lanes, which may overflow. A Jacobian with one loss isn't
            // summed.
            _ => {
                let losses = self.subject.losses_of(kind);
                let module = &self.subject.program;
                if losses.is_empty() || module.switches_mode() || module.reads_mode() {
                    return None;
                }
                let of: Vec<RealCells> =
                    losses.iter().map(|loss| self.executable.reals(&loss.name).expect("a real")).collect();
                match kind {
                    CallKind::Hessian => {
                        let loss = self.executable.loss(&losses[0].name).expect("a loss");
                        LaneTask::Hessian { loss, by: Vec::new() }
                    }
                    CallKind::Tangents => LaneTask::JacobianProduct { of, along: self.direction() },
                    _ => LaneTask::Jacobian { of, by: Vec::new() },
                }
            }
        };
        // A batch has no direction without components.
        if kind == CallKind::Tangents && self.subject.real_inputs().next().is_none() {
            return None;
        }
        let columns: Vec<&str> = self.subject.given(kind).iter().map(|cell| cell.name.as_str()).collect();
        match self.batch.prepare(task, &columns, &LaneInputs::default()) {
            Ok(prepared) => Some(Rc::new(prepared)),
            // The inverse of a program with a stack needs values on the stack, which a batch can't provide.
            Err(Error::Device(_) | Error::Stack { .. }) => None,
            Err(error) => panic!("{kind:?}: {error}"),
        }
    }
}

/// Executes all lanes as one block, and returns the outcome of each.
fn carried_out(prepared: &PreparedBatch, lanes: &[LaneWords]) -> (Vec<CallOutcome>, BlockOutcome) {
    let cells = prepared.plan().inputs.len();
    let inputs: Vec<Vec<u64>> =
        (0..cells).map(|cell| lanes.iter().map(|lane| lane[cell]).collect()).collect();
    let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
    let mut results = vec![vec![0; lanes.len()]; prepared.plan().results.len()];
    let mut columns: Vec<&mut [u64]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    let outcome = prepared.begin().block(&inputs, lanes.len(), &mut columns, &|_| {});
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let done = |lane: usize| {
        let words = results.iter().map(|column| column[lane]).collect();
        CallOutcome::Done(CallResult { words, steps: None, is_noted: None })
    };
    let mut outcomes: Vec<CallOutcome> = (0..lanes.len()).map(done).collect();
    for failure in &outcome.failures {
        outcomes[failure.lane as usize] = failed(&failure.error);
    }
    (outcomes, outcome)
}

fn failed(error: &Error) -> CallOutcome {
    match error {
        Error::Trap { backward, explanation, .. } => CallOutcome::Trap(TrapSeen {
            code: explanation.code,
            at: explanation.at,
            step: explanation.step,
            is_backward: *backward,
        }),
        Error::StepLimit { .. } => CallOutcome::StepLimit,
        Error::NoSuchResults { .. } | Error::Leftovers { .. } => CallOutcome::Leftovers,
        Error::Underivable(_) => CallOutcome::NoDerivative,
        error => panic!("a lane fails with {error}"),
    }
}
