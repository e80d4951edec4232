import heapq
import numpy as np
DOMAIN = "compression"
KERNEL = "huffman_segments"
N, SEGMENT, MAX_BITS = 95020, 64, 11
SEGMENTS = (N + SEGMENT - 1) // SEGMENT
GRID = (128 * ((SEGMENTS + 127) // 128), 1, 1)
GROUP = (128, 1, 1)


def code_lengths(counts):
    # Huffman's algorithm on flattened counts, until no code is too long
    while True:
        heap = [(int(c), s, (s,)) for s, c in enumerate(counts) if c]
        lengths = np.zeros(256, int)
        heapq.heapify(heap)
        while len(heap) > 1:
            a, b = heapq.heappop(heap), heapq.heappop(heap)
            for s in a[2] + b[2]:
                lengths[s] += 1
            heapq.heappush(heap, (a[0] + b[0], min(a[1], b[1]), a[2] + b[2]))
        if lengths.max() <= MAX_BITS:
            return lengths
        counts = np.where(counts > 0, counts // 2 + 1, 0)


def canonical(lengths):
    codes, code, last = {}, 0, 0
    for length, s in sorted((l, s) for s, l in enumerate(lengths) if l):
        code <<= length - last
        codes[s] = code, int(length)
        code, last = code + 1, length
    return codes


def arguments(rng):
    text = np.minimum(rng.geometric(0.06, N) + 30, 255).astype(np.uint8)
    codes = canonical(code_lengths(np.bincount(text, minlength=256)))
    table = np.zeros(1 << MAX_BITS, np.uint16)
    for s, (code, length) in codes.items():
        low = code << (MAX_BITS - length)
        table[low:low + (1 << (MAX_BITS - length))] = s | length << 8
    pieces, starts, at = [], [], 0
    for i, s in enumerate(text.tolist()):
        if i % SEGMENT == 0:
            starts.append(at)
        code, length = codes[s]
        pieces.append(format(code, "0%db" % length))
        at += length
    stream = "".join(pieces)
    stream += "0" * (-len(stream) % 32 + 96)
    words = np.frombuffer(int(stream, 2).to_bytes(len(stream) // 8, "big"), ">u4").astype(np.uint32)
    return {
        "bits": words, "table": table, "segment_at": np.array(starts, np.uint32), "symbols": np.zeros(N // 4, np.uint32), "n": N,
    }


def expected(args):
    # reads one bit after the other, with the codes of the table
    codes = {}
    table, i = args["table"], 0
    while i < 1 << MAX_BITS:
        s, length = int(table[i]) & 255, int(table[i]) >> 8
        codes[format(i >> (MAX_BITS - length), "0%db" % length)] = s
        i += 1 << (MAX_BITS - length)
    stream = "".join(format(w, "032b") for w in args["bits"].tolist())
    out, code = [], ""
    for bit in stream:
        code += bit
        if code in codes:
            out.append(codes[code])
            code = ""
            if len(out) == N:
                break
    return {"symbols": np.array(out, np.uint8).view(np.uint32)}
