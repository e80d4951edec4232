import numpy as np
DOMAIN = "linear algebra"
KERNEL = "dgemm_ragged"
M, N, K = 100, 75, 70
GRID = (16 * ((N + 31) // 32), 16 * ((M + 31) // 32), 1)
GROUP = (16, 16, 1)
TOLERANCE = {"c": (1e-11, 1e-11)}


def arguments(rng):
    return {
        "a": rng.uniform(-1, 1, M * K), "b": rng.uniform(-1, 1, K * N), "c": rng.uniform(-1, 1, M * N),
        "alpha": 0.75, "beta": 1.5, "m": M, "n": N, "k": K,
    }


def expected(args):
    a, b, c = args["a"].reshape(M, K), args["b"].reshape(K, N), args["c"].reshape(M, N)
    return {"c": (args["alpha"] * (a @ b) + args["beta"] * c).ravel()}
