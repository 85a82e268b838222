"""Fixtures that several tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[2] / "programs"


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with the programs of the repository."""
    return PROGRAMS
