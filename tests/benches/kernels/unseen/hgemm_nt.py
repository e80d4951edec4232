import numpy as np

DOMAIN = "linear algebra"
KERNEL = "hgemm_nt"
M, N, K = 150, 134, 96
GRID = (-(-N // 32) * 8, -(-M // 32) * 8, 1)
GROUP = (8, 8, 1)
TOLERANCE = {"C": (2e-3, 2e-3)}


def arguments(rng):
    return {
        "A": rng.uniform(-1, 1, (M, K)).astype(np.float16).ravel(),
        "B": rng.uniform(-1, 1, (N, K)).astype(np.float16).ravel(),
        "C": rng.uniform(-1, 1, (M, N)).astype(np.float16).ravel(),
        "M": M, "N": N, "K": K, "alpha": 0.75, "beta": -0.5,
    }


def expected(args):
    a = args["A"].astype(np.float64).reshape(M, K)
    b = args["B"].astype(np.float64).reshape(N, K)
    c = args["C"].astype(np.float64).reshape(M, N)
    return {"C": (args["alpha"] * (a @ b.T) + args["beta"] * c).astype(np.float16).ravel()}
