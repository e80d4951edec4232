import numpy as np

DOMAIN = "image and video"
KERNEL = "median3x3"
W, H, PITCH = 236, 133, 240
GRID = (-(-W // 64) * 16, -(-H // 16) * 16, 1)
GROUP = (16, 16, 1)


def arguments(rng):
    return {
        "in": rng.integers(0, 256, H * PITCH, dtype=np.uint8), "out": np.full(H * PITCH, 9, np.uint8), "width": W,
        "height": H, "pitch": PITCH,
    }


def expected(args):
    p = np.pad(args["in"].reshape(H, PITCH)[:, :W], 1, mode="edge")
    out = args["out"].reshape(H, PITCH)
    out[:, :W] = np.median([p[dy:dy + H, dx:dx + W] for dy in range(3) for dx in range(3)], axis=0)
    return {"out": out.ravel()}
