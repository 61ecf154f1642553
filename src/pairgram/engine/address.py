"""Whether a cluster answers at an address, found out in seconds."""

import os
import socket

from pairgram.errors import PairgramError, ParameterError

CONNECT_SECONDS = 10.0
SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""An empty frame of HTTP/2; the fourth byte is its kind."""


def check_answers(address: str) -> None:
    """Raise `PairgramError` unless what listens there speaks as a cluster does.

    Ray itself tries for minutes.
    """
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if "://" in address or not host or not port.isdigit():
        raise ParameterError(
            f"The 'address' parameter of RayEngine must be host:port or 'auto'. Got {address!r}; "
            "from outside a cluster submit the command with 'ray job submit'."
        )
    try:
        with socket.create_connection((host, int(port)), CONNECT_SECONDS) as line:
            if not os.environ.get("RAY_USE_TLS"):
                _check_greets(line)
    except OSError as error:
        raise PairgramError(
            f"Ray at {address!r} does not answer within {CONNECT_SECONDS:.0f} s ({error}). Check "
            "the address, or leave it out to run on this machine."
        ) from None


def _check_greets(line: socket.socket) -> None:
    """Raise `OSError` unless the other side answers the greeting of HTTP/2, as gRPC does."""
    line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS)
    answer = b""
    while len(answer) < len(SETTINGS):
        more = line.recv(len(SETTINGS) - len(answer))
        if not more:
            raise ConnectionError("what listens there is not Ray")
        answer += more
    if answer[3:4] != SETTINGS[3:4]:
        raise ConnectionError("what listens there is not Ray")
