"""Errors that a fork makes of a device's context or of a system library: the child does not hang, it fails."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call
from forkhang_ipy.knowledge.remedies import CHECK_EXIT, NO_DEVICE_BEFORE_FORK, START_METHOD, UPGRADE_LIBRARY
from forkhang_ipy.knowledge.signatures._base import Fact, Signature
from forkhang_ipy.model import Verdict

CUDA_AFTER_FORK = Signature(
    id="cuda-after-fork",
    title="a CUDA context, which does not survive fork",
    verdict=Verdict.FORK_ERROR,
    shows="CUDA was in use before the fork, and refuses to start again in the child.",
    fooled_by="A collective that hangs in a trainer, with no error.",
    says=(
        r"Cannot re-initialize CUDA in forked subprocess",
        r"cuda runtime error \(3\)",
        r"CUDA error: initialization error",
        r"cudaErrorInitializationError",
        r"CUDA_ERROR_NOT_INITIALIZED",
    ),
    remedies=(START_METHOD, NO_DEVICE_BEFORE_FORK),
)
NPU_AFTER_FORK = Signature(
    id="npu-after-fork",
    title="an NPU context, which does not survive fork",
    verdict=Verdict.FORK_ERROR,
    shows="The NPU was in use before the fork, and refuses to start again in the child.",
    fooled_by="A collective that hangs in a trainer, with no error.",
    says=(r"Cannot re-initialize NPU in forked subprocess",),
    remedies=(START_METHOD, NO_DEVICE_BEFORE_FORK),
)
OBJC_FORK_SAFETY = Signature(
    id="objc-fork-safety",
    title="Objective-C's runtime, which ends a child that forked in its middle",
    verdict=Verdict.FORK_ERROR,
    shows="Objective-C's runtime saw a fork in the middle of an initialisation, and ended the child.",
    fooled_by="Any other abort of a worker.",
    says=(
        r"may have been in progress in another thread when fork\(\) was called",
        r"objc_initializeAfterForkError",
    ),
    remedies=(START_METHOD, CHECK_EXIT),
)
ACCELERATE_DISPATCH = Signature(
    id="accelerate-dispatch",
    title="libdispatch's threads under Apple's BLAS",
    verdict=Verdict.FORK_DEADLOCK,
    shows="It stands in libdispatch under Apple's BLAS, which cannot be used in a forked child.",
    fooled_by="The same frames in a program that did not fork, and that moves on.",
    anywhere=((Call(r"_?dispatch_(apply|once|sync|group)\w*"), Call(r".*(cblas|BLAS|vecLib|Accelerate|LAPACK).*")),),
    unless_not=frozenset({Fact.FORKED, Fact.ALONE}),
    remedies=(UPGRADE_LIBRARY, START_METHOD),
)

SIGNATURES: Tuple[Signature, ...] = (CUDA_AFTER_FORK, NPU_AFTER_FORK, OBJC_FORK_SAFETY, ACCELERATE_DISPATCH)
