import numpy as np
DOMAIN = "linear algebra"
KERNEL = "spmv_sell"
N, SLICE, SIGMA = 9000, 64, 512
GRID = (128 * ((N + 127) // 128), 1, 1)
GROUP = (128, 1, 1)
TOLERANCE = {"y": (1e-11, 1e-11)}


def arguments(rng):
    lengths = np.minimum(rng.geometric(0.08, N), 60)
    order = np.concatenate([b + np.argsort(-lengths[b:b + SIGMA], kind="stable") for b in range(0, N, SIGMA)])
    slices = (N + SLICE - 1) // SLICE
    start = np.zeros(slices + 1, np.uint32)
    for s in range(slices):
        start[s + 1] = start[s] + SLICE * lengths[order[s * SLICE:(s + 1) * SLICE]].max()
    col = np.zeros(start[-1], np.uint32)
    val = np.zeros(start[-1], np.float64)
    for r, old in enumerate(order):
        k = lengths[old]
        places = start[r // SLICE] + r % SLICE + SLICE * np.arange(k)
        col[places] = np.sort(rng.choice(N, k, replace=False))
        val[places] = rng.uniform(-1, 1, k)
    return {
        "start": start, "col": col, "val": val, "perm": order.astype(np.uint32),
        "x": rng.uniform(-1, 1, N), "y": np.zeros(N), "n": N,
    }


def expected(args):
    y = np.zeros(N)
    for r in range(N):
        places = np.arange(args["start"][r // SLICE] + r % SLICE, args["start"][r // SLICE + 1], SLICE)
        y[args["perm"][r]] = np.dot(args["val"][places], args["x"][args["col"][places]])
    return {"y": y}
