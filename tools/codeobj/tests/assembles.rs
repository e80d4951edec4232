//! There and back with kernc's own tools: what `disasm` writes, `as` turns into the same code, data and notes.

#![allow(missing_docs)]

use crate::common::{RECORDED, have, in_parallel, kernels, scratch, section, try_clang};
use codeobj::{CodeObject, disasm, elf::Symbol};
use std::collections::BTreeMap;

/// (LLVM, code object version) that the compilers can write.
const VERSIONS: [(u32, u32); 6] = [(14, 2), (14, 3), (14, 4), (19, 4), (19, 5), (19, 6)];

/// What differs between an object and the one that the assembler makes of its text.
fn round_trip(bytes: &[u8]) -> Result<(), String> {
    let object = CodeObject::parse(bytes).unwrap();
    let text = disasm::disassemble(&object, &disasm::Options { lines: true, ..Default::default() }).unwrap();
    let relocatable = object.header.is_relocatable();
    let options = asm::Options {
        // As a comment of the text says.
        sramecc: text.contains("-mattr=-sramecc").then_some(false),
        kind: if relocatable { asm::Kind::Relocatable } else { asm::Kind::Loadable },
        wave64: text.contains("+wavefrontsize64"),
        ..asm::Options::default()
    };
    let again = asm::assemble(&text, &options).map_err(|diagnostics| {
        asm::render(&diagnostics[..diagnostics.len().min(3)], "listing", &text, false)
    })?;
    let again = CodeObject::parse(&again).unwrap();
    for name in [".text", ".rodata", ".note"] {
        let (old, new) = (section(&object, name), section(&again, name));
        if old.len() != new.len() {
            return Err(format!("{name} has {} bytes instead of {}", new.len(), old.len()));
        }
        if let Some(at) = old.iter().zip(new).position(|(old, new)| old != new) {
            return Err(format!("{name} differs at {at:#x}"));
        }
    }
    let header =
        |object: &CodeObject<'_>| (object.header.flags, object.header.os_abi, object.header.abi_version);
    if header(&object) != header(&again) {
        return Err(format!("{:?} became {:?}", header(&object), header(&again)));
    }
    let (old, new) = (symbols(&object), symbols(&again));
    if old != new {
        return Err(format!("symbols {old:?} became {new:?}"));
    }
    Ok(())
}

/// The global symbols, by name and properties: value, size, type, binding, visibility.
fn symbols(object: &CodeObject<'_>) -> Vec<(String, u64, u64, u8, u8, u8)> {
    let is_global = |symbol: &&Symbol<'_>| symbol.binding != 0;
    let mut symbols: Vec<_> = object
        .symbols()
        .iter()
        .filter(is_global)
        .map(|symbol| {
            let name = symbol.name.to_owned();
            (name, symbol.value, symbol.size, symbol.kind, symbol.binding, symbol.visibility)
        })
        .collect();
    symbols.sort();
    symbols
}

#[test]
fn recorded_objects() {
    for (name, bytes) in RECORDED {
        round_trip(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// A file with kernels of both wavefront sizes: each kernel's text is for its own, and all of it assembles for one.
#[test]
fn both_wavefront_sizes() {
    let kernel = |name: &str, code: &str, lanes: u32| {
        format!(
            ".globl {name}\n.protected {name}\n.p2align 8\n.type {name},@function\n{name}:\n{code}\ns_endpgm\n.size {name}, .-{name}\n\
             .section .rodata,\"a\"\n.p2align 6\n.amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 40\n\
             .amdhsa_next_free_sgpr 8\n.amdhsa_wavefront_size32 {}\n.end_amdhsa_kernel\n.text\n",
            u8::from(lanes == 32)
        )
    };
    // The words of `v_cmp_eq_u32_e32 vcc_lo, 0, v0` and, for 64 lanes, of `v_cmp_eq_u32_e32 vcc, 0, v0`.
    let code = ".long 0x7d840080\ns_cbranch_vccz 1\nv_mov_b32 v1, 0";
    let source = [kernel("a", code, 32), kernel("b", code, 64), kernel("c", code, 32)].concat();
    let target = isa::Target::by_name("gfx1030");
    let options = asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let bytes = asm::assemble(&source, &options).unwrap();
    let text =
        codeobj::disassemble(&CodeObject::parse(&bytes).unwrap(), &disasm::Options::default()).unwrap();
    assert_eq!(text.matches("\tv_cmp_eq_u32_e32 vcc_lo, 0, v0").count(), 2, "{text}");
    assert_eq!(text.matches("\t.long 0x7d840080 ; v_cmp_eq_u32_e32 vcc, 0, v0").count(), 1, "{text}");
    assert_eq!(text.matches(".amdhsa_wavefront_size32 1").count(), 2, "{text}");
    assert_eq!(text.matches(".amdhsa_next_free_vgpr 40").count(), 3, "{text}");
    round_trip(&bytes).unwrap();
}

/// Words with meaningless bits set stay words; what LLVM's disassembler reads in them is said beside.
#[test]
fn meaningless_bits() {
    let source = "v_mov_b32 v1, v2\n.long 0xe0f80000, 0x00000001\n.long 0xd29f0001, 0x60020702\n.long 0xffffffff\ns_endpgm\n";
    let target = isa::Target::by_name("gfx906");
    let options = asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let bytes = asm::assemble(source, &options).unwrap();
    let text =
        codeobj::disassemble(&CodeObject::parse(&bytes).unwrap(), &disasm::Options::default()).unwrap();
    assert!(text.contains("\t.long 0xe0f80000, 0x00000001 ; buffer_wbinvl1\n"), "{text}");
    assert!(text.contains("\t.long 0xd29f0001, 0x60020702 ; v_sub_i16 v1, v2, v3\n"), "{text}");
    assert!(text.contains("\t.long 0xffffffff\n\ts_endpgm\n"), "{text}");
    round_trip(&bytes).unwrap();
}

/// Keys that only the ROCm code object ABI (seed 002, lines 807-1210 and 1223-1509) has. Expected bytes are from
/// the bits that it states.
#[test]
fn keys_of_the_abi() {
    let lines = [
        ("kernel_code_prefetch_byte_offset = -512", 24, vec![0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ("bulky = 1\ncdbg_user = 1", 51, vec![3]),
        ("float_mode_round_32 = 1\nfloat_mode_round_16_64 = 2", 49, vec![0x90]),
        ("float_mode_denorm_32 = 1\nfloat_mode_denorm_16_64 = 2", 50, vec![0x09]),
        ("enable_exception_ieee_754_fp_overflow = 1", 55, vec![0x08]),
        ("enable_exception_memory_violation = 1", 53, vec![0x40]),
        ("is_dynamic_call_stack = 1", 58, vec![0x10]),
    ];
    for (keys, place, expected) in lines {
        let source = format!(
            ".hsa_code_object_version 2,1\n.hsa_code_object_isa 8,0,3,\"AMD\",\"AMDGPU\"\n.amdgpu_hsa_kernel k\n.p2align 8\nk:\n\
             .amd_kernel_code_t\n{keys}\n.end_amd_kernel_code_t\ns_endpgm\n"
        );
        let target = isa::Target::by_name("gfx803");
        let options = asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() };
        let bytes = asm::assemble(&source, &options).unwrap_or_else(|list| panic!("{keys}: {list:?}"));
        let object = CodeObject::parse(&bytes).unwrap();
        let header = object.kernel_codes().next().expect(keys);
        assert_eq!(header.bytes[place..place + expected.len()], expected, "{keys}");
        round_trip(&bytes).unwrap();
        let text = codeobj::inspect::text(&object, "k.o", None);
        let has_key = |key: &str| text.lines().any(|line| line.trim_start().starts_with(key));
        assert_eq!(has_key("kernel_code_prefetch_byte_offset"), place == 24, "{text}");
        assert_eq!(has_key("bulky"), place == 51, "{text}");
    }
}

/// Versions of processors that LLVM 14 no longer has (seed 001, line 3881; seed 002, line 649). The assembler finds the processor of
/// today; objects of compilers before LLVM 7 name no processor in `e_flags`, so the reader finds it by the note.
#[test]
fn versions_of_former_names() {
    for (version, processor) in
        [("8,0,0", "gfx802"), ("8,0,4", "gfx803"), ("9,0,1", "gfx900"), ("9,0,3", "gfx902")]
    {
        let source = format!(
            ".hsa_code_object_version 2,1\n.hsa_code_object_isa {version},\"AMD\",\"AMDGPU\"\ns_endpgm\n"
        );
        let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
        let mut bytes = asm::assemble(&source, &options).unwrap_or_else(|list| panic!("{version}: {list:?}"));
        let name = |bytes: &[u8]| {
            codeobj::Identity::of_object(&CodeObject::parse(bytes).unwrap()).target.map(|target| target.name)
        };
        assert_eq!(name(&bytes), Some(processor));
        bytes[48..52].fill(0);
        assert_eq!(name(&bytes), Some(processor), "without e_flags");
    }
}

/// Round trips of one processor's objects of one version.
#[derive(Default)]
struct Tally {
    /// Objects that came back the same: relocatable and linked count each.
    same: usize,
    differing: Vec<String>,
    /// Kernels that the compiler makes no object of, by what it says.
    left_out: BTreeMap<String, Vec<String>>,
}

/// Compiles kernels with one LLVM and takes each object there and back.
fn tally(processor: &str, (llvm, version): (u32, u32), kernels: &[&str], test: &str) -> Tally {
    let dir = scratch(test);
    let mut tally = Tally::default();
    for kernel in kernels {
        let made = match try_clang(llvm, kernel, processor, version, &dir) {
            Ok(made) => made,
            Err(why) => {
                tally.left_out.entry(why).or_default().push((*kernel).to_owned());
                continue;
            }
        };
        for made in made {
            match round_trip(&made.bytes()) {
                Ok(()) => tally.same += 1,
                Err(error) => tally.differing.push(format!("{}: {error}", made.name())),
            }
            // The whole set is large.
            let _ = std::fs::remove_file(&made.path);
        }
    }
    tally
}

/// Round trips of every combination for which there is a compiler: a table of how many objects came back the same,
/// what was left out and why, and what differs.
fn round_trips(processors: &[&str], kernels: &[&str], test: &str) {
    let is_there = |&(llvm, version): &(u32, u32)| {
        have(&[&format!("clang-{llvm}"), "ld.lld-19"], &format!("{test}: V{version} of LLVM {llvm}"))
    };
    let versions: Vec<(u32, u32)> = VERSIONS.into_iter().filter(is_there).collect();
    if versions.is_empty() {
        return;
    }
    let pairs =
        processors.iter().flat_map(|&processor| versions.iter().map(move |&version| (processor, version)));
    let pairs: Vec<(&str, (u32, u32))> = pairs.collect();
    let tallies = in_parallel(&pairs, |&(processor, version)| tally(processor, version, kernels, test));

    let heads: Vec<String> = versions.iter().map(|(llvm, version)| format!("{llvm} V{version}")).collect();
    println!("{:24}{}", "processor", heads.iter().map(|head| format!("{head:>8}")).collect::<String>());
    let (mut totals, mut left_out) = (vec![0; versions.len()], BTreeMap::<(&str, &str), Vec<String>>::new());
    for (row, tallies) in pairs.chunks(versions.len()).zip(tallies.chunks(versions.len())) {
        let cells = tallies.iter().map(|tally| match tally.same {
            0 => format!("{:>8}", "-"),
            same => format!("{same:>8}"),
        });
        println!("{:24}{}", row[0].0, cells.collect::<String>());
        for ((column, tally), (processor, _)) in tallies.iter().enumerate().zip(row) {
            totals[column] += tally.same;
            for (why, kernels_of) in &tally.left_out {
                let which =
                    if kernels_of.len() == kernels.len() { "all".to_owned() } else { kernels_of.join(" ") };
                left_out.entry((&heads[column], why)).or_default().push(format!("{processor} ({which})"));
            }
        }
    }
    println!("{:24}{}", "all", totals.iter().map(|total| format!("{total:>8}")).collect::<String>());
    for ((head, why), which) in &left_out {
        println!("left out by clang {head}, which says `{why}`: {}", which.join(", "));
    }
    let without: usize = tallies.iter().flat_map(|tally| tally.left_out.values()).map(Vec::len).sum();
    let differing: Vec<&str> =
        tallies.iter().flat_map(|tally| tally.differing.iter().map(String::as_str)).collect();
    let same: usize = totals.iter().sum();
    println!("{same} objects come back the same, {} differ; {without} kernels left out", differing.len());
    assert!(differing.is_empty(), "{}", differing[..differing.len().min(20)].join("\n"));
    assert!(same > 0);
}

/// A small selection: a processor of each generation and kind.
#[test]
fn some_objects() {
    let processors = [
        "gfx600",
        "gfx701",
        "gfx810",
        "gfx902",
        "gfx908",
        "gfx90a",
        "gfx1012",
        "gfx1030.w64",
        "gfx900:xnack-",
        "gfx90c:xnack-",
    ];
    round_trips(&processors, &["histogram", "reduce"], "some_round_trips");
}

/// All kernels, processors and versions: `cargo test -p kernc-codeobj --test codeobj assembles:: -- --ignored --nocapture`.
/// `KERNC_PROCESSORS="gfx900 gfx906:xnack-"` chooses processors.
#[test]
#[ignore = "takes ten minutes"]
fn every_object() {
    let kernels = kernels();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let mut processors: Vec<&str> = isa::target::PROCESSORS.iter().map(|target| target.name).collect();
    // Compiled for wavefronts of 64 lanes, and with target features that V2 to V4 say in different ways.
    processors.extend(["gfx1010.w64", "gfx1030.w64"]);
    processors.extend(["gfx801:xnack-", "gfx900:xnack-", "gfx902:xnack+", "gfx90c:xnack-"]);
    processors.extend([
        "gfx906:sramecc-:xnack-",
        "gfx906:sramecc+:xnack+",
        "gfx908:xnack-",
        "gfx1010:xnack+",
    ]);
    let chosen = std::env::var("KERNC_PROCESSORS").ok();
    let chosen = chosen.as_deref().map(|names| names.split_whitespace().collect::<Vec<_>>());
    round_trips(&chosen.unwrap_or(processors), &kernels, "every_round_trip_here");
}

/// The object with other bytes from a place on.
fn patched(bytes: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

fn recorded(name: &str) -> &'static [u8] {
    RECORDED.iter().find(|known| known.0 == name).map(|known| known.1).expect("recorded")
}

/// `EI_OSABI` and `EI_ABIVERSION`, and `e_flags`, in a file.
const OS_ABI: usize = 7;
const FLAGS: usize = 48;

/// Compilers before LLVM 7 left the processor out of the header: the note has it.
#[test]
fn headers_without_a_processor() {
    for name in ["saxpy.gfx803.14v2.co", "saxpy.gfx906.14v2.o"] {
        for flags in [0u32, 2] {
            let bytes = patched(recorded(name), FLAGS, &flags.to_le_bytes());
            let object = CodeObject::parse(&bytes).unwrap();
            let identity = codeobj::Identity::of_object(&object);
            assert_eq!(identity.processor(), name.split('.').nth(1), "{name}");
            round_trip(&bytes).unwrap_or_else(|error| panic!("{name} {flags}: {error}"));
            let text = codeobj::inspect::text(&object, name, None);
            assert!(!text.contains("processor 0x"), "{text}");
        }
    }
}

/// Headers of other runtimes, and such as no target id stands for, come back as they are.
#[test]
fn headers_of_other_runtimes() {
    let target = isa::Target::by_name("gfx1010");
    let options = asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let plain = asm::assemble(".text\n.globl k\nk:\ns_endpgm\n", &options).unwrap();
    let flags = |flags: u32| patched(&plain, FLAGS, &flags.to_le_bytes());
    // GFX10 with XNACK, as versions up to V3 say it.
    let other = flags(0x133);
    for (os_abi, abi_version) in [(0, 0), (65, 0), (66, 0), (65, 1), (7, 3), (64, 9)] {
        let bytes = patched(&other, OS_ABI, &[os_abi, abi_version]);
        round_trip(&bytes).unwrap_or_else(|error| panic!("{os_abi} {abi_version}: {error}"));
    }
    // Bits without a meaning.
    round_trip(&flags(0x8133)).unwrap();
}

/// What AMD's finalizer wrote: the last name without its zero byte.
#[test]
fn a_note_that_ends_early() {
    let source = ".section .note,\"a\",@note\n.p2align 2\n.long 4, 26, 3\n.ascii \"AMD\\0\"\n.short 4, 7\n.long 9, 0, 0\n\
                  .ascii \"AMD\\0AMDGPU\"\n.p2align 2\n.text\ns_endpgm\n";
    let source =
        format!(".kernc_elf_header 0x40, 0, 0\n.amdgcn_target \"amdgcn-amd-amdhsa--gfx900\"\n{source}");
    let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let bytes = asm::assemble(&source, &options).unwrap();
    let object = CodeObject::parse(&bytes).unwrap();
    assert_eq!(codeobj::Identity::of_object(&object).processor(), Some("gfx900"));
    assert!(!codeobj::inspect::text(&object, "note", None).contains("damaged"));
    round_trip(&bytes).unwrap();
}

/// Sections that say they can be merged, without a size of entries or under a name that has no such flags to assemblers: what `ld.lld` makes
/// of strings.
#[test]
fn flags_that_assemblers_do_not_take() {
    let source =
        ".section .strings,\"aMS\",@progbits,1\n.asciz \"abc\"\n.rodata\n.asciz \"def\"\n.text\ns_endpgm\n";
    let target = isa::Target::by_name("gfx906");
    let options = asm::Options { target, kind: asm::Kind::Relocatable, ..asm::Options::default() };
    let mut bytes = asm::assemble(source, &options).unwrap();
    let object = CodeObject::parse(&bytes).unwrap();
    let index = |name: &str| object.sections.iter().position(|section| section.name == name).unwrap();
    let (strings, rodata) = (index(".strings"), index(".rodata"));
    // `e_shoff`; headers of 64 bytes, with `sh_flags` at 8 and `sh_entsize` at the end.
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    bytes[headers + 64 * strings + 56..][..8].fill(0);
    for entry_size in [0, 1] {
        bytes[headers + 64 * rodata + 8] |= 0x30;
        bytes[headers + 64 * rodata + 56] = entry_size;
        let text =
            disasm::disassemble(&CodeObject::parse(&bytes).unwrap(), &disasm::Options::default()).unwrap();
        let line = format!(
            ".section .rodata,\"a\",@progbits ; the file has \"aMS\", entries of {entry_size} bytes\n"
        );
        assert!(text.contains(&line), "{text}");
        round_trip(&bytes).unwrap();
    }
}

/// Linkers leave a note of each object: what they say is one tree.
#[test]
fn metadata_of_several_notes() {
    let kernel = |name: &str| {
        format!(
            ".amdgpu_metadata\n---\namdhsa.version: [ 1, 1 ]\namdhsa.printf: [ '{name}:0:x' ]\namdhsa.kernels:\n  - .name: {name}\n    .symbol: {name}.kd\n\
             {}...\n.end_amdgpu_metadata\n",
            [
                "kernarg_segment_size",
                "group_segment_fixed_size",
                "private_segment_fixed_size",
                "kernarg_segment_align",
                "wavefront_size",
                "sgpr_count",
                "vgpr_count",
                "max_flat_workgroup_size",
            ]
            .map(|key| format!("    .{key}: 8\n"))
            .concat()
        )
    };
    let target = isa::Target::by_name("gfx906");
    let options = asm::Options { target, ..asm::Options::default() };
    let bytes = asm::assemble(&(kernel("one") + &kernel("two")), &options).unwrap();
    let tree = CodeObject::parse(&bytes).unwrap().metadata().unwrap();
    let list = |key: &str| tree.get(key).map_or(0, |value| value.items().len());
    assert_eq!((list("amdhsa.kernels"), list("amdhsa.printf"), list("amdhsa.version")), (2, 2, 2));
    round_trip(&bytes).unwrap();
}
