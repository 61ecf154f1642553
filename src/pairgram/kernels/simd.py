"""Row arithmetic in a fixed number of lanes.

A compiler may only vectorise a float sum if it may reorder it, and then the result depends on the
machine. Here the order is fixed: 32 partial sums, fused multiply-add, a binary tree at the end. The
functions are emitted as vector instructions of that width, which every target splits as it can.
Rows are padded with zeros to a multiple of LANES.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from pairgram.kernels.sizes import CACHE_LINE, LANES, ROWS

_BYTE = ir.IntType(8)
_FLOAT, _INT32, _INT64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, LANES)


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
def dots_and_norms(
    typingctx: Any, a: Any, i: Any, b: Any, nodes: Any, begin: Any, at: Any, out: Any
) -> Any:
    """For the ROWS nodes j from nodes[begin] on: Σ_k a[i, k]·b[j, k] and Σ_k b[j, k]².

    Written to dots[begin:] and norms[begin:], with the bits of `dot`. The rows are read once, and
    the trees of all sums are folded into one.
    """
    signature = types.void(a, types.int64, b, nodes, types.int64, types.int64, out)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        left, width = _row(context, builder, kinds[0], args[0], args[1])
        picked = _values(context, builder, kinds[3], args[3], builder.add(args[4], args[5]))
        rows = [
            _row(context, builder, kinds[2], args[2], _item(builder, picked, k))[0]
            for k in range(ROWS)
        ]
        totals = [cgutils.alloca_once(builder, _VECTOR) for _ in range(2 * ROWS)]
        for total in totals:
            builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        fma = _fused_multiply_add(builder)
        with cgutils.for_range_slice(builder, _INT64(0), width, _INT64(LANES)) as (k, _):
            x = _load(builder, _at(builder, left, k))
            for r, row in enumerate(rows):
                y = _load(builder, _at(builder, row, k))
                for total, other in ((totals[r], x), (totals[ROWS + r], y)):
                    builder.store(builder.call(fma, [other, y, builder.load(total)]), total)
        sums = _sum_each(builder, [builder.load(total) for total in totals])
        for part, row in ((0, 0), (ROWS, 1)):
            half = _pick(builder, sums, sums, list(range(part, part + ROWS)))
            to, _ = _row(context, builder, kinds[6], args[6], _INT64(row))
            place = builder.gep(to, [args[5]])
            builder.store(half, builder.bitcast(place, half.type.as_pointer())).align = 4
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def exchange(
    typingctx: Any,
    a: Any,
    i: Any,
    b: Any,
    nodes: Any,
    begin: Any,
    size: Any,
    steps: Any,
) -> Any:
    """Gradient steps of a[i] with b[j], one after another, for j = nodes[k], k from begin to end-1.

    A step makes a[i] keep·a[i] + g·b[j], and b[j] keep·b[j] + g·a[i], with g = steps[k] and keep =
    keeps[k]. LANES values of a[i] stay in registers over all steps; where i = j in one table,
    `exchange_within` must be used.
    """
    signature = types.void(a, types.int64, b, nodes, types.int64, types.int64, steps)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        left, width = _row(context, builder, kinds[0], args[0], args[1])
        picked = _values(context, builder, kinds[3], args[3], args[4])
        step, keep = (_row(context, builder, kinds[6], args[6], _INT64(r))[0] for r in (0, 1))
        fma = _fused_multiply_add(builder)
        own = cgutils.alloca_once(builder, _VECTOR)

        def sweep(kept: Callable[[Any, Any], Any]) -> None:
            with cgutils.for_range_slice(builder, _INT64(0), width, _INT64(LANES)) as (lane, _):
                builder.store(_load(builder, _at(builder, left, lane)), own)
                with cgutils.for_range_slice(builder, _INT64(0), args[5], _INT64(1)) as (k, _):
                    row, _ = _row(context, builder, kinds[2], args[2], _item(builder, picked, k))
                    q = _at(builder, row, lane)
                    x, y = builder.load(own), _load(builder, q)
                    g = _broadcast(builder, _item(builder, step, k))
                    builder.store(builder.call(fma, [g, y, kept(x, k)]), own)
                    builder.store(builder.call(fma, [g, x, kept(y, k)]), q).align = 4
                builder.store(builder.load(own), _at(builder, left, lane)).align = 4

        def decayed(x: Any, k: Any) -> Any:
            return builder.fmul(_broadcast(builder, _item(builder, keep, k)), x)

        # Without decay, which all steps have or none, half of the products can be spared.
        whole = builder.fcmp_ordered("==", _item(builder, keep, 0), ir.Constant(_FLOAT, 1.0))
        with builder.if_else(whole) as (then, otherwise):
            with then:
                sweep(lambda x, k: x)
            with otherwise:
                sweep(decayed)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def prefetch(typingctx: Any, a: Any, i: Any) -> Any:
    """Ask for row a[i] to be brought near; changes nothing."""
    signature = types.void(a, types.int64)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row, width = _row(context, builder, signature.args[0], args[0], args[1])
        bytes_ = builder.bitcast(row, _BYTE.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT32, _INT32, _INT32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        size = builder.mul(width, _INT64(4))
        step = _INT64(4 * LANES)
        with cgutils.for_range_slice(builder, _INT64(0), size, step) as (at, _):
            for line in range(0, 4 * LANES, CACHE_LINE):
                place = builder.gep(bytes_, [builder.add(at, _INT64(line))])
                builder.call(ask, [place, _INT32(1), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def exchange_within(typingctx: Any, a: Any, i: Any, b: Any, j: Any, g: Any, keep: Any) -> Any:
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


def _values(context: Any, builder: Any, array_type: Any, value: Any, at: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, value).data, [at])


def _item(builder: Any, values: Any, k: Any) -> Any:
    return builder.load(builder.gep(values, [_INT64(k) if isinstance(k, int) else k]))


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
    """Sum by a binary tree: lane l and lane l + half, halved until one is left."""
    width = LANES
    while width > 1:
        width //= 2
        halves = [
            _pick(builder, vector, vector, list(lanes))
            for lanes in (range(width), range(width, 2 * width))
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, _INT32(0))


def _sum_each(builder: Any, vectors: list[Any]) -> Any:
    """`_sum_lanes` of each of 2, 4, ... vectors, as one: at every level two share an addition."""
    size = LANES
    while size > 1:
        size //= 2
        if len(vectors) == 1:
            pairs = [(vectors[0], vectors[0], 1)]
        else:
            pairs = [(x, y, 2) for x, y in zip(vectors[::2], vectors[1::2], strict=True)]
        vectors = [_fold_halves(builder, x, y, both, size) for x, y, both in pairs]
    return vectors[0]


def _fold_halves(builder: Any, x: Any, y: Any, both: int, half: int) -> Any:
    """Add the halves of every run of 2·half lanes of x, and of y if both."""
    runs = range(0, both * x.type.count, 2 * half)
    low, high = (
        _pick(builder, x, y, [r + shift + k for r in runs for k in range(half)])
        for shift in (0, half)
    )
    return builder.fadd(low, high)


def _pick(builder: Any, x: Any, y: Any, lanes: list[int]) -> Any:
    """Lanes of x followed by y."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_INT32, len(lanes)), lanes))
