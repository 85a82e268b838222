"""Programs as functions of PyTorch tensors: `Program.torch` calls `function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ._bridge import Bridge, By
from ._native import Program


def function(program: Program, of: str | Sequence[str], inputs: Sequence[str] | None = None) -> Callable[..., Any]:
    """Returns the program as a function of tensors on the CPU.

    `of` is a real result, or a list of them: then the function returns a tuple. `inputs` are the arguments in order;
    other inputs have their default. Without `inputs`, all inputs are arguments, in the order of their declarations.
    Results have first and second derivatives; third derivatives are NaN.
    """
    bridge = Bridge(program, of, inputs)
    dtype = torch.float32 if bridge.dtype == np.float32 else torch.float64

    def call(*args: Any, **keywords: Any) -> Any:
        given = bridge.positions(args, keywords)
        tensors = [_argument(bridge, n, value, dtype) for n, value in enumerate(given)]
        found = _Run.apply(bridge, *tensors)
        return found[0] if bridge.is_single else found

    call.__name__ = program.name
    call.__doc__ = f"{', '.join(bridge.of)} of {program.name} as a function of {', '.join(bridge.inputs)}."
    return call


def _argument(bridge: Bridge, n: int, value: Any, dtype: torch.dtype) -> torch.Tensor:
    tensor = torch.as_tensor(value)
    name, shape = bridge.inputs[n], bridge.input_shapes[n]
    if tuple(tensor.shape) != shape:
        raise TypeError(f"`{name}` has the shape {shape}, and a tensor of the shape {tuple(tensor.shape)} is given")
    if bridge.is_real[n]:
        if tensor.is_complex() or tensor.dtype == torch.bool:
            raise TypeError(f"`{name}` has reals, and a tensor of {tensor.dtype} is given")
        return tensor.to(dtype)
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        raise TypeError(f"`{name}` has integers, and a tensor of {tensor.dtype} is given")
    return tensor


def _arrays(tensors: Sequence[torch.Tensor]) -> list[Any]:
    return [tensor.detach().numpy() for tensor in tensors]


def _tensors(arrays: Sequence[Any]) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(np.asarray(array)) for array in arrays)


def _spread(tensors: Sequence[Any], by: By, count: int) -> tuple[Any, ...]:
    """Returns `count` places, with the tensors at those of `by`."""
    places: list[Any] = [None] * count
    for n, tensor in zip(by, tensors):
        places[n] = tensor
    return tuple(places)


class _Run(torch.autograd.Function):
    """The results of a program."""

    @staticmethod
    def forward(ctx: Any, bridge: Bridge, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.bridge = bridge
        ctx.save_for_backward(*inputs)
        return _tensors(bridge.run(_arrays(inputs)))

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        inputs = ctx.saved_tensors
        by = tuple(n for n, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
        found = _Gradient.apply(ctx.bridge, by, *cotangents, *inputs)
        return (None, *_spread(found, by, len(inputs)))


class _Gradient(torch.autograd.Function):
    """The gradient of the sum of cotangent times result."""

    @staticmethod
    def forward(ctx: Any, bridge: Bridge, by: By, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.bridge, ctx.by = bridge, by
        ctx.save_for_backward(*args)
        arrays, count = _arrays(args), len(bridge.of)
        return _tensors(bridge.vjp(by, arrays[:count], arrays[count:]))

    @staticmethod
    def backward(ctx: Any, *outer: torch.Tensor) -> tuple[Any, ...]:
        saved = ctx.saved_tensors
        needed = tuple(n for n, need in enumerate(ctx.needs_input_grad[2:]) if need)
        found = _Second.apply(ctx.bridge, ctx.by, needed, *outer, *saved)
        return (None, None, *_spread(found, needed, len(saved)))


class _Second(torch.autograd.Function):
    """The derivatives of `_Gradient` by its cotangents and inputs, as far as they are needed, weighted by `outer`."""

    @staticmethod
    def forward(ctx: Any, bridge: Bridge, by: By, needed: By, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.bridge, ctx.by, ctx.needed = bridge, by, needed
        ctx.save_for_backward(*args)
        arrays, count = _arrays(args), len(bridge.of)
        along, cotangents, inputs = arrays[: len(by)], arrays[len(by) : len(by) + count], arrays[len(by) + count :]
        found: dict[int, Any] = {}
        if any(n < count for n in needed):
            found.update(enumerate(bridge.jvp(by, along, inputs)))
        wanted = tuple(n - count for n in needed if n >= count)
        if wanted:
            # The Hessian's rows and columns are the same inputs, so the direction is 0 for those without one.
            both = tuple(sorted({*wanted, *by}))
            given = dict(zip(by, along))
            direction = [given.get(n, np.zeros_like(inputs[n])) for n in both]
            found.update((count + n, h) for n, h in zip(both, bridge.hvp(both, cotangents, direction, inputs)))
        return _tensors([found[n] for n in needed])

    @staticmethod
    def backward(ctx: Any, *outer: torch.Tensor) -> tuple[Any, ...]:
        bridge, by, count = ctx.bridge, ctx.by, len(ctx.bridge.of)
        arrays = _arrays(ctx.saved_tensors)
        cotangents, inputs = arrays[len(by) : len(by) + count], arrays[len(by) + count :]
        given = dict(zip(ctx.needed, _arrays(outer)))
        # The result is linear in the weights: its transpose is the gradient for the cotangents, and the same Hessian.
        parts = []
        seeds = [given.get(n) for n in range(count)]
        if any(seed is not None for seed in seeds):
            filled = [np.zeros_like(c) if seed is None else seed for seed, c in zip(seeds, cotangents)]
            parts.append(bridge.vjp(by, filled, inputs))
        rows = {n - count: h for n, h in given.items() if n >= count}
        if rows:
            both = tuple(sorted({*rows, *by}))
            direction = [rows.get(n, np.zeros_like(inputs[n])) for n in both]
            products = dict(zip(both, bridge.hvp(both, cotangents, direction, inputs)))
            parts.append([products[n] for n in by])
        sums = [sum(column[1:], column[0]) for column in zip(*parts)]
        # Third derivatives aren't available. PyTorch doesn't tell whether they are asked for, so they are NaN.
        unknown = (torch.full_like(t, torch.nan) if t.is_floating_point() else None for t in ctx.saved_tensors[len(by) :])
        return (None, None, None, *_tensors(sums), *unknown)
