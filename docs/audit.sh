#!/usr/bin/env bash
# Checks the code objects in Debian's rocRAND, rocSPARSE and rocBLAS and counts what is found: docs/audit.md.
#
#     docs/audit.sh [KERNC]
#
# KERNC is the command (default: target/release/kernc). Packages come from the Debian mirror that this machine's apt uses, for both releases,
# whichever the machine's own is; nothing of the machine's apt is changed. Takes 1 GB of disk below TMPDIR, 3 GB of memory and some minutes.
# Needs apt, dpkg-deb, python3 and, for what the mirror is, one `apt-get update` before.
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

# Checks the code objects of a package, which comes as a tar archive, and prints what is found in all of them. Bundles (`.hip_fatbin` of a
# library) are taken apart. Processors from GFX11 on are left out.
check() {
    python3 -c '
import collections, re, struct, subprocess, sys, tarfile
kernc, place = sys.argv[1:]
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"

def bundled(data):
    at = 0
    while (start := data.find(MAGIC, at)) >= 0:
        at = start + len(MAGIC)
        (count,) = struct.unpack_from("<Q", data, at)
        entry = at + 8
        for _ in range(count if count < 1000 else 0):  # else it is a string of a program
            offset, size, length = struct.unpack_from("<QQQ", data, entry)
            name = data[entry + 24 : entry + 24 + length].decode()
            entry += 24 + length
            if size and not name.startswith("host"):
                yield name, data[start + offset : start + offset + size]

def objects():
    for member in (archive := tarfile.open(fileobj=sys.stdin.buffer, mode="r|")):
        if member.isfile() and re.search(r"\.so(\.|$)|\.co$|\.hsaco$", member.name):
            data = archive.extractfile(member).read()
            yield from bundled(data) if ".so." in member.name else [(member.name, data)]

totals, found = collections.Counter(), collections.Counter()
for name, data in objects():
    if re.search("gfx1[12]", name):
        continue
    open(place, "wb").write(data)
    run = subprocess.Popen([kernc, "check", "--rules", "all", place], stdout=subprocess.PIPE, text=True, errors="replace")
    for line in run.stdout:
        if rule := re.match(r"(error|warning|note)\[([a-z0-9-]+)\]", line):
            found[rule.groups()] += 1
        elif last := re.search(r" in (\d+) instructions, (\d+) entr.*?(?:; (\d+) paths?)?$", line):
            totals.update(objects=1, instructions=int(last[1]), entries=int(last[2]), unfollowed=int(last[3] or 0))
    if run.wait() not in (0, 6):
        totals["refused"] += 1
print("  " + ", ".join(f"{totals[what]:,} {what}" for what in ("objects", "entries", "instructions", "unfollowed", "refused")))
for (level, rule), count in sorted(found.items(), key=lambda item: (item[0], -item[1])):
    print(f"  {level:8} {rule:24} {count:9,}")
' "$kernc" "$directory/object"
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
        dpkg-deb --fsys-tarfile "$package"_*.deb | check
        rm "$package"_*.deb
    done
done
