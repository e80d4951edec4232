import numpy as np

DOMAIN = "scans and sorts"
KERNEL = "merge_path"
NA, NB, TILE = 11234, 8011, 896
GRID = (-(-(NA + NB) // TILE) * 128, 1, 1)
GROUP = (128, 1, 1)


def arguments(rng):
    return {
        "a": np.sort(rng.integers(-3000, 3000, NA, dtype=np.int32)),
        "b": np.sort(rng.integers(-1000, 6000, NB, dtype=np.int32)),
        "merged": np.zeros(NA + NB, np.int32), "source": np.zeros(NA + NB, np.uint32), "na": NA, "nb": NB,
    }


def expected(args):
    both = np.concatenate([args["a"], args["b"]])
    order = np.argsort(both, kind="stable")
    return {"merged": both[order], "source": order.astype(np.uint32)}
