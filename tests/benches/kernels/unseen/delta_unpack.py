import numpy as np

DOMAIN = "compression"
KERNEL = "delta_unpack"
PAGES, STRIDE = 12, 900
GRID = (128 * PAGES, 1, 1)
GROUP = (128, 1, 1)


def encode(deltas):
    words = []
    for b in range(0, len(deltas), 128):
        block = deltas[b:b + 128]
        low = min(block)
        rest = [d - low for d in block] + [0] * (128 - len(block))
        widths = [max(rest[m:m + 32]).bit_length() for m in range(0, 128, 32)]
        assert max(widths) <= 32
        words += [low & 0xFFFFFFFF, low >> 32 & 0xFFFFFFFF, sum(w << (8 * m) for m, w in enumerate(widths))]
        for m, w in enumerate(widths):
            bits = sum(v << (w * i) for i, v in enumerate(rest[32 * m:32 * m + 32]))
            words += [bits >> (32 * i) & 0xFFFFFFFF for i in range(w)]
    return words


def arguments(rng):
    words, starts, firsts, counts = [], [], [], []
    for p in range(PAGES):
        n = int(rng.integers(300, STRIDE - 1)) if p != 4 else 0
        scale = 2 ** rng.integers(0, 32, -(-n // 32)).repeat(32)[:n]
        offset = int(rng.integers(-2**40, 2**40))
        deltas = [int(x * s) + offset for x, s in zip(rng.random(n), scale)]
        if p == 2:
            deltas = [17] * n
        starts.append(len(words))
        words += encode(deltas)
        firsts.append(int(rng.integers(-2**50, 2**50)))
        counts.append(n)
    return {
        "words": np.array(words, np.uint32), "starts": np.array(starts, np.uint32), "firsts": np.array(firsts, np.int64),
        "counts": np.array(counts, np.uint32), "values": np.full(PAGES * STRIDE, -1, np.int64), "stride": STRIDE,
    }


def expected(args):
    """Takes the values from the bit strings of the miniblocks."""
    values = args["values"].reshape(PAGES, STRIDE)
    for p in range(PAGES):
        value, at, left = int(args["firsts"][p]), int(args["starts"][p]), int(args["counts"][p])
        out = [value]
        while left > 0:
            low, high, widths = (int(w) for w in args["words"][at:at + 3])
            minimum = low + (high << 32) - (high >> 31 << 64)
            at += 3
            for m in range(4):
                width = widths >> (8 * m) & 255
                bits = sum(int(w) << (32 * i) for i, w in enumerate(args["words"][at:at + width]))
                at += width
                for i in range(min(32, max(0, left))):
                    value += minimum + (bits >> (width * i) & ((1 << width) - 1))
                    out.append(value)
                left -= 32
        values[p, :len(out)] = out
    return {"values": values.ravel()}
