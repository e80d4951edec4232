import numpy as np
DOMAIN = "big integers"
KERNEL = "bigmul256"
N = 4000
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)


def arguments(rng):
    x = rng.integers(0, 1 << 32, (8, N), dtype=np.uint32)
    y = rng.integers(0, 1 << 32, (8, N), dtype=np.uint32)
    # long runs of carries
    x[:, :8] = 0xFFFFFFFF
    y[:, 4:12] = 0xFFFFFFFF
    return {"x": x.ravel(), "y": y.ravel(), "z": np.zeros(16 * N, np.uint32), "n": N}


def expected(args):
    x, y = (np.ascontiguousarray(args[k].reshape(8, N).T) for k in "xy")
    z = b"".join((int.from_bytes(p.tobytes(), "little") * int.from_bytes(q.tobytes(), "little")).to_bytes(64, "little")
                 for p, q in zip(x, y))
    return {"z": np.frombuffer(z, np.uint32).reshape(N, 16).T.ravel()}
