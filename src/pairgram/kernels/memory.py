"""Asking for memory before it is needed."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_INT32 = ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()


@intrinsic
def prefetch(typingctx: Any, array: Any, i: Any) -> Any:
    """Start to load array[i] into the cache; changes nothing, and any i is allowed."""
    signature = types.void(array, types.int64)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        spot = builder.bitcast(builder.gep(data, [args[1]]), _BYTES)
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _INT32, _INT32, _INT32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # for reading, to be kept in all levels, data and not code
        builder.call(ask, [spot, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return signature, emit
