import numpy as np
DOMAIN = "linear algebra"
KERNEL = "gemv_f16"
M, K = 150, 2004
GRID = (64 * ((M + 3) // 4), 4, 1)
GROUP = (64, 4, 1)
TOLERANCE = {"y": (1e-4, 1e-3)}


def arguments(rng):
    return {
        "a": rng.uniform(-1, 1, M * K).astype(np.float16),
        "x": rng.uniform(-1, 1, K).astype(np.float16),
        "y": rng.uniform(-1, 1, M).astype(np.float32),
        "alpha": 1.25, "beta": -0.5, "m": M, "k4": K // 4,
    }


def expected(args):
    a = args["a"].astype(np.float64).reshape(M, K)
    y = args["alpha"] * (a @ args["x"].astype(np.float64)) + args["beta"] * args["y"]
    return {"y": y.astype(np.float32)}
