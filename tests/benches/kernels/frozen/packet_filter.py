import numpy as np
DOMAIN = "interpretation"
KERNEL = "packet_filter"
N = 900
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
INSTRUCTION = np.dtype([("code", "<u2"), ("jt", "u1"), ("jf", "u1"), ("k", "<u4")])
# unfragmented UDP over IPv4 to ports 53 or above 1000 whose checksum-like hash of ports and address is not 0 mod 4;
# keeps length - 14 bytes, at most 96
PROGRAM = [
    (0x28, 0, 0, 12), (0x15, 0, 27, 0x800),       # ether type
    (0x30, 0, 0, 23), (0x15, 0, 25, 17),          # protocol
    (0x28, 0, 0, 20), (0x45, 23, 0, 0x1FFF),      # fragment
    (0xB1, 0, 0, 14),                             # x = length of the header
    (0x48, 0, 0, 16), (0x02, 0, 0, 3),            # M[3] = destination port
    (0x15, 1, 0, 53), (0x25, 0, 18, 1000),
    (0x48, 0, 0, 14), (0x07, 0, 0, 0),            # x = source port
    (0x20, 0, 0, 30), (0x0C, 0, 0, 0),            # a = destination address + x
    (0x61, 0, 0, 3), (0xAC, 0, 0, 0),             # a ^= M[3]
    (0x02, 0, 0, 5), (0x74, 0, 0, 7), (0x61, 0, 0, 5), (0x0C, 0, 0, 0), (0x24, 0, 0, 2654435761),
    (0x74, 0, 0, 30), (0x15, 5, 0, 0),
    (0x80, 0, 0, 0), (0x14, 0, 0, 14), (0x35, 1, 0, 96), (0x16, 0, 0, 0), (0x06, 0, 0, 96),
    (0x06, 0, 0, 0),
]


def arguments(rng):
    packets = []
    for _ in range(N):
        ip_length = 20 if rng.uniform() < 0.8 else 24
        payload = int(rng.integers(0, 90))
        p = bytearray(rng.bytes(14 + ip_length + 8 + payload))
        p[12:14] = b"\x08\x00" if rng.uniform() < 0.9 else b"\x86\xdd"
        p[14] = 0x40 | ip_length // 4
        p[20:22] = b"\x40\x00" if rng.uniform() < 0.9 else b"\x20\x10"
        p[23] = 17 if rng.uniform() < 0.85 else 6
        if rng.uniform() < 0.4:
            p[14 + ip_length + 2:14 + ip_length + 4] = b"\x00\x35"
        if rng.uniform() < 0.05:
            p = p[:int(rng.integers(0, 40))]
        packets.append(bytes(p))
    return {
        "program": np.array(PROGRAM, INSTRUCTION).view(np.uint8), "packets": np.frombuffer(b"".join(packets), np.uint8).copy(),
        "offsets": np.concatenate([[0], np.cumsum([len(p) for p in packets])]).astype(np.uint32), "keep": np.zeros(N, np.uint32), "n": N,
    }


def wanted(p):
    # what the program says, without the machine
    field = lambda at, size: int.from_bytes(p[at:at + size], "big") if at + size <= len(p) else None
    header = None
    for at, size, good in ((12, 2, lambda v: v == 0x800), (23, 1, lambda v: v == 17), (20, 2, lambda v: v & 0x1FFF == 0)):
        v = field(at, size)
        if v is None or not good(v):
            return 0
    header = field(14, 1)
    if header is None:
        return 0
    header = (header & 15) * 4
    to = field(header + 16, 2)
    if to is None or not (to == 53 or to > 1000):
        return 0
    source, address = field(header + 14, 2), field(30, 4)
    if source is None or address is None:
        return 0
    mixed = (address + source) % 2 ** 32 ^ to
    mixed = ((mixed >> 7) + mixed) * 2654435761 % 2 ** 32
    if mixed >> 30 == 0:
        return 0
    return min(len(p) - 14, 96)


def expected(args):
    raw, offsets = args["packets"].tobytes(), args["offsets"]
    keep = np.array([wanted(raw[offsets[i]:offsets[i + 1]]) for i in range(N)], np.uint32)
    assert (keep > 0).sum() > N // 4
    return {"keep": keep}
