"""Who has the terms of a query, and how many neighbours of a node have each."""

from pairgram.kernels.jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def list_terms(terms, begin, nodes, first, found):
    """List the terms of every node: found[first[v] : first[v + 1]], ascending, terms as 0, 1, ….

    The nodes that have terms[k] are nodes[begin[terms[k]] : begin[terms[k] + 1]]; `first` has two
    places more than there are nodes, all 0 before; its last one is of no use afterwards.
    """
    for k in range(terms.shape[0]):
        for at in range(begin[terms[k]], begin[terms[k] + 1]):
            first[nodes[at] + 2] += 1
    for v in range(first.shape[0] - 1):
        first[v + 1] += first[v]
    for k in range(terms.shape[0]):
        for at in range(begin[terms[k]], begin[terms[k] + 1]):
            v = nodes[at]
            found[first[v + 1]] = k
            first[v + 1] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def sum_terms(first, found, weight, sums):
    """sums_v = Σ of the weights of the terms that node v has."""
    for v in range(sums.shape[0]):
        total = weight.dtype.type(0)
        for at in range(first[v], first[v + 1]):
            total += weight[found[at]]
        sums[v] = total


@njit(cache=True, nogil=True, error_model="numpy")
def count_around(rows, near_begin, near, most, first, found, counts):
    """counts[i, k] += neighbours of rows[i] that have term k.

    The neighbours of node v are near[near_begin[v] : near_begin[v + 1]], of which at most `most`
    are read, evenly spaced; a row below 0 has none.
    """
    for i in range(rows.shape[0]):
        if rows[i] < 0:
            continue
        start = near_begin[rows[i]]
        degree = near_begin[rows[i] + 1] - start
        for j in range(min(degree, most)):
            w = near[start + (j * degree // most if degree > most else j)]
            for at in range(first[w], first[w + 1]):
                counts[i, found[at]] += 1
