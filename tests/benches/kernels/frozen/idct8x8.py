import numpy as np
DOMAIN = "image and video"
KERNEL = "idct8x8"
PER_ROW, ROWS = 25, 37
BLOCKS = PER_ROW * ROWS
GRID = (8 * ((BLOCKS + 7) // 8), 8, 1)
GROUP = (8, 8, 1)
# integers are rounded twice
TOLERANCE = {"pixels": (0.0, 1.0)}
K = np.arange(8)
BASIS = np.where(K == 0, np.sqrt(1 / 8), 0.5)[:, None] * np.cos((2 * K[None, :] + 1) * K[:, None] * np.pi / 16)


def arguments(rng):
    quant = (8 + 3 * (K[:, None] + K[None, :])).astype(np.uint16)
    smooth = rng.uniform(0, 255, (BLOCKS, 1, 1)) + rng.normal(0, 40, (BLOCKS, 8, 8)) - 128
    c = np.einsum("ki,bij,lj->bkl", BASIS, smooth, BASIS)
    return {
        "coefficients": np.rint(c / quant).astype(np.int16).ravel(), "quant": quant.ravel(),
        "pixels": np.zeros(BLOCKS * 64, np.uint8), "blocks": BLOCKS, "blocks_per_row": PER_ROW,
    }


def expected(args):
    c = args["coefficients"].reshape(BLOCKS, 8, 8) * args["quant"].reshape(8, 8).astype(np.float64)
    p = np.clip(np.rint(np.einsum("ki,bkl,lj->bij", BASIS, c, BASIS) + 128), 0, 255)
    image = p.reshape(ROWS, PER_ROW, 8, 8).transpose(0, 2, 1, 3)
    return {"pixels": image.astype(np.uint8).ravel()}
