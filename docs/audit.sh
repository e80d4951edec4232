#!/usr/bin/env bash
# Checks the code objects in Debian's rocRAND, rocSPARSE and rocBLAS and counts what is found: docs/audit.md.
#
#     docs/audit.sh [KERNC]
#
# KERNC is the command (default: target/release/kernc). Packages come from the Debian mirror that this machine's apt uses, for both releases,
# whichever the machine's own is; nothing of the machine's apt is changed. Takes 4 GB of disk below TMPDIR, 3 GB of memory and some minutes.
# Needs apt, dpkg-deb, awk and, for what the mirror is, one `apt-get update` before.
set -euo pipefail
kernc=$(realpath "${1:-target/release/kernc}")
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

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

# Checks the files below a directory that may have code objects. Prints what `kernc check` says of each, and a line behind each.
check() {
    find "$1" -type f \( -name '*.so.*' -o -name '*.co' -o -name '*.hsaco' \) | sort | while read -r file; do
        "$kernc" check --rules all "$file" 2>&1 || true
        echo "end of file"
    done
}

# Sums up what `check` prints. Lines that are no result are printed.
sum() {
    awk '
        function number(pattern) { return match(line, pattern) ? substr(line, RSTART) + 0 : 0 }
        /^(error|warning|note)\[/ { split($0, part, /[][]/); found[part[1] " " part[2]]++ }
        / in [0-9]+ (instructions|code objects?,)/ { line = $0; sub(/.* in /, "", line) }
        /a processor that kernc does not know/ { if (!/^note/) unknown++; next }
        /^error: / { print; refused++ }
        /^end of file$/ && line != "" {
            objects += line ~ /^[0-9]+ code objects?,/ ? number("[0-9]+ code objects?,") : 1
            instructions += number("[0-9]+ instructions")
            entries += number("[0-9]+ entr")
            unfollowed += number("[0-9]+ paths? w")
            unknown += number("[0-9]+ code objects? not checked")
            line = ""
        }
        END {
            printf "  %d objects, %d entries, %d instructions; %d paths not followed, ", objects, entries, instructions, unfollowed
            printf "%d objects for other processors, %d files refused\n", unknown, refused
            for (rule in found) printf "  %-32s %9d\n", rule, found[rule] | "sort"
        }'
}

for release in bookworm trixie; do
    apt_for "$release" apt-get update > "$directory/log" 2>&1 || { cat "$directory/log" >&2; exit 1; }
    for package in librocrand1 librocsparse0 librocblas0; do
        cd "$directory"
        if ! apt_for "$release" apt-get download "$package" > log 2>&1; then
            echo "$release: no $package"
            continue
        fi
        echo "$release: $(basename "$package"_*.deb .deb)"
        dpkg-deb -x "$package"_*.deb files
        check files | sum
        rm -r "$package"_*.deb files
    done
done
