import numpy as np
DOMAIN = "big integers"
KERNEL = "addmod1024"
N = 1500
GRID = (256 * ((32 * N + 255) // 256), 1, 1)
GROUP = (256, 1, 1)


def arguments(rng):
    m = int.from_bytes(rng.bytes(128), "little") | 1 << 1023 | 1
    a = [int.from_bytes(rng.bytes(128), "little") % m for _ in range(N)]
    b = [int.from_bytes(rng.bytes(128), "little") % m for _ in range(N)]
    a[0], b[0] = m - 1, m - 1
    a[1], b[1] = m - 1, 1
    a[2], b[2] = 2 ** 960 - 1, 1
    a[3], b[3] = m - 2 ** 500, 2 ** 500 - 1
    pack = lambda xs: np.frombuffer(b"".join(x.to_bytes(128, "little") for x in xs), np.uint32).copy()
    return {"a": pack(a), "b": pack(b), "m": pack([m]), "out": np.zeros(32 * N, np.uint32), "n": N}


def expected(args):
    unpack = lambda v: [int.from_bytes(r.tobytes(), "little") for r in v.reshape(-1, 32)]
    m = unpack(args["m"])[0]
    out = b"".join(((x + y) % m).to_bytes(128, "little") for x, y in zip(unpack(args["a"]), unpack(args["b"])))
    return {"out": np.frombuffer(out, np.uint32).copy()}
