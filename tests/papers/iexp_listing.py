"""Checks programs/iexp_listing.rasm.

`listing` executes the paper's statements in Python's floats, so its values are exact to the last bit. The
exact exponentials, which are also the derivatives, are from mpmath.
"""

import mpmath


def listing(x, atol=1e-14):
    term, product, following, total, k = 1.0, 0.0, 0.0, 0.0, 0
    while term > atol:
        k += 1
        product += term * x
        following += product / k
        total += following
        term -= product / x
        product -= following * k
        term, following = following, term
    return 1.0 + total


for x in (0.1, 0.5, 1.0, 1.6, 5.0, 10.0, 20.0, -1.0):
    value, exact = listing(x), mpmath.exp(mpmath.mpf(x))
    error = float(abs(value / exact - 1))
    print(f"x={x} y={value!r} exact={mpmath.nstr(exact, 18)} relative error={error:.1e}")
