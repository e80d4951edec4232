import heapq

import numpy as np

DOMAIN = "compression"
KERNEL = "huffman_decode"
CHUNKS, WORDS, BITS = 610, 24, 11
GRID = (-(-CHUNKS // 64) * 64, 1, 1)
GROUP = (64, 1, 1)


def code_lengths(counts):
    """Huffman's lengths, with the counts flattened until no code is longer than BITS."""
    counts = {s: int(c) for s, c in enumerate(counts) if c}
    while True:
        heap = [(c, s, (s,)) for s, c in counts.items()]
        heapq.heapify(heap)
        lengths = dict.fromkeys(counts, 0)
        while len(heap) > 1:
            a, b = heapq.heappop(heap), heapq.heappop(heap)
            for s in a[2] + b[2]:
                lengths[s] += 1
            heapq.heappush(heap, (a[0] + b[0], min(a[1], b[1]), a[2] + b[2]))
        if max(lengths.values()) <= BITS:
            return lengths
        counts = {s: c // 2 + 1 for s, c in counts.items()}


def canonical(lengths):
    code, last, codes = 0, 0, {}
    for length, s in sorted((n, s) for s, n in lengths.items()):
        code <<= length - last
        codes[s], last = f"{code:0{length}b}", length
        code += 1
    return codes


def arguments(rng):
    data = np.minimum(rng.geometric(0.06, CHUNKS * WORDS * 4) - 1, 255).astype(np.uint8)
    data[:512] = rng.integers(0, 256, 512)
    codes = canonical(code_lengths(np.bincount(data, minlength=256)))
    pieces = [codes[int(s)] for s in data]
    ends = np.concatenate([[0], np.cumsum([len(p) for p in pieces])])
    text = "".join(pieces)
    text += "0" * (-len(text) % 32 + 64)
    table = np.zeros(1 << BITS, np.uint16)
    for s, c in codes.items():
        low = int(c, 2) << (BITS - len(c))
        table[low:low + (1 << (BITS - len(c)))] = s | len(c) << 8
    return {
        "stream": np.array([int(text[i:i + 32], 2) for i in range(0, len(text), 32)], np.uint32),
        "first_bits": ends[:-1:WORDS * 4].astype(np.uint32), "table": table,
        "symbols": np.zeros(CHUNKS * WORDS, np.uint32), "chunks": CHUNKS, "words": WORDS,
    }


def expected(args):
    """Decodes bit by bit, with the codes that the table holds."""
    codes = {}
    for i, entry in enumerate(args["table"]):
        length = int(entry) >> 8
        if length:
            codes[f"{i:0{BITS}b}"[:length]] = int(entry) & 255
    text = "".join(f"{int(w):032b}" for w in args["stream"])
    out, word = [], ""
    for bit in text:
        word += bit
        if word in codes:
            out.append(codes[word])
            word = ""
            if len(out) == CHUNKS * WORDS * 4:
                break
    return {"symbols": np.array(out, np.uint8).view("<u4")}
