"""Machine code of a kernel by itself, free of what only numba's runtime has."""

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba import typeof, types

from pairgram.kernels.code_files import Code, target_machine
from pairgram.kernels.jit import njit

_RETURNS = {types.none: "", types.int64: "<i8", types.float64: "<f8"}
# What numba calls when memory that a kernel allocated is let go of; kernels here allocate none.
_RELEASE = re.compile(r"^declare void @NRT_MemInfo_call_dtor\((.*?)\).*$", re.MULTILINE)
_FOREIGN = re.compile(r"^declare .*@(NRT_|numba_|Py)", re.MULTILINE)


def export(dispatcher: Any, values: tuple[Any, ...]) -> Code | None:
    """Compile a kernel for such values; None where it needs more than its arguments."""
    signature = tuple(map(typeof, values))
    options = dispatcher.targetoptions
    kept = {k: options[k] for k in ("error_model", "fastmath") if k in options}
    alone = njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **kept)(
        dispatcher.py_func
    )
    with _nothing_collected():
        alone.compile(signature)
    made = alone.overloads[signature].fndesc
    text = _RELEASE.sub(r"define internal void @NRT_MemInfo_call_dtor(\1 %0) { ret void }",
                        alone.inspect_llvm(signature))  # fmt: skip
    if _FOREIGN.search(text) or made.restype not in _RETURNS:
        return None
    module = binding.parse_assembly(text)
    module.verify()
    return Code(made.llvm_func_name, _RETURNS[made.restype], target_machine().emit_object(module))


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Context without garbage collection: going over the compiler's objects takes a third more."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
