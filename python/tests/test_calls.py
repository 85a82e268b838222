"""Calls in both directions: inputs, results, errors."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import reviver_vm as rv

SHAPES = """
.in x: real
.in A[2,3]: real default 1.0
.in n default 3
.out y: real, z[2]: real, k
add y, x * x
for i in 0..n
    add k, i
rof
for i in 0..2
    for j in 0..3
        add z[i], A[i,j] * x
    rof
rof
"""
COUNT = ".in n\n.out s\nfor i in 0..n\n    add s, i * i\nrof\n"
MIX = ".inout key\n.inout text\nadd text, key * 31\nxor key, text\n"


def test_scalars_and_arrays() -> None:
    p = rv.compile(SHAPES)
    r = p(x=2.0)
    assert r["y"] == 4.0 and isinstance(r["y"], float)
    assert r["k"] == 3 and isinstance(r["k"], int)
    np.testing.assert_array_equal(r["z"], [6.0, 6.0])
    assert r["z"].dtype == np.float64
    assert set(r) == {"y", "z", "k"} and len(r) == 3 and "y" in r and r.get("q") is None
    assert p.inputs == {"x": (), "A": (2, 3), "n": ()} and p.outputs == {"y": (), "z": (2,), "k": ()}
    assert r.steps > 0


def test_an_input_that_isnt_given_has_its_default() -> None:
    p = rv.compile(SHAPES)
    A = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(p(x=2, A=A)["z"], [6.0, 24.0])
    # The second call must not see the array of the first.
    np.testing.assert_array_equal(p(x=2)["z"], [6.0, 6.0])
    np.testing.assert_array_equal(p({"x": 2, "A": A.astype(np.float32)}, n=0)["z"], [6.0, 24.0])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3),
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.arange(6, dtype=np.float16).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0).reshape(2, 6)[:, ::2] / 2,
        np.arange(6.0).reshape(2, 3).byteswap().view(np.dtype(">f8")),
        [[0, 1, 2], [3, 4, 5.0]],
    ],
)
def test_arrays_of_other_types_and_layouts(array: object) -> None:
    np.testing.assert_array_equal(rv.compile(SHAPES)(x=1.0, A=array)["z"], np.asarray(array, float).sum(axis=1))


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"x": "a"}, TypeError, "`x` has reals"),
        ({"x": 1j}, TypeError, "complex"),
        ({"x": True}, TypeError, "bool"),
        ({"x": None}, TypeError, "`x` has reals"),
        ({"x": float("nan")}, rv.InputError, "`x`"),
        ({"x": float("inf")}, rv.InputError, "`x`"),
        ({"x": 2**60 + 1}, rv.InputError, "no exact float64"),
        ({"x": [1.0, 2.0]}, rv.InputError, "has the shape ()"),
        ({"n": 2.5}, TypeError, "`n` has integers"),
        ({"n": 2**70}, rv.InputError, "at most 64 bits"),
        ({"n": np.uint64(2**63)}, rv.InputError, "2**63 - 1"),
        ({"A": np.ones((3, 2))}, rv.InputError, "(2, 3)"),
        ({"A": np.ones((2, 3), np.longdouble)}, TypeError, "float128"),
        ({"A": [[1, 2, 3], [4, 5]]}, TypeError, "`A`"),
        ({"y": 1.0}, rv.InputError, ".out"),
        ({"xx": 1.0}, rv.InputError, "did you mean `x`"),
    ],
)
def test_numbers_that_dont_fit(given: dict[str, object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as caught:
        rv.compile(SHAPES)(**given)
    assert words in str(caught.value)


def test_words_of_8_bits_are_checked() -> None:
    p = rv.compile(".inout n\nadd n, 1\n", word=8)
    assert p(n=100)["n"] == 101
    with pytest.raises(rv.InputError, match="128"):
        p(n=128)


def test_backward_runs() -> None:
    p = rv.compile(MIX)
    mixed = p(key=77, text=1000)
    back = p.back(mixed)
    assert (back["key"], back["text"]) == (77, 1000)
    assert dict(p.back(key=mixed["key"], text=mixed["text"])) == dict(back)


def test_results_that_no_run_has() -> None:
    p = rv.compile(".inout x\n.out y\nadd y, x * 2\n")
    assert p.back(x=3, y=6)["x"] == 3
    with pytest.raises(rv.NotReversible):
        p.back(x=3, y=7)


def test_traps_have_both_sides() -> None:
    p = rv.compile(".in n\n.out y\nassert n > 0\nadd y, 12 / n\n")
    with pytest.raises(rv.Trap) as caught:
        p(n=-4)
    trap = caught.value
    assert (trap.code, trap.line, trap.values, trap.backward) == ("T10", 3, {"n": "-4"}, False)
    assert "3 | assert n > 0" in trap.rendered and "<pre>" in trap._repr_html_()
    again = pickle.loads(pickle.dumps(trap))
    assert type(again) is rv.Trap and str(again) == str(trap) and again.rendered == trap.rendered
    assert p(n=4)["y"] == 3


def test_texts_with_errors() -> None:
    with pytest.raises(rv.ProgramError) as caught:
        rv.compile("add q, 1\n")
    assert "error[E40]" in str(caught.value) and "1 | add q, 1" in caught.value.rendered
    with pytest.raises(rv.ProgramError, match="can't be read"):
        rv.compile("nowhere.rasm")


@pytest.mark.parametrize(
    "options",
    [
        {"engine": "turbo"},
        {"real": "f16"},
        {"word": 7},
        {"const": {"N": "many"}},
        {"const": {"M": 3}},
        {"engine": "interp", "checked": False},
    ],
)
def test_wrong_options(options: dict[str, object]) -> None:
    with pytest.raises(rv.Error):
        rv.compile(".const N = 2\n.out y\nadd y, N\n", **options)  # type: ignore[arg-type]


def test_constants_and_number_systems() -> None:
    text = ".const N = 2\n.in x: real\n.out y: real\nadd y, x * N\n"
    assert rv.compile(text, const={"N": 5})(x=1.5)["y"] == 7.5
    assert rv.compile(text, const={"N": np.int64(5)})(x=1.5)["y"] == 7.5
    assert rv.compile(text, real="f32")(x=0.1)["y"] == np.float32(0.1) * np.float32(2)
    assert rv.compile(text, real="fixed:20")(x=0.1)["y"] == 2 * round(0.1 * 2**20) / 2**20
    assert rv.compile(text, real="fixed:20").real == "fixed:20"


@pytest.mark.parametrize("engine", ["interp", "jit", "auto"])
def test_engines_have_the_same_bits(programs: Path, engine: str) -> None:
    path = programs / "besselj.rasm"
    assert rv.compile(path, engine=engine)(z=1.0)["out"] == rv.compile(path)(z=1.0)["out"]


def test_garbage_is_reported() -> None:
    p = rv.compile(".inout x\n.ancilla k\nadd k, x\n")
    assert p(x=0).garbage == []
    assert "k: 2" in p(x=2).garbage[0]


def test_shown_values() -> None:
    p = rv.compile(".in n\n.out s\nfor i in 0..n\n    add s, i * i\n    show s\nrof\n")
    assert p(n=3).shown == [("s", 0), ("s", 1), ("s", 5)]
    assert p(n=1).shown == [("s", 0)]
    # A run that is repeated on another thread, because it is long, shows its values once.
    assert len(rv.compile(".in n\n.out s\nfor i in 0..n\nadd s, i\nrof\nshow s\n")(n=2_000_000).shown) == 1


def test_values_shown_by_derivatives_arent_those_of_a_later_run() -> None:
    p = rv.compile(".inout x: real\n.out y: real\nadd y, x * x\nshow y\n")
    p.grad("y")(x=3.0)
    assert p(x=2.0).shown == [("y", 4.0)]


def test_backward_runs_take_garbage() -> None:
    p = rv.compile(".in x: real\n.out y: real\n.garbage h: real\nadd h, x\nadd y, x * x\nsub x, h\n")
    found = p(x=3.0)
    assert found["h"] == 3.0 and p.back(found)["x"] == 3.0 and p.real_outputs == ["y"]


def test_step_limits() -> None:
    with pytest.raises(rv.StepLimit):
        rv.compile(COUNT, max_steps=1000)(n=10_000)
    with pytest.raises(rv.StepLimit):
        rv.compile(COUNT, max_steps=5_000_000)(n=10**9)
    assert rv.compile(COUNT, max_steps=5_000_000)(n=10**6)["s"] == (10**6 - 1) * 10**6 * (2 * 10**6 - 1) // 6


def test_programs_can_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "square.rasm").write_text(".proc square(in x: real, inout y: real)\nadd y, x * x\n.end\n")
    main = tmp_path / "main.rasm"
    main.write_text('.include "square.rasm"\n.const N = 1\n.in x: real\n.out y: real\ncall square(x, y)\nadd y, N\n')
    p = rv.compile(main, const={"N": 3}, real="f32")
    data = pickle.dumps(p)
    (tmp_path / "square.rasm").unlink()
    main.unlink()
    again = pickle.loads(data)
    assert again(x=2.0)["y"] == 7.0 and again.real == "f32"
    assert pickle.loads(pickle.dumps(again))(x=2.0)["y"] == 7.0


def test_results_can_be_pickled() -> None:
    found = rv.compile(SHAPES)(x=2.0)
    again = pickle.loads(pickle.dumps(found))
    assert again["y"] == 4.0 and again.steps == found.steps and again.garbage == found.garbage != []
    np.testing.assert_array_equal(copy.deepcopy(found)["z"], found["z"])


def test_threads_share_a_program() -> None:
    p = rv.compile(COUNT)
    gradient = rv.compile(".in x: real\n.out y: real\nadd y, x * x\n").grad("y")

    def work(n: int) -> tuple[int, float]:
        return p(n=n)["s"], gradient(x=float(n))["x"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(200))) == [(sum(i * i for i in range(n)), 2.0 * n) for n in range(200)]


def test_other_threads_run_during_a_call() -> None:
    p = rv.compile(COUNT)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    p(n=300_000_000)
    done.set()
    thread.join()
    assert ticks > 20


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_stops_calls() -> None:
    script = f"""
import os, signal, threading, time
import numpy as np
import reviver_vm as rv
# A process that a script has started in the background ignores the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
p = rv.compile({COUNT!r})
x = rv.compile('.in n\\n.in a: real\\n.out y: real\\nfor i in 0..n\\nadd y, a * 0.5\\nrof\\n')
calls = [
    lambda: p(n=10**13),
    lambda: p.batch({{"n": np.full(4, 10**13)}}),
    lambda: x.grad("y")(n=10**10, a=1.0),
]
for call in calls:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.time()
    try:
        call()
    except KeyboardInterrupt:
        print("stopped", time.time() - start < 5)
print(p(n=3)["s"])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.split() == ["stopped", "True"] * 3 + ["5"], found.stderr


def test_import_is_fast() -> None:
    script = "import time, numpy; t = time.perf_counter(); import reviver_vm; print(time.perf_counter() - t)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(found.stdout) < 0.15
