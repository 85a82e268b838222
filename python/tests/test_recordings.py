"""Recorded runs: time points, histories, causes, plots."""

from __future__ import annotations

import pickle
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import reviver_vm as rv

PROGRAM = """
.inout n default 5
.inout x: real default 1.0
.out A[3]
.out s
for i in 0..n
    add s, i * i
    add A[1], s
rof
"""


def test_time_points() -> None:
    run = rv.compile(PROGRAM).record(n=4)
    assert run.at(-1)["s"] == 14 and run.at(0)["s"] == 0 and run.trap is None
    np.testing.assert_array_equal(run.at(len(run))["A"], [0, 0 + 1 + 5 + 14, 0])
    assert run.at(-1)["x"] == 1.0 and run.at(-1)["s + 2 * n"] == 22
    middle = run.at(len(run) // 2)
    assert 0 < middle["s"] < 14 and middle.line in (6, 7, 8, 9) and "line" in repr(middle)
    with pytest.raises(rv.InputError, match="no step"):
        run.at(len(run) + 1)
    with pytest.raises(rv.InputError):
        middle["nothing"]


def test_histories_and_causes() -> None:
    run = rv.compile(PROGRAM).record()
    writes = run.history("s")
    assert [after for *_, after in writes] == ["0", "1", "5", "14", "30"]
    assert {line for _, line, *_ in writes} == {7} and [name for _, _, name, *_ in writes] == ["s"] * 5
    assert "s = 30" in run.why("s") and "line 7" in run.why("s")
    assert "error" not in run.ask("info cells")
    with pytest.raises(rv.InputError):
        run.ask("frobnicate")
    with pytest.raises(rv.InputError):
        run.history("nothing")


def test_a_command_changes_the_run() -> None:
    run = rv.compile(PROGRAM).record(n=4)
    before = len(run)
    run.ask("set n=50", 0)
    assert len(run) > before and run.at(-1)["s"] == sum(i * i for i in range(50))
    with pytest.raises(rv.InputError, match="no step"):
        run.why("s", step=10**9)
    assert run.ask("print s", -1) == run.ask("print s")


def test_a_run_to_a_trap() -> None:
    run = rv.compile(".inout n\nadd n, 1\nassert n < 0\n").record(n=4)
    assert run.trap is not None and "T10" in run.trap and run.at(-1)["n"] == 5


def test_constants_and_includes(tmp_path: Path) -> None:
    (tmp_path / "more.rasm").write_text(".proc more(inout s)\nadd s, 10\n.end\n")
    main = tmp_path / "main.rasm"
    main.write_text('.include "more.rasm"\n.const N = 1\n.out s\nadd s, N\ncall more(s)\n')
    p = rv.compile(main, const={"N": 7})
    assert p.record().at(-1)["s"] == 17
    assert pickle.loads(pickle.dumps(p)).record().at(-1)["s"] == 17


def test_plots() -> None:
    run = rv.compile(PROGRAM).record(n=50)
    for plot in (run.plot("s", "n"), run.plot(), run.plot("A[1]")):
        assert ElementTree.fromstring(plot).tag.endswith("svg") and plot._repr_svg_() == plot
    with pytest.raises(rv.InputError):
        run.plot("nothing")


def test_a_long_run_is_quick() -> None:
    run = rv.compile(".in n\n.out s\nfor i in 0..n\nadd s, i * i\nrof\n").record(n=2_000_000)
    assert run.at(-1)["s"] == sum(i * i for i in range(2_000_000))
    assert 0 < run.at(len(run) // 2)["s"] < run.at(-1)["s"]


def test_magics_and_reprs() -> None:
    from reviver_vm import notebook

    class Shell:
        def __init__(self) -> None:
            self.user_ns: dict[str, rv.Program] = {}

        def register_magic_function(self, function: object, kind: str, name: str) -> None:
            assert kind == "cell"
            setattr(self, name, function)

    shell = Shell()
    notebook.load_ipython_extension(shell)
    text = ".const N = 1\n.out y: real ; <b>\nadd y, N\n"
    assert shell.rasm("p real=f32 N=3", text) is shell.user_ns["p"]  # type: ignore[attr-defined]
    p = shell.user_ns["p"]
    assert p()["y"] == 3.0 and p.real == "f32"
    html = p._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html and html.startswith("<pre>")
    for wrong in ("", "1x", "p real"):
        with pytest.raises(rv.InputError):
            shell.rasm(wrong, text)  # type: ignore[attr-defined]
