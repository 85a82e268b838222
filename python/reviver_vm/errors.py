"""Exceptions. Each has a place in the program's text if there is one, a cause and a cure."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Base class of all errors that programs and their calls raise."""

    place: str | None
    """The place in the program's text, such as `orbit.rasm:12:5`."""
    cause: str
    """What is wrong."""
    cure: str | None
    """How to avoid the error, if known."""
    lane: int | None
    """The number of the lane of a batch that failed."""

    def __init__(
        self,
        message: str,
        *,
        place: str | None = None,
        cause: str | None = None,
        cure: str | None = None,
        lane: int | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(message)
        self.place = place
        self.cause = message if cause is None else cause
        self.cure = cure
        self.lane = lane
        for name, value in facts.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (type(self), self.args[0], self.__dict__))


def _restored(kind: type[Error], message: str, facts: dict[str, Any]) -> Error:
    return kind(message, **facts)


class ProgramError(Error):
    """A text or image that isn't a program."""

    rendered: str = ""
    """All diagnostics with their source lines; empty for an image."""

    def __str__(self) -> str:
        return self.rendered.rstrip("\n") or super().__str__()


class InputError(Error, ValueError):
    """An argument that doesn't fit the program: a wrong name, shape or number."""


class Trap(Error):
    """A program stopped, because a condition isn't met that it states or that reversibility requires."""

    code: str
    """The kind of mistake, such as `T20`; `reviver explain T20` explains it."""
    line: int | None
    """The line of the statement."""
    file: str | None
    """The included file of the line; `None` for the program's own file."""
    statement: str
    """The statement that trapped."""
    procedure: str
    """The procedure of the statement; `main` outside of procedures."""
    values: dict[str, str]
    """The values of the cells that the message names: both sides of a comparison, for example."""
    notes: list[str]
    """Further facts."""
    step: int
    """The number of steps before the trap."""
    backward: bool
    """True if the program was running backward."""
    rendered: str
    """The report with source lines."""

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.rendered)}</pre>"


class StepLimit(Error):
    """A call that reached `max_steps`."""


class DerivativeError(Error):
    """A derivative that doesn't exist, or that can't be verified."""

    losses: list[str]
    """The places where information about derivatives was lost."""


class NotReversible(Error):
    """A backward run that doesn't lead to a start, because no run has the given results."""


class DeviceError(Error):
    """An engine or a device that isn't available."""
