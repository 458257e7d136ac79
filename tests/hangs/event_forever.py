"""A hang without any child: the main thread waits for an event that nobody sets."""

from __future__ import annotations

import threading

from ready import announce


def main() -> None:
    """Wait."""
    announce()
    threading.Event().wait()


if __name__ == "__main__":
    main()
