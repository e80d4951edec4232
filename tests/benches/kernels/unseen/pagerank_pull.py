import numpy as np

DOMAIN = "graph"
KERNEL = "pagerank_pull"
VERTICES, DAMPING = 1750, 0.85
GROUPS = -(-VERTICES // 32)
GRID = (GROUPS * 256, 1, 1)
GROUP = (256, 1, 1)
TOLERANCE = {"ranks": (1e-4, 1e-9), "next_contributions": (1e-4, 1e-9), "changes": (1e-3, 1e-6)}


def arguments(rng):
    degrees = np.minimum(rng.zipf(1.6, VERTICES), 200) - 1
    rows = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint32)
    columns = rng.integers(0, VERTICES, rows[-1]).astype(np.uint32)
    out = np.bincount(columns, minlength=VERTICES).astype(np.uint32)
    ranks = rng.uniform(0.5, 1.5, VERTICES) / VERTICES
    contributions = np.where(out > 0, ranks / np.maximum(out, 1), 0)
    return {
        "rows": rows, "columns": columns, "out_degrees": out, "contributions": contributions.astype(np.float32),
        "ranks": ranks.astype(np.float32), "next_contributions": np.full(VERTICES, -1, np.float32),
        "changes": np.zeros(GROUPS, np.float32), "vertices": VERTICES, "damping": DAMPING,
    }


def expected(args):
    c = args["contributions"].astype(np.float64)
    new = np.array([(1 - DAMPING) / VERTICES + DAMPING * c[args["columns"][args["rows"][v]:args["rows"][v + 1]]].sum()
                    for v in range(VERTICES)])
    change = np.abs(new - args["ranks"])
    out = args["out_degrees"]
    return {
        "ranks": new.astype(np.float32),
        "next_contributions": np.where(out > 0, new / np.maximum(out, 1), 0).astype(np.float32),
        "changes": np.array([change[g * 32:(g + 1) * 32].sum() for g in range(GROUPS)], np.float32),
    }
