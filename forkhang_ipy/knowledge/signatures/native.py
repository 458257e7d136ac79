"""Hangs in native libraries, and those that the evidence alone shows."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.remedies import (
    CONNECT_AFTER_FORK,
    FORK_BEFORE_THREADS,
    KILL_CHILD,
    LIMIT_THREADS,
    OTHER_ALLOCATOR,
    START_METHOD,
    UPGRADE_LIBRARY,
)
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.model import Verdict, WaitKind

LOW_LEVEL_LOCK = Call(r"(__)?(GI_)?_*lll_lock_wait\w*")
IN_WAIT = Call(
    r"((__)?(GI_)?_*(lll_lock_wait\w*|pthread_(mutex_lock|cond_)\w*|futex_\w+|lock|timedwait|sched_yield|psynch_\w+)(@@\S+)?)?"
)
"""Waiting itself; a frame without a name, for C libraries seldom have symbols."""
POOL_THREAD = Call(r"start_thread|gomp_thread_start|_pthread_start|thread_start")
PROVEN_ALONE = (
    frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),
    frozenset({Fact.FORKED, Fact.ALONE, Fact.SPINNING}),
)
OWNER_OR_ALONE = (
    frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),
    frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL}),
)
FORKED_LIKELY = (
    frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}),
    frozenset({Fact.AWAITED, Fact.NO_OTHER_SHOWN}),
)

ATEXIT_LOCK = Signature(
    id="atexit-lock",
    title="glibc's lock of exit functions",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits in __cxa_atexit: glibc does not make that lock new in a forked child.",
    fooled_by="A thread that merely passes through __cxa_atexit, and has left it at the next look.",
    native=(
        (IN_WAIT, Call(r"(__)?(GI_)?_*(internal_atexit|cxa_atexit|new_exitfn)")),
        (Call(r"(__)?(GI_)?_*internal_atexit", file=r"cxa_atexit\.c"),),
    ),
    waits=(WaitKind.LOCK,),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    proof=OWNER_OR_ALONE,
    lock="__exit_funcs_lock",
    holder="a thread that was initialising a C++ static",
    remedies=(FORK_BEFORE_THREADS, START_METHOD, KILL_CHILD),
)
MALLOC_ARENA = Signature(
    id="malloc-arena",
    title="a lock of the memory allocator",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits in malloc: glibc's fork() makes these locks new, a raw clone() does not.",
    fooled_by="A slow malloc under memory pressure, which is busy or in the kernel.",
    waits=(WaitKind.LOCK,),
    native=(
        (
            IN_WAIT,
            Call(
                r"__malloc_fork_lock_parent|arena_get2\w*|_int_malloc|_int_free|(__)?(GI_)?_*(libc_)?(malloc|free|calloc"
                r"|realloc)|tcache_init\w*|sysmalloc"
            ),
        ),
    ),
    never=(Call(r"tc_\w+|tcmalloc.*"),),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    proof=OWNER_OR_ALONE,
    lock="malloc",
    holder="a thread that was allocating memory",
    remedies=(START_METHOD, OTHER_ALLOCATOR, KILL_CHILD),
)
TCMALLOC = Signature(
    id="tcmalloc",
    title="a spin lock of tcmalloc",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It spins or sleeps again and again in tcmalloc's lock, which fork copied held.",
    fooled_by="A spin under load, while other live threads of the process go on.",
    anywhere=((Call(r".*SpinLock(::|_)?.*(SlowLock|Delay|Loop).*|SpinLockDelay"), Call(r".*tcmalloc.*|tc_\w+")),),
    needs=(frozenset({Fact.FORKED}), frozenset({Fact.NO_OTHER_SHOWN, Fact.AWAITED})),
    unless_not=frozenset({Fact.ALONE}),
    still=False,
    lock="tcmalloc",
    holder="a thread that was allocating memory",
    remedies=(OTHER_ALLOCATOR, START_METHOD, KILL_CHILD),
)
OPENMP_GOMP = Signature(
    id="openmp-gomp",
    title="the threads of GNU OpenMP's pool",
    verdict=Verdict.FORK_DEADLOCK,
    shows="Its innermost frames belong to libgomp: it is the master of a team whose other threads fork did not copy.",
    fooled_by="A parked pool thread, which stands directly above start_thread; a team whose threads are alive.",
    native=((Call(module=r"libgomp[^/]*\.so"),), (Call(r"gomp_team_\w+|GOMP_parallel\w*|gomp_\w*barrier\w*"),)),
    never=(POOL_THREAD,),
    needs=FORKED_LIKELY,
    proof=PROVEN_ALONE,
    remedies=(START_METHOD, LIMIT_THREADS, FORK_BEFORE_THREADS, KILL_CHILD),
)
OPENMP_LIBIOMP = Signature(
    id="openmp-libiomp",
    title="a lock of the LLVM or Intel OpenMP runtime",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for a lock inside the OpenMP runtime, often at torch.set_num_threads, the first line of a worker.",
    fooled_by="__kmp_launch_worker and __kmp_suspend in pool threads: these are idle.",
    native=(
        (
            IN_WAIT,
            Call(
                r"__kmp_(lock_suspend_mx|free_thread|set_num_threads|fork_call|suspend_\w+|resume_\w+|join_\w+|acquire_\w+"
                r"|\w*barrier\w*|wait_\w+)"
            ),
        ),
    ),
    never=(Call(r"__kmp_launch_(worker|thread|monitor)"), POOL_THREAD),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    proof=OWNER_OR_ALONE,
    lock="OpenMP",
    remedies=(LIMIT_THREADS, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)
OPENBLAS = Signature(
    id="openblas",
    title="OpenBLAS's server lock",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for a lock in OpenBLAS's start or stop of its threads, which a fork left half done.",
    fooled_by="blas_thread_server in a condition wait, an idle pool thread; exec_blas_async_wait with live servers.",
    waits=(WaitKind.LOCK,),
    native=((Call(r"exec_blas_async|blas_thread_init|blas_thread_shutdown\w*|blas_memory_alloc"),),),
    never=(Call(r"blas_thread_server"),),
    unless=frozenset({Fact.SEVERAL_LOCKED}),
    proof=OWNER_OR_ALONE,
    lock="OpenBLAS",
    remedies=(UPGRADE_LIBRARY, LIMIT_THREADS, START_METHOD, KILL_CHILD),
)
POLARS_RAYON = Signature(
    id="polars-rayon",
    title="the threads of a Rust pool (rayon, tokio)",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It handed work to a pool and waits for it: the pool's threads are the parent's, and fork did not copy them.",
    fooled_by="The same frames with the pool's threads alive, or in a worker that was started anew.",
    native=((Call(r".*polars_stream.*"),),),
    anywhere=((Call(r".*LockLatch.*wait_and_reset.*|.*in_worker_cold.*|.*tokio.*park.*"),),),
    python=((Call(r"(.*\.)?(collect\w*|sink_\w+)", r"(^|/)polars/"),),),
    no_thread_named=r"^(polars-\d|tokio-rt|async-executor|rayon)",
    needs=(frozenset({Fact.FORKED}), frozenset({Fact.AWAITED, Fact.NO_OTHER_SHOWN})),
    unless_not=frozenset({Fact.ALONE}),
    proof=PROVEN_ALONE,
    remedies=(START_METHOD, FORK_BEFORE_THREADS, KILL_CHILD),
)
GRPC_HANDLER = r".*ForkHandler.*|.*_postfork_child|.*_prefork.*"
GRPC_FORK_HANDLER = Signature(
    id="grpc",
    title="gRPC's own threads, which its handler of fork() waits for",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in gRPC's handler of fork().",
    fooled_by="Live pollers of gRPC in epoll_wait, which are idle.",
    anywhere=(
        (Call(r"grpc_(prefork|postfork\w*)(\(\))?"),),
        (Call(GRPC_HANDLER, module=r"grpc|raylet"),),
        (Call(GRPC_HANDLER, file=r"(^|/)grpc/|cygrpc"),),
    ),
    needs=(frozenset(),),
    remedies=(CONNECT_AFTER_FORK, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
    still=False,
)
GRPC_LOCK = Signature(
    id="grpc",
    title="a lock of gRPC or Abseil",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits in the slow path of one of Abseil's locks, or in gRPC's completion queue without its threads.",
    fooled_by="absl::Mutex::Await, a condition wait that is normal while a device computes.",
    anywhere=(
        (Call(r".*absl::.*Mutex::LockSlow\w*.*|AbslInternalSpinLockDelay\w*|.*absl::.*SpinLock::SlowLock.*"),),
        (Call(r"grpc_completion_queue_\w+|cq_(pluck|next).*|.*_completion_queue.*|.*grpc\S*_next.*"),),
    ),
    never=(Call(r".*Mutex::Await.*"), POOL_THREAD),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=OWNER_OR_ALONE,
    still=False,
    remedies=(CONNECT_AFTER_FORK, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)
GRPC_WITHOUT_THREADS = Signature(
    id="grpc",
    title="gRPC's own threads, which only its parent has",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It is in a call of gRPC, which it asks again and again, and has none of gRPC's threads that would answer.",
    fooled_by="The same call in a process that has gRPC's threads: a slow server.",
    python=((Call(None, r"(^|/)grpc/_\w+\.py"),),),
    no_thread_named=r"^(event_engine|grpc_|default-execut|resolver-execut)",
    needs=(frozenset({Fact.FORKED, Fact.ALONE}),),
    still=False,
    remedies=(CONNECT_AFTER_FORK, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)
LIBPQ = Signature(
    id="libpq-openssl-callback",
    title="a lock of libpq's callbacks for OpenSSL",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits in pq_lockingcallback: an old OpenSSL asks libpq for its locks.",
    fooled_by="psycopg2's own mutex of each connection; a callback mismatch in one process, whose owner is alive.",
    native=((Call(r"pq_lockingcallback"),),),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    proof=OWNER_OR_ALONE,
    lock="OpenSSL",
    remedies=(UPGRADE_LIBRARY, CONNECT_AFTER_FORK),
)
GETADDRINFO = Signature(
    id="getaddrinfo",
    title="a lock of the C library's name resolution",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for a lock inside getaddrinfo.",
    fooled_by="poll, recvfrom or connect under getaddrinfo: a slow name server.",
    waits=(WaitKind.LOCK,),
    anywhere=((LOW_LEVEL_LOCK, Call(r"__nss_\w+|__check_pf|__res_\w+|.*getaddrinfo.*")),),
    python=((Call(r"(.*\.)?getaddrinfo", r"socket\.py"),),),
    needs=(frozenset({Fact.FORKED}),),
    proof=OWNER_OR_ALONE,
    lock="resolver",
    remedies=(FORK_BEFORE_THREADS, START_METHOD, KILL_CHILD),
)
RDKAFKA = Signature(
    id="rdkafka",
    title="librdkafka's broker threads",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It flushes or closes a Kafka client whose threads are the parent's; it may wake now and then, in vain.",
    fooled_by="The same call with librdkafka's threads alive: a slow broker.",
    anywhere=((Call(r"rd_kafka_(flush|destroy\w*|consumer_close|unsubscribe)"),),),
    no_thread_named=r"^rdk:",
    needs=(frozenset({Fact.ALONE}),),
    unless_not=frozenset({Fact.FORKED}),
    still=False,
    remedies=(CONNECT_AFTER_FORK, KILL_CHILD),
)
INHERITED_LOCK = Signature(
    id="inherited-lock",
    title="a lock",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for a lock that only threads of its own process could release.",
    fooled_by="A lock whose owner is alive in the same process, or that the thread itself already holds.",
    waits=(WaitKind.LOCK,),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN}), frozenset({Fact.FORKED, Fact.OWNER_GONE})),
    unless=frozenset({Fact.OWNER_IS_ITSELF, Fact.REENTERED}),
    proof=(
        frozenset({Fact.FORKED, Fact.OWNER_GONE, Fact.FOR_EVER, Fact.STILL}),
        frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL, Fact.HELD_IN_PARENT, Fact.SUSPECT_IN_PARENT}),
        frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.SPINNING, Fact.SUSPECT_IN_PARENT}),
    ),
    lock="lock",
    remedies=(FORK_BEFORE_THREADS, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)
LOST_THREADS = Signature(
    id="lost-threads",
    title="a thread that only its parent has",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It waits for another thread of its own process, and there is none.",
    fooled_by="The same wait in a process whose pool threads are alive; a program that parks until a signal comes.",
    waits=(WaitKind.NOTIFICATION, WaitKind.THREAD),
    needs=(frozenset({Fact.FORKED, Fact.NO_OTHER_SHOWN, Fact.FOR_EVER}),),
    proof=(frozenset({Fact.FORKED, Fact.ALONE, Fact.FOR_EVER, Fact.STILL, Fact.PARENT_HAS_MORE}),),
    remedies=(FORK_BEFORE_THREADS, UPGRADE_LIBRARY, START_METHOD, KILL_CHILD),
)

LIBRARIES: Tuple[Signature, ...] = (
    ATEXIT_LOCK,
    TCMALLOC,
    MALLOC_ARENA,
    OPENMP_GOMP,
    OPENMP_LIBIOMP,
    OPENBLAS,
    POLARS_RAYON,
    GRPC_FORK_HANDLER,
    GRPC_LOCK,
    GRPC_WITHOUT_THREADS,
    LIBPQ,
    GETADDRINFO,
    RDKAFKA,
)
BY_EVIDENCE: Tuple[Signature, ...] = (INHERITED_LOCK, LOST_THREADS)
