from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any, Protocol, overload

from .lanes import Lanes
from .notebook import Svg

class ArrowTable(Protocol):
    """A table that exports itself by the Arrow PyCapsule interface, such as one of pyarrow, polars or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...

class Program:
    """A compiled program. `reviver_vm.compile` creates it.

    Calling a program runs it: `program(x=2.0)["y"]`. Several threads may call a program at once, and the interpreter's
    lock is released meanwhile. Ctrl-C stops a call. A program can be pickled: its texts and options are.

    Inputs are keyword arguments, or a mapping as the first argument. A scalar is a `float` or `int`. An array is a NumPy
    array of the declared shape, or anything that `numpy.asarray` converts to one. Numbers must fit: a float for an
    integer, a complex number or a boolean is a `TypeError`, a number that is too large an `InputError`. Reals of
    programs in `f32` or fixed point are rounded to the nearest number of the program.
    """

    def __init__(
        self,
        name: str,
        text: bytes,
        *,
        files: Mapping[str, str] | None = None,
        constants: Mapping[str, str] = ...,
        real: str | None = None,
        word: int | None = None,
        engine: str = "auto",
        checked: bool = True,
        max_steps: int | None = None,
    ) -> None: ...
    def __call__(self, inputs: Mapping[str, Any] | None = None, /, **more: Any) -> Results:
        """Runs the program from its inputs to its results. Inputs that aren't given have their `default`, or 0.

        Raises `Trap`, `StepLimit`, `InputError`, `TypeError`.
        """
    def back(self, results: Mapping[str, Any] | None = None, /, **more: Any) -> Results:
        """Runs the program backward, from its results to its inputs.

        Raises `NotReversible` if no run has these results, and the errors of a call.
        """
    def record(self, inputs: Mapping[str, Any] | None = None, /, **more: Any) -> Recording:
        """Runs the program to its end or to a trap, and returns the recorded run."""
    def value_and_grad(self, of: str, wrt: str | list[str] | None = None) -> DerivativeFunction:
        """Returns a function of the inputs that returns the value of the scalar result `of`, and its gradient.

        The gradient is a dictionary with an array of the input's shape for each input in `wrt`; without `wrt`, for each
        real input. The reverse sweep is verified: a gradient that may be wrong raises `DerivativeError`.
        """
    def grad(self, of: str, wrt: str | list[str] | None = None) -> DerivativeFunction:
        """Returns a function of the inputs that returns the gradient of a scalar result, as `value_and_grad` does."""
    def jacobian(self, of: str | list[str] | None = None, wrt: str | list[str] | None = None) -> DerivativeFunction:
        """Returns a function of the inputs that returns Jacobians.

        `found["y"]["x"]` is an array with the dimensions of `y`, then those of `x`. Without `of`, all real results are
        differentiated. Each real result takes a reverse sweep.
        """
    def hessian(self, of: str, wrt: str | list[str] | None = None) -> DerivativeFunction:
        """Returns a function of the inputs that returns the Hessian of a scalar result.

        `found["x"]["z"]` is an array with the dimensions of `x`, then those of `z`.
        """
    def jvp(self, of: str | list[str] | None = None) -> DerivativeFunction:
        """Returns a function `f(tangents, inputs)` that returns values and Jacobian-vector products.

        `tangents` is a mapping from inputs to arrays of their shapes; other inputs have the tangent 0. The result is a
        pair of dictionaries: values, and derivatives along the tangents.
        """
    def vjp(self, of: str | list[str] | None = None, wrt: str | list[str] | None = None) -> DerivativeFunction:
        """Returns a function `f(cotangents, inputs)` that returns a vector-Jacobian product.

        `cotangents` is a mapping from results to arrays of their shapes; other results have the cotangent 0. The result
        is the gradient of the sum of cotangent times result, a dictionary with an array for each input in `wrt`.
        """
    def hvp(self, of: str) -> DerivativeFunction:
        """Returns a function `f(direction, inputs)` that returns the value of a scalar result, its gradient, and its
        Hessian times the direction, by the inputs that the direction names."""
    def weighted_hvp(self, of: list[str]) -> DerivativeFunction:
        """Returns a function `f(cotangents, direction, inputs)` that returns what `hvp` returns, for the sum of
        cotangent times result."""
    def taylor(self, of: str | list[str] | None = None, *, order: int) -> DerivativeFunction:
        """Returns a function `f(direction, inputs)` that returns Taylor coefficients along a direction.

        `found["y"][k]` is the coefficient of t**k in y(x + t*direction), for k from 0 to `order`, which is at most 16.
        """
    @overload
    def batch(
        self,
        lanes: Mapping[str, Any],
        *,
        shared: Mapping[str, Any] | None = None,
        grad: str | None = None,
        jacobian: str | list[str] | None = None,
        hessian: str | None = None,
        wrt: str | list[str] | None = None,
        back: bool = False,
        device: str = "cpu",
        threads: int | None = None,
        keep_going: bool = False,
    ) -> Lanes:
        """Runs the program for many inputs at once, on all cores or on a GPU (`device="gpu"`).

        `lanes` maps inputs to arrays whose first dimension has an entry for each lane: `(lanes,)` for a scalar,
        `(lanes, 3)` for `A[3]`. Results have the same form. An Arrow table (an object with `__arrow_c_stream__`) gives
        a `Table`; its columns are scalars, or lists of a fixed size for arrays. `shared` has the inputs that all lanes
        share.

        With `grad`, lanes compute a loss and its derivatives; those by shared inputs are summed over the lanes. With
        `jacobian`, `hessian` and `back`, lanes do what the methods of these names do. The bits of each lane are those
        of a single call, whatever the number of threads.

        A failed lane raises its error, with the attribute `lane`. With `keep_going`, its reals are NaN, and `failures`
        has the error.
        """
    @overload
    def batch(
        self,
        lanes: ArrowTable,
        *,
        shared: Mapping[str, Any] | None = None,
        grad: str | None = None,
        jacobian: str | list[str] | None = None,
        hessian: str | None = None,
        wrt: str | list[str] | None = None,
        back: bool = False,
        device: str = "cpu",
        threads: int | None = None,
        keep_going: bool = False,
    ) -> Table: ...
    def jax(self, of: str | Sequence[str], inputs: Sequence[str] | None = None) -> Callable[..., Any]:
        """Returns the program as a function of JAX arrays: see `reviver_vm.jax.function`."""
    def torch(self, of: str | Sequence[str], inputs: Sequence[str] | None = None) -> Callable[..., Any]:
        """Returns the program as a function of PyTorch tensors: see `reviver_vm.torch.function`."""
    def numpy(
        self, of: str | Sequence[str], inputs: Sequence[str] | None = None, *, grad: bool = False
    ) -> Callable[..., Any]:
        """Returns the program as a function of NumPy arrays: see `reviver_vm.numpy.function`."""
    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """The inputs: a mapping from names to shapes."""
    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """The results: a mapping from names to shapes."""
    @property
    def real_inputs(self) -> list[str]:
        """The names of the real inputs."""
    @property
    def real_outputs(self) -> list[str]:
        """The names of the real results."""
    @property
    def real(self) -> str:
        """The number system of the reals: `f64`, `f32`, or `fixed:31` for 31 fraction bits."""
    @property
    def text(self) -> str | None:
        """The text of the program; `None` for an image."""
    @property
    def name(self) -> str:
        """The name of the program's file."""
    @property
    def warnings(self) -> str:
        """The warnings about the text, with their source lines; empty if there are none."""
    @property
    def is_native(self) -> bool:
        """True if native code executes the whole program in both directions."""

class Recording:
    """A run that was recorded. `Program.record` creates it.

    The time points of a run are numbered by steps, from 0 to `len(recording)`.
    """

    def __len__(self) -> int: ...
    def at(self, step: int) -> TimePoint:
        """Returns the time point after a number of steps. A negative number counts from the end."""
    def history(self, cells: str, most: int = 1000) -> list[tuple[int, int, str, str, str]]:
        """Returns the last writes to a cell, an array or a slice, at most `most`: tuples of the step before the write,
        the line, the cell, and its values before and after as texts."""
    def why(self, cell: str, depth: int = 3, step: int | None = None) -> str:
        """Explains where the value of a cell comes from: the instructions that computed it, and their sources. The value is
        that at `step`, or at the end of the run."""
    def ask(self, line: str, step: int | None = None) -> str:
        """Executes a command of the debugger at a step, or at the end of the run, and returns its answer."""
    def plot(self, *cells: str) -> Svg:
        """Returns a plot of cells over the steps of the run: a text in SVG, which notebooks show as a picture. Without
        names, plots the first scalars of the program."""
    @property
    def trap(self) -> str | None:
        """The report of the trap in which the run ended, with source lines."""

class TimePoint:
    """A time point of a recorded run: a mapping from names and expressions to their values at this time point."""

    def __getitem__(self, text: str) -> Any:
        """Returns the value of a cell or an array, or of an expression in the language of the debugger."""
    @property
    def step(self) -> int:
        """The number of steps before this time point."""
    @property
    def line(self) -> int | None:
        """The line of the next statement."""

class DerivativeFunction:
    """A derivative of a program as a function of the inputs. Methods of `Program` create it.

    If the derivative can't be verified, or doesn't exist, a call raises `DerivativeError`.
    """

    def __call__(self, *args: Mapping[str, Any], **more: Any) -> Any: ...

class Results(Mapping[str, Any]):
    """The results of a call: a mapping from names to numbers and arrays.

    Scalars are `float` or `int`; vectors and matrices are NumPy arrays of `float64` or `int64`.
    """

    def __getitem__(self, name: str) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> KeysView[str]: ...
    def values(self) -> ValuesView[Any]: ...
    def items(self) -> ItemsView[str, Any]: ...
    def get(self, name: str, default: Any = None) -> Any: ...
    @property
    def steps(self) -> int:
        """The number of steps of the run."""
    @property
    def garbage(self) -> list[str]:
        """Cells, stacks and tapes that the run left with another content than they should have, as sentences."""
    @property
    def shown(self) -> list[tuple[str, int | float]]:
        """The values of `show`, as pairs of a name and a number, in the order of the run."""

class Table:
    """The results of a batch as an Arrow table: an object with `__arrow_c_stream__`.

    `pyarrow.table(results)`, `polars.from_arrow(results)` and others take it without copying.
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    @property
    def sums(self) -> dict[str, Any]:
        """Sums over all lanes of the loss, and of derivatives by shared inputs."""
    @property
    def failures(self) -> list[tuple[int, Exception]]:
        """The failed lanes, as pairs of a number and an exception."""
