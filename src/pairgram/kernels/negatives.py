"""Noise nodes drawn in proportion to given masses, part by part (alias method, Vose 1991)."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pairgram.kernels.jit import njit
from pairgram.kernels.rng import GOLDEN, below, fold
from pairgram.kernels.sizes import VECTOR

M1, M2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_KEYS = ir.VectorType(ir.IntType(64), VECTOR)
_SCALE32 = 4294967296.0


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def build_aliases(mass, bounds, scaled, stack, threshold, alias):
    """Alias tables of all parts mass[bounds[p]:bounds[p + 1]]; scratch as in `build_alias`."""
    for p in range(bounds.shape[0] - 1):
        build_alias(mass, bounds[p], bounds[p + 1], scaled, stack, threshold, alias)


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def build_alias(mass, begin, end, scaled, stack, threshold, alias):
    """Alias table of mass[begin:end], written to the same places of the two output arrays.

    A draw takes a uniform slot i and a uniform 32-bit number; it is i while the number is below
    threshold[i], else alias[i]. `scaled` and `stack` are scratch of at least the part's size.
    """
    size = end - begin
    total = 0.0
    for i in range(begin, end):
        total += mass[i]
    small, large = 0, size  # two stacks that grow from the two ends
    for i in range(size):
        scaled[i] = mass[begin + i] * size / total if total > 0 else 1.0
        if scaled[i] < 1.0:
            stack[small] = i
            small += 1
        else:
            large -= 1
            stack[large] = i
    while small > 0 and large < size:
        small -= 1
        low = stack[small]
        high = stack[large]
        threshold[begin + low] = np.uint32(min(scaled[low] * _SCALE32, _SCALE32 - 1.0))
        alias[begin + low] = begin + high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            large += 1
            stack[small] = high
            small += 1
    for i in range(small):
        _certain(begin + stack[i], threshold, alias)
    for i in range(large, size):
        _certain(begin + stack[i], threshold, alias)


@njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _certain(i, threshold, alias):
    """Slot i always gives i."""
    threshold[i] = 0
    alias[i] = i


@njit(cache=True, nogil=True, inline="always")
def draw(key, begin, end, threshold, alias):
    """Node of begin..end-1 by the alias table."""
    i = begin + below(key, end - begin)
    other = np.int64(alias[i])
    # A product instead of a branch, which would be guessed wrong half of the time.
    stays = np.int64(np.uint32(fold(key, 0) >> np.uint64(32)) < threshold[i])
    return other + (i - other) * stays


@njit(cache=True, nogil=True, no_cfunc_wrapper=True)
def draw_many(key, first, size, begin, end, threshold, alias, nodes):
    """`draw` with the keys fold(key, first), fold(key, first + 1), ..., written to nodes[:size].

    Up to VECTOR - 1 more than asked for are written.
    """
    for at in range(0, size, VECTOR):
        if _draw_vector(key, first + at, begin, end, threshold, alias, nodes, at):
            for k in range(at, at + VECTOR):
                nodes[k] = draw(fold(key, first + k), begin, end, threshold, alias)


@intrinsic
def _draw_vector(
    typingctx: Any, key: Any, first: Any, begin: Any, end: Any, threshold: Any, alias: Any,
    nodes: Any, at: Any,
) -> Any:  # fmt: skip
    """`draw` with the VECTOR keys from fold(key, first) on, to nodes[at:].

    True when one of them is among the few whose slot must be drawn again: then none holds.
    """
    number = types.int64
    signature = types.boolean(types.uint64, number, number, number, threshold, alias, nodes, number)

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        seed = builder.add(args[0], builder.mul(builder.add(args[1], _word(1)), _word(GOLDEN)))
        ahead = ir.Constant(_KEYS, [k * int(GOLDEN) % 2**64 for k in range(VECTOR)])
        keys = _mixed(builder, builder.add(_spread(builder, seed), ahead))
        coin = builder.lshr(_mixed(builder, builder.add(keys, _every(int(GOLDEN)))), _every(32))
        width = _spread(builder, builder.sub(args[3], args[2]))
        product = builder.mul(builder.lshr(keys, _every(32)), width)
        slot = builder.add(builder.lshr(product, _every(32)), _spread(builder, args[2]))
        again = builder.icmp_unsigned("<", builder.and_(product, _every(2**32 - 1)), width)
        limits, others, out = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (4, 5, 6)
        )
        lanes = [ir.IntType(32)(k) for k in range(VECTOR)]
        limit, other = _every(0), _every(0)
        for lane in lanes:
            i = builder.extract_element(slot, lane)
            mine = builder.zext(builder.load(builder.gep(limits, [i])), ir.IntType(64))
            limit = builder.insert_element(limit, mine, lane)
            other = builder.insert_element(other, builder.load(builder.gep(others, [i])), lane)
        # Chosen by lanes: a branch would be guessed wrong half of the time.
        node = builder.select(builder.icmp_unsigned("<", coin, limit), slot, other)
        place = builder.bitcast(builder.gep(out, [args[7]]), _KEYS.as_pointer())
        builder.store(node, place).align = 8
        flags = builder.bitcast(again, ir.IntType(VECTOR))
        return builder.icmp_unsigned("!=", flags, ir.Constant(flags.type, 0))

    return signature, emit


def _mixed(builder: Any, x: Any) -> Any:
    """`mix64` of every lane."""
    for shift, factor in ((30, M1), (27, M2)):
        x = builder.mul(builder.xor(x, builder.lshr(x, _every(shift))), _every(int(factor)))
    return builder.xor(x, builder.lshr(x, _every(31)))


def _word(value: Any) -> Any:
    return ir.Constant(ir.IntType(64), int(value))


def _every(value: int) -> Any:
    return ir.Constant(_KEYS, [value] * VECTOR)


def _spread(builder: Any, scalar: Any) -> Any:
    undefined = ir.Constant(_KEYS, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [0] * VECTOR)
    return builder.shuffle_vector(first, undefined, zeros)
