"""Slow, obvious versions of what the kernels do."""

import math
from collections import deque
from itertools import accumulate, groupby

import numpy as np

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def fold(key, *values):
    for value in values:
        key = mix64((key + (value + 1) * GOLDEN) & MASK)
    return key


def below(key, n):
    while True:
        product = (key >> 32) * n
        if (product & 0xFFFFFFFF) >= ((1 << 32) - n) % n:
            return product >> 32
        key = mix64((key + GOLDEN) & MASK)


def unit(key):
    return (key >> 11) / (1 << 53)


def neighbours(edges, n, directed=False):
    lists = [set() for _ in range(n)]
    for a, b in edges:
        if a != b:
            lists[a].add(b)
            if not directed:
                lists[b].add(a)
    return [sorted(s) for s in lists]


def distances(adjacent, u):
    found = {u: 0}
    queue = deque([u])
    while queue:
        w = queue.popleft()
        for x in adjacent[w]:
            if x not in found:
                found[x] = found[w] + 1
                queue.append(x)
    return found


def pairs_sampling(adjacent, order, times, seed, heavy_from=64):
    """Rows (centre, context, order, round) of Pairs Sampling with a full BFS per centre."""
    arcs = sum(map(len, adjacent))
    heavy = {
        w for w, near in enumerate(adjacent) if len(near) >= max(heavy_from, int(arcs**0.5 / 2))
    }
    rows = []
    for u in range(len(adjacent)):
        distance = distances(adjacent, u)
        for r in range(times):
            key = fold(0, seed, r, u)
            frontier = list(adjacent[u])
            rows += [(u, v, 1, r) for v in frontier]
            for o in range(1, order):
                taken = []
                for b, w in enumerate(frontier):
                    x = successor(adjacent, distance, w, o, fold(key, o, b), heavy)
                    if x is not None:
                        taken.append(x)
                rows += [(u, v, o + 1, r) for v in taken]
                frontier = taken
    return rows


def successor(adjacent, distance, w, o, key, heavy):
    near = adjacent[w]
    if len(near) > 4:
        for attempt in range(8):
            x = near[below(fold(key, attempt), len(near))]
            if distance[x] == o + 1:
                return x
    fitting = [x for x in near if distance[x] == o + 1]
    if w in heavy:
        fitting.sort(key=lambda x: (x in heavy, x))
    return fitting[below(fold(key, 8), len(fitting))] if fitting else None


def chi_square_p(observed, expected):
    """P-value of counts against expected ones; classes expected under 5 are pooled."""
    from scipy.stats import chi2

    observed, expected = np.asarray(observed, float), np.asarray(expected, float)
    small = expected < 5
    if small.any():
        observed = np.append(observed[~small], observed[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
    keep = expected > 0
    statistic = ((observed - expected)[keep] ** 2 / expected[keep]).sum()
    return float(chi2.sf(statistic, keep.sum() - 1))


def chi_square_groups_p(groups):
    """P-value of several tables of (observed, expected) counts; classes under 5 form one."""
    from scipy.stats import chi2, poisson

    statistic, free, rare, rare_expected = 0.0, 0, 0, 0.0
    for observed, expected in groups:
        large = [(o, e) for o, e in zip(observed, expected, strict=True) if e >= 5]
        statistic += sum((o - e) ** 2 / e for o, e in large)
        free += max(len(large) - 1, 0)
        rare += sum(observed) - sum(o for o, _ in large)
        rare_expected += sum(expected) - sum(e for _, e in large)
    assert free > 0
    return min(float(chi2.sf(statistic, free)), float(poisson.sf(rare - 1, rare_expected)))


def round_randomly(expected, key):
    whole = math.floor(expected)
    return whole + (unit(key) < expected - whole)


def weighted_rows(edges, n, directed=False):
    """For every node its neighbours with weights, ascending, from {(a, b): weight}."""
    rows = [{} for _ in range(n)]
    for (a, b), weight in edges.items():
        rows[a][b] = rows[a].get(b, 0.0) + weight
        if not directed:
            rows[b][a] = rows[b].get(a, 0.0) + weight
    return [dict(sorted(row.items())) for row in rows]


def pick(row, key, weighted):
    """A neighbour: uniformly, or by weight."""
    if not weighted:
        return list(row)[below(key, len(row))]
    running = list(accumulate(row.values()))
    goal = unit(key) * running[-1]
    return next(x for x, sum_so_far in zip(row, running, strict=True) if sum_so_far > goal)


def first_order_walk(rows, start, round_, length, seed, weighted):
    walk = [start]
    for t in range(1, length):
        row = rows[walk[-1]]
        if not row:
            return walk + [-1] * (length - t)
        walk.append(pick(row, fold(0, seed, round_, start, t), weighted))
    return walk


def second_order_step(rows, before, v, p, q):
    """Probability of every next node of node2vec's walk from `before` over v."""
    mass = {}
    for x, weight in rows[v].items():
        alpha = 1 / p if x == before else 1.0 if x in rows[before] else 1 / q
        mass[x] = alpha * weight
    return {x: m / sum(mass.values()) for x, m in mass.items()}


def window_pairs(walks, window):
    """Pairs of nodes at most `window` steps apart, by centre; -1 ends a walk."""
    pairs = []
    for walk in walks:
        nodes = [v for v in walk if v >= 0]
        for t, u in enumerate(nodes):
            for s, v in enumerate(nodes):
                if s != t and abs(s - t) <= window:
                    pairs.append((u, v))
    return sorted(pairs, key=lambda pair: pair[0])


def edge_draws(rows, centres, turn, seed, per_edge, weighted):
    """Draws of LINE's edges: every centre as often as its share of the weight, randomly rounded."""
    strength = [sum(row.values()) if weighted else len(row) for row in rows]
    mean = sum(strength) / sum(map(len, rows))
    pairs = []
    for u in centres:
        key = fold(0, seed, turn, u)
        draws = round_randomly(strength[u] / mean * per_edge, key)
        pairs += [(u, pick(rows[u], fold(key, 0, k), weighted)) for k in range(draws)]
    return pairs


def noise_node(key, low, high, threshold, alias):
    i = low + below(key, high - low)
    return i if fold(key, 0) >> 32 < threshold[i] else int(alias[i])


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def sgns(chunks, parts, steps, center, context, settings, sigma=sigmoid):
    """Skip-gram in float64 over lists of pairs, in place; return the mean loss of the last turn.

    Pair after pair in the order of the schedule; after a centre's positives in a block come its
    noise nodes, evenly between them.
    """
    offset = -math.log(settings.negatives) if settings.offset else 0.0
    turns = settings.epochs * len(chunks)
    for turn in range(turns):
        pairs = chunks[turn % len(chunks)]
        loss = 0.0
        for s, step in enumerate(steps):
            rate = settings.learning_rate * max(1 - (turn + s / len(steps)) / turns, 1e-3)
            for i, j in (block for chain in step for block in chain):
                taken = block_steps(pairs, parts, i, j, settings, turn)
                for u, mine in groupby(taken, key=lambda step: step[0]):
                    listed = list(mine)
                    for batch in (listed[at : at + 8] for at in range(0, len(listed), 8)):
                        loss += sgns_step(center, context, u, batch, rate, settings, offset, sigma)
    return loss / max(len(pairs), 1)


def block_steps(pairs, parts, i, j, settings, turn):
    """(centre, context, whether linked) in the order in which a block is trained on."""
    low, high = parts.bounds[j : j + 2].tolist()
    for u in range(*parts.bounds[i : i + 2].tolist()):
        mine = [v for centre, v in pairs if centre == u]
        if not mine:
            continue
        here = [v for v in mine if low <= v < high]
        key = fold(0, settings.seed, (1 << 40) + turn, u, j)
        share = settings.negatives * float(parts.mass[j]) / settings.shared_negatives
        noise = round_randomly(len(mine) * share, key)
        drawn = 0
        for k in range(max(len(here), 1)):
            if here:
                yield u, here[k], True
            while drawn < noise * (k + 1) // max(len(here), 1):
                drawn += 1
                yield (
                    u,
                    noise_node(fold(key, drawn), low, high, parts.threshold, parts.alias),
                    False,
                )


def sgns_step(center, context, u, batch, rate, settings, offset, sigma):
    """Move u and up to eight nodes; all scores are taken before any row moves."""
    weights = [1 if linked else settings.shared_negatives for _, _, linked in batch]
    scores = [float(center[u] @ context[v]) + offset for _, v, _ in batch]
    own = float(center[u] @ center[u])
    most = [4 / (own + float(context[v] @ context[v]) + 1e-12) for _, v, _ in batch]
    for (_, v, linked), score, limit, weight in zip(batch, scores, most, weights, strict=True):
        e, c = center[u].copy(), context[v].copy()
        push = min(max(rate * weight * (linked - sigma(score)), -limit), limit)
        keep = 1 - rate * weight * settings.l2
        center[u] = keep * e + push * c
        context[v] = keep * c + push * e
    return sum(
        weight * math.log1p(math.exp(-score if linked else score))
        for (_, _, linked), score, weight in zip(batch, scores, weights, strict=True)
    )


def move_nodes(edges, n, community, sweeps):
    """Weighted edges (a, b, w), each once; loops have a = b. Moves one node after the other."""
    community = list(community)
    degree = [0.0] * n
    for a, b, w in edges:
        degree[a] += w
        degree[b] += w
    double = sum(degree) or 1e-12
    moves = 0
    for _ in range(sweeps):
        moved = 0
        for i in range(n):
            own, link = community[i], {}
            for a, b, w in edges:
                if a != b and i in (a, b):
                    c = community[b if a == i else a]
                    link[c] = link.get(c, 0.0) + w

            def gain(c, i=i, link=link):
                others = sum(degree[j] for j in range(n) if j != i and community[j] == c)
                return link.get(c, 0.0) - degree[i] * others / double

            best = own
            for c in sorted(link):
                if gain(c) > gain(best) + 1e-9:
                    best = c
            community[i] = best
            moved += best != own
        moves += moved
        if moved * 100 <= n:
            break
    return community, moves


def modularity(edges, community):
    """Σ over communities of inside / m - (degree / 2m)²; edges (a, b, w), each once."""
    m = sum(w for _, _, w in edges)
    total = 0.0
    for c in set(community):
        inside = sum(w for a, b, w in edges if community[a] == community[b] == c)
        degree = sum(w * ((community[a] == c) + (community[b] == c)) for a, b, w in edges)
        total += inside / m - (degree / (2 * m)) ** 2
    return total


def slow_mrr(rows):
    """Mean over links of 1 / rank, other links left out, ties at the mean rank."""
    found = []
    for scores, links in rows:
        others = [s for v, s in enumerate(scores) if v not in set(links.tolist())]
        for link in links:
            above = sum(s > scores[link] for s in others)
            tied = sum(s == scores[link] for s in others)
            found.append(1 / (1 + above + tied / 2))
    return sum(found) / len(found)


def bfs_parents(adjacent, root):
    """Parents in the whole breadth-first tree of a root, in the order of its queue."""
    up, queue = {root: None}, deque([root])
    while queue:
        v = queue.popleft()
        for x in adjacent[v]:
            if x not in up:
                up[x] = v
                queue.append(x)
    return up


def tree_chances(up, v, vectors):
    """p(w | v) of GraphGAN over the children of v and its parent, which comes last."""
    near = [x for x, parent in up.items() if parent == v]
    near += [] if up[v] is None else [up[v]]
    table = np.asarray(vectors, np.float64)
    height = {w: math.exp(table[v] @ table[w]) for w in near}
    return {w: height[w] / sum(height.values()) for w in near}


def graph_softmax(adjacent, root, vectors):
    """G(v | root): the chances along the way from the root to v, and of the step back from v."""
    up, found = bfs_parents(adjacent, root), {}
    for v in up:
        if v == root:
            continue
        way = [v]
        while way[-1] != root:
            way.append(up[way[-1]])
        steps = [*zip(way[:0:-1], way[-2::-1], strict=True), (v, up[v])]
        found[v] = math.prod(tree_chances(up, a, vectors)[b] for a, b in steps)
    return found


def graphgan_walks(adjacent, root, vectors, draws, seed, epoch):
    """Nodes chosen by walks in the whole tree; the last is the one gone back to."""
    up, walks = bfs_parents(adjacent, root), []
    for d in range(draws):
        walk, v, is_down = [], root, True
        while is_down:
            chances = tree_chances(up, v, vectors)
            height = unit(fold(0, seed, epoch, root, d, len(walk)))
            sums = list(accumulate(chances.values()))
            chosen = next((w for w, s in zip(chances, sums, strict=True) if height < s), None)
            chosen = list(chances)[-1] if chosen is None else chosen
            walk.append(chosen)
            is_down = chosen != up[v]
            v = chosen
        walks.append([*walk])
    return walks
