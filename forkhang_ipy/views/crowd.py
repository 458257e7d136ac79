"""What many processes have in common, as lines of text: groups of identical stacks, and the top of the prefix tree.

    ranks 0-509: all_reduce (dist.py:88) · 510 threads
    odd: rank 3: wait (threading.py:320)

Nothing is coloured here, and nothing is folded to a width.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

from forkhang_ipy.views.names import package, place, shown_file

if TYPE_CHECKING:
    from forkhang_ipy.model import Branch, Frame, Group

MOST_GROUPS = 8
MOST_BRANCHES = 16
MOST_CALLS = 3
"""So many calls of a branch are named at each of its ends."""


def group_lines(groups: Sequence[Group]) -> Tuple[str, ...]:
    """One line a group, the largest first, then the odd ones out."""
    usual = [group for group in groups if not group.odd]
    odd = [group for group in groups if group.odd]
    return (*_lines(usual, ""), *_lines(odd, "odd: "))


def tree_lines(root: Branch, most: Optional[int] = None) -> Tuple[str, ...]:
    """The tree, each branch a step further in; of a larger tree the first `most` branches of the upper levels."""
    branches = [(depth, branch) for depth, branch in root.walk() if branch.frames or not depth]
    shown = branches if most is None or len(branches) <= most else _uppermost(branches, most)
    lines = [f"{'  ' * depth}{_who(branch)}: {_calls(branch.frames)}" for depth, branch in shown]
    left = len(branches) - len(shown)
    return (*lines, f"... {left} more branches") if left else tuple(lines)


def _lines(groups: Sequence[Group], mark: str) -> List[str]:
    lines = [f"{mark}{_whose(group)}: {_where(group.stack)} · {_count(group.count, 'thread')}" for group in groups]
    left = len(lines) - MOST_GROUPS
    return lines if left <= 0 else [*lines[:MOST_GROUPS], f"{mark}... {left} more stacks"]


def _uppermost(branches: Sequence[Tuple[int, Branch]], most: int) -> List[Tuple[int, Branch]]:
    """The branches of the least depth, as many as may be shown, in their order."""
    order = sorted(range(len(branches)), key=lambda at: (branches[at][0], at))[:most]
    return [branches[at] for at in sorted(order)]


def _whose(group: Group) -> str:
    if group.ranks is not None:
        return f"rank{'s' if group.processes > 1 else ''} {group.ranks}"
    return f"pid{'s' if group.processes > 1 else ''} {group.pids}" if group.pids else _count(group.processes, "process")


def _who(branch: Branch) -> str:
    ranks = f" of ranks {branch.ranks}" if branch.ranks is not None else ""
    return _count(branch.count, "thread") + ranks


def _where(stack: Sequence[Frame]) -> str:
    """The innermost call, and the innermost of the program's own where that is another."""
    own = next((frame for frame in stack if frame.module is None and package(frame.file) is None), None)
    words = _call(stack[0])
    return words if own is None or own is stack[0] else f"{words} from {_call(own)}"


def _calls(frames: Sequence[Frame]) -> str:
    if not frames:
        return "all stacks"
    runs = _runs(frames)
    if len(runs) <= 2 * MOST_CALLS:
        return " → ".join(runs)
    return " → ".join([*runs[:MOST_CALLS], f"{len(runs) - 2 * MOST_CALLS} more", *runs[-MOST_CALLS:]])


def _runs(frames: Sequence[Frame]) -> List[str]:
    """The calls in words; a recursion is said once, with how often it comes."""
    found: List[Tuple[Frame, int]] = []
    for frame in frames:
        if found and found[-1][0] == frame:
            found[-1] = (frame, found[-1][1] + 1)
        else:
            found.append((frame, 1))
    return [_call(frame) + (f", {times} times" if times > 1 else "") for frame, times in found]


def _call(frame: Frame) -> str:
    where = place(frame)
    if frame.module is None and frame.file is not None:
        where = shown_file(frame.file).split("/")[-1] + (f":{frame.line}" if frame.line is not None else "")
    return f"{frame.function or '(no name)'} ({where})" if where else frame.function or "(no name)"


def _count(number: int, word: str) -> str:
    plural = f"{word}es" if word.endswith("s") else f"{word}s"
    return f"{number} {word if number == 1 else plural}"
