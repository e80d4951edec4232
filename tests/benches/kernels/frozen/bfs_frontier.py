import numpy as np
DOMAIN = "graph"
KERNEL = "bfs_frontier"
N, SIZE, DEPTH = 20000, 2500, 3
GRID = (128 * ((SIZE + 127) // 128), 1, 1)
GROUP = (128, 1, 1)


def arguments(rng):
    degree = np.minimum(rng.zipf(1.8, N) + 2, 40)
    row = np.concatenate([[0], np.cumsum(degree)]).astype(np.uint32)
    level = np.full(N, 0xFFFFFFFF, np.uint32)
    order = rng.permutation(N)
    level[order[:400]] = rng.integers(0, DEPTH, 400)
    frontier = order[400:400 + SIZE].astype(np.uint32)
    level[frontier] = DEPTH
    return {
        "row": row, "col": rng.integers(0, N, row[-1]).astype(np.uint32), "frontier": frontier,
        "next": np.zeros(N, np.uint32), "next_size": np.zeros(1, np.uint32), "level": level, "depth": DEPTH, "size": SIZE,
    }


def expected(args):
    level = args["level"].copy()
    found = 0
    for v in args["frontier"]:
        for w in args["col"][args["row"][v]:args["row"][v + 1]]:
            if level[w] == 0xFFFFFFFF:
                level[w] = DEPTH + 1
                found += 1
    # the order of the next frontier depends on the order of the waves
    return {"level": level, "next_size": np.array([found], np.uint32)}
