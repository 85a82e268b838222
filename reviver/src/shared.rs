//! Compiled code of an executable. All calls of the executable share it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reviver_compile::call::CompiledCall;
use reviver_compile::compiled_run::CompiledRun;
use reviver_compile::group::call::GroupCall;
use reviver_isa::instruction::Class;
use reviver_vm::differentiate::evidence::MOST_ROWS;
use reviver_vm::{CheckLevel, Program, Runner, State};

use super::engine::NativeBackend;

/// Data that all calls of an executable share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Number of the executable, unique in this process.
    pub id: u64,
    /// Name of the program's file.
    pub name: String,
    pub program: Arc<Program>,
    pub level: CheckLevel,
    pub backend: Option<NativeBackend>,
    /// Executes the steps that compiled runs don't cover.
    pub runner: Option<Arc<dyn Runner>>,
    /// Native entry point for a forward run of the whole program; `None` if there is none.
    pub forward: Option<CompiledRun>,
    /// Native entry point for a backward run of the whole program; `None` if there is none.
    pub backward: Option<CompiledRun>,
    /// State at the start of a forward run, before any inputs are given.
    pub begin: State,
    /// Compiled group functions. The value is `None` if the losses of the key can't run in SIMD groups.
    pub groups: Mutex<BTreeMap<GroupKey, Option<Arc<GroupCall>>>>,
    /// Compiled functions of gradients. The value is `None` if a machine has to execute the sweeps.
    pub calls: Mutex<BTreeMap<CallKey, Option<Arc<CompiledCall>>>>,
}

/// Maximum number of cached group functions. There is one for each choice of losses and input columns.
const MOST_GROUPS: usize = 32;

/// Maximum number of compiled gradient functions in the cache, which is emptied when it is full. Each set of losses
/// has one function. A `CompiledLoss` holds a reference to its function, so emptying the cache doesn't free that
/// function.
const MOST_CALLS: usize = 32;

/// Key of a compiled function of gradients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallKey {
    pub turn: u32,
    /// Indices of the seeded cells of all losses, each once, in ascending order.
    cells: Vec<usize>,
    pub losses: usize,
}

impl CallKey {
    pub fn new(turn: u32, mut cells: Vec<usize>, losses: usize) -> CallKey {
        cells.sort_unstable();
        cells.dedup();
        CallKey { turn, cells, losses }
    }
}

/// Key of a compiled group function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    pub turn: u32,
    /// Indices of the seeded cells of each loss.
    pub rows: Vec<Vec<usize>>,
    /// Class and index of each cell for which every lane has its own number.
    pub inputs: Vec<(Class, usize)>,
}

impl Shared {
    /// Returns the function of gradients, compiled on first use. If a jump depends on an adjoint, the function
    /// differentiates one loss at a time.
    pub fn gradient_call(&self, key: &CallKey) -> Option<Arc<CompiledCall>> {
        let backend = self.backend.as_ref()?;
        let mut all = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get(key) {
            return found.clone();
        }
        if all.len() >= MOST_CALLS {
            all.clear();
        }
        let place = (key.turn, self.level);
        let made = |rows| CompiledCall::new(&self.program, backend, place, (&key.cells, rows)).map(Arc::new);
        let rows = key.losses.min(MOST_ROWS) as u32;
        let made = made(rows).or_else(|| if rows > 1 { made(1) } else { None });
        all.insert(key.clone(), made.clone());
        made
    }

    /// Returns the group function of a key, compiled on first use.
    pub fn group_call(&self, key: &GroupKey) -> Option<Arc<GroupCall>> {
        let backend = self.backend.as_ref()?;
        let mut all = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get(key) {
            return found.clone();
        }
        if all.len() >= MOST_GROUPS {
            all.clear();
        }
        let place = (key.turn, self.level);
        let made = GroupCall::new(&self.program, backend, place, (&key.rows, &key.inputs)).map(Arc::new);
        all.insert(key.clone(), made.clone());
        made
    }
}

/// Compiled function of the losses that a workspace differentiated last. The workspace keeps the function, so that the
/// next call with the same losses needs no lookup.
#[derive(Debug)]
pub(super) struct JacobianCall {
    pub turn: u32,
    pub losses: usize,
    /// Indices of the seeded cells of the losses, in order.
    pub cells: Vec<usize>,
    pub call: Option<Arc<CompiledCall>>,
}
