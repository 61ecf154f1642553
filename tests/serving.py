"""A server in a thread, and a small client, for the tests of `serve`."""

import http.client
import json
import threading
from contextlib import contextmanager
from types import SimpleNamespace

from pairgram.serve.app import Server
from pairgram.serve.limits import Limits
from pairgram.serve.run import bind, make_server
from worlds import build, world

TOKEN = "a secret"
FREE = Limits(rate=0)


def save_world(folder, method="tge"):
    """A small model in a folder."""
    build(method).fit(world()).save(folder)
    return folder


@contextmanager
def running(holder, limits=FREE, token=TOKEN, private=False, port=0):
    """A server on a free port until the block ends."""
    up = threading.Event()
    server = Server(holder, limits, token, private)
    listener = bind("127.0.0.1", port)
    uvicorn = make_server(server, up.set)
    thread = threading.Thread(target=uvicorn.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert up.wait(30)
    port = listener.getsockname()[1]
    try:
        yield SimpleNamespace(
            port=port, address=f"http://127.0.0.1:{port}", server=server, uvicorn=uvicorn
        )
    finally:
        uvicorn.should_exit = True
        thread.join(30)
        listener.close()
        assert not thread.is_alive()


def ask(port, method, path, body=None, headers=(), raw=False):
    """Status and JSON (or bytes) of an answer; on a busy machine that may take a while."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    sent = dict(headers)
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    return answer.status, content if raw else json.loads(content)


def post(port, path, body, **more):
    return ask(port, "POST", path, body, **more)


def get(port, path, **more):
    return ask(port, "GET", path, **more)


def bearer(token=TOKEN):
    return {"Authorization": f"Bearer {token}"}
