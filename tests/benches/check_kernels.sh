#!/usr/bin/env bash
# Compares the results of all benchmark kernels, and of their twins by clang, with their references on the CPU. Prints no
# figures, so that the figures of the set `unseen` stay unseen.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PYTHONPATH=$PWD/target/python${PYTHONPATH:+:$PYTHONPATH}
python3 -c 'import numpy' 2>/dev/null || python3 -m pip install --quiet --root-user-action ignore --target target/python numpy
cargo build -q --profile fuzz -p kernc-cli
for set in frozen unseen; do
    python3 tests/benches/kernels.py --check --set "$set" --mcpu gfx803,gfx906,gfx90a,gfx942,gfx1010,gfx1030 --kernc target/fuzz/kernc
done
