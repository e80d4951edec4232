import numpy as np

DOMAIN = "stencils"
KERNEL = "life_bits"
WORDS, ROWS, T = 19, 83, 6
GRID = (-(-WORDS // 8) * 8, -(-ROWS // 32) * 32, 1)
GROUP = (8, 32, 1)


def cells(words):
    return ((words.reshape(ROWS, WORDS, 1) >> np.arange(32, dtype=np.uint32)) & 1).reshape(ROWS, WORDS * 32)


def arguments(rng):
    return {
        "in": rng.integers(0, 2**32, ROWS * WORDS, dtype=np.uint32) & rng.integers(0, 2**32, ROWS * WORDS, dtype=np.uint32),
        "out": np.zeros(ROWS * WORDS, np.uint32), "words": WORDS, "rows": ROWS,
    }


def expected(args):
    b = cells(args["in"]).astype(np.int64)
    for _ in range(T):
        n = sum(np.roll(b, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - b
        b = ((n == 3) | ((n == 2) & (b == 1))).astype(np.int64)
    bits = b.reshape(ROWS, WORDS, 32) << np.arange(32)
    return {"out": bits.sum(2).astype(np.uint32).ravel()}
