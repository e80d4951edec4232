import numpy as np

DOMAIN = "big integers"
KERNEL = "mont_pow256"
COUNT, EXPONENT = 200, 1009
GRID = (-(-COUNT // 64) * 64, 1, 1)
GROUP = (64, 1, 1)
M = 2**256 - 2**32 - 977  # the field of secp256k1


def words(x, n=8):
    return [(x >> (32 * i)) & 0xFFFFFFFF for i in range(n)]


def arguments(rng):
    values = [int.from_bytes(rng.bytes(32), "little") % M for _ in range(COUNT)]
    values[0], values[1] = 0, M - 1
    return {
        "in": np.array([words(v) for v in values], np.uint32).ravel(), "out": np.zeros(8 * COUNT, np.uint32),
        "modulus": np.array(words(M) + [-pow(M, -1, 2**32) % 2**32], np.uint32),
        "square_of_r": np.array(words(2**512 % M), np.uint32), "exponent": EXPONENT, "count": COUNT,
    }


def expected(args):
    rows = args["in"].reshape(COUNT, 8)
    values = [sum(int(w) << (32 * i) for i, w in enumerate(r)) for r in rows]
    return {"out": np.array([words(pow(v, EXPONENT, M)) for v in values], np.uint32).ravel()}
