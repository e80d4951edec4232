import numpy as np
DOMAIN = "graph"
KERNEL = "pagerank_pull"
N = 3000
GROUPS = (8 * N + 255) // 256
GRID = (256 * GROUPS, 1, 1)
GROUP = (256, 1, 1)
TOLERANCE = {"new_rank": (1e-4, 1e-8), "change": (1e-3, 1e-7)}
DAMPING = 0.85


def arguments(rng):
    degree = np.minimum(rng.zipf(1.7, N), 200)
    row = np.concatenate([[0], np.cumsum(degree)]).astype(np.uint32)
    source = rng.integers(0, N, row[-1]).astype(np.uint32)
    out_degree = np.maximum(np.bincount(source, minlength=N), 1)
    rank = rng.uniform(0.5, 1.5, N)
    return {
        "row": row, "source": source, "rank": (rank / rank.sum()).astype(np.float32),
        "inverse_degree": (1 / out_degree).astype(np.float32), "new_rank": np.zeros(N, np.float32),
        "change": np.zeros(GROUPS, np.float32), "base": float(np.float32((1 - DAMPING) / N)),
        "damping": float(np.float32(DAMPING)), "n": N,
    }


def expected(args):
    contribution = args["rank"].astype(np.float64) * args["inverse_degree"]
    new = np.array([args["base"] + args["damping"] * contribution[args["source"][args["row"][v]:args["row"][v + 1]]].sum()
                    for v in range(N)])
    delta = np.abs(new - args["rank"])
    change = np.array([delta[g * 32:(g + 1) * 32].sum() for g in range(GROUPS)])
    return {"new_rank": new.astype(np.float32), "change": change.astype(np.float32)}
