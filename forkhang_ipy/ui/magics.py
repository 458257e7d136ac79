"""The line magic `%forkhang`: the words of the command line in, a `Report` out, which shows itself."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Dict, Optional, Union

from forkhang_ipy import cli
from forkhang_ipy.errors import ForkhangError

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from forkhang_ipy.api import Report

NAME = "forkhang"


def load(shell: InteractiveShell) -> None:
    """Register the magic; a second time changes nothing."""
    shell.magics_manager.register_function(forkhang, magic_kind="line", magic_name=NAME)


def unload(shell: InteractiveShell) -> None:
    """Take the magic away again, if it is there."""
    shell.magics_manager.magics["line"].pop(NAME, None)


def forkhang(line: str) -> Union[Report, Dict[str, object], None]:
    """Diagnose the process with this pid, or saved dumps. `rep = %forkhang 1718` keeps the answer."""
    from IPython.core.error import UsageError  # only where IPython runs

    chosen = _parsed(line)
    if chosen is None:
        return None
    from forkhang_ipy import api  # `%load_ext` stays light

    try:
        report = api.diagnose(*map(cli.target, chosen.targets), options=cli.capture_options(chosen))
        if chosen.save:
            report.save(chosen.save)
    except ForkhangError as error:
        raise UsageError(f"{error.fact} {error.hint}") from error
    return report.to_json() if chosen.json else report


def _parsed(line: str) -> Optional[argparse.Namespace]:
    """The words of the line; None after help or an error of usage, which argparse has printed."""
    try:
        return cli.parser(f"%{NAME}").parse_args(shlex.split(line))
    except SystemExit:
        return None


forkhang.__doc__ = f"{forkhang.__doc__}\n\n{cli.parser(f'%{NAME}').format_help()}"
