"""Programs under the transformations of JAX, against the same formulas in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import reviver_vm as rv  # noqa: E402

MODEL = """
.in x: real, A[3]: real, n default 2
.out y: real, z[2]: real
add y, sin(x) * A[0] + A[1] * A[2] * x
add z[0], x * A[0]
add z[1], exp(A[1]) * x
"""
X, A = 0.7, np.array([1.0, 2.0, 0.5])
XS, AS = np.linspace(0.0, 1.0, 5), np.arange(15.0).reshape(5, 3)


@pytest.fixture(autouse=True)
def doubles() -> Any:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def scalar(x: Any, A: Any) -> Any:
    return jnp.sin(x) * A[0] + A[1] * A[2] * x


def both(x: Any, A: Any) -> Any:
    return jnp.stack([x * A[0], jnp.exp(A[1]) * x]), scalar(x, A)


def squared_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return jax.grad(lambda x, A: jnp.sum(jax.grad(f, argnums=1)(x, A) ** 2))


TWO = (0, 1)
TRANSFORMATIONS: dict[str, Callable[..., Any]] = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(f, argnums=TWO),
    "jacfwd": lambda f: jax.jacfwd(f, argnums=TWO),
    "jacrev": lambda f: jax.jacrev(f, argnums=TWO),
    "hessian": lambda f: jax.hessian(f, argnums=TWO),
    "jacrev of jacrev": lambda f: jax.jacrev(jax.jacrev(f, argnums=1), argnums=TWO),
    "jacfwd of jacfwd": lambda f: jax.jacfwd(jax.jacfwd(f, argnums=1), argnums=TWO),
    "jacfwd of jacrev": lambda f: jax.jacfwd(jax.jacrev(f, argnums=1), argnums=TWO),
    "gradient of a gradient": squared_gradient,
    "composition": lambda f: jax.grad(lambda x, A: f(jnp.sin(x), A * x) ** 2),
}
BATCHED: dict[str, Callable[..., Any]] = {
    "vmap": jax.vmap,
    "vmap of grad": lambda f: jax.vmap(jax.grad(f, argnums=TWO)),
    "vmap of hessian": lambda f: jax.vmap(jax.hessian(f, argnums=1)),
    "vmap of vmap": lambda f: jax.vmap(jax.vmap(f, (None, 0)), (0, None)),
    "a shared input": lambda f: lambda x, A: jax.vmap(f, (0, None))(x, A[1]),
}


def same(found: Any, wanted: Any) -> None:
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", [*TRANSFORMATIONS, *BATCHED])
def test_scalar_results(name: str, jit: bool) -> None:
    f = rv.compile(MODEL).jax("y", ["x", "A"])
    transform = {**TRANSFORMATIONS, **BATCHED}[name]
    given = (XS, AS) if name in BATCHED else (X, A)
    found = jax.jit(transform(f)) if jit else transform(f)
    same(found(*given), transform(scalar)(*given))


@pytest.mark.parametrize("name", ["value", "jacfwd", "jacrev", "jacrev of jacrev", "jacfwd of jacrev", "vmap"])
def test_several_results(name: str) -> None:
    f = rv.compile(MODEL).jax(["z", "y"], ["x", "A"])
    transform = {**TRANSFORMATIONS, **BATCHED}[name]
    given = (XS, AS) if name in BATCHED else (X, A)
    same(transform(f)(*given), transform(both)(*given))


def test_arguments() -> None:
    p = rv.compile(MODEL)
    f = p.jax("y")
    assert f(X, A, 2) == f(X, n=2, A=A) == p(x=X, A=A)["y"]
    for wrong in (lambda: f(X), lambda: f(X, A, 2.5), lambda: f(X, A[:2], 2), lambda: f(X, A, 2, q=1)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(rv.InputError):
        p.jax("q")
    with pytest.raises(rv.InputError):
        p.jax("y", ["q"])


def test_edges() -> None:
    p = rv.compile(MODEL)
    f = p.jax("y", ["x", "A"])
    none = (np.zeros(0), np.zeros((0, 3)))
    assert jax.vmap(jax.grad(f))(*none).shape == (0,) and jax.vmap(jax.hessian(f))(*none).shape == (0,)
    assert jax.vmap(jax.jacrev(p.jax(["z", "y"], ["x", "A"])))(*none)[0].shape == (0, 2)
    constant = rv.compile(".out y: real\nadd y, 2.5\n").jax("y")
    assert jax.jit(constant)() == constant() == 2.5
    with pytest.raises(rv.InputError, match="twice"):
        p.jax("y", ["x", "x"])
    with pytest.raises(OverflowError):
        f(2**60 + 1, A)
    jax.config.update("jax_enable_x64", False)
    counted = rv.compile(".in n, x: real\n.out y: real\nadd y, toreal(n) + x\n", real="f32").jax("y")
    with pytest.raises(OverflowError):
        counted(np.int64(2**32 + 5), 1.0)


def test_a_program_in_f64_needs_doubles() -> None:
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(rv.Error, match="jax_enable_x64"):
        rv.compile(MODEL).jax("y")
    f = rv.compile(MODEL, real="f32").jax("y", ["x", "A"])
    assert jax.grad(f)(X, A).dtype == jnp.float32


def test_a_loop_whose_length_depends_on_the_data() -> None:
    """The square root by Newton's method, until it doesn't change: JAX can't differentiate such a loop backward."""
    text = """
    .in a: real
    .out y: real
    .ancilla n
    .ancilla r[60]: real
    compute
        add r[0], a
        from n == 0
            add r[n + 1], (r[n] + a / r[n]) / 2
            add n, 1
        until abs(r[n] - r[n - 1]) < 1e-12
    apply
        add y, r[n]
    uncompute
    """
    f = rv.compile(text).jax("y")
    for a in (2.0, 1e4):
        assert float(jax.grad(f)(a)) == pytest.approx(0.5 / np.sqrt(a), rel=1e-9)
