import numpy as np

DOMAIN = "image and video"
KERNEL = "motion_search"
W, H, R = 80, 48, 7
GRID = (W // 16 * 64, H // 16, 1)
GROUP = (64, 1, 1)


def arguments(rng):
    big = rng.integers(0, 256, (H + 40, W + 40)).astype(np.float64)
    for axis in (0, 1):
        big = (np.roll(big, 1, axis) + 2 * big + np.roll(big, -1, axis)) / 4
    reference = big[20:20 + H, 20:20 + W]
    current = np.roll(big, (3, -5), (0, 1))[20:20 + H, 20:20 + W] + rng.normal(0, 4, (H, W))
    blocks = (W // 16) * (H // 16)
    return {
        "current": np.clip(current, 0, 255).astype(np.uint8).ravel(), "reference": reference.astype(np.uint8).ravel(),
        "vectors": np.zeros(2 * blocks, np.int32), "costs": np.zeros(blocks, np.uint32), "width": W, "height": H,
        "lambda": 4,
    }


def expected(args):
    cur = args["current"].reshape(H, W).astype(int)
    ref = np.pad(args["reference"].reshape(H, W).astype(int), R, mode="edge")
    vectors, costs = [], []
    for y in range(0, H, 16):
        for x in range(0, W, 16):
            best = None
            for dy in range(-R, R + 1):
                for dx in range(-R, R + 1):
                    part = ref[R + y + dy:R + y + dy + 16, R + x + dx:R + x + dx + 16]
                    cost = np.abs(cur[y:y + 16, x:x + 16] - part).sum() + args["lambda"] * (abs(dx) + abs(dy))
                    if best is None or cost < best[0]:
                        best = (cost, dx, dy)
            costs.append(best[0])
            vectors += best[1:]
    return {"vectors": np.array(vectors, np.int32), "costs": np.array(costs, np.uint32)}
