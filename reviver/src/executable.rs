//! Compiled programs: the code, and the initial values of the cells before a caller gives any inputs. All threads share
//! an executable; a workspace holds the data that calls change.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use reviver_compile::compiled_run::CompiledRun;
use reviver_isa::instruction::Class;
use reviver_vm::differentiate::Variable;
use reviver_vm::{CheckLevel, Machine, Program, ShownMark, Travel};

use super::cells::{IntCells, NamedCells, RealCells};
use super::engine::{self, CompileOptions};
use super::error::Error;
use super::loss::LossCell;
use super::shared::Shared;
use super::vectors;

/// Handle to a compiled program. A clone refers to the same program, for example in another thread.
#[derive(Clone, Debug)]
pub struct Executable {
    pub(super) shared: Arc<Shared>,
}

impl Executable {
    /// Compiles a program that the underlying crates have built. `name` is its file's name, for errors. Code for
    /// gradients is compiled when it is first needed for a loss.
    ///
    /// # Errors
    /// The engine isn't available, it can't skip checks, or there is no memory for the program's cells.
    pub fn new(
        name: &str,
        program: &Arc<Program>,
        options: impl Into<CompileOptions>,
    ) -> Result<Executable, Error> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let options = options.into();
        let level = options.level;
        let backend = engine::backend(options)?;
        // If the caller hasn't chosen independent variables, derivatives are computed with respect to every number of
        // the initial state.
        let program = &Arc::new(program.for_losses(None));
        let runner = engine::runner(options, program)?;
        let compiled_run = |travel| CompiledRun::new(program, backend.as_ref()?, travel, level);
        let (forward, backward) = (compiled_run(Travel::Forward), compiled_run(Travel::Backward));
        let mut begin = Machine::at_begin(Arc::clone(program))?.into_state();
        // At first no value is shown. A workspace enables `show` when the caller requests the shown values.
        begin.counters.shown = ShownMark::SILENT;
        let (id, name, program) =
            (NUMBERS.fetch_add(1, Ordering::Relaxed), name.to_owned(), Arc::clone(program));
        let (groups, calls) = (Mutex::default(), Mutex::default());
        let shared =
            Shared { id, name, program, level, backend, runner, forward, backward, begin, groups, calls };
        Ok(Executable { shared: Arc::new(shared) })
    }

    /// Returns the integer cells of a name: `n`, an array `A` (a matrix in row-major order), an element `A[3]`,
    /// `M[1,2]`.
    ///
    /// # Errors
    /// [`Error`] if there are no such cells, or they are reals.
    pub fn ints(&self, name: &str) -> Result<IntCells, Error> {
        self.cells(name, Class::Int).map(IntCells)
    }

    /// Returns the real cells of a name: `x`, an array `A` (a matrix in row-major order), an element `A[3]`,
    /// `M[1,2]`.
    ///
    /// # Errors
    /// [`Error`] if there are no such cells, or they are integers.
    pub fn reals(&self, name: &str) -> Result<RealCells, Error> {
        self.cells(name, Class::Real).map(RealCells)
    }

    /// Returns a real cell as a loss to differentiate. The code of its gradient is compiled on first use, unless code
    /// that was compiled for an earlier loss can be used.
    ///
    /// # Errors
    /// There is no such cell, it is an integer or a whole array, or the program uses gradient mode.
    pub fn loss(&self, name: &str) -> Result<LossCell, Error> {
        let shared = &*self.shared;
        let cells = self.reals(name)?;
        if cells.len() != 1 {
            return Err(cells.0.several(&shared.program));
        }
        self.seeded(&[(cells, &[1.0])])
    }

    /// Returns the seeded sum Σ seed·value of some reals, with a seed for each cell; its gradient is a
    /// vector–Jacobian product. The gradient code is compiled on first use.
    /// [`LossCell::with_seeds`] changes the seeds without compiling.
    ///
    /// # Errors
    /// No seeds; not one seed per cell; a seed that the number system can't represent; a cell named twice; cells of
    /// another executable; a program that uses gradient mode.
    pub fn seeded(&self, seeds: &[(RealCells, &[f64])]) -> Result<LossCell, Error> {
        let shared = &*self.shared;
        self.summed(vectors::components(&shared.program, shared.id, seeds)?)
    }

    /// Returns a seeded sum with seeds as bits, in the format of [`super::workspace::Workspace::give_real_bits`].
    ///
    /// # Errors
    /// The errors of [`Executable::seeded`].
    pub fn seeded_bits(&self, seeds: &[(RealCells, &[u64])]) -> Result<LossCell, Error> {
        let shared = &*self.shared;
        self.summed(vectors::bit_components(&shared.program, shared.id, seeds)?)
    }

    fn summed(&self, seeds: Vec<(Variable, u64)>) -> Result<LossCell, Error> {
        LossCell::new(&self.shared, seeds)
    }

    /// Returns true if native code covers the whole program in both directions. Then calls are never interpreted and
    /// never allocate memory.
    pub fn is_native(&self) -> bool {
        self.shared.forward.is_some() && self.shared.backward.is_some()
    }

    /// Returns the check level of native code. At [`CheckLevel::Unchecked`], gradients aren't verified.
    pub fn level(&self) -> CheckLevel {
        self.shared.level
    }

    /// Returns the program, for use with the underlying crates.
    pub fn program(&self) -> &Arc<Program> {
        &self.shared.program
    }

    fn cells(&self, name: &str, class: Class) -> Result<NamedCells, Error> {
        NamedCells::find(&self.shared.program, &self.shared.begin, self.shared.id, name, class)
    }
}
