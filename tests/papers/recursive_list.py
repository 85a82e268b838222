"""Checks programs/recursive_list.rasm: the values of a linked list, their sum, and the derivatives of the loss."""

import math

NIL = -1


def nodes(links, first):
    found = []
    while first != NIL:
        found.append(first)
        first = links[first]
    return found


def check(links, value, first):
    order = nodes(links, first)
    backward = list(links)
    for node, behind in zip(order, [NIL] + order):
        backward[node] = behind
    listed = [value[node] for node in order]
    loss = math.fsum(v * math.exp(-v) for v in listed)
    slope = [(1 - v) * math.exp(-v) if node in order else 0.0 for node, v in enumerate(value)]
    last = order[-1] if order else NIL
    print(f"order={order} count={len(order)} sum={math.fsum(listed)} first={last} next={backward}")
    print(f"    loss={loss:.17g} value'={','.join(f'{d:.15g}' for d in slope)}")
    bend = [(v - 2) * math.exp(-v) for v in listed]
    print(f"    second derivatives in this order: {','.join(f'{d:.15g}' for d in bend)}")


value = [1, 2, -0.5, 4, 3, 0.25, 0.5, 1.5]
check([5, NIL, 7, 6, NIL, 3, 1, 0], value, 2)
check([5, NIL, 7, 6, NIL, 3, 1, 0], value, 6)
check([5, NIL, 7, 6, NIL, 3, 1, 0], value, NIL)
