import struct

import numpy as np

DOMAIN = "interpretation"
KERNEL = "cbpf_filter"
COUNT = 1000
GRID = (-(-COUNT // 64) * 64, 1, 1)
GROUP = (64, 1, 1)

# TCP to port 80 or 443: keep twice the header, 8 more, at least 54 bytes. UDP below port 1024, and whose length is no
# multiple of 8: keep everything. Other IP packets that are no fragments: keep (length - 14) / 3 | 1. Rest: nothing.
PROGRAM = [
    (0x28, 0, 0, 12),         # ldh [12]
    (0x15, 0, 29, 0x800),     # jeq ip
    (0x30, 0, 0, 23),         # ldb [23]
    (0x02, 0, 0, 3),          # st M[3], the protocol
    (0x28, 0, 0, 20),         # ldh [20]
    (0x45, 25, 0, 0x1FFF),    # jset fragment
    (0xB1, 0, 0, 14),         # ldxb 4 * ([14] & 15)
    (0x03, 0, 0, 4),          # stx M[4]
    (0x60, 0, 0, 3),          # ld M[3]
    (0x15, 0, 9, 6),          # jeq tcp
    (0x48, 0, 0, 16),         # ldh [x + 16]
    (0x15, 1, 0, 80),         # jeq 80
    (0x15, 0, 18, 443),       # jeq 443
    (0x61, 0, 0, 4),          # ldx M[4]
    (0x87, 0, 0, 0),          # txa
    (0x64, 0, 0, 1),          # lsh 1
    (0x04, 0, 0, 8),          # add 8
    (0x35, 14, 0, 54),        # jge 54
    (0x06, 0, 0, 54),         # ret 54
    (0x15, 0, 5, 17),         # jeq udp
    (0x48, 0, 0, 16),         # ldh [x + 16]
    (0x25, 9, 0, 1023),       # jgt 1023
    (0x48, 0, 0, 18),         # ldh [x + 18]
    (0x45, 0, 7, 7),          # jset 7
    (0x06, 0, 0, 0xFFFF),     # ret 65535
    (0x80, 0, 0, 0),          # ld length
    (0x14, 0, 0, 14),         # sub 14
    (0x34, 0, 0, 3),          # div 3
    (0x44, 0, 0, 1),          # or 1
    (0x05, 0, 0, 2),          # ja
    (0x06, 0, 0, 0),          # ret 0
    (0x06, 0, 0, 0),          # ret 0
    (0x16, 0, 0, 0),          # ret a
]


def packet(rng):
    kind = rng.choice(["ip"] * 8 + ["arp", "junk"])
    if kind == "junk":
        return rng.bytes(int(rng.integers(0, 34)))
    head = rng.bytes(12) + struct.pack(">H", 0x800 if kind == "ip" else 0x806)
    if kind == "arp":
        return head + rng.bytes(28)
    words = int(rng.choice([5, 5, 5, 6, 8]))
    proto = int(rng.choice([6, 6, 17, 17, 1, 47]))
    fragment = int(rng.choice([0, 0, 0, 0x4000, 0x2003]))
    ip = struct.pack(">BBHHHBBH", 0x40 | words, 0, 0, 1, fragment, 64, proto, 0) + rng.bytes(4 * words - 12)
    port = int(rng.choice([80, 443, 53, 123, 8080, 1023, 1024]))
    body = struct.pack(">HHHH", 40000, port, int(rng.integers(8, 99)), 0) + rng.bytes(int(rng.integers(0, 60)))
    return (head + ip + body)[:int(rng.choice([500, 500, 500, rng.integers(14, 45)]))]


def arguments(rng):
    packets = [packet(rng) for _ in range(COUNT)]
    code = b"".join(struct.pack("<HBBI", *i) for i in PROGRAM)
    return {
        "code": np.frombuffer(code, np.uint8), "packets": np.frombuffer(b"".join(packets), np.uint8),
        "offsets": np.concatenate([[0], np.cumsum([len(p) for p in packets])]).astype(np.uint32),
        "kept": np.full(COUNT, 77, np.uint32), "count": COUNT,
    }


class Short(Exception):
    pass


def number(p, at, size):
    if at + size > len(p):
        raise Short
    return int.from_bytes(p[at:at + size], "big")


def keep(p):
    """What the filter says, without BPF."""
    if number(p, 12, 2) != 0x800:
        return 0
    proto = number(p, 23, 1)
    if number(p, 20, 2) & 0x1FFF:
        return 0
    header = 4 * (number(p, 14, 1) & 15)
    if proto == 6:
        if number(p, header + 16, 2) not in (80, 443):
            return 0
        return max(2 * header + 8, 54)
    if proto == 17:
        if number(p, header + 16, 2) > 1023:
            return 0
        return 0xFFFF if number(p, header + 18, 2) % 8 else 0
    return (len(p) - 14) // 3 | 1


def expected(args):
    raw, o, out = args["packets"].tobytes(), args["offsets"], []
    for i in range(COUNT):
        try:
            out.append(keep(raw[o[i]:o[i + 1]]))
        except Short:
            out.append(0)
    return {"kept": np.array(out, np.uint32)}
