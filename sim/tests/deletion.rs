//! Deletion test: in clang's objects each wait, nop and invalidate in turn is deleted or weakened, and the kernel runs in
//! strict mode, and where that finds nothing through the static checker, which takes the paths that the run has not. What
//! is found is counted by kind; what is not is listed: a wait that nothing in the program needs is redundant.
//!
//! `DELETION=all` takes all kernels, levels and processors; otherwise a few. Needs clang-19 and ld.lld.

mod common;

use common::{present, twin};
use isa::decode::Decoder;
use isa::{MachInst, Operand, Target};
use object::{Object, ObjectSection};
use sim::{CodeObject, Device, Dispatch, Fault, Limits, Mode};
use std::collections::BTreeMap;

const CLANG: &str = "clang-19";
/// Kernels of the short run.
const FEW: [&str; 7] = ["saxpy", "reduce", "scan", "msgpass", "transpose", "sgemm_lds", "spmv"];
/// Cases with more wave instructions are left out: every change runs all that are left.
const SMALL: u64 = 150_000;

/// One change to an object.
struct Change {
    /// Place in the file.
    at: usize,
    word: u32,
    kind: &'static str,
    text: String,
}

const NOP: u32 = 0xbf80_0000;
const WAITCNT: u32 = 0xbf8c_0000;

/// All changes to be tried.
fn changes(object: &[u8], target: &'static Target) -> Vec<Change> {
    let file = object::File::parse(object).expect("an ELF file");
    let text = file.section_by_name(".text").expect("code");
    let (start, size) = text.file_range().expect("in the file");
    let code: Vec<u32> = object[start as usize..(start + size) as usize]
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let decoder = Decoder::new(target).expect("a known processor");
    let mut found = Vec::new();
    let mut index = 0;
    while index < code.len() {
        let Ok((inst, len)) = decoder.decode(&code[index..]) else {
            index += 1;
            continue;
        };
        let at = start as usize + index * 4;
        for (word, kind, what) in variants(target, &inst) {
            found.push(Change {
                at,
                word,
                kind,
                text: format!("{:#x}: {what}", text.address() + index as u64 * 4),
            });
        }
        index += len;
    }
    found
}

fn variants(target: &Target, inst: &MachInst) -> Vec<(u32, &'static str, String)> {
    let imm = inst.operands().iter().find_map(|operand| match operand {
        Operand::Imm(value) => Some(*value as u32),
        _ => None,
    });
    let name = inst.op.row().name;
    match (name, imm) {
        ("s_waitcnt", Some(mask)) => wait_variants(target, mask as u16),
        ("s_waitcnt_vscnt", Some(count)) => {
            vec![(NOP, "vscnt deleted", format!("{name} {count} deleted"))]
        }
        // An s_nop 0 cannot be shortened in place.
        ("s_nop", Some(states @ 1..)) => vec![(NOP, "nop weakened", format!("s_nop {states} -> s_nop 0"))],
        (
            "buffer_wbinvl1" | "buffer_wbinvl1_vol" | "buffer_gl0_inv" | "buffer_gl1_inv" | "s_dcache_inv",
            _,
        ) => {
            // Two dwords: the second becomes an s_nop of its own, see `apply`.
            vec![(NOP, "invalidate deleted", format!("{name} deleted"))]
        }
        _ => Vec::new(),
    }
}

/// A wait without one of its counters, and with each one higher.
fn wait_variants(target: &Target, mask: u16) -> Vec<(u32, &'static str, String)> {
    let counts = target.unpack_waitcnt(mask);
    let mut all = Vec::new();
    let mut push = |vm, exp, lgkm, kind, what: String| {
        all.push((WAITCNT | u32::from(target.waitcnt(vm, exp, lgkm)), kind, what));
    };
    if counts.vm < target.max_vmcnt {
        push(255, counts.exp, counts.lgkm, "vmcnt deleted", format!("vmcnt({}) deleted", counts.vm));
        push(counts.vm + 1, counts.exp, counts.lgkm, "vmcnt weakened", format!("vmcnt({}) + 1", counts.vm));
    }
    if counts.lgkm < target.max_lgkmcnt {
        push(counts.vm, counts.exp, 255, "lgkmcnt deleted", format!("lgkmcnt({}) deleted", counts.lgkm));
        push(
            counts.vm,
            counts.exp,
            counts.lgkm + 1,
            "lgkmcnt weakened",
            format!("lgkmcnt({}) + 1", counts.lgkm),
        );
    }
    if counts.exp < target.max_expcnt {
        push(counts.vm, 255, counts.lgkm, "expcnt deleted", format!("expcnt({}) deleted", counts.exp));
    }
    all
}

fn apply(object: &[u8], change: &Change) -> Vec<u8> {
    let mut bytes = object.to_vec();
    bytes[change.at..change.at + 4].copy_from_slice(&change.word.to_le_bytes());
    if change.kind == "invalidate deleted" {
        bytes[change.at + 4..change.at + 8].copy_from_slice(&NOP.to_le_bytes());
    }
    bytes
}

/// Runs the chosen cases strictly; what ended it, if anything did.
fn run(
    object: &[u8],
    name: &str,
    mode: Mode,
    cases: Option<&[(usize, u64)]>,
) -> Result<Vec<(usize, u64)>, Fault> {
    let kernel = testkit::kernel(name).expect("an example kernel");
    let object = CodeObject::load(object).expect("it loads");
    let mut device = Device::with_threads(1);
    device.set_mode(mode);
    let module = device.load(&object)?;
    let info = object.kernel(name).expect("the kernel");
    let mut ran = Vec::new();
    for (at, case) in (kernel.cases)().iter().enumerate() {
        let limit = match cases {
            Some(cases) => match cases.iter().find(|(chosen, _)| *chosen == at) {
                Some((_, instructions)) => instructions * 4 + 10_000,
                None => continue,
            },
            None => SMALL,
        };
        let prepared = testkit::prepare(&mut device, info, case).expect("arguments");
        let dispatch = Dispatch {
            kernel: name,
            grid: case.grid,
            group: kernel.group,
            kernarg: prepared.kernarg().to_vec(),
            dynamic_lds: 0,
            limits: Limits { instructions: limit, stack: 0 },
            ..Dispatch::default()
        };
        match device.run(module, &dispatch) {
            Ok(stats) => ran.push((at, stats.instructions)),
            // Too long a case for this.
            Err(Fault::Budget { .. }) if cases.is_none() => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(ran)
}

#[derive(Default)]
struct Tally {
    tried: u32,
    /// By strict mode.
    strict: u32,
    /// By the static checker, of what strict mode has not found.
    check: u32,
}

/// Whether the static checker has something to report.
fn checked(object: &[u8]) -> bool {
    let parsed = codeobj::CodeObject::parse(object).expect("it parses");
    let options = check::object::Options { target: None, kernel: None };
    check::object::check(&parsed, &options).is_ok_and(|report| !report.findings.is_empty())
}

#[test]
fn deletion() {
    if !present(CLANG) {
        return;
    }
    let all = std::env::var("DELETION").is_ok_and(|value| value == "all");
    let cpus: &[&str] = if all { &["gfx900", "gfx906", "gfx803", "gfx1010"] } else { &["gfx906"] };
    let levels: &[&str] = if all { &["-O3", "-O1", "-O0"] } else { &["-O3"] };
    let only = std::env::var("KERNEL").ok();
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut left = Vec::new();
    for cpu in cpus {
        for level in levels {
            for kernel in testkit::KERNELS {
                let wanted = match &only {
                    Some(only) => kernel.name == only,
                    None => all || FEW.contains(&kernel.name),
                };
                if !wanted {
                    continue;
                }
                one_object(kernel.name, cpu, level, &mut tallies, &mut left);
            }
        }
    }
    for line in &left {
        println!("not found: {line}");
    }
    let (mut tried, mut found) = (0, 0);
    println!("{:<20} {:>6} {:>6} {:>6} {:>9} {:>7}", "kind", "tried", "strict", "check", "not found", "rate");
    for (kind, Tally { tried: all, strict, check }) in &tallies {
        let both = strict + check;
        let rate = 100.0 * f64::from(both) / f64::from((*all).max(1));
        println!("{kind:<20} {all:>6} {strict:>6} {check:>6} {:>9} {rate:>6.1}%", all - both);
        tried += all;
        found += both;
    }
    println!("{:<20} {tried:>6} {found:>13} {:>9}", "all", tried - found);
    // What is left must be few: see docs/strict-mode.md for what it is.
    assert!(found * 100 >= tried * MIN_RATE, "{found} of {tried}");
}

/// Percent of all changes, redundant waits included.
const MIN_RATE: u32 = 80;

fn one_object(
    name: &str,
    cpu: &str,
    level: &str,
    tallies: &mut BTreeMap<&'static str, Tally>,
    left: &mut Vec<String>,
) {
    let Ok(object) = twin(CLANG, name, &[&format!("-mcpu={cpu}"), level]) else { return };
    let target = Target::by_name(cpu).expect("a known processor");
    let target = CodeObject::load(&object).map_or(target, |loaded| loaded.target());
    let Ok(cases) = run(&object, name, Mode::Fast, None) else { return };
    if cases.is_empty() {
        return;
    }
    if let Err(fault) = run(&object, name, Mode::STRICT, Some(&cases)) {
        panic!("{name} {cpu} {level} as it is: {fault}");
    }
    for change in changes(&object, target) {
        let tally = tallies.entry(change.kind).or_default();
        tally.tried += 1;
        let changed = apply(&object, &change);
        match run(&changed, name, Mode::STRICT, Some(&cases)) {
            Err(_) => tally.strict += 1,
            Ok(_) if checked(&changed) => tally.check += 1,
            Ok(_) => left.push(format!("{name} {cpu} {level} {}", change.text)),
        }
    }
}
