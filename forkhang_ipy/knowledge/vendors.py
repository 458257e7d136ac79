"""Libraries of accelerators, whose frames are seldom the user's business: folded, so that the user's own stand out.

Data only. Paths are searched in a native frame's library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Vendor:
    """A maker's software, by the libraries that it comes in."""

    name: str
    library: str
    """A pattern for the library's path."""


VENDORS: Tuple[Vendor, ...] = (
    Vendor("torch_npu", r"libtorch_npu|torch_npu/"),
    Vendor("HCCL", r"libhccl|libhccd"),
    Vendor(
        "CANN", r"libascendcl|libruntime\.so|libge_\w+|libacl_\w+|libnnopbase|/Ascend/|/ascend-toolkit/|libascend\w*"
    ),
    Vendor("NCCL", r"libnccl"),
    Vendor("CUDA", r"libcuda(rt)?[.\-]|libcublas|libcudnn|libcupti|libcufft|libtorch_cuda|libc10_cuda|libnvrtc"),
)
