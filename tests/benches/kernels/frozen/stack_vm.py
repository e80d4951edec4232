import numpy as np
DOMAIN = "interpretation"
KERNEL = "stack_vm"
N, FUEL = 150, 900
GRID = (64 * ((N + 63) // 64), 1, 1)
GROUP = (64, 1, 1)
NAMES = "HALT PUSH INPUT DUP DROP SWAP OVER ADD SUB MUL AND XOR SHR LESS EQUAL JUMP JZ CALL RET LOAD STORE".split()
# Collatz steps of the input, times a hash of the numbers on the way, which a subroutine computes
SOURCE = """
  INPUT  PUSH 0 STORE 0  PUSH 7 STORE 1
loop:
  DUP PUSH 1 EQUAL JZ more JUMP done
more:
  CALL mix
  LOAD 0 PUSH 1 ADD STORE 0
  DUP PUSH 1 AND JZ even
  DUP PUSH 3 MUL PUSH 1 ADD SWAP DROP JUMP loop
even:
  PUSH 1 SHR JUMP loop
mix:
  DUP LOAD 1 PUSH 31 MUL XOR STORE 1
  LOAD 0 PUSH 5 LESS JZ skip
  DUP DUP PUSH 2 SHR OVER SUB SWAP DROP LOAD 1 ADD STORE 1
skip:
  RET
done:
  DROP LOAD 0 LOAD 1 MUL HALT
"""


def assemble(source):
    words, code, labels, holes = source.split(), [], {}, []
    i = 0
    while i < len(words):
        w = words[i]
        if w.endswith(":"):
            labels[w[:-1]] = len(code)
        else:
            code.append(NAMES.index(w))
            if w in ("PUSH", "LOAD", "STORE"):
                i += 1
                code.append(int(words[i]) & 255)
            elif w in ("JUMP", "JZ", "CALL"):
                i += 1
                holes.append((len(code), words[i]))
                code += [0, 0]
        i += 1
    for at, label in holes:
        code[at], code[at + 1] = labels[label] & 255, labels[label] >> 8
    return np.array(code, np.uint8)


def wrap(v):
    return (v + (1 << 31)) % (1 << 32) - (1 << 31)


BINARY = {
    "ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "MUL": lambda a, b: a * b, "AND": lambda a, b: a & b,
    "XOR": lambda a, b: a ^ b, "SHR": lambda a, b: (a % (1 << 32)) >> (b & 31), "LESS": lambda a, b: int(a < b),
    "EQUAL": lambda a, b: int(a == b),
}


def run(code, value):
    stack, calls, local, pc = [], [], [0] * 4, 0
    for step in range(1, FUEL + 1):
        op = NAMES[code[pc]]
        pc += 1
        wide = code[pc] | code[pc + 1] << 8 if pc + 1 < len(code) else 0
        if op == "HALT":
            break
        if op == "PUSH":
            stack.append(code[pc] - 256 if code[pc] > 127 else code[pc])
            pc += 1
        elif op == "INPUT":
            stack.append(value)
        elif op == "DUP":
            stack.append(stack[-1])
        elif op == "DROP":
            stack.pop()
        elif op == "SWAP":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif op == "OVER":
            stack.append(stack[-2])
        elif op in BINARY:
            b, a = stack.pop(), stack.pop()
            stack.append(wrap(BINARY[op](a, b)))
        elif op == "JUMP":
            pc = wide
        elif op == "JZ":
            pc = wide if stack.pop() == 0 else pc + 2
        elif op == "CALL":
            calls.append(pc + 2)
            pc = wide
        elif op == "RET":
            pc = calls.pop()
        elif op == "LOAD":
            stack.append(local[code[pc]])
            pc += 1
        elif op == "STORE":
            local[code[pc]] = stack.pop()
            pc += 1
    return (stack[-1] if stack else 0), step


def arguments(rng):
    return {
        "code": assemble(SOURCE), "input": rng.integers(1, 60, N, dtype=np.int32), "output": np.zeros(N, np.int32),
        "steps": np.zeros(N, np.uint32), "fuel": FUEL, "n": N,
    }


def expected(args):
    code = args["code"].tolist()
    results = [run(code, int(v)) for v in args["input"]]
    return {"output": np.array([r[0] for r in results], np.int32), "steps": np.array([r[1] for r in results], np.uint32)}
