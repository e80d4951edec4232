import numpy as np

DOMAIN = "machine learning"
KERNEL = "qgemm_i8"
M, N, K, ZERO = 83, 118, 148, -5
GRID = (-(-N // 32) * 16, -(-M // 32) * 16, 1)
GROUP = (16, 16, 1)


def arguments(rng):
    a = rng.integers(-128, 128, (M, K)).astype(np.int8)
    b = rng.integers(-127, 128, (N, K)).astype(np.int8)
    return {
        "A": a.ravel().view(np.int32), "B": b.ravel().view(np.int32),
        "bias": rng.integers(-20000, 20000, N).astype(np.int32),
        "multipliers": rng.integers(1 << 30, (1 << 31) - 1, N).astype(np.int32),
        "shifts": rng.integers(8, 12, N).astype(np.int32), "C": np.zeros(M * N, np.int8), "M": M, "N": N, "words": K // 4,
        "zero": ZERO,
    }


def expected(args):
    a = args["A"].view(np.int8).reshape(M, K).astype(np.int64)
    b = args["B"].view(np.int8).reshape(N, K).astype(np.int64)
    acc = a @ b.T + args["bias"]
    high = (acc * args["multipliers"].astype(np.int64) + (1 << 30)) >> 31
    shift = args["shifts"].astype(np.int64)
    return {"C": np.clip(((high + (1 << (shift - 1))) >> shift) + ZERO, -128, 127).astype(np.int8).ravel()}
