import numpy as np

DOMAIN = "scans and sorts"
KERNEL = "segmented_scan"
N, TILE = 18 * 512 + 201, 512
GROUPS = -(-N // TILE)
GRID = (GROUPS * 256, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    heads = (rng.random(N) < 0.03).astype(np.uint8)
    heads[512 * 3:512 * 5] = 0
    return {
        "in": rng.integers(-1000, 1000, N, dtype=np.int32), "heads": heads, "out": np.zeros(N, np.int32),
        "carry": np.zeros(GROUPS, np.int32), "any": np.zeros(GROUPS, np.uint32), "n": N,
    }


def expected(args):
    out, carry, any_ = np.zeros(N, np.int32), np.zeros(GROUPS, np.int32), np.zeros(GROUPS, np.uint32)
    for g in range(GROUPS):
        total = 0
        for i in range(g * TILE, min(N, (g + 1) * TILE)):
            if args["heads"][i]:
                total, any_[g] = 0, 1
            total += int(args["in"][i])
            out[i] = total
        carry[g] = total
    return {"out": out, "carry": carry, "any": any_}
