import numpy as np
DOMAIN = "graph"
KERNEL = "ccl_tile"
W, H = 170, 100
GRID = (16 * ((W + 15) // 16), 16 * ((H + 15) // 16), 1)
GROUP = (16, 16, 1)


def arguments(rng):
    noise = rng.uniform(0, 1, (H + 2, W + 2))
    smooth = sum(noise[r:r + H, c:c + W] for r in range(3) for c in range(3)) / 9
    return {
        "image": (smooth * 6).astype(np.uint8).ravel(), "labels": np.zeros(W * H, np.uint32), "width": W, "height": H,
    }


def expected(args):
    image = args["image"].reshape(H, W)
    labels = np.full((H, W), 0xFFFFFFFF, np.uint32)
    for y in range(H):
        for x in range(W):
            if labels[y, x] != 0xFFFFFFFF:
                continue
            # a flood fill within the tile finds the whole component of a pixel without a label; rows of a tile come first
            x0, y0 = x // 16 * 16, y // 16 * 16
            reached, stack = {(x, y)}, [(x, y)]
            while stack:
                px, py = stack.pop()
                for qx, qy in ((px - 1, py), (px + 1, py), (px, py - 1), (px, py + 1)):
                    if (x0 <= qx < min(x0 + 16, W) and y0 <= qy < min(y0 + 16, H) and (qx, qy) not in reached
                            and image[qy, qx] == image[y, x]):
                        reached.add((qx, qy))
                        stack.append((qx, qy))
            first = min(py * W + px for px, py in reached)
            for px, py in reached:
                labels[py, px] = first
    return {"labels": labels.ravel()}
