"""CPython's own bugs that hang a program at or after fork, and the release that ends each.

Data only. A branch that is missing from `affected` is not affected, unless it stands in `unverified`. `fixed=None` means
that no fix is known in that branch. A vendor's build may carry a fix of its own: a version number alone proves nothing,
the stack does. Collected in autumn 2026 from CPython's sources, release notes and live runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple


@dataclass(frozen=True)
class Affected:
    """A branch's releases from `first` on, up to but without `fixed`."""

    branch: str
    first: str
    fixed: Optional[str]


@dataclass(frozen=True)
class Bug:
    """One bug of CPython."""

    id: str
    reference: str
    """The issue's short name, or what else tells where it is known from."""
    title: str
    affected: Tuple[Affected, ...]
    native: Tuple[Tuple[str, ...], ...]
    """Native functions that show it, innermost first; others may stand between."""
    python: Tuple[Tuple[str, str], ...]
    """Python frames that show it, any of them: file and function. Where it has both, both must be there."""
    workaround: str
    unverified: Tuple[str, ...] = ()
    """Branches for which nobody has checked."""

    def range_with(self, version: str) -> Optional[Affected]:
        """The range of releases that this version (`3.8.18`) falls in, or None if it does not have the bug."""
        number = _numbers(version)
        for affected in self.affected:
            first, end = _numbers(affected.first), _numbers(affected.fixed or f"{affected.branch}.9999")
            if number[:2] == _numbers(affected.branch) and first <= number < end:
                return affected
        return None


def _numbers(version: str) -> Tuple[int, ...]:
    """`3.11.2+` as (3, 11, 2)."""
    parts = []
    for part in version.split(".")[:3]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        parts.append(int(digits or 0))
    return tuple(parts)


HEADLOCK_CHILD = Bug(
    id="headlock-child",
    reference="gh-112275",
    title="Forked child deadlocks on HEAD_LOCK (runtime->interpreters.mutex) before it is re-initialised",
    affected=(
        Affected("3.8", "3.8.0", "3.8.20"),
        Affected("3.9", "3.9.0", "3.9.20"),
        Affected("3.10", "3.10.0", "3.10.15"),
        Affected("3.11", "3.11.0", "3.11.10"),
    ),
    native=(("_PyThreadState_DeleteExcept", "PyOS_AfterFork_Child"),),
    python=(
        ("multiprocessing/popen_fork.py", "_launch"),
        ("subprocess.py", "_execute_child"),
    ),
    workaround="upgrade; or use spawn/forkserver; or make sure no native thread attaches to the interpreter while forking; remove preexec_fn; stop tracemalloc before fork",
)
HEADMUTEX_36 = Bug(
    id="headmutex-36",
    reference="gh-74580",
    title="Forked child deadlocks on pystate.c head_mutex (original 2017 bug)",
    affected=(),
    native=(("PyThread_acquire_lock_timed", "_PyThreadState_DeleteExcept", "PyEval_ReInitThreads", "PyOS_AfterFork"),),
    python=(),
    workaround="n/a",
)
HEADLOCK_SHUTDOWN = Bug(
    id="headlock-shutdown",
    reference="gh-102126",
    title="Deadlock at interpreter shutdown: thread states cleared while HEAD_LOCK is held",
    affected=(
        Affected("3.9", "3.9.0", None),
        Affected("3.11", "3.11.0", "3.11.3"),
    ),
    native=(
        ("PyThread_acquire_lock", "new_threadstate", "PyThreadState_Clear", "interpreter_clear", "Py_FinalizeEx"),
        ("PyThread_acquire_lock", "tstate_delete_common", "PyThreadState_Clear", "interpreter_clear"),
    ),
    python=(),
    workaround="upgrade; os._exit() in the child",
    unverified=("3.8", "3.10"),
)
MODLOCK_CHILD = Bug(
    id="modlock-child",
    reference="gh-155890",
    title="Child deadlocks importing a module that another thread was importing at fork (importlib _ModuleLock)",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(
        ("lock_PyThread_acquire_lock", "PyImport_ImportModuleLevelObject"),
        ("_PySemaphore_Wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "lock_PyThread_acquire_lock"),
    ),
    python=(
        ("<frozen importlib._bootstrap>", "acquire"),
        ("<frozen importlib._bootstrap>", "_lock_unlock_module"),
        ("<frozen importlib._bootstrap>", "__enter__"),
    ),
    workaround="import everything in the main thread before starting threads/forking; spawn/forkserver",
)
BUFFEREDIO_CHILD = Bug(
    id="bufferedio-child",
    reference="gh-84579",
    title="Child deadlocks on a BufferedWriter/BufferedReader lock held by another thread at fork (print/flush/write)",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(
        ("PyThread_acquire_lock_timed", "PyThread_acquire_lock", "_enter_buffered_busy"),
        ("_enter_buffered_busy", "_io_BufferedWriter_write"),
        ("_enter_buffered_busy", "_io__Buffered_flush"),
        ("_enter_buffered_busy", "buffered_flush"),
    ),
    python=(("multiprocessing/util.py", "_flush_std_streams"),),
    workaround="no background prints while forking; per-process log files; spawn/forkserver",
)
FAULTHANDLER_CHILD = Bug(
    id="faulthandler-child",
    reference="gh-151475",
    title="faulthandler.dump_traceback_later() armed in the parent: child hangs on cancel, re-arm or normal exit",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(
        ("PyThread_acquire_lock", "cancel_dump_traceback_later"),
        ("PyThread_acquire_lock", "faulthandler_dump_traceback_later"),
    ),
    python=(),
    workaround="never arm dump_traceback_later in a process that forks; use faulthandler.register(SIGUSR1) instead; in the child do not cancel/re-arm and leave with os._exit()",
)
HASHLIB_OBJ_CHILD = Bug(
    id="hashlib-obj-child",
    reference="no issue known",
    title="Child deadlocks using a hashlib object another thread was updating at fork",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(
        ("PyThread_acquire_lock", "EVP_update"),
        ("_PyMutex_LockTimed", "PyMutex_Lock", "EVP_update"),
    ),
    python=(),
    workaround="do not share hash objects across fork",
)
RESTRACKER_LOCK_CHILD = Bug(
    id="restracker-lock-child",
    reference="gh-96971",
    title="Child deadlocks on multiprocessing.resource_tracker._lock",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", "3.13.14"),
        Affected("3.14", "3.14.0", "3.14.5"),
    ),
    native=(
        ("PyThread_acquire_lock_timed", "acquire_timed", "lock_PyThread_acquire_lock"),
        ("PyThread_acquire_lock_timed", "acquire_timed", "rlock_acquire"),
        ("_PySemaphore_Wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "lock_PyThread_acquire_lock"),
    ),
    python=(
        ("multiprocessing/resource_tracker.py", "ensure_running"),
        ("multiprocessing/resource_tracker.py", "_send"),
        ("multiprocessing/resource_tracker.py", "_ensure_running_and_write"),
    ),
    workaround="create shared resources before starting threads; spawn/forkserver",
)
RESTRACKER_EXIT_PARENT = Bug(
    id="restracker-exit-parent",
    reference="gh-146313",
    title="Parent hangs at exit in ResourceTracker.__del__ -> os.waitpid while an os.fork()ed child keeps the tracker pipe open",
    affected=(
        Affected("3.12", "3.12.10", None),
        Affected("3.13", "3.13.3", "3.13.14"),
        Affected("3.14", "3.14.0", "3.14.5"),
    ),
    native=(
        ("wait4", "os_waitpid"),
        ("__wait4", "os_waitpid_impl"),
    ),
    python=(
        ("multiprocessing/resource_tracker.py", "__del__"),
        ("multiprocessing/resource_tracker.py", "_stop"),
        ("multiprocessing/resource_tracker.py", "_stop_locked"),
    ),
    workaround="close the fd in the child / let the child exit first / os._exit in the parent / upgrade",
)
RESTRACKER_REENTRANT = Bug(
    id="restracker-reentrant",
    reference="gh-109593",
    title="Self-deadlock on a re-entrant call to the resource tracker (GC finaliser)",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", "3.11.6"),
        Affected("3.12", "3.12.0", "3.12.1"),
    ),
    native=(
        ("PyThread_acquire_lock_timed", "acquire_timed", "lock_PyThread_acquire_lock"),
        ("_PySemaphore_Wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "lock_PyThread_acquire_lock"),
    ),
    python=(
        ("multiprocessing/resource_tracker.py", "ensure_running"),
        ("multiprocessing/synchronize.py", "_cleanup"),
    ),
    workaround="upgrade",
)
CF_SHUTDOWNLOCK_CHILD = Bug(
    id="cf-shutdownlock-child",
    reference="gh-89184",
    title="Child hangs at exit on concurrent.futures.thread._global_shutdown_lock",
    affected=(
        Affected("3.9", "3.9.0", "3.9.8"),
        Affected("3.10", "3.10.0", "3.10.1"),
    ),
    native=(
        ("PyThread_acquire_lock_timed", "acquire_timed", "lock_PyThread_acquire_lock"),
        ("_PySemaphore_Wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "lock_PyThread_acquire_lock"),
    ),
    python=(
        ("concurrent/futures/thread.py", "_python_exit"),
        ("concurrent/futures/thread.py", "submit"),
        ("threading.py", "_shutdown"),
    ),
    workaround="upgrade",
)
PPE_ONDEMAND_FORK = Bug(
    id="ppe-ondemand-fork",
    reference="gh-90622",
    title="ProcessPoolExecutor(fork) starts workers on demand after its own threads started",
    affected=(
        Affected("3.9", "3.9.0", "3.9.13"),
        Affected("3.10", "3.10.0", "3.10.5"),
    ),
    native=(),
    python=(
        ("concurrent/futures/process.py", "_adjust_process_count"),
        ("concurrent/futures/process.py", "submit"),
        ("multiprocessing/popen_fork.py", "_launch"),
    ),
    workaround="upgrade; mp_context=get_context('spawn'|'forkserver')",
)
PPE_DEADLOCK_105829 = Bug(
    id="ppe-deadlock-105829",
    reference="gh-105829",
    title="ProcessPoolExecutor parent deadlock: wakeup pipe full",
    affected=(
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", "3.11.6"),
        Affected("3.12", "3.12.0", "3.12.1"),
    ),
    native=(("write", "_Py_write", "os_write"),),
    python=(
        ("concurrent/futures/process.py", "wakeup"),
        ("concurrent/futures/process.py", "submit"),
        ("multiprocessing/connection.py", "_send"),
    ),
    workaround="upgrade; submit less at once",
    unverified=("3.8",),
)
PPE_CRASH_94777 = Bug(
    id="ppe-crash-94777",
    reference="gh-94777",
    title="ProcessPoolExecutor parent hangs when a worker dies while the call queue is being written",
    affected=(
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", "3.11.5"),
        Affected("3.12", "3.12.0", "3.12.1"),
    ),
    native=(("write", "_Py_write", "os_write"),),
    python=(
        ("multiprocessing/queues.py", "_feed"),
        ("concurrent/futures/process.py", "join_executor_internals"),
        ("concurrent/futures/process.py", "terminate_broken"),
    ),
    workaround="upgrade (gh-107219 part: 3.11.6 / 3.12.1)",
)
PPE_SHUTDOWN_125451 = Bug(
    id="ppe-shutdown-125451",
    reference="gh-125451",
    title="ProcessPoolExecutor shutdown deadlock with queue-feeder error",
    affected=(
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", "3.12.8"),
        Affected("3.13", "3.13.0", "3.13.1"),
    ),
    native=(
        ("PyThread_acquire_lock_timed", "acquire_timed", "lock_PyThread_acquire_lock"),
        ("_PySemaphore_Wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "lock_PyThread_acquire_lock"),
    ),
    python=(
        ("concurrent/futures/process.py", "_on_queue_feeder_error"),
        ("multiprocessing/queues.py", "_feed"),
        ("multiprocessing/queues.py", "join_thread"),
    ),
    workaround="upgrade",
    unverified=("3.8",),
)
PPE_MAXTASKS = Bug(
    id="ppe-maxtasks",
    reference="gh-115634",
    title="ProcessPoolExecutor(max_tasks_per_child=N) stops scheduling and hangs",
    affected=(
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", "3.13.15"),
        Affected("3.14", "3.14.0", "3.14.7"),
    ),
    native=(
        ("PyThread_acquire_lock_timed", "acquire_timed", "lock_PyThread_acquire_lock"),
        ("_PySemaphore_Wait", "_PyParkingLot_Park", "_PyMutex_LockTimed", "lock_PyThread_acquire_lock"),
    ),
    python=(
        ("concurrent/futures/_base.py", "result"),
        ("concurrent/futures/process.py", "shutdown"),
        ("concurrent/futures/process.py", "wait_result_broken_or_wakeup"),
    ),
    workaround="max_tasks_per_child=None or 1; upgrade",
)
FORKWARN_PARENT_312 = Bug(
    id="forkwarn-parent-312",
    reference="gh-116522",
    title="3.12 only: the fork-with-threads DeprecationWarning is issued in the parent while the import lock is still held",
    affected=(Affected("3.12", "3.12.0", None),),
    native=(
        ("warn_about_fork_with_threads", "os_fork_impl"),
        ("PyErr_WarnFormat", "warn_about_fork_with_threads"),
    ),
    python=(
        ("warnings.py", "showwarning"),
        ("logging/__init__.py", "_showwarning"),
    ),
    workaround="warnings.filterwarnings('ignore', message='.*multi-threaded.*fork', category=DeprecationWarning); 3.13+",
)
VFORK_GIL = Bug(
    id="vfork-gil",
    reference="gh-104372",
    title="subprocess with vfork() keeps the GIL until the child execs: all other threads stop",
    affected=(
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", "3.11.6"),
    ),
    native=(
        ("vfork", "do_fork_exec", "subprocess_fork_exec"),
        ("__vfork", "do_fork_exec"),
    ),
    python=(("subprocess.py", "_execute_child"),),
    workaround="subprocess._USE_VFORK=False (3.10.5+/3.11); upgrade",
)
SPAWN_FD_118981 = Bug(
    id="spawn-fd-118981",
    reference="gh-118981",
    title="Parent hangs in popen_spawn_posix if the spawned child dies early",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", "3.13.8"),
    ),
    native=(("write", "_Py_write"),),
    python=(("multiprocessing/popen_spawn_posix.py", "_launch"),),
    workaround="upgrade",
    unverified=("3.14",),
)
MP_POOL_FORK_THREAD = Bug(
    id="mp-pool-fork-thread",
    reference="gh-76067",
    title="multiprocessing.Pool re-forks workers from its handler thread",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(("sem_wait", "_multiprocessing_SemLock_acquire"),),
    python=(
        ("multiprocessing/pool.py", "_maintain_pool"),
        ("multiprocessing/pool.py", "_handle_workers"),
        ("multiprocessing/synchronize.py", "__enter__"),
        ("multiprocessing/queues.py", "get"),
    ),
    workaround="get_context('spawn'|'forkserver').Pool; no maxtasksperchild",
)
LOGGING_LOCK = Bug(
    id="logging-lock",
    reference="gh-50970",
    title="logging locks across fork",
    affected=(),
    native=(),
    python=(
        ("logging/__init__.py", "acquire"),
        ("logging/__init__.py", "handle"),
    ),
    workaround="-",
)
THREADING_LOCKS = Bug(
    id="threading-locks",
    reference="no issue known",
    title="threading._active_limbo_lock, _shutdown_locks_lock, Thread._tstate_lock across fork",
    affected=(),
    native=(),
    python=(("threading.py", "_after_fork"),),
    workaround="-",
)
FORK_BEFORE_HOOK_PARENT = Bug(
    id="fork-before-hook-parent",
    reference="no issue known",
    title="Parent blocks inside os.fork(): import lock or a 'before' hook lock is held by another thread",
    affected=(
        Affected("3.8", "3.8.0", None),
        Affected("3.9", "3.9.0", None),
        Affected("3.10", "3.10.0", None),
        Affected("3.11", "3.11.0", None),
        Affected("3.12", "3.12.0", None),
        Affected("3.13", "3.13.0", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(
        ("PyThread_acquire_lock", "_PyImport_AcquireLock", "PyOS_BeforeFork"),
        ("_PyMutex_LockTimed", "PyMutex_Lock", "_PyRecursiveMutex_Lock", "_PyImport_AcquireLock", "PyOS_BeforeFork"),
        ("rlock_acquire", "run_at_forkers", "PyOS_BeforeFork"),
        ("lock_PyThread_acquire_lock", "run_at_forkers", "PyOS_BeforeFork"),
        ("_PyImport_AcquireLock", "os_fork_impl"),
    ),
    python=(
        ("logging/__init__.py", "_acquireLock"),
        ("logging/__init__.py", "_prepareFork"),
    ),
    workaround="find the owner thread; do not fork from signal handlers",
)
TRACEMALLOC_AMPLIFIER = Bug(
    id="tracemalloc-amplifier",
    reference="no issue known",
    title="tracemalloc makes HEADLOCK_CHILD likely; its own tables_lock is not reset at fork",
    affected=(
        Affected("3.8", "3.8.0", "3.8.20"),
        Affected("3.9", "3.9.0", "3.9.20"),
        Affected("3.10", "3.10.0", "3.10.15"),
        Affected("3.11", "3.11.0", "3.11.10"),
    ),
    native=(("_PyThreadState_DeleteExcept", "PyOS_AfterFork_Child"),),
    python=(),
    workaround="no PYTHONTRACEMALLOC in forking processes; upgrade",
)
HANG_THREAD_FINALIZE = Bug(
    id="hang-thread-finalize",
    reference="gh-87135",
    title="Daemon/native threads park forever in PyThread_hang_thread after finalisation starts (intended)",
    affected=(
        Affected("3.13", "3.13.8", None),
        Affected("3.14", "3.14.0", None),
    ),
    native=(("pause", "PyThread_hang_thread"),),
    python=(),
    workaround="join native threads before Py_Finalize",
)
SSL_3136 = Bug(
    id="ssl-3136",
    reference="gh-137583",
    title="ssl.SSLSocket recv/send deadlock between threads (3.13.6 regression)",
    affected=(Affected("3.13", "3.13.6", "3.13.7"),),
    native=(("_PyMutex_LockTimed", "PyMutex_Lock", "_ssl__SSLSocket_write"),),
    python=(
        ("ssl.py", "read"),
        ("ssl.py", "write"),
    ),
    workaround="upgrade",
    unverified=("3.14",),
)

BUGS: Tuple[Bug, ...] = (
    HEADLOCK_CHILD,
    HEADMUTEX_36,
    HEADLOCK_SHUTDOWN,
    MODLOCK_CHILD,
    BUFFEREDIO_CHILD,
    FAULTHANDLER_CHILD,
    HASHLIB_OBJ_CHILD,
    RESTRACKER_LOCK_CHILD,
    RESTRACKER_EXIT_PARENT,
    RESTRACKER_REENTRANT,
    CF_SHUTDOWNLOCK_CHILD,
    PPE_ONDEMAND_FORK,
    PPE_DEADLOCK_105829,
    PPE_CRASH_94777,
    PPE_SHUTDOWN_125451,
    PPE_MAXTASKS,
    FORKWARN_PARENT_312,
    VFORK_GIL,
    SPAWN_FD_118981,
    MP_POOL_FORK_THREAD,
    LOGGING_LOCK,
    THREADING_LOCKS,
    FORK_BEFORE_HOOK_PARENT,
    TRACEMALLOC_AMPLIFIER,
    HANG_THREAD_FINALIZE,
    SSL_3136,
)
