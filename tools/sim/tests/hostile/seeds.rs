//! What is damaged: recorded objects of clang, assembled ones for every processor and version, and clang's newest where it
//! is installed.

use crate::hostile::mutate::Seed;
use crate::hostile::stream;
use isa::target::PROCESSORS;
use std::path::{Path, PathBuf};
use support::{Folder, Tool};
use testkit::Rng;

/// All seeds.
pub fn all() -> Vec<Seed> {
    let mut seeds = recorded();
    assert!(seeds.len() > 15, "the recorded objects are there");
    seeds.extend(assembled());
    seeds.extend(compiled());
    seeds
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn recorded() -> Vec<Seed> {
    let mut files: Vec<PathBuf> = Vec::new();
    for part in ["data", "data/recorded"] {
        let entries = std::fs::read_dir(directory().join(part)).expect("a directory");
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "co"));
    files.sort();
    files.iter().map(|file| Seed::new(std::fs::read(file).expect("a file"))).collect()
}

/// A small program for every processor, in the versions in turn, linked and not.
fn assembled() -> Vec<Seed> {
    let seed = |(at, target)| {
        let mut rng = Rng::new(at as u64);
        let source = stream::source(target, &stream::random_words(target, &mut rng, 8), &mut rng);
        let version = match target.version.0 {
            10 => [4, 5, 6][at % 3],
            _ => [3, 4, 5, 6][at % 4],
        };
        let kind = if at % 3 == 0 { asm::Kind::Relocatable } else { asm::Kind::Loadable };
        let options =
            asm::Options { target: Some(target), kind, version: Some(version), ..asm::Options::default() };
        Seed::new(asm::assemble(&source, &options).unwrap_or_else(|why| panic!("{}: {why:?}", target.name)))
    };
    PROCESSORS.iter().enumerate().map(seed).collect()
}

/// Kernels that reach the rarer parts of the machine, if clang is there.
fn compiled() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (cpu, version) in [("gfx900", 4), ("gfx803", 5), ("gfx90a", 6), ("gfx1030", 5)] {
        let folder = Folder::new("seeds");
        let out = folder.join("features.o");
        let mut command = Tool::new("clang-19");
        command.args(["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-cl-std=CL2.0", "-c", "-O1"]);
        command.arg(format!("-mcpu={cpu}")).arg(format!("-mcode-object-version={version}"));
        command.arg(directory().join("cl/features.cl")).arg("-o").arg(&out);
        let bytes = command.output().ok().and_then(|_| std::fs::read(&out).ok());
        match bytes {
            Some(bytes) => seeds.push(Seed::new(bytes)),
            None => eprintln!("left out: clang-19 for {cpu}"),
        }
    }
    seeds
}
