"""What looks like a fork deadlock and is none."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.remedies import CHECK_STORAGE, DRAIN_PIPE, FIND_SENDER, LOOK_AT_CHILD, ONE_LOCK_ORDER
from forkhang_ipy.knowledge.signatures._base import Call, Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

QUEUE = r"multiprocessing/(queues|connection|pool)\.py|concurrent/futures/process\.py|billiard/"
ANY_IN_QUEUE = Call(r"(.*\.)?(get|recv|recv_bytes|worker|_process_worker|_worker_loop)", QUEUE)

PIPE_FULL = Signature(
    id="pipe-full",
    title="room in a full pipe, which nobody empties",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It stands in a write: the pipe or socket is full and its reader does not read.",
    fooled_by="A writer that waits for the stream's lock, not in write().",
    waits=(WaitKind.PIPE_WRITE,),
    remedies=(DRAIN_PIPE,),
)
SLOW_IO = Signature(
    id="slow-io",
    title="a device or file system",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="The kernel has it in uninterruptible sleep (D).",
    fooled_by="A short disk access, which the next look no longer shows.",
    waits=(WaitKind.DISK,),
    remedies=(CHECK_STORAGE,),
)
LOCK_ORDER_THREADS = Signature(
    id="lock-order-threads",
    title="a lock that another live thread of the same process holds",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a lock.",
    fooled_by="One thread alone that waits for a lock: there is nobody to cross with.",
    waits=(WaitKind.LOCK,),
    needs=(frozenset({Fact.STARTED_ANEW, Fact.FOR_EVER, Fact.SEVERAL_LOCKED}),),
    proof=(frozenset({Fact.STARTED_ANEW, Fact.FOR_EVER, Fact.SEVERAL_LOCKED, Fact.STILL}),),
    remedies=(ONE_LOCK_ORDER,),
)
NORMAL_IDLE_WORKER = Signature(
    id="normal-idle-worker",
    title="work",
    verdict=Verdict.NOT_HUNG,
    shows="It stands where an idle worker waits for its next task.",
    fooled_by="A worker in a lock of its own process; all workers in the shared semaphore and none reading.",
    waits=(WaitKind.PIPE_READ, WaitKind.SEMAPHORE, WaitKind.POLL),
    python=(
        (Call(r"(.*\.)?(_recv|read)"), ANY_IN_QUEUE),
        (Call(r"(.*\.)?(__enter__|acquire)", r"multiprocessing/synchronize\.py"), ANY_IN_QUEUE),
        (Call(r"(.*\.)?(get|recv|select|poll|wait|_poll)", r"multiprocessing/|selectors\.py"), ANY_IN_QUEUE),
        (Call(r"(.*\.)?get", QUEUE),),
    ),
    remedies=(FIND_SENDER,),
)
PARENT_WAITS_CHILD = Signature(
    id="parent-waits-child",
    title="its child",
    verdict=Verdict.INCONCLUSIVE,
    shows="It waits for a child to end: that is what a healthy parent does.",
    fooled_by="_launch in popen_fork.py, which marks a forked child, not a waiting parent.",
    waits=(WaitKind.CHILD,),
    remedies=(LOOK_AT_CHILD,),
)

SIGNATURES: Tuple[Signature, ...] = (
    PIPE_FULL,
    SLOW_IO,
    LOCK_ORDER_THREADS,
    NORMAL_IDLE_WORKER,
    PARENT_WAITS_CHILD,
)
