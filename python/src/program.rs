//! The class `Program`: a compiled program, and calls of it in both directions.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};
use reviver::{
    Assembled, CheckLevel, CompileOptions, Disk, EngineChoice, Files, FilesInMemory, GivenConstant,
    RealChoice, Travel, assemble_with,
};
use reviver_assembler::constants::Replacements;
use reviver_debugger::listing::OpenedProgram;
use reviver_isa::module::{Role, Word};

use crate::batch::{self, BatchRequest};
use crate::compiled::{Compiled, NamedCells};
use crate::derivatives::{DerivativeFunction, Task};
use crate::errors::{raised, unfit};
use crate::found::Results;
use crate::given::{arguments, call_with};
use crate::recording::{Recording, record};

/// Names as Python gives them: one, or a list.
#[derive(FromPyObject)]
enum GivenNames {
    One(String),
    Many(Vec<String>),
}

impl From<GivenNames> for Vec<String> {
    fn from(names: GivenNames) -> Vec<String> {
        match names {
            GivenNames::One(name) => vec![name],
            GivenNames::Many(names) => names,
        }
    }
}

/// Everything that a program is compiled from. A pickled program consists of it.
#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Recipe {
    name: String,
    /// The text, or the bytes of an image.
    text: Vec<u8>,
    /// The included files by their paths. `None` reads them from the disk.
    files: Option<BTreeMap<String, String>>,
    constants: BTreeMap<String, String>,
    real: Option<String>,
    word: Option<u32>,
    engine: String,
    checked: bool,
    max_steps: Option<u64>,
}

/// A compiled program. `reviver_vm.compile` creates it.
///
/// Calling a program runs it: `program(x=2.0)["y"]`. Several threads may call a program at once, and the interpreter's
/// lock is released meanwhile. Ctrl-C stops a call. A program can be pickled: its texts and options are.
///
/// Inputs are keyword arguments, or a mapping as the first argument. A scalar is a `float` or `int`. An array is a
/// NumPy array of the declared shape, or anything that `numpy.asarray` converts to one. Numbers must fit: a float for
/// an integer, a complex number or a boolean is a `TypeError`, a number that is too large an `InputError`. Reals of
/// programs in `f32` or fixed point are rounded to the nearest number of the program.
#[pyclass(frozen, module = "reviver_vm")]
pub struct Program {
    recipe: Recipe,
    options: CompileOptions,
    compiled: Arc<Compiled>,
    /// The program, prepared for derivatives by some inputs only.
    by_inputs: Mutex<HashMap<Vec<String>, Arc<Compiled>>>,
}

impl Recipe {
    fn constants(&self, py: Python<'_>) -> PyResult<Vec<GivenConstant>> {
        let constants = self.constants.iter().map(|(name, text)| {
            GivenConstant::parse(name, text).ok_or_else(|| {
                let cause = format!("the constant `{name}` is given `{text}`, which isn't a number");
                unfit(py, &cause, "give an int or a float")
            })
        });
        constants.collect()
    }

    fn files(&self) -> Box<dyn Files + Send + Sync> {
        match &self.files {
            Some(files) => Box::new(files.iter().fold(FilesInMemory::new(), |files, (name, text)| {
                files.with(name.clone(), text.clone().into_bytes())
            })),
            None => Box::new(Disk),
        }
    }
}

impl Program {
    fn from_recipe(py: Python<'_>, mut recipe: Recipe) -> PyResult<Program> {
        let constants = recipe.constants(py)?;
        let real = recipe.real.as_deref().map(str::parse::<RealChoice>).transpose();
        let real = real.map_err(|error| unfit(py, &error.to_string(), "choose one of them"))?;
        let no_word = || unfit(py, "the words have 8, 16, 32 or 64 bits", "choose one of these widths");
        let word = recipe.word.map(|bits| Word::from_bits(bits).ok_or_else(no_word)).transpose()?;
        let no_engine = || {
            let engines = EngineChoice::ALL.map(EngineChoice::name).join(", ");
            unfit(py, &format!("there is no engine `{}`", recipe.engine), &format!("choose one of {engines}"))
        };
        let engine = EngineChoice::from_name(&recipe.engine).ok_or_else(no_engine)?;
        let level = if recipe.checked { CheckLevel::Checked } else { CheckLevel::Unchecked };
        let options = CompileOptions { engine, level };
        let files = recipe.files();
        let most_steps = recipe.max_steps.unwrap_or(u64::MAX);
        let made = py.detach(|| {
            let assembled = assemble_with(&recipe.name, recipe.text.clone(), &*files, &constants)?;
            let assembled = match (real, word) {
                (None, None) => assembled,
                (real, word) => assembled.in_numbers(real, word)?,
            };
            Compiled::new(assembled, options, most_steps)
        });
        let compiled = made.map_err(|error| raised(py, None, &error))?;
        if recipe.files.is_none() {
            recipe.files = Some(included(&recipe.name, &compiled.assembled));
        }
        Ok(Program { recipe, options, compiled: Arc::new(compiled), by_inputs: Mutex::default() })
    }

    /// Returns the program, prepared for derivatives by the named inputs; by all inputs if there are no names.
    pub fn differentiated_by(&self, py: Python<'_>, names: Option<&[String]>) -> PyResult<Arc<Compiled>> {
        let Some(names) = names else { return Ok(Arc::clone(&self.compiled)) };
        let known = |made: &HashMap<_, _>| made.get(names).map(Arc::clone);
        if let Some(found) = known(&*self.by_inputs.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(found);
        }
        let of = &*self.compiled;
        let made = py.detach(|| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let assembled = of.assembled.with_respect_to(&names)?;
            Compiled::new(assembled, self.options, of.most_steps())
        });
        let made = Arc::new(made.map_err(|error| of.raised(py, &error))?);
        let mut all = self.by_inputs.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(all.entry(names.to_vec()).or_insert(made)))
    }

    fn function(
        &self,
        py: Python<'_>,
        of: Vec<String>,
        wrt: Option<GivenNames>,
        task: Task,
    ) -> PyResult<DerivativeFunction> {
        let wrt = wrt.map(Vec::from);
        let compiled = self.differentiated_by(py, wrt.as_deref())?;
        DerivativeFunction::new(py, compiled, of, wrt, task)
    }

    fn names_or_results(&self, of: Option<GivenNames>) -> Vec<String> {
        of.map_or_else(|| self.reals(Travel::Forward), Vec::from)
    }

    /// Returns the names of the reals among the results of a run in this direction.
    fn reals(&self, travel: Travel) -> Vec<String> {
        let is_real =
            |cells: &&NamedCells| cells.is_result(travel) && cells.is_real() && cells.role != Role::Garbage;
        self.compiled.cells.iter().filter(is_real).map(|cells| cells.name.clone()).collect()
    }

    fn run(
        &self,
        py: Python<'_>,
        travel: Travel,
        inputs: Option<&Bound<'_, PyMapping>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Results> {
        let compiled = &*self.compiled;
        let given = arguments(compiled, inputs, more)?;
        let mut call = call_with(py, compiled, travel, &given)?;
        let steps = compiled.execute(py, &mut call, |workspace| match travel {
            Travel::Forward => workspace.run(),
            Travel::Backward => workspace.run_back(),
        })?;
        compiled.note_steps(steps);
        let results = Results::read(py, compiled, &call.workspace, travel, (steps, call.shown()));
        compiled.keep(call);
        results
    }
}

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (name, text, *, files=None, constants=BTreeMap::new(), real=None, word=None, engine="auto".to_owned(), checked=true, max_steps=None))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument of Python")]
    fn new(
        py: Python<'_>,
        name: String,
        text: Vec<u8>,
        files: Option<BTreeMap<String, String>>,
        constants: BTreeMap<String, String>,
        real: Option<String>,
        word: Option<u32>,
        engine: String,
        checked: bool,
        max_steps: Option<u64>,
    ) -> PyResult<Program> {
        let recipe = Recipe { name, text, files, constants, real, word, engine, checked, max_steps };
        Program::from_recipe(py, recipe)
    }

    /// Returns a program from what `__reduce__` returned.
    #[staticmethod]
    fn _from_recipe(py: Python<'_>, recipe: Recipe) -> PyResult<Program> {
        Program::from_recipe(py, recipe)
    }

    /// Pickles the program by its texts and options.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        let recipe = this.recipe.clone();
        let restore = slf.get_type().getattr("_from_recipe")?;
        PyTuple::new(py, [restore, PyTuple::new(py, [recipe])?.into_any()])
    }

    /// Runs the program from its inputs to its results. Inputs that aren't given have their `default`, or 0.
    ///
    /// Raises `Trap`, `StepLimit`, `InputError`, `TypeError`.
    #[pyo3(signature = (inputs=None, /, **more))]
    fn __call__(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyMapping>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Results> {
        self.run(py, Travel::Forward, inputs, more)
    }

    /// Runs the program backward, from its results to its inputs.
    ///
    /// Raises `NotReversible` if no run has these results, and the errors of a call.
    #[pyo3(signature = (results=None, /, **more))]
    fn back(
        &self,
        py: Python<'_>,
        results: Option<&Bound<'_, PyMapping>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Results> {
        self.run(py, Travel::Backward, results, more)
    }

    /// Runs the program to its end or to a trap, and returns the recorded run.
    #[pyo3(signature = (inputs=None, /, **more))]
    fn record(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyMapping>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Recording> {
        let compiled = &self.compiled;
        let given = arguments(compiled, inputs, more)?;
        let call = call_with(py, compiled, Travel::Forward, &given)?;
        let start = call.workspace.start().map_err(|error| compiled.raised(py, &error))?;
        compiled.keep(call);
        let constants = self.recipe.constants(py)?;
        let replacements = Replacements::constants(&constants);
        let (name, text) = (&self.recipe.name, self.recipe.text.clone());
        let opened = OpenedProgram::open_with(name, text, &*self.recipe.files(), replacements);
        let opened = opened.map_err(|error| unfit(py, &error.to_string(), "compile the program again"))?;
        let opened = OpenedProgram { program: Arc::clone(compiled.assembled.program()), ..opened };
        record(py, compiled, opened, self.options, start)
    }

    /// Returns a function of the inputs that returns the value of the scalar result `of`, and its gradient.
    ///
    /// The gradient is a dictionary with an array of the input's shape for each input in `wrt`; without `wrt`, for each
    /// real input. The reverse sweep is verified: a gradient that may be wrong raises `DerivativeError`.
    #[pyo3(signature = (of, wrt=None))]
    fn value_and_grad(
        &self,
        py: Python<'_>,
        of: String,
        wrt: Option<GivenNames>,
    ) -> PyResult<DerivativeFunction> {
        self.function(py, vec![of], wrt, Task::ValueAndGradient)
    }

    /// Returns a function of the inputs that returns the gradient of a scalar result, as `value_and_grad` does.
    #[pyo3(signature = (of, wrt=None))]
    fn grad(&self, py: Python<'_>, of: String, wrt: Option<GivenNames>) -> PyResult<DerivativeFunction> {
        self.function(py, vec![of], wrt, Task::Gradient)
    }

    /// Returns a function of the inputs that returns Jacobians.
    ///
    /// `found["y"]["x"]` is an array with the dimensions of `y`, then those of `x`. Without `of`, all real results are
    /// differentiated. Each real result takes a reverse sweep.
    #[pyo3(signature = (of=None, wrt=None))]
    fn jacobian(
        &self,
        py: Python<'_>,
        of: Option<GivenNames>,
        wrt: Option<GivenNames>,
    ) -> PyResult<DerivativeFunction> {
        self.function(py, self.names_or_results(of), wrt, Task::Jacobian)
    }

    /// Returns a function of the inputs that returns the Hessian of a scalar result.
    ///
    /// `found["x"]["z"]` is an array with the dimensions of `x`, then those of `z`.
    #[pyo3(signature = (of, wrt=None))]
    fn hessian(&self, py: Python<'_>, of: String, wrt: Option<GivenNames>) -> PyResult<DerivativeFunction> {
        self.function(py, vec![of], wrt, Task::Hessian)
    }

    /// Returns a function `f(tangents, inputs)` that returns values and Jacobian-vector products.
    ///
    /// `tangents` is a mapping from inputs to arrays of their shapes; other inputs have the tangent 0. The result is a
    /// pair of dictionaries: values, and derivatives along the tangents.
    #[pyo3(signature = (of=None))]
    fn jvp(&self, py: Python<'_>, of: Option<GivenNames>) -> PyResult<DerivativeFunction> {
        self.function(py, self.names_or_results(of), None, Task::Tangents)
    }

    /// Returns a function `f(cotangents, inputs)` that returns a vector-Jacobian product.
    ///
    /// `cotangents` is a mapping from results to arrays of their shapes; other results have the cotangent 0. The result
    /// is the gradient of the sum of cotangent times result, a dictionary with an array for each input in `wrt`.
    #[pyo3(signature = (of=None, wrt=None))]
    fn vjp(
        &self,
        py: Python<'_>,
        of: Option<GivenNames>,
        wrt: Option<GivenNames>,
    ) -> PyResult<DerivativeFunction> {
        self.function(py, self.names_or_results(of), wrt, Task::Cotangents)
    }

    /// Returns a function `f(direction, inputs)` that returns the value of a scalar result, its gradient, and its
    /// Hessian times the direction, by the inputs that the direction names.
    #[pyo3(signature = (of))]
    fn hvp(&self, py: Python<'_>, of: String) -> PyResult<DerivativeFunction> {
        self.function(py, vec![of], None, Task::HessianProduct)
    }

    /// Returns a function `f(cotangents, direction, inputs)` that returns what `hvp` returns, for the sum of cotangent
    /// times result.
    fn weighted_hvp(&self, py: Python<'_>, of: Vec<String>) -> PyResult<DerivativeFunction> {
        self.function(py, of, None, Task::WeightedHessianProduct)
    }

    /// Returns a function `f(direction, inputs)` that returns Taylor coefficients along a direction.
    ///
    /// `found["y"][k]` is the coefficient of t**k in y(x + t*direction), for k from 0 to `order`, which is at most 16.
    #[pyo3(signature = (of=None, *, order))]
    fn taylor(&self, py: Python<'_>, of: Option<GivenNames>, order: usize) -> PyResult<DerivativeFunction> {
        self.function(py, self.names_or_results(of), None, Task::Taylor(order))
    }

    /// Runs the program for many inputs at once, on all cores or on a GPU (`device="gpu"`).
    ///
    /// `lanes` maps inputs to arrays whose first dimension has an entry for each lane: `(lanes,)` for a scalar,
    /// `(lanes, 3)` for `A[3]`. Results have the same form. An Arrow table (an object with `__arrow_c_stream__`) gives
    /// a `Table`; its columns are scalars, or lists of a fixed size for arrays. `shared` has the inputs that all lanes
    /// share.
    ///
    /// With `grad`, lanes compute a loss and its derivatives; those by shared inputs are summed over the lanes. With
    /// `jacobian`, `hessian` and `back`, lanes do what the methods of these names do. The bits of each lane are those
    /// of a single call, whatever the number of threads.
    ///
    /// A failed lane raises its error, with the attribute `lane`. With `keep_going`, its reals are NaN, and `failures`
    /// has the error.
    #[pyo3(signature = (lanes, *, shared=None, grad=None, jacobian=None, hessian=None, wrt=None, back=false, device="cpu", threads=None, keep_going=false))]
    #[expect(clippy::too_many_arguments, reason = "each is an argument of Python")]
    fn batch<'py>(
        &self,
        py: Python<'py>,
        lanes: &Bound<'py, PyAny>,
        shared: Option<Bound<'py, PyMapping>>,
        grad: Option<String>,
        jacobian: Option<GivenNames>,
        hessian: Option<String>,
        wrt: Option<GivenNames>,
        back: bool,
        device: &str,
        threads: Option<usize>,
        keep_going: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (wrt, jacobian) = (wrt.map(Vec::from), jacobian.map(Vec::from));
        let compiled = self.differentiated_by(py, wrt.as_deref())?;
        let request =
            BatchRequest { shared, grad, jacobian, hessian, wrt, back, device, threads, keep_going };
        batch::run(py, &compiled, lanes, request)
    }

    /// Returns the program as a function of JAX arrays: see `reviver_vm.jax.function`.
    #[pyo3(signature = (of, inputs=None))]
    fn jax<'py>(
        slf: &Bound<'py, Self>,
        of: Bound<'py, PyAny>,
        inputs: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("reviver_vm.jax")?.getattr("function")?.call1((slf, of, inputs))
    }

    /// Returns the program as a function of NumPy arrays: see `reviver_vm.numpy.function`.
    #[pyo3(signature = (of, inputs=None, *, grad=false))]
    fn numpy<'py>(
        slf: &Bound<'py, Self>,
        of: Bound<'py, PyAny>,
        inputs: Option<Bound<'py, PyAny>>,
        grad: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(slf.py());
        options.set_item("grad", grad)?;
        let function = slf.py().import("reviver_vm.numpy")?.getattr("function")?;
        function.call((slf, of, inputs), Some(&options))
    }

    /// Returns the program as a function of PyTorch tensors: see `reviver_vm.torch.function`.
    #[pyo3(signature = (of, inputs=None))]
    fn torch<'py>(
        slf: &Bound<'py, Self>,
        of: Bound<'py, PyAny>,
        inputs: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("reviver_vm.torch")?.getattr("function")?.call1((slf, of, inputs))
    }

    /// The inputs: a mapping from names to shapes.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.shapes(py, Travel::Backward)
    }

    /// The results: a mapping from names to shapes.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.shapes(py, Travel::Forward)
    }

    /// The names of the real inputs.
    #[getter]
    fn real_inputs(&self) -> Vec<String> {
        self.reals(Travel::Backward)
    }

    /// The names of the real results.
    #[getter]
    fn real_outputs(&self) -> Vec<String> {
        self.reals(Travel::Forward)
    }

    /// The number system of the reals: `f64`, `f32`, or `fixed:31` for 31 fraction bits.
    #[getter]
    fn real(&self) -> String {
        RealChoice::System(self.compiled.assembled.program().module().real).to_string()
    }

    /// The text of the program; `None` for an image.
    #[getter]
    fn text(&self) -> Option<&str> {
        let sources = self.compiled.assembled.sources()?;
        sources.files().next().map(|file| sources.file_text(file))
    }

    /// The name of the program's file.
    #[getter]
    fn name(&self) -> &str {
        &self.recipe.name
    }

    /// The warnings about the text, with their source lines; empty if there are none.
    #[getter]
    fn warnings(&self) -> &str {
        self.compiled.assembled.rendered_warnings()
    }

    /// True if native code executes the whole program in both directions.
    #[getter]
    fn is_native(&self) -> bool {
        self.compiled.executable.is_native()
    }

    /// Returns the highlighted text for a notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("reviver_vm.notebook")?.getattr("highlighted")?.call1((slf,))
    }

    fn __repr__(&self) -> String {
        let listed = |travel| {
            let cells = self.compiled.cells.iter().filter(|cells| cells.is_result(travel));
            let names: Vec<String> = cells.map(declared).collect();
            names.join(", ")
        };
        format!("<Program {}: {} -> {}>", self.recipe.name, listed(Travel::Backward), listed(Travel::Forward))
    }
}

impl Program {
    fn shapes<'py>(&self, py: Python<'py>, travel: Travel) -> PyResult<Bound<'py, PyDict>> {
        let shapes = PyDict::new(py);
        for cells in self.compiled.cells.iter().filter(|cells| cells.is_result(travel)) {
            shapes.set_item(&cells.name, PyTuple::new(py, cells.dimensions())?)?;
        }
        Ok(shapes)
    }
}

/// Returns the included files of a program, by paths that `FilesInMemory` finds again.
fn included(main: &str, assembled: &Assembled) -> BTreeMap<String, String> {
    let Some(sources) = assembled.sources() else { return BTreeMap::new() };
    let folder = Path::new(main).parent().unwrap_or(Path::new(""));
    let files = sources.files().skip(1).map(|file| {
        let path = folder.join(Disk.path(sources.name(file), main));
        (path.display().to_string(), sources.file_text(file).to_owned())
    });
    files.collect()
}

/// Returns a declaration as in the text: `A[3]: real`.
fn declared(cells: &NamedCells) -> String {
    let lengths: Vec<String> = cells.dimensions().iter().map(usize::to_string).collect();
    let shape = if lengths.is_empty() { String::new() } else { format!("[{}]", lengths.join(",")) };
    let class = if cells.is_real() { ": real" } else { "" };
    format!("{}{shape}{class}", cells.name)
}
