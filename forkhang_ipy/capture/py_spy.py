"""A pid in, what `py-spy dump --json` prints out, as it is. It stops the process for some milliseconds.

Error: Failed to get process executable name. Check that the process is running.

Caused by:
    0: Permission denied (os error 13)

Stack backtrace:
   0: ...
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from typing import List, Optional

from forkhang_ipy.capture.sources import Limits, SourceFailed, run

_ERROR = "Error: "
_NAME = "py-spy"
_INSTALL = "pip install py-spy, into the environment that forkhang_ipy is in."
_HINT = "pystack, where it is installed, is asked instead."
_CAUSE = re.compile(r"^ +(?:\d+: )?(?P<cause>\S.*)$")


def python_stacks(pid: int, limits: Limits, *, local_variables: bool) -> str:
    """The JSON that py-spy prints; SourceFailed where it fails or prints none."""
    path = program()
    if not path:
        raise SourceFailed("py-spy is not installed", _INSTALL)
    command = [path, "dump", "--json", "--pid", str(pid), *(["--locals"] if local_variables else [])]
    output = run(command, limits)
    if _threads(output.stdout):
        return output.stdout
    raise SourceFailed(f"py-spy: {_reason(output.stderr) or 'it printed no stack'}", _HINT)


@lru_cache(maxsize=None)
def program() -> Optional[str]:
    """The path of py-spy: the one that was installed with us, or else the first on the PATH."""
    folders = (str(Path(sys.executable or "").parent), sysconfig.get_path("scripts"))
    here = (shutil.which(_NAME, path=folder) for folder in folders if folder)
    return next((path for path in here if path), None) or shutil.which(_NAME)


def _threads(text: str) -> Optional[List[object]]:
    try:
        document = json.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, list) else None


def _reason(stderr: str) -> Optional[str]:
    """The last entry of `Caused by`, or else the error's own line."""
    told = stderr.partition("\nStack backtrace:")[0]
    error, _, causes = told.partition("\nCaused by:")
    entries = [match["cause"] for match in map(_CAUSE.match, causes.splitlines()) if match]
    lines = [line[len(_ERROR) :] for line in error.splitlines() if line.startswith(_ERROR)]
    return next(reversed(entries or lines), None)
