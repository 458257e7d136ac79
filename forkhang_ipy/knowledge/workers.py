"""Where a worker stands that waits for its next task. Data only."""

from __future__ import annotations

from typing import Tuple

from forkhang_ipy.knowledge.calls import Call

MULTIPROCESSING = r"(multiprocessing|multiprocess|billiard)/"
WAITS_FOR_WORK: Tuple[Call, ...] = (
    Call(r"(.*\.)?(worker|workloop|wait_for_job)", MULTIPROCESSING + r"pool\.py"),
    Call(r"_process_worker", r"concurrent/futures/process\.py"),
    Call(r"_worker_loop", r"torch/utils/data/_utils/worker\.py"),
)
"""The loops of workers; what lies further in is the queue that they read."""

HELPERS = r"multiprocessing\.(resource_tracker|semaphore_tracker|forkserver)|popen_loky_posix.*resource_tracker"
"""In the command line of processes that multiprocessing keeps for itself."""
