"""The type annotations of the package, checked by mypy."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import reviver_vm as rv


def test_types_are_consistent(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    package = Path(rv.__file__).parent
    # The functions of JAX have no annotations. Without PyTorch, its classes have no types.
    others = ["--ignore-missing-imports", "--untyped-calls-exclude=jax", "--allow-subclassing-any"]
    command = [sys.executable, "-m", "mypy", "--strict", *others, "--cache-dir", str(tmp_path), str(package)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


KINDS = (rv.Program, rv.Recording, rv.TimePoint, rv.DerivativeFunction, rv.Results, rv.Table)


def test_stubs_have_the_texts_of_the_module() -> None:
    """Editors read the stubs, `help` reads the module: both must say the same."""
    tree = ast.parse((Path(rv.__file__).parent / "_native.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def words(text: str | None) -> list[str]:
        return (text or "").split()

    for kind in KINDS:
        stub = stubs[kind.__name__]
        assert words(ast.get_docstring(stub)) == words(inspect.getdoc(kind)), kind.__name__
        methods: dict[str, ast.FunctionDef] = {}
        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                methods.setdefault(node.name, node)
        for name, found in vars(kind).items():
            if not name.startswith("_"):
                assert name in methods, f"{kind.__name__}.{name} has no stub"
                wanted = ast.get_docstring(methods[name])
                if wanted is not None:
                    assert words(wanted) == words(inspect.getdoc(found)), f"{kind.__name__}.{name}"
