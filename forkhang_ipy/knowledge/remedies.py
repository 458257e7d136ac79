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
)
