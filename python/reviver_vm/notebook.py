"""Programs in notebooks: `%load_ext reviver_vm.notebook` adds the cell magic `%%rasm name`.

The magic compiles the cell, and assigns the program to a variable. Options of `compile` follow the name:

    %%rasm orbit real=fixed:40 N=1000

`real`, `word`, `engine`, `checked` and `max_steps` are those of `compile`; other names are constants of the text.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    from ._native import Program

_PARTS = re.compile(r"(?P<comment>;.*)|(?P<directive>\.[a-z]+)|(?P<number>\b\d[\w.]*)|(?P<word>^\s*[a-z][\w.]*)", re.M)
_STYLES = {
    "comment": "color:#767676",
    "directive": "font-weight:bold",
    "number": "color:#7a3e9d",
    "word": "color:#0550ae",
}


class Svg(str):
    """A picture: a text in SVG, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def highlighted(program: Program) -> str:
    """Returns the text of a program as HTML."""
    text, parts, at = program.text or repr(program), [], 0
    for match in _PARTS.finditer(text):
        parts.append(escape(text[at : match.start()]))
        parts.append(f'<span style="{_STYLES[match.lastgroup or "word"]}">{escape(match.group())}</span>')
        at = match.end()
    return f"<pre>{''.join(parts)}{escape(text[at:])}</pre>"


def options(words: list[str]) -> dict[str, Any]:
    """Returns the arguments of `compile` for the words after the name in `%%rasm`."""
    found: dict[str, Any] = {"const": {}}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise InputError(f"`{word}` isn't an option; write it as `name=value`")
        if name in ("real", "engine"):
            found[name] = value
        elif name in ("word", "max_steps"):
            found[name] = int(value)
        elif name == "checked":
            found[name] = value.lower() not in ("false", "0", "no")
        else:
            found["const"][name] = float(value) if re.search(r"[.e]", value, re.I) else int(value)
    return found


def load_ipython_extension(shell: Any) -> None:
    """Adds the cell magic `%%rasm`."""
    from . import compile

    def rasm(line: str, cell: str) -> Any:
        name, *words = line.split() or [""]
        if not name.isidentifier():
            raise InputError("`%%rasm` needs the name of a variable, such as `%%rasm orbit`")
        program = compile(cell, **options(words))
        shell.user_ns[name] = program
        return program

    shell.register_magic_function(rasm, "cell", "rasm")
