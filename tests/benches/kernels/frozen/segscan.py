import numpy as np
DOMAIN = "scans and sorts"
KERNEL = "segscan"
N = 4 * 6300
GROUPS = (N + 1023) // 1024
GRID = (256 * GROUPS, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    return {
        "input": rng.integers(-1000, 1000, N, dtype=np.int32),
        "heads": (rng.uniform(0, 1, N) < 0.02).astype(np.uint8),
        "output": np.zeros(N, np.int32), "carry": np.zeros(2 * GROUPS, np.int32), "n4": N // 4,
    }


def expected(args):
    out, carry = np.zeros(N, np.int32), np.zeros((GROUPS, 2), np.int32)
    for g in range(GROUPS):
        total = seen = 0
        for i in range(g * 1024, min((g + 1) * 1024, N)):
            if args["heads"][i]:
                total, seen = 0, 1
            total += int(args["input"][i])
            out[i] = total
        carry[g] = seen, total
    return {"output": out, "carry": carry.ravel()}
