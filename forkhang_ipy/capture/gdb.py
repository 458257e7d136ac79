"""A pid in, what gdb's `thread apply all bt` prints out, as it is. Dear: seconds, in which the process stands still."""

from __future__ import annotations

import shutil

from forkhang_ipy.capture.sources import Limits, SourceFailed, run

# auto-load would run code from the target's own folders; debuginfod would ask the network.
_QUIET = (
    *("-nx", "-batch", "--readnever", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"),
    *("-iex", "set demangle-style none"),
)


def native_stacks(pid: int, limits: Limits) -> str:
    """The text of gdb; SourceFailed where it is not installed or cannot attach."""
    path = shutil.which("gdb")
    if not path:
        raise SourceFailed("gdb is not installed", "Install libdw or gdb with the system's package manager.")
    output = run([path, *_QUIET, "-ex", "thread apply all bt", "-p", str(pid)], limits)
    if "\n#0 " in output.stdout:
        return output.stdout
    last = (output.stderr.strip().splitlines() or ["it printed no stack"])[-1]
    raise SourceFailed(f"gdb: {last}", "See what `forkhang doctor` says of this process.")
