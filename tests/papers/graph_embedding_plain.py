"""Checks programs/graph_embedding_plain.rasm: the loss by its formula, derivatives by differences of 40 digits.

The points are those of the program's text. Edges are built from the Petersen graph, not from the program's order.
"""

import re
from itertools import combinations
from pathlib import Path

import mpmath

mpmath.mp.dps = 40
text = (Path(__file__).parents[2] / "programs/graph_embedding_plain.rasm").read_text()
numbers = re.search(r"\.inout x.*?\{(.*?)\}", text, re.S)[1].split(",")
points = [[mpmath.mpf(float(n)) for n in numbers[10 * v : 10 * v + 10]] for v in range(10)]

edges = {frozenset(e) for i in range(5) for e in ((i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5))}


def mean(v):
    return mpmath.fsum(v) / len(v)


def variance(v):
    centre = mean(v)
    return mpmath.fsum((u - centre) ** 2 for u in v) / (len(v) - 1)


def loss(points, k):
    lengths = {True: [], False: []}
    for p, q in combinations(range(10), 2):
        square = mpmath.fsum((points[p][d] - points[q][d]) ** 2 for d in range(k))
        lengths[frozenset((p, q)) in edges].append(mpmath.sqrt(square))
    positive = max(0, mean(lengths[True]) - mean(lengths[False]) + mpmath.mpf("0.1"))
    return variance(lengths[True]) + variance(lengths[False]) + mpmath.exp(positive) - 1


def derivative(vertex, d, k):
    def moved(t):
        copy = [list(p) for p in points]
        copy[vertex][d] = t
        return loss(copy, k)

    return mpmath.diff(moved, points[vertex][d])


for k, cells in (2, [(0, 0), (3, 1)]), (10, [(0, 0), (0, 7)]):
    # Assignments: 6 and one for each coordinate in each pair, 2 in each mean, 2 and the elements in each variance, 2.
    erased = 64 * (45 * (6 + k) + 2 * 2 + (2 + 15) + (2 + 30) + 2)
    print(f"dimensions={k} loss={mpmath.nstr(loss(points, k), 18)} erases={erased}")
    for v, d in cells:
        print(f"    x[{v},{d}]'={mpmath.nstr(derivative(v, d, k), 18)}")
