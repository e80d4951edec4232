import numpy as np
DOMAIN = "scans and sorts"
KERNEL = "bitonic_kv"
N, BLOCK = 3900, 512
GROUPS = (N + BLOCK - 1) // BLOCK
GRID = (256 * GROUPS, 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    # all keys differ, because the network is not stable
    keys = rng.permutation(N * 1000)[:N].astype(np.uint32)
    pairs = np.stack([keys, rng.integers(0, 1 << 32, N, dtype=np.uint32)], axis=1)
    return {"pairs": pairs.ravel(), "n": N}


def expected(args):
    pairs = args["pairs"].reshape(N, 2).copy()
    for b in range(0, N, BLOCK):
        part = pairs[b:b + BLOCK]
        pairs[b:b + BLOCK] = part[np.argsort(part[:, 0])]
    return {"pairs": pairs.ravel()}
