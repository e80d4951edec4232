import numpy as np

DOMAIN = "scans and sorts"
KERNEL = "radix_block_sort"
N, TILE, SHIFT = 13 * 1024 - 337, 1024, 12
GROUPS = -(-N // TILE)
GRID = (GROUPS * 256, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    keys = rng.integers(0, 2**32, N, dtype=np.uint32)
    keys[2 * TILE:3 * TILE] &= np.uint32(0xFFFF5FFF)  # a block in which some digits do not occur
    return {
        "keys_in": keys, "vals_in": np.arange(N, dtype=np.uint32), "keys_out": np.zeros(N, np.uint32),
        "vals_out": np.zeros(N, np.uint32), "counts": np.zeros(16 * GROUPS, np.uint32),
        "starts": np.zeros(16 * GROUPS, np.uint32), "n": N, "shift": SHIFT, "groups": GROUPS,
    }


def expected(args):
    keys, vals = args["keys_in"].copy(), args["vals_in"].copy()
    counts, starts = np.zeros((16, GROUPS), np.uint32), np.zeros((GROUPS, 16), np.uint32)
    for g in range(GROUPS):
        s = slice(g * TILE, min(N, (g + 1) * TILE))
        digit = (keys[s] >> SHIFT) & 15
        order = np.argsort(digit, kind="stable")
        keys[s], vals[s] = keys[s][order], vals[s][order]
        counts[:, g] = np.bincount(digit, minlength=16)
        starts[g] = np.cumsum(counts[:, g]) - counts[:, g]
    return {"keys_out": keys, "vals_out": vals, "counts": counts.ravel(), "starts": starts.ravel()}
