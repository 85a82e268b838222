//! A program that is ready to be called: its code, and its cells as they are before anything is given. Shared by all threads; what a
//! call changes is in a workspace.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reviver_compile::call::GradientCall;
use reviver_compile::group::routes::GroupRoutes;
use reviver_compile::route::{Route, RoutePlan};
use reviver_compile::turning::TurningRoutes;
use reviver_isa::instruction::Class;
use reviver_vm::differentiate::Variable;
use reviver_vm::differentiate::evidence::MOST_ROWS;
use reviver_vm::{CheckLevel, Machine, Program, Runner, ShownMark, State, Travel};

use super::cells::{IntCells, NamedCells, RealCells};
use super::engine::{self, CompileOptions, NativeBackend};
use super::error::Error;
use super::loss::LossCell;
use super::vectors;

/// A compiled program. A copy is another name for the same one, for another thread.
#[derive(Clone, Debug)]
pub struct Executable {
    pub(super) shared: Arc<Shared>,
}

/// What all calls have in common.
#[derive(Debug)]
pub(super) struct Shared {
    /// No other executable of this process has this number.
    pub id: u64,
    /// The name of the program's file.
    pub name: String,
    pub program: Arc<Program>,
    pub level: CheckLevel,
    pub backend: Option<NativeBackend>,
    /// Makes the steps that no route makes.
    pub runner: Option<Arc<dyn Runner>>,
    /// From the beginning to the end, and from there back.
    pub there: Option<Route>,
    pub back: Option<Route>,
    /// As a run begins if nothing is given.
    pub begin: State,
    /// The ways of gradients that were asked for, by where they turn; as few as there are such places, and kept as long as the executable. Who asks
    /// for one waits for those that are being compiled.
    turning: Mutex<BTreeMap<u32, Arc<TurningRoutes>>>,
    /// The same for groups of lanes, where there is code for them.
    groups: Mutex<BTreeMap<GroupKey, Option<Arc<GroupRoutes>>>>,
    /// The functions of Jacobians that were asked for.
    jacobians: Mutex<BTreeMap<JacobianKey, Option<Arc<GradientCall>>>>,
}

/// The most codes for groups that are kept: there are as many as there are choices of losses and columns.
const MOST_GROUPS: usize = 32;

/// The most functions of Jacobians that are kept: there are as many as there are choices of losses.
const MOST_JACOBIANS: usize = 32;

/// What the function of a Jacobian is compiled for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JacobianKey {
    pub turn: u32,
    /// The cells that are seeded, each once, in order.
    pub cells: Vec<usize>,
    pub losses: usize,
}

/// What code for groups is made for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    /// The cells that are seeded, a list for each loss.
    pub rows: Vec<Vec<usize>>,
    /// The cells that lanes are given.
    pub given: Vec<(Class, usize)>,
}

impl Shared {
    /// The ways of gradients that turn at a position, compiled when they are first asked for; none where no native code is wanted.
    pub fn turning(&self, turn: u32) -> Option<Arc<TurningRoutes>> {
        let backend = self.backend.as_ref()?;
        let mut all = self.turning.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || Arc::new(TurningRoutes::new(&self.program, backend, turn, self.level));
        Some(Arc::clone(all.entry(turn).or_insert_with(made)))
    }

    /// The gradients of so many sums of some cells as one function, where native code is wanted.
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

    /// The ways of groups for some losses, whose gradients of one lane go these ways, compiled when they are first asked for.
    pub fn groups(&self, alone: &Arc<TurningRoutes>, key: GroupKey) -> Option<Arc<GroupRoutes>> {
        let backend = self.backend.as_ref()?;
        let mut all = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.get(&key) {
            return found.clone();
        }
        if all.len() >= MOST_GROUPS {
            all.clear();
        }
        let made = GroupRoutes::new(&self.program, backend, alone, &key.rows, &key.given).map(Arc::new);
        all.insert(key, made.clone());
        made
    }
}

impl Executable {
    /// Compiles a program that was made by the crates below this one; `name` is that of its file, for errors. Code for gradients is made
    /// by [`Executable::loss`].
    ///
    /// # Errors
    /// There is no such engine here, it can't leave checks out, or there is no memory for the program's cells.
    pub fn new(
        name: &str,
        program: &Arc<Program>,
        options: impl Into<CompileOptions>,
    ) -> Result<Executable, Error> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let options = options.into();
        let level = options.level;
        let backend = engine::backend(options)?;
        // Unless the caller says otherwise, derivatives are with respect to every number at the start.
        let program = &Arc::new(program.for_losses(None));
        let runner = engine::runner(options, program)?;
        let route = |travel| Route::new(program, backend.as_ref()?, RoutePlan::whole(program, travel, level));
        let (there, back) = (route(Travel::Forward), route(Travel::Backward));
        let mut begin = Machine::at_begin(Arc::clone(program))?.into_state();
        // What a program shows is shown to nobody.
        begin.counters.shown = ShownMark::SILENT;
        let (id, name, program) =
            (NUMBERS.fetch_add(1, Ordering::Relaxed), name.to_owned(), Arc::clone(program));
        let (turning, groups, jacobians) = (Mutex::default(), Mutex::default(), Mutex::default());
        let shared =
            Shared { id, name, program, level, backend, runner, there, back, begin, turning, groups, jacobians };
        Ok(Executable { shared: Arc::new(shared) })
    }

    /// The integers of a name: `n`, an array `A` (of a matrix row after row), an element `A[3]`, `M[1,2]`.
    ///
    /// # Errors
    /// There are no such cells, or they are reals.
    pub fn ints(&self, name: &str) -> Result<IntCells, Error> {
        self.cells(name, Class::Int).map(IntCells)
    }

    /// The reals of a name: `x`, an array `A` (of a matrix row after row), an element `A[3]`, `M[1,2]`.
    ///
    /// # Errors
    /// There are no such cells, or they are integers.
    pub fn reals(&self, name: &str) -> Result<RealCells, Error> {
        self.cells(name, Class::Real).map(RealCells)
    }

    /// A real cell that is to be differentiated. Compiles the code of its gradient, unless another one's serves.
    ///
    /// # Errors
    /// There is no such cell, it is an integer or one of several, or the program can't be differentiated from outside.
    pub fn loss(&self, name: &str) -> Result<LossCell, Error> {
        let shared = &*self.shared;
        let cells = self.reals(name)?;
        if cells.len() != 1 {
            return Err(Error::Several { name: cells.0.name(&shared.program), cells: cells.len() });
        }
        self.seeded(&[(cells, &[1.0])])
    }

    /// The seeded sum Σ seed·value of some reals, with a seed for each cell: its gradient is a vector–Jacobian product. Compiles the code
    /// of the gradient, unless another one's serves; [`LossCell::with_seeds`] changes the seeds without that.
    ///
    /// # Errors
    /// No seeds, another number of them than of cells, one that the number system hasn't got, or a cell that is named twice; cells of
    /// another executable; the program can't be differentiated from outside.
    pub fn seeded(&self, seeds: &[(RealCells, &[f64])]) -> Result<LossCell, Error> {
        let shared = &*self.shared;
        self.summed(vectors::components(&shared.program, shared.id, seeds)?)
    }

    /// The same with seeds as the bits of the program's numbers, as [`super::workspace::Workspace::give_real_bits`] has them.
    ///
    /// # Errors
    /// As [`Executable::seeded`].
    pub fn seeded_bits(&self, seeds: &[(RealCells, &[u64])]) -> Result<LossCell, Error> {
        let shared = &*self.shared;
        self.summed(vectors::bit_components(&shared.program, shared.id, seeds)?)
    }

    fn summed(&self, seeds: Vec<(Variable, u64)>) -> Result<LossCell, Error> {
        LossCell::new(&self.shared, seeds)
    }

    /// Whether native code leads all the way, forward and back, so that such calls neither interpret nor allocate.
    pub fn is_native(&self) -> bool {
        self.shared.there.is_some() && self.shared.back.is_some()
    }

    /// How much native code checks. What it doesn't, nobody vouches for.
    pub fn level(&self) -> CheckLevel {
        self.shared.level
    }

    /// The program, for everything that the libraries below this one can do with it.
    pub fn program(&self) -> &Arc<Program> {
        &self.shared.program
    }

    fn cells(&self, name: &str, class: Class) -> Result<NamedCells, Error> {
        NamedCells::find(&self.shared.program, &self.shared.begin, self.shared.id, name, class)
    }
}
