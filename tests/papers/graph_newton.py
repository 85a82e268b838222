"""Newton's method of programs/graph_newton.rasm in NumPy, with a Hessian written by hand.

    python3 graph_newton.py       prints the numbers of the header, and λ in each step
    python3 graph_newton.py x     all positions after 6 steps in 2 dimensions, as JSON

A derivative of the whole method is that along an imaginary direction of length 1e-30, as in graph_adam.py.
"""
import json
import sys

import numpy as np

from graph_adam import START as ADAM_START
from graph_adam import U, V, adam, distances, gradient, loss

# Adam's plane drawing after 200 steps, rounded; the other coordinates are those of Adam's start.
START = np.hstack([adam(ADAM_START[:, :2], 200).round(1), ADAM_START[:, 2:]])


def hessian(x):
    """The second derivatives of the loss by all coordinates."""
    distance = distances(x)
    pairs, (vertices, k) = len(U), x.shape
    a, b = np.split(distance, [15])
    excess = a.mean() - b.mean() + 0.1
    penalty = np.exp(excess) if excess.real > 0 else 0
    means = np.zeros((2, pairs))
    means[0, :15], means[1, 15:] = 1 / 15, 1 / 30
    spread = np.diag([1 / 7] * 15 + [1 / 14.5] * 30)
    spread -= 15 / 7 * np.outer(means[0], means[0]) + 30 / 14.5 * np.outer(means[1], means[1])
    by_distance = spread @ distance + penalty * (means[0] - means[1])
    second = spread + penalty * np.outer(means[0] - means[1], means[0] - means[1])

    sign = np.zeros((pairs, vertices))
    sign[range(pairs), U], sign[range(pairs), V] = 1, -1
    direction = (x[U] - x[V]) / distance[:, None]
    jacobian = (sign[:, :, None] * direction[:, None, :]).reshape(pairs, vertices * k)
    result = jacobian.T @ second @ jacobian
    for p in range(pairs):
        bend = (np.eye(k) - np.outer(direction[p], direction[p])) / distance[p]
        result = result + by_distance[p] * np.kron(np.outer(sign[p], sign[p]), bend)
    return result


def newton(x, steps, damping=2, show=False):
    x, free = x.copy(), 2 * x.shape[1]
    for _ in range(steps):
        g = gradient(x).ravel()[free:]
        shift = damping * np.sqrt((g * g).sum() + 1e-12)
        if show:
            print(f"    {shift:.3g}", end="")
        move = np.linalg.solve(hessian(x)[free:, free:] + shift * np.eye(len(g)), g)
        x[2:] -= move.reshape(x[2:].shape)
    if show:
        print()
    return x


def main():
    if sys.argv[1:] == ["x"]:
        print(json.dumps(newton(START[:, :2], 6).tolist()))
        return
    for k, steps in (2, 6), (2, 5), (3, 2), (5, 1), (5, 20):
        x = newton(START[:, :k], steps, show=True)
        edges, others = np.split(distances(x), [15])
        print(f"dimensions={k} steps={steps}: {loss(x)=!r}, {edges.mean()=!r}, {others.mean()=!r}")
    h = 1e-30
    start = START[:, :2].astype(complex)
    x = newton(start, 1, 2 + 1j * h)
    print(f"steps=1: loss {loss(x).real!r}, by the damping {loss(x).imag / h!r}")
    for i, d in (0, 0), (9, 1):
        start = START[:, :2].astype(complex)
        start[i, d] += 1j * h
        print(f"steps=1: by x[{i},{d}] {loss(newton(start, 1)).imag / h!r}")


if __name__ == "__main__":
    main()
