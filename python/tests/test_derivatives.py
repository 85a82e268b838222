"""Derivatives against formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import reviver_vm as rv

MODEL = """
.in x: real, A[3]: real default {1.0, 2.0, 0.5}
.in n default 2
.out y: real, z[2]: real
add y, sin(x) * A[0] + A[1] * A[2] * x
add z[0], x * A[0]
add z[1], exp(A[1]) * x
"""


@pytest.fixture
def p() -> rv.Program:
    return rv.compile(MODEL)


def test_value_and_grad(p: rv.Program) -> None:
    value, gradient = p.value_and_grad("y")(x=0.7)
    assert value == p(x=0.7)["y"]
    assert gradient["x"] == pytest.approx(np.cos(0.7) + 1.0, rel=1e-15)
    np.testing.assert_allclose(gradient["A"], [np.sin(0.7), 0.35, 1.4], rtol=1e-15)
    only = p.grad("y", wrt=["A[1]"])(x=0.7)
    assert list(only) == ["A[1]"] and only["A[1]"] == pytest.approx(0.35, rel=1e-15)


def test_jacobian(p: rv.Program) -> None:
    found = p.jacobian(["z", "y"])(x=0.7)
    e2 = np.exp(2.0)
    np.testing.assert_allclose(found["z"]["x"], [1.0, e2], rtol=1e-15)
    np.testing.assert_allclose(found["z"]["A"], [[0.7, 0, 0], [0, 0.7 * e2, 0]], rtol=1e-15)
    np.testing.assert_allclose(found["y"]["A"], [np.sin(0.7), 0.35, 1.4], rtol=1e-15)
    assert list(p.jacobian()(x=0.7)) == ["y", "z"]


def test_hessian(p: rv.Program) -> None:
    found = p.hessian("y", wrt=["x", "A"])(x=0.7)
    assert found["x"]["x"] == pytest.approx(-np.sin(0.7), rel=1e-15)
    np.testing.assert_allclose(found["x"]["A"], [np.cos(0.7), 0.5, 2.0], rtol=1e-15)
    np.testing.assert_allclose(found["A"]["A"], [[0, 0, 0], [0, 0, 0.7], [0, 0.7, 0]], rtol=1e-15)


def test_products(p: rv.Program) -> None:
    values, tangents = p.jvp(["y", "z"])({"x": 2.0}, x=0.7)
    np.testing.assert_array_equal(values["z"], p(x=0.7)["z"])
    np.testing.assert_allclose(tangents["z"], [2.0, 2.0 * np.exp(2.0)], rtol=1e-15)
    gradient = p.vjp(["y", "z"], wrt=["x"])({"z": [1.0, 2.0]}, {"x": 0.7})
    assert gradient["x"] == pytest.approx(1.0 + 2.0 * np.exp(2.0), rel=1e-15)
    value, gradient, product = p.hvp("y")({"x": 1.0, "A": [0.0, 1.0, 0.0]}, x=0.7)
    assert value == p(x=0.7)["y"]
    assert product["x"] == pytest.approx(-np.sin(0.7) + 0.5, rel=1e-15)
    np.testing.assert_allclose(product["A"], [np.cos(0.7), 0.5, 2.7], rtol=1e-15)


def test_taylor(p: rv.Program) -> None:
    found = p.taylor(["y", "z"], order=3)({"x": 1.0}, x=0.7)
    s, c = np.sin(0.7), np.cos(0.7)
    np.testing.assert_allclose(found["y"], [s + 0.7, c + 1.0, -s / 2, -c / 6], rtol=1e-14)
    assert found["z"].shape == (4, 2)


def test_directions_that_dont_fit(p: rv.Program) -> None:
    with pytest.raises(TypeError, match="direction"):
        p.jvp(["y"])()
    with pytest.raises(rv.InputError, match="names `q`"):
        p.jvp(["y"])({"q": 1.0}, x=1.0)
    with pytest.raises(rv.InputError, match="shape"):
        p.jvp(["y"])({"A": [1.0]}, x=1.0)
    with pytest.raises(rv.InputError, match="order"):
        p.taylor(["y"], order=99)({"x": 1.0}, x=1.0)
    with pytest.raises(rv.InputError, match="2 cells"):
        p.value_and_grad("z")
    with pytest.raises(rv.InputError):
        p.grad("n")
    with pytest.raises(rv.InputError, match=".out"):
        p.grad("y", wrt=["y"])
    assert list(p.grad("y", wrt="x")(x=1.0)) == ["x"] and list(p.jacobian("z")(x=1.0)) == ["z"]


def test_derivatives_that_dont_exist() -> None:
    root = rv.compile(".in x: real, c: real\n.out y: real\nadd y, sqrt(x) * c\n")
    with pytest.raises(rv.Error) as caught:
        root.grad("y")(x=0.0, c=0.0)
    assert isinstance(caught.value, (rv.DerivativeError, rv.Trap))
    # A derivative that nobody asks for need not exist.
    assert root.grad("y", wrt=["c"])(x=0.0, c=2.0) == {"c": 0.0}
    lossy = rv.compile(".in x: real\n.out y: real\n.ancilla k\nadd k, toint(x)\nadd y, x * toreal(k)\n")
    with pytest.raises(rv.DerivativeError) as doubt:
        lossy.grad("y")(x=2.5)
    assert doubt.value.losses


def test_functions_for_optimizers(p: rv.Program) -> None:
    """Newton's method on a gradient, as an optimizer would call it."""
    f = rv.compile(".in x[2]: real\n.out y: real\nadd y, square(x[0] - 3) + exp(x[1]) - x[1]\n").numpy("y", grad=True)
    x = np.array([0.0, 1.0])
    for _ in range(200):
        value, gradient = f(x)
        x = x - 0.3 * gradient
    np.testing.assert_allclose(x, [3.0, 0.0], atol=1e-12)
    assert value == pytest.approx(1.0)
    z, y = p.numpy(["z", "y"], ["x"])(0.7)
    np.testing.assert_array_equal(z, p(x=0.7)["z"])
    assert y == p(x=0.7)["y"]
    with pytest.raises(rv.InputError):
        p.numpy("z", grad=True)
    with pytest.raises(rv.InputError):
        p.numpy("y", ["n", "x"], grad=True)


def test_gradients_of_programs(programs: Path) -> None:
    """The derivative of the Bessel function: J2'(1) = (J1(1) - J3(1)) / 2. The program leaves out terms below 1e-8."""
    gradient = rv.compile(programs / "besselj.rasm").grad("out", wrt=["z"])
    j1, j3 = 0.4400505857449335, 0.019563353982668407
    assert gradient(z=1.0, nu=2)["z"] == pytest.approx((j1 - j3) / 2, rel=1e-9)
