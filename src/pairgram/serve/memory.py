"""Memory that the process holds, and giving back what it no longer uses."""

import contextlib
import ctypes


def resident_bytes() -> float:
    """Memory of this process now, where the system tells."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return float("nan")
    import resource

    return float(pages * resource.getpagesize())


def give_back() -> None:
    """Return free memory to the system, where its C library can.

    After a few large arrays glibc takes the next ones from its heap, and a model that went leaves
    holes there which the next one fits into only by half: the process would grow with every reload.
    """
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
