import hashlib
import numpy as np
DOMAIN = "hashing and ciphers"
KERNEL = "sha512"
N = 600
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)


def arguments(rng):
    return {"records": rng.integers(0, 1 << 64, N * 8, dtype=np.uint64), "digests": np.zeros(N * 8, np.uint64), "n": N}


def expected(args):
    assert hashlib.sha512(b"abc").hexdigest().startswith("ddaf35a193617abacc417349ae204131")
    raw = args["records"].tobytes()
    out = b"".join(hashlib.sha512(raw[i * 64:i * 64 + 64]).digest() for i in range(N))
    return {"digests": np.frombuffer(out, np.uint64).copy()}
