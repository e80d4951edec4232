import numpy as np

DOMAIN = "graph"
KERNEL = "triangle_support"
VERTICES = 260


def graph():
    # Fixed, because the number of edges decides the grid: communities, and a few vertices with many neighbours.
    rng = np.random.default_rng(77)
    same = (np.arange(VERTICES)[:, None] // 20) == (np.arange(VERTICES)[None] // 20)
    p = np.where(same, 0.5, 0.02)
    p[:4] = 0.6
    return np.triu(rng.random((VERTICES, VERTICES)) < p, 1)


ADJACENT = graph()
EDGES = int(ADJACENT.sum())
GRID = (-(-EDGES // 64) * 64, 1, 1)
GROUP = (64, 1, 1)


def arguments(rng):
    sources, columns = np.nonzero(ADJACENT)
    rows = np.concatenate([[0], np.cumsum(ADJACENT.sum(1))])
    return {
        "rows": rows.astype(np.uint32), "columns": columns.astype(np.uint32), "sources": sources.astype(np.uint32),
        "support": np.zeros(EDGES, np.uint32), "total": np.zeros(1, np.uint64), "edges": EDGES,
    }


def expected(args):
    both = (ADJACENT | ADJACENT.T).astype(np.int64)
    common = both @ both
    support = common[args["sources"], args["columns"]]
    return {"support": support.astype(np.uint32), "total": np.array([support.sum() // 3], np.uint64)}
