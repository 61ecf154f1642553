"""As much of an S3 server as a file system needs: objects of one bucket, in memory."""

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

ANSWER = '<?xml version="1.0" encoding="UTF-8"?>\n<{0}>{1}</{0}>'


class Handler(BaseHTTPRequestHandler):
    """Objects by path; parts of an upload are kept until it is completed."""

    protocol_version = "HTTP/1.1"
    objects: ClassVar[dict] = {}
    parts: ClassVar[dict] = {}

    def log_message(self, *_):
        """Say nothing."""

    def do_PUT(self):
        path, query = self._asked()
        data = self._body()
        if "partNumber" in query:
            self.parts[path, int(query["partNumber"][0])] = data
        else:
            self.objects[path] = data
        self._answer(200, headers={"ETag": '"x"'})

    def do_POST(self):
        path, query = self._asked()
        self._body()
        if "uploads" in query:
            self._answer(
                200, ANSWER.format("InitiateMultipartUploadResult", "<UploadId>1</UploadId>")
            )
            return
        numbers = sorted(number for where, number in self.parts if where == path)
        self.objects[path] = b"".join(self.parts.pop((path, number)) for number in numbers)
        self._answer(200, ANSWER.format("CompleteMultipartUploadResult", "<ETag>x</ETag>"))

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path, query = self._asked()
        if "list-type" in query:
            self._list(path, query.get("prefix", [""])[0])
        elif path not in self.objects:
            self._answer(404, ANSWER.format("Error", "<Code>NoSuchKey</Code>"))
        else:
            data, wanted = self.objects[path], self.headers.get("Range")
            if wanted:
                first, last = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted).groups()
                data = data[int(first) : int(last) + 1]
            self._answer(206 if wanted else 200, data)

    def do_DELETE(self):
        path, _ = self._asked()
        self.objects.pop(path, None)
        self._answer(204)

    def _list(self, bucket, prefix):
        start = f"{bucket.rstrip('/')}/"
        names = [p.removeprefix(start) for p in self.objects if p.startswith(start + prefix)]
        found = "".join(
            f"<Contents><Key>{name}</Key><Size>{len(self.objects[start + name])}</Size></Contents>"
            for name in names
        )
        self._answer(200, ANSWER.format("ListBucketResult", found))

    def _asked(self):
        parts = urlsplit(self.path)
        return unquote(parts.path), parse_qs(parts.query, keep_blank_values=True)

    def _body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = self._chunks()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return data
        whole = b""
        while data:
            head, data = data.split(b"\r\n", 1)
            size = int(head.split(b";")[0], 16)
            if size == 0:
                break
            whole, data = whole + data[:size], data[size + 2 :]
        return whole

    def _chunks(self):
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _answer(self, code, data=b"", headers=None):
        data = data.encode() if isinstance(data, str) else data
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def serving():
    """Give the address of a server, and its objects."""
    kind = type("Fresh", (Handler,), {"objects": {}, "parts": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}", kind.objects
        server.shutdown()
        thread.join()
