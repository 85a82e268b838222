"""Checks programs/spin_glass.rasm: enumerates all 2^16 configurations of a 4x4 lattice.

Draws the couplings, and prints the greatest sum of J*s*s' and the products s*s' of the state that has it.
"""

import numpy as np

SIDE = 4
drawn = np.round(8 * np.random.default_rng(2020).normal(size=24)) / 8
ACROSS, DOWN = drawn[:12].reshape(SIDE, SIDE - 1), drawn[12:].reshape(SIDE - 1, SIDE)

# All configurations: spins of 1 and -1 in rows and columns.
SPINS = (1 - 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1)).reshape(-1, SIDE, SIDE)
BESIDE, BELOW = SPINS[:, :, :-1] * SPINS[:, :, 1:], SPINS[:, :-1] * SPINS[:, 1:]


def listed(numbers):
    return ",".join(f"{x:.15g}" for x in np.ravel(numbers))


def show(name, across, down):
    sums = (BESIDE * across).sum((1, 2)) + (BELOW * down).sum((1, 2))
    best = np.flatnonzero(np.abs(sums - sums.max()) < 1e-12)
    # Of equally good states, `max` takes its first argument: a spin equal to the spin below it, or 1 in the last
    # row. The last spins decide first.
    differs = np.concatenate([BELOW, SPINS[:, -1:]], axis=1)[best] < 0
    first = best[min(range(len(best)), key=lambda n: tuple(differs[n].ravel()[::-1]))]
    assert np.isclose((across * BESIDE[first]).sum() + (down * BELOW[first]).sum(), sums.max())
    print(f"{name} -> best~{sums.max():.15g} ({len(best)} states)")
    print(f"    grad best -> across~{listed(BESIDE[first])} down~{listed(BELOW[first])}")


print(f"across={listed(ACROSS)}\ndown={listed(DOWN)}")
plaquettes = ACROSS[:-1] * ACROSS[1:] * DOWN[:, :-1] * DOWN[:, 1:]
print(f"{(plaquettes < 0).sum()} of {plaquettes.size} squares are frustrated")
show("default", ACROSS, DOWN)
show("across=0.1", 0.1 + 0 * ACROSS, DOWN)
show("down=-1", ACROSS, -1 + 0 * DOWN)
show("across=1 down=1", 1 + 0 * ACROSS, 1 + 0 * DOWN)
show("across=0 down=0", 0 * ACROSS, 0 * DOWN)
one = np.ones_like(ACROSS)
one[0, :2] = -1
show(f"across={listed(one)} down=1", one, 1 + 0 * DOWN)
signs = np.array([[1, -1, 1, 1], [-1, 1, 1, 1], [1, 1, 1, -1]])
show(f"across={listed(one)} down={listed(signs)}", one, signs)
