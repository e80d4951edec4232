import numpy as np

DOMAIN = "hashing and ciphers"
KERNEL = "xxh32_strings"
COUNT, SEED = 2300, 0x51ED270B
GRID = (-(-COUNT // 128) * 128, 1, 1)
GROUP = (128, 1, 1)
P = [0, 2654435761, 2246822519, 3266489917, 668265263, 374761393]
M = 0xFFFFFFFF


def rotl(x, n):
    x &= M
    return ((x << n) | (x >> (32 - n))) & M


def xxh32(data, seed):
    n, at = len(data), 0
    if n >= 16:
        v = [(seed + P[1] + P[2]) & M, (seed + P[2]) & M, seed & M, (seed - P[1]) & M]
        while n - at >= 16:
            for k in range(4):
                lane = int.from_bytes(data[at + 4 * k:at + 4 * k + 4], "little")
                v[k] = rotl(v[k] + lane * P[2], 13) * P[1] & M
            at += 16
        h = rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18)
    else:
        h = seed + P[5]
    h = (h + n) & M
    while n - at >= 4:
        h = rotl(h + int.from_bytes(data[at:at + 4], "little") * P[3], 17) * P[4] & M
        at += 4
    while at < n:
        h = rotl(h + data[at] * P[5], 11) * P[1] & M
        at += 1
    h ^= h >> 15
    h = h * P[2] & M
    h ^= h >> 13
    h = h * P[3] & M
    return h ^ h >> 16


def arguments(rng):
    lengths = np.minimum(rng.geometric(1 / 28, COUNT) - 1, 160)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    return {
        "bytes": rng.integers(0, 256, offsets[-1], dtype=np.uint8), "offsets": offsets, "hashes": np.zeros(COUNT, np.uint32),
        "count": COUNT, "seed": SEED,
    }


def expected(args):
    assert xxh32(b"", 0) == 0x02CC5D05 and xxh32(b"a", 0) == 0x550D7456 and xxh32(b"abc", 0) == 0x32D153FF
    assert xxh32(b"Nobody inspects the spammish repetition", 0) == 0xE2293B2F
    data, o = args["bytes"].tobytes(), args["offsets"]
    return {"hashes": np.array([xxh32(data[o[i]:o[i + 1]], SEED) for i in range(COUNT)], np.uint32)}
