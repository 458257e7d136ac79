"""Hangs in the locks of the interpreter itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.cpython.interpreter import (
    FAULTHANDLER_CHILD,
    FORK_BEFORE_HOOK_PARENT,
    HASHLIB_OBJ_CHILD,
    HEADLOCK_CHILD,
)
from forkhang_ipy.knowledge.remedies import (
    FORK_BEFORE_THREADS,
    KILL_CHILD,
    NO_PREEXEC,
    NO_TIMER,
    START_METHOD,
    UPGRADE_LIBRARY,
    UPGRADE_PYTHON,
)
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

CPYTHON_HEAD_LOCK = Signature(
    id="cpython-head-lock",
    title="the interpreter's thread-list lock (HEAD_LOCK)",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands between PyOS_AfterFork_Child and _PyThreadState_DeleteExcept: it has not left fork() yet.",
    fooled_by="The same lock under _PyThreadState_DeleteCurrent, with no fork on the stack; a slow fork, which moves on.",
    waits=(WaitKind.LOCK,),
    native=((Call("_PyThreadState_DeleteExcept"), Call("PyOS_AfterFork_Child|PyOS_AfterFork")),),
    needs=(frozenset({Fact.FORKED}),),
    proof=(frozenset({Fact.FORKED, Fact.FOR_EVER, Fact.STILL}),),
    lock="HEAD_LOCK",
    inherited=False,  # the place in fork() says all: only another thread can have had it
    holder="a native thread that was entering Python",
    bug=HEADLOCK_CHILD,
    remedies=(UPGRADE_PYTHON, START_METHOD, NO_PREEXEC, KILL_CHILD),
)
GIL_AFTER_FORK = Signature(
    id="gil-after-fork",
    title="the GIL, which another thread had",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It gave up the GIL and waits for another thread to take it, or waits for one to give it up: there is none.",
    fooled_by="take_gil in one thread while another live thread holds the GIL and waits for a native lock.",
    native=((Call(r"drop_gil(\.\w+)*"),),),
    needs=(frozenset(),),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.STILL}),),
    lock="GIL",
    inherited=False,
    remedies=(START_METHOD, UPGRADE_LIBRARY, KILL_CHILD),
)
GIL_TAKEN_AFTER_FORK = Signature(
    id="gil-after-fork",
    title="the GIL, which another thread had",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for the GIL, and no other thread of its process lives that could give it up.",
    fooled_by="take_gil in one thread while another live thread holds the GIL and waits for a native lock.",
    native=((Call(r"take_gil(\.\w+)*|_PyThreadState_Attach"),),),
    never=(Call("tstate_wait_attach"),),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}),),
    lock="GIL",
    inherited=False,
    remedies=(START_METHOD, UPGRADE_LIBRARY, KILL_CHILD),
)
FORK_HOOK_PARENT = Signature(
    id="python-threading-lock",
    title="a lock that a hook of fork() wants before the fork",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in PyOS_BeforeFork: the parent itself hangs in fork(), before there is a child.",
    fooled_by="A hook that only waits a moment for the lock, which the next look no longer shows.",
    anywhere=((Call("PyOS_BeforeFork"),),),
    waits=(WaitKind.LOCK, WaitKind.NOTIFICATION),
    unless_not=frozenset({Fact.FOR_EVER}),
    proof=(frozenset({Fact.FOR_EVER, Fact.STILL}),),
    lock="lock",
    inherited=False,
    bug=FORK_BEFORE_HOOK_PARENT,
    remedies=(FORK_BEFORE_THREADS, START_METHOD),
)
LOGGING_HOOK_PARENT = replace(
    FORK_HOOK_PARENT,
    shows="It stands in logging's own hook of fork(): the parent itself hangs, before there is a child.",
    fooled_by="A child that logs: its own code stands between the hook's lock and the call of fork.",
    anywhere=(
        (
            Call(r"(.*\.)?_prepareFork|(.*\.)?_acquireLock", r"logging/__init__\.py"),
            Call(r"(.*\.)?_launch", "popen_fork"),
        ),
    ),
    never=(Call(r"(.*\.)?_bootstrap", r"process\.py"),),
)
HASHLIB_OBJECT = Signature(
    id="python-threading-lock",
    title="the lock of a hashlib object",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in the update of a hashlib object that another thread was updating.",
    fooled_by="Two live threads that share the object: the other one goes on.",
    waits=(WaitKind.LOCK,),
    native=((Call(r"EVP_update|EVP_hash|_hashlib_\w+|locked_EVP_MD_CTX_copy|EVP_copy\w*|EVP_digest\w*"),),),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),),
    lock="hashlib",
    holder="another thread that was updating it",
    bug=HASHLIB_OBJ_CHILD,
    remedies=(FORK_BEFORE_THREADS, START_METHOD, KILL_CHILD),
)
HASHLIB_OBJECT_BY_TYPE = replace(
    HASHLIB_OBJECT,
    shows="The lock that it waits for is that of a hashlib object, which another thread was updating.",
    native=(),
    lock_kinds=("_hashlib.HASH", "_hashlib.HMAC"),
)
"""For interpreters without symbols."""
FAULTHANDLER_TIMER = Signature(
    id="lost-threads",
    title="faulthandler's watchdog thread",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It cancels or arms dump_traceback_later, and so waits for the watchdog thread, which fork did not copy.",
    fooled_by="A watchdog that is just printing a traceback, and ends when that is done.",
    waits=(WaitKind.LOCK,),
    native=((Call(r"cancel_dump_traceback_later|faulthandler_\w*dump_traceback_later\w*|_PyFaulthandler_Fini"),),),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}),),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),),
    bug=FAULTHANDLER_CHILD,
    remedies=(NO_TIMER, START_METHOD, KILL_CHILD),
)

SIGNATURES: Tuple[Signature, ...] = (
    CPYTHON_HEAD_LOCK,
    GIL_AFTER_FORK,
    GIL_TAKEN_AFTER_FORK,
    FAULTHANDLER_TIMER,
    HASHLIB_OBJECT,
    HASHLIB_OBJECT_BY_TYPE,
    FORK_HOOK_PARENT,
    LOGGING_HOOK_PARENT,
)
