import numpy as np
DOMAIN = "parsing"
KERNEL = "csv_states"
N = 61000
CHUNKS = (N + 31) // 32
GROUPS = (CHUNKS + 127) // 128
GRID = (128 * GROUPS, 1, 1)
GROUP = (128, 1, 1)


def arguments(rng):
    out = []
    size = 0
    while size < N:
        field = "".join(rng.choice(list("abcdef 0123456789.,\n\""), rng.integers(0, 24)))
        if any(c in field for c in ',"\n') or rng.uniform() < 0.2:
            field = '"' + field.replace('"', '""') + '"'
        field += "\n" if rng.uniform() < 0.15 else ","
        out.append(field)
        size += len(field)
    text = np.frombuffer("".join(out)[:N].encode(), np.uint8).copy()
    states = walk(text)[0]
    return {
        "text": text, "begin_state": np.array([states[g * 4096] for g in range(GROUPS)], np.uint8),
        "fields": np.zeros(CHUNKS, np.uint32), "records": np.zeros(CHUNKS, np.uint32), "content": np.zeros(CHUNKS, np.uint32), "n": N,
    }


def walk(text):
    # state before each byte, and what the byte is: 0 syntax, 1 content, 2 end of a field, 3 end of a record
    states, what = [], []
    state = 0
    for c in text.tobytes():
        states.append(state)
        if state == 1:
            what.append(0 if c == 34 else 1)
            state = 2 if c == 34 else 1
        elif c == 34:
            what.append(1 if state == 2 else 0)
            state = 1
        else:
            what.append(2 if c == 44 else 3 if c == 10 else 1)
            state = 0
    return states, what


def expected(args):
    what = np.zeros(CHUNKS * 32, np.uint8)
    what[:N] = walk(args["text"])[1]
    what = what.reshape(CHUNKS, 32)
    return {
        "fields": (what >= 2).sum(1).astype(np.uint32), "records": (what == 3).sum(1).astype(np.uint32),
        "content": np.packbits(what == 1, axis=1, bitorder="little").view(np.uint32).ravel(),
    }
