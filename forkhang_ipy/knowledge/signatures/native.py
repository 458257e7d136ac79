"""Hangs in native libraries, and those that the evidence alone shows."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.remedies import (
    FORK_BEFORE_THREADS,
    KILL_CHILD,
    LIMIT_THREADS,
    START_METHOD,
    UPGRADE_LIBRARY,
)
from forkhang_ipy.knowledge.signatures._base import Call, Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

OPENMP_GOMP = Signature(
    id="openmp-gomp",
    title="the threads of GNU OpenMP's pool",
    verdict=Verdict.FORK_DEADLOCK,
    shows="Its innermost frames belong to libgomp: it is the master of a team whose other threads fork did not copy.",
    fooled_by="A parked pool thread, which stands directly above start_thread; a team whose threads are alive.",
    waits=(WaitKind.LOCK, WaitKind.NOTIFICATION, WaitKind.ON_CPU),
    native=((Call(module=r"libgomp[^/]*\.so"),), (Call(r"gomp_team_\w+|GOMP_parallel\w*|gomp_\w*barrier\w*"),)),
    never=(Call(r"gomp_thread_start|start_thread"),),
    needs=(frozenset({Fact.FORKED, Fact.ALONE}),),
    proof=(
        frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),
        frozenset({Fact.FORKED, Fact.ALONE, Fact.SPINNING}),
    ),
    remedies=(START_METHOD, LIMIT_THREADS, FORK_BEFORE_THREADS, KILL_CHILD),
)
INHERITED_LOCK = Signature(
    id="inherited-lock",
    title="a lock",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for a lock that only threads of its own process could release.",
    fooled_by="A lock whose owner is alive in the same process, or that the thread itself already holds.",
    waits=(WaitKind.LOCK,),
    needs=(frozenset({Fact.FORKED, Fact.ALONE}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=(
        frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),
        frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL, Fact.HELD_IN_PARENT}),
    ),
    remedies=(FORK_BEFORE_THREADS, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)
LOST_THREADS = Signature(
    id="lost-threads",
    title="a thread that only its parent has",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for another thread of its own process, and there is none.",
    fooled_by="The same wait in a process whose pool threads are alive; a program that parks until a signal comes.",
    waits=(WaitKind.NOTIFICATION, WaitKind.THREAD),
    needs=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER}),),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL, Fact.PARENT_HAS_MORE}),),
    remedies=(FORK_BEFORE_THREADS, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)

LIBRARIES: Tuple[Signature, ...] = (OPENMP_GOMP,)
BY_EVIDENCE: Tuple[Signature, ...] = (INHERITED_LOCK, LOST_THREADS)
