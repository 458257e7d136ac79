"""The forked child waits in scikit-learn's libgomp for a team of threads that only the parent has. Needs scikit-learn.

The parent fits a model, so libgomp starts its threads. fork copies libgomp's list of them, but not the threads. About
one child in ten dies of a segmentation fault in place of hanging, so the one that hangs need not be the first.
"""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import multiprocessing
import multiprocessing.process

import numpy as np
import sklearn
from ready import announce, is_still
from sklearn.ensemble import HistGradientBoostingClassifier

features = np.arange(2000.0).reshape(500, 4)
labels = (features[:, 0] > features[:, 0].mean()).astype(int)


def fit() -> None:
    """Fit one small model."""
    HistGradientBoostingClassifier(max_iter=2).fit(features, labels)


def start_worker() -> multiprocessing.process.BaseProcess:
    """Fork one worker after the other until one hangs."""
    while True:
        worker = multiprocessing.get_context("fork").Process(target=fit)
        worker.start()
        while worker.exitcode is None:
            if worker.pid is not None and is_still(worker.pid):
                return worker


def main() -> None:
    """Fit a model, then fork a worker that fits one too."""
    fit()
    worker = start_worker()
    announce(worker.pid, sklearn=sklearn.__version__)
    worker.join()


if __name__ == "__main__":
    main()
