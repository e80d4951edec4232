import numpy as np
DOMAIN = "machine learning"
KERNEL = "layernorm"
ROWS, PAIRS = 60, 700
SIZE = 2 * PAIRS
GRID = (256 * ROWS, 1, 1)
GROUP = (256, 1, 1)
TOLERANCE = {"out": (2e-3, 2e-3)}


def arguments(rng):
    half = lambda a: a.astype(np.float16).ravel()
    return {
        "x": half(rng.normal(0.5, 2, (ROWS, SIZE))), "residual": half(rng.normal(0, 1, (ROWS, SIZE))),
        "gain": half(rng.uniform(0.5, 1.5, SIZE)), "bias": half(rng.uniform(-1, 1, SIZE)),
        "out": np.zeros(ROWS * SIZE, np.float16), "pairs": PAIRS,
        "inverse_size": float(np.float32(1 / SIZE)), "epsilon": float(np.float32(1e-5)),
    }


def expected(args):
    x, r, gain, bias = (args[k].astype(np.float64) for k in ("x", "residual", "gain", "bias"))
    v = (x + r).reshape(ROWS, SIZE)
    v = (v - v.mean(1, keepdims=True)) / np.sqrt(v.var(1, keepdims=True) + 1e-5)
    return {"out": (v * gain + bias).astype(np.float16).ravel()}
