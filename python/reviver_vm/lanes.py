"""Results of a batch in NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import Error


class Lanes(dict[str, Any]):
    """Results of a batch: arrays by names, with a first dimension for the lanes.

    The derivative of a loss by `x` is called `x'`, an entry of a Jacobian `y/x`, of a Hessian `x'/z`.
    """

    failures: list[tuple[int, Error]]
    """The failed lanes, as pairs of a number and an exception. Their reals are NaN, their integers 0."""
    sums: dict[str, Any]
    """Sums over all lanes of the loss and of derivatives by shared inputs."""
    recomputed: tuple[int, tuple[int, str] | None]
    """The number of lanes whose reverse sweep was repeated with a history, and the first of them with the reason."""
    garbage: tuple[int, tuple[int, str] | None]
    """The number of lanes that left garbage, and the first of them with a description."""

    def __init__(
        self,
        values: dict[str, Any],
        *,
        failures: list[tuple[int, Error]],
        sums: dict[str, Any],
        recomputed: tuple[int, tuple[int, str] | None],
        garbage: tuple[int, tuple[int, str] | None],
    ) -> None:
        super().__init__(values)
        self.failures = failures
        self.sums = sums
        self.recomputed = recomputed
        self.garbage = garbage

    @property
    def ok(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """True for each lane that has results."""
        lanes = max((len(array) for array in self.values()), default=0)
        ok = np.ones(lanes, dtype=bool)
        ok[[lane for lane, _ in self.failures]] = False
        return ok
