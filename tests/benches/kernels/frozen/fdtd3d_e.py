import numpy as np
DOMAIN = "physics"
KERNEL = "fdtd3d_e"
NX, NY, NZ = 45, 30, 21
GRID = (32 * ((NX + 31) // 32), 4 * ((NY + 3) // 4), NZ)
GROUP = (32, 4, 1)
TOLERANCE = {k: (1e-5, 1e-5) for k in ("ex", "ey", "ez")}


def arguments(rng):
    n = NX * NY * NZ
    fields = {k: rng.uniform(-1, 1, n).astype(np.float32) for k in ("ex", "ey", "ez", "hx", "hy", "hz")}
    return {
        **fields, "kind": rng.integers(0, 4, n, dtype=np.uint8),
        "materials": np.array([1.0, 0.5, 0.98, 0.25, 0.9, 0.125, 0.0, 0.0], np.float32),
        "nx": NX, "ny": NY, "nz": NZ,
    }


def expected(args):
    field = {k: args[k].reshape(NZ, NY, NX).astype(np.float64) for k in ("ex", "ey", "ez", "hx", "hy", "hz")}
    decay, drive = args["materials"].reshape(4, 2).astype(np.float64).T[:, args["kind"].reshape(NZ, NY, NX)]
    back = lambda h, axis: h - np.roll(h, 1, axis)
    hx, hy, hz = field["hx"], field["hy"], field["hz"]
    curl = {
        "ex": back(hz, 1) - back(hy, 0),
        "ey": back(hx, 0) - back(hz, 2),
        "ez": back(hy, 2) - back(hx, 1),
    }
    out = {}
    for k, axes in (("ex", (0, 1)), ("ey", (0, 2)), ("ez", (1, 2))):
        inner = np.ones((NZ, NY, NX), bool)
        for axis in axes:
            at = np.arange(inner.shape[axis])
            ok = (at > 0) & (at < inner.shape[axis] - 1)
            inner &= ok.reshape([-1 if a == axis else 1 for a in range(3)])
        out[k] = np.where(inner, decay * field[k] + drive * curl[k], field[k]).astype(np.float32).ravel()
    return out
