import numpy as np

DOMAIN = "hashing and ciphers"
KERNEL = "sha3_256"
COUNT, BYTES = 150, 200
GRID = (-(-COUNT // 64) * 64, 1, 1)
GROUP = (64, 1, 1)
MASK = (1 << 64) - 1


def rotl(x, n):
    return ((x << n) | (x >> (64 - n))) & MASK if n else x


def round_constants():
    r, out = 1, []
    for _ in range(24):
        rc = 0
        for j in range(7):
            if r & 1:
                rc |= 1 << ((1 << j) - 1)
            r = (r << 1) ^ (0x171 if r & 0x80 else 0)
        out.append(rc)
    return out


def keccak_f(a):
    for rc in round_constants():
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[(x - 1) % 5] ^ rotl(c[(x + 1) % 5], 1) for x in range(5)]
        a = [[a[x][y] ^ d[x] for y in range(5)] for x in range(5)]
        b = [[0] * 5 for _ in range(5)]
        b[0][0] = a[0][0]
        x, y = 1, 0
        for t in range(24):
            b[y][(2 * x + 3 * y) % 5] = rotl(a[x][y], (t + 1) * (t + 2) // 2 % 64)
            x, y = y, (2 * x + 3 * y) % 5
        a = [[b[x][y] ^ (~b[(x + 1) % 5][y] & MASK & b[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
        a[0][0] ^= rc
    return a


def sha3(message):
    rate = 136
    padded = bytearray(message) + b"\x06"
    padded += bytes(-len(padded) % rate)
    padded[-1] |= 0x80
    a = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), rate):
        for i in range(rate // 8):
            a[i % 5][i // 5] ^= int.from_bytes(padded[start + 8 * i:start + 8 * i + 8], "little")
        a = keccak_f(a)
    return b"".join(a[i % 5][i // 5].to_bytes(8, "little") for i in range(4))


def arguments(rng):
    return {
        "messages": rng.integers(0, 2**64, COUNT * BYTES // 8, dtype=np.uint64), "digests": np.zeros(COUNT * 4, np.uint64),
        "count": COUNT, "bytes": BYTES,
    }


def expected(args):
    # NIST's examples for FIPS 202: the empty message; "abc".
    assert sha3(b"").hex() == "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"
    assert sha3(b"abc").hex() == "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"
    raw = args["messages"].tobytes()
    out = b"".join(sha3(raw[i * BYTES:(i + 1) * BYTES]) for i in range(COUNT))
    return {"digests": np.frombuffer(out, np.uint64)}
