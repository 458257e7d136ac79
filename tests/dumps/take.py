"""Take the dumps of this folder anew, from programs that truly hang: python -m tests.dumps.take [NAME...].

What tells where they were taken (folders, the process that started them) is replaced.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Dict, Iterator, Tuple

from forkhang_ipy.capture.records import Options, records
from forkhang_ipy.formats import bundle
from tests import live

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "hangs"
TAKEN: Dict[str, Tuple[str, ...]] = {
    # name: (program, version of its interpreter, arguments of the program)
    "head-lock-3.8": ("head_lock.py", "3.8.18"),
    "head-lock-3.11": ("head_lock.py", "3.11.7"),
    "head-lock-3.11-stripped": ("head_lock.py", "3.11.2"),
    "preexec": ("preexec_fn.py", "3.9.18"),
    "pthread-mutex": ("pthread_mutex.py", "3.11.7"),
    "pthread-spin": ("pthread_spin.py", "3.11.7"),
    "at-fork-c": ("at_fork_c_handler.py", "3.10.13"),
    "threading-lock": ("threading_lock.py", "3.13.0"),
    "threading-rlock": ("threading_rlock.py", "3.9.18"),
    "child-with-threads": ("child_with_threads.py", "3.11.7"),
    "tree": ("tree.py", "3.13.0"),
    "import-lock": ("import_lock.py", "3.12.1"),
    "stdio-lock": ("stdio_lock.py", "3.10.13"),
    "buffered-writer": ("buffered_writer.py", "3.11.2"),
    "logging-handler": ("logging_handler.py", "3.12.1"),
    "logging-emit": ("logging_handler.py", "3.12.1", "emit"),
    "hashlib": ("hashlib_object.py", "3.11.7"),
    "hashlib-stripped": ("hashlib_object.py", "3.11.2"),
    "faulthandler": ("faulthandler_armed.py", "3.11.7"),
    "feeder": ("feeder.py", "3.11.7"),
    "lost-threads": ("lost_threads.py", "3.12.1"),
    "gomp": ("gomp.py", "3.11.7"),
    "hook": ("register_at_fork_hook.py", "3.8.18"),
    "before-hook": ("before_hook.py", "3.11.7"),
    "idle-pool": ("idle_pool.py", "3.11.7"),
    "idle-pool-stripped": ("idle_pool.py", "3.11.2"),
    "sleeping-worker": ("sleeping_worker.py", "3.12.1"),
    "computing-worker": ("computing_worker.py", "3.11.7"),
    "full-pipe": ("full_pipe.py", "3.8.18"),
    "spawn-queue": ("spawn_queue.py", "3.13.0"),
    "simple-queue-child": ("simple_queue_child.py", "3.11.7"),
    "crossed-locks": ("crossed_locks.py", "3.11.7"),
    "crossed-locks-in-child": ("crossed_locks_in_child.py", "3.11.7"),
    "self-deadlock-in-child": ("self_deadlock_in_child.py", "3.11.7"),
    "signal-in-logging": ("signal_in_logging.py", "3.11.7"),
    "native-gil": ("native_gil.py", "3.11.7"),
    "native-pool-idle": ("native_pool_idle.py", "3.11.7"),
    "event-forever": ("event_forever.py", "3.10.13"),
    "event-in-child": ("event_in_child.py", "3.12.1"),
    "healthy-parent": ("healthy_parent.py", "3.11.7"),
    "semlock-holder-killed": ("semlock_holder_killed.py", "3.11.7"),
    "killed-worker": ("killed_worker.py", "3.11.7"),
    "zombie": ("zombie_child.py", "3.11.7", "queue"),
    "respawn": ("spawn_from_main.py", "3.11.7", "initializer"),
    "slow-fork": ("slow_fork.py", "3.11.7"),
    "stopped": ("stopped.py", "3.11.7"),
}
LIBRARIES = {
    "head_lock.py": live.attach_library,
    "preexec_fn.py": live.attach_library,
    "gomp.py": live.parallel_library,
    "at_fork_c_handler.py": live.at_fork_library,
    "native_pool_idle.py": live.pool_library,
}


def main() -> None:
    """Write the bundle of each name, or of all."""
    interpreters = dict(live.INTERPRETERS)
    for name in sys.argv[1:] or TAKEN:
        program, version, *arguments = TAKEN[name]
        libraries = [LIBRARIES[program]()] if program in LIBRARIES else []
        with live.hanging(program, interpreters[version], *libraries, *arguments) as hang:
            taken = records(hang.pid, Options())
        scrubbed = tuple(_scrubbed(taken, interpreters[version], libraries))
        (HERE / f"{name}.json").write_text(bundle.pack(scrubbed) + "\n", encoding="utf-8")


def _scrubbed(taken: Tuple[str, ...], python: str, libraries: list[str]) -> Iterator[str]:
    places = {
        str(PROGRAMS): "/app",
        str(Path(python).resolve().parent.parent): "/opt/python",
        **{str(Path(library).parent): "/app/lib" for library in libraries},
    }
    for record in taken:
        text = record
        for place, instead in places.items():
            if place != "/usr":
                text = text.replace(place, instead)
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("pid") != os.getpid():
            yield text
        elif document["forkhang"] == "proc/1":
            yield json.dumps({**document, "command": ["bash"], "executable": "/usr/bin/bash", "python": None})


if __name__ == "__main__":
    main()
