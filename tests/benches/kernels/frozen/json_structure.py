import json
import numpy as np
DOMAIN = "parsing"
KERNEL = "json_structure"
DOCUMENTS = 50
GRID = (64 * DOCUMENTS, 1, 1)
GROUP = (64, 1, 1)


def value(rng, depth):
    kind = rng.integers(0, 6 if depth < 4 else 4)
    if kind == 0:
        return int(rng.integers(-10000, 10000))
    if kind == 1:
        return [True, False, None][rng.integers(0, 3)]
    if kind < 4:
        return "".join(rng.choice(list('abc {}[]:,"\\\\\\\n'), rng.integers(0, 90)))
    if kind == 4:
        return [value(rng, depth + 1) for _ in range(rng.integers(0, 6))]
    return {"k%d" % i: value(rng, depth + 1) for i in range(rng.integers(0, 6))}


def arguments(rng):
    text = np.full((DOCUMENTS, 4096), 32, np.uint8)
    for d in range(DOCUMENTS):
        items = []
        while len(json.dumps(items)) < 3900:
            items.append(value(rng, 1))
        while len(json.dumps(items)) > 4096:
            items.pop()
        raw = json.dumps(items).encode()
        text[d, :len(raw)] = np.frombuffer(raw, np.uint8)
    n = DOCUMENTS * 64
    return {
        "text": text.ravel().view(np.uint32), "structure": np.zeros(n, np.uint64), "strings": np.zeros(n, np.uint64),
        "counts": np.zeros(DOCUMENTS, np.uint32),
    }


def expected(args):
    text = args["text"].view(np.uint8).reshape(DOCUMENTS, 4096)
    structure, strings = np.zeros(text.shape, np.uint8), np.zeros(text.shape, np.uint8)
    counts = np.zeros(DOCUMENTS, np.uint32)
    for d in range(DOCUMENTS):
        json.loads(text[d].tobytes())
        inside = escaped = False
        for i, c in enumerate(text[d].tobytes()):
            if c == 34 and not escaped:
                inside = not inside
                structure[d, i] = 1
            elif not inside and c in b"{}[]:,":
                structure[d, i] = 1
                counts[d] += 1
            escaped = c == 92 and not escaped
            # the opening quote belongs to the string, the closing one does not
            strings[d, i] = inside
    pack = lambda m: np.packbits(m.ravel(), bitorder="little").view(np.uint64)
    return {"structure": pack(structure), "strings": pack(strings), "counts": counts}
