import numpy as np
DOMAIN = "compression"
KERNEL = "lz4_blocks"
BLOCKS = 8
GRID = (64 * BLOCKS, 1, 1)
GROUP = (64, 1, 1)


def sample(rng, size):
    words = [rng.integers(97, 123, rng.integers(2, 10)).astype(np.uint8).tobytes() for _ in range(120)]
    out = b""
    while len(out) < size:
        kind = rng.uniform()
        if kind < 0.02:
            out += rng.bytes(int(rng.integers(20, 300)))
        elif kind < 0.05:
            out += bytes([rng.integers(0, 256)]) * int(rng.integers(5, 400))
        else:
            out += words[int(len(words) * rng.uniform() ** 2)] + b" "
    return out[:size]


def run_length(n):
    return b"\xff" * (n // 255) + bytes([n % 255])


def compress(data):
    out, seen, anchor, i = b"", {}, 0, 0
    # the format's rules for the end: no match starts in the last 12 bytes, and the last 5 are literals
    while i < len(data) - 12:
        key = data[i:i + 4]
        match = seen.get(key)
        seen[key] = i
        if match is None:
            i += 1
            continue
        length = 4
        while i + length < len(data) - 5 and data[match + length] == data[i + length]:
            length += 1
        literals = i - anchor
        out += bytes([min(literals, 15) << 4 | min(length - 4, 15)])
        out += run_length(literals - 15) if literals >= 15 else b""
        out += data[anchor:i] + (i - match).to_bytes(2, "little")
        out += run_length(length - 19) if length >= 19 else b""
        i += length
        anchor = i
    literals = len(data) - anchor
    return out + bytes([min(literals, 15) << 4]) + (run_length(literals - 15) if literals >= 15 else b"") + data[anchor:]


def decompress(data):
    out, i = bytearray(), 0
    while i < len(data):
        token = data[i]
        i += 1
        literals = token >> 4
        while literals >= 15 and (literals - 15) % 255 == 0:
            literals += data[i]
            i += 1
            if data[i - 1] != 255:
                break
        out += data[i:i + literals]
        i += literals
        if i >= len(data):
            break
        distance = data[i] | data[i + 1] << 8
        i += 2
        length = token & 15
        while length >= 15 and (length - 15) % 255 == 0:
            length += data[i]
            i += 1
            if data[i - 1] != 255:
                break
        for _ in range(length + 4):
            out.append(out[-distance])
    return bytes(out)


def arguments(rng):
    plain = [sample(rng, 4096 - 200 * b) for b in range(BLOCKS)]
    packed = [compress(p) for p in plain]
    assert [decompress(p) for p in packed] == plain
    offsets = lambda parts: np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.uint32)
    return {
        "packed": np.frombuffer(b"".join(packed), np.uint8).copy(), "packed_at": offsets(packed),
        "plain": np.zeros(sum(map(len, plain)), np.uint8), "plain_at": offsets(plain),
    }


def expected(args):
    packed, at = args["packed"].tobytes(), args["packed_at"]
    plain = b"".join(decompress(packed[at[b]:at[b + 1]]) for b in range(BLOCKS))
    return {"plain": np.frombuffer(plain, np.uint8).copy()}
