"""Looks like a hang: an asyncio event loop without anything to do waits in epoll. All of it is healthy."""

from __future__ import annotations

import asyncio

from ready import announce


async def serve() -> None:
    """Wait for an event that never comes."""
    announce()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
