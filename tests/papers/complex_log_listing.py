"""Checks programs/complex_log_listing.rasm: complex logarithms and their derivatives, with 30 digits.

The derivative of log x is 1/x, the second is -1/x². The gradient of a real part is the conjugate of the derivative,
and that of an imaginary part is i times this conjugate. NumPy's logarithm agrees with mpmath's.
"""

import mpmath
import numpy as np

mpmath.mp.dps = 30


def parts(z):
    return f"re~{float(z.real) + 0.0!r} im~{float(z.imag) + 0.0!r}"


for x, y in ((3 + 4j, 0), (3 + 4j, 1 - 2j), (-1 + 0j, 0), (1e200 - 1e200j, 0)):
    value = mpmath.log(mpmath.mpc(x))
    assert abs(np.log(x) - value) <= 1e-15 * abs(value)
    slope = mpmath.conj(1 / mpmath.mpc(x))
    print(f"x={x} y={y} -> y: {parts(value + y)}; gradient of re: {parts(slope)}; of im: {parts(1j * slope)}")
second = -1 / mpmath.mpc(3, 4) ** 2
print(f"hessian y.re -> x.re,x.re~{float(second.real)} x.re,x.im~{-float(second.imag)} x.im,x.im~{-float(second.real)}")
