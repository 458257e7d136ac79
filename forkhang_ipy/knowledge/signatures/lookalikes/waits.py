"""Told by what it waits for: a dead holder, a full pipe, a device, another live thread, or the next task."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.remedies import (
    CHECK_EXIT,
    CHECK_STORAGE,
    DRAIN_PIPE,
    EXIT_CHILD,
    FIND_SENDER,
    LOOK_AT_CHILD,
    ONE_LOCK_ORDER,
    RESTART_POOL,
    WAIT_AND_SEE,
)
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.knowledge.workers import MULTIPROCESSING
from forkhang_ipy.model import Verdict, WaitKind

QUEUE = (
    MULTIPROCESSING + r"(queues|connection|pool)\.py|concurrent/futures/process\.py|torch/utils/data/_utils/worker\.py"
)
IN_QUEUE = Call(r"(.*\.)?(get|recv|recv_bytes|worker|workloop|_process_worker|_worker_loop)", QUEUE)

SEMLOCK_HOLDER_DEAD = Signature(
    id="semlock-holder-dead",
    title="a semaphore of its queue, whose holder is dead",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a semaphore that processes share, and one of those processes is dead.",
    fooled_by="An idle pool: one worker reads while it holds the semaphore, the others queue for it.",
    waits=(WaitKind.SEMAPHORE,),
    needs=(
        frozenset({Fact.HOLDER_DEAD}),
        frozenset({Fact.DEAD_SIBLING, Fact.NOBODY_READS}),
        frozenset({Fact.DEAD_CHILD, Fact.NOBODY_READS}),
    ),
    unless_not=frozenset({Fact.HOLDER_DEAD}),
    proof=(frozenset({Fact.HOLDER_DEAD, Fact.STILL}),),
    remedies=(RESTART_POOL, CHECK_EXIT),
)
PARENT_WAITS_DEAD_CHILD = Signature(
    id="parent-waits-dead-child",
    title="the result of a child that is dead",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a child or its result, and a child of it is dead and not collected.",
    fooled_by="A parent whose dead child is only not collected yet, while the others work.",
    waits=(WaitKind.CHILD, WaitKind.NOTIFICATION, WaitKind.PIPE_READ, WaitKind.POLL, WaitKind.LOCK, WaitKind.SEMAPHORE),
    needs=(frozenset({Fact.DEAD_CHILD}),),
    remedies=(CHECK_EXIT, RESTART_POOL),
)
PIPE_FULL = Signature(
    id="pipe-full",
    title="room in a full pipe, which nobody empties",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It stands in a write: the pipe or socket is full and its reader does not read.",
    fooled_by="A writer that waits for the stream's lock, not in write().",
    waits=(WaitKind.PIPE_WRITE,),
    proof=(frozenset({Fact.FOR_EVER, Fact.STILL}),),
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
SLOW_COMPILE = Signature(
    id="slow-compile",
    title="a compiler",
    verdict=Verdict.NOT_HUNG,
    shows="It compiles, or waits for a compiler to end.",
    fooled_by="A file lock that a dead compiler left behind.",
    anywhere=(
        (
            Call(
                r"(.*\.)?(_run_ninja_build|_jit_compile|_write_ninja_file_and_build_library|load_inline)",
                r"cpp_extension",
            ),
        ),
        (Call(r"(.*\.)?(compile|_compile\w*|build)", r"(triton|numba|tvm|inductor)/"),),
    ),
    remedies=(WAIT_AND_SEE,),
)
SLOW_FORK_CHILD = Signature(
    id="slow-fork-child",
    title="the kernel, which copies a big memory after the fork",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It is a fresh child that still moves: it closes files, sets up its session, faults its pages in.",
    fooled_by="A child that stands in the same place at every look.",
    says=(r"<\.\.\. (clone3?|fork|vfork) resumed>",),
    still=False,
    remedies=(WAIT_AND_SEE,),
)
FORKED_KERNEL_LOOP = Signature(
    id="forked-kernel-loop",
    title="nothing: it runs its parent's event loop a second time",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A child of a bare os.fork() runs on in the notebook kernel's event loop, and burns cpu there.",
    fooled_by="The kernel itself, which sleeps in its event loop.",
    anywhere=(
        (
            Call(
                r"(.*\.)?(run_forever|_run_once|start)",
                r"(asyncio/base_events|tornado/platform/asyncio|ipykernel/\w+)\.py",
            ),
            Call(r"(.*\.)?(run_cell|<module>|launch_instance|start)", r"ipykernel|ipython"),
        ),
    ),
    says=(r"poll\(\[\{fd=\d+, events=POLLIN\}.*\], \d+, 0\)\s+= 0 \(Timeout\)",),
    needs=(frozenset({Fact.FORKED}), frozenset({Fact.POLLS_IN_VAIN})),
    still=False,
    remedies=(EXIT_CHILD,),
)
LOCK_ORDER_THREADS = Signature(
    id="lock-order-threads",
    title="a lock that another live thread of the same process holds",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a lock, and so does the other live thread that holds it.",
    fooled_by="One thread alone that waits for a lock: there is nobody to cross with.",
    waits=(WaitKind.LOCK,),
    needs=(
        frozenset({Fact.OWNERS_CROSS}),
        frozenset({Fact.STARTED_ANEW, Fact.FOR_EVER, Fact.SEVERAL_LOCKED}),
        frozenset({Fact.ALL_LOCKED, Fact.SEVERAL_LOCKED}),
    ),
    unless=frozenset({Fact.OWNER_GONE, Fact.FORKED}),
    proof=(
        frozenset({Fact.OWNERS_CROSS, Fact.FOR_EVER, Fact.STILL}),
        frozenset({Fact.STARTED_ANEW, Fact.FOR_EVER, Fact.SEVERAL_LOCKED, Fact.STILL}),
    ),
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
        (Call(r"(.*\.)?(_recv|read|recv|recv_bytes)"), IN_QUEUE),
        (Call(r"(.*\.)?(__enter__|acquire)", MULTIPROCESSING + r"synchronize\.py"), IN_QUEUE),
        (Call(r"(.*\.)?(get|recv|select|poll|wait|_poll)", MULTIPROCESSING + r"|selectors\.py"), IN_QUEUE),
        (Call(r"(.*\.)?get", QUEUE),),
        (Call(r"<built-in method (acquire|recv) of _multiprocessing\..*"), IN_QUEUE),
    ),
    native=((Call(r"_?[bB]illiard_conn\w*|_multiprocessing_SemLock_acquire\w*|conn_recv\w*"),),),
    remedies=(FIND_SENDER,),
)
IDLE_FOR_EVER = replace(
    NORMAL_IDLE_WORKER,
    title="work that nobody will send: all who could wait for it",
    shows="It stands where a worker waits for its next task, and all who could send one wait for it.",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    needs=(frozenset({Fact.FOR_EVER}),),
    proof=(frozenset({Fact.FOR_EVER, Fact.STILL}),),
)
"""Who joins a worker must tell it to end first."""
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
    SEMLOCK_HOLDER_DEAD,
    PARENT_WAITS_DEAD_CHILD,
    PIPE_FULL,
    SLOW_IO,
    SLOW_COMPILE,
    SLOW_FORK_CHILD,
    FORKED_KERNEL_LOOP,
    LOCK_ORDER_THREADS,
    IDLE_FOR_EVER,
    NORMAL_IDLE_WORKER,
    PARENT_WAITS_CHILD,
)
