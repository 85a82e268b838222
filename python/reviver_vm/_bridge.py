"""A program as a function of positional arrays, with first and second derivatives: what JAX and PyTorch need of it.

All arrays are NumPy arrays of the program's shapes, or have leading dimensions for lanes. `by` names the inputs to
differentiate by, as indices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._native import DerivativeFunction, Program
from .errors import InputError

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = Sequence[Array]
By = tuple[int, ...]


class Bridge:
    """Calls of a program by positions of its inputs and results."""

    def __init__(self, program: Program, of: str | Sequence[str], inputs: Sequence[str] | None) -> None:
        self.program = program
        self.is_single = isinstance(of, str)
        self.of = [of] if isinstance(of, str) else list(of)
        self.inputs = list(program.inputs if inputs is None else inputs)
        shapes = program.inputs
        unknown = [name for name in self.inputs if name not in shapes]
        if unknown:
            raise InputError(f"`{unknown[0]}` isn't an input; the inputs are {', '.join(shapes)}")
        unknown = [name for name in self.of if name not in program.real_outputs]
        if unknown or not self.of:
            cause = f"`{unknown[0]}` isn't a real result" if unknown else "no result is named"
            known = ", ".join(program.real_outputs)
            raise InputError(f"{cause}; " + (f"the real results are {known}" if known else "the program has none"))
        if len({*self.inputs}) < len(self.inputs):
            raise InputError("an input is named twice; name each once")
        self.input_shapes = [shapes[name] for name in self.inputs]
        self.result_shapes = [program.outputs[name] for name in self.of]
        reals = set(program.real_inputs)
        self.is_real = [name in reals for name in self.inputs]
        self.dtype = np.dtype(np.float32 if program.real == "f32" else np.float64)
        # A scalar result has a gradient, and a batch finds the gradients of all lanes.
        self.is_scalar = self.result_shapes == [()]
        self.functions: dict[tuple[str, By], DerivativeFunction] = {}

    def positions(self, args: Sequence[Any], keywords: dict[str, Any]) -> list[Any]:
        """Returns the arguments of a call in the order of the inputs."""
        found = dict(zip(self.inputs, args))
        if len(args) > len(self.inputs):
            raise TypeError(f"{len(args)} inputs are given, and the function has {', '.join(self.inputs)}")
        for name, value in keywords.items():
            if name in found or name not in self.inputs:
                raise TypeError(f"`{name}` is given twice, or isn't an input: the inputs are {', '.join(self.inputs)}")
            found[name] = value
        missing = [name for name in self.inputs if name not in found]
        if missing:
            raise TypeError(f"the input {', '.join(missing)} is missing")
        return [found[name] for name in self.inputs]

    def run(self, inputs: Arrays, depth: int = 0) -> list[Array]:
        """Returns the results."""
        found: Any
        if depth == 0:
            found = self.program(self._named(inputs))
            return [self._array(found[name], shape) for name, shape in zip(self.of, self.result_shapes)]
        batch, lanes = self._lanes(inputs, depth)
        found = self.program.batch(lanes)
        return [self._array(found[name], batch + shape) for name, shape in zip(self.of, self.result_shapes)]

    def vjp(self, by: By, cotangents: Arrays, inputs: Arrays, depth: int = 0) -> list[Array]:
        """Returns the gradient of the sum of cotangent times result, by each input in `by`."""
        if depth == 0:
            seeds = dict(zip(self.of, cotangents))
            found = self._function("vjp", by)(seeds, self._named(inputs))
            return [self._array(found[self.inputs[n]], self.input_shapes[n]) for n in by]
        batch, jacobian = self._jacobians(by, inputs, depth)
        if self.is_scalar and np.all(cotangents[0] == 1):
            return [self._array(row, batch + self.input_shapes[n]) for n, row in zip(by, jacobian[0])]
        weights = [self._rows(cotangent, depth) for cotangent in cotangents]
        products = (
            sum(np.einsum("lm,lmn->ln", w, rows[n]) for w, rows in zip(weights, jacobian)) for n in range(len(by))
        )
        return [self._array(product, batch + self.input_shapes[n]) for n, product in zip(by, products)]

    def jvp(self, by: By, tangents: Arrays, inputs: Arrays, depth: int = 0) -> list[Array]:
        """Returns the derivatives of the results along tangents of the inputs in `by`."""
        if depth == 0:
            along = {self.inputs[n]: tangent for n, tangent in zip(by, tangents)}
            _, found = self._function("jvp", by)(along, self._named(inputs))
            return [self._array(found[name], shape) for name, shape in zip(self.of, self.result_shapes)]
        batch, jacobian = self._jacobians(by, inputs, depth)
        steps = [self._rows(tangent, depth) for tangent in tangents]
        products = (sum(np.einsum("lmn,ln->lm", block, step) for block, step in zip(rows, steps)) for rows in jacobian)
        return [self._array(product, batch + shape) for shape, product in zip(self.result_shapes, products)]

    def hvp(self, by: By, cotangents: Arrays, tangents: Arrays, inputs: Arrays, depth: int = 0) -> list[Array]:
        """Returns the Hessian of the sum of cotangent times result, times the tangents of the inputs in `by`."""
        if depth == 0:
            seeds = dict(zip(self.of, cotangents))
            along = {self.inputs[n]: tangent for n, tangent in zip(by, tangents)}
            _, _, found = self._function("hvp", by)(seeds, along, self._named(inputs))
            return [self._array(found[self.inputs[n]], self.input_shapes[n]) for n in by]
        batch, lanes = self._lanes(inputs, depth)
        if not self.is_scalar:
            return self._hvp_by_lane(by, cotangents, tangents, (batch, lanes))
        names = [self.inputs[n] for n in by]
        found = self.program.batch(lanes, hessian=self.of[0], wrt=names)
        count, weight = math.prod(batch), self._rows(cotangents[0], depth)
        steps = [self._rows(tangent, depth) for tangent in tangents]
        products = []
        for row, n in zip(names, by):
            size = math.prod(self.input_shapes[n])
            blocks = (
                found[f"{row}'/{column}"].reshape(count, size, math.prod(self.input_shapes[m]))
                for column, m in zip(names, by)
            )
            product = sum(np.einsum("lab,lb->la", block, step) for block, step in zip(blocks, steps))
            products.append(self._array(product * weight, batch + self.input_shapes[n]))
        return products

    def _hvp_by_lane(
        self, by: By, cotangents: Arrays, tangents: Arrays, given: tuple[tuple[int, ...], dict[str, Array]]
    ) -> list[Array]:
        """Calls each lane by itself, because a batch has one seed for all lanes."""
        batch, lanes = given
        count = math.prod(batch)
        cotangents = [c.reshape(count, *shape) for c, shape in zip(cotangents, self.result_shapes)]
        tangents = [t.reshape(count, *self.input_shapes[n]) for n, t in zip(by, tangents)]
        found = [
            self.hvp(by, [c[lane] for c in cotangents], [t[lane] for t in tangents], [a[lane] for a in lanes.values()])
            for lane in range(count)
        ]
        if count == 0:
            return [np.zeros(batch + self.input_shapes[n], self.dtype) for n in by]
        return [self._array(np.stack(rows), batch + self.input_shapes[n]) for n, rows in zip(by, zip(*found))]

    def _jacobians(self, by: By, inputs: Arrays, depth: int) -> tuple[tuple[int, ...], list[list[Array]]]:
        """Returns the Jacobians of all lanes as matrices: one for each result and each input in `by`."""
        batch, lanes = self._lanes(inputs, depth)
        names, count = [self.inputs[n] for n in by], math.prod(batch)
        widths = [math.prod(self.input_shapes[n]) for n in by]
        if self.is_scalar:
            found = self.program.batch(lanes, grad=self.of[0], wrt=names)
            return batch, [[found[f"{name}'"].reshape(count, 1, width) for name, width in zip(names, widths)]]
        found = self.program.batch(lanes, jacobian=self.of, wrt=names)
        sizes = [math.prod(shape) for shape in self.result_shapes]
        return batch, [
            [found[f"{of}/{name}"].reshape(count, size, width) for name, width in zip(names, widths)]
            for of, size in zip(self.of, sizes)
        ]

    def _lanes(self, inputs: Arrays, depth: int) -> tuple[tuple[int, ...], dict[str, Array]]:
        """Returns the leading dimensions, and the inputs with one dimension for all lanes."""
        batch = inputs[0].shape[:depth]
        count = math.prod(batch)
        arrays = (array.reshape(count, *shape) for array, shape in zip(inputs, self.input_shapes))
        return batch, dict(zip(self.inputs, arrays))

    def _named(self, inputs: Arrays) -> dict[str, Array]:
        return dict(zip(self.inputs, inputs))

    @staticmethod
    def _rows(array: Array, depth: int) -> Array:
        """Returns an array with a row for each lane."""
        return array.reshape(math.prod(array.shape[:depth]), math.prod(array.shape[depth:]))

    def _array(self, value: Any, shape: tuple[int, ...]) -> Array:
        return np.ascontiguousarray(value, dtype=self.dtype).reshape(shape)

    def _function(self, kind: str, by: By) -> DerivativeFunction:
        """Returns a derivative of the program. It is prepared once."""
        found = self.functions.get((kind, by))
        if found is None:
            names = [self.inputs[n] for n in by]
            prepare = {
                "vjp": lambda: self.program.vjp(self.of, names),
                "jvp": lambda: self.program.jvp(self.of),
                "hvp": lambda: self.program.weighted_hvp(self.of),
            }
            found = self.functions[kind, by] = prepare[kind]()
        return found
