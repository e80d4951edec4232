import numpy as np
DOMAIN = "stencils"
KERNEL = "heat3d"
NX, NY, NZ = 70, 37, 20
GRID = (32 * ((NX + 31) // 32), 8 * ((NY + 7) // 8), 1)
GROUP = (32, 8, 1)
TOLERANCE = {"output": (1e-5, 1e-5)}


def arguments(rng):
    return {
        "input": rng.uniform(0, 1, NX * NY * NZ).astype(np.float32), "output": np.zeros(NX * NY * NZ, np.float32),
        "nx": NX, "ny": NY, "nz": NZ, "c": 0.125,
    }


def expected(args):
    u = args["input"].reshape(NZ, NY, NX).astype(np.float64)
    out = np.zeros_like(u)
    mid = u[1:-1, 1:-1, 1:-1]
    total = (u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
             + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:])
    out[1:-1, 1:-1, 1:-1] = mid + args["c"] * (total - 6 * mid)
    return {"output": out.astype(np.float32).ravel()}
