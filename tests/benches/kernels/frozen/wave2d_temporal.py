import numpy as np
DOMAIN = "stencils"
KERNEL = "wave2d_temporal"
NX, NY = 150, 100
GRID = (16 * ((NX + 15) // 16), 16 * ((NY + 15) // 16), 1)
GROUP = (16, 16, 1)
TOLERANCE = {"first": (1e-5, 1e-5), "second": (1e-5, 1e-5)}


def arguments(rng):
    n = NX * NY
    return {
        "before": rng.uniform(-1, 1, n).astype(np.float32), "now": rng.uniform(-1, 1, n).astype(np.float32),
        "speed": rng.uniform(0.1, 0.4, n).astype(np.float32),
        "first": np.zeros(n, np.float32), "second": np.zeros(n, np.float32), "nx": NX, "ny": NY,
    }


def advance(before, now, speed):
    z = np.pad(now, 1)
    lap = z[:-2, 1:-1] + z[2:, 1:-1] + z[1:-1, :-2] + z[1:-1, 2:] - 4 * now
    return 2 * now - before + speed * lap


def expected(args):
    before, now, speed = (args[k].reshape(NY, NX).astype(np.float64) for k in ("before", "now", "speed"))
    first = advance(before, now, speed)
    second = advance(now, first, speed)
    return {"first": first.astype(np.float32).ravel(), "second": second.astype(np.float32).ravel()}
