"""Checks programs/ibesselj_listing.rasm.

`listing` executes the paper's statements in Python's floats, so its values are exact to the last bit. `series`
adds the same number of terms exactly, and differentiates the sum; `besselj` of mpmath is the function itself.
"""

import math

import mpmath

mpmath.mp.dps = 40


def listing(nu, z, atol=1e-8):
    half = z / 2
    squared = half * half
    term = half**nu / math.factorial(nu)
    total, rest, k = term, 0.0, 0
    while abs(term) > atol and abs(rest) < atol:
        k += 1
        factor = squared / -(k * (k + nu))
        rest += term * factor
        term -= rest / factor
        term, rest = rest, term
        total += term
    return total, k


def series(nu, z, terms):
    half = z / 2
    factorials = [mpmath.factorial(k) * mpmath.factorial(k + nu) for k in range(terms + 1)]
    return sum((-1) ** k * half ** (2 * k + nu) / factorials[k] for k in range(terms + 1))


for nu, z in (2, 0.1), (2, 0.5), (2, 1.0), (2, 3.0), (2, 5.0), (2, 6.0), (2, 10.0), (0, 1.0), (5, 10.0):
    value, terms = listing(nu, z)
    exact = mpmath.besselj(nu, z)
    slope = mpmath.diff(lambda t: series(nu, t, terms), mpmath.mpf(z))
    bend = mpmath.diff(lambda t: series(nu, t, terms), mpmath.mpf(z), 2)
    error = float(abs(value / exact - 1))
    print(f"nu={nu} z={z} out={value!r} exact={mpmath.nstr(exact, 18)} relative error={error:.1e}")
    print(f"    derivatives {mpmath.nstr(slope, 18)} {mpmath.nstr(bend, 18)}")
