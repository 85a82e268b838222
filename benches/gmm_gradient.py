"""Compares the gradient of programs/gmm.rasm with that of NumPy, for mixtures of random numbers.

    python benches/gmm_gradient.py target/release/reviver [POINTS [D,K …]]

This command needs NumPy. The default sizes are those of ADBench's mixture. Each output line has the error of the
gradient relative to its norm, whether the reverse sweep was repeated with a history, the size of the history in
bytes, and the size of the state in bytes for each real on the tape. The exit code is 1 if an error exceeds 1e-12, or if
a reverse sweep was repeated.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from math import lgamma, log, pi

import numpy as np

SIZES = ["2,5", "10,25", "10,50", "10,200", "64,10", "64,25"]


def numbers(d, k, n, seed):
    """Returns random weights, means, factors of inverse covariances, and points."""
    draw = np.random.default_rng(seed)
    factors = draw.standard_normal((k, d * (d + 1) // 2)) * 0.3
    return draw.standard_normal(k), draw.random((k, d)), factors, draw.random((n, d))


def mixture(weights, means, factors, points, gamma, m):
    """Returns the objective of lib/gmm.rasm, and its gradient in the order of the tape."""
    (k, d), n = means.shape, len(points)
    rows, columns = np.tril_indices(d, -1)
    # The factors below the diagonal, column by column.
    order = np.lexsort((rows, columns))
    rows, columns = rows[order], columns[order]
    q = np.zeros((k, d, d))
    q[:, range(d), range(d)] = np.exp(factors[:, :d])
    q[:, rows, columns] = factors[:, d:]
    logs = factors[:, :d].sum(1)
    terms = np.empty((n, k))
    for j in range(k):
        terms[:, j] = weights[j] + logs[j] - 0.5 * np.square((points - means[j]) @ q[j].T).sum(1)
    largest = terms.max(1, keepdims=True)
    shares = np.exp(terms - largest)
    total = shares.sum(1, keepdims=True)
    shares /= total
    whole = np.exp(weights - weights.max())
    squares = np.square(q).sum()
    freedom = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * log(pi) + sum(lgamma(0.5 * (freedom - j)) for j in range(d))
    value = (
        -0.5 * n * d * log(2 * pi)
        + (largest + np.log(total)).sum()
        - n * (weights.max() + log(whole.sum()))
        + 0.5 * gamma * gamma * squares
        - m * logs.sum()
        - k * (freedom * d * (log(gamma) - 0.5 * log(2)) - log_gamma)
    )
    by_weights = shares.sum(0) - n * whole / whole.sum()
    by_means, by_factors, by_points = np.empty_like(means), np.empty_like(factors), np.zeros_like(points)
    for j in range(k):
        centred = points - means[j]
        scaled = centred @ q[j].T
        weighted = scaled * shares[:, j : j + 1]
        back = weighted @ q[j]
        by_means[j] = back.sum(0)
        by_points -= back
        by_q = gamma * gamma * q[j] - weighted.T @ centred
        by_factors[j, :d] = np.diag(by_q) * np.diag(q[j]) + shares[:, j].sum() - m
        by_factors[j, d:] = by_q[rows, columns]
    by_gamma = gamma * squares - k * freedom * d / gamma
    parts = [by_weights, by_means, by_factors, by_points]
    return value, np.concatenate([part.ravel() for part in parts] + [[by_gamma]])


def compared(reviver, d, k, n, seed=1):
    """Prints a line about the gradient of one mixture, and returns True if the gradient is right."""
    weights, means, factors, points = numbers(d, k, n, seed)
    value, gradient = mixture(weights, means, factors, points, 1.0, 0)
    reals = np.concatenate([weights, means.ravel(), factors.ravel(), points.ravel(), [1.0]])
    spelled = [repr(float(number)) for number in reals]
    program = os.path.join(os.path.dirname(__file__), "..", "programs", "gmm.rasm")
    with tempfile.TemporaryDirectory() as folder:
        tape = os.path.join(folder, "tape.txt")
        with open(tape, "w") as file:
            file.write("\n".join([str(d), str(k), str(n), *spelled, "0"]) + "\n")
        begun = time.perf_counter()
        command = [reviver, "grad", program, "--const", f"D={d},K={k},N={n}", "--tape", tape]
        ran = subprocess.run(command + ["--loss", "objective", "--json"], capture_output=True, text=True)
        seconds = time.perf_counter() - begun
    found = json.loads(ran.stdout)
    own = np.array([number for number in found["tape"] if number is not None])
    error = np.linalg.norm(own - gradient) / np.linalg.norm(gradient)
    is_right = error <= 1e-12 and found["mended"] is None
    print(
        f"D = {d:2}, K = {k:3}: error {error:.1e} of the norm, loss off by {abs(found['value'] / value - 1):.0e}, "
        f"repeated: {'no' if found['mended'] is None else found['mended']['why']}, history {found['history_bytes']} "
        f"bytes, state {found['memory_bytes'] / len(own):.0f} bytes a number, {seconds:.1f} s",
        flush=True,
    )
    return is_right


def main(reviver, points="10000", *sizes):
    sizes = [tuple(map(int, size.split(","))) for size in sizes or SIZES]
    return all([compared(reviver, d, k, int(points)) for d, k in sizes])


if __name__ == "__main__":
    sys.exit(0 if len(sys.argv) > 1 and main(*sys.argv[1:]) else 1)
