"""Checks programs/besselj_plain.rasm: the series up to the first term of at most 1e-8, its derivative, erased bits."""

import mpmath

mpmath.mp.dps = 40


def term(nu, z, k):
    return (-1) ** k * (z / 2) ** (2 * k + nu) / mpmath.factorial(k) / mpmath.factorial(k + nu)


for nu, z in (2, "1"), (2, "0.5"), (0, "1"), (2, "0"), (3, "-2"), (5, "10"):
    z = mpmath.mpf(z)
    last = next(k for k in range(100) if abs(term(nu, z, k)) <= mpmath.mpf("1e-8"))
    series = lambda t: sum(term(nu, t, k) for k in range(last + 1))
    # Assignments: 7, one for each factor of the factorial, and 6 for each term.
    erased = 64 * (7 + nu + 6 * last)
    slope = mpmath.nstr(mpmath.diff(series, z), 18)
    print(f"nu={nu} z={z} out={mpmath.nstr(series(z), 18)} derivative={slope} erases={erased}")
