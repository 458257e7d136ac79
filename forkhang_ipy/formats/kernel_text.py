"""What /proc says of one task, as people paste it; whose it is, the command above tells.

    [<0>] futex_do_wait+0x3a/0x70                                           /proc/4242/stack
    [<0>] nfs4_do_open+0xcd/0x1f0 [nfsv4]
    202 0x7f6a3c000b70 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd5f0f3a40 0x7f6a4a0ad117          /proc/4242/syscall
    Name:   python                                                          /proc/4242/status
    State:  S (sleeping)
    Pid:    4242
    Threads:        2

Innermost first. The kernel's calls are native frames with the module `[kernel]`, or that of the kernel's module.
"""

from __future__ import annotations

import re
from typing import Dict, Iterator, Optional

from forkhang_ipy.formats import kernel
from forkhang_ipy.formats._base import Lines, SectionFormat
from forkhang_ipy.model import Dump, Frame, Process, Thread

FRAME = re.compile(
    r"^\s*\[<(?P<address>[0-9a-f]+)>\] (?P<function>[\w.]+)(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?(?: (?P<module>\[\w+\]))?$"
)
SYSCALL = re.compile(r"^(?P<line>\d+(?: 0x[0-9a-f]+){8}|running)$")
STATUS = re.compile(r"^(?P<key>\w+):\t\s*(?P<value>.*)$|^Groups:$")
STACK_OF_AARCH64 = 0xFFFF
"""Its user addresses reach up to 0x0000ffff_ffffffff; those of x86_64 end at 0x00007fff_ffffffff."""


def _stack(lines: Lines) -> Optional[Dump]:
    frames = tuple(_frames(lines))
    if not frames:
        return None
    wait = kernel.wait_in([frame.function or "" for frame in frames])
    return _of(Thread(native=frames, wait=wait))


def _frames(lines: Lines) -> Iterator[Frame]:
    while True:
        match = lines.take(FRAME)
        if not match:
            return
        yield Frame(match["function"], module=match["module"] or "[kernel]", address=int(match["address"], 16) or None)


def _syscall(lines: Lines) -> Optional[Dump]:
    match = lines.take(SYSCALL)
    if not match:
        return None
    words = match["line"].split()
    machine = "aarch64" if len(words) > 1 and int(words[7], 16) >> 32 == STACK_OF_AARCH64 else "x86_64"
    return _of(Thread(wait=kernel.wait_of(match["line"], machine, None, None)))


def _status(lines: Lines) -> Optional[Dump]:
    said: Dict[str, str] = {}
    while True:
        match = STATUS.match(lines.next)
        if not match or match["key"] in said:
            break
        lines.step()
        if match["key"]:
            said[match["key"]] = match["value"]
    pid, parent, tasks = (
        int(said[key]) if said.get(key, "").isdigit() else None for key in ("Tgid", "PPid", "Threads")
    )
    tid = int(said["Pid"]) if said.get("Pid", "").isdigit() else None
    state = said.get("State", "")[:1] or None
    pid = pid or tid
    thread = Thread(tid=tid, name=said.get("Name"), state=state, ghost=False) if tid and state != "Z" else None
    process = Process(pid=pid, parent=parent, state=state, live_tasks=tasks, threads=(thread,) if thread else ())
    return Dump(processes=(process,), sources=("/proc",))


def _of(thread: Thread) -> Dump:
    return Dump(processes=(Process(pid=None, threads=(thread,)),), sources=("/proc",))


STACK = SectionFormat("/proc/PID/stack", re.compile(r"^\s*\[<[0-9a-f]+>\] \S"), _stack, one_thread=True)
CALL = SectionFormat("/proc/PID/syscall", re.compile(r"^\d+(?: 0x[0-9a-f]+){8}$|^running$"), _syscall, one_thread=True)
STATE = SectionFormat("/proc/PID/status", re.compile(r"^(?:Name|State|Pid|Tgid|Threads):\t"), _status)
