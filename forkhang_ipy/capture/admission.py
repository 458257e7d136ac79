"""A pid in; a TargetError out where it names nothing that can be looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from forkhang_ipy.capture import permissions, proc_files
from forkhang_ipy.errors import (
    NoSuchProcess,
    NotPermitted,
    ProcessIsKernelThread,
    ProcessIsOurselves,
    ProcessIsZombie,
    TargetError,
)

if TYPE_CHECKING:
    from pathlib import Path

_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD of linux/sched.h."""


def admit(pid: int, root: Path = proc_files.PROC) -> None:
    """Raise the TargetError that fits, if one does."""
    if pid == os.getpid():
        raise ProcessIsOurselves(
            f"Process {pid} is this very process: nobody can attach to himself.",
            "Ask from another terminal or notebook.",
        )
    folder = root / str(pid)
    look = proc_files.stat(folder)
    if not look:
        raise _unseen(pid)
    leader = int(proc_files.status(folder).get("Tgid", pid))
    if leader != pid:
        raise NoSuchProcess(f"{pid} is a thread of process {leader}.", f"Ask for {leader}.")
    if look.flags & _KERNEL_THREAD:
        raise ProcessIsKernelThread(
            f"Process {pid} ({look.name}) belongs to the kernel itself.", "Ask for a process of your program."
        )
    if look.state == "Z":
        raise ProcessIsZombie(
            f"Process {pid} ({look.name}) has ended; its parent {look.parent} has not collected its exit status yet.",
            f"Ask for the parent: {look.parent}.",
        )
    refusal = permissions.refusal(pid, root)
    if refusal:
        raise NotPermitted(f"Process {pid} cannot be looked into: {refusal.why}.", refusal.hint)


def gone(pid: int) -> NoSuchProcess:
    """The error for a pid that no process has."""
    return NoSuchProcess(
        f"No process has the pid {pid}.", "List them with: pgrep -af python. In a container pids are its own."
    )


def _unseen(pid: int) -> TargetError:
    """/proc shows nothing: there is no such process, or the system hides it (hidepid)."""
    try:
        if pid > 0:
            os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return gone(pid)
    except PermissionError:
        return NotPermitted(
            f"Process {pid} belongs to another user, and /proc hides it from us.",
            f"Run it as root: sudo $(command -v forkhang) {pid}",
        )
    return gone(pid)
