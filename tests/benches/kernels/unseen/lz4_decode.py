import numpy as np

DOMAIN = "compression"
KERNEL = "lz4_decode"
BLOCKS, STRIDE = 10, 3000
GRID = (64 * BLOCKS, 1, 1)
GROUP = (64, 1, 1)


def length_bytes(n):
    out = b""
    if n >= 15:
        n -= 15
        while n >= 255:
            out += b"\xff"
            n -= 255
        out += bytes([n])
    return out


def compress(data):
    """Greedy matches by a table of the last position of each four bytes; the last five bytes are literals."""
    out, table, anchor, at = b"", {}, 0, 0
    while at < len(data) - 12:
        key = data[at:at + 4]
        back, table[key] = table.get(key), at
        if back is None:
            at += 1
            continue
        size = 4
        while at + size < len(data) - 5 and data[back + size] == data[at + size]:
            size += 1
        lits = at - anchor
        out += bytes([min(lits, 15) << 4 | min(size - 4, 15)]) + length_bytes(lits) + data[anchor:at]
        out += (at - back).to_bytes(2, "little") + length_bytes(size - 4)
        at += size
        anchor = at
    lits = len(data) - anchor
    return out + bytes([min(lits, 15) << 4]) + length_bytes(lits) + data[anchor:]


def decompress(src):
    """The block format, as its description says; None if the block is damaged."""
    out, at = bytearray(), 0

    def more(n):
        nonlocal at
        while n >= 15:
            at += 1
            n += src[at - 1]
            if src[at - 1] != 255:
                break
        return n

    while at < len(src):
        token = src[at]
        at += 1
        n = more(token >> 4)
        out += src[at:at + n]
        at += n
        if at >= len(src):
            break
        offset = src[at] + 256 * src[at + 1]
        at += 2
        n = more(token & 15) + 4
        if not 0 < offset <= len(out):
            return bytes(out), 1
        for _ in range(n):
            out.append(out[-offset])
    return bytes(out), 0


def plain(rng, kind):
    if kind == 0:
        words = [rng.bytes(int(rng.integers(2, 9))) for _ in range(60)]
        data = b" ".join(words[int(k)] for k in rng.zipf(1.4, 700) % 60)
    elif kind == 1:
        data = rng.bytes(700) + b"ab" * 300 + bytes(900) + rng.bytes(400)
    else:
        row = rng.integers(0, 256, (200, 16)).astype(np.uint8)
        row[:, :12] = row[0, :12]
        data = row.tobytes()
    return data[:int(rng.integers(2000, STRIDE))]


def arguments(rng):
    blocks = [compress(plain(rng, b % 3)) for b in range(BLOCKS)]
    blocks[7] = b"\x14A\x02\x00" + blocks[7]  # a match that begins before the block
    return {
        "source": np.frombuffer(b"".join(blocks), np.uint8),
        "starts": np.concatenate([[0], np.cumsum([len(b) for b in blocks])]).astype(np.uint32),
        "output": np.full(BLOCKS * STRIDE, 0xEE, np.uint8), "sizes": np.zeros(BLOCKS, np.uint32),
        "status": np.full(BLOCKS, 9, np.uint32), "stride": STRIDE,
    }


def expected(args):
    rng = np.random.default_rng(5)
    for kind in range(3):
        data = plain(rng, kind)
        assert decompress(compress(data)) == (data, 0)
    # A sequence by hand: "abc", then a match of 9 at distance 3, then the literals "xyzuv".
    assert decompress(b"\x35abc\x03\x00\x50xyzuv") == (b"abc" * 4 + b"xyzuv", 0)
    raw, o = args["source"].tobytes(), args["starts"]
    output, sizes, status = args["output"].reshape(BLOCKS, STRIDE), [], []
    for b in range(BLOCKS):
        data, bad = decompress(raw[o[b]:o[b + 1]])
        output[b, :len(data)] = np.frombuffer(data, np.uint8)
        sizes.append(len(data))
        status.append(bad)
    return {"output": output.ravel(), "sizes": np.array(sizes, np.uint32), "status": np.array(status, np.uint32)}
