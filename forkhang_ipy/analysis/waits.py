"""What each thread waits for: the kernel's word, made precise by the stack; without it, the stack's word alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Optional, Sequence, Tuple

from forkhang_ipy.analysis.frames import innermost_python, matches
from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.model import Dump, Frame, Process, Thread, Told, Wait, WaitKind

Rule = Tuple[Call, WaitKind]

# Waiting on a lock or futex that is really a wait for something else.
NATIVE_MEANING: Tuple[Rule, ...] = (
    (Call(r"(take_gil|drop_gil)(\.\w+)*|PyEval_(RestoreThread|AcquireThread|AcquireLock)"), WaitKind.GIL),
    (Call(r"_multiprocessing_SemLock_acquire\w*"), WaitKind.SEMAPHORE),
    (Call(r"_*(GI_)?_*pthread_(clock|timed)?join\w*"), WaitKind.THREAD),
    (Call(r"_queue_SimpleQueue_get\w*|simplequeue_get"), WaitKind.NOTIFICATION),
    (Call(r"_*(GI_)?_*pthread_cond_(timed|clock)?wait\w*"), WaitKind.NOTIFICATION),
)
PYTHON_MEANING: Tuple[Rule, ...] = (
    (Call(r"<built-in method (acquire|__enter__) of _multiprocessing\.SemLock .*"), WaitKind.SEMAPHORE),
    (Call(r"(.*\.)?(__enter__|acquire)", r"multiprocessing/synchronize\.py"), WaitKind.SEMAPHORE),
    (Call(r"(.*\.)?wait", r"threading\.py"), WaitKind.NOTIFICATION),
    (Call(r"(.*\.)?(_wait_for_tstate_lock|join|_shutdown)", r"threading\.py"), WaitKind.THREAD),
    (Call(r"_worker", r"concurrent/futures/thread\.py"), WaitKind.NOTIFICATION),
    (Call(r"(.*\.)?_handle_tasks", r"multiprocessing/pool\.py"), WaitKind.NOTIFICATION),
)
# Burning cpu, and yet waiting for a lock.
SPINS: Tuple[Rule, ...] = (
    (Call(r"_*pthread_spin_lock"), WaitKind.LOCK),
    (Call(r"take_gil(\.\w+)*"), WaitKind.GIL),
)
# Without the kernel's word.
NATIVE_CALL: Tuple[Rule, ...] = (
    (Call(r"(__)?(GI_)?_*(libc_)?read(_nocancel)?|_*recv(from|msg)?"), WaitKind.PIPE_READ),
    (Call(r"(__)?(GI_)?_*(libc_)?write(_nocancel)?|_*send(to|msg)?"), WaitKind.PIPE_WRITE),
    (Call(r"(__)?(GI_)?_*(wait4|waitpid|waitid)"), WaitKind.CHILD),
    (Call(r"(__)?(GI_)?_*(clock_)?nanosleep(_time64)?"), WaitKind.SLEEP),
    (Call(r"(__)?(GI_)?_*(p?poll|p?select(64)?|epoll_p?wait)"), WaitKind.POLL),
    (Call(r"(__)?(GI_)?_*sched_yield"), WaitKind.ON_CPU),
    (
        Call(r"_*(GI_)?_*(futex_\w+|(new_)?sem_\w+|lll_lock_\w+|pthread_mutex_\w+|do_futex_wait)(\.\w+)*"),
        WaitKind.LOCK,
    ),
    (Call(r"PyThread_acquire_lock(_timed)?|lock_PyThread_acquire_lock|rlock_acquire|_PySemaphore_Wait"), WaitKind.LOCK),
)
PYTHON_CALL: Tuple[Rule, ...] = (
    *PYTHON_MEANING,
    (Call(r"(.*\.)?(poll|wait|join)", r"popen_fork\.py|popen_spawn_posix\.py"), WaitKind.CHILD),
    (Call(r"(.*\.)?(_recv|recv|recv_bytes|_recv_bytes)", r"multiprocessing/connection\.py"), WaitKind.PIPE_READ),
    (Call(r"(.*\.)?(_send|send|send_bytes|_send_bytes)", r"multiprocessing/connection\.py"), WaitKind.PIPE_WRITE),
    (Call(r"(.*\.)?(wait|select|poll)", r"multiprocessing/connection\.py|selectors\.py"), WaitKind.POLL),
    (Call(r"(.*\.)?acquire", r"logging/__init__\.py|importlib\._bootstrap|importlib/_bootstrap"), WaitKind.LOCK),
    (Call(r"(.*\.)?(getaddrinfo|readinto|accept)", r"socket\.py"), WaitKind.POLL),
    (Call(source=r"^(async )?with [^:]*lock|[Ll]ock\w*\.acquire\("), WaitKind.LOCK),
)
NEAR = 8
"""A wait's name stands among this many innermost native frames."""


def with_waits(dump: Dump) -> Dump:
    """The same dump, in which each live thread knows what it waits for, as far as anything tells."""
    return replace(dump, processes=tuple(_told(process) for process in dump.processes))


def _told(process: Process) -> Process:
    return replace(
        process,
        threads=tuple(
            thread if thread.ghost else replace(thread, wait=_wait(thread, process)) for thread in process.threads
        ),
    )


def _wait(thread: Thread, process: Process) -> Optional[Wait]:
    if thread.wait is None:
        kind = _meaning(thread.native[:NEAR], NATIVE_MEANING) or _by_name(thread.native[:NEAR], NATIVE_CALL)
        if kind in (None, WaitKind.LOCK):
            kind = _by_python(thread.python, PYTHON_MEANING if kind else PYTHON_CALL) or kind
        return Wait(kind, Told.STACK) if kind else None
    spins = _meaning(thread.native[:NEAR], SPINS) if thread.wait.kind is WaitKind.ON_CPU else None
    if spins is not None:
        return Wait(spins, Told.STACK, timeout=False)
    if thread.wait.kind is not WaitKind.LOCK:
        return thread.wait
    if thread.wait.told is Told.KERNEL and thread.wait.private is False:
        return _shared(thread.wait, process)
    kind = _meaning(thread.native[:NEAR], NATIVE_MEANING) or _by_python(thread.python, PYTHON_MEANING)
    return replace(thread.wait, kind=kind or WaitKind.LOCK)


def _shared(wait: Wait, process: Process) -> Wait:
    """A futex without the private bit: a word in shared memory, or the TID of a thread that is joined.

    glibc's pthread_join sleeps on the TID word of the thread, without the private bit.
    """
    word = next((memory for memory in process.memory if memory.address == wait.address), None)
    joins = wait.value in (process.tasks or ()) and not (word and word.shared)
    if joins:
        return replace(wait, kind=WaitKind.THREAD, target=wait.value)
    # A robust mutex sleeps without the private bit, wherever it lies.
    return replace(wait, kind=WaitKind.LOCK if word and word.shared is False else WaitKind.SEMAPHORE)


def _by_python(frames: Sequence[Frame], rules: Tuple[Rule, ...]) -> Optional[WaitKind]:
    """What the innermost frame says, or the one that called a built-in function."""
    return _by_name([*frames[:1], *innermost_python(frames)[:1]], rules)


def _meaning(frames: Sequence[Frame], rules: Tuple[Rule, ...]) -> Optional[WaitKind]:
    """What the first rule that fits any of these frames says: who waits for the GIL does so by a condition."""
    return next((kind for call, kind in rules for frame in frames if matches(call, frame)), None)


def _by_name(frames: Sequence[Frame], rules: Tuple[Rule, ...]) -> Optional[WaitKind]:
    return next((kind for frame in frames for call, kind in rules if matches(call, frame)), None)
