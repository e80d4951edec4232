import numpy as np
DOMAIN = "stencils"
KERNEL = "lbm_d2q9"
W, H = 130, 60
GRID = (64 * ((W + 63) // 64), H, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"dst": (1e-4, 1e-6)}
VELOCITY = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]


def arguments(rng):
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    f = w[:, None] * rng.uniform(0.9, 1.1, (9, W * H))
    solid = (rng.uniform(0, 1, W * H) < 0.1).astype(np.uint8)
    return {
        "src": f.astype(np.float32).ravel(), "dst": np.zeros(9 * W * H, np.float32), "solid": solid,
        "width": W, "height": H, "omega": 1.6,
    }


def expected(args):
    f = args["src"].reshape(9, H, W).astype(np.float64)
    moved = np.stack([np.roll(f[q], (cy, cx), (0, 1)) for q, (cx, cy) in enumerate(VELOCITY)])
    rho = moved.sum(0)
    ux = sum(cx * moved[q] for q, (cx, _) in enumerate(VELOCITY)) / rho
    uy = sum(cy * moved[q] for q, (_, cy) in enumerate(VELOCITY)) / rho
    out = np.empty_like(moved)
    solid = args["solid"].reshape(H, W) != 0
    for q, (cx, cy) in enumerate(VELOCITY):
        w = 4 / 9 if q == 0 else 1 / 9 if q < 5 else 1 / 36
        cu = cx * ux + cy * uy
        eq = w * rho * (1 + 3 * cu + 4.5 * cu ** 2 - 1.5 * (ux ** 2 + uy ** 2))
        back = VELOCITY.index((-cx, -cy))
        out[q] = np.where(solid, moved[back], moved[q] + args["omega"] * (eq - moved[q]))
    return {"dst": out.astype(np.float32).ravel()}
