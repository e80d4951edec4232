//! Containers of code objects, made by LLVM's own tools and opened here: the code objects come out byte for byte.

use crate::common::{RECORDED, have, scratch, tool};
use codeobj::container::{Contents, Reason};
use std::path::{Path, PathBuf};

const BUNDLER: &str = "clang-offload-bundler-19";
const PACKAGER: &str = "clang-offload-packager-19";

/// Two code objects, with the target ids under which the tests bundle them.
fn two() -> [(&'static str, &'static [u8]); 2] {
    let recorded = |wanted: &str| RECORDED.iter().find(|(name, _)| *name == wanted).unwrap().1;
    [
        ("amdgcn-amd-amdhsa--gfx906:xnack-", recorded("saxpy.gfx906.19v4.co")),
        ("amdgcn-amd-amdhsa--gfx1030", recorded("saxpy.gfx1030.19v5.co")),
    ]
}

fn save(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Bundles both code objects with an empty host entry.
fn bundle(dir: &Path, name: &str, more: &[&str]) -> Vec<u8> {
    let output = dir.join(name);
    let targets: Vec<String> = two().iter().map(|(target, _)| format!("hipv4-{target}")).collect();
    let mut args = vec![
        "--type=o".to_owned(),
        "--bundle-align=4096".to_owned(),
        format!("--targets=host-x86_64-unknown-linux-gnu,{}", targets.join(",")),
        "--input=/dev/null".to_owned(),
        format!("--output={}", output.display()),
    ];
    for (target, bytes) in two() {
        args.push(format!("--input={}", save(dir, &target.replace(':', "."), bytes).display()));
    }
    args.extend(more.iter().map(|&arg| arg.to_owned()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    tool(BUNDLER, &args);
    std::fs::read(output).unwrap()
}

/// Asserts that a container holds both code objects as often as said, and nothing damaged.
fn holds_two(file: &[u8], times: usize) -> Contents<'_> {
    let contents = Contents::read(file).expect("a container");
    assert_eq!(contents.damaged().count(), 0, "{:?}", contents.left_out);
    assert_eq!(contents.entries.len(), 2 * times, "{:?}", contents.left_out);
    for (entry, (target, bytes)) in contents.entries.iter().zip(two().iter().cycle()) {
        assert_eq!(entry.target, *target, "{}", entry.name());
        assert!(entry.bytes == *bytes, "{}: other bytes", entry.name());
        assert_eq!(entry.processor(), target.split("--").last().unwrap().split(':').next());
    }
    contents
}

/// A host file with a section of these bytes.
fn host(dir: &Path, kind: &[&str], section: &str, content: &[u8]) -> Vec<u8> {
    let path = save(dir, "section.bin", content);
    let source = format!(
        "__asm__(\".section {section}\\n.incbin \\\"{}\\\"\\n.text\\n\");\nint f(void) {{ return 7; }}\n",
        path.display()
    );
    let (source, output) = (save(dir, "host.c", source.as_bytes()), dir.join("host.out"));
    let mut args = kind.to_vec();
    args.extend([source.to_str().unwrap(), "-o", output.to_str().unwrap()]);
    tool("clang-19", &args);
    std::fs::read(output).unwrap()
}

#[test]
fn bundles_plain_and_compressed() {
    if !have(&[BUNDLER], "bundles") {
        return;
    }
    let dir = scratch("containers_bundles");
    let plain = bundle(&dir, "plain", &[]);
    assert!(plain.starts_with(b"__CLANG_OFFLOAD_BUNDLE__"));
    let contents = holds_two(&plain, 1);
    assert_eq!(contents.entries[0].name(), "hipv4-amdgcn-amd-amdhsa--gfx906:xnack-");
    assert_eq!(contents.left_out[0].why, Reason::NoGpuCode);
    let zstd = bundle(&dir, "zstd", &["--compress"]);
    assert!(zstd.starts_with(b"CCOB"));
    holds_two(&zstd, 1);
}

/// The bundler compresses by zstd where it was built with it, so the zlib form is written here by Python's zlib, in the
/// three versions of the header.
#[test]
fn compressed_by_zlib_with_each_header() {
    if !have(&[BUNDLER, "python3"], "bundles by zlib") {
        return;
    }
    let dir = scratch("containers_zlib");
    let plain = bundle(&dir, "plain", &[]);
    tool(
        "python3",
        &[
            "-c",
            "import sys, zlib; open(sys.argv[2], 'wb').write(zlib.compress(open(sys.argv[1], 'rb').read()))",
            dir.join("plain").to_str().unwrap(),
            dir.join("packed").to_str().unwrap(),
        ],
    );
    let packed = std::fs::read(dir.join("packed")).unwrap();
    for version in 1..=3u16 {
        let mut file = b"CCOB".to_vec();
        file.extend(version.to_le_bytes());
        file.extend(0u16.to_le_bytes());
        let (size, unpacked) = (packed.len() as u64, plain.len() as u64);
        match version {
            1 => file.extend((unpacked as u32).to_le_bytes()),
            2 => file.extend([(size as u32 + 24).to_le_bytes(), (unpacked as u32).to_le_bytes()].concat()),
            _ => file.extend([(size + 32).to_le_bytes(), unpacked.to_le_bytes()].concat()),
        }
        file.extend([0; 8]);
        file.extend(&packed);
        holds_two(&file, 1);
    }
}

#[test]
fn host_programs_libraries_objects_and_archives() {
    if !have(&[BUNDLER, "clang-19", "llvm-ar-19"], "host programs") {
        return;
    }
    let dir = scratch("containers_host");
    let plain = bundle(&dir, "plain", &[]);
    let zstd = bundle(&dir, "zstd", &["--compress"]);
    // A section of a library linked from several sources: bundles one after the other, each at a page.
    let mut row = plain.clone();
    row.resize(row.len().next_multiple_of(4096), 0);
    row.extend(&zstd);
    row.resize(row.len().next_multiple_of(4096), 0);
    row.extend(&plain);
    let library = host(&dir, &["-shared", "-fPIC", "-nostdlib"], ".hip_fatbin,\\\"a\\\",@progbits", &row);
    let contents = holds_two(&library, 3);
    assert_eq!(contents.entries[3].name(), ".hip_fatbin:2:hipv4-amdgcn-amd-amdhsa--gfx1030");
    let member = host(&dir, &["-c"], ".hip_fatbin,\\\"a\\\",@progbits", &zstd);
    holds_two(&member, 1);
    let (object, archive) = (save(&dir, "member.o", &member), dir.join("lib.a"));
    let _ = std::fs::remove_file(&archive);
    tool("llvm-ar-19", &["rcs", archive.to_str().unwrap(), object.to_str().unwrap()]);
    let archive = std::fs::read(archive).unwrap();
    let contents = holds_two(&archive, 1);
    assert!(contents.entries[0].name().starts_with("member.o:.hip_fatbin:"));
    let windows = host(&dir, &["-c", "--target=x86_64-pc-windows-msvc"], ".hip_fat,\\\"dr\\\"", &plain);
    holds_two(&windows, 1);
}

#[test]
fn offload_binaries() {
    if !have(&[PACKAGER, "clang-19"], "offload binaries") {
        return;
    }
    let dir = scratch("containers_packager");
    let output = dir.join("packed");
    let images = two().map(|(target, bytes)| {
        let (triple, arch) = target.split_once("--").unwrap();
        let file = save(&dir, &target.replace(':', "."), bytes);
        format!("--image=file={},triple={triple},arch={arch},kind=hip", file.display())
    });
    tool(PACKAGER, &["-o", output.to_str().unwrap(), &images[0], &images[1]]);
    let packed = std::fs::read(output).unwrap();
    holds_two(&packed, 1);
    let object = host(&dir, &["-c"], ".llvm.offloading,\\\"e\\\",@progbits", &packed);
    holds_two(&object, 1);
}

#[test]
fn what_is_no_container_is_left_to_others() {
    for (_, object) in RECORDED {
        assert_eq!(Contents::read(object), None);
    }
    assert_eq!(Contents::read(b""), None);
    assert_eq!(Contents::read(b"kernel k() {}"), None);
    let program = std::fs::read("/proc/self/exe").unwrap();
    let contents = Contents::read(&program).expect("a host program");
    assert!(contents.entries.is_empty());
    assert_eq!(contents.left_out[0].why, Reason::NoGpuCode);
}

/// Damaged containers: cut at each length, and with bytes changed. Reading ends, without a panic, and a cut is told.
#[test]
fn damaged_containers() {
    if !have(&[BUNDLER, PACKAGER, "clang-19"], "damaged containers") {
        return;
    }
    let dir = scratch("containers_damaged");
    let plain = bundle(&dir, "plain", &[]);
    let zstd = bundle(&dir, "zstd", &["--compress"]);
    let library = host(&dir, &["-shared", "-fPIC", "-nostdlib"], ".hip_fatbin,\\\"a\\\",@progbits", &zstd);
    let mut seed = 1u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    for file in [&plain, &zstd, &library] {
        for _ in 0..100 {
            let length = random() as usize % file.len();
            let contents = Contents::read(&file[..length]);
            let is_whole = contents.is_some_and(|contents| {
                contents.entries.len() == 2
                    && contents
                        .entries
                        .iter()
                        .all(|entry| two().iter().any(|(_, bytes)| entry.bytes == *bytes))
            });
            // Behind the section of the library stand only its symbols and section headers, which are needed to find it.
            assert!(!is_whole || *file == plain && length >= extent_of_plain(&plain), "cut at {length}");
            let mut changed = file.clone();
            for _ in 0..1 + random() % 8 {
                let at = random() as usize % changed.len().min(8192);
                changed[at] = random() as u8;
            }
            let _ = Contents::read(&changed);
        }
    }
}

/// Where the last entry of the plain bundle ends.
fn extent_of_plain(plain: &[u8]) -> usize {
    let last = two()[1].1;
    plain.windows(last.len()).rposition(|window| window == last).unwrap() + last.len()
}
