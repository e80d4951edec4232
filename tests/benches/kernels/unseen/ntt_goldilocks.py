import numpy as np

DOMAIN = "big integers"
KERNEL = "ntt_goldilocks"
BATCH, SIZE = 6, 512
GRID = (256 * BATCH, 1, 1)
GROUP = (256, 1, 1)
P = 2**64 - 2**32 + 1
ROOT = pow(7, (P - 1) // SIZE, P)
SCALE = pow(SIZE, -1, P)


def arguments(rng):
    x = rng.integers(0, P, BATCH * SIZE, dtype=np.uint64)
    x[:4] = [P - 1, P - 2, 0, 0xFFFFFFFF]
    x[SIZE:2 * SIZE] = P - 1
    roots = [pow(ROOT, k, P) for k in range(SIZE // 2)]
    return {"in": x, "out": np.zeros(BATCH * SIZE, np.uint64), "roots": np.array(roots, np.uint64), "scale": SCALE}


def expected(args):
    power = np.array([pow(ROOT, k, P) for k in range(SIZE)], object)
    matrix = power[np.outer(np.arange(SIZE), np.arange(SIZE)) % SIZE]
    out = []
    for b in range(BATCH):
        x = np.array([int(v) for v in args["in"][b * SIZE:(b + 1) * SIZE]], object)
        out += [int(v) * SCALE % P for v in matrix @ x]
    return {"out": np.array(out, np.uint64)}
