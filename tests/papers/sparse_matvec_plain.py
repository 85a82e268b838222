"""Checks programs/sparse_matvec_plain.rasm with a dense matrix. Each of the elements erases one word of 64 bits."""

import numpy as np

start, row, value, x = [0, 2, 2, 4, 5], [0, 2, 1, 2, 0], [2, 5, 3, 4, 1], [1, 2, 3, 4]
matrix = np.zeros((3, 4))
for j in range(4):
    for k in range(start[j], start[j + 1]):
        matrix[row[k], j] = value[k]
print(f"y={matrix @ x} erases={64 * len(value)}")
by_a = [x[j] if row[k] == 2 else 0 for j in range(4) for k in range(start[j], start[j + 1])]
print(f"y[2] by x: {matrix[2]}, by A: {by_a}")
