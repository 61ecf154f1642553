"""How much one client may ask for."""

from dataclasses import dataclass

MOST_TEXT = 20_000
"""Characters of one text."""
MOST_ID = 1_000
"""Characters of a node id."""
MOST_TEXTS = 256
"""Texts of one request."""
MOST_PAIRS = 10_000
"""Pairs of one request."""
MOST_K = 1_000
"""Suggestions of one request."""
MOST_FOUND = 200
"""Nodes that a search, a list of neighbours or a look at the map gives."""


@dataclass(frozen=True)
class Limits:
    """Limits that can be set.

    Attributes
    ----------
    body
        Bytes of a request's body.
    rate
        Requests a second of one address; 0 for no limit. Twice as many may come at once.
    waiting
        Requests that wait for the model; more are turned away.
    seconds
        Time for a client to send its request, to be answered, and to take the answer.
    """

    body: int = 1 << 20
    rate: float = 100.0
    waiting: int = 512
    seconds: float = 30.0
