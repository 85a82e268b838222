"""Checks programs/besselj_log.rasm: Bessel functions and their derivatives by mpmath, and the errors at z = 25.

The sum with rounded logarithms is computed again, with logarithms that are multiples of 2^-40 and exact exponentials.
"""

import mpmath
from mpmath import mpf

mpmath.mp.dps = 40


def digits(x):
    return mpmath.nstr(x, 18)


def term(nu, z, k):
    return (-1) ** k * (z / 2) ** (2 * k + nu) / mpmath.factorial(k) / mpmath.factorial(k + nu)


def rounded_log(x):
    return mpmath.nint(mpmath.log(x) * 2**40) / 2**40


def sum_of_logs(nu, z):
    log = sum(rounded_log(z / (2 * i)) for i in range(1, nu + 1))
    total, k = mpmath.exp(log), 0
    while log >= -36:
        k += 1
        log += rounded_log(z * z / (4 * k * (k + nu)))
        total += (-1) ** k * mpmath.exp(log)
    return total


for nu, z in (2, "1"), (2, "0.5"), (2, "3"), (2, "10"), (0, "1"), (3, "-2"), (5, "10"):
    values = [digits(mpmath.besselj(nu, mpf(z), derivative=n)) for n in range(3)]
    print(f"nu={nu} z={z} out~{values[0]} z~{values[1]} z,z~{values[2]}")

z = mpf(25)
greatest = max(abs(term(2, z, k)) for k in range(100))
print(f"z=25: J = {digits(mpmath.besselj(2, z))}, by rounded logarithms {digits(sum_of_logs(2, z))}")
print(f"the greatest term is {mpmath.nstr(greatest, 3)}; rounding it to f64 costs {mpmath.nstr(greatest / 2**53, 2)},")
print(f"rounding its logarithm to a multiple of 2^-40 costs {mpmath.nstr(greatest / 2**41, 2)}")
errors = [sum_of_logs(2, z) - mpmath.besselj(2, z) for z in mpmath.linspace(24, 26, 41)]
print(f"root mean square of the errors for z in 24..26: {mpmath.nstr(mpmath.norm(errors) / mpmath.sqrt(41), 2)}")

# `big` is above each term.
for z in mpmath.linspace(0, 60, 121):
    for nu in (0, 1, 2, 5, 20):
        big = mpmath.exp(z) / (1 + z)
        assert all(abs(term(nu, z, k)) <= big for k in range(100))
