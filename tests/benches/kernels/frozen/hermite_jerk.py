import numpy as np
DOMAIN = "physics"
KERNEL = "hermite_jerk"
N = 500
GRID = (128 * ((N + 127) // 128), 1, 1)
GROUP = (128, 1, 1)
TOLERANCE = {"acceleration": (1e-3, 1e-3), "jerk": (1e-3, 1e-2)}


def arguments(rng):
    b = np.zeros((N, 8), np.float32)
    b[:, :3] = rng.normal(0, 1, (N, 3))
    b[:, 3] = rng.uniform(0.5, 1.5, N) / N
    b[:, 4:7] = rng.normal(0, 0.5, (N, 3))
    return {
        "bodies": b.ravel(), "acceleration": np.zeros(4 * N, np.float32), "jerk": np.zeros(4 * N, np.float32),
        "epsilon2": float(np.float32(0.01)), "n": N,
    }


def expected(args):
    b = args["bodies"].reshape(N, 8).astype(np.float64)
    d = b[None, :, :3] - b[:, None, :3]
    u = b[None, :, 4:7] - b[:, None, 4:7]
    r2 = (d ** 2).sum(-1) + args["epsilon2"]
    m = b[None, :, 3]
    a = (m * r2 ** -1.5)[..., None] * d
    j = (m * r2 ** -1.5)[..., None] * u - (3 * m * (d * u).sum(-1) * r2 ** -2.5)[..., None] * d
    acceleration, jerk = np.zeros((N, 4)), np.zeros((N, 4))
    acceleration[:, :3] = a.sum(1)
    acceleration[:, 3] = -(m * r2 ** -0.5).sum(1)
    jerk[:, :3] = j.sum(1)
    return {"acceleration": acceleration.astype(np.float32).ravel(), "jerk": jerk.astype(np.float32).ravel()}
