import numpy as np

DOMAIN = "interpretation"
KERNEL = "gp_fitness"
PROGRAMS, SAMPLES, VARIABLES, DEPTH = 12, 200, 5, 12
GRID = (PROGRAMS * 128, 1, 1)
GROUP = (128, 1, 1)
TOLERANCE = {"outputs": (1e-3, 1e-3), "errors": (1e-3, 1e-2)}


def grow(rng, depth):
    """A random tree in postfix order."""
    if depth == 0 or rng.random() < 0.1:
        return [int(rng.integers(8)) << 8] if rng.random() < 0.3 else [1 | int(rng.integers(VARIABLES)) << 8]
    if rng.random() < 0.25:
        return grow(rng, depth - 1) + [int(rng.choice([2, 3]))]
    return grow(rng, depth - 1) + grow(rng, depth - 1) + [int(rng.choice([5, 6, 7, 8, 9, 10, 5, 7]))]


def arguments(rng):
    programs = [grow(rng, int(rng.integers(3, 7))) for _ in range(PROGRAMS)]
    programs[0] = [1, 1 | 1 << 8, 11, 1 | 2 << 8, 4, 5]  # (x0 < x1) + floor(x2)
    inputs = rng.uniform(-3, 3, (VARIABLES, SAMPLES)).astype(np.float32)
    return {
        "tokens": np.array(sum(programs, []), np.uint32),
        "starts": np.concatenate([[0], np.cumsum([len(p) for p in programs])]).astype(np.uint32),
        "constants": rng.uniform(-2, 2, 8).astype(np.float32), "inputs": inputs.ravel(),
        "targets": (inputs[0] * inputs[1] - inputs[2]).astype(np.float32),
        "outputs": np.zeros(PROGRAMS * SAMPLES, np.float32), "errors": np.zeros(PROGRAMS, np.float32), "samples": SAMPLES,
    }


def divide(a, b):
    near = np.abs(b) < 1e-3
    return np.where(near, 1.0, a / np.where(near, 1.0, b))


BINARY = {5: np.add, 6: np.subtract, 7: np.multiply, 8: divide, 9: np.minimum, 10: np.maximum, 11: lambda a, b: (a < b) * 1.0}
UNARY = {2: np.negative, 3: lambda a: np.sqrt(np.abs(a)), 4: np.floor}


def expected(args):
    x = args["inputs"].astype(np.float64).reshape(VARIABLES, SAMPLES)
    outputs, errors = [], []
    for g in range(PROGRAMS):
        stack = []
        for token in args["tokens"][args["starts"][g]:args["starts"][g + 1]]:
            op, index = int(token) & 255, int(token) >> 8
            if op == 0:
                stack.append(np.full(SAMPLES, float(args["constants"][index])))
            elif op == 1:
                stack.append(x[index])
            elif op in UNARY:
                stack.append(UNARY[op](stack.pop()))
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(BINARY[op](a, b))
            assert len(stack) <= DEPTH
        outputs.append(stack[0])
        errors.append(((stack[0] - args["targets"])**2).sum())
    return {"outputs": np.concatenate(outputs).astype(np.float32), "errors": np.array(errors, np.float32)}
