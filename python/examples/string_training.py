"""An exact integrator in a JAX training loop: the speed of waves on a string of 200 points, from its shape after many steps.

    python string_training.py [STEPS]

The program integrates the wave equation in fixed point. Its reverse sweep runs the string backward, exactly, and keeps no
step. So the memory of a gradient doesn't grow with the number of steps; the script prints how much it takes. JAX alone
would keep the state of each step.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import reviver_vm as rv

jax.config.update("jax_enable_x64", True)

SIZE = 200
TRUE_SPEED = 0.5
ROUNDS = 4

# next[i] = 2*now[i] - past[i] + speed**2 * (now[i-1] - 2*now[i] + now[i+1]). Each step replaces the past by the next shape,
# and then exchanges the roles of the two arrays.
STRING = f"""
.real fixed 40
.const SIZE = {SIZE}
.inout now[SIZE]: real, past[SIZE]: real
.inout speed: real
.inout steps

compute
    local square = square(speed)
apply
    for t in 0..steps
        for i in 1..SIZE-1
            neg   past[i]
            add   past[i], now[i] * 2
            add   past[i], (now[i-1] + now[i+1] - now[i] * 2) * square
        rof
        for i in 0..SIZE
            swap  now[i], past[i]
        rof
    rof
uncompute
"""


def peak_memory() -> float:
    """Returns the largest memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(steps: int) -> tuple[float, float]:
    """Trains for a few rounds. Returns the loss after the training divided by the loss before, and the memory in MB."""
    program = rv.compile(STRING)
    string = program.jax("now", ["now", "past", "speed", "steps"])
    x = np.linspace(0.0, 1.0, SIZE)
    shape = np.sin(np.pi * x) + 0.3 * np.sin(2 * np.pi * x)
    shape[0] = shape[-1] = 0.0

    def loss(speed: Any, steps: int, measured: Any) -> Any:
        return jnp.mean((string(shape, shape, speed, steps) - measured) ** 2)

    def train(steps: int) -> float:
        """Finds the speed by the secant method on the slope of the loss."""
        measured = string(shape, shape, TRUE_SPEED, steps)
        value_and_slope = jax.value_and_grad(loss)
        # The phase of the waves grows with the steps, so the valley of the loss is narrow.
        last, speed = TRUE_SPEED + 0.2 / steps, TRUE_SPEED + 0.1 / steps
        first, last_slope = value_and_slope(last, steps, measured)
        for _ in range(ROUNDS - 1):
            _, slope = value_and_slope(speed, steps, measured)
            change = -slope * (speed - last) / (slope - last_slope) if slope != last_slope else 0.0
            last, last_slope, speed = speed, slope, speed + change
        return float(loss(speed, steps, measured) / first)

    train(10)  # everything is compiled and allocated once
    before, start = peak_memory(), time.perf_counter()
    gain = train(steps)
    seconds, memory = time.perf_counter() - start, peak_memory() - before
    print(f"{steps} steps of {SIZE} points, {ROUNDS} gradients: {seconds:.1f} s, {memory:.1f} MB more than for 10 steps")
    print(f"the loss became {gain:.1e} of its first value")
    return gain, memory


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400_000)
