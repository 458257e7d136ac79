"""Hangs in the locks of Python's standard library: modules, streams, logging, queues, threading."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.cpython.interpreter import BUFFEREDIO_CHILD, MODLOCK_CHILD
from forkhang_ipy.knowledge.cpython.stdlib import LOGGING_LOCK as LOGGING_BUG
from forkhang_ipy.knowledge.remedies import (
    CONNECT_AFTER_FORK,
    FLUSH_BEFORE_FORK,
    FORK_BEFORE_THREADS,
    IMPORT_BEFORE_FORK,
    KILL_CHILD,
    NO_PREEXEC,
    REINIT_AT_FORK,
    START_METHOD,
    UPGRADE_LIBRARY,
)
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

IMPORTLIB = r"importlib[./]_bootstrap(\.py)?>?$"
LOCK_ACQUIRE = Call(r"(lock_PyThread_acquire_lock|rlock_acquire|lock_acquire|_thread_R?[lL]ock_acquire\w*)(\.\w+)*")
LOGGING_FRAMES = r"logging/__init__\.py|logging/handlers\.py"
FORKED_AND_ALONE = (
    frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}),
    frozenset({Fact.FORKED, Fact.OWNER_GONE}),
    frozenset({Fact.FORKED, Fact.HELD_IN_PARENT, Fact.NO_LIVE_SUSPECT, Fact.STILL}),
)
HELD_ELSEWHERE = (
    frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL, Fact.HELD_IN_PARENT, Fact.SUSPECT_IN_PARENT}),
    frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),
)
"""For a lock that the thread itself could have taken before: somebody else is shown to have it."""
NEVER_ENDS = (
    frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),
    frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),
)

IMPORT_LOCK = Signature(
    id="import-lock",
    title="the lock of a module that was being imported",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in importlib, waiting for the lock of a module.",
    fooled_by="An import in progress, which stands in _find_and_load but not in acquire; two live threads whose imports "
    "cross.",
    python=((Call(r"(.*\.)?acquire", IMPORTLIB),),),
    needs=FORKED_AND_ALONE,
    proof=NEVER_ENDS,
    unless=frozenset({Fact.OWNER_IS_ITSELF}),
    lock="import",
    holder="another thread that was importing it",
    bug=MODLOCK_CHILD,
    remedies=(IMPORT_BEFORE_FORK, START_METHOD, KILL_CHILD),
)
IMPORT_LOCK_NATIVE = Signature(
    id="import-lock",
    title="the interpreter's import lock",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in the interpreter's import machinery, waiting for a lock.",
    fooled_by="A module's own code that takes a lock while it is imported: Python frames stand in between.",
    waits=(WaitKind.LOCK,),
    native=((Call(r"_PyImport_AcquireLock|import_ensure_initialized|PyImport_ImportModuleLevel\w*"),),),
    never=(Call("PyOS_BeforeFork"),),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    lock="import",
    holder="another thread that was importing",
    bug=MODLOCK_CHILD,
    remedies=(IMPORT_BEFORE_FORK, START_METHOD, KILL_CHILD),
)
IMPORT_LOCK_UNDER_IMPORT = replace(
    IMPORT_LOCK_NATIVE,
    shows="It waits for a lock directly under the interpreter's import machinery.",
    native=((LOCK_ACQUIRE, Call(r"import_ensure_initialized|PyImport_ImportModuleLevel\w*")),),
    never=(
        Call(r"_PyEval_EvalFrameDefault|PyEval_EvalFrameEx|_PyEval_EvalFrame|PyEval_EvalCode"),
        Call("PyOS_BeforeFork"),
    ),
)
"""The same where the stack shows no frame of the import system's own Python code."""
STDIO_LOCK = Signature(
    id="stdio-lock",
    title="the lock of a buffered stream (print, a log file)",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in _enter_buffered_busy: another thread was inside a write or flush of the same stream.",
    fooled_by="write() on top: the pipe is full, and the lock is not what it waits for; a stream that a live thread of the "
    "same process uses.",
    native=((Call("_enter_buffered_busy"),),),
    needs=(frozenset(),),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    proof=NEVER_ENDS,
    lock="io.Buffered",
    holder="another thread that was writing",
    bug=BUFFEREDIO_CHILD,
    remedies=(FLUSH_BEFORE_FORK, START_METHOD, KILL_CHILD),
)
STDIO_LOCK_OF_SEVERAL = Signature(
    id="stdio-lock",
    title="the lock of a buffered stream (print, a log file)",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for the lock of a buffered stream, whose owner is no thread of its process.",
    fooled_by="write() on top: the pipe is full, and the lock is not what it waits for.",
    waits=(WaitKind.LOCK,),
    lock_kinds=("io.BufferedWriter", "io.BufferedReader", "io.BufferedRandom"),
    needs=FORKED_AND_ALONE,
    proof=NEVER_ENDS,
    lock="io.Buffered",
    holder="another thread that was writing",
    bug=BUFFEREDIO_CHILD,
    remedies=(FLUSH_BEFORE_FORK, START_METHOD, KILL_CHILD),
)
LOGGING_LOCK = Signature(
    id="logging-lock",
    title="the lock of a logging handler",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in logging, acquiring a handler's lock.",
    fooled_by="logging twice in one stack: a signal handler or a finaliser that logs, with no fork in play.",
    python=(
        (Call(r"(.*\.)?acquire(Lock)?|(.*\.)?_acquireLock", LOGGING_FRAMES),),
        (Call(r"(.*\.)?(acquire|__enter__)", r"threading\.py"), Call(r"(.*\.)?(acquire|handle|emit)", LOGGING_FRAMES)),
    ),
    waits=(WaitKind.LOCK,),
    never=(Call("_enter_buffered_busy"), Call("PyOS_BeforeFork")),
    needs=FORKED_AND_ALONE,
    proof=HELD_ELSEWHERE,
    unless=frozenset({Fact.REENTERED, Fact.OWNER_IS_ITSELF}),
    lock="logging",
    holder="another thread that was logging",
    bug=LOGGING_BUG,
    remedies=(REINIT_AT_FORK, FORK_BEFORE_THREADS, START_METHOD, KILL_CHILD),
)
LOGGING_LOCK_INSIDE = replace(
    LOGGING_LOCK,
    shows="It stands in logging, and waits for a lock there.",
    fooled_by="A handler that writes its line, which one look cannot tell from one that waits.",
    python=(
        (Call(r"(.*\.)?emit"), Call(r"(.*\.)?handle", LOGGING_FRAMES)),
        (Call(r"(.*\.)?(handle|emit|flush)", LOGGING_FRAMES),),
    ),
    needs=tuple(needed | {Fact.STILL} for needed in FORKED_AND_ALONE),
)
QUEUE_FEEDER_LOCK = Signature(
    id="queue-feeder-lock",
    title="a lock that the queue's feeder thread needs",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It is a queue's feeder thread, in a lock that it copied; through it all who share the queue wait.",
    fooled_by="A feeder in write or send, whose pipe is full; one in Condition.wait, which is idle.",
    waits=(WaitKind.LOCK,),
    anywhere=((Call(r"(.*\.)?_feed", r"multiprocessing/queues\.py"),),),
    needs=(*FORKED_AND_ALONE, frozenset({Fact.FORKED, Fact.ALL_LOCKED})),
    unless=frozenset({Fact.OWNER_IS_ITSELF}),
    proof=(frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),),
    lock="lock",
    remedies=(UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)
PYTHON_THREADING_LOCK = Signature(
    id="python-threading-lock",
    title="a lock of the threading module",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in the acquire of a Python lock.",
    fooled_by="Condition.wait, Thread.join and queue.get, which wait for a thread that is alive; SemLock, which processes "
    "share; two live threads whose locks cross; a lock that the thread itself already holds.",
    waits=(WaitKind.LOCK,),
    native=((LOCK_ACQUIRE,), (Call(r"PyThread_acquire_lock_timed(_with_retries)?|acquire_timed"),)),
    python=((Call(source=r"^with [^:]*lock|[Ll]ock\w*\.acquire\("),),),
    never=(
        Call("_PyThreadState_DeleteExcept"),
        Call("_enter_buffered_busy"),
        Call("PyOS_BeforeFork"),
        Call(r"(.*\.)?acquire", IMPORTLIB),
    ),
    needs=FORKED_AND_ALONE,
    unless=frozenset({Fact.REENTERED, Fact.OWNER_IS_ITSELF}),
    proof=HELD_ELSEWHERE,
    lock="threading.Lock",
    remedies=(REINIT_AT_FORK, FORK_BEFORE_THREADS, START_METHOD, KILL_CHILD),
)
FORK_EXEC_CHILD = Signature(
    id="fork-exec-child",
    title="what comes between fork and exec",
    verdict=Verdict.INCONCLUSIVE,
    shows="It stands in subprocess, between fork and the start of the program.",
    fooled_by="A subprocess whose program runs; a slow fork of a very big process.",
    python=((Call(r"(.*\.)?_execute_child", r"subprocess\.py"),),),
    native=((Call(r"child_exec|do_fork_exec|subprocess_fork_exec"),),),
    remedies=(NO_PREEXEC, START_METHOD),
)
LOOP_AFTER_FORK = Signature(
    id="loop-or-notifier-after-fork",
    title="a thread that only its parent has",
    verdict=Verdict.INCONCLUSIVE,
    shows="It waits to be notified, and no other thread of its process lives that could.",
    fooled_by="A worker that is parked by design until a signal comes; any idle wait.",
    waits=(WaitKind.NOTIFICATION,),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}),),
    remedies=(CONNECT_AFTER_FORK, START_METHOD),
)

SIGNATURES: Tuple[Signature, ...] = (
    IMPORT_LOCK,
    IMPORT_LOCK_NATIVE,
    IMPORT_LOCK_UNDER_IMPORT,
    STDIO_LOCK,
    STDIO_LOCK_OF_SEVERAL,
    LOGGING_LOCK,
    LOGGING_LOCK_INSIDE,
    QUEUE_FEEDER_LOCK,
    PYTHON_THREADING_LOCK,
)
OPEN: Tuple[Signature, ...] = (FORK_EXEC_CHILD, LOOP_AFTER_FORK)
