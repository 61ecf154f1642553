"""Sums of rows over the links of nodes, as a network that reads links takes them."""

from pairgram.kernels.jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def gather_links(begin, by, rows, sums):
    """sums_v = Σ of rows_w over the links w of v, which are by[begin[v] : begin[v + 1]]."""
    for v in range(sums.shape[0]):
        at, end = begin[v], begin[v + 1]
        for k in range(sums.shape[1]):
            sums[v, k] = 0
        while at + 4 <= end:  # a row of sums is read and written once for four links
            a, b, c, d = by[at], by[at + 1], by[at + 2], by[at + 3]
            for k in range(sums.shape[1]):
                sums[v, k] += (rows[a, k] + rows[b, k]) + (rows[c, k] + rows[d, k])
            at += 4
        while at < end:
            for k in range(sums.shape[1]):
                sums[v, k] += rows[by[at], k]
            at += 1
