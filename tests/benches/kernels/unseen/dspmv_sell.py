import numpy as np

DOMAIN = "linear algebra"
KERNEL = "dspmv_sell"
ROWS, COLS, SLICE, SIGMA = 6010, 5000, 32, 256
GRID = (-(-ROWS // 128) * 128, 1, 1)
GROUP = (128, 1, 1)
TOLERANCE = {"y": (1e-12, 1e-12)}


def arguments(rng):
    length = rng.integers(0, 36, ROWS)
    order = np.concatenate([s + np.argsort(-length[s:s + SIGMA], kind="stable") for s in range(0, ROWS, SIGMA)])
    sorted_length = length[order]
    starts, columns, values = [0], [], []
    for s in range(0, ROWS, SLICE):
        width = int(sorted_length[s:s + SLICE].max())
        columns.append(rng.integers(0, COLS, width * SLICE))
        values.append(rng.uniform(-1, 1, width * SLICE))
        starts.append(starts[-1] + width * SLICE)
    return {
        "starts": np.array(starts, np.uint32), "lengths": sorted_length.astype(np.uint32),
        "order": order.astype(np.uint32), "columns": np.concatenate(columns).astype(np.uint32),
        "values": np.concatenate(values), "x": rng.uniform(-1, 1, COLS), "y": rng.uniform(-1, 1, ROWS),
        "rows": ROWS, "alpha": 1.25, "beta": 0.5,
    }


def expected(args):
    y = args["y"].copy()
    for row in range(ROWS):
        at = int(args["starts"][row // SLICE]) + row % SLICE + SLICE * np.arange(int(args["lengths"][row]))
        total = np.sum(args["values"][at] * args["x"][args["columns"][at]])
        to = args["order"][row]
        y[to] = args["alpha"] * total + args["beta"] * y[to]
    return {"y": y}
