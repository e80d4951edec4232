import numpy as np
DOMAIN = "scans and sorts"
KERNEL = "compact"
N = 38000
GROUPS = (N + 1023) // 1024
GRID = (256 * GROUPS, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    return {
        "input": rng.uniform(0, 1, N).astype(np.float32), "output": np.zeros(N, np.float32),
        "kept": np.zeros(GROUPS, np.uint32), "low": 0.25, "high": 0.625, "n": N,
    }


def expected(args):
    out, kept = np.zeros(N, np.float32), np.zeros(GROUPS, np.uint32)
    for g in range(GROUPS):
        part = args["input"][g * 1024:(g + 1) * 1024]
        part = part[(part >= 0.25) & (part < 0.625)]
        out[g * 1024:g * 1024 + len(part)] = part
        kept[g] = len(part)
    return {"output": out, "kept": kept}
