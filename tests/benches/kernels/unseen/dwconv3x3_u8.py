import numpy as np

DOMAIN = "machine learning"
KERNEL = "dwconv3x3_u8"
H, W, C = 27, 38, 96
OH, OW = (H + 1) // 2, (W + 1) // 2
GRID = (-(-(C // 4) // 16) * 16, -(-OW // 8) * 8, OH)
GROUP = (16, 8, 1)
TOLERANCE = {"output": (0, 1)}  # a sum next to one half may be rounded either way
IN_ZERO, OUT_ZERO = 117, 12


def arguments(rng):
    return {
        "input": rng.integers(0, 256, H * W * C, dtype=np.uint8), "weights": rng.integers(-127, 128, 9 * C).astype(np.int8),
        "bias": rng.integers(-5000, 5000, C).astype(np.int32),
        "scale": rng.uniform(0.002, 0.01, C).astype(np.float32), "output": np.zeros(OH * OW * C, np.uint8),
        "height": H, "width": W, "quads": C // 4, "out_height": OH, "out_width": OW, "in_zero": IN_ZERO,
        "out_zero": OUT_ZERO,
    }


def expected(args):
    x = np.pad(args["input"].reshape(H, W, C).astype(np.int64) - IN_ZERO, ((1, 2), (1, 2), (0, 0)))
    w = args["weights"].reshape(3, 3, C).astype(np.int64)
    acc = args["bias"] + sum(x[ky:ky + 2 * OH:2, kx:kx + 2 * OW:2] * w[ky, kx] for ky in range(3) for kx in range(3))
    real = np.rint(acc * args["scale"].astype(np.float64)) + OUT_ZERO
    return {"output": np.clip(real, 0, 255).astype(np.uint8).ravel()}
