import numpy as np
DOMAIN = "image and video"
KERNEL = "sad_search"
W, H = 72, 48
GRID = (16 * (W // 8), 16 * (H // 8), 1)
GROUP = (16, 16, 1)


def arguments(rng):
    reference = rng.integers(0, 256, (H, W), dtype=np.uint8)
    current = np.roll(reference, (3, -5), (0, 1)).astype(np.int32) + rng.integers(-4, 5, (H, W))
    return {
        "current": np.clip(current, 0, 255).astype(np.uint8).ravel(), "reference": reference.ravel(),
        "motion": np.zeros((W // 8) * (H // 8) * 8, np.uint8), "width": W, "height": H,
    }


def expected(args):
    current, z = args["current"].reshape(H, W).astype(np.int32), np.pad(args["reference"].reshape(H, W), 8, mode="edge").astype(np.int32)
    out = np.zeros((H // 8) * (W // 8), np.dtype([("dx", "<i2"), ("dy", "<i2"), ("sad", "<u4")]))
    for by in range(H // 8):
        for bx in range(W // 8):
            block = current[by * 8:by * 8 + 8, bx * 8:bx * 8 + 8]
            sads = [(int(np.abs(block - z[by * 8 + dy + 8:by * 8 + dy + 16, bx * 8 + dx + 8:bx * 8 + dx + 16]).sum()), dy, dx)
                    for dy in range(-8, 8) for dx in range(-8, 8)]
            sad, dy, dx = min(sads)
            out[by * (W // 8) + bx] = dx, dy, sad
    return {"motion": out.view(np.uint8)}
