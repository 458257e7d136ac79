"""Two looks at a thread tell whether it moves."""

from __future__ import annotations

from typing import Optional

import pytest

from forkhang_ipy.analysis.progress import Progress, progress
from forkhang_ipy.model import Frame, Sample, Thread, Told, Wait, WaitKind

LOCK = Wait(WaitKind.LOCK, Told.KERNEL, address=1)
OTHER = Wait(WaitKind.LOCK, Told.KERNEL, address=2)
OUTER = (Frame("total", module="/app/parallel.so"), Frame("_PyEval_EvalFrameDefault", module="python"))
SPIN = (Frame(None, module="/lib/libgomp.so.1"), Frame(None, module="/lib/libgomp.so.1"), *OUTER)
DEEPER = (Frame("sched_yield", module="/lib/libc.so.6"), Frame(None, module="/lib/libgomp.so.1"), *SPIN)
ELSEWHERE = (Frame("dot", module="/lib/libblas.so"), *OUTER[1:])


def look(index: int, wait: Wait, ticks: Optional[int], switches: int, native: tuple[Frame, ...] = ()) -> Sample:
    return Sample(index=index, wait=wait, cpu_ticks=ticks, switches=switches, native=native)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        pytest.param(look(0, LOCK, 5, 9), look(1, LOCK, 5, 9), Progress.STILL, id="it did not run"),
        pytest.param(look(0, LOCK, 5, 9), look(1, LOCK, 5, 10), Progress.MOVING, id="it woke and waits again"),
        pytest.param(look(0, LOCK, 5, 9), look(1, OTHER, 5, 9), Progress.MOVING, id="it waits for something else"),
        pytest.param(look(0, LOCK, 5, 9), look(1, LOCK, 55, 9), Progress.MOVING, id="it used cpu"),
        pytest.param(
            look(0, LOCK, 5, 9, SPIN), look(1, LOCK, 55, 9, DEEPER), Progress.SPINNING, id="it burns cpu in one place"
        ),
        pytest.param(
            look(0, LOCK, 5, 9, SPIN), look(1, LOCK, 55, 9, ELSEWHERE), Progress.MOVING, id="it computes elsewhere"
        ),
        pytest.param(look(0, LOCK, None, 9), look(1, LOCK, 5, 9), None, id="one look is none"),
    ],
)
def test_two_looks_tell(first: Sample, last: Sample, expected: Optional[Progress]) -> None:
    assert progress(Thread(samples=(first, last))) is expected
