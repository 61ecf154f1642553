"""What every request passes first: host, rate, token, size of the body and time."""

import asyncio
import hmac
import math
import time
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pairgram.serve.limits import Limits
from pairgram.serve.metrics import Metrics
from pairgram.serve.rate import RateLimit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
WRITES = frozenset({"/add", "/reload"})
# What anybody may see: the page itself, which then asks for the token, and whether we are up.
OPEN = frozenset({"/", "/health"})
ASSETS = "/page/"
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


def refusal(status: int, line: str, **headers: str) -> HTTPException:
    """Return an answer of one line, after which the connection ends."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HTTPException(status, line, {"connection": "close", **named})


class Guard:
    """Middleware around the whole server.

    Parameters
    ----------
    app
        What is guarded.
    limits
        Sizes, rates and times.
    metrics
        Where every answer is counted.
    token
        Needed for what writes, and with `private` for everything but the page and `/health`.
    private
        Whether other machines can reach us.
    """

    def __init__(
        self, app: ASGIApp, limits: Limits, metrics: Metrics, token: str | None, private: bool
    ) -> None:
        self.app, self._limits, self._metrics = app, limits, metrics
        self._token, self._private = token, private
        self._rate = RateLimit(limits.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began, answer = time.perf_counter(), _Answer(send, self._limits.seconds)
        try:
            self._check(scope)
            body = _Body(receive, self._limits)
            await self.app(scope, body.receive, answer.send)
        except HTTPException as refused:
            await one_line(refused)(scope, receive, answer.send)
        except TimeoutError:
            # Nobody takes the answer: uvicorn cuts a connection whose answer is not complete.
            pass
        finally:
            self._metrics.request(_route(scope), answer.status, time.perf_counter() - began)

    def _check(self, scope: Scope) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        self._check_host(headers)
        client = scope["client"][0] if scope["client"] else ""
        wait = self._rate.wait(client, time.monotonic())
        if wait:
            line = f"Too many requests; at most {self._limits.rate:g} a second."
            raise refusal(429, line, retry_after=str(math.ceil(wait)))
        self._check_token(scope["path"], headers)
        if _length(scope) > self._limits.body:
            raise refusal(413, f"The body is larger than {self._limits.body} bytes.")

    def _check_host(self, headers: dict[bytes, str]) -> None:
        """Refuse pages of other sites that reach us through the user's browser."""
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if not self._private and _hostname(host) not in LOOPBACK:
            raise refusal(421, "This server answers to localhost alone.")
        if origin is not None and origin.partition("://")[2] != host:
            raise refusal(403, "Requests from pages of other sites are refused.")

    def _check_token(self, path: str, headers: dict[bytes, str]) -> None:
        writes = path in WRITES
        if not writes and (not self._private or path in OPEN or path.startswith(ASSETS)):
            return
        if self._token is None:
            raise refusal(403, f"{path} needs a token, and the server was started without.")
        given = headers.get(b"authorization", "")
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(
            token.strip().encode(), self._token.encode()
        ):
            line = "Wrong or missing token; send 'Authorization: Bearer TOKEN'."
            raise refusal(401, line, www_authenticate="Bearer")


class _Body:
    """The body of a request, no longer and no slower than allowed."""

    def __init__(self, receive: Receive, limits: Limits) -> None:
        self._receive, self._limits = receive, limits
        self._until = asyncio.get_running_loop().time() + limits.seconds
        self._size, self._done = 0, False

    async def receive(self) -> Message:
        """The next part of it."""
        if self._done:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise refusal(408, "The request came too slowly.") from None
        self._size += len(message.get("body", b""))
        if self._size > self._limits.body:
            raise refusal(413, f"The body is larger than {self._limits.body} bytes.")
        self._done = not message.get("more_body", False)
        return message


class _Answer:
    """The answer on its way out: its status, our headers, and an end to waiting for the client."""

    def __init__(self, send: Send, seconds: float) -> None:
        self._send, self._seconds, self.status = send, seconds, 0

    async def send(self, message: Message) -> None:
        """Pass a part of it on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        async with asyncio.timeout(self._seconds):
            await self._send(message)


def one_line(error: HTTPException) -> JSONResponse:
    """Return an error as JSON with one line of text."""
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


def _route(scope: Scope) -> str:
    """The route that a request took, not its path: paths are without number."""
    route = scope.get("route")
    return str(getattr(route, "path", "other"))


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
