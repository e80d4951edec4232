import numpy as np

DOMAIN = "linear algebra"
KERNEL = "sgeqr2_batched"
BATCH, ROWS, COLS = 8, 53, 15
GRID = (64 * BATCH, 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"A": (1e-3, 1e-4), "tau": (1e-3, 1e-4)}


def arguments(rng):
    a = rng.uniform(-1, 1, (BATCH, COLS, ROWS)).astype(np.float32)
    a[2, 0, 1:] = 0.0
    return {"A": a.ravel(), "tau": np.zeros(BATCH * COLS, np.float32), "m": ROWS, "n": COLS}


def expected(args):
    a = args["A"].reshape(BATCH, COLS, ROWS).astype(np.float64)
    tau = np.zeros((BATCH, COLS))
    for b in range(BATCH):
        m = a[b].T
        for k in range(COLS):
            alpha, x = m[k, k], m[k + 1:, k].copy()
            if not np.any(x):
                continue
            beta = -np.copysign(np.hypot(alpha, np.linalg.norm(x)), alpha)
            tau[b, k] = (beta - alpha) / beta
            v = np.concatenate([[1.0], x / (alpha - beta)])
            m[k:, k + 1:] -= tau[b, k] * np.outer(v, v @ m[k:, k + 1:])
            m[k, k] = beta
            m[k + 1:, k] = v[1:]
    return {"A": a.astype(np.float32).ravel(), "tau": tau.astype(np.float32).ravel()}
