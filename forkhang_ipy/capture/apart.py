"""A module of ours in, the command that runs its `main` in an interpreter apart, which may be ended by force."""

from __future__ import annotations

import json
import sys
from typing import List

_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main(sys.argv[2])"


def command(module: str, argument: object) -> List[str]:
    """The command for `main(argument as JSON)`. It finds what we find, and does without the user's start-up files."""
    return [sys.executable, "-S", "-c", _PROGRAM.format(module=module), json.dumps(sys.path), json.dumps(argument)]
