"""Hangs in CPython's own locks, and where its standard library waits."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.cpython import BUFFEREDIO_CHILD, HEADLOCK_CHILD, MODLOCK_CHILD
from forkhang_ipy.knowledge.remedies import (
    FLUSH_BEFORE_FORK,
    FORK_BEFORE_THREADS,
    IMPORT_BEFORE_FORK,
    KILL_CHILD,
    REINIT_AT_FORK,
    START_METHOD,
    UPGRADE_PYTHON,
)
from forkhang_ipy.knowledge.signatures._base import Call, Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

CPYTHON_HEAD_LOCK = Signature(
    id="cpython-head-lock",
    title="the interpreter's thread-list lock (HEAD_LOCK)",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands between PyOS_AfterFork_Child and _PyThreadState_DeleteExcept: it has not left fork() yet.",
    fooled_by="The same lock under _PyThreadState_DeleteCurrent, with no fork on the stack; a slow fork, which moves on.",
    waits=(WaitKind.LOCK,),
    native=((Call("_PyThreadState_DeleteExcept"), Call("PyOS_AfterFork_Child")),),
    needs=(frozenset({Fact.FORKED}),),
    proof=(frozenset({Fact.FORKED, Fact.FOR_EVER, Fact.STILL}),),
    lock="HEAD_LOCK",
    holder="a native thread that was entering Python",
    bug=HEADLOCK_CHILD,
    remedies=(UPGRADE_PYTHON, START_METHOD, KILL_CHILD),
)
IMPORT_LOCK = Signature(
    id="import-lock",
    title="the lock of a module that was being imported",
    verdict=Verdict.FORK_DEADLOCK,
    shows="Its innermost Python frame is importlib waiting for a module's lock.",
    fooled_by="An import in progress, which stands in _find_and_load but not in acquire; two live threads whose imports "
    "cross.",
    waits=(WaitKind.LOCK,),
    python=((Call(r"(.*\.)?acquire", r"importlib\._bootstrap|importlib/_bootstrap"),),),
    needs=(frozenset({Fact.FORKED, Fact.ALONE}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),),
    lock="import",
    holder="another thread that was importing it",
    bug=MODLOCK_CHILD,
    remedies=(IMPORT_BEFORE_FORK, START_METHOD, KILL_CHILD),
)
STDIO_LOCK = Signature(
    id="stdio-lock",
    title="the lock of a buffered stream (print, a log file)",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in _enter_buffered_busy: another thread was inside a write or flush of the same stream.",
    fooled_by="write() on top: the pipe is full, and the lock is not what it waits for.",
    waits=(WaitKind.LOCK,),
    native=((Call("_enter_buffered_busy"),),),
    needs=(frozenset({Fact.FORKED, Fact.ALONE}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),),
    lock="io.Buffered",
    holder="another thread that was writing",
    bug=BUFFEREDIO_CHILD,
    remedies=(FLUSH_BEFORE_FORK, START_METHOD, KILL_CHILD),
)
PYTHON_THREADING_LOCK = Signature(
    id="python-threading-lock",
    title="a lock of the threading module",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in the acquire of a Python lock.",
    fooled_by="Condition.wait, Thread.join and queue.get, which wait for a thread that is alive; SemLock, which processes "
    "share; two live threads whose locks cross; a lock that the thread itself already holds.",
    waits=(WaitKind.LOCK,),
    native=(
        (
            Call(
                r"lock_PyThread_acquire_lock(\.\w+)*|rlock_acquire(\.\w+)*|lock_acquire|_thread_lock_acquire|.*_acquire_impl"
            ),
        ),
        (Call(r"PyThread_acquire_lock_timed|PyThread_acquire_lock_timed_with_retries|acquire_timed"),),
    ),
    never=(
        Call("_PyThreadState_DeleteExcept"),
        Call("_enter_buffered_busy"),
        Call(r"(.*\.)?acquire", r"importlib\._bootstrap|importlib/_bootstrap"),
    ),
    needs=(frozenset({Fact.FORKED, Fact.ALONE}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=(
        frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL, Fact.HELD_IN_PARENT}),
        frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),
    ),
    lock="threading.Lock",
    remedies=(REINIT_AT_FORK, FORK_BEFORE_THREADS, START_METHOD, KILL_CHILD),
)

SIGNATURES: Tuple[Signature, ...] = (CPYTHON_HEAD_LOCK, IMPORT_LOCK, STDIO_LOCK, PYTHON_THREADING_LOCK)
