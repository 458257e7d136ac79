"""Whose worker ended: what is awaited will never come, and no lock is in play."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.remedies import CHECK_EXIT, IMPORTABLE_FUNCTION, RESTART_POOL
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.knowledge.workers import MULTIPROCESSING
from forkhang_ipy.model import Verdict, WaitKind

SPAWN_UNPICKLABLE = Signature(
    id="spawn-unpicklable",
    title="a worker that can load its function, which none can",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A worker that was started anew could not import what it should run; the pool starts the next one, for ever.",
    fooled_by="An AttributeError in the worker's own code.",
    says=(
        r"Can't get attribute '.*' on <module '__(mp_)?main__'",
        r"An attempt has been made to start a new process before",
    ),
    still=False,
    remedies=(IMPORTABLE_FUNCTION,),
)
ENDLESS_RESPAWN = Signature(
    id="spawn-unpicklable",
    title="a worker that lives: they end as soon as they are started",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="Its workers end and it starts new ones, again and again: none can load what it should run.",
    fooled_by="A pool that replaces each worker after a number of tasks.",
    waits=(WaitKind.NOTIFICATION, WaitKind.LOCK, WaitKind.PIPE_READ, WaitKind.POLL),
    needs=(frozenset({Fact.RESPAWNS, Fact.STILL}),),
    remedies=(IMPORTABLE_FUNCTION,),
)
LOST_JOB = Signature(
    id="oom-killed-worker",
    title="the result of a task that nobody has",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a result of its pool, and every worker of the pool waits for a task: the one that had it is gone.",
    fooled_by="The moment between two tasks, which the next look no longer shows.",
    waits=(WaitKind.NOTIFICATION, WaitKind.LOCK),
    anywhere=(
        (Call(r"(.*\.)?(get|map|starmap|next|result)", MULTIPROCESSING + r"pool\.py|concurrent/futures/_base\.py"),),
    ),
    needs=(frozenset({Fact.WORKERS_IDLE, Fact.STILL}),),
    remedies=(CHECK_EXIT, RESTART_POOL),
)
OOM_KILLED_WORKER = Signature(
    id="oom-killed-worker",
    title="the result of a worker that was killed",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="The system killed a worker for its memory; its result will never come.",
    fooled_by="A worker that is slow, or that hangs in a lock.",
    says=(r"[Oo]ut of memory: Kill", r"oom-kill", r"Memory cgroup out of memory", r"oom_reaper: reaped process"),
    still=False,
    remedies=(CHECK_EXIT, RESTART_POOL),
)

SIGNATURES: Tuple[Signature, ...] = (
    SPAWN_UNPICKLABLE,
    ENDLESS_RESPAWN,
    LOST_JOB,
    OOM_KILLED_WORKER,
)
