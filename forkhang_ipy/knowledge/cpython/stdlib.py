"""Bugs in the standard library's Python code: multiprocessing, concurrent.futures, logging, threading."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.cpython._base import EVERY_BRANCH, Affected, Bug

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
    affected=EVERY_BRANCH,
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

BUGS: Tuple[Bug, ...] = (
    RESTRACKER_LOCK_CHILD,
    RESTRACKER_EXIT_PARENT,
    RESTRACKER_REENTRANT,
    CF_SHUTDOWNLOCK_CHILD,
    PPE_ONDEMAND_FORK,
    PPE_DEADLOCK_105829,
    PPE_CRASH_94777,
    PPE_SHUTDOWN_125451,
    PPE_MAXTASKS,
    SPAWN_FD_118981,
    MP_POOL_FORK_THREAD,
    LOGGING_LOCK,
    THREADING_LOCKS,
)
