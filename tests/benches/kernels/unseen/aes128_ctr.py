import numpy as np

DOMAIN = "hashing and ciphers"
KERNEL = "aes128_ctr"
BLOCKS = 2500
GRID = (-(-BLOCKS // 256) * 256, 1, 1)
GROUP = (256, 1, 1)
COUNTER = 0xFFFFFF00


def gmul(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return r


def make_sbox():
    box = []
    for x in range(256):
        inv = next((y for y in range(256) if gmul(x, y) == 1), 0)
        v = 0x63
        for i in range(5):
            v ^= ((inv << i) | (inv >> (8 - i))) & 0xFF
        box.append(v)
    return np.array(box, np.uint8)


SBOX = make_sbox()
TIMES = {m: np.array([gmul(x, m) for x in range(256)], np.uint8) for m in (2, 3)}


def expand(key):
    w = [list(key[4 * i:4 * i + 4]) for i in range(4)]
    rcon = 1
    for i in range(4, 44):
        t = list(w[i - 1])
        if i % 4 == 0:
            t = [int(SBOX[x]) for x in t[1:] + t[:1]]
            t[0] ^= rcon
            rcon = gmul(rcon, 2)
        w.append([a ^ b for a, b in zip(w[i - 4], t)])
    return np.array(w, np.uint8)


def encrypt(keys, blocks):
    """`blocks` has 16 bytes in each row; byte 4 c + r is row r of column c."""
    s = blocks.reshape(-1, 4, 4) ^ keys[:4]
    for r in range(1, 11):
        s = SBOX[s]
        s = np.stack([np.roll(s[:, :, i], -i, axis=1) for i in range(4)], axis=2)
        if r < 10:
            s = np.stack([TIMES[2][s[:, :, i]] ^ TIMES[3][s[:, :, (i + 1) % 4]] ^ s[:, :, (i + 2) % 4] ^ s[:, :, (i + 3) % 4]
                          for i in range(4)], axis=2)
        s = s ^ keys[4 * r:4 * r + 4]
    return s.reshape(-1, 16)


def check():
    # FIPS 197, appendix C.1.
    keys = expand(list(range(16)))
    plain = np.array([i * 0x11 for i in range(16)], np.uint8)
    assert encrypt(keys, plain[None]).tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


def arguments(rng):
    keys = expand([int(x) for x in rng.integers(0, 256, 16)])
    return {
        "round_keys": keys.reshape(-1).view(">u4").astype(np.uint32), "nonce": rng.integers(0, 2**32, 3, dtype=np.uint32),
        "in": rng.integers(0, 2**32, 4 * BLOCKS, dtype=np.uint32), "out": np.zeros(4 * BLOCKS, np.uint32),
        "blocks": BLOCKS, "counter": COUNTER,
    }


def expected(args):
    check()
    keys = args["round_keys"].astype(">u4").view(np.uint8).reshape(44, 4)
    words = np.zeros((BLOCKS, 4), np.uint32)
    words[:, :3] = args["nonce"]
    words[:, 3] = (COUNTER + np.arange(BLOCKS, dtype=np.uint64)).astype(np.uint32)
    stream = encrypt(keys, words.astype(">u4").view(np.uint8).reshape(BLOCKS, 16))
    return {"out": args["in"] ^ stream.reshape(-1).view("<u4")}
