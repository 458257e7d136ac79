"""The line in /proc/PID/task/TID/syscall: what the kernel says that a task waits for.

    202 0x7f6a3c000b70 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd5f0f3a40 0x7f6a4a0ad117
    running

The number, six arguments, stack pointer and program counter. Numbers are those of `linux/unistd.h` for each machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Dict, Optional, Sequence, Tuple

from forkhang_ipy.model import Told, Wait, WaitKind

ARGUMENTS = 6
FUTEX_PRIVATE = 0x80
FUTEX_COMMANDS = 0x7F
FUTEX_WAITS = (0, 9, 6, 11)
"""FUTEX_WAIT, WAIT_BITSET, LOCK_PI, WAIT_REQUEUE_PI."""


@dataclass(frozen=True)
class Call:
    """A system call that waits: its name, the kind of wait, and which argument tells for what."""

    name: str
    kind: WaitKind
    file: Optional[int] = None
    """Index of the argument that is a file descriptor."""
    target: Optional[int] = None
    """Index of the argument that is a pid."""
    timeout: Optional[int] = None
    """Index of the argument that limits the wait; None where there is no limit."""
    milliseconds: bool = False
    """The limit is a count (negative: for ever), not a pointer (0: for ever)."""
    wakes: bool = False
    """It ends by itself."""


CALLS = (
    Call("futex", WaitKind.LOCK, timeout=3),
    Call("wait4", WaitKind.CHILD, target=0),
    Call("waitid", WaitKind.CHILD, target=1),
    Call("read", WaitKind.PIPE_READ, file=0),
    Call("readv", WaitKind.PIPE_READ, file=0),
    Call("recvfrom", WaitKind.PIPE_READ, file=0),
    Call("recvmsg", WaitKind.PIPE_READ, file=0),
    Call("write", WaitKind.PIPE_WRITE, file=0),
    Call("writev", WaitKind.PIPE_WRITE, file=0),
    Call("sendto", WaitKind.PIPE_WRITE, file=0),
    Call("sendmsg", WaitKind.PIPE_WRITE, file=0),
    Call("nanosleep", WaitKind.SLEEP, wakes=True),
    Call("clock_nanosleep", WaitKind.SLEEP, wakes=True),
    Call("pause", WaitKind.SLEEP),
    Call("rt_sigtimedwait", WaitKind.SLEEP, timeout=2),
    Call("rt_sigsuspend", WaitKind.SLEEP),
    Call("poll", WaitKind.POLL, timeout=2, milliseconds=True),
    Call("ppoll", WaitKind.POLL, timeout=2),
    Call("select", WaitKind.POLL, timeout=4),
    Call("pselect6", WaitKind.POLL, timeout=4),
    Call("epoll_wait", WaitKind.POLL, timeout=3, milliseconds=True),
    Call("epoll_pwait", WaitKind.POLL, timeout=3, milliseconds=True),
    Call("accept", WaitKind.POLL),
    Call("accept4", WaitKind.POLL),
    Call("connect", WaitKind.POLL),
    Call("sched_yield", WaitKind.ON_CPU, wakes=True),
)

NUMBERS: Dict[str, Dict[int, str]] = {
    "x86_64": {
        0: "read",
        1: "write",
        7: "poll",
        19: "readv",
        20: "writev",
        23: "select",
        24: "sched_yield",
        34: "pause",
        35: "nanosleep",
        42: "connect",
        43: "accept",
        44: "sendto",
        45: "recvfrom",
        46: "sendmsg",
        47: "recvmsg",
        61: "wait4",
        128: "rt_sigtimedwait",
        130: "rt_sigsuspend",
        202: "futex",
        219: "restart_syscall",
        230: "clock_nanosleep",
        232: "epoll_wait",
        247: "waitid",
        270: "pselect6",
        271: "ppoll",
        281: "epoll_pwait",
        288: "accept4",
    },
    "aarch64": {
        22: "epoll_pwait",
        63: "read",
        64: "write",
        65: "readv",
        66: "writev",
        72: "pselect6",
        73: "ppoll",
        95: "waitid",
        98: "futex",
        101: "nanosleep",
        115: "clock_nanosleep",
        124: "sched_yield",
        128: "restart_syscall",
        133: "rt_sigsuspend",
        137: "rt_sigtimedwait",
        202: "accept",
        203: "connect",
        206: "sendto",
        207: "recvfrom",
        211: "sendmsg",
        212: "recvmsg",
        242: "accept4",
        260: "wait4",
    },
}

BY_NAME = {call.name: call for call in CALLS}

# A wait that a debugger or a stop signal interrupted is begun again under another number; where it sleeps stays true.
SLEEPS_IN = {
    "futex_wait": WaitKind.LOCK,
    "__futex_wait": WaitKind.LOCK,
    "futex_do_wait": WaitKind.LOCK,
    "futex_wait_queue": WaitKind.LOCK,
    "futex_wait_queue_me": WaitKind.LOCK,
    "hrtimer_nanosleep": WaitKind.SLEEP,
    "do_nanosleep": WaitKind.SLEEP,
    "do_wait": WaitKind.CHILD,
    "pipe_read": WaitKind.PIPE_READ,
    "anon_pipe_read": WaitKind.PIPE_READ,
    "pipe_write": WaitKind.PIPE_WRITE,
    "anon_pipe_write": WaitKind.PIPE_WRITE,
    "unix_stream_read_generic": WaitKind.PIPE_READ,
    "sock_alloc_send_pskb": WaitKind.PIPE_WRITE,
    "do_sys_poll": WaitKind.POLL,
    "poll_schedule_timeout": WaitKind.POLL,
    "do_select": WaitKind.POLL,
    "unix_stream_data_wait": WaitKind.PIPE_READ,
    "__skb_wait_for_more_packets": WaitKind.PIPE_READ,
    "sk_wait_data": WaitKind.PIPE_READ,
    "ksys_read": WaitKind.PIPE_READ,
    "ksys_write": WaitKind.PIPE_WRITE,
    "kernel_wait4": WaitKind.CHILD,
    "inet_csk_accept": WaitKind.POLL,
    "io_schedule": WaitKind.DISK,
    "folio_wait_bit_common": WaitKind.DISK,
    "rpc_wait_bit_killable": WaitKind.DISK,
    "do_epoll_wait": WaitKind.POLL,
    "ep_poll": WaitKind.POLL,
}
DISK = re.compile(r"nfs\d?_|_nfs\d|rpc_|xfs_|jbd2_|fuse_|request_wait_answer|blkdev_")
CUT = 6
STATES = {
    "D": WaitKind.DISK,
    "R": WaitKind.ON_CPU,
    "T": WaitKind.STOPPED,
    "t": WaitKind.STOPPED,
}


VFORK = ("kernel_clone", "_do_fork", "do_fork", "wait_for_vfork_done")
"""A parent sleeps here, in state D, until the child of its vfork() runs a program or ends."""


def wait_of(line: Optional[str], machine: str, state: Optional[str], sleeps_in: Optional[str]) -> Optional[Wait]:
    """The wait that a syscall line tells; without one, what the task's state and its wait channel tell, or None."""
    if state == "D" and sleeps_in in VFORK:
        return Wait(WaitKind.CHILD, Told.KERNEL, timeout=False)
    if state in STATES:
        return Wait(STATES[state], Told.KERNEL)
    if line is not None and line.strip() == "running":
        return Wait(WaitKind.ON_CPU, Told.KERNEL)
    number, arguments = _numbers(line)
    name = NUMBERS.get(machine, {}).get(number, "") if number is not None else ""
    call = BY_NAME.get(name)
    if call is None:
        wait = wait_in([sleeps_in or ""])
        # Only a wait with a limit is begun again under this number.
        return replace(wait, timeout=True) if wait is not None and name == "restart_syscall" else wait
    if call.name == "futex":
        return _futex(call, arguments)
    return Wait(
        call.kind,
        Told.KERNEL,
        call=call.name,
        target=_pid(arguments[call.target]) if call.target is not None else None,
        file=str(arguments[call.file]) if call.file is not None else None,
        timeout=call.wakes or _limited(call, arguments),
    )


def wait_in(functions: Sequence[str]) -> Optional[Wait]:
    """The wait that the innermost of the kernel's calls that we know tells; `ps` may cut a name after six letters."""
    for function in functions:
        name = function.split(".", 1)[0]
        kind = SLEEPS_IN.get(name) or (WaitKind.DISK if DISK.match(name) else None) or _cut(name)
        if kind:
            return Wait(kind, Told.KERNEL)
    return None


def _cut(name: str) -> Optional[WaitKind]:
    kinds = {kind for whole, kind in SLEEPS_IN.items() if len(name) == CUT and whole.startswith(name)}
    return kinds.pop() if len(kinds) == 1 else None


def _numbers(line: Optional[str]) -> Tuple[Optional[int], Tuple[int, ...]]:
    try:
        words = tuple(int(word, 0) for word in (line or "").split())
    except ValueError:
        return None, ()
    return (words[0], words[1 : ARGUMENTS + 1]) if len(words) > ARGUMENTS else (None, ())


def _futex(call: Call, arguments: Tuple[int, ...]) -> Wait:
    address, operation, value = arguments[:3]
    waits = operation & FUTEX_COMMANDS in FUTEX_WAITS
    return Wait(
        call.kind if waits else WaitKind.ON_CPU,
        Told.KERNEL,
        call=call.name,
        address=address,
        value=value & 0xFFFFFFFF,
        private=bool(operation & FUTEX_PRIVATE),
        timeout=_limited(call, arguments),
    )


def _limited(call: Call, arguments: Tuple[int, ...]) -> bool:
    if call.timeout is None:
        return False
    limit = arguments[call.timeout]
    if call.milliseconds:
        return not limit & 0x80000000
    return limit != 0


def _pid(argument: int) -> Optional[int]:
    """A pid to wait for; -1 (any child) and 0 (the group) are None."""
    signed = (argument & 0xFFFFFFFF) - (0x100000000 if argument & 0x80000000 else 0)
    return signed if signed > 0 else None
