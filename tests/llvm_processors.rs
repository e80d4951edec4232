//! LLVM's assemblers judge the bytes for every processor in every mode, in every version of the code object.

use crate::common::{KERNELS, compile_as, have, scratch, section};
use kernc::{CodeObjectVersion, Language, Modes, OptLevel, PROCESSORS, Subtarget, Target, combinations};
use rayon::prelude::*;
use std::path::Path;
use support::Tool;

/// What asks for hidden arguments.
const MORE: [&str; 2] = ["printf", "traps"];

/// A processor, what is said of its modes, and the version.
#[derive(Clone, Copy)]
struct Cell {
    target: &'static Target,
    modes: Modes,
    version: u8,
}

impl Cell {
    fn subtarget(&self) -> Subtarget {
        let version = CodeObjectVersion::from_number(self.version).expect("a version");
        self.modes.on(self.target, version).expect("the processor has them")
    }

    /// The modes as options of the assembler.
    fn attributes(&self) -> String {
        let Modes { xnack, sramecc, cumode, tgsplit, wave_size, .. } = self.modes;
        let said = [("xnack", xnack), ("sramecc", sramecc), ("cumode", cumode), ("tgsplit", tgsplit)];
        let sign = |on: bool| if on { '+' } else { '-' };
        let mut list: Vec<String> =
            said.iter().filter_map(|&(name, on)| Some(format!("{}{name}", sign(on?)))).collect();
        if let Some(lanes) = wave_size {
            list.extend([32, 64].map(|size| format!("{}wavefrontsize{size}", sign(size == lanes))));
        }
        format!("-mattr={}", list.join(","))
    }
}

/// All of them, and for the versions that can say that a mode may be either, also with nothing said.
fn cells(versions: std::ops::RangeInclusive<u8>) -> Vec<Cell> {
    let of = |version: u8, target: &'static Target| {
        let unsaid = (version >= 4).then(Modes::default);
        combinations(target).into_iter().chain(unsaid).map(move |modes| Cell { target, modes, version })
    };
    versions.flat_map(|version| PROCESSORS.iter().flat_map(move |target| of(version, target))).collect()
}

/// Whether the assembler makes our bytes of our text, of one of the kernels; nothing if it knows no such
/// object.
fn agrees(assembler: &str, dir: &Path, number: usize, cell: &Cell) -> Option<Result<(), String>> {
    let kernels = KERNELS.len() + MORE.len();
    let kernel = KERNELS.iter().chain(&MORE).nth(number % kernels).expect("one of them");
    let (name, version) = (cell.target.name, cell.version);
    // V2 cannot say how many registers are accumulation registers, and is refused.
    if version == 2 && objwriter::descriptor::ACCUM_OFFSET.on.has(&cell.subtarget()) {
        return None;
    }
    let what = format!("{kernel} for {name} {} V{version}", cell.attributes());
    let object = compile_as(kernel, OptLevel::O2, cell.subtarget(), Language::default());
    let [source, assembled] = ["s", "o"].map(|suffix| dir.join(format!("{number}.{suffix}")));
    std::fs::write(&source, object.assembly(None).expect("a listing")).expect("a file");
    let output = Tool::new(assembler)
        .args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj", &cell.attributes(), &format!("-mcpu={name}")])
        .arg(format!("--amdhsa-code-object-version={version}"))
        .args([source.as_path(), Path::new("-o"), &assembled])
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    // LLVM 14 writes V2 for the processors of its time, with XNACK as they had it, and does not know the last
    // of GFX10.
    let unknown = ["code object V2 does not support processor", "is not a recognized processor"];
    if unknown.iter().any(|why| errors.contains(why)) {
        return None;
    }
    if !output.status.success() {
        return Some(Err(format!("{what}: {errors}")));
    }
    let theirs = std::fs::read(&assembled).expect("what it wrote");
    let ours = object.relocatable().expect("an object");
    // `e_flags` and the ABI version.
    if (&ours[48..52], ours[8]) != (&theirs[48..52], theirs[8]) {
        return Some(Err(format!("{what}: e_flags {:x?}, theirs {:x?}", &ours[48..52], &theirs[48..52])));
    }
    let differs = |name: &&&str| section(&ours, name) != section(&theirs, name);
    let different: Vec<&&str> = [".text", ".rodata", ".note"].iter().filter(differs).collect();
    Some(if different.is_empty() { Ok(()) } else { Err(format!("{what}: {different:?} differ")) })
}

fn all_agree(assembler: &str, versions: std::ops::RangeInclusive<u8>, at_least: usize) {
    if !have(&[assembler], "all_agree") {
        return;
    }
    let dir = scratch(&format!("processors-{assembler}"));
    let cells = cells(versions);
    let judged: Vec<Result<(), String>> = cells
        .par_iter()
        .enumerate()
        .filter_map(|(number, cell)| agrees(assembler, &dir, number, cell))
        .collect();
    let failures: Vec<&String> = judged.iter().filter_map(|result| result.as_ref().err()).collect();
    println!("{assembler}: {} cells, {} judged, {} failures", cells.len(), judged.len(), failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(judged.len() >= at_least, "{assembler} knows only {} of {}", judged.len(), cells.len());
}

#[test]
fn llvm_19_assembles_every_processor() {
    all_agree("llvm-mc-19", 4..=6, 200);
}

#[test]
fn llvm_14_assembles_every_processor() {
    all_agree("llvm-mc-14", 2..=3, 60);
}
