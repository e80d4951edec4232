import numpy as np

DOMAIN = "parsing"
KERNEL = "utf8_decode"
BYTES, TILE = 19 * 512 - 131, 512
GROUPS = -(-BYTES // TILE)
GRID = (GROUPS * 128, 1, 1)
GROUP = (128, 1, 1)


def arguments(rng):
    pieces = [lambda: rng.integers(32, 127), lambda: rng.integers(0x80, 0x800), lambda: rng.integers(0x800, 0xD800),
              lambda: rng.integers(0xE000, 0x10000), lambda: rng.integers(0x10000, 0x110000)]
    text = "".join(chr(int(pieces[k]())) for k in rng.choice(5, BYTES, p=[0.6, 0.15, 0.15, 0.05, 0.05]))
    raw = np.frombuffer(text.encode()[:BYTES], np.uint8).copy()
    # Overlong forms, a surrogate, a number that is too large, and any bytes at all.
    for at, bad in ((5000, b"\xc0\x80"), (5100, b"\xed\xa0\x80"), (5200, b"\xf4\x90\x80\x80"), (5300, b"\xe0\x9f\xbf"),
                    (5400, rng.bytes(300))):
        raw[at:at + len(bad)] = np.frombuffer(bad, np.uint8)
    lead = (raw & 0xC0) != 0x80
    starts = np.concatenate([[0], np.cumsum(lead)])[np.arange(GROUPS) * TILE]
    return {
        "text": raw, "starts": starts.astype(np.uint32), "chars": np.zeros(int(lead.sum()), np.uint32),
        "first_error": np.array([0xFFFFFFFF], np.uint32), "bytes": BYTES,
    }


def expected(args):
    raw = args["text"].tobytes()
    chars, error = [], 0 if raw[0] & 0xC0 == 0x80 else None
    for at, b in enumerate(raw):
        if b & 0xC0 == 0x80:
            continue
        size = 1 if b < 0x80 else 2 if b < 0xE0 else 3 if b < 0xF0 else 4
        try:
            chars.append(ord(raw[at:at + size].decode("utf-8")))
            good = at + size >= len(raw) or raw[at + size] & 0xC0 != 0x80
        except UnicodeDecodeError:
            chars.append(0xFFFD)
            good = False
        if not good and error is None:
            error = at
    return {"chars": np.array(chars, np.uint32), "first_error": np.array([error], np.uint32)}
