#!/usr/bin/env python3
"""Bytes of debug information beside clang's: the sections `.debug_*` of the 21 kernels and of their OpenCL twins in
tests/cl, kernel by kernel and section by section. Linked objects for gfx906 at -O2, each with `-g` and the version of
DWARF that is asked for.

Needs clang 14 and 19, and lld 19. usage: tests/benches/debug_sizes.py KERNC [OPTION...]; options go to both compilers, as -gdwarf-4.
"""
import collections
import glob
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNC, OPTIONS = sys.argv[1], sys.argv[2:] or ['-g']
KERNELS = sorted(os.path.basename(path)[:-3] for path in glob.glob(ROOT + '/tests/cl/*.cl'))
CLANG = ['-x', 'cl', '-target', 'amdgcn-amd-amdhsa', '-mcpu=gfx906', '-nogpulib', '-O2', '-cl-std=CL2.0']


def sections(path):
    """Bytes of each section of debug information of an ELF file."""
    with open(path, 'rb') as file:
        data = file.read()
    at, = struct.unpack_from('<Q', data, 0x28)
    size, count, names = struct.unpack_from('<HHH', data, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', data, at + n * size) for n in range(count)]
    sizes = collections.Counter()
    for name, _, _, _, _, length in headers:
        start = headers[names][4] + name
        text = data[start:data.index(b'\0', start)].decode()
        if text.startswith('.debug_'):
            sizes[text[len('.debug_'):]] += length
    return sizes


def run(*command):
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def main():
    os.chdir(ROOT)
    compilers = ['kernc', 'clang-14', 'clang-19']
    totals = {compiler: collections.Counter() for compiler in compilers}
    print('| kernel | ' + ' | '.join(compilers) + ' | beside clang-19 |\n|-|-|-|-|-|')
    with tempfile.TemporaryDirectory() as folder:
        out = folder + '/object'
        for kernel in KERNELS:
            sums = []
            for compiler in compilers:
                if compiler == 'kernc':
                    run(KERNC, f'examples/{kernel}.k', '--mcpu', 'gfx906', '-O2', *OPTIONS, '-o', out)
                else:
                    if not run(compiler, *CLANG, *OPTIONS, '-c', f'tests/cl/{kernel}.cl', '-o', out + '.o'):
                        # clang 14 does not know all builtin functions of the twins.
                        sums.append(0)
                        continue
                    run('ld.lld-19', '-shared', out + '.o', '-o', out)
                found = sections(out)
                totals[compiler] += found
                sums.append(sum(found.values()))
            print(f'| {kernel} | ' + ' | '.join(map(str, sums)) + f' | {sums[0] / sums[-1]:.2f} |', flush=True)
    sums = [sum(total.values()) for total in totals.values()]
    print('| all | ' + ' | '.join(map(str, sums)) + f' | **{sums[0] / sums[-1]:.2f}** |\n')
    print('| section | ' + ' | '.join(compilers) + ' |\n|-|-|-|-|')
    for name in sorted(set().union(*totals.values())):
        print(f'| {name} | ' + ' | '.join(str(totals[compiler][name]) for compiler in compilers) + ' |')


main()
