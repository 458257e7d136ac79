"""A folder of /proc in, one `proc/1` record out: what the kernel tells of a process without stopping it.

What may not be seen is None or empty. Nothing is attached to and nothing is run.
"""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple, TypedDict

from forkhang_ipy.capture import maps, proc_files, python_version

if TYPE_CHECKING:
    from pathlib import Path

    from forkhang_ipy.capture.maps import Mapping

FORMAT = "proc/1"

_SHOWN_FILES = ("pipe:", "socket:")
_ACCESS = {os.O_RDONLY: "r", os.O_WRONLY: "w", os.O_RDWR: "rw"}
# To ask what a file is can hang for ever on the others: a dead NFS server is itself a common cause of hangs.
_LOCAL_FILE_SYSTEMS = frozenset({"btrfs", "ext4", "overlay", "tmpfs", "xfs"})
_MOUNT = re.compile(r"^(?P<id>\d+) .* - (?P<type>\S+) ", re.MULTILINE)
_PATIENCE = 1.0


class TaskRecord(TypedDict):
    """One task of a process."""

    tid: int
    inner_tid: int
    name: str
    state: str
    wchan: Optional[str]
    syscall: Optional[str]
    ticks: int
    switches: Optional[int]
    stack: Optional[List[str]]
    stack_name: Optional[str]


class ProcRecord(TypedDict):
    """One look at one process."""

    forkhang: str
    pid: int
    sample: int
    time: float
    parent: int
    command: List[str]
    executable: Optional[str]
    python: Optional[str]
    state: str
    uid: Optional[int]
    layout: List[str]
    machine: str
    forked: bool
    namespace_pid: int
    tasks: List[TaskRecord]
    files: Dict[str, str]


_FORKED_NOT_EXECD = 0x00000040
"""PF_FORKNOEXEC of linux/sched.h: set by fork, taken away by exec."""


def read(pid: int, sample: int, time: float, root: Path = proc_files.PROC) -> Optional[ProcRecord]:
    """What /proc says of this process at this time (monotonic seconds); None when it has gone."""
    folder = root / str(pid)
    look, status = proc_files.stat(folder), proc_files.status(folder)
    if not look or not status:
        return None
    command, mappings = _memory_of(folder)
    return ProcRecord(
        forkhang=FORMAT,
        pid=pid,
        sample=sample,
        time=time,
        parent=look.parent,
        command=command or [look.name],
        executable=proc_files.link(folder / "exe"),
        python=python_version.read(folder, mappings),
        state=look.state,
        uid=int(status["Uid"].split()[0]) if "Uid" in status else None,
        layout=[hex(address) for address in look.layout],
        forked=bool(look.flags & _FORKED_NOT_EXECD),
        machine=os.uname().machine,
        namespace_pid=_inner(status, pid),
        tasks=_tasks(folder, mappings),
        files=dict(_files(folder)),
    )


def _memory_of(folder: Path) -> Tuple[List[str], Tuple[Mapping, ...]]:
    """Command line and mappings; empty where their reading itself hangs, as it can with a task in state D."""
    if "D" not in proc_files.states(folder).values():
        return _command(folder), maps.read(folder)
    command: List[str] = []
    mappings: List[Mapping] = []

    def look() -> None:
        command.extend(_command(folder))
        mappings.extend(maps.read(folder))

    reader = threading.Thread(target=look, name="forkhang-patience", daemon=True)
    reader.start()
    reader.join(_PATIENCE)
    return list(command), tuple(mappings)


def _command(folder: Path) -> List[str]:
    line = (proc_files.text(folder / "cmdline") or "").rstrip("\0")
    return line.split("\0") if line else []


def _inner(status: Dict[str, str], outer: int) -> int:
    """The id in the process's own pid namespace, which `NSpid` names last."""
    return int(status.get("NSpid", "").split()[-1:][0]) if status.get("NSpid") else outer


def _tasks(folder: Path, mappings: Sequence[Mapping]) -> List[TaskRecord]:
    looks = (_task(folder / "task" / str(tid), tid, mappings) for tid in proc_files.numbered(folder / "task"))
    return [look for look in looks if look]


def _task(folder: Path, tid: int, mappings: Sequence[Mapping]) -> Optional[TaskRecord]:
    """One task, or None when it has gone."""
    look, status = proc_files.stat(folder), proc_files.status(folder)
    if not look:
        return None
    syscall = (proc_files.text(folder / "syscall") or "").strip() or None
    stack = _stack(syscall, mappings)
    return TaskRecord(
        tid=tid,
        inner_tid=_inner(status, tid),
        name=look.name,
        state=look.state,
        wchan=_wchan(folder),
        syscall=syscall,
        ticks=look.ticks,
        switches=_switches(status),
        stack=[hex(stack.low), hex(stack.high)] if stack else None,
        stack_name=stack.name if stack else None,
    )


def _wchan(folder: Path) -> Optional[str]:
    name = proc_files.text(folder / "wchan")
    return None if name in (None, "", "0") else name


def _switches(status: Dict[str, str]) -> Optional[int]:
    names = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
    return sum(int(status[name]) for name in names) if all(name in status for name in names) else None


def _stack(syscall: Optional[str], mappings: Sequence[Mapping]) -> Optional[Mapping]:
    """The mapping that the stack pointer lies in: last but one in `202 0x7f.. 0x189 ... SP PC`."""
    pointer = (syscall or "").split()[-2:-1]
    return maps.around(mappings, int(pointer[0], 16)) if pointer else None


def _files(folder: Path) -> List[Tuple[str, str]]:
    """The open pipes and sockets: descriptor and name, a pipe's with the end that it is."""
    local = None
    found = []
    for number in proc_files.numbered(folder / "fd"):
        name = proc_files.link(folder / "fd" / str(number)) or ""
        if not name.startswith(("/", *_SHOWN_FILES)):
            continue
        info = _descriptor(folder, number)
        if name.startswith("/"):
            local = _local_mounts(folder) if local is None else local
            if info.get("mnt_id") not in local or not _is_fifo(folder / "fd" / str(number)):
                continue
        found.append((str(number), name if name.startswith("socket:") else name + _end(info)))
    return found


def _descriptor(folder: Path, number: int) -> Dict[str, str]:
    lines = (proc_files.text(folder / "fdinfo" / str(number)) or "").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def mode(folder: Path, number: int) -> Optional[str]:
    """Whether the process of this folder has its descriptor open for reading (`r`), writing (`w`) or both (`rw`)."""
    return _mode(_descriptor(folder, number))


def _mode(info: Dict[str, str]) -> Optional[str]:
    return _ACCESS.get(int(info["flags"], 8) & os.O_ACCMODE) if "flags" in info else None


def _end(info: Dict[str, str]) -> str:
    """`:r`, `:w` or `:rw`; empty where it cannot be told."""
    access = _mode(info)
    return f":{access}" if access else ""


def _local_mounts(folder: Path) -> List[str]:
    lines = proc_files.text(folder / "mountinfo") or ""
    return [match["id"] for match in _MOUNT.finditer(lines) if match["type"] in _LOCAL_FILE_SYSTEMS]


def _is_fifo(path: Path) -> bool:
    try:
        return path.is_fifo()
    except OSError:
        return False
