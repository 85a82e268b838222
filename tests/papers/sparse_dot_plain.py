"""Checks programs/sparse_dot_plain.rasm with dense matrices, and counts the erased bits."""

import numpy as np


def dense(start, row, value, rows):
    matrix = np.zeros((rows, len(start) - 1))
    for j in range(len(start) - 1):
        for k in range(start[j], start[j + 1]):
            matrix[row[k], j] = value[k]
    return matrix


def erased_by_merge(start, row, other_start, other_row):
    """Each column erases two words, and a bit for each test of the loop; each `fi forgotten` erases a bit."""
    bits = 0
    for j in range(len(start) - 1):
        a, b = start[j], other_start[j]
        bits += 2 * 64 + 1
        while a != start[j + 1] and b != other_start[j + 1]:
            bits += 2 if row[a] < other_row[b] else 3
            a, b = a + (row[a] <= other_row[b]), b + (row[a] >= other_row[b])
    return bits


A_value = [1, 4, 3, 2, 6, 5]
B_start, B_row, B_value = [0, 2, 4, 7, 9], [0, 2, 1, 3, 1, 2, 3, 0, 2], [7, 2, 1, 9, 5, 6, 8, 3, 4]
B = dense(B_start, B_row, B_value, 4)
rows = [0, 2, 1, 0, 3, 2]
for start, row in ([0, 2, 3, 5, 6], rows), ([0, 1, 2, 3, 4], [3, 2, 1, 0, 0, 0]), ([0] * 5, rows):
    A = dense(start, row, A_value, 4)
    by_a = [float(B[row[k], j]) for j in range(4) for k in range(start[j], start[j + 1])]
    by_b = [float(A[B_row[k], j]) for j in range(4) for k in range(B_start[j], B_start[j + 1])]
    print(f"A_start={start} A_row={row} sum={np.sum(A * B)} erases={erased_by_merge(start, row, B_start, B_row)}")
    print(f"    A_value'={by_a} B_value'={by_b}")
