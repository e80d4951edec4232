import numpy as np
DOMAIN = "linear algebra"
KERNEL = "strsm_lower"
N, RHS = 92, 300
GRID = (64 * ((RHS + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"b": (1e-4, 1e-4)}


def arguments(rng):
    l = np.tril(rng.uniform(-0.2, 0.2, (N, N))) + np.diag(rng.uniform(1.0, 2.0, N))
    # the upper triangle is never read
    l = l + np.triu(np.full((N, N), 99.0), 1)
    return {"l": l.astype(np.float32).ravel(), "b": rng.uniform(-1, 1, N * RHS).astype(np.float32), "n": N, "nrhs": RHS}


def expected(args):
    l = np.tril(args["l"].reshape(N, N).astype(np.float64))
    x = np.linalg.solve(l, args["b"].reshape(N, RHS).astype(np.float64))
    return {"b": x.astype(np.float32).ravel()}
