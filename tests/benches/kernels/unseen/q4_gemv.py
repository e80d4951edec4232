import numpy as np

DOMAIN = "machine learning"
KERNEL = "q4_gemv"
ROWS, BLOCKS = 131, 76
GRID = (-(-ROWS // 2) * 64, 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"output": (1e-4, 1e-3)}


def pack(scales, data):
    raw = np.zeros((scales.size, 2 + data.shape[1]), np.uint8)
    raw[:, :2] = scales.astype(np.float16).view(np.uint8).reshape(-1, 2)
    raw[:, 2:] = data.view(np.uint8)
    return raw.ravel()


def arguments(rng):
    return {
        "weights": pack(rng.uniform(0.001, 0.02, ROWS * BLOCKS), rng.integers(0, 256, (ROWS * BLOCKS, 16)).astype(np.uint8)),
        "input": pack(rng.uniform(0.001, 0.05, BLOCKS), rng.integers(-127, 128, (BLOCKS, 32)).astype(np.int8)),
        "output": np.zeros(ROWS, np.float32), "rows": ROWS, "blocks": BLOCKS,
    }


def expected(args):
    w = args["weights"].reshape(ROWS, BLOCKS, 18)
    x = args["input"].reshape(BLOCKS, 34)
    ws = w[:, :, :2].copy().view(np.float16)[:, :, 0].astype(np.float64)
    xs = x[:, :2].copy().view(np.float16)[:, 0].astype(np.float64)
    q = np.concatenate([w[:, :, 2:] & 15, w[:, :, 2:] >> 4], -1).astype(np.int64) - 8
    xq = x[:, 2:].copy().view(np.int8).astype(np.int64)
    return {"output": ((q * xq).sum(-1) * ws * xs).sum(1).astype(np.float32)}
