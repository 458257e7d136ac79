"""What was seen: processes, threads, frames, waits and bytes, joined in one `Dump`.

Unknown is None and never means "no". Frames are innermost first, whatever the tool printed. Addresses, pthread ids and
pids are whole numbers; times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Dict, Optional, Tuple


class WaitKind(Enum):
    """What a thread waits for, in the word that a reader sees."""

    LOCK = "lock"
    NOTIFICATION = "notification"
    GIL = "GIL"
    SEMAPHORE = "shared semaphore"
    CHILD = "child"
    PIPE_READ = "pipe read"
    PIPE_WRITE = "pipe write"
    THREAD = "thread"
    SLEEP = "sleep"
    POLL = "poll"
    ON_CPU = "on cpu"
    DISK = "disk"
    STOPPED = "stopped"


class Told(Enum):
    """Who says so: the kernel sees the call itself, a stack only shows a function's name."""

    KERNEL = "the kernel"
    STACK = "the stack"


@dataclass(frozen=True)
class Frame:
    """One call."""

    function: Optional[str]
    """None where a native frame has no symbol."""
    file: Optional[str] = None
    """Source file, as far as the tool printed it."""
    line: Optional[int] = None
    module: Optional[str] = None
    """Path of the library or program that a native frame lies in."""
    address: Optional[int] = None
    """Program counter of a native frame."""
    locals: Tuple[Tuple[str, str], ...] = ()
    """Name and repr of each local variable, where they were asked for."""
    source: Optional[str] = None
    """The line of source that the tool printed with it."""


@dataclass(frozen=True)
class Wait:
    """What one thread waits for."""

    kind: WaitKind
    told: Told
    call: Optional[str] = None
    """The system call's name (`futex`, `wait4`)."""
    target: Optional[int] = None
    """The pid or TID that it waits for."""
    file: Optional[str] = None
    """The pipe or socket, as /proc names it (`pipe:[8123]`)."""
    address: Optional[int] = None
    """The futex word."""
    value: Optional[int] = None
    """The futex value it sleeps on: 2 is a contended pthread mutex or low-level lock, 0 a semaphore."""
    private: Optional[bool] = None
    """The futex word belongs to this address space alone: no other process can wake the thread through it."""
    timeout: Optional[bool] = None
    """False: waits for ever. True: wakes by itself."""


@dataclass(frozen=True)
class Sample:
    """One look at one task."""

    index: int
    state: Optional[str] = None
    """The kernel's letter: R, S, D, T, t, Z."""
    wait: Optional[Wait] = None
    cpu_ticks: Optional[int] = None
    switches: Optional[int] = None
    """Context switches so far: unchanged means that it did not run at all in between."""
    native: Tuple[Frame, ...] = ()


@dataclass(frozen=True)
class Thread:
    """One thread, both columns."""

    ident: Optional[int] = None
    """The pthread id: fork preserves it."""
    tid: Optional[int] = None
    """The kernel's id, as seen from outside; fork does not preserve it."""
    inner_tid: Optional[int] = None
    """The same in the process's own pid namespace, where locks record it."""
    name: Optional[str] = None
    python: Tuple[Frame, ...] = ()
    native: Tuple[Frame, ...] = ()
    state: Optional[str] = None
    wait: Optional[Wait] = None
    holds_gil: Optional[bool] = None
    ghost: Optional[bool] = None
    """True: a copy of a thread of the parent that fork did not carry over. Its stack is that of the fork."""
    stack: Optional[Tuple[int, int]] = None
    """The mapping that the stack pointer lies in, [low, high): the pthread id of a non-main thread lies there too."""
    samples: Tuple[Sample, ...] = ()
    error: Optional[str] = None
    """The exception that ended it: the last line of a traceback."""
    mutex_owner: Optional[int] = None
    """The TID that a debugger printed as the owner of the pthread mutex it waits for."""
    active: Optional[bool] = None
    """Whether py-spy took it for running."""


@dataclass(frozen=True)
class Memory:
    """Some bytes of a process, at a futex word that one of its threads, or of its children's, waits for."""

    address: int
    content: bytes
    mapping: Optional[str] = None
    """What is mapped there (`/usr/lib/libc.so.6`, `[heap]`); None for anonymous memory."""
    shared: Optional[bool] = None
    before: bytes = b""
    """The bytes just before the address."""


@dataclass(frozen=True)
class LockObject:
    """What a lock belongs to that a thread waits for: the Python object, or the C variable, that points to its word."""

    word: int
    """The futex word."""
    at: int
    """Where the pointer to it stands; for a lock that is itself part of the object or variable, where that begins."""
    type: Optional[str] = None
    """The object's type, as CPython has it: `_thread.RLock`, `_io.BufferedWriter`, `_thread.lock`."""
    address: Optional[int] = None
    """The object."""
    symbol: Optional[str] = None
    """The C variable: `_PyRuntime`."""
    offset: Optional[int] = None
    """How far behind the beginning of the object or variable `at` is."""
    mapping: Optional[str] = None
    """The library or program that the variable belongs to, or what else is mapped there; None for anonymous memory."""
    on_stack: bool = False
    """It stands on a thread's stack, and in no object there: a passing copy, that tells nothing."""
    before: bytes = b""
    after: bytes = b""
    """From just behind the pointer: begins with the owner's pthread id in a held RLock or buffered stream."""
    parent_after: Optional[bytes] = None
    """The same place in the parent, where the original is."""
    variable: Optional[str] = None
    """What a dict of the program calls the lock: a global variable or an attribute."""
    module: Optional[str] = None
    """The module that is being imported under this lock."""
    owner: Optional[int] = None
    """The pthread id of the thread that imports it."""


@dataclass(frozen=True)
class Process:
    """One process."""

    pid: Optional[int]
    parent: Optional[int] = None
    command: Optional[str] = None
    executable: Optional[str] = None
    python: Optional[str] = None
    """Version (`3.8.18`), or None where it is unknown or not a Python process."""
    forked: Optional[bool] = None
    """True: made by fork and not exec'd since."""
    forked_why: Optional[str] = None
    layout: Tuple[int, ...] = ()
    """Where the kernel put stack, heap, arguments and environment: drawn anew at each exec, copied by fork."""
    tasks: Optional[Tuple[int, ...]] = None
    """TIDs of the live tasks; None where nobody listed them."""
    threads: Tuple[Thread, ...] = ()
    files: Tuple[Tuple[int, str], ...] = ()
    """Open pipes and sockets: descriptor and name (`pipe:[8123]`); a pipe's end is after a colon: `pipe:[8123]:r`."""
    memory: Tuple[Memory, ...] = ()
    state: Optional[str] = None
    ended: bool = False
    """It ended while we looked."""
    objects: Tuple[LockObject, ...] = ()
    """What the locks belong to that its threads wait for, where a search of its memory found it."""
    marked_forked: Optional[bool] = None
    """The kernel's own mark: made by fork, and no exec since."""
    live_tasks: Optional[int] = None
    """How many live tasks it has, where a tool counted them without listing them."""
    label: Optional[str] = None
    """What a line above its stacks calls it: `# child`, `Process ForkPoolWorker-3:`."""
    rank: Optional[int] = None
    """Which one of a parallel job's processes it is, as the name of its file or a prefix in the log says."""
    host: Optional[str] = None
    """The machine that it ran on, as the name of its file or a prefix says; a pid is unique on one machine alone."""


@dataclass(frozen=True)
class Ends:
    """Who has a pipe or socket open that a thread waits for."""

    resource: str
    """As /proc names it: `pipe:[8123]`."""
    ends: Tuple[Tuple[int, str], ...] = ()
    """Pid, and what it has it open for: `r`, `w`, `rw`; of all processes of the machine."""
    unseen: int = 0
    """Processes whose open files we could not list: any of them may have it open as well."""
    waiters: Tuple[Tuple[int, int], ...] = ()
    """Pid and TID of each thread that waits for it."""
    commands: Tuple[Tuple[int, str], ...] = ()
    """Pid and command line of those that have it open."""


@dataclass(frozen=True)
class Sharers:
    """Who has the memory mapped in which a shared futex word lies."""

    word: int
    pid: int
    """The process whose thread waits, and whose address the word is."""
    file: Optional[str] = None
    pids: Tuple[int, ...] = ()
    value: bytes = b""
    """The first bytes at the word."""
    offset: Optional[int] = None
    """The word's place in the file: the same in every process, while the address is not."""
    unseen: int = 0
    """Processes that could not be asked."""


@dataclass(frozen=True)
class Gap:
    """Something that could not be seen, and what to try."""

    process: Optional[int]
    what: str
    why: str
    hint: str


@dataclass(frozen=True)
class Dump:
    """All that was seen of one hang."""

    processes: Tuple[Process, ...] = ()
    target: Optional[int] = None
    """The process that the user asked about."""
    samples: int = 1
    """How many looks were taken at each task."""
    sources: Tuple[str, ...] = ()
    gaps: Tuple[Gap, ...] = ()
    unread: Tuple[str, ...] = ()
    """Lines that belong to no known format."""
    ends: Tuple[Ends, ...] = ()
    sharers: Tuple[Sharers, ...] = ()

    def process(self, pid: Optional[int]) -> Optional[Process]:
        """The process with this pid, or None."""
        return self._of_pid.get(pid) if pid is not None else None

    @cached_property
    def _of_pid(self) -> Dict[Optional[int], Process]:
        return {process.pid: process for process in reversed(self.processes)}
