"""The forked child waits in gRPC for what only threads of the parent could bring. Needs grpcio.

    grpc_child.py [call|off]

"call" (the default): the thread "caller" of the parent is in a call at the fork. gRPC says on stderr that it skips its
handlers, but one of them runs: in the child, inside `os.fork()`, it closes the channel and waits for the end of that
call. "off": its handlers are switched off, the child has none of gRPC's threads, and its own call is never answered.
In both cases the child's main thread wakes up five times a second, and goes on waiting.
"""

# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Callable, Dict

from ready import announce, give_up, where

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    Call = Callable[[bytes], bytes]

SERVE = "serve"
FORK_SUPPORT = {"call": "1", "off": "0"}
ENOUGH = 2.0  # seconds; an answer takes milliseconds
LONG = b"long"
fork = multiprocessing.get_context("fork")


def connect(port: int) -> Call:
    """Open a channel to the server; returns what sends one request and waits for the answer."""
    import grpc

    call: Call = grpc.insecure_channel(f"127.0.0.1:{port}").unary_unary("/echo/echo")
    return call


def train(port: int, told: Connection) -> None:
    """Call the server, by a channel of its own, and say so if there is an answer."""
    connect(port)(b"step")
    told.send("answered")


def answer(request: bytes, _context: object) -> bytes:
    """Send back what came, or nothing for ever."""
    if request == LONG:
        sys.stdout.write("long call\n")
        sys.stdout.flush()
        time.sleep(1_000_000)
    return request


def serve() -> None:
    """Answer calls in a process that was never forked; says its port on stdout."""
    import grpc

    server = grpc.server(ThreadPoolExecutor(2))
    echo = grpc.method_handlers_generic_handler("echo", {"echo": grpc.unary_unary_rpc_method_handler(answer)})
    server.add_generic_rpc_handlers((echo,))
    sys.stdout.write(f"{server.add_insecure_port('127.0.0.1:0')}\n")
    sys.stdout.flush()
    server.start()
    server.wait_for_termination()


def fork_and_wait(port: int, facts: Dict[str, object]) -> None:
    """Fork a worker that calls the server too, and join it."""
    heard, told = fork.Pipe(duplex=False)
    worker = fork.Process(target=train, args=(port, told))
    worker.start()
    if heard.poll(ENOUGH):
        give_up("The child had its answer in spite of the fork.")
    announce(worker.pid, **facts)
    worker.join()


def main(mode: str = "call") -> None:
    """Call the server, so that gRPC's threads start, and fork."""
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = FORK_SUPPORT[mode]  # gRPC reads it as it is imported
    import grpc

    with subprocess.Popen([sys.executable, __file__, SERVE], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        port = int(server.stdout.readline())
        call = connect(port)
        call(b"step")
        facts: Dict[str, object] = {"server": server.pid, "grpc": grpc.__version__}
        if mode == "call":
            caller = threading.Thread(target=call, args=(LONG,), name="caller", daemon=True)
            caller.start()
            server.stdout.readline()
            facts.update(where(caller, "_blocking"))
        fork_and_wait(port, facts)


if __name__ == "__main__":
    if SERVE in sys.argv:
        serve()
    else:
        main(*sys.argv[1:])
