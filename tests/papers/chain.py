"""The chain of programs/chain.rasm in NumPy: results, and the derivative of `reached` by `dt` by a tangent."""
import numpy as np


def main():
    dt, x, v = 0.125, np.zeros(8), np.eye(8)[0]
    x_dot, v_dot = np.zeros(8), np.zeros(8)
    for _ in range(80):
        stretch, stretch_dot = np.diff(x), np.diff(x_dot)
        force = np.append(stretch, 0) - np.append(0, stretch)
        v_dot += force + dt * (np.append(stretch_dot, 0) - np.append(0, stretch_dot))
        v += dt * force
        x_dot += v + dt * v_dot
        x += dt * v
    print("momentum", v.sum(), "energy", (v**2).sum() / 2 + (np.diff(x) ** 2).sum() / 2)
    print("reached", repr(float(x[-1])), "derivative by dt", repr(float(x_dot[-1])), "by push", repr(float(x[-1])))


if __name__ == "__main__":
    main()
