#!/usr/bin/env python3
"""Compile time beside clang 19, in one run: prints the tables that README.md and docs/performance.md quote.

In-process: LLVM's mid-end (default<O3>) and code generation (-O3) of each OpenCL twin through libLLVM's C API, as the
slope over N copies of the kernel in one module (start-up cancels out), beside kernc's whole way from source text to
code object at -O2 (`cargo bench --bench inproc`). Whole process: `clang -O3 -c` beside `kernc`, wall time and memory.

Needs clang-19, libLLVM 19, GNU time and cargo. usage: tests/benches/against_clang.py [repetitions]
"""
import ctypes as C
import glob
import os
import re
import subprocess
import sys
import tempfile
import time
from ctypes import c_char_p as S, c_int as I, c_size_t as Z, c_void_p as P, byref

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REPS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
TRIPLE = b'amdgcn-amd-amdhsa'
CLANG = ['clang-19', '-x', 'cl', '-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx906', '-nogpulib', '-O3', '-cl-std=CL2.0']
KERNELS = sorted(os.path.basename(f)[:-3] for f in glob.glob(ROOT + '/tests/cl/*.cl'))


class Llvm:
    """The few functions of libLLVM's C API that are needed."""

    def __init__(self):
        self.lib = C.CDLL('libLLVM.so.19.1')
        for part in ('TargetInfo', 'Target', 'TargetMC', 'AsmPrinter'):
            getattr(self.lib, 'LLVMInitializeAMDGPU' + part)()
        f = self.fn
        self.ctx = f('LLVMContextCreate', P)()
        self.mkbuf = f('LLVMCreateMemoryBufferWithMemoryRangeCopy', P, S, Z, S)
        self.parse = f('LLVMParseIRInContext', I, P, P, C.POINTER(P), C.POINTER(P))
        self.clone, self.drop = f('LLVMCloneModule', P, P), f('LLVMDisposeModule', None, P)
        self.emit = f('LLVMTargetMachineEmitToMemoryBuffer', I, P, P, I, C.POINTER(P), C.POINTER(P))
        self.drop_buffer = f('LLVMDisposeMemoryBuffer', None, P)
        self.run = f('LLVMRunPasses', P, P, S, P, P)
        self.options = f('LLVMCreatePassBuilderOptions', P)
        target, error = P(), P()
        assert f('LLVMGetTargetFromTriple', I, S, C.POINTER(P), C.POINTER(P))(TRIPLE, byref(target), byref(error)) == 0
        make = f('LLVMCreateTargetMachine', P, P, S, S, S, I, I, I)
        self.machine = make(target, TRIPLE, b'gfx906', b'', 3, 2, 0)

    def fn(self, name, result, *args):
        function = getattr(self.lib, name)
        function.restype, function.argtypes = result, args
        return function

    def load(self, text):
        data, module, error = text.encode(), P(), P()
        buffer = self.mkbuf(data, len(data), b'module')
        assert self.parse(self.ctx, buffer, byref(module), byref(error)) == 0
        return module.value

    def timed(self, module, work):
        copy = self.clone(module)
        start = time.perf_counter()
        work(copy)
        spent = time.perf_counter() - start
        self.drop(copy)
        return spent * 1e3

    def codegen(self, module):
        buffer, error = P(), P()
        assert self.emit(self.machine, module, 1, byref(error), byref(buffer)) == 0
        self.drop_buffer(buffer)

    def midend(self, module):
        assert not self.run(module, b'default<O3>', self.machine, self.options())


def slope(xs, ys):
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def copies(text, name, n):
    """The module with n renamed copies of the kernel."""
    before, body, after, state = [], [], [], 0
    for line in text.splitlines():
        if line.startswith(f'@{name}.'):
            body.append(line)
        elif line.startswith('define ') and f'@{name}(' in line:
            state = 1
            body.append(line)
        elif state == 1:
            body.append(line)
            state = 2 if line == '}' else 1
        else:
            (after if state else before).append(line)
    renamed = [re.sub(r'@' + name + r'(?=[.(,\s])', f'@{name}_{i}', '\n'.join(body)) for i in range(n)]
    return '\n'.join(before + renamed + after) + '\n'


def llvm_times(llvm, kernel):
    source = f'{ROOT}/tests/cl/{kernel}.cl'
    ir = {}
    for what, extra in (('raw', ['-Xclang', '-disable-llvm-passes']), ('opt', [])):
        ir[what] = subprocess.run(CLANG + extra + ['-emit-llvm', '-S', source, '-o', '-'], check=True,
                                  capture_output=True, text=True).stdout
    counts = [1, 2, 4] if kernel in ('sha256', 'sgemm_reg') else [1, 4, 8]
    mid, gen = [], []
    for n in counts:
        raw, opt = llvm.load(copies(ir['raw'], kernel, n)), llvm.load(copies(ir['opt'], kernel, n))
        mid.append(min(llvm.timed(raw, llvm.midend) for _ in range(REPS)))
        gen.append(min(llvm.timed(opt, llvm.codegen) for _ in range(REPS)))
        llvm.drop(raw)
        llvm.drop(opt)
    return slope(counts, mid), slope(counts, gen)


def process(command):
    """Wall milliseconds and peak MiB of a process: the least of several runs."""
    wall, memory = 1e9, 1e9
    for _ in range(max(REPS, 10)):
        start = time.perf_counter()
        subprocess.run(command, check=True)
        wall = min(wall, (time.perf_counter() - start) * 1e3)
        # A child of ours would be charged with this process's memory, which it shares until it starts: time(1) is small.
        peak = subprocess.run(['/usr/bin/time', '-f', '%M'] + command, check=True, capture_output=True, text=True).stderr
        memory = min(memory, int(peak.split()[-1]) / 1024)
    return wall, memory


def main():
    os.chdir(ROOT)
    subprocess.run(['cargo', 'build', '--release', '--quiet'], check=True)
    lines = subprocess.run(['cargo', 'bench', '--quiet', '--bench', 'inproc', '--'] +
                           [f'{ROOT}/examples/{kernel}.k' for kernel in KERNELS], check=True, capture_output=True, text=True)
    ours = {}
    for line in lines.stdout.splitlines():
        if line.count('\t') == 2:
            path, least, _ = line.split('\t')
            ours[os.path.basename(path)[:-2]] = float(least)
    llvm, total_ours, total_llvm = Llvm(), 0.0, 0.0
    print('| kernel | kernc ms | LLVM mid-end ms | LLVM codegen ms | ratio |\n|-|-|-|-|-|')
    for kernel in KERNELS:
        mid, gen = llvm_times(llvm, kernel)
        total_ours, total_llvm = total_ours + ours[kernel], total_llvm + mid + gen
        print(f'| {kernel} | {ours[kernel]:.3f} | {mid:.2f} | {gen:.2f} | {(mid + gen) / ours[kernel]:.1f} |', flush=True)
    print(f'| sum | {total_ours:.2f} | {total_llvm:.1f} | | **{total_llvm / total_ours:.1f}** |\n')
    with tempfile.TemporaryDirectory() as out:
        theirs = process(CLANG + ['-c', 'tests/cl/saxpy.cl', '-o', out + '/clang.co'])
        mine = process([os.environ.get('CARGO_TARGET_DIR', 'target') + '/release/kernc', 'examples/saxpy.k', '--mcpu', 'gfx906', '-o', out + '/kernc.co'])
    print('| process | wall ms | peak MiB |\n|-|-|-|')
    print(f'| `clang -O3 -c saxpy.cl` | {theirs[0]:.1f} | {theirs[1]:.1f} |')
    print(f'| `kernc saxpy.k` | {mine[0]:.2f} | {mine[1]:.1f} |\n\nratio of wall times: {theirs[0] / mine[0]:.1f}')


main()
