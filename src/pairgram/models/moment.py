"""Reading a model that another thread may fold or take up anew in the meantime."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Reader = TypeVar("Reader")
Given = ParamSpec("Given")
Found = TypeVar("Found")


def of_one_moment(
    read: Callable[Concatenate[Reader, Given], Found],
) -> Callable[Concatenate[Reader, Given], Found]:
    """A method that begins anew when the nodes of its model were renumbered while it read.

    What is folded in or taken up replaces graph, vectors and all that belongs to them at once, so
    a reader that began and ended with the same graph has seen one moment. Additions need no such
    care: the positions of what was there stay.
    """

    @wraps(read)
    def reader(self: Reader, /, *args: Given.args, **kwargs: Given.kwargs) -> Found:
        while True:
            state: dict[str, Any] = self.__dict__
            graph = state.get("graph_")
            try:
                found = read(self, *args, **kwargs)
            except Exception:
                if self.__dict__.get("graph_") is graph:
                    raise
            else:
                if self.__dict__.get("graph_") is graph:
                    return found

    return reader
