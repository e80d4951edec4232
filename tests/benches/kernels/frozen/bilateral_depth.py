import numpy as np
DOMAIN = "image and video"
KERNEL = "bilateral_depth"
W, H = 105, 70
GRID = (16 * ((W + 15) // 16), 16 * ((H + 15) // 16), 1)
GROUP = (16, 16, 1)
TOLERANCE = {"filtered": (1e-4, 1e-3)}
SIGMA_SPACE, SIGMA_RANGE = 2.0, 30.0


def arguments(rng):
    depth = (1500 + 400 * (np.arange(W) // 40)[None, :] + rng.normal(0, 15, (H, W))).astype(np.uint16)
    depth[rng.uniform(0, 1, (H, W)) < 0.05] = 0
    return {
        "depth": depth.ravel(), "filtered": np.zeros(W * H, np.float32), "width": W, "height": H,
        "space_factor": float(np.float32(-np.log2(np.e) / (2 * SIGMA_SPACE ** 2))),
        "range_factor": float(np.float32(-np.log2(np.e) / (2 * SIGMA_RANGE ** 2))),
    }


def expected(args):
    d = args["depth"].reshape(H, W).astype(np.float64)
    z = np.pad(d, 3)
    total, weights = np.zeros((H, W)), np.zeros((H, W))
    for dy in range(7):
        for dx in range(7):
            v = z[dy:dy + H, dx:dx + W]
            space = ((dy - 3) ** 2 + (dx - 3) ** 2) / (2 * SIGMA_SPACE ** 2)
            w = np.exp(-space - (v - d) ** 2 / (2 * SIGMA_RANGE ** 2)) * (v != 0)
            total += w * v
            weights += w
    out = np.where(d != 0, total / np.where(weights == 0, 1, weights), 0)
    return {"filtered": out.astype(np.float32).ravel()}
