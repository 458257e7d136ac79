"""`Dump` in; the prefix tree of its stacks out: the outermost calls first, and which ranks take which branch.

Calls that all threads of a branch have in common stand in one branch, so a deep recursion is no deep tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Sequence, Tuple

from forkhang_ipy.analysis.groups import Calls, live_threads, ranges, stack_of
from forkhang_ipy.model import Branch, Dump

Stack = Tuple[int, ...]


@dataclass
class _Node:
    """Stacks of which so many outermost calls are the same."""

    stacks: Dict[Stack, List[int]]
    """Each with the processes that have it, once a thread."""
    start: int
    end: int = 0
    nodes: List[_Node] = field(default_factory=list)


def tree(dump: Dump) -> Branch:
    """The tree of all live threads that have a stack."""
    calls = Calls()
    stacks: Dict[Stack, List[int]] = {}
    for (at, _), thread in live_threads(dump):
        stacks.setdefault(calls.numbers(stack_of(thread))[::-1], []).append(at)
    root = _Node(stacks, 0)
    grown = [root]
    for node in grown:  # it grows meanwhile: each node's own come behind it
        _grow(node)
        grown.extend(node.nodes)
    return _branches(dump, calls, grown)


def _grow(node: _Node) -> None:
    """Find how far all stacks of the node agree, and part them there."""
    node.end = _common(list(node.stacks), node.start)
    parts: Dict[int, Dict[Stack, List[int]]] = {}
    for stack, seats in node.stacks.items():
        if len(stack) > node.end:
            parts.setdefault(stack[node.end], {})[stack] = seats
    node.nodes = [_Node(part, node.end) for part in parts.values()]


def _common(stacks: Sequence[Stack], start: int) -> int:
    if not stacks:
        return start
    low, high = min(stacks), max(stacks)
    end = start
    while end < min(len(low), len(high)) and low[end] == high[end]:
        end += 1
    return end


def _branches(dump: Dump, calls: Calls, nodes: Sequence[_Node]) -> Branch:
    """The nodes as branches, from the last one to the root."""
    made: Dict[int, Branch] = {}
    for node in reversed(nodes):
        seats = [at for places in node.stacks.values() for at in places]
        processes = [dump.processes[at] for at in dict.fromkeys(seats)]
        stack = next(iter(node.stacks), ())
        made[id(node)] = Branch(
            frames=tuple(calls.frames[number] for number in stack[node.start : node.end]),
            count=len(seats),
            processes=len(processes),
            ranks=ranges(process.rank for process in processes),
            branches=tuple(sorted((made[id(one)] for one in node.nodes), key=lambda branch: -branch.count)),
        )
    return made[id(nodes[0])]
