"""Checks programs/lattice_boltzmann.rasm: a D2Q9 fluid with collisions that reflect about the equilibrium.

Prints the velocity at the sensor, and its derivatives by `jet` and `kick`. A derivative is a complex step:
the imaginary part of the velocity at x + 1e-30·i, divided by 1e-30. It has no error of cancellation.
"""

import numpy as np

SIZE = 8
DIRECTIONS = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
JET = np.array([0, 0.05, 0.1, 0.05, 0, -0.05, -0.1, -0.05])
KICK = 0.02


def equilibrium(density, momentum):
    flow = np.einsum("ic,cyx->iyx", DIRECTIONS, momentum)
    energy = 1.5 * (momentum[0] ** 2 + momentum[1] ** 2) / density
    return WEIGHTS[:, None, None] * (density + 3 * flow + 4.5 * flow**2 / density - energy)


def moments(f):
    return f.sum(axis=0), np.einsum("ic,iyx->cyx", DIRECTIONS, f)


def speed(jet, kick, steps):
    wave = kick * np.sin(2 * np.pi * np.arange(SIZE) / SIZE)
    momentum = np.stack(np.broadcast_arrays(jet[:, None], wave[None, :]))
    f = equilibrium(np.ones((SIZE, SIZE)), momentum)
    for _ in range(steps):
        f = 2 * equilibrium(*moments(f)) - f
        f = np.stack([np.roll(g, (c[1], c[0]), axis=(0, 1)) for g, c in zip(f, DIRECTIONS)])
    density, momentum = moments(f)
    return (momentum[1] / density)[4, 2]


def gradient(jet, kick, steps):
    step = 1e-30
    by_jet = [speed(jet + 1j * step * unit, kick, steps).imag / step for unit in np.eye(SIZE)]
    return by_jet, speed(jet + 0j, kick + 1j * step, steps).imag / step


for steps in (0, 2, 6, 20, 100, 200):
    by_jet, by_kick = gradient(JET, KICK, steps)
    print(f"steps={steps} -> value~{speed(JET, KICK, steps):.15g}")
    print("    jet~" + ",".join(f"{d:.15g}" for d in by_jet), f"kick~{by_kick:.15g}")
