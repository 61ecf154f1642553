"""The server under load, on a model of the size of openmed, all of it on this machine.

One client after another, then 32 at once; beside them the limit: the encoder and the product with
all vectors alone, in this process. With --soak SECONDS a mixed load instead, and what it does to
memory. Run: python benchmarks/serve.py [--soak 600]
"""

import http.client
import json
import multiprocessing
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from common import write
from pairgram.models import load
from query import graph, save

ENCODER, K = "bag", 10
ALONE, CLIENTS, SECONDS = 300, 32, 20.0
SOAK_CLIENTS, PAUSE = 6, 0.05
COMMAND = "from pairgram.cli.main import run; run()"


def start(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """The command itself, and its port."""
    flags = ["serve", str(folder), "--port", "0", "--rate", "0", "--json", "--token", "soak"]
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *flags], stdout=subprocess.PIPE, text=True
    )
    line = process.stdout.readline() if process.stdout else ""
    return process, int(json.loads(line)["address"].rpartition(":")[2])


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> int:
    sent = None if body is None else json.dumps(body)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer soak"}
    connection.request(method, path, sent, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def client(port: int, texts: list[str], until: float, took: list[float]) -> None:
    """Ask until the time is over; milliseconds of each answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for i in range(10**9):
        began = time.perf_counter()
        if began > until:
            break
        status = ask(connection, "POST", "/suggest", {"text": texts[i % len(texts)], "k": K})
        if status != 200:
            raise RuntimeError(f"answered {status}")
        took.append(1000 * (time.perf_counter() - began))
    connection.close()


def crowd(port: int, texts: list[str], clients: int, seconds: float, found: object) -> None:
    """Many clients in a process of their own."""
    until, took = time.perf_counter() + seconds, []
    threads = [
        threading.Thread(target=client, args=(port, texts[i::clients], until, took))
        for i in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.put(took)  # type: ignore[attr-defined]


def metric(port: int, name: str) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics", headers={"Authorization": "Bearer soak"})
    text = connection.getresponse().read().decode()
    connection.close()
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else float("nan")


def row(
    port: int, clients: int, took: list[float], seconds: float, batches: float
) -> dict[str, object]:
    return {
        "what": "server", "clients": clients, "requests": len(took),
        "p50 ms": statistics.median(took), "p99 ms": float(np.quantile(took, 0.99)),
        "requests/s": len(took) / seconds, "mean batch": len(took) / batches,
        "memory MB": metric(port, "process_resident_memory_bytes") / 2**20,
    }  # fmt: skip


def measure(port: int, texts: list[str]) -> list[dict[str, object]]:
    rows = []
    took: list[float] = []
    client(port, texts, time.perf_counter() + 2, [])  # warm
    for clients, seconds in ((1, SECONDS), (CLIENTS, SECONDS)):
        before = metric(port, "pairgram_batch_size_count")
        found = multiprocessing.Queue()
        process = multiprocessing.Process(target=crowd, args=(port, texts, clients, seconds, found))
        process.start()
        took = found.get()
        process.join()
        after = metric(port, "pairgram_batch_size_count")
        rows.append(row(port, clients, took, seconds, after - before))
    return rows


def limit(folder: Path, texts: list[str]) -> list[dict[str, object]]:
    """The encoder and the product with all vectors, nothing else."""
    model = load(folder)
    table = np.ascontiguousarray(model.vectors_.context)
    rows = []
    for size in (1, CLIENTS):
        took = []
        for begin in range(0, 40 * size, size):
            began = time.perf_counter()
            part = [texts[i % len(texts)] for i in range(begin, begin + size)]
            model.embed(part) @ table.T  # type: ignore[attr-defined]
            took.append(1000 * (time.perf_counter() - began))
        middle = statistics.median(took[3:])
        rows.append({"what": "limit", "clients": size, "requests": len(took) * size,
                     "p50 ms": middle, "p99 ms": float(np.quantile(took[3:], 0.99)),
                     "requests/s": 1000 * size / middle, "mean batch": size})  # fmt: skip
    return rows


def resident(pid: int) -> dict[str, float]:
    """Memory of a process by kind: its own, and files mapped into it, which the system may drop."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    kinds = {"memory MB": "VmRSS", "own MB": "RssAnon", "mapped MB": "RssFile"}
    found = {
        name: re.search(rf"^{key}:\s+(\d+)", status, re.MULTILINE) for name, key in kinds.items()
    }
    return {name: int(one[1]) / 1024 for name, one in found.items() if one}


def soak(
    pid: int, port: int, texts: list[str], names: list[str], seconds: float
) -> list[dict[str, object]]:
    """Mixed requests, good and bad, and six reloads; memory twelve times on the way."""
    stop, counts = threading.Event(), {"asked": 0, "refused": 0}
    lock = threading.Lock()

    def work(number: int) -> None:
        random = np.random.default_rng(number)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while not stop.is_set():
            text, name = str(random.choice(texts)), str(random.choice(names))
            kinds: list[tuple[str, str, object]] = [
                ("POST", "/suggest", {"text": text, "k": K}),
                ("POST", "/suggest", {"node": name, "k": K}),
                ("POST", "/embed", {"texts": [text] * 5}),
                ("GET", f"/nodes?query={name[:3]}", None),
                ("POST", "/suggest", {"text": text, "k": 10**9}),
                ("GET", "/nodes/unknown", None),
            ]
            status = ask(connection, *kinds[int(random.integers(len(kinds)))])
            with lock:
                counts["asked"] += 1
                counts["refused"] += status in (404, 422)
            if status >= 500:
                raise RuntimeError(f"answered {status}")
            time.sleep(PAUSE)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(SOAK_CLIENTS)]
    for thread in threads:
        thread.start()
    rows = []
    for part in range(13):
        reloads = int(metric(port, "pairgram_generation")) - 1
        minute = part * seconds / 720
        rows.append({"minute": minute, "reloads": reloads, **resident(pid), **counts})
        if part % 2:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            ask(connection, "POST", "/reload", {})
            connection.close()
        if part < 12:
            time.sleep(seconds / 12)
    stop.set()
    for thread in threads:
        thread.join()
    return rows


def main() -> None:
    nodes = graph()
    random = np.random.default_rng(1)
    texts = [f"{nodes.texts[v]} newly found" for v in random.choice(nodes.n_nodes, 500)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / ENCODER
        save(nodes, ENCODER, folder)
        names = nodes.names.tolist()
        process, port = start(folder)
        try:
            if "--soak" in sys.argv:
                rows = soak(process.pid, port, texts, names, float(sys.argv[-1]))
                write("serve_soak", rows, f"python benchmarks/serve.py --soak {sys.argv[-1]}")
                return
            rows = measure(port, texts)
        finally:
            process.terminate()
            process.wait()
        write("serve", rows + limit(folder, texts))


if __name__ == "__main__":
    main()
