import numpy as np

DOMAIN = "physics"
KERNEL = "lj_neighbours"
ATOMS, BOX, CUT, PITCH = 1500, 12.0, 2.2, 1536
GRID = (-(-ATOMS // 64) * 64, 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"forces": (2e-3, 2e-2)}


def arguments(rng):
    # A jittered lattice, so that no two atoms are too close.
    side = 12
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)
    x = (grid[rng.permutation(len(grid))[:ATOMS]] + rng.uniform(-0.05, 0.05, (ATOMS, 3))) % BOX
    x = x.astype(np.float32)
    kind = rng.integers(0, 4, ATOMS).astype(np.uint32)
    positions = np.concatenate([x, kind.view(np.float32)[:, None]], 1)
    d = x[:, None].astype(np.float64) - x[None]
    d -= BOX * np.rint(d / BOX)
    near = (d**2).sum(2) < (CUT + 0.2)**2
    np.fill_diagonal(near, False)
    counts = near.sum(1)
    lists = np.zeros((counts.max(), PITCH), np.uint32)
    for i in range(ATOMS):
        lists[:counts[i], i] = rng.permutation(np.flatnonzero(near[i]))
    eps, sigma = rng.uniform(0.5, 1.5, (4, 4)), rng.uniform(0.8, 1.0, (4, 4))
    lj1, lj2 = 48 * eps * sigma**12, 24 * eps * sigma**6
    shift = lj1 / 12 / CUT**12 - lj2 / 6 / CUT**6
    pairs = np.stack([lj1, lj2, np.full((4, 4), CUT**2), shift], -1)
    return {
        "positions": positions.ravel(), "lists": lists.ravel(), "counts": counts.astype(np.uint32),
        "pairs": pairs.astype(np.float32).ravel(), "forces": np.zeros(4 * ATOMS, np.float32), "box": BOX, "atoms": ATOMS,
        "pitch": PITCH,
    }


def expected(args):
    p = args["positions"].reshape(ATOMS, 4)
    x, kind = p[:, :3].astype(np.float64), p[:, 3].copy().view(np.uint32)
    lj1, lj2, cut2, shift = args["pairs"].astype(np.float64).reshape(4, 4, 4).transpose(2, 0, 1)[:, kind][:, :, kind]
    d = x[:, None] - x[None]
    d -= BOX * np.rint(d / BOX)
    r2 = (d**2).sum(2)
    np.fill_diagonal(r2, np.inf)
    on = r2 < cut2
    r6i = r2**-3.0
    force = ((on * (r6i / r2) * (lj1 * r6i - lj2))[:, :, None] * np.where(on[:, :, None], d, 0)).sum(1)
    energy = 0.5 * (on * (r6i * (lj1 / 12 * r6i - lj2 / 6) - shift)).sum(1)
    return {"forces": np.concatenate([force, energy[:, None]], 1).astype(np.float32).ravel()}
