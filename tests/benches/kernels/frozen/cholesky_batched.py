import numpy as np
DOMAIN = "linear algebra"
KERNEL = "cholesky_batched"
N, BATCH = 8, 4000
GRID = (64 * ((BATCH + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"a": (1e-4, 1e-4), "b": (1e-3, 1e-4)}
ROWS, COLS = np.tril_indices(N)


def arguments(rng):
    g = rng.uniform(-1, 1, (BATCH, N, N))
    spd = g @ g.transpose(0, 2, 1) + 2.0 * np.eye(N)
    packed = spd[:, ROWS, COLS].T
    return {"a": packed.astype(np.float32).ravel(), "b": rng.uniform(-1, 1, N * BATCH).astype(np.float32), "batch": BATCH}


def expected(args):
    packed = args["a"].reshape(-1, BATCH).T.astype(np.float64)
    full = np.zeros((BATCH, N, N))
    full[:, ROWS, COLS] = packed
    full[:, COLS, ROWS] = packed
    factor = np.linalg.cholesky(full)
    x = np.linalg.solve(full, args["b"].reshape(N, BATCH).T[:, :, None].astype(np.float64))[:, :, 0]
    return {"a": factor[:, ROWS, COLS].T.astype(np.float32).ravel(), "b": x.T.astype(np.float32).ravel()}
