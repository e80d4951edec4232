import re

import numpy as np

DOMAIN = "parsing"
KERNEL = "parse_decimals"
COUNT = 1400
GRID = (-(-COUNT // 64) * 64, 1, 1)
GROUP = (64, 1, 1)
TOLERANCE = {"values": (1e-14, 0)}
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def arguments(rng):
    fixed = ["", "-", ".", "5.", ".5", "+7", "1e", "1e+", "1e5x", "1.2.3", "--1", "007", "-0.0", "12345678901234567890123",
             "0.00000000000000000000000012345", "1e300", "1E-300", "9" * 30 + "e-20", "abc", "1 "]
    fields = list(fixed)
    while len(fields) < COUNT:
        kind = rng.integers(4)
        x = rng.normal(0, 1) * 10.0**rng.integers(-6, 9)
        fields.append([f"{x:.{rng.integers(0, 8)}f}", f"{x:.{rng.integers(0, 16)}e}", str(int(x)), repr(x)][kind])
    rng.shuffle(fields)
    raw = "".join(fields).encode()
    offsets = np.concatenate([[0], np.cumsum([len(f) for f in fields])])
    return {
        "text": np.frombuffer(raw, np.uint8), "offsets": offsets.astype(np.uint32), "values": np.full(COUNT, np.nan),
        "status": np.full(COUNT, 9, np.uint8), "count": COUNT,
    }


def expected(args):
    raw, o = args["text"].tobytes().decode(), args["offsets"]
    fields = [raw[o[i]:o[i + 1]] for i in range(COUNT)]
    valid = [bool(NUMBER.fullmatch(f)) for f in fields]
    return {
        "values": np.array([float(f) if v else 0.0 for f, v in zip(fields, valid)]),
        "status": np.array([not v for v in valid], np.uint8),
    }
