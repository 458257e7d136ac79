"""Tells whether a hung Python program is a fork deadlock, proves it, and hands over the cure.

    import forkhang_ipy
    forkhang_ipy.diagnose(1718)                 # a live process
    forkhang_ipy.diagnose("hang.forkhang")      # a saved dump

In IPython and Jupyter: `%load_ext forkhang_ipy`, then `%forkhang 1718`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from forkhang_ipy.api import Report, diagnose, read, save

__version__ = "0.1.0"
__all__ = ["Report", "diagnose", "load_ipython_extension", "read", "save", "unload_ipython_extension"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 a module's attribute may be anything
    if name not in __all__:
        raise AttributeError(name)
    from forkhang_ipy import api  # `%load_ext` must stay light

    return getattr(api, name)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Make `%forkhang` known to this IPython."""
    from forkhang_ipy.ui.magics import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Make IPython forget `%forkhang`."""
    from forkhang_ipy.ui.magics import unload

    unload(shell)
