"""Native code of live threads: idle pools, collectives, devices, and the GIL against a native lock."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.remedies import (
    COMPARE_RANKS,
    FIND_SENDER,
    LIMIT_THREADS,
    RELEASE_GIL,
    SAFE_HANDLER,
    SHUT_DOWN_FIRST,
    UPGRADE_LIBRARY,
    UPGRADE_PYTHON,
    WAIT_AND_SEE,
)
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.model import Verdict

TAKES_GIL = Call(r"take_gil(\.\w+)*|_PyThreadState_Attach|tstate_wait_attach|PyEval_(RestoreThread|AcquireThread)")
NATIVE_LATCH = Call(
    r".*LockLatch.*|.*call_once.*|.*std::(sys|sync).*[Ll]ock.*|.*_PyParkingLot_Park|stop_the_world|.*pthread_mutex_lock"
    r"|_?_?lll_lock_wait"
)
POOL_THREAD = Call(r"start_thread|gomp_thread_start|_pthread_start|thread_start|clone3?")

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

SIGNATURES: Tuple[Signature, ...] = (
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
)
