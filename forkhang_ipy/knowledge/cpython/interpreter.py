"""Bugs in the interpreter and its C modules: locks that C code holds while a program forks, forked or ends."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.cpython._base import EVERY_BRANCH, Affected, Bug

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
    affected=EVERY_BRANCH,
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
    affected=EVERY_BRANCH,
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
    affected=EVERY_BRANCH,
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
    affected=EVERY_BRANCH,
    native=(
        ("PyThread_acquire_lock", "EVP_update"),
        ("_PyMutex_LockTimed", "PyMutex_Lock", "EVP_update"),
    ),
    python=(),
    workaround="do not share hash objects across fork",
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
FORK_BEFORE_HOOK_PARENT = Bug(
    id="fork-before-hook-parent",
    reference="no issue known",
    title="Parent blocks inside os.fork(): import lock or a 'before' hook lock is held by another thread",
    affected=EVERY_BRANCH,
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
    FORKWARN_PARENT_312,
    VFORK_GIL,
    FORK_BEFORE_HOOK_PARENT,
    TRACEMALLOC_AMPLIFIER,
    HANG_THREAD_FINALIZE,
    SSL_3136,
)
