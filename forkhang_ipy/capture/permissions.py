"""A pid in, out: whether we may look into the process, whether we should, and if not why, and what to try."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Optional

from forkhang_ipy.capture import proc_files, tree

if TYPE_CHECKING:
    from pathlib import Path

_SYS_PTRACE = 1 << 19
_YAMA = "sys/kernel/yama/ptrace_scope"
_CONTAINER = (
    "In Docker: --cap-add=SYS_PTRACE. In Kubernetes: securityContext.capabilities.add: [SYS_PTRACE], or "
    "kubectl debug --profile=general --target=CONTAINER."
)
_BY_SCOPE: Dict[int, str] = {
    1: "Ask from the process that started it (its notebook), as root, or after: sudo sysctl kernel.yama.ptrace_scope=0",
    2: "Run it as root: sudo $(command -v forkhang) {pid}",
    3: "Nobody may until the machine is booted with another kernel.yama.ptrace_scope.",
}
_AS_ROOT = "Run it as root: sudo $(command -v forkhang) {pid}"


@dataclass(frozen=True)
class Obstacle:
    """Why nothing must be attached to a process, and what to try."""

    why: str
    hint: str


def obstacle(pid: int, root: Path = proc_files.PROC) -> Optional[Obstacle]:
    """What stands in the way of a debugger; None where nothing does."""
    return _uninterruptible(pid, root) or _traced(pid, root) or refusal(pid, root)


def refusal(pid: int, root: Path = proc_files.PROC) -> Optional[Obstacle]:
    """Why the kernel would refuse a debugger; None where it would not."""
    folder = root / str(pid)
    try:
        # The kernel asks the same question here as when a debugger attaches.
        os.close(os.open(folder / "mem", os.O_RDONLY | os.O_CLOEXEC))
    except PermissionError:
        return _reason(pid, root)
    except OSError:
        # It has gone, or is a zombie: no matter of permission.
        return None
    return None


def yama_scope(root: Path = proc_files.PROC) -> int:
    """The value of kernel.yama.ptrace_scope; 0 where the kernel has no Yama."""
    return int((proc_files.text(root / _YAMA) or "0").strip())


def may_trace_all(root: Path = proc_files.PROC) -> bool:
    """Whether we have CAP_SYS_PTRACE, which overrides owner and Yama."""
    return bool(int(proc_files.status(root / "self").get("CapEff", "0"), 16) & _SYS_PTRACE)


def only_from_here(pid: int, root: Path = proc_files.PROC) -> bool:
    """Whether we ourselves may look as an ancestor, while a program that we start may not (Yama, scope 1)."""
    return yama_scope(root) == 1 and not may_trace_all(root) and tree.descends(pid, os.getpid(), root)


def _uninterruptible(pid: int, root: Path) -> Optional[Obstacle]:
    if "D" not in proc_files.states(root / str(pid)).values():
        return None
    return Obstacle(
        "in uninterruptible sleep (D): a debugger would hang with it",
        f"sudo cat /proc/{pid}/task/*/stack says what the kernel waits for: a device, a driver or a file server.",
    )


def _traced(pid: int, root: Path) -> Optional[Obstacle]:
    folder = root / str(pid)
    tids = proc_files.numbered(folder / "task")
    tracers = (proc_files.tracer(folder / "task" / str(tid)) for tid in tids)
    tracer = next((each for each in tracers if each), None)
    if not tracer:
        return None
    command = (proc_files.text(root / str(tracer) / "cmdline") or "").replace("\0", " ").strip()
    named = f"{tracer} ({command})" if command else str(tracer)
    return Obstacle(f"a debugger holds it already: process {named}", "Detach or end that debugger, then look again.")


def _reason(pid: int, root: Path) -> Obstacle:
    status = proc_files.status(root / str(pid))
    owner, user = (status.get("Uid") or "-1").split()[0], str(os.geteuid())
    scope = yama_scope(root)
    if owner not in (user, "-1") and user != "0":
        return Obstacle(f"it belongs to user {owner} and we are user {user}", _AS_ROOT.format(pid=pid))
    if user == "0" and not may_trace_all(root):
        return Obstacle("we are root without the capability SYS_PTRACE, as in a container", _CONTAINER)
    if scope in _BY_SCOPE and user != "0":
        return Obstacle(f"kernel.yama.ptrace_scope is {scope}", _BY_SCOPE[scope].format(pid=pid))
    if user == "0":
        return Obstacle(
            "the kernel refuses it even to root: it has rights that we have not, or is sealed off",
            "Look from outside the container.",
        )
    return Obstacle("the kernel refuses it: it has rights that we have not, or is sealed off", _AS_ROOT.format(pid=pid))
