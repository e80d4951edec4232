import numpy as np

DOMAIN = "graph"
KERNEL = "bfs_expand"
VERTICES, FRONTIER, LEVEL, UNSEEN = 20000, 1950, 3, 0xFFFFFFFF
GRID = (-(-FRONTIER // 128) * 128, 1, 1)
GROUP = (128, 1, 1)


def arguments(rng):
    degrees = np.minimum(rng.zipf(1.8, VERTICES) + 2, 70)
    rows = np.concatenate([[0], np.cumsum(degrees)]).astype(np.uint32)
    order = rng.permutation(VERTICES)
    distances = np.full(VERTICES, UNSEEN, np.uint32)
    distances[order[:FRONTIER]] = LEVEL
    distances[order[FRONTIER:FRONTIER + 6000]] = rng.integers(0, LEVEL, 6000)
    columns = rng.integers(0, VERTICES, rows[-1]).astype(np.uint32)
    return {
        "rows": rows, "columns": columns, "frontier": order[:FRONTIER].astype(np.uint32), "distances": distances,
        "next": np.zeros(VERTICES, np.uint32), "next_size": np.zeros(1, np.uint32), "frontier_size": FRONTIER,
        "level": LEVEL,
    }


def expected(args):
    # The order of `next` is free; `distances` and `next_size` are not.
    distances, found = args["distances"], 0
    for v in args["frontier"]:
        for w in args["columns"][args["rows"][v]:args["rows"][v + 1]]:
            if distances[w] == UNSEEN:
                distances[w] = LEVEL + 1
                found += 1
    return {"distances": distances, "next_size": np.array([found], np.uint32)}
