import numpy as np

DOMAIN = "scans and sorts"
KERNEL = "scan_lookback"
N, TILE = 61 * 1024 + 398, 1024
GROUPS = -(-N // TILE)
GRID = (GROUPS * 256, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    return {
        "in": rng.integers(0, 1 << 20, N, dtype=np.uint32), "out": np.zeros(N, np.uint32),
        "status": np.zeros(GROUPS, np.uint64), "ticket": np.zeros(1, np.uint32), "n": N,
    }


def expected(args):
    total = np.cumsum(args["in"], dtype=np.uint32)
    ends = np.append(total[TILE - 1::TILE][:N // TILE], total[-1]).astype(np.uint64)
    return {
        "out": total - args["in"], "status": ends | np.uint64(2 << 32), "ticket": np.array([GROUPS], np.uint32),
    }
