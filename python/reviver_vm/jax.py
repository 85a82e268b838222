"""Programs as functions of JAX arrays: `Program.jax` calls `function`.

A program is four JAX primitives: the run, the derivative along tangents, the gradient of a sum that is weighted by
cotangents, and the Hessian of such a sum times a direction. Each knows its transpose and its own derivative, so `grad`,
`jacfwd`, `jacrev`, `hessian` and their compositions of second order work. Under `vmap` a primitive gets one more leading
dimension, and calls one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ._bridge import Bridge, By
from ._native import Program
from .errors import Error

ShapedArray = jax.core.ShapedArray


def function(program: Program, of: str | Sequence[str], inputs: Sequence[str] | None = None) -> Callable[..., Any]:
    """Returns the program as a function of JAX arrays.

    `of` is a real result, or a list of them: then the function returns a tuple. `inputs` are the arguments in order;
    other inputs have their default. Without `inputs`, all inputs are arguments, in the order of their declarations.
    """
    bridge = Bridge(program, of, inputs)
    if bridge.dtype == np.float64 and not jax.config.read("jax_enable_x64"):
        raise Error(
            "the program computes in float64, and JAX has only float32; "
            'call `jax.config.update("jax_enable_x64", True)` first, or compile the program with `real="f32"`'
        )

    def call(*args: Any, **keywords: Any) -> Any:
        given = bridge.positions(args, keywords)
        arrays = [_argument(bridge, n, value) for n, value in enumerate(given)]
        found = run_p.bind(*arrays, bridge=bridge, depth=0)
        return found[0] if bridge.is_single else tuple(found)

    call.__name__ = program.name
    call.__doc__ = f"{', '.join(bridge.of)} of {program.name} as a function of {', '.join(bridge.inputs)}."
    return call


def _argument(bridge: Bridge, n: int, value: Any) -> Any:
    name, shape = bridge.inputs[n], bridge.input_shapes[n]
    if not isinstance(value, jax.Array):
        # JAX would cut off large integers silently.
        given = np.asarray(value)
        if given.dtype.kind in "iu" and given.size:
            largest = max(abs(int(given.max())), abs(int(given.min())))
            bits = 53 if bridge.is_real[n] else 63 if jax.config.read("jax_enable_x64") else 31
            if largest > 2**bits - (0 if bridge.is_real[n] else 1):
                raise OverflowError(f"`{name}` is given an integer that JAX can't hold; at most {bits} bits fit")
    array = jnp.asarray(value)
    if array.shape != shape:
        raise TypeError(f"`{name}` has the shape {shape}, and an array of the shape {array.shape} is given")
    if bridge.is_real[n]:
        if jnp.issubdtype(array.dtype, jnp.complexfloating) or array.dtype == bool:
            raise TypeError(f"`{name}` has reals, and an array of {array.dtype} is given")
        return array.astype(bridge.dtype)
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"`{name}` has integers, and an array of {array.dtype} is given")
    return array


def _primitive(name: str, compute: Callable[..., list[Any]], shapes: Callable[..., list[tuple[int, ...]]]) -> Primitive:
    """Returns a primitive that calls a function of NumPy arrays. The parameters of both functions are those of the
    primitive; `shapes` returns the shapes of the results without leading dimensions."""
    primitive = Primitive(f"reviver_{name}")
    primitive.multiple_results = True

    def avals(*args: Any, bridge: Bridge, depth: int, **params: Any) -> list[Any]:
        batch = args[0].shape[:depth] if args else ()
        return [ShapedArray(batch + shape, bridge.dtype) for shape in shapes(bridge, **params)]

    def implementation(*args: Any, **params: Any) -> list[Any]:
        return [jnp.asarray(array) for array in compute(*map(np.asarray, args), **params)]

    def callback(*args: Any, **params: Any) -> Any:
        results = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals(*args, **params)]
        return jax.pure_callback(lambda *arrays: compute(*map(np.asarray, arrays), **params), results, *args)

    def batched(args: Sequence[Any], axes: Sequence[Any], *, depth: int, **params: Any) -> Any:
        size = next(arg.shape[axis] for arg, axis in zip(args, axes) if axis is not None)
        front = [
            jnp.broadcast_to(arg, (size, *arg.shape)) if axis is None else jnp.moveaxis(arg, axis, 0)
            for arg, axis in zip(args, axes)
        ]
        found = primitive.bind(*front, depth=depth + 1, **params)
        return found, [0] * len(found)

    primitive.def_impl(implementation)
    primitive.def_abstract_eval(avals)
    batching.primitive_batchers[primitive] = batched
    mlir.register_lowering(primitive, mlir.lower_fun(callback, multiple_results=True))
    return primitive


def _input_shapes(bridge: Bridge, by: By) -> list[tuple[int, ...]]:
    return [bridge.input_shapes[n] for n in by]


def _run(*inputs: Any, bridge: Bridge, depth: int) -> list[Any]:
    return bridge.run(inputs, depth)


def _jvp(*args: Any, bridge: Bridge, depth: int, by: By) -> list[Any]:
    tangents, inputs = args[: len(by)], args[len(by) :]
    return bridge.jvp(by, tangents, inputs, depth)


def _vjp(*args: Any, bridge: Bridge, depth: int, by: By) -> list[Any]:
    cotangents, inputs = args[: len(bridge.of)], args[len(bridge.of) :]
    return bridge.vjp(by, cotangents, inputs, depth)


def _hvp(*args: Any, bridge: Bridge, depth: int, by: By) -> list[Any]:
    first, second = len(bridge.of), len(bridge.of) + len(by)
    return bridge.hvp(by, args[:first], args[first:second], args[second:], depth)


run_p = _primitive("run", _run, lambda bridge: bridge.result_shapes)
jvp_p = _primitive("jvp", _jvp, lambda bridge, by: bridge.result_shapes)
vjp_p = _primitive("vjp", _vjp, _input_shapes)
hvp_p = _primitive("hvp", _hvp, _input_shapes)


def _is_zero(tangent: Any) -> bool:
    return isinstance(tangent, ad.Zero)


def _varied(bridge: Bridge, tangents: Sequence[Any]) -> By:
    """Returns the real inputs that have a tangent."""
    return tuple(n for n, t in enumerate(tangents) if bridge.is_real[n] and not _is_zero(t))


def _filled(tangents: Sequence[Any], like: Sequence[Any]) -> list[Any]:
    """Returns tangents with arrays of zeros in place of symbolic ones."""
    return [jnp.zeros_like(value) if _is_zero(t) else t for t, value in zip(tangents, like)]


def _sum(parts: list[list[Any]]) -> list[Any]:
    return [sum(column[1:], column[0]) for column in zip(*parts)]


def _zeros(values: Sequence[Any]) -> list[Any]:
    return [jnp.zeros_like(value) for value in values]


def _run_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, bridge: Bridge, depth: int) -> Any:
    values = run_p.bind(*primals, bridge=bridge, depth=depth)
    by = _varied(bridge, tangents)
    if not by:
        return values, _zeros(values)
    found = jvp_p.bind(*(tangents[n] for n in by), *primals, bridge=bridge, depth=depth, by=by)
    return values, found


def _jvp_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, bridge: Bridge, depth: int, by: By) -> Any:
    values = jvp_p.bind(*primals, bridge=bridge, depth=depth, by=by)
    count, parts = len(by), []
    (along, inputs), (d_along, d_inputs) = _split(primals, count), _split(tangents, count)
    if not all(map(_is_zero, d_along)):
        filled = _filled(d_along, along)
        parts.append(jvp_p.bind(*filled, *inputs, bridge=bridge, depth=depth, by=by))
    varied = _varied(bridge, d_inputs)
    if varied:
        if not bridge.is_scalar:
            raise NotImplementedError("forward derivatives of second order need a scalar result: use jacrev inside")
        ones = jnp.ones(inputs[0].shape[:depth], bridge.dtype)
        products = _hessian_product(bridge, depth, (by, varied), ([ones], along, inputs))
        terms = [
            jnp.sum((p * d_inputs[n]).reshape(*p.shape[:depth], -1), axis=-1) for n, p in zip(varied, products)
        ]
        parts.append([sum(terms[1:], terms[0])])
    return values, _sum(parts) if parts else _zeros(values)


def _vjp_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, bridge: Bridge, depth: int, by: By) -> Any:
    values = vjp_p.bind(*primals, bridge=bridge, depth=depth, by=by)
    count, parts = len(bridge.of), []
    (cotangents, inputs), (d_cotangents, d_inputs) = _split(primals, count), _split(tangents, count)
    if not all(map(_is_zero, d_cotangents)):
        filled = _filled(d_cotangents, cotangents)
        parts.append(vjp_p.bind(*filled, *inputs, bridge=bridge, depth=depth, by=by))
    varied = _varied(bridge, d_inputs)
    if varied:
        along = [d_inputs[n] for n in varied]
        parts.append(_hessian_product(bridge, depth, (varied, by), (cotangents, along, inputs)))
    return values, _sum(parts) if parts else _zeros(values)


def _hvp_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, bridge: Bridge, depth: int, by: By) -> Any:
    values = hvp_p.bind(*primals, bridge=bridge, depth=depth, by=by)
    first, second = len(bridge.of), len(bridge.of) + len(by)
    if _varied(bridge, tangents[second:]):
        raise NotImplementedError("derivatives of third order aren't available: use `Program.taylor`")
    parts = []
    for one, other in ((0, first), (first, second)):
        if not all(map(_is_zero, tangents[one:other])):
            changed = [*primals[:one], *_filled(tangents[one:other], primals[one:other]), *primals[other:]]
            parts.append(hvp_p.bind(*changed, bridge=bridge, depth=depth, by=by))
    return values, _sum(parts) if parts else _zeros(values)


def _hessian_product(
    bridge: Bridge, depth: int, sets: tuple[By, By], given: tuple[Sequence[Any], Sequence[Any], Sequence[Any]]
) -> list[Any]:
    """Returns the rows `sets[1]` of the Hessian, times a direction of the inputs `sets[0]`."""
    (columns, rows), (cotangents, along, inputs) = sets, given
    by = tuple(sorted({*columns, *rows}))
    direction = [along[columns.index(n)] if n in columns else jnp.zeros_like(inputs[n]) for n in by]
    found = hvp_p.bind(*cotangents, *direction, *inputs, bridge=bridge, depth=depth, by=by)
    return [found[by.index(n)] for n in rows]


def _split(values: Sequence[Any], count: int) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[:count], values[count:]


def _cotangents(found: Sequence[Any]) -> list[Any]:
    return [jnp.zeros(ct.aval.shape, ct.aval.dtype) if _is_zero(ct) else ct for ct in found]


def _jvp_transpose(cts: Sequence[Any], *args: Any, bridge: Bridge, depth: int, by: By) -> list[Any]:
    tangents, inputs = _split(args, len(by))
    wanted = [ad.is_undefined_primal(t) for t in tangents]
    found = vjp_p.bind(*_cotangents(cts), *inputs, bridge=bridge, depth=depth, by=by)
    return [ct if want else None for ct, want in zip(found, wanted)] + [None] * len(inputs)


def _vjp_transpose(cts: Sequence[Any], *args: Any, bridge: Bridge, depth: int, by: By) -> list[Any]:
    cotangents, inputs = _split(args, len(bridge.of))
    wanted = [ad.is_undefined_primal(c) for c in cotangents]
    found = jvp_p.bind(*_cotangents(cts), *inputs, bridge=bridge, depth=depth, by=by)
    return [ct if want else None for ct, want in zip(found, wanted)] + [None] * len(inputs)


def _hvp_transpose(cts: Sequence[Any], *args: Any, bridge: Bridge, depth: int, by: By) -> list[Any]:
    """The Hessian is symmetric, so the product with it is its own transpose."""
    first, second = len(bridge.of), len(bridge.of) + len(by)
    if any(map(ad.is_undefined_primal, args[:first])):
        raise NotImplementedError("derivatives of third order aren't available: use `Program.taylor`")
    wanted = [ad.is_undefined_primal(t) for t in args[first:second]]
    found = hvp_p.bind(*args[:first], *_cotangents(cts), *args[second:], bridge=bridge, depth=depth, by=by)
    ours = [ct if want else None for ct, want in zip(found, wanted)]
    return [None] * first + ours + [None] * (len(args) - second)


ad.primitive_jvps[run_p] = _run_jvp
ad.primitive_jvps[jvp_p] = _jvp_jvp
ad.primitive_jvps[vjp_p] = _vjp_jvp
ad.primitive_jvps[hvp_p] = _hvp_jvp
ad.primitive_transposes[jvp_p] = _jvp_transpose
ad.primitive_transposes[vjp_p] = _vjp_transpose
ad.primitive_transposes[hvp_p] = _hvp_transpose
