"""Checks programs/truncated_bptt.rasm: back-propagation through the last `window` steps of a recurrent network.

Prints the loss and the truncated gradient for each window. The derivatives are written by hand. For the full
window they are compared with complex steps of the loss.
"""

import numpy as np

W = np.array([[0.5, -0.4], [0.3, 0.6]])
U = np.array([1, -0.5])
B = np.array([0.1, 0])
V = np.array([0.8, 0.5])
X = np.array([1, -0.5, 0.25, 0.75, -1, 0.5])
TARGET = 0.3


def states(w, u, b, x):
    h = [np.zeros(2)]
    for number in x:
        h.append(np.tanh(w @ h[-1] + u * number + b))
    return h


def loss(w, u, b, v, x):
    return (v @ states(w, u, b, x)[-1] - TARGET) ** 2 / 2


def gradient(window):
    h = states(W, U, B, X)
    error = V @ h[-1] - TARGET
    by_w, by_u, by_b, by_x = np.zeros_like(W), np.zeros(2), np.zeros(2), np.zeros(len(X))
    adjoint = error * V
    for t in reversed(range(len(X) - window, len(X))):
        adjoint = adjoint * (1 - h[t + 1] ** 2)
        by_w += np.outer(adjoint, h[t])
        by_u += adjoint * X[t]
        by_b += adjoint
        by_x[t] = adjoint @ U
        adjoint = W.T @ adjoint
    return {"W": by_w, "u": by_u, "b": by_b, "v": error * h[-1], "x": by_x, "target": np.array(-error)}


def check_full():
    inputs = [W, U, B, V, X]
    for place, name in enumerate("Wubvx"):
        for index in np.ndindex(inputs[place].shape):
            changed = [a.astype(complex) for a in inputs]
            changed[place][index] += 1e-30j
            assert abs(loss(*changed).imag / 1e-30 - gradient(len(X))[name][index]) < 1e-14


check_full()
print(f"loss~{loss(W, U, B, V, X):.15g}")
for window in range(1, len(X) + 1):
    numbers = {name: ",".join(f"{d:.15g}" for d in np.ravel(a)) for name, a in gradient(window).items()}
    print(f"window={window} -> " + " ".join(f"{name}~{text}" for name, text in numbers.items()))
