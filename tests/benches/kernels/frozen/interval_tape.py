import numpy as np
DOMAIN = "interpretation"
KERNEL = "interval_tape"
TILES = 44
GRID = (8 * ((TILES + 7) // 8), 8 * ((TILES + 7) // 8), 1)
GROUP = (8, 8, 1)
TOLERANCE = {"bounds": (1e-4, 1e-5)}
LOW, SIZE = -1.984375, float(np.float32(4 / TILES))
X, Y, CONSTANT, ADD, SUB, MUL, MIN, MAX, NEG, SQUARE, SQRT, ABS = range(12)
STEP = np.dtype([("op", "u1"), ("out", "u1"), ("a", "u1"), ("b", "u1"), ("value", "<f4")])


def circle(x, y, r):
    # sqrt((X - x)^2 + (Y - y)^2) - r, as a tree
    return (SUB, (SQRT, (ADD, (SQUARE, (SUB, (X,), (CONSTANT, x))), (SQUARE, (SUB, (Y,), (CONSTANT, y))))), (CONSTANT, r))


def shape():
    ring = (MAX, circle(0.0, 0.0, 1.6), (NEG, circle(0.1, -0.2, 1.1)))
    bar = (MAX, (SUB, (ABS, (SUB, (Y,), (MUL, (CONSTANT, 0.5), (X,)))), (CONSTANT, 0.2)), (SUB, (ABS, (X,)), (CONSTANT, 1.9)))
    dots = circle(-0.7, 0.9, 0.3)
    for x, y, r in ((0.8, -0.9, 0.4), (1.3, 1.2, 0.25), (-1.5, -1.4, 0.35), (0.2, 0.4, 0.15)):
        dots = (MIN, dots, circle(x, y, r))
    return (MIN, (MIN, ring, dots), bar)


def compile_tape(tree):
    tape = []

    def emit(t, register):
        if t[0] == CONSTANT:
            tape.append((CONSTANT, register, register, register, t[1]))
            return
        for k, child in enumerate(t[1:]):
            emit(child, register + k)
        tape.append((t[0], register, register, register + len(t) - 2 if len(t) > 2 else register, 0.0))

    emit(tree, 0)
    return np.array(tape, STEP)


def arguments(rng):
    tape = compile_tape(shape())
    assert max(tape["out"]) < 16
    return {
        "tape": tape.view(np.uint8), "class": np.full(TILES * TILES, 9, np.uint8), "bounds": np.zeros(2 * TILES * TILES, np.float32),
        "steps": len(tape), "tiles": TILES, "low": LOW, "size": SIZE,
    }


def evaluate(t, x, y):
    op = t[0]
    if op == X:
        return x
    if op == Y:
        return y
    if op == CONSTANT:
        return (np.full_like(x[0], np.float32(t[1])),) * 2
    a = evaluate(t[1], x, y)
    b = evaluate(t[2], x, y) if len(t) > 2 else None
    straddles = (a[0] <= 0) & (a[1] >= 0)
    low = np.where(straddles, 0, np.minimum(np.abs(a[0]), np.abs(a[1])))
    high = np.maximum(np.abs(a[0]), np.abs(a[1]))
    if op == ADD:
        return a[0] + b[0], a[1] + b[1]
    if op == SUB:
        return a[0] - b[1], a[1] - b[0]
    if op == MUL:
        p = [u * v for u in a for v in b]
        return np.minimum.reduce(p), np.maximum.reduce(p)
    if op == MIN:
        return np.minimum(a[0], b[0]), np.minimum(a[1], b[1])
    if op == MAX:
        return np.maximum(a[0], b[0]), np.maximum(a[1], b[1])
    if op == NEG:
        return -a[1], -a[0]
    if op == SQUARE:
        return low ** 2, high ** 2
    if op == SQRT:
        return np.sqrt(np.maximum(a[0], 0)), np.sqrt(np.maximum(a[1], 0))
    return low, high


def expected(args):
    at = LOW + np.arange(TILES) * SIZE
    x0, y0 = np.meshgrid(at, at)
    low, high = evaluate(shape(), (x0, x0 + SIZE), (y0, y0 + SIZE))
    # no bound is so near to 0 that rounding decides
    assert min(np.abs(low).min(), np.abs(high).min()) > 1e-5
    return {
        "class": np.where(low > 0, 0, np.where(high < 0, 1, 2)).astype(np.uint8).ravel(),
        "bounds": np.stack([low, high], -1).astype(np.float32).ravel(),
    }
