"""What can go wrong, each with a fact and a way out.

ForkhangError
├── TargetError            a pid that cannot be looked at
│   ├── NoSuchProcess
│   ├── ProcessIsZombie
│   ├── ProcessIsKernelThread
│   ├── ProcessIsOurselves
│   └── NotPermitted
├── DumpError              a file that cannot be read as a dump
│   ├── FileUnreadable
│   ├── EmptyDump
│   └── UnknownDump
└── DemoFailed             the demonstration could not make its hang
"""

from __future__ import annotations


class ForkhangError(Exception):
    """A sentence that states the fact, and a hint that says what to do about it."""

    def __init__(self, fact: str, hint: str) -> None:
        super().__init__(f"{fact} {hint}")
        self.fact = fact
        self.hint = hint


class TargetError(ForkhangError):
    """The pid cannot be looked at."""


class NoSuchProcess(TargetError):
    """No process has this pid."""


class ProcessIsZombie(TargetError):
    """The process has ended; only its exit status is left."""


class ProcessIsKernelThread(TargetError):
    """The pid belongs to the kernel itself."""


class ProcessIsOurselves(TargetError):
    """The pid is our own: a debugger cannot stop itself."""


class NotPermitted(TargetError):
    """The system lets us see nothing of this process."""


class DumpError(ForkhangError):
    """The file cannot be read as a dump."""


class FileUnreadable(DumpError):
    """The file is missing, a folder, or not ours to read."""


class EmptyDump(DumpError):
    """The file holds nothing."""


class UnknownDump(DumpError):
    """No stack was found in the file."""


class DemoFailed(ForkhangError):
    """The demonstration could not make its hang on this machine."""
