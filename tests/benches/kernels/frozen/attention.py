import numpy as np
DOMAIN = "machine learning"
KERNEL = "attention"
LENGTH, HEADS, DIM = 150, 3, 32
GRID = (64 * ((LENGTH + 63) // 64), HEADS, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"out": (1e-3, 1e-4)}


def arguments(rng):
    draw = lambda: rng.normal(0, 1, HEADS * LENGTH * DIM).astype(np.float16)
    return {
        "query": draw(), "key": draw(), "value": draw(), "out": np.zeros(HEADS * LENGTH * DIM, np.float32),
        "length": LENGTH, "scale": float(np.float32(np.log2(np.e) / np.sqrt(DIM))),
    }


def expected(args):
    q, k, v = (args[n].astype(np.float64).reshape(HEADS, LENGTH, DIM) for n in ("query", "key", "value"))
    s = np.einsum("hid,hjd->hij", q, k) / np.sqrt(DIM)
    s = np.where(np.tri(LENGTH, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return {"out": np.einsum("hij,hjd->hid", p, v).astype(np.float32).ravel()}
