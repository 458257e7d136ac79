"""What looks like a fork deadlock and is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

from forkhang_ipy.knowledge.cpython import HEADLOCK_SHUTDOWN
from forkhang_ipy.knowledge.remedies import (
    CHECK_EXIT,
    CHECK_STORAGE,
    COMPARE_RANKS,
    DRAIN_PIPE,
    EXIT_CHILD,
    FIND_SENDER,
    IMPORTABLE_FUNCTION,
    LIMIT_THREADS,
    LOOK_AT_CHILD,
    ONE_LOCK_ORDER,
    RELEASE_GIL,
    RESTART_POOL,
    SAFE_HANDLER,
    SHUT_DOWN_FIRST,
    UPGRADE_LIBRARY,
    UPGRADE_PYTHON,
    WAIT_AND_SEE,
)
from forkhang_ipy.knowledge.signatures._base import Call, Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

MULTIPROCESSING = r"(multiprocessing|multiprocess|billiard)/"
QUEUE = (
    MULTIPROCESSING + r"(queues|connection|pool)\.py|concurrent/futures/process\.py|torch/utils/data/_utils/worker\.py"
)
IN_QUEUE = Call(r"(.*\.)?(get|recv|recv_bytes|worker|workloop|_process_worker|_worker_loop)", QUEUE)
TAKES_GIL = Call(r"take_gil(\.\w+)*|_PyThreadState_Attach|tstate_wait_attach|PyEval_(RestoreThread|AcquireThread)")
NATIVE_LATCH = Call(
    r".*LockLatch.*|.*call_once.*|.*std::(sys|sync).*[Ll]ock.*|.*_PyParkingLot_Park|stop_the_world|.*pthread_mutex_lock"
    r"|_?_?lll_lock_wait"
)
POOL_THREAD = Call(r"start_thread|gomp_thread_start|_pthread_start|thread_start|clone3?")

# --- seen in an exception or a line of log -------------------------------------------------------------------------

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

# --- seen in the stack ---------------------------------------------------------------------------------------------

HEAD_LOCK_SAME_PROCESS = Signature(
    id="head-lock-same-process",
    title="the interpreter's thread-list lock, within one process",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It wants HEAD_LOCK where a thread or the interpreter is taken down: no fork is in play.",
    fooled_by="The same lock between PyOS_AfterFork_Child and _PyThreadState_DeleteExcept.",
    native=(
        (Call(r"_?PyThreadState_DeleteCurrent|local_clear|tstate_delete_common|new_threadstate|PyThreadState_Clear"),),
        (Call(r"sys__current_frames\w*|_PyThread_CurrentFrames"),),
    ),
    never=(Call("PyOS_AfterFork_Child"), Call(r"PyGILState_Ensure")),
    bug=HEADLOCK_SHUTDOWN,
    remedies=(UPGRADE_PYTHON, SHUT_DOWN_FIRST),
)
REENTRANCY_OF_SIGNAL = Signature(
    id="signal-reentrancy",
    title="a lock that the thread itself holds, in code that a signal handler interrupted",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A signal handler calls the very code that it interrupted, and so waits for itself.",
    fooled_by="The same lock in a forked child that entered the code once.",
    waits=(WaitKind.LOCK,),
    anywhere=((Call(r".*[sS]ignal.*|on_?sig.*|(.*\.)?handler|sig_?handler.*|<signal handler called>"), Call(None)),),
    needs=(frozenset({Fact.REENTERED}), frozenset({Fact.OWNER_IS_ITSELF})),
    unless=frozenset({Fact.OWNER_GONE}),
    remedies=(SAFE_HANDLER,),
)
REENTRANCY_OF_FINALISER = Signature(
    id="gc-reentrancy",
    title="a lock that the thread itself holds, in code that a finaliser interrupted",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A finaliser calls the very code that it interrupted, and so waits for itself.",
    fooled_by="The same lock in a forked child that entered the code once.",
    waits=(WaitKind.LOCK,),
    anywhere=((Call(r"(.*\.)?(__del__|weakref_cb|_callback|gc_collect\w*|_run_finalizers)"), Call(None)),),
    needs=(frozenset({Fact.REENTERED}), frozenset({Fact.OWNER_IS_ITSELF})),
    unless=frozenset({Fact.OWNER_GONE}),
    remedies=(SAFE_HANDLER,),
)
EXECUTOR_GC_DEADLOCK = Signature(
    id="executor-gc-deadlock",
    title="the shutdown lock of an executor, in a finaliser",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="A weak reference's callback of concurrent.futures runs in the middle of the executor's own code.",
    fooled_by="An executor that only waits for its workers.",
    anywhere=((Call(r"(.*\.)?weakref_cb", r"concurrent/futures/"),),),
    remedies=(UPGRADE_PYTHON, SHUT_DOWN_FIRST),
)
OPENMP_IDLE_THREADS = Signature(
    id="openmp-idle-threads",
    title="the next parallel region",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It is a parked thread of GNU OpenMP's pool: libgomp stands directly above the start of the thread.",
    fooled_by="The master of a team, which has user code below libgomp.",
    native=((Call(module=r"libgomp[^/]*\.so"), POOL_THREAD), (Call(r"gomp_\w+"), POOL_THREAD)),
    never=(Call(r"GOMP_parallel\w*"),),
    remedies=(FIND_SENDER,),
)
OPENMP_RUNTIME_STALL = Signature(
    id="openmp-runtime-stall",
    title="the team of an OpenMP runtime",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It stands in the OpenMP runtime of a process that was started anew: fork is not in play.",
    fooled_by="The same frames in a forked child with one thread.",
    native=((Call(module=r"libgomp[^/]*\.so"),), (Call(r"gomp_\w+|GOMP_\w+|__kmp_\w+"),)),
    never=(POOL_THREAD, Call(r"__kmp_launch_\w+")),
    unless=frozenset({Fact.FORKED}),
    needs=(frozenset({Fact.STARTED_ANEW}),),
    remedies=(LIMIT_THREADS, UPGRADE_LIBRARY),
)
OPENBLAS_THREAD_RACE = Signature(
    id="openblas-thread-race",
    title="the threads of OpenBLAS, which race",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It spins in OpenBLAS while the library's threads are alive: a race within one process.",
    fooled_by="A lock wait under blas_thread_init in a forked child.",
    anywhere=(
        (Call(r"exec_blas_async_wait"),),
        (Call(r"[sdcz]\w+_[LRU][NTU][LNU][NU]?\w*|.*_kernel_\w+"), Call("blas_thread_server")),
    ),
    beside=((Call("blas_thread_server"),), (Call(r"exec_blas_async_wait|exec_blas"),)),
    still=False,
    remedies=(UPGRADE_LIBRARY, LIMIT_THREADS),
)
NCCL_COLLECTIVE = Signature(
    id="nccl-collective",
    title="the other ranks, in a collective",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It stands in a collective or in the synchronisation of a device: it waits for other ranks.",
    fooled_by="A lock of its own process; a data loader that never delivers.",
    anywhere=(
        (
            Call(
                r"(p?nccl|hccl|Hccl)(All|Reduce|Broadcast|Send|Recv|Group|Comm|Batch)\w*|.*ProcessGroup(NCCL|HCCL|Gloo).*"
            ),
        ),
        (Call(module=r"lib(nccl|hccl)[^/]*\.so"),),
        (Call(r"(.*\.)?(all_reduce|all_gather\w*|reduce_scatter\w*|barrier|broadcast|all_to_all\w*)", r"distributed"),),
        (Call(r"(.*\.)?synchronize", r"(cuda|npu)/"),),
        (Call(r"(.*\.)?_value", r"jax/_src/array\.py"),),
        (Call(r"(.*\.)?(dequeue|acquire_read|recv)", r"shm_broadcast\.py"),),
    ),
    never=(POOL_THREAD,),
    remedies=(COMPARE_RANKS,),
)
DEVICE_WAIT = Signature(
    id="device-wait",
    title="the work of a device",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a condition, not for a lock, while a device computes.",
    fooled_by="absl's Mutex::LockSlowLoop, which is a lock.",
    anywhere=(
        (Call(r".*Mutex::Await.*|.*Notification::WaitForNotification.*|.*BlockUntilReady.*|.*AwaitReady.*"),),
        (Call(r"cu(da)?(Stream|Device|Event|Ctx)Synchronize\w*|aclrtSynchronize\w*|.*SynchronizeStream.*"),),
    ),
    never=(POOL_THREAD,),
    remedies=(WAIT_AND_SEE, COMPARE_RANKS),
)
EXIT_TEARDOWN = Signature(
    id="exit-teardown",
    title="threads that cannot end any more, at the end of the interpreter",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It stands where a program or a library is taken down, and waits for threads that need the interpreter.",
    fooled_by="A flush at exit that waits for a stream's lock in a forked child.",
    anywhere=(
        (Call(r".*ThreadPool::(Shutdown|~ThreadPool).*|.*ThreadPool::.*[Jj]oin.*"),),
        (
            Call(r".*(std::thread::join|pthread_join|_pthread_join|Wait|wait).*"),
            Call(r"Py_Finalize\w*|Py_RunMain|__run_exit_handlers|exit|__cxa_finalize"),
        ),
    ),
    never=(
        Call("_enter_buffered_busy"),
        Call(r".*_acquire_lock.*"),
        Call(r"(.*\.)?_launch", r"popen_fork"),
        Call(r"_PyEval_EvalFrameDefault"),
    ),
    remedies=(SHUT_DOWN_FIRST, UPGRADE_LIBRARY),
)
NATIVE_THREAD_JOIN = Signature(
    id="native-thread-join",
    title="a native thread to end",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It joins a native thread of its own process that is alive.",
    fooled_by="A join in a forked child, whose thread fork did not copy.",
    native=((Call(r".*(std::thread::join|pthread_(clock|timed)?join\w*|rd_kafka_destroy\w*).*"),),),
    unless=frozenset({Fact.FORKED, Fact.ALONE}),
    remedies=(UPGRADE_LIBRARY, SHUT_DOWN_FIRST),
)
NATIVE_THREADPOOL_CONTENTION = Signature(
    id="native-threadpool-contention",
    title="the threads of a native pool",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a native pool in a process that was started anew: fork is not in play.",
    fooled_by="The same frames in a forked child, which has no pool.",
    native=((Call(r".*LockLatch.*wait_and_reset.*"),), (Call(r".*in_worker_cold.*"),), (Call(r".*tokio.*park.*"),)),
    needs=(frozenset({Fact.STARTED_ANEW}),),
    remedies=(UPGRADE_LIBRARY, LIMIT_THREADS),
)
NATIVE_ASYNC_STALL = Signature(
    id="native-async-stall",
    title="work of a native pool, whose threads are all parked",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for a native pool whose threads are alive and idle: the library lost the work, not fork.",
    fooled_by="The same frames in a forked child, which has no pool.",
    native=((Call(r".*tokio.*park.*"),), (Call(r".*LockLatch.*wait_and_reset.*"),), (Call(r".*in_worker_cold.*"),)),
    beside=((Call(r".*(wait_until_cold|Sleep::sleep|WorkerThread|thread_start).*"),),),
    remedies=(UPGRADE_LIBRARY,),
)
NATIVE_THREADS_IDLE = Signature(
    id="native-threads-idle",
    title="the next task of a native pool",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It is an idle thread of a native library, or waits beside idle threads that are alive.",
    fooled_by="A main thread that waits for pool threads which fork did not copy.",
    native=(
        (
            Call(
                r"blas_thread_server|.*wait_until_cold.*|.*Sleep::sleep.*|.*worker_thread.*|.*cupti.*|.*ThreadPool.*[Ww]ork.*"
            ),
        ),
    ),
    never=(Call(r"PyThread_acquire_lock\w*"),),
    unless=frozenset({Fact.ALONE}),
    remedies=(UPGRADE_LIBRARY,),
)
GIL_NATIVE_DEADLOCK = Signature(
    id="gil-native-deadlock",
    title="the GIL, which a live thread holds while it waits for a native lock",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="One live thread waits for the GIL, and another holds it and waits for a native lock.",
    fooled_by="The same frames in a forked child with one thread.",
    anywhere=((TAKES_GIL,), (NATIVE_LATCH,)),
    beside=((TAKES_GIL,), (NATIVE_LATCH,)),
    unless=frozenset({Fact.ALONE, Fact.FORKED}),
    needs=(frozenset({Fact.GIL_AND_NATIVE}),),
    remedies=(RELEASE_GIL, UPGRADE_LIBRARY),
)

WORLD_STOPPED = Signature(
    id="gil-native-deadlock",
    title="the interpreter to go on, which another live thread has stopped",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits to be let into an interpreter without GIL, which another thread stopped for all.",
    fooled_by="A forked child: fork lets the interpreter go on.",
    native=((Call(r"tstate_wait_attach"),),),
    unless=frozenset({Fact.ALONE, Fact.FORKED}),
    remedies=(RELEASE_GIL, UPGRADE_LIBRARY),
)
SEVERAL_IN_NATIVE_LATCH = Signature(
    id="gil-native-deadlock",
    title="a native lock, as other live threads of the process do: one of them has what the others want",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="Several live threads that came from Python wait in the same native lock.",
    fooled_by="The same frames in a forked child with one thread.",
    native=((Call(r".*LockLatch.*|.*in_worker_cold.*|.*call_once.*"),),),
    beside=((Call(r".*LockLatch.*|.*in_worker_cold.*|.*call_once.*"),), (TAKES_GIL,)),
    unless=frozenset({Fact.ALONE, Fact.FORKED}),
    remedies=(RELEASE_GIL, UPGRADE_LIBRARY),
)
FAULTHANDLER_RACE = Signature(
    id="gil-native-deadlock",
    title="faulthandler's thread, which is alive and prints",
    verdict=Verdict.NOT_FORK_DEADLOCK,
    shows="It waits for faulthandler's watchdog to end, and that thread is alive in the same process.",
    fooled_by="The same wait in a forked child, which has no watchdog.",
    native=((Call(r"cancel_dump_traceback_later"),),),
    beside=((Call(r"faulthandler_thread|_Py_DumpTracebackThreads"),),),
    remedies=(UPGRADE_PYTHON, SAFE_HANDLER),
)

# --- seen in the wait ----------------------------------------------------------------------------------------------

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
    SPAWN_UNPICKLABLE,
    ENDLESS_RESPAWN,
    LOST_JOB,
    OOM_KILLED_WORKER,
    HEAD_LOCK_SAME_PROCESS,
    EXECUTOR_GC_DEADLOCK,
    REENTRANCY_OF_SIGNAL,
    REENTRANCY_OF_FINALISER,
    OPENMP_IDLE_THREADS,
    OPENMP_RUNTIME_STALL,
    OPENBLAS_THREAD_RACE,
    NATIVE_THREADPOOL_CONTENTION,
    NATIVE_ASYNC_STALL,
    WORLD_STOPPED,
    SEVERAL_IN_NATIVE_LATCH,
    FAULTHANDLER_RACE,
    GIL_NATIVE_DEADLOCK,
    NCCL_COLLECTIVE,
    DEVICE_WAIT,
    EXIT_TEARDOWN,
    NATIVE_THREADS_IDLE,
    NATIVE_THREAD_JOIN,
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
