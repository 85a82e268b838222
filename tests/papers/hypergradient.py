"""Differentiates the training of programs/hypergradient.rasm by its rates and decays in NumPy, and prints the numbers of
its header.

    python3 hypergradient.py    the loss, and derivatives of it by some rates and decays

The adjoint of the training is written by hand, from the last round to the first (Maclaurin, Duvenaud and Adams 2015,
algorithm 2). The derivatives along an imaginary direction of length 1e-30 confirm it: f(x + ih) has the imaginary part
h·f'(x), and nothing cancels.
"""
import numpy as np

T = np.arange(5.0)
U = np.array([1.1, 2.9, 5.2, 6.8, 9.1])
A = np.array([np.ones(5), T]).T
ROUNDS = 256


def train(rate, decay):
    x, v, rounds = 0 * rate[:2], 0 * rate[:2], []
    for k in range(ROUNDS):
        g, old = 2 * A.T @ (A @ x - U), v
        v = decay[k] * v - (1 - decay[k]) * g
        x = x + rate[k] * v
        rounds.append((old, v, g))
    return x, ((A @ x - U) ** 2).sum(), rounds


def adjoints(rate, decay):
    x, _, rounds = train(rate, decay)
    x_bar, v_bar = 2 * A.T @ (A @ x - U), np.zeros(2)
    by_rate, by_decay = np.zeros(ROUNDS), np.zeros(ROUNDS)
    for k in reversed(range(ROUNDS)):
        old, v, g = rounds[k]
        by_rate[k] = x_bar @ v
        v_bar = v_bar + rate[k] * x_bar
        by_decay[k] = v_bar @ (old + g)
        x_bar = x_bar - (1 - decay[k]) * 2 * A.T @ A @ v_bar
        v_bar = decay[k] * v_bar
    return by_rate, by_decay


def main():
    rate, decay = np.full(ROUNDS, 0.001), np.full(ROUNDS, 0.9)
    by_rate, by_decay = adjoints(rate, decay)
    print("loss", train(rate, decay)[1])
    print("rate[0], rate[255], decay[0]", by_rate[0], by_rate[255], by_decay[0])
    for found, which in ((by_rate, 0), (by_decay, 1)):
        for k in (0, 100, 255):
            moved = [rate.astype(complex), decay.astype(complex)]
            moved[which][k] += 1e-30j
            assert abs(train(*moved)[1].imag * 1e30 - found[k]) < 1e-12 * abs(found).max()


if __name__ == "__main__":
    main()
