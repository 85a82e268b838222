"""Trains the Petersen graph of programs/graph_adam.rasm by Adam in NumPy, and prints the numbers of its header.

    python3 graph_adam.py       the losses, the mean distances, and derivatives of the training
    python3 graph_adam.py x     all positions after the default run, as JSON

The gradient of the loss is written by hand. The derivatives of the training are those along an imaginary direction
of length 1e-30: f(x + ih) has the imaginary part h·f'(x), and nothing cancels.
"""
import itertools
import json
import sys

import numpy as np

EDGES = [edge for i in range(5) for edge in ((i, i + 5), (i, (i + 1) % 5), (5 + i, 5 + (i + 2) % 5))]
OTHERS = [pair for pair in itertools.combinations(range(10), 2) if set(pair) not in map(set, EDGES)]
U, V = np.array(EDGES + OTHERS).T
START = np.array([
    [0, 0, 0, 0, 0], [1, 0, 0, 0, 0],
    [0.01, -0.32, 0.92, 0.04, -0.6], [-0.49, 0.1, 0.7, -0.33, 0.81], [-0.52, 0.83, 0.46, 0.86, 0.9],
    [-0.68, 0.4, -0.52, 0.23, -0.49], [-0.08, -0.21, -0.87, 0.25, 0.35], [0.76, 0.43, -0.62, 0.24, -0.06],
    [-0.43, -0.79, -0.88, 0.58, -0.38], [-0.45, 0.55, 0.4, -0.53, 0.48]])


def distances(x):
    return np.sqrt(((x[U] - x[V]) ** 2).sum(axis=1))


def loss(x):
    a, b = np.split(distances(x), [15])
    excess = a.mean() - b.mean() + 0.1
    penalty = np.exp(excess) - 1 if excess.real > 0 else 0
    return ((a - a.mean()) ** 2).sum() / 14 + ((b - b.mean()) ** 2).sum() / 29 + penalty


def gradient(x):
    distance = distances(x)
    a, b = np.split(distance, [15])
    excess = a.mean() - b.mean() + 0.1
    penalty = np.exp(excess) if excess.real > 0 else 0
    by_distance = np.concatenate([(a - a.mean()) / 7 + penalty / 15, (b - b.mean()) / 14.5 - penalty / 30])
    forces = (by_distance / distance)[:, None] * (x[U] - x[V])
    result = np.zeros_like(x)
    np.add.at(result, U, forces)
    np.subtract.at(result, V, forces)
    return result


def adam(x, steps, rate=0.01):
    x, m, v = x.copy(), 0 * x, 0 * x
    for t in range(1, steps + 1):
        g = gradient(x)
        m = 0.9 * m + (1 - 0.9) * g
        v = 0.999 * v + (1 - 0.999) * g**2
        x[2:] -= (rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8))[2:]
    return x


def main():
    if sys.argv[1:] == ["x"]:
        print(json.dumps(adam(START, 600).tolist()))
        return
    for k, steps in (5, 800), (5, 600), (5, 200), (2, 100):
        x = adam(START[:, :k], steps)
        edges, others = np.split(distances(x), [15])
        print(f"dimensions={k} steps={steps}: {loss(x)=!r}, {edges.mean()=!r}, {others.mean()=!r}")
    print(f"steps=0: loss {loss(START)!r}")
    h = 1e-30
    x = adam(START.astype(complex), 20, 0.01 + 1j * h)
    print(f"steps=20: loss {loss(x).real!r}, by the rate {loss(x).imag / h!r}")
    for i, d in (0, 0), (2, 3), (9, 4):
        start = START.astype(complex)
        start[i, d] += 1j * h
        print(f"steps=20: by x[{i},{d}] {loss(adam(start, 20)).imag / h!r}")


if __name__ == "__main__":
    main()
