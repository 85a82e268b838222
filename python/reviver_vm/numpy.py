"""Programs as functions of NumPy arrays: `Program.numpy` calls `function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._bridge import Bridge
from ._native import Program
from .errors import InputError


def function(
    program: Program, of: str | Sequence[str], inputs: Sequence[str] | None = None, *, grad: bool = False
) -> Callable[..., Any]:
    """Returns the program as a function of arrays, for optimizers such as `scipy.optimize.minimize(f, x, jac=True)`.

    `of` is a real result, or a list of them: then the function returns a tuple. `inputs` are the arguments in order;
    other inputs have their default. Without `inputs`, all inputs are arguments, in the order of their declarations.
    With `grad`, the function returns the value of a scalar result and its gradient by the first argument.
    """
    bridge = Bridge(program, of, inputs)
    if grad and not bridge.is_scalar:
        raise InputError(f"`{', '.join(bridge.of)}` isn't a scalar; only a scalar has a gradient: name one with `grad`")
    if grad and not (bridge.is_real and bridge.is_real[0]):
        raise InputError("the first argument isn't real; name a real input first")
    slope = program.value_and_grad(bridge.of[0], [bridge.inputs[0]]) if grad else None

    def call(*args: Any, **keywords: Any) -> Any:
        given = dict(zip(bridge.inputs, bridge.positions(args, keywords)))
        if slope is not None:
            value, gradient = slope(given)
            return value, gradient[bridge.inputs[0]]
        found = program(given)
        values = tuple(found[name] for name in bridge.of)
        return values[0] if bridge.is_single else values

    call.__name__ = program.name
    call.__doc__ = f"{', '.join(bridge.of)} of {program.name} as a function of {', '.join(bridge.inputs)}."
    return call
