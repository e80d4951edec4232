import numpy as np

DOMAIN = "image and video"
KERNEL = "nv12_to_rgba"
W, H, LP, CP, RP = 354, 190, 368, 360, 356
GRID = (-(-W // 32) * 16, -(-H // 32) * 16, 1)
GROUP = (16, 16, 1)


def arguments(rng):
    return {
        "luma": rng.integers(0, 256, LP * H, dtype=np.uint8), "chroma": rng.integers(0, 256, CP * H // 2, dtype=np.uint8),
        "rgba": np.full(RP * H * 4, 7, np.uint8), "width": W, "height": H, "luma_pitch": LP, "chroma_pitch": CP,
        "rgba_pitch": RP,
    }


def expected(args):
    y = args["luma"].reshape(H, LP)[:, :W].astype(np.int64) - 16
    uv = args["chroma"].reshape(H // 2, CP)[:, :W].reshape(H // 2, W // 2, 2).astype(np.int64) - 128
    u, v = (np.repeat(np.repeat(uv[:, :, i], 2, 0), 2, 1) for i in (0, 1))
    out = args["rgba"].reshape(H, RP, 4)
    for i, c in enumerate((409 * v, -100 * u - 208 * v, 516 * u)):
        out[:, :W, i] = np.clip((298 * y + c + 128) >> 8, 0, 255)
    out[:, :W, 3] = 255
    return {"rgba": out.ravel()}
