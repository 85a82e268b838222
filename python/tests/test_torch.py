"""Programs as functions of PyTorch tensors, checked by PyTorch's own gradient checks."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import reviver_vm as rv  # noqa: E402

MODEL = """
.in x: real, A[3]: real, n default 2
.out y: real, z[2]: real
add y, sin(x) * A[0] + A[1] * A[2] * x
add z[0], x * A[0]
add z[1], exp(A[1]) * x
"""


@pytest.mark.parametrize("of", ["y", "z", ["z", "y"]])
def test_gradient_checks(of: str | list[str]) -> None:
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    A = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64, requires_grad=True)
    f = rv.compile(MODEL).torch(of, ["x", "A"])
    assert torch.autograd.gradcheck(f, (x, A))
    assert torch.autograd.gradgradcheck(f, (x, A))


def test_second_derivatives_by_products() -> None:
    f = rv.compile(".in x: real\n.out y: real\nadd y, x * x * x * x\n").torch("y")
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    for product in (torch.autograd.functional.hvp, torch.autograd.functional.vhp):
        assert product(f, x, torch.ones_like(x))[1].item() == 48.0
    (g,) = torch.autograd.grad(torch.sin(f(x)), x, create_graph=True)
    (h,) = torch.autograd.grad(g**2, x, create_graph=True)
    (again,) = torch.autograd.grad(torch.sin(x**4), x, create_graph=True)
    (wanted,) = torch.autograd.grad(again**2, x)
    assert h.item() == pytest.approx(wanted.item(), rel=1e-12)
    # Third derivatives are missing, and must not count as 0.
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, create_graph=True)
    assert torch.isnan(torch.autograd.grad(h + x, x)[0])


def test_tensors_are_inputs() -> None:
    p = rv.compile(MODEL)
    x, A = torch.tensor(0.7, dtype=torch.float64), torch.tensor([1.0, 2.0, 0.5])
    assert p.torch("y", ["x", "A"])(x, A).item() == p(x=x, A=A)["y"]
    np.testing.assert_array_equal(p(x=x, A=A)["z"], p(x=0.7, A=[1.0, 2.0, 0.5])["z"])


def test_objects_with_dlpack_are_inputs() -> None:
    class Tensor:
        def __init__(self, tensor: torch.Tensor) -> None:
            self.tensor = tensor

        def __dlpack__(self, **options: object) -> object:
            return self.tensor.__dlpack__(**options)

        def __dlpack_device__(self) -> object:
            return self.tensor.__dlpack_device__()

    p = rv.compile(MODEL)
    A = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
    np.testing.assert_array_equal(p(x=0.7, A=Tensor(A))["z"], p(x=0.7, A=A.numpy())["z"])


def test_arguments_that_dont_fit() -> None:
    f = rv.compile(MODEL).torch("y")
    A = torch.ones(3, dtype=torch.float64)
    for wrong in ((1.0, A, 2.5), (1.0, A[:2], 2), (1j, A, 2), (1.0, A)):
        with pytest.raises(TypeError):
            f(*wrong)
