#!/usr/bin/env python3
"""Code beside clang-19 -O3 on the kernels of tests/benches/kernels: sizes, instructions, registers and estimated cycles.

Each kernel has a source (NAME.k), a twin in OpenCL (NAME.cl), and its inputs with a reference on the CPU (NAME.py). The
command compiles both, runs both in the emulator, compares the results with the reference, and prints a row for each
kernel: ours, clang's, and ours over clang's, with geometric means at the end.

    tests/benches/kernels.py                              all kernels of the set `frozen` for gfx906
    tests/benches/kernels.py --set unseen --mcpu gfx803,gfx1030
    tests/benches/kernels.py --kernc new/kernc --against old/kernc    two builds of kernc in place of clang
    tests/benches/kernels.py --json rows.json sha512 gemv_q4    some kernels, and the rows as JSON
    tests/benches/kernels.py --check --set unseen         only compares the results, and prints no figures

Needs numpy, clang-19, ld.lld-19 and a release build of kernc (`cargo build --release -p kernc-cli`).
"""
import argparse
import concurrent.futures
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, 'tests', 'benches', 'kernels')
INSTRUCTION_LIMIT = '100000000'
# Columns that are compared: key in the facts of a side, and heading.
COLUMNS = [('static', 'static'), ('executed', 'executed'), ('vgprs', 'VGPRs'), ('cycles', 'cycles')]


class Failure(Exception):
    """A kernel that does not compile, does not run, or computes something else than its reference."""


def command(words):
    """Runs a program and returns its standard output."""
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f'{" ".join(words[:3])} ...: {(done.stderr or done.stdout).strip()[:800]}')
    return done.stdout


def load(folder, name):
    """Reads NAME.py."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(folder, name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launch_options(module, directory):
    """Writes inputs and expected outputs to files; returns the options of `kernc run` that name them."""
    arguments = module.arguments(numpy.random.default_rng(1))
    copies = {name: value.copy() if isinstance(value, numpy.ndarray) else value for name, value in arguments.items()}
    options = ['--kernel', module.KERNEL, '--threads', '1', '--max-instructions', INSTRUCTION_LIMIT]
    options += ['--grid', ','.join(map(str, module.GRID)), '--group', ','.join(map(str, module.GROUP))]
    # Clang's objects do not name the arguments, so numbers do.
    numbers = {name: number for number, name in enumerate(arguments)}
    for name, value in arguments.items():
        if isinstance(value, numpy.ndarray):
            path = os.path.join(directory, name + '.npy')
            numpy.save(path, value)
            value = '@' + path
        options += ['--arg', f'{numbers[name]}={value}']
    for name, value in module.expected(copies).items():
        path = os.path.join(directory, f'expected.{name}.npy')
        numpy.save(path, value)
        bounds = getattr(module, 'TOLERANCE', {}).get(name)
        options += ['--expect', f'{numbers[name]}=@{path}' + (f':{bounds[0]}:{bounds[1]}' if bounds else '')]
    return options


def parameters(module, form):
    """Values of `param` items: `-P NAME=VALUE` for kernc, `-DNAME=VALUE` for clang."""
    values = getattr(module, 'PARAMS', {})
    return [word for name, value in values.items() for word in form(f'{name}={value}')]


def compile_with_kernc(kernc, module, source, mcpu, level, out):
    options = parameters(module, lambda text: ['-P', text])
    command([kernc, source, '--mcpu', mcpu, f'-O{level}', '-o', out, *options])
    times = [command([kernc, source, '--mcpu', mcpu, f'-O{level}', '-o', out, '--time-passes', *options])
             for _ in range(3)]
    return min(float(re.search(r'([\d.]+) us +100', text).group(1)) for text in times)


def compile_with_clang(module, source, mcpu, out):
    cl = os.path.join(ROOT, 'tests', 'cl')
    options = parameters(module, lambda text: ['-D' + text])
    command(['clang-19', '-x', 'cl', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + mcpu, '-nogpulib', '-O3',
             '-cl-std=CL2.0', '-I' + cl, *options, source, '-o', out])


def static_instructions(kernc, path):
    """Instructions between a kernel's label and the end of its section, padding left out."""
    is_instruction = re.compile(r'^\t(?!\.)(?!;)\S')
    text = command([kernc, 'disasm', '--no-lines', path])
    return sum(bool(is_instruction.match(line)) for line in text.splitlines())


def facts(kernc, path, module, launch):
    """Runs an object in fast mode and compares its results; returns its figures."""
    text = command([kernc, 'run', path, '--profile', *launch])
    executed = int(re.search(r'(\d+) wave instructions', text).group(1))
    cycles = int(re.search(r'(\d+) cycles', text).group(1))
    notes = json.loads(command([kernc, 'inspect', '--json', path]))['notes']
    kernels = next(note['value'] for note in notes if isinstance(note.get('value'), dict))['amdhsa.kernels']
    kernel = next(kernel for kernel in kernels if kernel['.name'] == module.KERNEL)
    return {'static': static_instructions(kernc, path), 'executed': executed, 'cycles': cycles,
            'vgprs': kernel['.vgpr_count'], 'sgprs': kernel['.sgpr_count'], 'lds': kernel['.group_segment_fixed_size'],
            'scratch': kernel['.private_segment_fixed_size']}


def measure(options, folder, name, mcpu):
    """Returns the row of a kernel for a processor: figures of ours and of the other side."""
    module = load(folder, name)
    with tempfile.TemporaryDirectory() as directory:
        launch = launch_options(module, directory)
        source, twin = (os.path.join(folder, name + end) for end in ('.k', '.cl'))
        ours, theirs = (os.path.join(directory, end) for end in ('ours.co', 'theirs.co'))
        time = compile_with_kernc(options.kernc, module, source, mcpu, options.level, ours)
        if options.against:
            compile_with_kernc(options.against, module, source, mcpu, options.level, theirs)
        else:
            compile_with_clang(module, twin, mcpu, theirs)
        row = {'kernel': name, 'domain': module.DOMAIN, 'mcpu': mcpu, 'compile_us': time}
        for side, path in (('ours', ours), ('theirs', theirs)):
            try:
                row[side] = facts(options.kernc, path, module, launch)
            except Failure as failure:
                raise Failure(f'{side}: {failure}') from None
        return row


def ratio(row, key):
    return row['ours'][key] / max(row['theirs'][key], 1)


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def print_rows(rows, other):
    print(f'{"kernel":22} {"mcpu":8}' + ''.join(f'{heading + " ours/" + other:>24} {"":>6}' for _, heading in COLUMNS)
          + f'{"compile us":>12}')
    for row in rows:
        cells = ''
        for key, _ in COLUMNS:
            ours, theirs = row['ours'][key], row['theirs'][key]
            cells += f'{f"{ours}/{theirs}":>24} {ratio(row, key):6.3f}'
        print(f'{row["kernel"]:22} {row["mcpu"]:8}{cells}{row["compile_us"]:12.0f}')
    for mcpu in dict.fromkeys(row['mcpu'] for row in rows):
        chosen = [row for row in rows if row['mcpu'] == mcpu]
        cells = ''.join(f'{"":>24} {mean(ratio(row, key) for row in chosen):6.3f}' for key, _ in COLUMNS)
        print(f'{f"geometric mean of {len(chosen)}":22} {mcpu:8}{cells}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('kernels', nargs='*', help='names (default: all of the set)')
    parser.add_argument('--set', default='frozen', choices=('frozen', 'unseen'), dest='which')
    parser.add_argument('--mcpu', default='gfx906', help='processors, separated by commas')
    parser.add_argument('--level', default='2', help='optimisation level of kernc')
    parser.add_argument('--kernc', default=os.path.join(ROOT, 'target', 'release', 'kernc'))
    parser.add_argument('--against', help='another build of kernc, in place of clang')
    parser.add_argument('--json', help='file for the rows')
    parser.add_argument('--check', action='store_true', help='compare the results, and print no figures')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    options = parser.parse_args()
    folder = os.path.join(KERNELS, options.which)
    names = options.kernels or sorted(file[:-2] for file in os.listdir(folder) if file.endswith('.k'))
    work = [(name, mcpu) for mcpu in options.mcpu.split(',') for name in names]
    rows, failures = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [(name, mcpu, pool.submit(measure, options, folder, name, mcpu)) for name, mcpu in work]
        for name, mcpu, future in futures:
            try:
                rows.append(future.result())
            except Failure as failure:
                failures.append(f'{name} {mcpu}: {failure}')
    if options.check:
        print(f'{len(rows)} of {len(work)} kernels and processors: ours and theirs give the results of the reference')
    elif rows:
        print_rows(rows, 'old' if options.against else 'clang')
    for failure in failures:
        print('FAILED', failure, file=sys.stderr)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(rows, file, indent=1)
    sys.exit(bool(failures))


if __name__ == '__main__':
    main()
