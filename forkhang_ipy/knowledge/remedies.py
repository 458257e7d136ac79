"""What can be done about a hang. Data only; `cure` fills in what depends on the process."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.model import Remedy

UPGRADE_PYTHON = Remedy(
    "upgrade-python",
    "Upgrade Python",
    "A later release of this branch does not have the bug.",
)
START_METHOD = Remedy(
    "start-method",
    "Start workers without fork",
    "A worker that is started clean copies no lock. Put this before the first pool, queue or lock is made. What the "
    "workers run must be importable: a function that was defined in a notebook cell is not, and with it a pool would "
    "start workers for ever; move it to a .py file first.",
)
FORK_BEFORE_THREADS = Remedy(
    "fork-before-threads",
    "Fork before threads start",
    "Start the workers before anything starts threads or takes the lock: before the first import or call of the library "
    "that holds it.",
)
REINIT_AT_FORK = Remedy(
    "reinit-at-fork",
    "Make the lock new in the child",
    "For a lock of your own: replace it in each forked child.",
    "import os\n\nos.register_at_fork(after_in_child=lambda: globals().update(lock=threading.Lock()))",
)
LIMIT_THREADS = Remedy(
    "limit-threads",
    "One thread in the parent",
    "Keep the library's thread pool from starting in the parent, before its first use there.",
    'import os\n\nos.environ["OMP_NUM_THREADS"] = "1"  # before the library is imported',
)
UPGRADE_LIBRARY = Remedy(
    "upgrade-library",
    "Upgrade the library",
    "Later releases of the library that holds the lock may make it new in the child.",
)
FLUSH_BEFORE_FORK = Remedy(
    "flush-before-fork",
    "No output from threads while forking",
    "Let no thread print or log to the same stream while the process forks, or give each process a stream of its own.",
)
IMPORT_BEFORE_FORK = Remedy(
    "import-before-fork",
    "Import before forking",
    "Import the module in the parent, and let the import end, before workers are forked.",
)
KILL_CHILD = Remedy(
    "kill-child",
    "Free the parent now",
    "End the stuck child; the parent then goes on, and sees that the child ended by a signal.",
)
LOOK_AT_CHILD = Remedy(
    "look-at-child",
    "Look at the child",
    "The parent only waits; what holds the child decides.",
)
DRAIN_PIPE = Remedy(
    "drain-pipe",
    "Read before you join",
    "Take everything out of the queue or pipe before you join the process that fills it.",
)
FIND_SENDER = Remedy(
    "find-sender",
    "Look at who should send work",
    "Nothing is wrong with an idle worker: it waits for a task.",
)
ONE_LOCK_ORDER = Remedy(
    "one-lock-order",
    "Take the locks in one order",
    "Let every thread that needs both locks take them in the same order, or use one lock.",
)
CHECK_STORAGE = Remedy(
    "check-storage",
    "Check the storage",
    "The kernel waits for a device or a network file system; no debugger can help until it answers.",
)

NO_PREEXEC = Remedy(
    "no-preexec",
    "Start programs without preexec_fn",
    "subprocess without preexec_fn forks no Python: use start_new_session, process_group, user, umask, cwd instead.",
)
CONNECT_AFTER_FORK = Remedy(
    "connect-after-fork",
    "Create it in the child",
    "Channels, producers, connections and event loops have threads of their own: create them in each worker, after the "
    "fork.",
)
NO_DEVICE_BEFORE_FORK = Remedy(
    "no-device-before-fork",
    "Do not touch the device before forking",
    "A device's context does not survive fork: let the parent make no CUDA or NPU call before the workers start.",
)
RESTART_POOL = Remedy(
    "restart-pool",
    "Restart the pool",
    "A worker died while it held what the others share; nobody can give it back. concurrent.futures notices a dead worker, "
    "multiprocessing.Pool does not.",
)
CHECK_EXIT = Remedy(
    "check-exit",
    "Find out how the worker died",
    "Look for its exit code or signal: `dmesg | grep -i 'killed process'` for the memory, the log for a crash, /dev/shm for "
    "its size.",
)
COMPARE_RANKS = Remedy(
    "compare-ranks",
    "Compare the ranks",
    "A collective waits for every rank: look for the one that is elsewhere.",
)
RELEASE_GIL = Remedy(
    "release-gil",
    "Release the GIL before the native lock",
    "The library must not wait for a lock of its own while it holds the GIL: upgrade it, or do not call it from several "
    "threads.",
)
SAFE_HANDLER = Remedy(
    "safe-handler",
    "No locks in finalisers and signal handlers",
    "They interrupt the very code that holds the lock: only set a flag there, and do the work later.",
)
IMPORTABLE_FUNCTION = Remedy(
    "importable-function",
    "Move the function to a module",
    "A worker that is started anew imports what it runs: a function of a notebook cell or of an unguarded script cannot be "
    "imported. Put it in a .py file, or use loky or cloudpickle.",
)
EXIT_CHILD = Remedy(
    "exit-child",
    "End the child in its own branch",
    "After a bare os.fork() the child must end by os._exit(); otherwise it runs on in the parent's event loop.",
)
SHUT_DOWN_FIRST = Remedy(
    "shut-down-first",
    "Shut thread pools down before the end",
    "Call the library's shutdown, or leave its `with` block, before the interpreter ends.",
)
WAIT_AND_SEE = Remedy(
    "wait-and-see",
    "Look again later",
    "It may only be slow: a second look shows whether it moves.",
)
OTHER_ALLOCATOR = Remedy(
    "other-allocator",
    "Use the system's allocator",
    "Take the allocator out of LD_PRELOAD, or upgrade it: its locks are not made new in a forked child.",
)
NO_TIMER = Remedy(
    "no-timer",
    "Do not arm faulthandler's timer before forking",
    "Use faulthandler.register(signal.SIGUSR1) instead of dump_traceback_later in a process that forks.",
)

REMEDIES: Tuple[Remedy, ...] = (
    UPGRADE_PYTHON,
    START_METHOD,
    FORK_BEFORE_THREADS,
    REINIT_AT_FORK,
    LIMIT_THREADS,
    UPGRADE_LIBRARY,
    FLUSH_BEFORE_FORK,
    IMPORT_BEFORE_FORK,
    KILL_CHILD,
    LOOK_AT_CHILD,
    DRAIN_PIPE,
    FIND_SENDER,
    ONE_LOCK_ORDER,
    CHECK_STORAGE,
    NO_PREEXEC,
    CONNECT_AFTER_FORK,
    NO_DEVICE_BEFORE_FORK,
    RESTART_POOL,
    CHECK_EXIT,
    COMPARE_RANKS,
    RELEASE_GIL,
    SAFE_HANDLER,
    IMPORTABLE_FUNCTION,
    EXIT_CHILD,
    SHUT_DOWN_FIRST,
    WAIT_AND_SEE,
    OTHER_ALLOCATOR,
    NO_TIMER,
)
