import numpy as np

DOMAIN = "big integers"
KERNEL = "bigmul_team"
COUNT = 61
GRID = (-(-COUNT // 2) * 64, 1, 1)
GROUP = (64, 1, 1)


def limbs(x, n):
    return [(x >> (32 * i)) & 0xFFFFFFFF for i in range(n)]


def numbers(words):
    return [sum(int(w) << (32 * i) for i, w in enumerate(r)) for r in words.reshape(-1, 32)]


def arguments(rng):
    a = rng.integers(0, 2**32, (COUNT, 32), dtype=np.uint32)
    b = rng.integers(0, 2**32, (COUNT, 32), dtype=np.uint32)
    top = 2**1024
    # Products with long runs of carries.
    for i, (x, y) in enumerate([(top - 1, top - 1), (top - 1, 1), (1 << 1023, 2), (top - 1, 2**512 + 1), (2**992 + 1, top - 2**32)]):
        a[i], b[i] = limbs(x, 32), limbs(y, 32)
    return {"a": a.ravel(), "b": b.ravel(), "out": np.zeros(COUNT * 64, np.uint32), "count": COUNT}


def expected(args):
    products = [x * y for x, y in zip(numbers(args["a"]), numbers(args["b"]))]
    return {"out": np.array([limbs(p, 64) for p in products], np.uint32).ravel()}
