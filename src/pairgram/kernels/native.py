"""Kernels called as machine code that an earlier process compiled.

Importing numba and having it load its own cache takes longer than embedding a graph of 100,000
links. What a kernel needs at run time is its machine code alone: numba compiles it once, the code
is kept in a file, and later processes map it with llvmlite and call it by the C convention, which
also lets other threads run. Kernels for this use arrays and numbers only and allocate nothing;
all else (another platform, bounds to check, no code made) is left to numba's own dispatcher.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from pairgram.kernels import beside, code_files

_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_int64
_NUMBERS: dict[str, Any] = {
    "|b1": ctypes.c_uint8, "<i4": ctypes.c_int32, "<i8": ctypes.c_int64, "<u4": ctypes.c_uint32,
    "<u8": ctypes.c_uint64, "<f4": ctypes.c_float, "<f8": ctypes.c_double,
}  # fmt: skip
_PLAIN = {bool: "|b1", int: "<i8", float: "<f8"}
# Statuses of a call that went well: a value, or nothing to return.
_DONE = (0, -2)
_LOCK = threading.Lock()
# Wishes that only numba's own dispatcher can meet.
_NUMBA_ONLY = ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT")

Kind = tuple[Any, ...]


class Kernel:
    """A kernel of a module of this package, by name.

    Parameters
    ----------
    module, name
        Where it is defined. The module, and numba with it, is imported only to compile.

    Examples
    --------
    >>> bounds = np.zeros(3, np.int64)
    >>> nodes, parts = np.array([0, 1], np.int32), np.array([0, 1], np.int32)
    >>> out = np.empty(2, np.int32), np.empty(2, np.int32)
    >>> Kernel("sgns", "bucket")(0, 2, nodes, nodes[::-1].copy(), parts, bounds, bounds + 0, *out)
    >>> out[1].tolist()
    [0, 1]
    """

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name
        self._calls: dict[Kind, Callable[..., Any]] = {}

    def __call__(self, *values: Any) -> Any:
        """Call the kernel; it is compiled first where no code for such values is kept."""
        kinds = tuple(map(_kind, values))
        call = self._calls.get(kinds)
        if call is None:
            with _LOCK:
                call = self._calls.get(kinds) or self._find(kinds, values)
                self._calls[kinds] = call
        return call(*values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds its own code."""
        return Kernel, (self._module, self._name)

    def _find(self, kinds: Kind, values: tuple[Any, ...]) -> Callable[..., Any]:
        if not usable():
            return self._dispatcher()
        code = code_files.read(self._name, kinds)
        if code is None and beside.wait(self._name):
            code = code_files.read(self._name, kinds)
        if code is None:
            from pairgram.kernels.export import export

            code = export(self._dispatcher(), values)
            if code is None:
                return self._dispatcher()
            code_files.write(self._name, kinds, code)
        return _entry(self._name, code, values)

    def _dispatcher(self) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(
            import_module(f"pairgram.kernels.{self._module}"), self._name
        )
        return found


def usable() -> bool:
    """Whether the C convention is known here, and nothing asks for numba's own checks."""
    asked = any(os.environ.get(name, "0") != "0" for name in _NUMBA_ONLY)
    return sys.platform == "linux" and sys.byteorder == "little" and not asked


def _kind(value: Any) -> Any:
    """What the compiler must know of a value."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype.str, value.ndim, flags.c_contiguous, flags.writeable
    return type(value)


def _number(value: Any) -> str:
    plain = _PLAIN.get(type(value))
    return value.dtype.str if plain is None else plain


def _entry(name: str, code: code_files.Code, values: tuple[Any, ...]) -> Callable[..., Any]:
    """Function that calls machine code with values of the same kinds."""
    types: list[Any] = [_POINTER, _POINTER]
    for value in values:
        if isinstance(value, np.ndarray):
            types += [_POINTER, _POINTER, _SIZE, _SIZE, _POINTER, *[_SIZE] * (2 * value.ndim)]
        else:
            types.append(_NUMBERS[_number(value)])
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(code_files.address(code))
    result_type = _NUMBERS.get(code.returns, _SIZE)
    nothing = code.returns == ""

    def call(*given: Any) -> Any:
        result, fault = result_type(), _POINTER()
        status = function(ctypes.byref(result), ctypes.byref(fault), *_flat(given))
        if status not in _DONE:
            raise RuntimeError(f"kernel {name} ended with status {status}")
        return None if nothing else result.value

    return call


def _flat(values: tuple[Any, ...]) -> list[Any]:
    """Values as C takes them: an array is its size, item size, memory, shape and strides."""
    flat: list[Any] = []
    for value in values:
        if isinstance(value, np.ndarray):
            memory = value.__array_interface__["data"][0]
            flat += (None, None, value.size, value.itemsize, memory, *value.shape, *value.strides)
        else:
            flat.append(value if isinstance(value, int | float) else value.item())
    return flat
