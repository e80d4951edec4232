import numpy as np
DOMAIN = "big integers"
KERNEL = "modexp256"
N, EXPONENT = 500, 65537
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
MODULUS = 2 ** 256 - 2 ** 32 - 977


def words(x):
    return np.frombuffer(x.to_bytes(32, "little"), np.uint32)


def arguments(rng):
    bases = [int.from_bytes(rng.bytes(32), "little") % MODULUS for _ in range(N)]
    bases[0], bases[1], bases[2] = 0, 1, MODULUS - 1
    return {
        "base": np.stack([words(b) for b in bases]).T.ravel(), "modulus": words(MODULUS).copy(),
        "r2": words(2 ** 512 % MODULUS).copy(), "result": np.zeros(8 * N, np.uint32),
        "exponent": EXPONENT, "inverse": -pow(MODULUS, -1, 1 << 32) % (1 << 32), "n": N,
    }


def expected(args):
    bases = np.ascontiguousarray(args["base"].reshape(8, N).T)
    out = [words(pow(int.from_bytes(b.tobytes(), "little"), EXPONENT, MODULUS)) for b in bases]
    return {"result": np.stack(out).T.ravel()}
