"""The server process: one address, a clean stop."""

import ipaddress
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from pairgram.errors import PairgramError, ParameterError
from pairgram.serve.app import Server
from pairgram.serve.limits import Limits
from pairgram.serve.protocol import PatientProtocol
from pairgram.serve.served import Holder

GRACE_SECONDS = 20
MOST_CONNECTIONS = 1_000
BACKLOG = 512


class _Uvicorn(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._ready()


def serve(
    holder: Holder,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    limits: Limits | None = None,
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Answer until SIGINT or SIGTERM; requests on their way are answered first.

    Parameters
    ----------
    holder
        The model.
    host, port
        Address to listen at; port 0 takes a free one.
    token
        Needed for what writes, and for everything when `host` is not loopback.
    limits
        Sizes, rates and times.
    ready
        Called with the address as soon as requests are answered.
    """
    private = check_token(host, token)
    listener = bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}"
    server = make_server(Server(holder, limits, token, private), lambda: ready(address))
    with listener, _quiet_signals():
        server.run(sockets=[listener])


def silence_notices() -> None:
    """Keep what models say of single texts off the server's terminal."""
    for name in ("pairgram.models", "pairgram.text"):
        logging.getLogger(name).setLevel(logging.ERROR)


def make_server(server: Server, ready: Callable[[], None]) -> uvicorn.Server:
    """The uvicorn server around ours."""
    for name in ("uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        server.app, http=PatientProtocol, ws="none", lifespan="on", log_config=None,
        access_log=False, server_header=False, timeout_keep_alive=30, backlog=BACKLOG,
        limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=GRACE_SECONDS,
    )  # fmt: skip
    return _Uvicorn(config, ready)


def check_token(host: str, token: str | None) -> bool:
    """Whether the address is open to other machines; that needs a token."""
    private = not is_loopback(host)
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise ParameterError("The token must be printable ASCII characters, and not empty.")
    if private and token is None:
        raise ParameterError(
            f"{host} can be reached from other machines: serve it with --token, or use 127.0.0.1."
        )
    return private


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> socket.socket:
    """Open the listening socket, or say in one line why not."""
    try:
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, proto, _, where = info[0]
        return _listen(family, kind, proto, where)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PairgramError(
            f"{host}:{port}: cannot be listened at: {reason}; choose another --port or --host."
        ) from None


def _listen(family: int, kind: int, proto: int, where: Any) -> socket.socket:
    listener = socket.socket(family, kind, proto)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
    except OSError:
        listener.close()
        raise
    return listener


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """A stop that was asked for is no failure: uvicorn raises its signal again at the end."""
    kept: dict[signal.Signals, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        kept[number] = signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
