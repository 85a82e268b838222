"""Checks programs/complex_qr.rasm: Q and R of NumPy, whose phases are made those of a positive diagonal.

The derivatives are central differences with 60 digits. The QR decomposition for them comes from the Cholesky
decomposition of conj(A)ᵀ·A, without the Gram-Schmidt process.
"""

import mpmath
import numpy as np

ROWS, COLUMNS = 4, 3
A = np.array(
    [
        [1 + 0.5j, 0.25 - 1j, 0.5],
        [-0.5 + 1j, 1.5 + 0.25j, 0.75j],
        [0.75, -0.25 + 0.5j, 1.25 - 0.5j],
        [-1.25j, 1 + 1j, -0.75 + 0.25j],
    ]
)


def listed(values):
    return ",".join(f"{float(value):.15g}" for value in np.ravel(values) + 0.0)


def decompose(a):
    """Q and R of an mpmath matrix."""
    r = mpmath.cholesky(a.H * a).H
    return a * r**-1, r


def loss(a):
    _, r = decompose(a)
    return sum((i + 1) * abs(r[i, j]) ** 2 for i in range(COLUMNS) for j in range(i, COLUMNS))


def corner(a):
    return mpmath.re(decompose(a)[0][ROWS - 1, COLUMNS - 1])


def gradient(function):
    """The derivatives by the real and by the imaginary parts of A."""
    parts = []
    for unit in (1, 1j):
        slopes = np.zeros_like(A, dtype=float)
        for index in np.ndindex(A.shape):
            step = mpmath.zeros(ROWS, COLUMNS)
            step[index] = unit * mpmath.mpf(10) ** -20
            a = mpmath.matrix(A.tolist())
            slopes[index] = (function(a + step) - function(a - step)) / (2 * mpmath.mpf(10) ** -20)
        parts.append(slopes)
    return parts


q, r = np.linalg.qr(A)
phase = np.diag(r) / abs(np.diag(r))
q, r = q * phase, r / phase[:, np.newaxis]
assert abs(q @ r - A).max() < 2e-15
print(f"Q.re~{listed(q.real)} Q.im~{listed(q.imag)}")
print(f"R.re~{listed(r.real)} R.im~{listed(r.imag)}")
mpmath.mp.dps = 60
for name, function in (("loss", loss), (f"Q.re[{ROWS - 1},{COLUMNS - 1}]", corner)):
    by_re, by_im = gradient(function)
    value = float(function(mpmath.matrix(A.tolist())))
    print(f"grad {name} -> value~{value:.15g} A.re~{listed(by_re)} A.im~{listed(by_im)}")
