"""The line in /proc/PID/task/TID/syscall in, the call's name and arguments out, for the calls that we look behind.

202 0x7f6a3c000b70 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd5f0f3a40 0x7f6a4a0ad117
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Iterator, Optional, Tuple

if TYPE_CHECKING:
    from forkhang_ipy.capture.procfs import ProcRecord, TaskRecord

_ARGUMENTS = 6
_PRIVATE = 0x80
_COMMAND = 0x7F
_WAITS = frozenset({0, 6, 9, 11})
"""FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI of linux/futex.h."""

# asm/unistd.h
_NAMES: Dict[str, Dict[str, str]] = {
    "x86_64": {
        "0": "read",
        "1": "write",
        "7": "poll",
        "19": "readv",
        "20": "writev",
        "23": "select",
        "44": "sendto",
        "45": "recvfrom",
        "46": "sendmsg",
        "47": "recvmsg",
        "202": "futex",
        "232": "epoll_wait",
        "270": "pselect6",
        "271": "ppoll",
        "281": "epoll_pwait",
    },
    "aarch64": {
        "22": "epoll_pwait",
        "63": "read",
        "64": "write",
        "65": "readv",
        "66": "writev",
        "72": "pselect6",
        "73": "ppoll",
        "98": "futex",
        "206": "sendto",
        "207": "recvfrom",
        "211": "sendmsg",
        "212": "recvmsg",
    },
}


@dataclass(frozen=True)
class Call:
    """A system call that a task is in."""

    task: TaskRecord
    name: str
    arguments: Tuple[int, ...]
    stack_pointer: int


@dataclass(frozen=True)
class Futex:
    """A wait for a futex word."""

    call: Call
    word: int
    value: int
    """The word had this value when the wait began."""
    for_ever: bool
    private: bool
    """No other process can wake it through this word."""


def calls(look: ProcRecord) -> Iterator[Call]:
    """The calls of known name that the tasks of this process are in."""
    found = (_call(task, _NAMES.get(look["machine"], {})) for task in look["tasks"])
    return (call for call in found if call)


def futexes(look: ProcRecord) -> Iterator[Futex]:
    """The futex waits that the tasks of this process are in."""
    for call in calls(look):
        word, operation, value, timeout = call.arguments[:4]
        if call.name == "futex" and operation & _COMMAND in _WAITS:
            yield Futex(call, word, value & 0xFFFFFFFF, not timeout, bool(operation & _PRIVATE))


def uninterruptible(look: ProcRecord) -> bool:
    """Whether a task is in state D: to read the process's mappings can then hang with it."""
    return any(task["state"] == "D" for task in look["tasks"])


def _call(task: TaskRecord, names: Dict[str, str]) -> Optional[Call]:
    number, *numbers = (task["syscall"] or "").split() or [""]
    if number not in names or len(numbers) <= _ARGUMENTS:
        return None
    values = [int(each, 16) for each in numbers]
    return Call(task, names[number], tuple(values[:_ARGUMENTS]), values[_ARGUMENTS])
