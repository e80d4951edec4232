import numpy as np
DOMAIN = "graph"
KERNEL = "triangle_count"
N, EDGES = 500, 6700
GRID = (256 * ((EDGES + 255) // 256), 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    pairs = set()
    while len(pairs) < EDGES:
        u, v = sorted((int(N * rng.uniform() ** 2), int(N * rng.uniform() ** 1.5)))
        if u != v:
            pairs.add((u, v))
    edges = np.array(sorted(pairs), np.uint32)
    row = np.concatenate([[0], np.cumsum(np.bincount(edges[:, 0], minlength=N))]).astype(np.uint32)
    return {
        "row": row, "col": edges[:, 1].copy(), "from": edges[:, 0].copy(), "per_edge": np.zeros(EDGES, np.uint32),
        "total": np.zeros(1, np.uint64), "edges": EDGES,
    }


def expected(args):
    a = np.zeros((N, N), np.int64)
    a[args["from"], args["col"]] = 1
    common = (a @ a.T)[args["from"], args["col"]]
    full = a + a.T
    assert int(common.sum()) == int(np.trace(full @ full @ full)) // 6
    return {"per_edge": common.astype(np.uint32), "total": np.array([common.sum()], np.uint64)}
