import numpy as np

DOMAIN = "hashing and ciphers"
KERNEL = "chacha20_xor"
BYTES = 1900 * 64 - 23
GRID = (-(-BYTES // 4096) * 64, 1, 1)
GROUP = (64, 1, 1)
COUNTER = 1


def block(key, nonce, counter):
    """RFC 8439, section 2.3: key of 8 words, nonce of 3 words; 64 bytes for each element of `counter`."""
    first = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *map(int, key)]
    s = [np.full(counter.shape, w, np.uint32) for w in first] + [counter.astype(np.uint32)]
    s += [np.full(counter.shape, w, np.uint32) for w in map(int, nonce)]
    w = [x.copy() for x in s]

    def rotl(x, n):
        return (x << np.uint32(n)) | (x >> np.uint32(32 - n))

    def quarter(a, b, c, d):
        w[a] += w[b]; w[d] = rotl(w[d] ^ w[a], 16)
        w[c] += w[d]; w[b] = rotl(w[b] ^ w[c], 12)
        w[a] += w[b]; w[d] = rotl(w[d] ^ w[a], 8)
        w[c] += w[d]; w[b] = rotl(w[b] ^ w[c], 7)

    for _ in range(10):
        for q in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                  (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(*q)
    return np.stack([x + y for x, y in zip(w, s)], axis=-1).astype("<u4")


def check():
    # RFC 8439, section 2.3.2.
    key = np.arange(32, dtype=np.uint8).view("<u4")
    nonce = np.array([0, 0, 0, 9, 0, 0, 0, 0x4A, 0, 0, 0, 0], np.uint8).view("<u4")
    got = block(key, nonce, np.array([1], np.uint32)).tobytes()
    assert got[:16].hex() == "10f1e7e4d13b5915500fdd1fa32071c4" and got[-16:].hex() == "b5129cd1de164eb9cbd083e8a2503c4e"


def arguments(rng):
    key = rng.integers(0, 2**32, 12, dtype=np.uint32)
    key[11] = 0
    return {
        "key": key, "in": rng.integers(0, 256, BYTES, dtype=np.uint8), "out": np.zeros(BYTES, np.uint8),
        "bytes": BYTES, "counter": COUNTER,
    }


def expected(args):
    check()
    blocks = COUNTER + np.arange(-(-BYTES // 64), dtype=np.uint32)
    stream = block(args["key"][:8], args["key"][8:11], blocks)
    return {"out": args["in"] ^ np.frombuffer(stream.tobytes(), np.uint8)[:BYTES]}
