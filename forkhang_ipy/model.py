"""The nouns: what was seen (`Dump`) and what it means (`Diagnosis`).

All are frozen. Unknown is None and never means "no". Frames are innermost first, whatever the tool printed.
Addresses, pthread ids and pids are whole numbers; times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Dict, FrozenSet, Iterator, List, Optional, Tuple

# --- what was seen ---------------------------------------------------------------------------------------------------


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


# --- what it means ---------------------------------------------------------------------------------------------------


class Verdict(Enum):
    """The answer, in the word of the command line's contract."""

    FORK_DEADLOCK = "fork-deadlock"
    FORK_ERROR = "fork-error"
    NOT_FORK_DEADLOCK = "not-fork-deadlock"
    INCONCLUSIVE = "inconclusive"
    NOT_HUNG = "not-hung"


class Confidence(Enum):
    """How sure; `proven` means that the wait can be shown never to end."""

    PROVEN = "proven"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Who(Enum):
    """Which end of a fork a finding is about."""

    CHILD = "child"
    PARENT = "parent"
    NONE = "none"


class Column(Enum):
    """Which of the two stacks a frame stands in."""

    PYTHON = "python"
    NATIVE = "native"


class InParent(Enum):
    """What the parent's original of an inherited lock says now."""

    HELD = "still held there"
    RELEASED = "released since"
    ABSENT = "no such lock there"


@dataclass(frozen=True)
class FrameAt:
    """A frame by its place: which column of the thread, and how far from the innermost (0)."""

    column: Column
    index: int


@dataclass(frozen=True)
class Owner:
    """Who holds a lock, and where."""

    process: Optional[int]
    thread: Optional[str]
    function: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None


@dataclass(frozen=True)
class Lock:
    """What a thread waits for, and who has it."""

    kind: str
    """The field's name: `pthread-mutex`, `threading.Lock`, `HEAD_LOCK`."""
    address: Optional[int] = None
    owner_tid: Optional[int] = None
    owner_ident: Optional[int] = None
    owner: Optional[Owner] = None
    owner_gone: Optional[bool] = None
    """True: the owner is no live thread of the process that waits."""
    in_parent: Optional[InParent] = None
    variable: Optional[str] = None
    """What the program calls it, or the module that is imported under it."""
    candidates: Tuple[Owner, ...] = ()
    """Where no owner is recorded: threads of the parent that are in the same code, and so may hold it."""


@dataclass(frozen=True)
class Evidence:
    """One sentence of proof, and the frames that carry it."""

    sentence: str
    frames: Tuple[FrameAt, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One thing wrong, or one look-alike recognised."""

    signature: str
    title: str
    verdict: Verdict
    confidence: Confidence
    who: Who
    process: Optional[int]
    thread: Thread
    frames: Tuple[FrameAt, ...] = ()
    """The decisive frames."""
    fork_site: Tuple[FrameAt, ...] = ()
    """The frames that forked: the library's, then the user's own."""
    lock: Optional[Lock] = None
    evidence: Tuple[Evidence, ...] = ()
    remedies: Tuple[str, ...] = ()
    bug: Optional[str] = None
    """CPython's bug that it is, by its id in the table."""


@dataclass(frozen=True)
class Link:
    """One step of the chain of waits: who waits, for what, and where."""

    process: Optional[int]
    thread: Optional[str]
    tid: Optional[int]
    says: str
    """The rest of the sentence that begins with process and thread: `waits for its child 1718 to end (train.py:10)`."""
    waits_for: Optional[int]
    """The pid of the next link; None at the root."""
    gone: bool = False
    """It is no thread of this dump: fork did not copy it."""


@dataclass(frozen=True)
class Remedy:
    """What to do about it."""

    id: str
    title: str
    detail: str
    code: Optional[str] = None


@dataclass(frozen=True)
class Diagnosis:
    """The answer."""

    verdict: Verdict
    confidence: Confidence
    summary: str
    findings: Tuple[Finding, ...]
    chain: Tuple[Link, ...]
    """From the process that the user asked about to the root."""
    stuck: Tuple[Tuple[Optional[int], Optional[int]], ...]
    """(pid, TID) of each thread that can never go on."""
    remedies: Tuple[Remedy, ...]
    dump: Dump
    decide: Optional[str] = None
    """Where it is open or only likely: the one piece of evidence that would decide, and the command that gets it."""

    def findings_of(self, pid: Optional[int], thread: Thread) -> Tuple[Finding, ...]:
        """The findings about this thread of this process."""
        near = self._of_thread.get((pid, thread.tid, thread.ident, thread.name), ())
        return tuple(finding for finding in near if finding.thread == thread)

    def is_stuck(self, pid: Optional[int], tid: Optional[int]) -> bool:
        """Whether this thread can never go on."""
        return (pid, tid) in self._nodes

    @cached_property
    def _of_thread(self) -> Dict[Tuple[object, ...], List[Finding]]:
        found: Dict[Tuple[object, ...], List[Finding]] = {}
        for finding in self.findings:
            thread = finding.thread
            found.setdefault((finding.process, thread.tid, thread.ident, thread.name), []).append(finding)
        return found

    @cached_property
    def _nodes(self) -> FrozenSet[Tuple[Optional[int], Optional[int]]]:
        return frozenset(self.stuck)


# --- what many have in common ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Threads that have the same stack."""

    stack: Tuple[Frame, ...]
    """Innermost first."""
    role: str
    """What kind of thread it is: `MainThread`, or the name without its numbers."""
    threads: Tuple[Tuple[int, int], ...]
    """Place of the process in `Dump.processes`, and of the thread in its threads."""
    processes: int
    ranks: Optional[str]
    """`0-2,5`; None where no process has a rank."""
    pids: Optional[str]
    odd: bool
    """Less than half as many processes as the largest group of the same role: the odd ones out."""

    @property
    def count(self) -> int:
        """How many threads."""
        return len(self.threads)


@dataclass(frozen=True)
class Branch:
    """Calls that some threads have in common, and how these go on."""

    frames: Tuple[Frame, ...]
    """Outermost first; empty at the root, where the threads have nothing in common."""
    count: int
    """How many threads."""
    processes: int
    ranks: Optional[str]
    """`0-2,5`; None where no process has a rank."""
    branches: Tuple[Branch, ...] = field(default=(), repr=False)
    """The largest first; threads that end here are in none of them."""

    def walk(self) -> Iterator[Tuple[int, Branch]]:
        """Every branch with its depth, this one first, each before its own branches."""
        left: List[Tuple[int, Branch]] = [(0, self)]
        while left:
            depth, branch = left.pop()
            yield depth, branch
            left.extend((depth + 1, one) for one in reversed(branch.branches))


class Moved(Enum):
    """What became of a thread."""

    SAME = "same"
    MOVED = "moved"
    GONE = "gone"
    NEW = "new"


@dataclass(frozen=True)
class Change:
    """One thread in both dumps."""

    moved: Moved
    process: Process
    thread: Thread
    depth: Optional[int] = None
    """How many outermost calls are the same, where it moved."""
    before: Optional[Frame] = None
    """The first call, from the outermost on, that is another; None where the stack ended there."""
    after: Optional[Frame] = None
