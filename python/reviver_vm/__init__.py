"""Reversible programs as functions of NumPy arrays, with exact gradients.

>>> import reviver_vm as rv
>>> p = rv.compile('''
... .in x: real
... .out y: real
... add y, x * x
... ''')
>>> p(x=3.0)["y"]
9.0
>>> p.value_and_grad("y")(x=3.0)
(9.0, {'x': 6.0})
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ._native import DerivativeFunction, Program, Recording, Results, Table, TimePoint
from .errors import (
    DerivativeError,
    DeviceError,
    Error,
    InputError,
    NotReversible,
    ProgramError,
    StepLimit,
    Trap,
)
from .lanes import Lanes

__all__ = [
    "DerivativeError",
    "DerivativeFunction",
    "DeviceError",
    "Error",
    "InputError",
    "Lanes",
    "NotReversible",
    "Program",
    "ProgramError",
    "Recording",
    "Results",
    "StepLimit",
    "Table",
    "TimePoint",
    "Trap",
    "compile",
]

Mapping.register(Results)


def compile(
    source: str | os.PathLike[str],
    *,
    const: Mapping[str, int | float] | None = None,
    real: str | None = None,
    word: int | None = None,
    engine: str = "auto",
    checked: bool = True,
    max_steps: int | None = None,
) -> Program:
    """Compiles a program.

    `source` is a text, or the path of a `.rasm` text or `.rbc` image. A `str` of one line that ends in `.rasm` or
    `.rbc` is a path.

    | argument | meaning |
    |---|---|
    | `const` | values for constants of the text: `{"N": 1000}` |
    | `real` | number system of the reals in place of the declared one: `f64`, `f32`, `fixed`, `fixed:31` |
    | `word` | bits of the integers in place of the declared ones: 8, 16, 32, 64 |
    | `engine` | `auto`, `jit` (native code) or `interp` (the interpreter); all give the same bits |
    | `checked` | `False` leaves out checks that only find mistakes; then gradients aren't verified |
    | `max_steps` | limit on the steps of a call in each direction |

    Raises `ProgramError` if the text has errors, with the rendered diagnostics, and `InputError` for wrong options.
    """
    path = _path(source)
    if path is None:
        name, text = "program.rasm", str(source).encode()
    else:
        name = str(path)
        try:
            text = path.read_bytes()
        except OSError as error:
            raise ProgramError(f"{name} can't be read: {error.strerror}", place=name) from error
    constants = {name: _number(name, value) for name, value in (const or {}).items()}
    return Program(
        name,
        text,
        constants=constants,
        real=real,
        word=word,
        engine=engine,
        checked=checked,
        max_steps=max_steps,
    )


def _path(source: str | os.PathLike[str]) -> Path | None:
    if isinstance(source, str):
        is_path = "\n" not in source and source.endswith((".rasm", ".rbc"))
        return Path(source) if is_path else None
    return Path(source)


def _number(name: str, value: object) -> str:
    """Writes a constant in the syntax of programs."""
    if hasattr(value, "item"):
        value = value.item()  # a scalar of NumPy
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"the constant `{name}` needs an int or a float")
    return repr(value)
