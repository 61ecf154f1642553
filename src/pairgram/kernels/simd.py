"""Row arithmetic in a fixed number of lanes.

A compiler may only vectorise a float sum if it may reorder it, and then the result depends on the
machine. Here the order is fixed: 32 partial sums, fused multiply-add, a binary tree at the end. The
two functions are emitted as vector instructions of that width, which every target splits as it can.
Rows are padded with zeros to a multiple of LANES.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 32
_FLOAT, _INT32, _INT64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, LANES)


def padded(dim: int) -> int:
    """Row length that holds `dim` values."""
    return -(-dim // LANES) * LANES


@intrinsic
def dot(typingctx: Any, a: Any, i: Any, b: Any, j: Any) -> Any:
    """Σ_k a[i, k]·b[j, k] of C-contiguous float32 tables with padded rows."""
    signature = types.float32(a, types.int64, b, types.int64)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, width = _row(context, builder, signature.args[0], args[0], args[1])
        right, _ = _row(context, builder, signature.args[2], args[2], args[3])
        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        fma = _fused_multiply_add(builder)
        with cgutils.for_range_slice(builder, _INT64(0), width, _INT64(LANES)) as (k, _):
            x, y = _load(builder, _at(builder, left, k)), _load(builder, _at(builder, right, k))
            builder.store(builder.call(fma, [x, y, builder.load(total)]), total)
        return _sum_lanes(builder, builder.load(total))

    return signature, emit


@intrinsic
def dot_and_norm(typingctx: Any, a: Any, i: Any, b: Any, j: Any) -> Any:
    """Σ_k a[i, k]·b[j, k], the same bits as `dot`, and Σ_k b[j, k]², in one pass."""
    pair = types.UniTuple(types.float32, 2)
    signature = pair(a, types.int64, b, types.int64)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, width = _row(context, builder, signature.args[0], args[0], args[1])
        right, _ = _row(context, builder, signature.args[2], args[2], args[3])
        totals = [cgutils.alloca_once(builder, _VECTOR) for _ in range(2)]
        for total in totals:
            builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        fma = _fused_multiply_add(builder)
        with cgutils.for_range_slice(builder, _INT64(0), width, _INT64(LANES)) as (k, _):
            x, y = _load(builder, _at(builder, left, k)), _load(builder, _at(builder, right, k))
            for total, other in zip(totals, (x, y), strict=True):
                builder.store(builder.call(fma, [other, y, builder.load(total)]), total)
        sums = [_sum_lanes(builder, builder.load(total)) for total in totals]
        return context.make_tuple(builder, pair, sums)

    return signature, emit


@intrinsic
def exchange(typingctx: Any, a: Any, i: Any, b: Any, j: Any, g: Any, keep: Any) -> Any:
    """Make a[i] keep·a[i] + g·b[j], and b[j] keep·b[j] + g·a[i]: one gradient step for both."""
    signature = types.void(a, types.int64, b, types.int64, types.float32, types.float32)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, width = _row(context, builder, signature.args[0], args[0], args[1])
        right, _ = _row(context, builder, signature.args[2], args[2], args[3])
        step, kept = _broadcast(builder, args[4]), _broadcast(builder, args[5])
        fma = _fused_multiply_add(builder)
        with cgutils.for_range_slice(builder, _INT64(0), width, _INT64(LANES)) as (k, _):
            p, q = _at(builder, left, k), _at(builder, right, k)
            x, y = _load(builder, p), _load(builder, q)
            builder.store(builder.call(fma, [step, y, builder.fmul(kept, x)]), p).align = 4
            builder.store(builder.call(fma, [step, x, builder.fmul(kept, y)]), q).align = 4
        return context.get_dummy_value()

    return signature, emit


def _row(context: Any, builder: Any, array_type: Any, value: Any, row: Any) -> tuple[Any, Any]:
    array = context.make_array(array_type)(context, builder, value)
    width = cgutils.unpack_tuple(builder, array.shape)[1]
    return builder.gep(array.data, [builder.mul(row, width)]), width


def _at(builder: Any, row: Any, k: Any) -> Any:
    return builder.bitcast(builder.gep(row, [k]), _VECTOR.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    value = builder.load(pointer)
    value.align = 4
    return value


def _fused_multiply_add(builder: Any) -> Any:
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")


def _broadcast(builder: Any, scalar: Any) -> Any:
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
    return builder.shuffle_vector(first, undefined, zeros)


def _sum_lanes(builder: Any, vector: Any) -> Any:
    width = LANES
    while width > 1:
        width //= 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        halves = [
            builder.shuffle_vector(
                vector, undefined, ir.Constant(ir.VectorType(_INT32, width), list(lanes))
            )
            for lanes in (range(width), range(width, 2 * width))
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, _INT32(0))
