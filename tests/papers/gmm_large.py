"""Compares programs/gmm.rasm with NumPy at 10,000 points: the objective and all derivatives.

    python3 gmm_large.py write TAPE           writes the input tape: D = 2, K = 5, N = 10,000 by default
    reviver grad ../../programs/gmm.rasm --of objective --const N=10000 --tape TAPE --json > GRADIENT
    python3 gmm_large.py compare TAPE GRADIENT

`write` takes other sizes as `write TAPE D K N`. The points are drawn from a mixture by a linear congruential
generator, so they are the same everywhere. The derivatives are written by hand.
"""
import json
import math
import sys

import numpy as np


class Generator:
    """x := 6364136223846793005·x + 1442695040888963407 modulo 2^64; the upper 53 bits are the number."""

    def __init__(self):
        self.state = 1

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2**53

    def normal(self):
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())


def write(path, d=2, k=5, n=10000):
    random = Generator()
    alphas = [random.normal() for _ in range(k)]
    means = [[3 * random.normal() for _ in range(d)] for _ in range(k)]
    icf = [[0.3 * random.normal() for _ in range(d * (d + 1) // 2)] for _ in range(k)]
    points = []
    for _ in range(n):
        mean = means[int(k * random.uniform())]
        points.append([entry + random.normal() for entry in mean])
    rows = [[d, k, n], alphas, *means, *icf, *points, [1.5, 2]]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(" ".join(map(repr, row)) + "\n" for row in rows)


def read(path):
    numbers = open(path, encoding="utf-8").read().split()
    d, k, n = map(int, numbers[:3])
    values = iter(map(float, numbers[3:]))
    shapes = (k,), (k, d), (k, d * (d + 1) // 2), (n, d)
    arrays = [np.array([next(values) for _ in range(math.prod(shape))]).reshape(shape) for shape in shapes]
    return *arrays, next(values), int(next(values))


def objective(alphas, means, icf, x, gamma, m):
    """The objective, and its derivatives in the order of the tape; the integers have none."""
    (n, d), k = x.shape, len(alphas)
    lower = [(row, column) for column in range(d) for row in range(column + 1, d)]
    scale = np.zeros((k, d, d))
    scale[:, range(d), range(d)] = np.exp(icf[:, :d])
    for place, (row, column) in enumerate(lower):
        scale[:, row, column] = icf[:, d + place]
    difference = x[:, None, :] - means[None, :, :]
    scaled = np.einsum("kij,nkj->nki", scale, difference)
    terms = alphas + icf[:, :d].sum(axis=1) - 0.5 * (scaled**2).sum(axis=2)
    greatest = terms.max(axis=1, keepdims=True)
    powers = np.exp(terms - greatest)
    totals = powers.sum(axis=1, keepdims=True)
    share = powers / totals
    weights = np.exp(alphas - alphas.max())

    freedom = m + d + 1
    log_gamma = d * (d - 1) / 4 * math.log(math.pi) + sum(math.lgamma((freedom - j) / 2) for j in range(d))
    value = -0.5 * n * d * math.log(2 * math.pi) + math.fsum((greatest + np.log(totals)).ravel())
    value -= n * (alphas.max() + math.log(weights.sum()))
    value += gamma**2 / 2 * ((scale**2).sum()) - m * icf[:, :d].sum()
    value -= k * (d * freedom * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma)

    by_alphas = share.sum(axis=0) - n * weights / weights.sum()
    pull = np.einsum("nk,kij,nki->nkj", share, scale, scaled)
    by_scale = -np.einsum("nk,nki,nkj->kij", share, scaled, difference) + gamma**2 * scale
    by_icf = np.zeros_like(icf)
    by_icf[:, :d] = by_scale[:, range(d), range(d)] * np.exp(icf[:, :d]) + share.sum(axis=0)[:, None] - m
    for place, (row, column) in enumerate(lower):
        by_icf[:, d + place] = by_scale[:, row, column]
    by_gamma = gamma * (scale**2).sum() - k * d * freedom / gamma
    parts = by_alphas, pull.sum(axis=0), by_icf, -pull.sum(axis=1), np.array([by_gamma])
    return value, np.concatenate([part.ravel() for part in parts])


def compare(tape, gradient):
    """Prints the differences between NumPy and the JSON of `reviver grad`."""
    value, expected = objective(*read(tape))
    found = json.load(open(gradient, encoding="utf-8"))
    derivatives = np.array([entry for entry in found["tape"] if entry is not None])
    print(f"objective {value!r}, found {found['value']!r}: relative error {abs(found['value'] / value - 1):.1e}")
    for name, part in ("parameters", slice(0, len(expected) - 1)), ("gamma", slice(-1, None)):
        worst = np.abs(derivatives[part] - expected[part]).max() / np.abs(expected[part]).max()
        print(f"{len(expected[part])} derivatives by {name}: greatest error {worst:.1e} of the greatest derivative")
    worst = (np.abs(derivatives - expected) / np.maximum(np.abs(expected), 1)).max()
    print(f"greatest error of a derivative, relative to its magnitude or 1: {worst:.1e}")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        compare(*sys.argv[2:])
