import numpy as np
DOMAIN = "physics"
KERNEL = "rigid_step"
N, STEPS = 1000, 4
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"bodies": (1e-3, 1e-3)}


def arguments(rng):
    b = np.zeros((N, 6, 4), np.float32)
    half = rng.uniform(0.2, 0.8, (N, 3))
    mass = 8 * half.prod(1)
    q = rng.normal(0, 1, (N, 4))
    b[:, 0, :3] = rng.uniform(-5, 5, (N, 3))
    b[:, 0, 1] = rng.uniform(0.1, 1.2, N)
    b[:, 0, 3] = 1 / mass
    b[:, 1] = q / np.linalg.norm(q, axis=1)[:, None]
    b[:, 2, :3] = rng.uniform(-1, 1, (N, 3))
    b[:, 3, :3] = rng.uniform(-2, 2, (N, 3))
    b[:, 4, :3] = half
    b[:, 5, :3] = mass[:, None] / 3 * ((half ** 2).sum(1)[:, None] - half ** 2)
    return {"bodies": b.ravel(), "stiffness": 300.0, "damping": 2.0, "dt": float(np.float32(0.002)), "steps": STEPS, "n": N}


def matrix(q):
    x, y, z, w = q.T
    return np.stack([
        1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
        2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
        2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], 1).reshape(-1, 3, 3)


def expected(args):
    b = args["bodies"].reshape(N, 6, 4).astype(np.float64)
    x, q, v, w, half, inertia = b[:, 0, :3], b[:, 1], b[:, 2, :3], b[:, 3, :3], b[:, 4, :3], b[:, 5, :3]
    dt = args["dt"]
    signs = np.array([[1 if c >> k & 1 else -1 for k in range(3)] for c in range(8)])
    for _ in range(STEPS):
        r = matrix(q)
        force, torque = np.zeros((N, 3)), np.zeros((N, 3))
        for s in signs:
            arm = np.einsum("nij,nj->ni", r, s * half)
            depth = -(x[:, 1] + arm[:, 1])
            push = -args["damping"] * (v + np.cross(w, arm))
            push[:, 1] = np.maximum(push[:, 1] + args["stiffness"] * depth, 0)
            push[depth <= 0] = 0
            force += push
            torque += np.cross(arm, push)
        spin = np.einsum("nji,nj->ni", r, w)
        turn = np.einsum("nji,nj->ni", r, torque) - np.cross(spin, inertia * spin)
        v = v + dt * (force * b[:, 0, 3:] + np.array([0, -9.81, 0]))
        w = w + dt * np.einsum("nij,nj->ni", r, turn / inertia)
        x = x + dt * v
        product = np.concatenate([q[:, 3:] * w + np.cross(w, q[:, :3]), -(w * q[:, :3]).sum(1)[:, None]], 1)
        q = q + 0.5 * dt * product
        q = q / np.linalg.norm(q, axis=1)[:, None]
    out = b.copy()
    out[:, 0, :3], out[:, 1], out[:, 2, :3], out[:, 3, :3] = x, q, v, w
    out[:, 2, 3] = out[:, 3, 3] = 0
    return {"bodies": out.astype(np.float32).ravel()}
