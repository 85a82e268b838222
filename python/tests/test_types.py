"""The type annotations of the package, checked by mypy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import reviver_vm as rv


def test_types_are_consistent(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    package = Path(rv.__file__).parent
    # The functions of JAX have no annotations. Without PyTorch, the comments for its types are unused.
    others = ["--ignore-missing-imports", "--untyped-calls-exclude=jax", "--disable-error-code=unused-ignore"]
    command = [sys.executable, "-m", "mypy", "--strict", *others, "--cache-dir", str(tmp_path), str(package)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_method_has_a_stub() -> None:
    stubs = (Path(rv.__file__).parent / "_native.pyi").read_text()
    for kind in (rv.Program, rv.Recording, rv.Moment, rv.DerivativeFunction, rv.Results, rv.Table):
        for name in vars(kind):
            if not name.startswith("_"):
                assert f"def {name}(" in stubs, f"{kind.__name__}.{name}"
