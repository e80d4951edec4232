#!/usr/bin/env bash
# Checks the code objects in Debian's rocRAND, rocSPARSE and rocBLAS and counts what is found: docs/audit.md.
#
#     docs/audit.sh [KERNC] [DIRECTORY]
#
# KERNC is the command (default: target/release/kernc), DIRECTORY takes some 5 GB at most (default: a new one below /tmp, removed at the
# end). Packages come from the Debian mirror that this machine's apt uses, of both releases, whichever the machine's own is; an index of each
# release is fetched into DIRECTORY, and nothing of the machine's apt is changed. Needs apt, dpkg-deb, python3.
set -euo pipefail
kernc=$(realpath "${1:-target/release/kernc}")
directory=${2:-}
if [ -z "$directory" ]; then
    directory=$(mktemp -d)
    trap 'rm -rf "$directory"' EXIT
fi
mkdir -p "$directory"
directory=$(realpath "$directory")

# The mirror, and Debian's keys.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' | awk '$2 == "Debian" { print $1; exit }')
[ -n "$mirror" ] || {
    echo "apt knows no Debian mirror: run apt-get update first" >&2
    exit 1
}
keys=/usr/share/keyrings/debian-archive-keyring.gpg
keys=$([ ! -e $keys ] || echo "[signed-by=$keys]")

# Runs an apt command for a release: `apt_for RELEASE apt-get ...`.
apt_for() {
    local root=$directory/$1 tool=$2
    shift 2
    mkdir -p "$root/lists/partial" "$root/cache/archives/partial" "$root/parts"
    echo "deb $keys $mirror ${root##*/} main" > "$root/sources.list"
    "$tool" -q -o Dir::Etc::sourcelist="$root/sources.list" -o Dir::Etc::sourceparts="$root/parts" \
        -o Dir::State::lists="$root/lists" -o Dir::Cache="$root/cache" -o APT::Sandbox::User=root "$@"
}

# Writes each code object of bundles in a file (`.hip_fatbin` of a library) into a directory. Names: number of the bundle, target id.
unbundle() {
    python3 - "$1" "$2" <<'PYTHON'
import pathlib, struct, sys
data, out = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
magic, at, number = b"__CLANG_OFFLOAD_BUNDLE__", 0, 0
while (at := data.find(magic, at)) >= 0:
    start, at = at, at + len(magic)
    (count,) = struct.unpack_from("<Q", data, at)
    if count > 1000:  # the magic as a string of a program
        continue
    entry = at + 8
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", data, entry)
        name = data[entry + 24 : entry + 24 + length].decode()
        entry += 24 + length
        if size and not name.startswith("host"):
            target = name.split("--")[-1].replace(":", "_")
            (out / f"{number:04}-{target}.co").write_bytes(data[start + offset : start + offset + size])
    number += 1
PYTHON
}

# Checks the objects of a package, and prints what is found in all of them.
check() {
    local counts=$1/counts file
    : > "$counts"
    # Processors from GFX11 on are not known.
    find "$1/objects" -type f ! -name '*gfx11*' ! -name '*gfx12*' | sort | while read -r file; do
        "$kernc" check --rules all "$file" 2>&1 |
            { grep -aoE '^((error|warning|note)\[[a-z0-9-]+\]|.*: (nothing|[0-9]+ reports?) .* in [0-9]+ instructions, [0-9]+ entr.*)' || true; } >> "$counts"
    done
    awk '
        /^(error|warning|note)\[/ { found[$0]++; next }
        match($0, / in [0-9]+ instructions, [0-9]+ entr/) {
            split(substr($0, RSTART, RLENGTH), words, " ")
            objects++; instructions += words[2]; entries += words[4]
            if (match($0, /; [0-9]+ paths? w/)) { split(substr($0, RSTART, RLENGTH), words, " "); unfollowed += words[2] }
        }
        END {
            printf "  %d objects, %d kernels and functions, %d instructions, %d paths not followed\n", objects, entries, instructions, unfollowed
            for (rule in found) printf "  %8d %s\n", found[rule], rule | "sort -k2"
        }' "$counts"
}

for release in bookworm trixie; do
    apt_for "$release" apt-get update > "$directory/$release.log" 2>&1
    for package in librocrand1 librocsparse0 librocblas0; do
        work=$directory/$release/$package
        mkdir -p "$work/files" "$work/objects"
        if ! (cd "$work" && apt_for "$release" apt-get download "$package" >> "$directory/$release.log" 2>&1); then
            echo "$release has no $package"
            continue
        fi
        echo "$release, $(basename "$work"/*.deb .deb):"
        dpkg-deb -x "$work"/*.deb "$work/files"
        rm "$work"/*.deb
        find "$work/files" -type f -name '*.so.*' | while read -r library; do
            unbundle "$library" "$work/objects"
            rm "$library"
        done
        find "$work/files" -type f \( -name '*.co' -o -name '*.hsaco' \) -exec mv -t "$work/objects" {} +
        check "$work"
        rm -rf "$work"
    done
done
