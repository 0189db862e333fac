"""Weak topological order: loops are contiguous, and a loop's exits follow it.

Running the lowest-numbered code first makes diverged lanes meet again: who leaves a loop or an
arm early waits at a higher number until the others arrive (Bourdoncle, 1993).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

Successors = Sequence[Collection[int]]


def weak_topological_order(successors: Successors, entry: int = 0) -> list[int]:
    """The nodes reachable from ``entry``, so that every edge goes forward except back edges.

    A strongly connected component is its header (the node met first), then the rest of it in an
    order of the same kind, without the header.
    """
    order: list[int] = []
    pending: list[tuple[list[int], set[int] | None]] = [([entry], None)]
    while pending:
        roots, inside = pending.pop()
        if inside is not None and len(inside) == 1 and not roots:
            order.extend(inside)
            continue
        following: list[tuple[list[int], set[int] | None]] = []
        for component in _components(successors, roots, inside):
            header = component[0]
            following.append(([], {header}))
            rest = component[1:]
            if rest:  # all of it is reached from the header's successors inside
                inner = set(rest)
                following.append(([t for t in successors[header] if t in inner], inner))
        pending.extend(reversed(following))
    return order


def _components(
    successors: Successors, roots: Iterable[int], inside: set[int] | None
) -> list[list[int]]:
    """Strongly connected components in topological order; the node met first leads each.

    Tarjan's algorithm without recursion, on the nodes of ``inside`` (None: all of them).
    """
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []

    def edges(node: int) -> list[int]:
        # Reversed, so that of two arms the first in the source comes first in the order.
        return [t for t in reversed(list(successors[node])) if inside is None or t in inside]

    for root in reversed(list(roots)):
        if root in number:
            continue
        work = [(root, iter(edges(root)))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    component = stack[at:]
                    del stack[at:]
                    on_stack.difference_update(component)
                    found.append(component)
            elif target not in number:
                number[target] = low[target] = len(number)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(edges(target))))
            elif target in on_stack:
                low[node] = min(low[node], number[target])
    found.reverse()
    return found
