"""A dump and what is known of it, as tidy tables for pandas.

    processes  process*, rank, host, pid, parent, label, command, executable, python, forked, state, ended, threads
    threads    process*, thread*, rank, pid, tid, ident, name, state, ghost, stuck, holds_gil, active, error,
               function, file, line                                  of the innermost frame
    frames     process*, thread*, stack*, depth*, function, file, line, module, address, source
    waits      process*, thread*, kind, told, call, target, file, address, value, private, timeout, stuck
    groups     count, processes, ranks, pids, role, odd, function, file, line, stack
    changes    rank, host, pid, tid, ident, name, moved, depth, before, after

A star marks the key: `process` is the place in `Dump.processes`, `thread` that in its threads, `stack` is `python` or
`native`, `depth` 0 is the innermost frame. Numbers are Int64 (addresses and pthread ids UInt64), words string, claims
boolean; what is unknown is `<NA>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, Sequence, Tuple

from forkhang_ipy.model import Column

if TYPE_CHECKING:
    import pandas as pd

    from forkhang_ipy.model import Change, Diagnosis, Frame, Group, Process, Thread, Wait

NUMBER, ADDRESS, WORD, CLAIM = "Int64", "UInt64", "string", "boolean"
LIMITS = {NUMBER: (-(2**63), 2**63), ADDRESS: (0, 2**64)}
"""A tool's torn line may hold a number that no column does."""
Columns = Dict[str, Tuple[str, Iterable[object]]]
"""Name, type and values of each column."""
Seated = Tuple[int, int, "Process", "Thread"]


def processes(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row a process."""
    every = diagnosis.dump.processes
    return _table(
        {
            "process": (NUMBER, range(len(every))),
            "rank": (NUMBER, [process.rank for process in every]),
            "host": (WORD, [process.host for process in every]),
            "pid": (NUMBER, [process.pid for process in every]),
            "parent": (NUMBER, [process.parent for process in every]),
            "label": (WORD, [process.label for process in every]),
            "command": (WORD, [process.command for process in every]),
            "executable": (WORD, [process.executable for process in every]),
            "python": (WORD, [process.python for process in every]),
            "forked": (CLAIM, [process.forked for process in every]),
            "state": (WORD, [process.state for process in every]),
            "ended": (CLAIM, [process.ended for process in every]),
            "threads": (NUMBER, [len(process.threads) for process in every]),
        }
    )


def threads(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row a thread, ghosts among them."""
    every = _every_thread(diagnosis)
    innermost = [next(iter(thread.python or thread.native), None) for _, _, _, thread in every]
    return _table(
        {
            **_keys(every),
            "rank": (NUMBER, [process.rank for _, _, process, _ in every]),
            "pid": (NUMBER, [process.pid for _, _, process, _ in every]),
            "tid": (NUMBER, [thread.tid for *_, thread in every]),
            "ident": (ADDRESS, [thread.ident for *_, thread in every]),
            "name": (WORD, [thread.name for *_, thread in every]),
            "state": (WORD, [thread.state for *_, thread in every]),
            "ghost": (CLAIM, [thread.ghost for *_, thread in every]),
            "stuck": (CLAIM, _stuck(diagnosis, every)),
            "holds_gil": (CLAIM, [thread.holds_gil for *_, thread in every]),
            "active": (CLAIM, [thread.active for *_, thread in every]),
            "error": (WORD, [thread.error for *_, thread in every]),
            **_calls(innermost),
        }
    )


def frames(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row a frame: both columns of every thread, the innermost frame first."""
    keys: Tuple[List[int], List[int], List[str], List[int]] = ([], [], [], [])
    every: List[Optional[Frame]] = []
    for at, place, _, thread in _every_thread(diagnosis):
        for column, stack in ((Column.PYTHON, thread.python), (Column.NATIVE, thread.native)):
            every.extend(stack)
            keys[0].extend([at] * len(stack))
            keys[1].extend([place] * len(stack))
            keys[2].extend([column.value] * len(stack))
            keys[3].extend(range(len(stack)))
    return _table(
        {
            "process": (NUMBER, keys[0]),
            "thread": (NUMBER, keys[1]),
            "stack": (WORD, keys[2]),
            "depth": (NUMBER, keys[3]),
            **_calls(every),
            "module": (WORD, [frame and frame.module for frame in every]),
            "address": (ADDRESS, [frame and frame.address for frame in every]),
            "source": (WORD, [frame and frame.source for frame in every]),
        }
    )


def waits(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row for each thread of which is known what it waits for."""
    every = [seated for seated in _every_thread(diagnosis) if seated[3].wait is not None]
    known: List[Wait] = [thread.wait for *_, thread in every if thread.wait is not None]
    return _table(
        {
            **_keys(every),
            "kind": (WORD, [wait.kind.value for wait in known]),
            "told": (WORD, [wait.told.value for wait in known]),
            "call": (WORD, [wait.call for wait in known]),
            "target": (NUMBER, [wait.target for wait in known]),
            "file": (WORD, [wait.file for wait in known]),
            "address": (ADDRESS, [wait.address for wait in known]),
            "value": (NUMBER, [wait.value for wait in known]),
            "private": (CLAIM, [wait.private for wait in known]),
            "timeout": (CLAIM, [wait.timeout for wait in known]),
            "stuck": (CLAIM, _stuck(diagnosis, every)),
        }
    )


def groups(found: Sequence[Group]) -> pd.DataFrame:
    """One row a group of identical stacks, the largest first."""
    return _table(
        {
            "count": (NUMBER, [group.count for group in found]),
            "processes": (NUMBER, [group.processes for group in found]),
            "ranks": (WORD, [group.ranks for group in found]),
            "pids": (WORD, [group.pids for group in found]),
            "role": (WORD, [group.role for group in found]),
            "odd": (CLAIM, [group.odd for group in found]),
            **_calls([group.stack[0] for group in found]),
            "stack": (WORD, ["\n".join(map(in_words, group.stack)) for group in found]),
        }
    )


def changes(found: Sequence[Change]) -> pd.DataFrame:
    """One row a thread of either dump."""
    return _table(
        {
            "rank": (NUMBER, [change.process.rank for change in found]),
            "host": (WORD, [change.process.host for change in found]),
            "pid": (NUMBER, [change.process.pid for change in found]),
            "tid": (NUMBER, [change.thread.tid for change in found]),
            "ident": (ADDRESS, [change.thread.ident for change in found]),
            "name": (WORD, [change.thread.name for change in found]),
            "moved": (WORD, [change.moved.value for change in found]),
            "depth": (NUMBER, [change.depth for change in found]),
            "before": (WORD, [change.before and in_words(change.before) for change in found]),
            "after": (WORD, [change.after and in_words(change.after) for change in found]),
        }
    )


def in_words(frame: Frame) -> str:
    """`all_reduce (train.py:88)`."""
    line = "" if frame.line is None else f":{frame.line}"
    place = f"{frame.file}{line}" if frame.file else frame.module or ""
    name = frame.function or (f"{frame.address:#x}" if frame.address is not None else "?")
    return f"{name} ({place})" if place else name


# --- columns ---------------------------------------------------------------------------------------------------------


def _every_thread(diagnosis: Diagnosis) -> List[Seated]:
    return [
        (at, place, process, thread)
        for at, process in enumerate(diagnosis.dump.processes)
        for place, thread in enumerate(process.threads)
    ]


def _keys(every: Sequence[Seated]) -> Columns:
    return {
        "process": (NUMBER, [at for at, *_ in every]),
        "thread": (NUMBER, [place for _, place, *_ in every]),
    }


def _calls(every: Sequence[Optional[Frame]]) -> Columns:
    return {
        "function": (WORD, [frame and frame.function for frame in every]),
        "file": (WORD, [frame and frame.file for frame in every]),
        "line": (NUMBER, [frame and frame.line for frame in every]),
    }


def _stuck(diagnosis: Diagnosis, every: Sequence[Seated]) -> List[bool]:
    return [not thread.ghost and diagnosis.is_stuck(process.pid, thread.tid) for _, _, process, thread in every]


def _table(columns: Columns) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Series(_fitting(kind, values), dtype=kind) for name, (kind, values) in columns.items()}
    )


def _fitting(kind: str, values: Iterable[object]) -> List[object]:
    """The values, without those that the type cannot hold."""
    limits = LIMITS.get(kind)
    if limits is None:
        return list(values)
    low, high = limits
    return [value if isinstance(value, int) and low <= value < high else None for value in values]
