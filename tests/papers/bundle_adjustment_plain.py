"""Checks programs/bundle_adjustment_plain.rasm: the projection in numbers of 40 digits, derivatives by differences.

The rotation is the exponential of a matrix.
"""

import mpmath

mpmath.mp.dps = 40
camera = [mpmath.mpf(v) for v in (0.1, -0.2, 0.3, 0.5, -0.3, -4, 500, 320, 240, -0.12, 0.03)]
X = [mpmath.mpf(v) for v in (0.2, 0.4, 1.5)]
w = mpmath.mpf(0.9)
feature = (184, 228)


def residual(camera, X, w):
    a, b, c = camera[:3]
    rotation = mpmath.expm(mpmath.matrix([[0, -c, b], [c, 0, -a], [-b, a, 0]]))
    x, y, z = rotation * mpmath.matrix([p - q for p, q in zip(X, camera[3:6])])
    image = x / z, y / z
    square = image[0] ** 2 + image[1] ** 2
    scale = camera[6] * (1 + camera[9] * square + camera[10] * square**2)
    return [w * (scale * image[i] + camera[7 + i] - feature[i]) for i in range(2)]


def show(name, values, evaluate):
    for r in range(2):
        slopes = []
        for place in range(len(values)):
            moved = lambda t: evaluate(values[:place] + [t] + values[place + 1 :])[r]
            slopes.append(mpmath.nstr(mpmath.diff(moved, values[place]), 16))
        print(f"residual[{r}] by {name}: {','.join(slopes)}")


print("residual", [mpmath.nstr(v, 18) for v in residual(camera, X, w)], "weight_residual", mpmath.nstr(1 - w * w, 18))
print("without a rotation", [mpmath.nstr(v, 18) for v in residual([0, 0, 0] + camera[3:], X, w)])
show("camera", camera, lambda c: residual(c, X, w))
show("X", X, lambda p: residual(camera, p, w))
show("w", [w], lambda v: residual(camera, X, v[0]))
# Assignments: offset 3, quotients 2, distortion 5, errors 2, and 16 or 7 in the rotation.
print("erases", 64 * (12 + 16), "without a rotation", 64 * (12 + 7))
