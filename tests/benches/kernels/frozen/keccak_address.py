import numpy as np
DOMAIN = "hashing and ciphers"
KERNEL = "keccak_address"
N = 500
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
MASK = (1 << 64) - 1


def rotl(v, n):
    return (v << n | v >> (64 - n)) & MASK if n else v


def permutation(a):
    # a[x][y], after the Keccak reference
    lfsr = 1
    for _ in range(24):
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        a = [[a[x][y] ^ c[(x + 4) % 5] ^ rotl(c[(x + 1) % 5], 1) for y in range(5)] for x in range(5)]
        b = [[0] * 5 for _ in range(5)]
        b[0][0] = a[0][0]
        x, y = 1, 0
        for t in range(24):
            b[y][(2 * x + 3 * y) % 5] = rotl(a[x][y], (t + 1) * (t + 2) // 2 % 64)
            x, y = y, (2 * x + 3 * y) % 5
        a = [[b[x][y] ^ (~b[(x + 1) % 5][y] & b[(x + 2) % 5][y] & MASK) for y in range(5)] for x in range(5)]
        for j in range(7):
            if lfsr & 1:
                a[0][0] ^= 1 << ((1 << j) - 1)
            lfsr = (lfsr << 1) ^ (0x171 if lfsr & 128 else 0)
    return a


def keccak256(message):
    rate = 136
    padded = bytearray(message + b"\x01" + bytes(rate - 1 - len(message) % rate))
    padded[-1] |= 0x80
    a = [[0] * 5 for _ in range(5)]
    for block in range(0, len(padded), rate):
        for i in range(rate // 8):
            a[i % 5][i // 5] ^= int.from_bytes(padded[block + 8 * i:block + 8 * i + 8], "little")
        a = permutation(a)
    return b"".join(a[i % 5][i // 5].to_bytes(8, "little") for i in range(4))


def arguments(rng):
    return {"keys": rng.integers(0, 1 << 64, N * 8, dtype=np.uint64), "addresses": np.zeros(N * 5, np.uint32), "n": N}


def expected(args):
    assert keccak256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    raw = args["keys"].tobytes()
    out = b"".join(keccak256(raw[i * 64:i * 64 + 64])[12:] for i in range(N))
    return {"addresses": np.frombuffer(out, np.uint32).copy()}
