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
TAKEN: Dict[str, Tuple[str, str]] = {
    # name: (program, version of its interpreter)
    "head-lock-3.8": ("head_lock.py", "3.8.18"),
    "head-lock-3.11": ("head_lock.py", "3.11.7"),
    "head-lock-3.11-stripped": ("head_lock.py", "3.11.2"),
    "pthread-mutex": ("pthread_mutex.py", "3.11.7"),
    "threading-lock": ("threading_lock.py", "3.13.0"),
    "threading-rlock": ("threading_rlock.py", "3.9.18"),
    "import-lock": ("import_lock.py", "3.12.1"),
    "stdio-lock": ("stdio_lock.py", "3.10.13"),
    "lost-threads": ("lost_threads.py", "3.12.1"),
    "gomp": ("gomp.py", "3.11.7"),
    "hook": ("register_at_fork_hook.py", "3.8.18"),
    "idle-pool": ("idle_pool.py", "3.11.7"),
    "idle-pool-stripped": ("idle_pool.py", "3.11.2"),
    "sleeping-worker": ("sleeping_worker.py", "3.12.1"),
    "computing-worker": ("computing_worker.py", "3.11.7"),
    "full-pipe": ("full_pipe.py", "3.8.18"),
    "spawn-queue": ("spawn_queue.py", "3.13.0"),
    "crossed-locks": ("crossed_locks.py", "3.11.7"),
    "crossed-locks-in-child": ("crossed_locks_in_child.py", "3.11.7"),
    "event-forever": ("event_forever.py", "3.10.13"),
    "healthy-parent": ("healthy_parent.py", "3.11.7"),
}
LIBRARIES = {"head_lock.py": live.attach_library, "gomp.py": live.parallel_library}


def main() -> None:
    """Write the bundle of each name, or of all."""
    interpreters = dict(live.INTERPRETERS)
    for name in sys.argv[1:] or TAKEN:
        program, version = TAKEN[name]
        libraries = [LIBRARIES[program]()] if program in LIBRARIES else []
        with live.hanging(program, interpreters[version], *libraries) as hang:
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
