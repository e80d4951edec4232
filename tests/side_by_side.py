#!/usr/bin/env python3
"""Runs the workspace's test executables side by side, and says how long each took.

    side_by_side.py [NAME...]    executables of these names; without names all of them, and the doc tests

A name is a package without `kernc-` (`isa`), or the name of a test executable (`allocations`). `./run-tests` calls this script.
"""
import concurrent.futures, json, os, subprocess, sys, time

SLOWEST = 20
# Started first where no earlier run says how long each executable takes.
LONG = ["kernc", "sim", "litmus", "isa", "callconv", "cli"]
TIMES = os.path.join("target", "test-times.json")


def build():
    """Builds all tests. Returns name, path and folder of each executable; unit tests have the name of their package with `lib`."""
    command = ["cargo", "test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if process.returncode != 0:
        sys.exit(process.returncode)
    found = []
    for line in process.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or not message["profile"]["test"] or not message["executable"]:
            continue
        package = package_name(message["manifest_path"])
        kind = message["target"]["kind"][0]
        name = message["target"]["name"] if kind == "test" else f"{package} ({kind})"
        found.append((name, package, message["executable"], os.path.dirname(message["manifest_path"])))
    return found


def package_name(manifest):
    """Returns the name of the package of a manifest, without `kernc-`."""
    with open(manifest, encoding="utf-8") as file:
        name = next(line.split('"')[1] for line in file if line.startswith("name = "))
    return name.removeprefix("kernc-")


def run(name, executable, folder, threads):
    """Runs one executable in its package's folder, as Cargo does. Returns its name, seconds, exit code and output."""
    began = time.monotonic()
    environment = dict(os.environ, CARGO_MANIFEST_DIR=folder, RUST_TEST_THREADS=str(threads))
    process = subprocess.run([executable, "--quiet"], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return name, time.monotonic() - began, process.returncode, process.stdout.decode(errors="replace")


def doc_tests():
    """Runs the examples of the documentation. Returns what `run` returns."""
    began = time.monotonic()
    process = subprocess.run(["cargo", "test", "--workspace", "--doc", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "doc tests", time.monotonic() - began, process.returncode, process.stdout.decode(errors="replace")


def main(names):
    found = build()
    known = sorted({package for _, package, *_ in found} | {name for name, *_ in found if " " not in name})
    for name in names:
        if name not in known:
            sys.exit(f"run-tests: there is no part `{name}`; there are: fmt clippy docs {' '.join(known)}")
    chosen = [one for one in found if not names or one[0] in names or one[1] in names]
    times = read_times()
    # The longest first, so that none of them runs alone at the end.
    expected = {name: 1e6 - at for at, name in enumerate(LONG)} | times
    chosen.sort(key=lambda one: -expected.get(one[0], 0))
    cores = os.cpu_count() or 1
    failed = []
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        jobs = [pool.submit(run, name, path, folder, max(1, cores // 2)) for name, _, path, folder in chosen]
        if not names:
            jobs.append(pool.submit(doc_tests))
        for job in concurrent.futures.as_completed(jobs):
            name, seconds, code, output = job.result()
            times[name] = round(seconds, 1)
            print(f"{'ok' if code == 0 else 'FAILED':6} {seconds:7.1f} s  {name}", flush=True)
            if code != 0:
                failed.append(name)
                print(output, flush=True)
    os.makedirs(os.path.dirname(TIMES), exist_ok=True)
    with open(TIMES, "w", encoding="utf-8") as file:
        json.dump(times, file, indent=1, sort_keys=True)
    ran = {job.result()[0]: job.result()[1] for job in jobs}
    print(f"\nThe slowest of {len(ran)}:")
    for name, seconds in sorted(ran.items(), key=lambda one: -one[1])[:SLOWEST]:
        print(f"{seconds:7.1f} s  {name}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def read_times():
    """Returns the seconds of an earlier run by name, if there was one."""
    try:
        with open(TIMES, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


if __name__ == "__main__":
    main(sys.argv[1:])
