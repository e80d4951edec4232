import numpy as np

DOMAIN = "stencils"
KERNEL = "sor_redblack"
NX, NY = 141, 91
GX, GY = -(-((NX + 1) // 2) // 32), -(-NY // 8)
GRID = (GX * 32, GY * 8, 1)
GROUP = (32, 8, 1)
TOLERANCE = {"u": (1e-11, 1e-11), "residuals": (1e-10, 1e-10)}


def arguments(rng):
    shape = (NY + 2, NX + 2)
    kx, ky = rng.uniform(0.1, 2, shape), rng.uniform(0.1, 2, shape)
    # A solid cell has no conductivity at any face.
    kx[20, 30:32] = 0
    ky[20:22, 30] = 0
    return {
        "u": rng.uniform(-1, 1, shape).ravel(), "f": rng.uniform(-1, 1, shape).ravel(), "kx": kx.ravel(),
        "ky": ky.ravel(), "residuals": np.zeros(GX * GY), "nx": NX, "ny": NY, "colour": 1, "omega": 1.6,
    }


def expected(args):
    shape = (NY + 2, NX + 2)
    u, f, kx, ky = (args[k].reshape(shape).copy() for k in ("u", "f", "kx", "ky"))
    res = np.zeros((GY, GX))
    for y in range(1, NY + 1):
        for x in range(1, NX + 1):
            if (x + y + args["colour"]) % 2 == 0:
                continue
            flow = kx[y, x] * u[y, x - 1] + kx[y, x + 1] * u[y, x + 1] + ky[y, x] * u[y - 1, x] + ky[y + 1, x] * u[y + 1, x]
            diag = kx[y, x] + kx[y, x + 1] + ky[y, x] + ky[y + 1, x]
            r = f[y, x] - flow + diag * u[y, x]
            if diag > 0:
                u[y, x] -= args["omega"] * r / diag
            res[(y - 1) // 8, (x - 1) // 2 // 32] += r * r
    return {"u": u.ravel(), "residuals": res.ravel()}
