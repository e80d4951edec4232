import numpy as np

DOMAIN = "parsing"
KERNEL = "json_structural"
WORDS = 38 * 64 - 11
GROUPS = -(-WORDS // 64)
GRID = (GROUPS * 64, 1, 1)
GROUP = (64, 1, 1)


def scan(raw):
    """Masks of structural characters and of strings (with the opening, without the closing quote), one byte a bit."""
    structural, strings = np.zeros(len(raw), np.uint32), np.zeros(len(raw), np.uint32)
    escaped = inside = False
    for at, c in enumerate(raw):
        if c == 0x22 and not escaped:
            inside = not inside
        escaped = c == 0x5C and not escaped
        strings[at] = inside
        structural[at] = not inside and c in b",:[]{}"
    return structural, strings


def pack(bits):
    return (bits.reshape(-1, 32) << np.arange(32, dtype=np.uint32)).sum(1).astype(np.uint32)


def arguments(rng):
    parts, size = [], 0
    while size < WORDS * 32:
        text = "".join(rng.choice(list("abc {}[]:,xyz0123"), rng.integers(0, 24)))
        text = text.replace("x", "\\" * int(rng.integers(1, 5)) + '"').replace("y", "\\\\")
        parts.append('{"k%d": "%s", "n": [%d, true, {}]},\n' % (rng.integers(1000), text, rng.integers(10**6)))
        size += len(parts[-1])
    raw = np.frombuffer("".join(parts).encode()[:WORDS * 32], np.uint8).copy()
    raw[2030:2090] = 0x5C  # a long run over the end of a group
    strings = scan(raw.tobytes())[1]
    in_string = [0] + [int(strings[g * 2048 - 1]) for g in range(1, GROUPS)]
    return {
        "text": raw, "in_string": np.array(in_string, np.uint32), "structural": np.zeros(WORDS, np.uint32),
        "strings": np.zeros(WORDS, np.uint32), "words": WORDS,
    }


def expected(args):
    structural, strings = scan(args["text"].tobytes())
    return {"structural": pack(structural), "strings": pack(strings)}
