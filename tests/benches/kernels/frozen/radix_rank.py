import numpy as np
DOMAIN = "scans and sorts"
KERNEL = "radix_rank"
N, SHIFT = 4000, 8
GROUPS = (N + 255) // 256
GRID = (256 * GROUPS, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    return {
        "keys_in": rng.integers(0, 1 << 32, N, dtype=np.uint32), "values_in": np.arange(N, dtype=np.uint32),
        "keys_out": np.zeros(N, np.uint32), "values_out": np.zeros(N, np.uint32),
        "counts": np.zeros(16 * GROUPS, np.uint32), "shift": SHIFT, "n": N,
    }


def expected(args):
    keys, values = np.zeros(N, np.uint32), np.zeros(N, np.uint32)
    counts = np.zeros((16, GROUPS), np.uint32)
    for g in range(GROUPS):
        part = slice(g * 256, min((g + 1) * 256, N))
        digit = args["keys_in"][part] >> SHIFT & 15
        order = np.argsort(digit, kind="stable")
        keys[part], values[part] = args["keys_in"][part][order], args["values_in"][part][order]
        counts[:, g] = np.bincount(digit, minlength=16)
    return {"keys_out": keys, "values_out": values, "counts": counts.ravel()}
