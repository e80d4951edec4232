import numpy as np

DOMAIN = "physics"
KERNEL = "tsc_deposit"
PARTICLES, LOG, UNIT = 7900, 5, 65536.0
GRID = (-(-PARTICLES // 128) * 128, 1, 1)
GROUP = (128, 1, 1)
PARAMS = {"LOG": LOG}
TOLERANCE = {"mesh": (0, 40)}  # each of some six additions to a cell may be rounded the other way, half a unit


def arguments(rng):
    side = 1 << LOG
    x, y, z = rng.uniform(0, side, (3, PARTICLES)).astype(np.float32)
    return {
        "px": x, "py": y, "pz": z, "charge": rng.uniform(-2, 2, PARTICLES).astype(np.float32),
        "mesh": np.zeros(side**3, np.int32), "particles": PARTICLES, "unit": UNIT,
    }


def expected(args):
    side = 1 << LOG
    mesh = np.zeros((side,) * 3)
    axes = []
    for k in ("pz", "py", "px"):
        p = args[k].astype(np.float64)
        n = np.rint(p)
        d = p - n
        axes.append((n.astype(int), [(0.5 - d)**2 / 2, 0.75 - d * d, (0.5 + d)**2 / 2]))
    q = args["charge"].astype(np.float64) * UNIT
    for c in range(3):
        for b in range(3):
            for a in range(3):
                at = tuple((axis[0] + o - 1) % side for axis, o in zip(axes, (c, b, a)))
                np.add.at(mesh, at, np.rint(q * axes[0][1][c] * axes[1][1][b] * axes[2][1][a]))
    return {"mesh": mesh.astype(np.int32).ravel()}
