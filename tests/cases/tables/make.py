"""Creates files of numbers as users of NumPy and pandas have them, and records the numbers that these libraries read.

    python3 make.py FOLDER [SEED]

The files are written to FOLDER, with `expected.json`: for each file either `M` (lanes, 2, 3) and `k` (lanes, 2), or
null if readers must refuse the file. Without SEED the numbers are those of the files in this folder.
`tests/cli/readers.rs` also runs the script with other seeds.
"""
import io
import json
import os
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd

folder = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
random = np.random.default_rng(seed)
lanes = 2 if seed == 1 else int(random.integers(1, 40))
M = random.normal(size=(lanes, 2, 3)) * 10.0 ** random.integers(-9, 9, size=(lanes, 2, 3))
k = random.integers(-100, 100, size=(lanes, 2))
expected = {}


def path(name):
    return os.path.join(folder, name)


def holds(name, M, k):
    M, k = np.asarray(M), np.asarray(k)
    assert M.shape[1:] == (2, 3) and k.shape[1:] == (2,), name
    expected[name] = {"M": M.astype("f8").tolist(), "k": [[int(x) for x in row] for row in k.tolist()]}


def refused(name):
    expected[name] = None


def archive(name, M, k, is_compressed=False, **more):
    (np.savez_compressed if is_compressed else np.savez)(path(name), M=M, k=k, **more)


def accepted(name, M, k, is_compressed=False):
    archive(name, M, k, is_compressed)
    read = np.load(path(name))
    holds(name, read["M"], read["k"])


def member(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), version=version)
    return out.getvalue()


def zipped(name, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path(name), "w", method) as archive:
        for member_name, content in members:
            archive.writestr(member_name, content)


def edited(name, source, edit):
    data = bytearray(open(path(source), "rb").read())
    data = edit(data) or data
    open(path(name), "wb").write(data)


# Arrays with numbers of every width and byte order, and with both orders of indices.
accepted("plain.npz", M, k)
accepted("compressed.npz", M, k, True)
for order in "<>":
    sign = "little" if order == "<" else "big"
    for width in (1, 2, 4, 8):
        accepted(f"i{width}_{sign}.npz", M, k.astype(f"{order}i{width}"))
        accepted(f"u{width}_{sign}.npz", M, (k % 100).astype(f"{order}u{width}"))
    for width in (2, 4, 8):
        with np.errstate(over="ignore"):
            small = np.clip(M, -6e4, 6e4).astype(f"{order}f{width}")
        accepted(f"f{width}_{sign}.npz", small, k)
    accepted(f"fortran_{sign}.npz", np.asfortranarray(M.astype(f"{order}f8")), np.asfortranarray(k.astype(f"{order}i4")))
accepted("fortran_compressed.npz", np.asfortranarray(M), np.asfortranarray(k), True)
accepted("transposed.npz", np.ascontiguousarray(M.transpose(2, 1, 0)).transpose(2, 1, 0), k)
accepted("strided.npz", np.repeat(M, 2, axis=2)[:, :, ::2], k[:, ::-1])
accepted("bool.npz", M, k > 0)
accepted("bool_real.npz", M > 0, k)
accepted("whole_floats.npz", M, k.astype("f8"))
accepted("whole_halves.npz", M, k.astype(">f2"))
accepted("integers_for_reals.npz", np.round(np.clip(M, -1e9, 1e9)).astype("i8"), k)
accepted("no_lanes.npz", M[:0], k[:0])
subnormal = M.copy()
subnormal[0, 0] = [5e-324, -2.2250738585072014e-308, -0.0]
accepted("subnormal.npz", subnormal, k)
for version in ((1, 0), (2, 0), (3, 0)):
    zipped(f"version{version[0]}.npz", [("M.npy", member(M, version)), ("k.npy", member(k, version))])
    holds(f"version{version[0]}.npz", M, k)
with zipfile.ZipFile(path("zip64.npz"), "w") as out:
    for name, array in (("M", M), ("k", k)):
        with out.open(name + ".npy", "w", force_zip64=True) as entry:
            entry.write(member(array))
holds("zip64.npz", M, k)


class Pipe(io.RawIOBase):
    """File that can't seek. So an archive has its sizes and checksums after the numbers."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


with open(path("streamed.npz"), "wb") as file:
    with zipfile.ZipFile(Pipe(file), "w") as out:
        out.writestr("M.npy", member(M))
        out.writestr("k.npy", member(k))
holds("streamed.npz", M, k)

# A single array. Its columns are the cells, in the order of their declarations.
P = np.concatenate([M.reshape(lanes, 6), k.astype("f8")], 1)
for name, array in (("c.npy", P), ("fortran.npy", np.asfortranarray(P)), ("big.npy", P.astype(">f8"))):
    np.save(path(name), array)
    read = np.load(path(name))
    holds(name, read[:, :6].reshape(lanes, 2, 3), read[:, 6:])

# Arrays whose elements aren't numbers that the cells can hold.
for name, more in {
    "longdouble": {"M": M.astype("longdouble"), "k": k},
    "complex": {"M": M.astype("complex128"), "k": k},
    "objects": {"M": M.astype(object), "k": k},
    "strings": {"M": M.astype(str), "k": k},
    "records": {"M": M, "k": np.array([(1, 2)] * lanes, dtype=[("a", "i8"), ("b", "i8")])},
    "times": {"M": M, "k": k.astype("m8[s]")},
    "fractions": {"M": M, "k": k + 0.5},
    "too_large": {"M": M, "k": np.full((lanes, 2), 2.0**63)},
    "inexact": {"M": np.full((lanes, 2, 3), 2**53 + 1), "k": k},
    "nan": {"M": np.where(np.arange(lanes)[:, None, None] == lanes - 1, np.nan, M), "k": k},
    "infinite": {"M": M, "k": np.full((lanes, 2), np.inf)},
    "flat": {"M": M.reshape(lanes, 6), "k": k},
    "turned": {"M": M.transpose(0, 2, 1), "k": k},
    "short": {"M": M[1:], "k": k},
    "scalar": {"M": np.float64(3), "k": k},
    "unknown": {"M": M, "k": k, "z": np.zeros(lanes)},
}.items():
    np.savez(path(name + ".npz"), **more)
    refused(name + ".npz")
zipped("bzip2.npz", [("M.npy", member(M)), ("k.npy", member(k))], zipfile.ZIP_BZIP2)
refused("bzip2.npz")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    zipped("twice.npz", [("M.npy", member(M)), ("M.npy", member(M + 1)), ("k.npy", member(k))])
refused("twice.npz")

# Damaged files.
edited("prefixed.npz", "plain.npz", lambda data: b"#!junk\n" + data)
edited("cut.npz", "plain.npz", lambda data: data[:-30])


def flip(data):
    data[data.find(b"NUMPY") + 130] ^= 1


edited("flipped.npz", "plain.npz", flip)
edited("cut.npy", "c.npy", lambda data: data[:-5])
edited("longer.npy", "c.npy", lambda data: data + b"xx")
for name in ("prefixed.npz", "cut.npz", "flipped.npz", "cut.npy", "longer.npy"):
    refused(name)

# A member that declares more lanes than it has, and a compressed member with another number of lanes.
claims = member(M).replace(f"({lanes}, 2, 3)".encode(), b"(9, 2, 3)") if lanes < 10 else member(M)[:-8]
zipped("claims.npz", [("M.npy", claims), ("k.npy", member(k))])
refused("claims.npz")
zeros = np.zeros((1000, 2, 3))
zipped("other_lanes.npz", [("M.npy", member(zeros)), ("k.npy", member(k))], zipfile.ZIP_DEFLATED)
refused("other_lanes.npz")

# Tables as pandas writes them.
columns = ["M[0,0]", "M[0,1]", "M[0,2]", "M[1,0]", "M[1,1]", "M[1,2]", "k[0]", "k[1]"]
frame = pd.DataFrame(dict(zip(columns, [*M.reshape(lanes, 6).T, *k.T])))
for name, how in {
    "plain.csv": {},
    "semicolons.csv": {"sep": ";"},
    "tabs.tsv": {"sep": "\t"},
    "quoted.csv": {"quoting": 1},
    "mark.csv": {"encoding": "utf-8-sig"},
    "windows.csv": {"lineterminator": "\r\n"},
    "old_mac.csv": {"lineterminator": "\r"},
}.items():
    frame.to_csv(path(name), index=False, **how)
    with warnings.catch_warnings():
        # Old versions of pandas round differently without this option; new versions warn about it.
        warnings.simplefilter("ignore")
        read = pd.read_csv(path(name), sep=how.get("sep", ","), float_precision="round_trip")
    holds(name, read[columns[:6]].to_numpy().reshape(lanes, 2, 3), read[columns[6:]].to_numpy())
turned = frame[columns[::-1]]
turned.to_csv(path("other_order.csv"), index=False)
holds("other_order.csv", M, k)
missing = frame.copy()
missing.loc[lanes - 1, "M[0,0]"] = np.nan
missing.to_csv(path("missing.csv"), index=False)
refused("missing.csv")
missing.to_csv(path("missing_words.csv"), index=False, na_rep="#N/A")
refused("missing_words.csv")
frame.to_csv(path("index.csv"))
refused("index.csv")
frame.to_csv(path("decimal_comma.csv"), index=False, sep=";", decimal=",")
refused("decimal_comma.csv")
frame.to_csv(path("utf16.csv"), index=False, encoding="utf-16")
refused("utf16.csv")

with open(path("expected.json"), "w") as file:
    json.dump(expected, file, indent=0)
    file.write("\n")
