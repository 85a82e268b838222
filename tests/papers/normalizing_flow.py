"""Checks programs/normalizing_flow.rasm: densities, samples and gradients of a flow of affine couplings.

Prints log p of the points, its mean, the mean's gradient by complex steps, and the samples of five
pairs of numbers by a hand-written inverse, with -log p of the samples. It also checks that the density
integrates to 1.
"""

import numpy as np

INPUTS = {
    "scale": np.reshape([0.5, -0.3, 0.4, 0.2, -0.6, 0.3, 0.1, 0.7], (4, 2)),
    "shift": np.reshape([-0.4, 0.8, 0.3, -0.5, 0.2, 0.6, -0.7, 0.1], (4, 2)),
    "slope": np.reshape([1.2, -0.7, 0.9, 1.5, -1.1, 0.8, 0.6, -1.3], (4, 2)),
    "bias": np.reshape([0.1, -0.2, 0.3, 0, -0.4, 0.2, 0, 0.5], (4, 2)),
    "x": np.array([0, 1, -0.5, 1.5, -1.2]),
    "y": np.array([0, 0.5, 1.5, -0.5, -0.8]),
}


def networks(x, layer, inputs):
    units = np.tanh(x[..., None] * inputs["slope"][layer] + inputs["bias"][layer])
    return units @ inputs["scale"][layer], units @ inputs["shift"][layer]


def log_density(inputs):
    x, y, total = inputs["x"], inputs["y"], 0
    for layer in range(4):
        s, t = networks(x, layer, inputs)
        x, y, total = y * np.exp(s) + t, x, total + s
    return total - (x**2 + y**2) / 2 - np.log(2 * np.pi)


def sample(x, y, inputs):
    for layer in reversed(range(4)):
        x, y = y, x
        s, t = networks(x, layer, inputs)
        y = (y - t) * np.exp(-s)
    return x, y


def derivative(name, index):
    changed = {key: value.astype(complex) for key, value in INPUTS.items()}
    changed[name][index] += 1e-30j
    return log_density(changed).mean().imag / 1e-30


def row(values):
    return ",".join(f"{v:.15g}" for v in np.ravel(values))


line = np.linspace(-30, 30, 3001)
grid = np.meshgrid(line, line)
integral = np.exp(log_density(INPUTS | {"x": grid[0], "y": grid[1]})).sum() * (line[1] - line[0]) ** 2
assert abs(integral - 1) < 1e-6, integral

print(f"log_density~{row(log_density(INPUTS))} likelihood~{log_density(INPUTS).mean():.15g}")
for name, values in INPUTS.items():
    print(f"{name}~{row([derivative(name, index) for index in np.ndindex(values.shape)])}")
equal = {"scale": 0.4, "shift": 0.3, "slope": 0.8, "bias": -0.1}  # each number for all layers and units
equal = {name: np.full((4, 2), value) for name, value in equal.items()}
x, y = sample(np.array([0.1, 1, -1, 2, -0.5]), np.array([0.2, -1, 0, 0.5, 1.5]), equal)
print(f"x~{row(x)} y~{row(y)} log_density~{row(-log_density(equal | {'x': x, 'y': y}))}")
