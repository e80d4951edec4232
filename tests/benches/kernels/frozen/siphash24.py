import numpy as np
DOMAIN = "hashing and ciphers"
KERNEL = "siphash24"
N = 2000
GRID = (128 * ((N + 127) // 128), 1, 1)
GROUP = (128, 1, 1)
MASK = (1 << 64) - 1


def rotl(v, n):
    return (v << n | v >> (64 - n)) & MASK


def siphash(key, data):
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            for a, b, r in ((0, 1, 13), (2, 3, 16)):
                v[a] = (v[a] + v[b]) & MASK
                v[b] = rotl(v[b], r) ^ v[a]
            v[0] = rotl(v[0], 32)
            for a, b, r in ((2, 1, 17), (0, 3, 21)):
                v[a] = (v[a] + v[b]) & MASK
                v[b] = rotl(v[b], r) ^ v[a]
            v[2] = rotl(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for i in range(0, len(padded), 8):
        m = int.from_bytes(padded[i:i + 8], "little")
        v[3] ^= m
        rounds(2)
        v[0] ^= m
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def arguments(rng):
    lengths = rng.integers(0, 41, N)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    return {
        "text": rng.integers(0, 256, offsets[-1], dtype=np.uint8), "offsets": offsets, "hashes": np.zeros(N, np.uint64),
        "k0": 0x0706050403020100, "k1": 0x0F0E0D0C0B0A0908, "n": N,
    }


def expected(args):
    key = bytes(range(16))
    assert siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5  # the paper's appendix A
    text, offsets = args["text"].tobytes(), args["offsets"]
    return {"hashes": np.array([siphash(key, text[offsets[i]:offsets[i + 1]]) for i in range(N)], np.uint64)}
