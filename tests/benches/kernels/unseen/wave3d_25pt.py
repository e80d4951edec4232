import numpy as np

DOMAIN = "stencils"
KERNEL = "wave3d_25pt"
NX, NY, NZ, R = 43, 30, 14, 4
GRID = (-(-NX // 16) * 16, -(-NY // 16) * 16, 1)
GROUP = (16, 16, 1)
TOLERANCE = {"next": (1e-4, 1e-4)}
C = [-2.847222222, 1.6, -0.2, 0.025396825, -0.001785714]


def arguments(rng):
    shape = (NZ + 2 * R, NY + 2 * R, NX + 2 * R)
    return {
        "next": rng.uniform(-1, 1, shape).astype(np.float32).ravel(),
        "now": rng.uniform(-1, 1, shape).astype(np.float32).ravel(),
        "vel": rng.uniform(0.05, 0.3, shape).astype(np.float32).ravel(),
        "nx": NX, "ny": NY, "nz": NZ,
    }


def expected(args):
    shape = (NZ + 2 * R, NY + 2 * R, NX + 2 * R)
    now = args["now"].astype(np.float64).reshape(shape)
    vel = args["vel"].astype(np.float64).reshape(shape)
    out = args["next"].astype(np.float64).reshape(shape)
    c = tuple(slice(R, -R) for _ in range(3))
    lap = 3 * C[0] * now[c]
    for axis in range(3):
        for r in range(1, R + 1):
            for s in (-r, r):
                lap = lap + C[r] * np.roll(now, s, axis)[c]
    out[c] = 2 * now[c] - out[c] + vel[c] * lap
    return {"next": out.astype(np.float32).ravel()}
