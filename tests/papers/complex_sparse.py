"""Checks programs/complex_sparse.rasm with dense matrices: the product, the loss and its derivatives.

With a folder, writes the files of a larger problem there: 1000 rows and columns, of which 5 % of the elements are
stored, and one column of X. Then prints the command and its loss.
"""

import sys
from pathlib import Path

import numpy as np

START, ROW = np.array([0, 2, 4, 4, 7, 8, 10]), np.array([0, 3, 1, 5, 0, 2, 4, 3, 1, 5])
VALUE = np.array([1 + 2j, 3 - 1j, 1j, 2 + 2j, -1 + 0.5j, 4, 1 - 3j, 0.5 + 0.5j, -2 + 1j, 3 + 1j])
X = np.array([[1 + 1j, 2j], [2 - 1j, 1], [3, 1 - 1j], [-1 + 2j, 0], [-2j, 0.5 + 1j], [1 + 3j, -1]])


def listed(values):
    return ",".join(repr(float(value) + 0.0) for value in np.ravel(values))


def parts(name, values, sign="~"):
    return f"{name}.re{sign}{listed(values.real)} {name}.im{sign}{listed(values.imag)}"


def check(rows, start, row, value, x, y):
    """Prints the expectations of a run and of a gradient. The derivatives are written by hand."""
    column = np.repeat(np.arange(len(x)), np.diff(start))
    matrix = np.zeros((rows, len(x)), complex)
    np.add.at(matrix, (row, column), value)
    y = y + matrix @ x
    loss = (abs(y) ** 2).sum()
    print(f"run -> loss={loss} {parts('Y', y, '=')}")
    print(f"grad loss -> value~{loss} {parts('A', 2 * (y[row] * x[column].conj()).sum(axis=1))}")
    print(f"grad loss -> {parts('X', 2 * matrix.conj().T @ y)}")
    print(f"grad loss -> {parts('Y', 2 * y)}")


def write(folder, size, stored):
    """The rows of `stored` elements in each column are distinct and in ascending order."""
    random = np.random.default_rng(1)
    start = np.arange(0, size * stored + 1, stored)
    row = np.concatenate([np.sort(random.choice(size, stored, replace=False)) for _ in range(size)])
    value, x = (random.standard_normal((n, 2)) @ [1, 1j] for n in (size * stored, size))
    files = {"start": start, "row": row, "A.re": value.real, "A.im": value.imag, "X.re": x.real, "X.im": x.imag}
    for name, numbers in files.items():
        (folder / f"{name}.csv").write_text("".join(f"{number!r}\n" for number in numbers.tolist()))
    y = np.zeros(size, complex)
    np.add.at(y, row, value * np.repeat(x, stored))
    sets = " ".join(f"--set {name}=@{folder / name}.csv" for name in files)
    sizes = f"ROWS={size},INNER={size},COLUMNS=1,COUNT={size * stored}"
    print(f"reviver run programs/complex_sparse.rasm --const {sizes} {sets}")
    print(f"loss = {(abs(y) ** 2).sum():.15g}, Y[0] = {y[0]:.15g}, Y[{size - 1}] = {y[-1]:.15g}")


if len(sys.argv) > 1:
    write(Path(sys.argv[1]), 1000, 50)
else:
    check(6, START, ROW, VALUE, X, np.zeros((6, 2)))
    print("Y.re=1:")
    check(6, START, ROW, VALUE, X, np.ones((6, 2)))
