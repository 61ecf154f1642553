"""Counts and times in the text form that Prometheus reads."""

import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1, 2, 4, 8, 16, 32, 64)

Labels = tuple[tuple[str, str], ...]


@dataclass
class Histogram:
    """How many values lie at or below each bound, with their sum."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str) -> Iterator[str]:
        """The histogram in Prometheus's form."""
        seen = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            seen += count
            at = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f'{name}_bucket{{le="{at}"}} {seen}'
        yield f"{name}_sum {self.total:.9g}"
        yield f"{name}_count {seen}"


class Metrics:
    """What the server counts about itself.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.request("/suggest", 200, 0.004)
    >>> [line for line in metrics.text({}).splitlines() if line.startswith("pairgram_requests")]
    ['pairgram_requests_total{route="/suggest",status="200"} 1']
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[Labels, int] = {}
        self._seconds = Histogram(SECONDS)
        self._batches = Histogram(SIZES)

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        key = (("route", route), ("status", str(status)))
        with self._lock:
            self._requests[key] = self._requests.get(key, 0) + 1
            self._seconds.add(seconds)

    def batch(self, size: int) -> None:
        """Count a batch that went through the model."""
        with self._lock:
            self._batches.add(size)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All of it; `gauges` gives a help text and a value by name."""
        with self._lock:
            lines = [*_head("pairgram_requests_total", "counter", "Requests answered.")]
            lines += [
                f"pairgram_requests_total{_braces(key)} {count}"
                for key, count in sorted(self._requests.items())
            ]
            lines += _head("pairgram_request_seconds", "histogram", "Time to answer.")
            lines += self._seconds.lines("pairgram_request_seconds")
            lines += _head("pairgram_batch_size", "histogram", "Requests in a pass of the model.")
            lines += self._batches.lines("pairgram_batch_size")
        for name, (about, value) in gauges.items():
            lines += [*_head(name, "gauge", about), f"{name} {value:.12g}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _braces(labels: Labels) -> str:
    def quoted(value: str) -> str:
        return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

    return "{" + ",".join(f'{name}="{quoted(value)}"' for name, value in labels) + "}"
