"""Batches of NumPy arrays and Arrow tables: each lane has the bits of a single call."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import reviver_vm as rv

MODEL = """
.in x: real, A[2,2]: real
.inout n
.out y: real, z[3]: real
add y, x * A[0,1] - A[1,0] * A[1,0]
for i in 0..3
    add z[i], x * toreal(n + i)
rof
"""
RANDOM = np.random.default_rng(7)


def inputs(lanes: int) -> dict[str, Any]:
    return {
        "x": RANDOM.normal(size=lanes),
        "A": RANDOM.normal(size=(lanes, 2, 2)),
        "n": RANDOM.integers(-5, 5, size=lanes),
    }


@pytest.mark.parametrize("lanes", [0, 1, 2, 100])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_each_lane_has_the_bits_of_a_call(lanes: int, threads: int | None) -> None:
    p, given = rv.compile(MODEL), inputs(lanes)
    found = p.batch(given, threads=threads)
    gradients = p.batch(given, threads=threads, grad="y")
    assert found["z"].shape == (lanes, 3) and found["y"].shape == (lanes,) and found["n"].dtype == np.int64
    for lane in range(lanes):
        one = {name: values[lane] for name, values in given.items()}
        result, (value, gradient) = p(one), p.value_and_grad("y")(one)
        assert found["y"][lane] == result["y"] and found["n"][lane] == result["n"]
        np.testing.assert_array_equal(found["z"][lane], result["z"])
        assert gradients["y"][lane] == value and gradients["x'"][lane] == gradient["x"]
        np.testing.assert_array_equal(gradients["A'"][lane], gradient["A"])


def test_layouts_of_arrays() -> None:
    p, given = rv.compile(MODEL), inputs(50)
    wanted = p.batch(given)
    fortran = {name: np.asfortranarray(values) for name, values in given.items()}
    strided = {name: np.repeat(values, 2, axis=0)[::2] for name, values in given.items()}
    for other in (fortran, strided):
        np.testing.assert_array_equal(p.batch(other)["z"], wanted["z"])
    small = {**given, "x": given["x"].astype(np.float32), "n": given["n"].astype(np.int8)}
    np.testing.assert_array_equal(p.batch(small)["n"], wanted["n"])


def test_fields_of_packed_structures() -> None:
    """Their elements aren't aligned, and their distance isn't a multiple of their size."""
    packed = np.zeros(4, dtype=[("a", "i1"), ("x", "f8", (2,)), ("n", "i8")])
    packed["x"], packed["n"] = np.arange(8.0).reshape(4, 2), [1, 1, 2, 2]
    p = rv.compile(".in x[2]: real, n\n.out y: real\nadd y, (x[0] + 10 * x[1]) * toreal(n)\n")
    wanted = (packed["x"] @ [1.0, 10.0]) * packed["n"]
    np.testing.assert_array_equal(p.batch({"x": packed["x"], "n": packed["n"]})["y"], wanted)
    assert [p(x=row["x"], n=row["n"])["y"] for row in packed] == wanted.tolist()
    bytes_ = np.frombuffer(b"\0" + np.arange(2.0).tobytes(), offset=1)
    assert p(x=bytes_, n=1)["y"] == 10.0


def test_names_of_elements() -> None:
    p, given = rv.compile(MODEL), inputs(3)
    found = p.batch(given, jacobian="z", wrt="A[0,1]")
    assert found["z"].shape == (3, 3) and found["z[1]/A[0,1]"].shape == (3,)
    with pytest.raises(rv.InputError, match="no names"):
        p.batch(given, grad="y", wrt=[])
    with pytest.raises(rv.InputError, match="no input"):
        p.batch({}, shared={name: value[0] for name, value in given.items()})


def test_shared_inputs_have_sums_of_derivatives() -> None:
    p, given = rv.compile(MODEL), inputs(100)
    A = RANDOM.normal(size=(2, 2))
    found = p.batch({"x": given["x"], "n": given["n"]}, shared={"A": A}, grad="y")
    assert "A'" not in found and found.sums["A'"].shape == (2, 2)
    assert found.sums["A'"][0, 1] == pytest.approx(given["x"].sum(), rel=1e-12)
    assert found.sums["y"] == pytest.approx(found["y"].sum(), rel=1e-12)


def test_jacobians_and_hessians() -> None:
    p, given = rv.compile(MODEL), inputs(10)
    jacobian = p.batch(given, jacobian=["z"], wrt=["x", "A"])
    assert jacobian["z/x"].shape == (10, 3) and jacobian["z/A"].shape == (10, 3, 2, 2)
    np.testing.assert_array_equal(jacobian["z/x"], given["n"][:, None] + np.arange(3.0))
    hessian = p.batch(given, hessian="y", wrt=["x", "A"])
    assert hessian["x'/A"].shape == (10, 2, 2) and hessian["A'/A"].shape == (10, 2, 2, 2, 2)
    np.testing.assert_array_equal(hessian["x'/A"], np.tile([[0.0, 1.0], [0.0, 0.0]], (10, 1, 1)))
    np.testing.assert_array_equal(hessian["A'/A"][:, 1, 0, 1, 0], np.full(10, -2.0))


def test_backward_batches() -> None:
    p = rv.compile(".inout key\n.inout text\nadd text, key * 31\nxor key, text\n")
    given = {"key": np.arange(20), "text": np.arange(20) * 7}
    found = p.batch(p.batch(given), back=True)
    np.testing.assert_array_equal(found["key"], given["key"])
    np.testing.assert_array_equal(found["text"], given["text"])


def test_failed_lanes() -> None:
    p = rv.compile(".in x: real\n.out y: real\nadd y, sqrt(x)\n")
    given = {"x": np.array([1.0, -1.0, 4.0])}
    with pytest.raises(rv.Trap) as caught:
        p.batch(given)
    assert caught.value.lane == 1 and str(caught.value).startswith("lane 1:")
    found = p.batch(given, keep_going=True)
    np.testing.assert_array_equal(found["y"], [1.0, np.nan, 2.0])
    assert found.ok.tolist() == [True, False, True]
    ((lane, error),) = found.failures
    assert lane == 1 and isinstance(error, rv.Trap) and error.lane == 1


@pytest.mark.skipif("REVIVER_DEVICE" not in os.environ, reason="needs a device: REVIVER_DEVICE names it")
def test_lanes_on_a_device_have_the_bits_of_the_processor() -> None:
    p = rv.compile(".in n, k\n.out s\nfor i in 0..8\n    add s, n * i - k\nrof\n")
    given = {name: RANDOM.integers(-1000, 1000, size=500) for name in ("n", "k")}
    np.testing.assert_array_equal(p.batch(given, device=os.environ["REVIVER_DEVICE"])["s"], p.batch(given)["s"])


@pytest.mark.parametrize(
    ("lanes", "options", "kind"),
    [
        ({"x": np.ones(3), "n": np.ones(2, int)}, {}, rv.InputError),
        ({"x": np.ones(3)}, {}, rv.InputError),
        ({"x": 1.0}, {}, rv.InputError),
        ({"x": np.ones(3, complex)}, {}, TypeError),
        ({"q": np.ones(3)}, {}, rv.InputError),
        (inputs(2), {"grad": "y", "hessian": "y"}, rv.InputError),
        (inputs(2), {"device": "abacus"}, rv.DeviceError),
        (inputs(2), {"shared": {"x": 1.0}}, rv.InputError),
        ([1, 2], {}, TypeError),
    ],
)
def test_batches_that_dont_fit(lanes: Any, options: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        rv.compile(MODEL).batch(lanes, **options)


def test_tables_of_pyarrow() -> None:
    pa = pytest.importorskip("pyarrow")
    p, given = rv.compile(MODEL), inputs(100)
    lists = pa.FixedSizeListArray.from_arrays(pa.FixedSizeListArray.from_arrays(given["A"].ravel(), 2), 2)
    table = pa.table({"x": given["x"], "A": lists, "n": given["n"]})
    wanted = p.batch(given)
    # One record batch, and several.
    for source in (table, table.to_batches()[0], pa.Table.from_batches(table.to_batches(max_chunksize=7))):
        result = p.batch(source)
        found = pa.table(result)
        assert len(result) == 100 and result.column_names == ["n", "y", "z"] and result.failures == []
        np.testing.assert_array_equal(found["y"].to_numpy(), wanted["y"])
        np.testing.assert_array_equal(np.array(found["z"].to_pylist()), wanted["z"])
    # The sums over several record batches have the bits of one.
    pieces = pa.Table.from_batches(table.select(["x", "n"]).to_batches(max_chunksize=7))
    sums = [p.batch(t, shared={"A": np.eye(2)}, grad="y").sums for t in (table.select(["x", "n"]), pieces)]
    np.testing.assert_array_equal(sums[0]["A'"], sums[1]["A'"])
    with pytest.raises(rv.InputError, match="null"):
        p.batch(pa.table({"x": [1.0, None], "n": [1, 2]}), shared={"A": np.eye(2)})


def test_failed_lanes_of_several_record_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    p = rv.compile(".in n\n.out y, z: real\nassert n > 0\nadd y, 12 / n\nadd z, 1.5\n")
    table = pa.Table.from_batches([pa.record_batch({"n": ns}) for ns in ([1, -2, 3], [4, 5], [0, 6, -1])])
    result = p.batch(table, keep_going=True)
    assert [lane for lane, _ in result.failures] == [1, 5, 7]
    found = pa.table(result).to_pydict()
    assert found["status"] == [0, 4, 0, 0, 0, 4, 0, 4] and found["z"] == [1.5, None, 1.5, 1.5, 1.5, None, 1.5, None]


def test_tables_that_cant_be_read() -> None:
    pa = pytest.importorskip("pyarrow")
    p = rv.compile(".in x: real\n.out y: real\nadd y, x\n")
    with pytest.raises(rv.InputError, match="null"):
        p.batch(pa.array([{"x": 1.0}, None]))

    class Once:
        def __init__(self) -> None:
            self.capsules = pa.record_batch({"x": [1.0]}).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.capsules

    once = Once()
    assert len(p.batch(once)) == 1
    with pytest.raises(ValueError, match="taken"):
        p.batch(once)


def test_tables_of_others() -> None:
    pl, duckdb, pd = (pytest.importorskip(name) for name in ("polars", "duckdb", "pandas"))
    p, x = rv.compile(".in x: real\n.out y: real\nadd y, x * x\n"), np.arange(5.0)
    frame = pl.DataFrame({"x": x})
    np.testing.assert_array_equal(pl.DataFrame(p.batch(frame))["y"].to_numpy(), x * x)
    np.testing.assert_array_equal(pl.DataFrame(p.batch(pd.DataFrame({"x": x})))["y"].to_numpy(), x * x)
    result = p.batch(duckdb.sql("select x from frame"))  # DuckDB finds `frame` by its name
    assert duckdb.sql("select sum(y) from result").fetchall() == [(30.0,)]
