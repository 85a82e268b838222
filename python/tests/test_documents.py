"""The code blocks of docs/python.md run, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_code_blocks_run() -> None:
    blocks = [block.split("```")[0] for block in PAGE.read_text().split("```python\n")[1:]]
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        if "import jax" in block:
            try:
                import jax  # noqa: F401
            except ImportError:
                continue
        exec(compile(block, str(PAGE), "exec"), names)
    if "jax" in names:
        names["jax"].config.update("jax_enable_x64", False)  # type: ignore[attr-defined]


def test_the_page_lists_every_exception() -> None:
    rv = pytest.importorskip("reviver_vm")
    text = PAGE.read_text()
    kinds = [name for name, kind in vars(rv.errors).items() if isinstance(kind, type) and issubclass(kind, rv.Error)]
    assert all(f"rv.{name}`" in text for name in kinds)
