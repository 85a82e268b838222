//! The compiled code of an executable, which all its calls share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reviver_compile::call::GradientCall;
use reviver_compile::group::call::GroupCall;
use reviver_compile::route::Route;
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
    /// Executes the steps that routes don't cover.
    pub runner: Option<Arc<dyn Runner>>,
    /// Native entry point for the whole program forward; `back` is the one backward.
    pub there: Option<Route>,
    pub back: Option<Route>,
    /// State of a run before any inputs.
    pub begin: State,
    /// Code of SIMD groups; `None` for groups that have none.
    pub groups: Mutex<BTreeMap<GroupKey, Option<Arc<GroupCall>>>>,
    /// Functions of Jacobians; `None` for losses whose sweeps need a machine.
    pub jacobians: Mutex<BTreeMap<JacobianKey, Option<Arc<GradientCall>>>>,
}

/// Maximum number of cached group codes; every choice of losses and columns has one.
const MOST_GROUPS: usize = 32;

/// Maximum number of cached functions of Jacobians; every choice of losses has one.
const MOST_JACOBIANS: usize = 32;

/// Key of the compiled function of a Jacobian.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JacobianKey {
    pub turn: u32,
    /// Seeded cells in ascending order.
    pub cells: Vec<usize>,
    pub losses: usize,
}

/// Key of compiled code for SIMD groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    pub turn: u32,
    /// Seeded cells of each loss.
    pub rows: Vec<Vec<usize>>,
    /// Cells of the lane inputs.
    pub given: Vec<(Class, usize)>,
}

impl Shared {
    /// Compiles the gradients of `rows` sums of some cells as one function, if the executable has native code.
    pub fn gradient_call(&self, turn: u32, cells: &[usize], rows: u32) -> Option<GradientCall> {
        GradientCall::new(&self.program, self.backend.as_ref()?, (turn, self.level), (cells, rows))
    }

    /// The function of a Jacobian, compiled when it is first called.
    pub fn jacobian_call(&self, key: &JacobianKey) -> Option<Arc<GradientCall>> {
        let mut all = self.jacobians.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get(key) {
            return found.clone();
        }
        if all.len() >= MOST_JACOBIANS {
            all.clear();
        }
        // Where an adjoint decides what the reverse sweep does, each loss has a sweep of its own.
        let rows = (key.losses as u32).min(MOST_ROWS as u32);
        let made = |rows| self.gradient_call(key.turn, &key.cells, rows).map(Arc::new);
        let made = made(rows).or_else(|| made(1));
        all.insert(key.clone(), made.clone());
        made
    }

    /// Returns the code of SIMD groups, compiled on first use.
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
        let made = GroupCall::new(&self.program, backend, place, (&key.rows, &key.given)).map(Arc::new);
        all.insert(key.clone(), made.clone());
        made
    }
}

/// Compiled function of the losses whose gradients were found together last.
#[derive(Debug)]
pub(super) struct JacobianCall {
    pub turn: u32,
    pub losses: usize,
    /// The cells of the losses' seeds, in their order.
    pub cells: Vec<usize>,
    pub call: Option<Arc<GradientCall>>,
}
