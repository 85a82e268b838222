//! Calls on series for a runtime: compiles a call function as soon as the saved time exceeds the compile time, and
//! keeps the compiled function for later calls.

use std::sync::{Arc, Mutex, PoisonError};

use reviver_flow::Activity;
use reviver_vm::differentiate::series_call::{SeriesCall, SeriesGoal, SeriesResult};
use reviver_vm::{Program, ShownMark};

use super::compiled_call::{CallMemory, CallReport, CompiledCall};
use super::{CallGoal, Lift};
use crate::backend::Backend;
use crate::start::RunStart;

/// Number of interpreted steps that take as long as compiling one instruction of the program.
const STEPS_PER_INSTRUCTION: u64 = 2_000;
/// Number of requests of unknown length after which the call function is compiled.
const MOST_CALLS: u32 = 16;
/// Upper bound on compiled functions that are kept. If it is exceeded, the least recently used function is dropped.
const MOST_FUNCTIONS: usize = 8;
/// Upper bound on memories that are kept for further calls.
const MOST_MEMORIES: usize = 16;

/// The call functions on series that were used last, with memory for calls.
#[derive(Debug, Default)]
pub(crate) struct SeriesCalls {
    /// The functions in the order of their last use; the most recently used one is last.
    functions: Mutex<Vec<KeptFunction>>,
    memories: Mutex<Vec<CallMemory>>,
}

/// The properties of a call that decide which compiled function executes the call.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SeriesKey {
    goal: SeriesGoal,
    activity: Activity,
    inputs: Vec<usize>,
    seeded: Vec<usize>,
}

#[derive(Debug)]
struct KeptFunction {
    key: SeriesKey,
    /// Number of requests whose length in steps was unknown.
    requests: u32,
    code: SeriesCode,
}

#[derive(Clone, Debug)]
enum SeriesCode {
    NotYet,
    /// The interpreter makes these calls.
    Never,
    Ready(Arc<CompiledCall>),
}

impl SeriesCalls {
    /// Executes a call by compiled code. Returns `None` if the interpreter must execute the call. If `must_pay` is
    /// true, also returns `None` until the saved time exceeds the compile time.
    pub fn make(
        &self,
        backend: &impl Backend,
        call: &SeriesCall,
        must_pay: bool,
    ) -> Option<(SeriesResult, u64)> {
        let code = self.code(backend, call, must_pay)?;
        let mut state = call.start.try_clone().ok()?;
        state.counters.shown = ShownMark::SILENT;
        let start = RunStart::new(call.program, state)?;
        let mut memory = self.memories().pop().unwrap_or_default();
        let direction: Vec<(usize, u64)> =
            call.inputs.iter().copied().zip(call.direction.iter().copied()).collect();
        let found = code.run_along(&start, &direction, &[call.seeds], &mut memory, call.most_steps);
        let result = found.map(|found| {
            let steps = found.steps + found.steps_back;
            (result_of(call, &code, &memory, &found), steps)
        });
        let mut memories = self.memories();
        if memories.len() < MOST_MEMORIES {
            memories.push(memory);
        }
        result
    }

    fn memories(&self) -> std::sync::MutexGuard<'_, Vec<CallMemory>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the code for a call; `None` if the call can't be compiled, or isn't compiled yet.
    fn code(&self, backend: &impl Backend, call: &SeriesCall, must_pay: bool) -> Option<Arc<CompiledCall>> {
        let key = SeriesKey {
            goal: call.goal,
            activity: call.program.activity().clone(),
            inputs: call.inputs.to_vec(),
            seeded: call.seeds.iter().map(|seed| seed.cell).collect(),
        };
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = functions.iter().position(|function| function.key == key);
        let mut function = match known {
            Some(place) => functions.remove(place),
            None => KeptFunction { key, requests: 0, code: SeriesCode::NotYet },
        };
        function.requests = function.requests.saturating_add(u32::from(call.avoided_steps == 0));
        if matches!(function.code, SeriesCode::NotYet)
            && (!must_pay || function.requests > MOST_CALLS || pays(call.program, call.avoided_steps))
        {
            function.code =
                compiled(backend, call).map_or(SeriesCode::Never, |code| SeriesCode::Ready(Arc::new(code)));
        }
        let code = match &function.code {
            SeriesCode::Ready(code) => Some(Arc::clone(code)),
            SeriesCode::NotYet | SeriesCode::Never => None,
        };
        if functions.len() >= MOST_FUNCTIONS {
            functions.remove(0);
        }
        functions.push(function);
        code
    }
}

/// Returns true if interpreting this number of steps takes longer than compiling the program.
fn pays(program: &Program, steps: u64) -> bool {
    steps >= (program.module().code.len() as u64).saturating_mul(STEPS_PER_INSTRUCTION)
}

/// Reads the result of a call from its memory.
fn result_of(
    call: &SeriesCall,
    code: &CompiledCall,
    memory: &CallMemory,
    found: &CallReport,
) -> SeriesResult {
    let orders = match call.goal {
        SeriesGoal::Run { order, .. } => 0..=order,
        SeriesGoal::Gradient { .. } => 0..=0,
    };
    let values = orders.map(|k| {
        let value = |cell: usize| code.coefficients(memory, cell).nth(k).unwrap_or_default();
        call.seeds.iter().map(|seed| value(seed.cell)).collect()
    });
    let adjoints = match call.goal {
        SeriesGoal::Run { .. } => Default::default(),
        SeriesGoal::Gradient { .. } => [0, 1].map(|k| {
            let all = memory.adjoint_coefficients(k);
            call.inputs.iter().map(|&cell| all.get(cell).copied().unwrap_or_default()).collect()
        }),
    };
    let loss_error = found.loss_errors.first().copied().flatten();
    SeriesResult { steps: found.steps, values: values.collect(), adjoints, loss_error }
}

fn compiled(backend: &impl Backend, call: &SeriesCall) -> Option<CompiledCall> {
    let seeded: Vec<usize> = call.seeds.iter().map(|seed| seed.cell).collect();
    let cells = call.inputs.iter().map(|&cell| u32::try_from(cell).ok());
    let moved: Vec<_> = cells.map(|cell| cell.map(|cell| cell..cell + 1)).collect::<Option<_>>()?;
    let (goal, turn, order, rejects_ties) = match call.goal {
        SeriesGoal::Run { order, rejects_ties } => (CallGoal::Run, call.program.end(), order, rejects_ties),
        SeriesGoal::Gradient { turn } => (CallGoal::Gradient, turn, 1, false),
    };
    let lanes = u32::try_from(order).ok()?.checked_add(1)?;
    let lift = Lift { lanes, rejects_ties, moved: &moved };
    CompiledCall::on_series(call.program, backend, (goal, turn), (&seeded, lift))
}
