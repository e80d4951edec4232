import numpy as np
DOMAIN = "compression"
KERNEL = "delta_unpack"
N = 20050
GROUPS = (N + 127) // 128
GRID = (128 * GROUPS, 1, 1)
GROUP = (128, 1, 1)
HEADER = np.dtype([("first", "<i8"), ("least", "<i8"), ("at", "<u4"), ("width", "<u4")])
MASK = (1 << 64) - 1


def signed(v):
    return (v + (1 << 63)) % (1 << 64) - (1 << 63)


def arguments(rng):
    headers, words = np.zeros(GROUPS, HEADER), []
    at = 0
    for g in range(GROUPS):
        width = int(rng.integers(0, 65))
        least = int(rng.integers(-1000, 1000))
        stream = 0
        for k in range(127):
            stream |= (int.from_bytes(rng.bytes(8), "little") & ((1 << width) - 1)) << (k * width)
        size = (127 * width + 31) // 32
        words.append(np.frombuffer(stream.to_bytes(4 * size, "little"), np.uint32))
        headers[g] = int(rng.integers(-1 << 60, 1 << 60)), least, at, width
        at += size
    words.append(np.zeros(3, np.uint32))
    return {"headers": headers.view(np.uint8), "packed": np.concatenate(words), "out": np.zeros(N, np.int64), "n": N}


def expected(args):
    out = []
    for h in args["headers"].view(HEADER):
        at, width = int(h["at"]), int(h["width"])
        size = (127 * width + 31) // 32
        stream = int.from_bytes(args["packed"][at:at + size].tobytes(), "little")
        v = int(h["first"])
        out.append(v)
        for k in range(127):
            v = signed(v + (stream >> (k * width) & ((1 << width) - 1)) + int(h["least"]))
            out.append(v)
    return {"out": np.array(out[:N], np.int64)}
