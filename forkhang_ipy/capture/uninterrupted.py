"""Work in, its result out; a Ctrl-C meanwhile reaches whoever waits, never the work, which can so clean up in peace."""

from __future__ import annotations

import threading
from typing import Callable, Generic, List, Optional, TypeVar

from forkhang_ipy.capture.sources import GivenUp

_T = TypeVar("_T")
_GLANCE = 0.1


def uninterrupted(work: Callable[[threading.Event], _T]) -> _T:
    """Run the work in a thread of its own and wait for it. The event that it is given says: stop, nobody waits."""
    job = _Job(work)
    try:
        job.start()
        return job.result()
    except BaseException:
        job.give_up()
        raise


class _Job(Generic[_T]):
    """One piece of work and what became of it."""

    def __init__(self, work: Callable[[threading.Event], _T]) -> None:
        self._work = work
        self._given_up = threading.Event()
        self._ended = threading.Lock()
        self._results: List[_T] = []
        self._error: Optional[BaseException] = None
        # Not a daemon: the interpreter's own end waits for the clean-up too.
        self._thread = threading.Thread(target=self._run, name="forkhang-capture", daemon=False)

    def start(self) -> None:
        self._ended.acquire()
        self._thread.start()

    def result(self) -> _T:
        self._wait()
        if self._error:
            raise self._error
        return self._results[0]

    def give_up(self) -> None:
        """Tell the work, and wait until it has cleaned up; another Ctrl-C ends the waiting, not the clean-up."""
        self._given_up.set()
        if self._thread.ident:
            self._wait()

    def _run(self) -> None:
        try:
            self._results.append(self._work(self._given_up))
        except (Exception, GivenUp) as error:  # noqa: BLE001 - it is raised again where the result is asked for
            self._error = error
        finally:
            self._ended.release()

    def _wait(self) -> None:
        # Neither join() nor a lock alone stands an exception that a signal handler raises in the midst of it.
        while not self._results and not self._error:
            self._ended.acquire(timeout=_GLANCE)
