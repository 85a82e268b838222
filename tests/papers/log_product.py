"""Checks programs/log_product.rasm: the logarithm of the product of fifty equal factors, and its derivative."""

import mpmath

mpmath.mp.dps = 30
for factor in "1e-10", "-0.7", "0.5":
    x = mpmath.mpf(factor)
    value, slope = 50 * mpmath.log(abs(x)), 1 / x
    print(f"x={factor} -> log_product~{mpmath.nstr(value, 17)} x[0]~{mpmath.nstr(slope, 17)}")
