import numpy as np
DOMAIN = "machine learning"
KERNEL = "gemv_q4"
ROWS, BLOCKS = 150, 72
GRID = (32 * ((ROWS + 3) // 4), 4, 1)
GROUP = (32, 4, 1)
TOLERANCE = {"y": (1e-3, 1e-3)}
Q4 = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])


def arguments(rng):
    w = np.zeros(ROWS * BLOCKS, Q4)
    w["scale"] = rng.uniform(0.01, 0.1, ROWS * BLOCKS)
    w["nibbles"] = rng.integers(0, 256, (ROWS * BLOCKS, 16))
    return {
        "weights": w.view(np.uint8), "x": rng.uniform(-1, 1, BLOCKS * 32).astype(np.float32),
        "y": np.zeros(ROWS, np.float32), "rows": ROWS, "blocks": BLOCKS,
    }


def expected(args):
    w = args["weights"].view(Q4)
    q = np.concatenate([w["nibbles"] & 15, w["nibbles"] >> 4], axis=1).astype(np.float64) - 8
    full = (q * w["scale"].astype(np.float64)[:, None]).reshape(ROWS, BLOCKS * 32)
    return {"y": (full @ args["x"].astype(np.float64)).astype(np.float32)}
