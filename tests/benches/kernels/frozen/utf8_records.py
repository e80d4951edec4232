import numpy as np
DOMAIN = "parsing"
KERNEL = "utf8_records"
RECORDS = 700
GRID = (128 * ((RECORDS + 7) // 8), 1, 1)
GROUP = (128, 1, 1)
BROKEN = [
    b"\xc0\x80", b"\xc1\xbf", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80", b"\xff", b"\x80", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc3", b"\xc3\xa9\xa9", b"\xe2\x28\xa1", b"\xf8\x88\x80\x80\x80",
]


def arguments(rng):
    text = np.zeros((RECORDS, 256), np.uint8)
    ranges = [(0x20, 0x7F), (0x20, 0x7F), (0x80, 0x800), (0x800, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000)]
    for r in range(RECORDS):
        raw = b""
        limit = int(rng.integers(0, 240))
        while len(raw) < limit:
            low, high = ranges[rng.integers(0, 6)]
            raw += chr(int(rng.integers(low, high))).encode()
            if rng.uniform() < 0.005:
                raw += BROKEN[rng.integers(0, len(BROKEN))]
        if rng.uniform() < 0.1:
            raw += BROKEN[rng.integers(0, len(BROKEN))]
        raw = raw[:255]
        text[r, :len(raw)] = np.frombuffer(raw, np.uint8)
    return {"text": text.ravel().view(np.uint32), "valid": np.full(RECORDS, 9, np.uint8), "records": RECORDS}


def expected(args):
    text = args["text"].tobytes()
    valid = np.zeros(RECORDS, np.uint8)
    for r in range(RECORDS):
        try:
            text[r * 256:r * 256 + 256].decode("utf-8")
            valid[r] = 1
        except UnicodeDecodeError:
            pass
    assert 100 < valid.sum() < RECORDS - 100
    return {"valid": valid}
