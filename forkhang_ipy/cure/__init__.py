"""From a diagnosis to what to do about it, in this very process."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, Optional

from forkhang_ipy.cure.start_method import start_method
from forkhang_ipy.cure.upgrade import upgrade
from forkhang_ipy.knowledge.cpython import BUGS
from forkhang_ipy.knowledge.remedies import START_METHOD, UPGRADE_PYTHON
from forkhang_ipy.model import Diagnosis, Finding, Remedy

BY_ID = {bug.id: bug for bug in BUGS}
DEVICE = re.compile(r"libcuda|libascendcl|libtorch_npu|libnccl|libhccl")


def with_cure(diagnosis: Diagnosis) -> Diagnosis:
    """The same diagnosis, with remedies that fit the process: its Python, its devices."""
    remedies = tuple(_fitting(diagnosis))
    kept = {remedy.id for remedy in remedies}
    findings = tuple(
        replace(
            finding, remedies=tuple(name for name in finding.remedies if name in kept or name not in _ids(diagnosis))
        )
        for finding in diagnosis.findings
    )
    return replace(diagnosis, remedies=remedies, findings=findings)


def _ids(diagnosis: Diagnosis) -> set[str]:
    return {remedy.id for remedy in diagnosis.remedies}


def _fitting(diagnosis: Diagnosis) -> Iterator[Remedy]:
    for remedy in diagnosis.remedies:
        if remedy.id == UPGRADE_PYTHON.id:
            upgraded = next(
                filter(None, (_upgraded(remedy, finding, diagnosis) for finding in diagnosis.findings)), None
            )
            if upgraded is not None:
                yield upgraded
        elif remedy.id == START_METHOD.id:
            yield start_method(remedy, device_in_use=_device_in_use(diagnosis))
        else:
            yield remedy


def _upgraded(remedy: Remedy, finding: Finding, diagnosis: Diagnosis) -> Optional[Remedy]:
    """The release that ends this finding's bug, for the Python of this finding's process."""
    if finding.verdict is not diagnosis.verdict:
        return None
    process = diagnosis.dump.process(finding.process)
    return upgrade(remedy, BY_ID.get(finding.bug or ""), process.python if process else None)


def _device_in_use(diagnosis: Diagnosis) -> bool:
    return any(
        frame.module and DEVICE.search(frame.module)
        for process in diagnosis.dump.processes
        for thread in process.threads
        for frame in thread.native
    )
