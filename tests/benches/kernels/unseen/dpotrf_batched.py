import numpy as np

DOMAIN = "linear algebra"
KERNEL = "dpotrf_batched"
BATCH, ORDER, LDA = 10, 29, 31
GRID = (16 * BATCH, 16, 1)
GROUP = (16, 16, 1)
TOLERANCE = {"A": (1e-11, 1e-11)}


def arguments(rng):
    a = np.zeros((BATCH, ORDER, LDA))
    for b in range(BATCH):
        g = rng.standard_normal((ORDER, ORDER))
        s = g @ g.T + ORDER * np.eye(ORDER)
        if b == 3:
            s[17, 17] = -1.0
        a[b, :, :ORDER] = s.T
    return {"A": a.ravel(), "info": np.full(BATCH, -7, np.int32), "n": ORDER, "lda": LDA}


def expected(args):
    a = args["A"].reshape(BATCH, ORDER, LDA).copy()
    info = np.zeros(BATCH, np.int32)
    for b in range(BATCH):
        m = a[b, :, :ORDER].T.copy()
        for k in range(ORDER):
            if not m[k, k] > 0:
                info[b] = k + 1
                break
            m[k, k] = np.sqrt(m[k, k])
            m[k + 1:, k] /= m[k, k]
            for j in range(k + 1, ORDER):
                m[j:, j] -= m[j:, k] * m[j, k]
        low = np.tril(np.ones((ORDER, ORDER), bool))
        full = a[b, :, :ORDER].T.copy()
        full[low] = m[low]
        a[b, :, :ORDER] = full.T
    return {"A": a.ravel(), "info": info}
