"""The examples run, and reach their figures."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_the_notebook_runs() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(EXAMPLES / "first_steps.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"image/svg+xml", "text/html"} <= kinds


def test_training_through_an_integrator_takes_no_memory_for_its_steps() -> None:
    """With 400,000 steps: 9.1 MB, and 6.5e-7 of the loss. It took 39 s."""
    pytest.importorskip("jax")
    spec = importlib.util.spec_from_file_location("string_training", EXAMPLES / "string_training.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    gain, memory = module.main(5_000)
    module.jax.config.update("jax_enable_x64", False)
    assert gain < 1e-5 and memory < 20.0
