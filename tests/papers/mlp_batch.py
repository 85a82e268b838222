"""The perceptron of programs/mlp_batch.rasm in NumPy: losses, derivatives by hand, and one training step.

    python3 mlp_batch.py            prints the numbers of the header
    python3 mlp_batch.py gradient   prints the loss and all derivatives, as JSON
"""
import itertools
import json
import sys

import numpy as np

W = np.array([
    [0.89, 0.02, 0.95, -0.84], [0.21, -0.25, 0.6, -0.65], [0.74, 0.09, 0.8, -0.05], [-0.14, 0.58, 0.97, -0.26],
    [0.94, 0.86, -0.64, 0.22], [0.41, 0.89, 0.33, -0.73], [0.05, -0.01, 0, 0.92], [-0.3, -0.55, 0.04, 0.28]])
B = np.array([0.88, 0.16, -0.46, 0.86, -0.02, 0.35, -0.05, -0.57])
U = np.array([0.39, 0.54, -0.62, -0.08, -0.28, -0.66, -0.56, 0.93])
C = 0.1
X = np.array(list(itertools.product([-1.0, 1.0], repeat=4)))
T = X.prod(axis=1)


def loss(w, b, u, c):
    return ((np.tanh(X @ w.T + b) @ u + c - T) ** 2).mean()


def gradient(w, b, u, c):
    h = np.tanh(X @ w.T + b)
    by_y = (h @ u + c - T) / 8
    by_sum = by_y[:, None] * u * (1 - h**2)
    return by_sum.T @ X, by_sum.sum(axis=0), h.T @ by_y, by_y.sum()


def step(weights, rate):
    return [part - rate * by_part for part, by_part in zip(weights, gradient(*weights))]


def main():
    weights = W, B, U, C
    slopes = gradient(*weights)
    if sys.argv[1:] == ["gradient"]:
        derivatives = {name: np.asarray(part).tolist() for name, part in zip("Wbuc", slopes)}
        print(json.dumps({"loss": loss(*weights)} | derivatives))
        return
    print(f"loss {loss(*weights)!r}, by W[0,0] {slopes[0][0, 0]!r}, W[7,3] {slopes[0][7, 3]!r}")
    print(f"by b[0] {slopes[1][0]!r}, u[7] {slopes[2][7]!r}, c {slopes[3]!r}")
    for rate in 0.1, 0.5:
        after = step(weights, rate)
        product = sum((a * b).sum() for a, b in zip(map(np.asarray, slopes), map(np.asarray, gradient(*after))))
        print(f"rate={rate}: next_loss {loss(*after)!r}, by the rate {-product!r}, next_c {after[3]!r}")
    print(f"next_b {','.join(map(repr, step(weights, 0.1)[1].tolist()))}")


if __name__ == "__main__":
    main()
