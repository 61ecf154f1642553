"""Communities: nodes move to where the modularity gains most."""

import numpy as np

from pairgram.kernels.jit import njit


@njit(cache=True, nogil=True)
def move_nodes(indptr, indices, weight, degree, community, sweeps):
    """Move every node to the community c with the largest w(i, c) - k_i Σ_c / 2m, in turn.

    `degree` holds k_i, loops counted twice; Σ_c is the degree of a community without i. Ties go
    to the community a node is in, then to the smaller number. Ends after `sweeps` passes or when
    fewer than one node in a hundred moved; gives the number of moves.
    """
    n = len(degree)
    total = np.zeros(n)
    for i in range(n):
        total[community[i]] += degree[i]
    double = max(degree.sum(), 1e-12)
    link = np.zeros(n)
    met = np.empty(n, np.int64)
    moves = 0
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            own = community[i]
            total[own] -= degree[i]
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                if indices[e] == i:
                    continue
                c = community[indices[e]]
                if link[c] == 0.0:
                    met[count] = c
                    count += 1
                link[c] += weight[e]
            best, gain = own, link[own] - degree[i] * total[own] / double
            for place in range(count):
                c = met[place]
                value = link[c] - degree[i] * total[c] / double
                tie = value == gain and best != own and c < best
                if value > gain + 1e-12 or tie:
                    best, gain = c, value
            for place in range(count):
                link[met[place]] = 0.0
            total[best] += degree[i]
            community[i] = best
            moved += best != own
        moves += moved
        if moved * 100 <= n:
            break
    return moves
