import numpy as np
DOMAIN = "hashing and ciphers"
KERNEL = "aes128_ctr"
N = 5000
GRID = (256 * ((N + 255) // 256), 1, 1)
GROUP = (256, 1, 1)
# the counter's low word wraps around within the message
NONCE = (0x01234567, 0x89ABCDEF, 0x00C0FFEE, 0xFFFFFF00)


def times(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a = (a << 1) ^ (0x11B if a & 128 else 0)
        b >>= 1
    return r


def make_sbox():
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if times(x, y) == 1), 0)
        v = 0x63
        for k in range(5):
            v ^= (inverse << k | inverse >> (8 - k)) & 255
        box.append(v)
    return np.array(box, np.uint8)


SBOX = make_sbox()
DOUBLE = np.array([times(x, 2) for x in range(256)], np.uint8)


def expand(key):
    words = [list(key[4 * i:4 * i + 4]) for i in range(4)]
    rcon = 1
    for i in range(4, 44):
        w = list(words[-1])
        if i % 4 == 0:
            w = [int(SBOX[b]) for b in w[1:] + w[:1]]
            w[0] ^= rcon
            rcon = times(rcon, 2)
        words.append([x ^ y for x, y in zip(words[-4], w)])
    return np.array(words, np.uint8).reshape(11, 16)


def encrypt(blocks, keys):
    s = blocks ^ keys[0]
    shift = [(4 * (c + r) + r) % 16 for c in range(4) for r in range(4)]
    for r in range(1, 11):
        s = SBOX[s][:, shift]
        if r < 10:
            m = s.reshape(-1, 4, 4)
            a, b, c, d = (np.roll(m, -k, 2) for k in range(4))
            s = (DOUBLE[a] ^ DOUBLE[b] ^ b ^ c ^ d).reshape(-1, 16)
        s = s ^ keys[r]
    return s


def arguments(rng):
    keys = expand(rng.bytes(16))
    return {
        "keys": np.frombuffer(keys.tobytes(), ">u4").astype(np.uint32),
        "input": rng.integers(0, 1 << 32, N * 4, dtype=np.uint32), "output": np.zeros(N * 4, np.uint32),
        "nonce": ",".join(map(str, NONCE)), "n": N,
    }


def expected(args):
    test = encrypt(np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), np.uint8)[None], expand(bytes(range(16))))
    assert test.tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # FIPS 197, C.1
    first = int.from_bytes(b"".join(w.to_bytes(4, "big") for w in NONCE), "big")
    counters = b"".join((first + i).to_bytes(16, "big") for i in range(N))
    keys = np.frombuffer(args["keys"].astype(">u4").tobytes(), np.uint8).reshape(11, 16)
    stream = encrypt(np.frombuffer(counters, np.uint8).reshape(N, 16), keys)
    return {"output": args["input"] ^ np.frombuffer(stream.tobytes(), np.uint32)}
