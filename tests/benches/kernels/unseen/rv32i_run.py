import numpy as np

DOMAIN = "interpretation"
KERNEL = "rv32i_run"
HARTS, LIMIT, WORDS = 100, 5000, 64
GRID = (-(-HARTS // 64) * 64, 1, 1)
GROUP = (64, 1, 1)
POLY = 0xEDB88320

ZERO, SP, T0, T1, T2, S0, S1, A0, A1, A2 = 0, 2, 5, 6, 7, 8, 9, 10, 11, 12


class Assembler:
    def __init__(self):
        self.words, self.labels, self.fixes = [], {}, []

    def label(self, name):
        self.labels[name] = 4 * len(self.words)

    def r(self, f3, rd, a, b, f7=0, op=0x33):
        self.words.append(f7 << 25 | b << 20 | a << 15 | f3 << 12 | rd << 7 | op)

    def i(self, f3, rd, a, imm, op=0x13):
        self.words.append((imm & 0xFFF) << 20 | a << 15 | f3 << 12 | rd << 7 | op)

    def s(self, f3, a, b, imm):
        self.words.append((imm >> 5 & 0x7F) << 25 | b << 20 | a << 15 | f3 << 12 | (imm & 31) << 7 | 0x23)

    def lui(self, rd, upper):
        self.words.append((upper & 0xFFFFF) << 12 | rd << 7 | 0x37)

    def branch(self, f3, a, b, label):
        self.fixes.append((len(self.words), label, "b"))
        self.words.append(b << 20 | a << 15 | f3 << 12 | 0x63)

    def jal(self, rd, label):
        self.fixes.append((len(self.words), label, "j"))
        self.words.append(rd << 7 | 0x6F)

    def finish(self):
        for at, label, kind in self.fixes:
            d = self.labels[label] - 4 * at
            if kind == "b":
                self.words[at] |= (d >> 12 & 1) << 31 | (d >> 5 & 63) << 25 | (d >> 1 & 15) << 8 | (d >> 11 & 1) << 7
            else:
                self.words[at] |= (d >> 20 & 1) << 31 | (d >> 1 & 0x3FF) << 21 | (d >> 11 & 1) << 20 | (d >> 12 & 0xFF) << 12
        return np.array(self.words, np.uint32)


def program():
    p = Assembler()
    # s0 = steps of the Collatz sequence from a0 to 1.
    p.i(0, S0, ZERO, 0)
    p.i(0, T0, ZERO, 1)
    p.label("collatz")
    p.branch(0, A0, T0, "collatz_end")
    p.i(7, T1, A0, 1)
    p.branch(0, T1, ZERO, "even")
    p.i(1, T2, A0, 1)
    p.r(0, A0, A0, T2)
    p.i(0, A0, A0, 1)
    p.jal(ZERO, "count")
    p.label("even")
    p.i(5, A0, A0, 1)
    p.label("count")
    p.i(0, S0, S0, 1)
    p.jal(ZERO, "collatz")
    p.label("collatz_end")
    p.s(2, ZERO, S0, 0)
    # Four bytes from address 5 on: -s0 * (k + 3) % 251 in each, stored with SB.
    p.i(0, T0, ZERO, 0)
    p.label("fill")
    p.i(0, T1, T0, 3)
    p.r(0, T1, S0, T1, 1)
    p.r(0, T1, ZERO, T1, 0x20)
    p.i(0, T2, ZERO, 251)
    p.r(7, T1, T1, T2, 1)
    p.s(0, T0, T1, 5)
    p.i(0, T0, T0, 1)
    p.i(2, T2, T0, 4)
    p.branch(1, T2, ZERO, "fill")
    # CRC-32 of these bytes by a subroutine.
    p.i(0, A0, ZERO, 5)
    p.i(0, A1, ZERO, 4)
    p.jal(1, "crc")
    p.s(2, ZERO, A0, 12)
    p.i(1, T0, ZERO, 14, 0x03)
    p.i(5, T1, ZERO, 14, 0x03)
    p.s(2, ZERO, T0, 16)
    p.s(1, ZERO, T1, 22)
    p.words.append(0x73)
    p.label("crc")
    p.i(0, A2, ZERO, -1)
    p.lui(S1, (POLY + 0x800) >> 12)
    p.i(0, S1, S1, POLY & 0xFFF)
    p.r(0, A1, A0, A1)
    p.label("byte")
    p.i(4, T0, A0, 0, 0x03)
    p.r(4, A2, A2, T0)
    p.i(0, T1, ZERO, 8)
    p.label("bit")
    p.i(7, T2, A2, 1)
    p.r(0, T2, ZERO, T2, 0x20)
    p.r(7, T2, T2, S1)
    p.i(5, A2, A2, 1)
    p.r(4, A2, A2, T2)
    p.i(0, T1, T1, -1)
    p.branch(1, T1, ZERO, "bit")
    p.i(0, A0, A0, 1)
    p.branch(6, A0, A1, "byte")
    p.i(4, A0, A2, -1)
    p.i(0, ZERO, 1, 0, 0x67)
    return p.finish()


def arguments(rng):
    return {
        "program": program(), "memory": np.zeros(WORDS * HARTS, np.uint32),
        "inputs": rng.integers(1, 20, HARTS, dtype=np.uint32), "results": np.zeros(HARTS, np.uint32),
        "retired": np.zeros(HARTS, np.uint32), "harts": HARTS, "limit": LIMIT,
    }


def expected(args):
    """What the program computes, and how many instructions that takes; not an emulator."""
    assert crc32(b"123456789") == 0xCBF43926
    memory = np.zeros((HARTS, WORDS * 4), np.uint8)
    results, retired = [], []
    for h, n in enumerate(int(v) for v in args["inputs"]):
        steps, count = 0, 2  # the first two instructions
        while n != 1:
            count += 9 if n % 2 else 6
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
        data = bytes((-steps * (k + 3)) % 2**32 % 251 for k in range(4))
        crc = crc32(data)
        memory[h, 0:4] = np.frombuffer(steps.to_bytes(4, "little"), np.uint8)
        memory[h, 5:9] = np.frombuffer(data, np.uint8)
        memory[h, 12:16] = np.frombuffer(crc.to_bytes(4, "little"), np.uint8)
        upper = crc >> 16
        memory[h, 16:20] = np.frombuffer((upper - (upper >> 15 << 16)).to_bytes(4, "little", signed=True), np.uint8)
        memory[h, 22:24] = np.frombuffer(upper.to_bytes(2, "little"), np.uint8)
        results.append(crc)
        # The end of the loop, the four bytes, the subroutine with its call, and what follows it.
        retired.append(count + 3 + 4 * 9 + 3 + 4 + 4 * (3 + 8 * 7 + 2) + 2 + 6)
    return {
        "memory": memory.view(np.uint32).T.copy().ravel(), "results": np.array(results, np.uint32),
        "retired": np.array(retired, np.uint32),
    }


def crc32(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (POLY if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
