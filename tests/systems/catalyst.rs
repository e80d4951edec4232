//! Binaries of AMD's OpenCL 2.0 driver: the records that the compiler writes, the sets of user SGPRs, data, and
//! what the driver lacks.

use super::{LEVELS, check, compile};
use crate::common::KERNELS;
use isa::Os;
use kernc::{CodeObject, OptLevel};
use legacy::elf::{Class, Object, Place, Relocation, Section, Symbol};
use legacy::opencl2::{self, ArgumentKind, Binary};
use object::{Object as _, ObjectSection as _};
use rayon::prelude::*;

pub(super) const PROCESSORS: [&str; 7] =
    ["gfx700", "gfx701", "gfx801", "gfx802", "gfx803", "gfx900", "gfx906"];

fn compiled(text: &str, level: OptLevel, cpu: &str) -> CodeObject {
    compile(text, level, cpu, Os::Catalyst).unwrap_or_else(|error| panic!("{cpu}: {error}"))
}

fn read(bytes: &[u8]) -> Binary<'_> {
    let read = legacy::read(bytes).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.unclaimed, []);
    assert!(read.binary.write() == bytes, "the model is not written as it was read");
    match read.binary {
        legacy::Binary::OpenCl2(binary) => binary,
        other => panic!("{other:?}"),
    }
}

/// Each example with the processors and levels in turn; with `KERNC_SYSTEMS=all` for each processor at each
/// level in both modes.
#[test]
fn examples() {
    let all = std::env::var("KERNC_SYSTEMS").is_ok_and(|value| value == "all");
    let mut cases = Vec::new();
    for (at, name) in KERNELS.into_iter().enumerate() {
        for (n, cpu) in PROCESSORS.into_iter().enumerate() {
            for (m, level) in LEVELS.into_iter().enumerate() {
                if all || (n == at % PROCESSORS.len() && m == at / 2 % LEVELS.len()) {
                    cases.push((name, level, cpu, at % 2 == 0));
                }
            }
        }
    }
    let run = |&(name, level, cpu, strict): &(&str, OptLevel, &str, bool)| {
        check(name, level, cpu, Os::Catalyst, strict)?;
        if all { check(name, level, cpu, Os::Catalyst, !strict) } else { Ok(()) }
    };
    let wrong: Vec<String> = cases.par_iter().filter_map(|case| run(case).err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

const ARGUMENTS: &str = "struct Pair { a: u32, b: u16 }
#[workgroup_size(64, 2, 1)]
kernel k(src: *const restrict global f32, dst: *volatile global u64, table: *constant u16, room: *shared f64,
         v: u32x3, n: i16, pair: Pair) {
    dst[global_id(0)] = (v.x + table[0] as u32 + n as u32 + pair.a) as u64;
    room[local_id(0)] = src[0] as f64;
}
";

/// The record lists the hidden and the explicit arguments as the driver's own records do.
#[test]
fn records_describe_the_arguments() {
    let object = compiled(ARGUMENTS, OptLevel::O2, "gfx803");
    let binary = read(object.bytes());
    assert_eq!((binary.class, binary.device, binary.isa()), (Class::Elf64, 13, Some((8, 0, 4))));
    let record = &binary.kernels[0].metadata;
    assert_eq!((record.group_size, record.capabilities), ([64, 2, 1], 0x24));
    assert_eq!((record.name, record.device), ("__OpenCL_dummy_kernel", "GFX8"));
    let names: Vec<&str> = record.arguments.iter().map(|argument| argument.name).collect();
    let hidden = ["global_offset_0", "global_offset_1", "global_offset_2", "printf_buffer", "vqueue_pointer"];
    let hidden = hidden.into_iter().chain(["aqlwrap_pointer"]).map(|name| format!("_.{name}"));
    let own = ["src", "dst", "table", "room", "v", "n", "pair"].map(str::to_owned);
    assert_eq!(names, hidden.chain(own).collect::<Vec<_>>());
    let value = |elements, offset, data| ArgumentKind::Value { elements, buffer: 1, offset, data };
    let pointer = |offset, align, data, memory, access, is_volatile, is_restrict| ArgumentKind::Pointer {
        elements: 1,
        buffer: 1,
        offset,
        resource: 7,
        align,
        data,
        memory,
        access,
        is_volatile,
        is_restrict,
        is_pipe: 0,
    };
    // Numbers of types: 3 is i16, 5 is i64, 6 is u8, 7 is u16, 8 is u32, 9 is u64, 11 is f32, 12 is f64, 15 is a
    // structure. A vector of three counts as four. Offsets count 16 bytes for each argument that fits.
    let expected = [
        value(1, 0, 5),
        value(1, 16, 5),
        value(1, 32, 5),
        pointer(48, 1, 6, 4, 1, 0, 0),
        value(1, 64, 5),
        value(1, 80, 5),
        pointer(96, 4, 11, 4, 1, 0, 1),
        pointer(112, 8, 9, 4, 3, 1, 0),
        pointer(128, 2, 7, 5, 1, 0, 0),
        pointer(144, 8, 12, 3, 3, 0, 0),
        value(4, 160, 8),
        value(1, 176, 3),
        value(8, 192, 15),
    ];
    for (argument, expected) in record.arguments.iter().zip(expected) {
        assert_eq!(argument.kind, expected, "{}", argument.name);
    }
    // The emulator places the arguments where the compiler's code reads them.
    let loaded = sim::CodeObject::load(object.bytes()).expect("it loads");
    let info = loaded.kernel("k").expect("the kernel");
    assert_eq!((loaded.target().name, info.reqd_group), ("gfx803", Some([64, 2, 1])));
    let places: Vec<u32> = info.explicit_args().map(|arg| arg.offset).collect();
    let own: Vec<u32> = object.kernels()[0].args.iter().map(|arg| 48 + arg.offset).collect();
    assert_eq!(places, own);
}

/// A kernel requests the smallest set of user SGPRs that the driver provides.
#[test]
fn kernels_request_sets_of_user_sgprs() {
    let private = "kernel k(out: *global u32, n: u32) {
        let mut own: [u32; 4];
        for i in 0..4u32 { own[i] = n + i; }
        let p: *u32 = if n > 5 { &mut own[n % 4] as *u32 } else { out as *u32 };
        out[0] = p[0];
    }";
    for (text, before, on_gfx9) in [
        ("kernel k() {}", 4, 10),
        ("kernel k(out: *global u32) { out[group_id(0)] = 1; }", 6, 10),
        ("kernel k(out: *global u32) { out[global_id(0)] = local_size(1); }", 8, 10),
        (private, 12, 10),
    ] {
        for cpu in PROCESSORS {
            let object = compiled(text, OptLevel::O1, cpu);
            let binary = read(object.bytes());
            let kernels = binary.code.kernels().expect("kernels");
            let count = kernels[0].header.get("user_sgpr_count");
            let expected = if cpu.starts_with("gfx9") { on_gfx9 } else { before };
            assert_eq!(count, Some(expected), "{cpu}: {text}");
        }
    }
}

/// Code that reads every register of a set. `R` is the first register behind the user SGPRs, `A` is that of the
/// kernel's arguments.
const READS: &str = "
  s_mov_b32 s16, 0x55555555
  s_mov_b32 s17, 0x55555555
  v_mov_b32 v8, s16
  v_mov_b32 v9, s17
  v_mov_b32 v1, 0x1234
  buffer_store_dword v1, off, s[0:3], sR offset:4
  s_waitcnt vmcnt(0)
  buffer_load_dword v2, off, s[0:3], sR offset:4
  s_waitcnt vmcnt(0)
  flat_store_dword v[8:9], v2
";
const STORE: &str = "
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_add_u32 s16, s16, 4
  s_addc_u32 s17, s17, 0
  v_mov_b32 v8, s16
  v_mov_b32 v9, s17
  v_mov_b32 v2, X
  flat_store_dword v[8:9], v2
";

/// A set: its bits in `code_properties`, the number of its registers, and the instructions that read them. Each
/// pair is a text and a register whose value is stored after the text.
struct Set {
    enabled: &'static [&'static str],
    count: u32,
    parts: &'static [(&'static str, &'static str)],
    expected: &'static [u32],
}

const PACKET: (&str, &str) = ("s_load_dwordx4 s[20:23], s[4:5], 0x0\n", "s21");
const GRID: (&str, &str) = ("", "s23");
/// Bit 0 of the first argument's low dword.
const SETS: [Set; 5] = [
    Set { enabled: &[], count: 4, parts: &[], expected: &[0x1234] },
    Set {
        enabled: &["kernarg_segment_ptr"],
        count: 6,
        parts: &[("s_add_u32 s24, s4, 48\ns_addc_u32 s25, s5, 0\ns_load_dword s26, s[24:25], 0x0\n", "s26")],
        expected: &[0x1234, 77],
    },
    Set {
        enabled: &["dispatch_ptr", "kernarg_segment_ptr"],
        count: 8,
        parts: &[
            PACKET,
            GRID,
            ("s_add_u32 s24, s6, 48\ns_addc_u32 s25, s7, 0\ns_load_dword s26, s[24:25], 0x0\n", "s26"),
        ],
        expected: &[0x1234, 0x1_0001, 3, 77],
    },
    Set {
        enabled: &["dispatch_ptr", "kernarg_segment_ptr", "flat_scratch_init"],
        count: 10,
        parts: &[
            PACKET,
            GRID,
            ("s_add_u32 s24, s6, 48\ns_addc_u32 s25, s7, 0\ns_load_dword s26, s[24:25], 0x0\n", "s26"),
            ("", "s9"),
        ],
        expected: &[0x1234, 0x1_0001, 3, 77, 16],
    },
    Set {
        enabled: &["dispatch_ptr", "queue_ptr", "kernarg_segment_ptr", "flat_scratch_init"],
        count: 12,
        parts: &[
            PACKET,
            GRID,
            ("s_add_u32 s24, s8, 48\ns_addc_u32 s25, s9, 0\ns_load_dword s26, s[24:25], 0x0\n", "s26"),
            ("", "s11"),
            // The aperture of LDS is the high half of addresses that `flat` instructions send to LDS.
            (
                "s_add_u32 s24, s6, 0x40\ns_addc_u32 s25, s7, 0\ns_load_dwordx2 s[26:27], s[24:25], 0x0\n\
                 s_mov_b32 m0, -1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, 8\nv_mov_b32 v5, s26\nv_mov_b32 v6, 99\n\
                 flat_store_dword v[4:5], v6\ns_waitcnt vmcnt(0) lgkmcnt(0)\nds_read_b32 v7, v4\n\
                 s_waitcnt lgkmcnt(0)\nv_readfirstlane_b32 s28, v7\n",
                "s28",
            ),
            // The aperture of private memory with FLAT_SCRATCH from the two last registers.
            (
                "s_add_u32 s10, s10, s12\ns_lshr_b32 flat_scratch_hi, s10, 8\ns_mov_b32 flat_scratch_lo, s11\n\
                 v_mov_b32 v4, 4\nv_mov_b32 v5, s27\nflat_load_dword v7, v[4:5]\n\
                 s_waitcnt vmcnt(0) lgkmcnt(0)\nv_readfirstlane_b32 s28, v7\n",
                "s28",
            ),
        ],
        expected: &[0x1234, 0x1_0001, 3, 77, 16, 99, 0x1234],
    },
];

/// Returns the header and the code of a kernel that reads the registers of a set.
fn reading(set: &Set, (major, minor, stepping): (u32, u32, u32)) -> Vec<u8> {
    let mut text = format!(
        "  .hsa_code_object_version 2,1\n  .hsa_code_object_isa {major},{minor},{stepping},\"AMD\",\"AMDGPU\"\n\
         \x20 .text\n  .p2align 8\n  .amdgpu_hsa_kernel k\nk:\n  .amd_kernel_code_t\n\
         \x20   enable_sgpr_private_segment_buffer = 1\n"
    );
    for name in set.enabled {
        text += &format!("    enable_sgpr_{name} = 1\n");
    }
    text += &format!(
        "    user_sgpr_count = {}\n    enable_sgpr_private_segment_wave_byte_offset = 1\n    \
         enable_sgpr_workgroup_id_x = 0\n    granulated_workitem_vgpr_count = 3\n    \
         granulated_wavefront_sgpr_count = 5\n    workitem_private_segment_byte_size = 16\n    \
         workgroup_group_segment_byte_size = 64\n    kernarg_segment_byte_size = 56\n    is_ptr64 = 1\n  \
         .end_amd_kernel_code_t\n",
        set.count
    );
    text += &READS.replace("sR", &format!("s{}", set.count));
    for (part, register) in set.parts {
        text += part;
        text += &STORE.replace('X', register);
    }
    text += "  s_endpgm\n";
    let object =
        asm::assemble(&text, &asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() })
            .unwrap_or_else(|list| panic!("{}", asm::render(&list[..1], "reading", &text, false)));
    let file = object::File::parse(&*object).expect("ELF");
    file.section_by_name(".text").expect("code").data().expect("bytes").to_vec()
}

/// Returns a driver's file with this kernel, whose code refers to a variable.
fn with_kernel(text: &[u8], isa: (u32, u32, u32), device: u32) -> Vec<u8> {
    let mut inner = Object::new(Class::Elf64, 1, 0xe0);
    inner.os_abi = 64;
    let data =
        inner.add_section(Section { align: 8, ..Section::new(".hsadata_global_agent", 0x90_0003, &[0; 64]) });
    // The literals of the first two instructions.
    let relocation = |offset, kind| Relocation { offset, kind, symbol: 1, addend: Some(0) };
    let code = inner.add_section(Section {
        align: 256,
        address: 256,
        relocations: vec![relocation(256 + 4, 1), relocation(256 + 12, 2)],
        ..Section::new(".hsatext", 0xc0_0007, text)
    });
    let notes = opencl2::Note::write(&opencl2::Note::of_driver(isa, 1));
    inner.add_section(Section { kind: 7, align: 4, ..Section::new(".note", 0, &notes) });
    inner.symbols.extend([
        Symbol::local("out", 1, Place::Section(data), 0, 64),
        opencl2::kernel_symbol("&__OpenCL_k_kernel", code, 0, text.len() as u64),
    ]);
    let mut record = opencl2::Metadata::new(0, "generic");
    for name in ["global_offset_0", "global_offset_1", "global_offset_2"] {
        let name: &'static str = Box::leak(format!("_.{name}").into_boxed_str());
        let kind = ArgumentKind::Value { elements: 1, buffer: 1, offset: 0, data: 9 };
        record.arguments.push(opencl2::Argument::new(name, "size_t", kind));
    }
    for name in ["_.printf_buffer", "_.vqueue_pointer", "_.aqlwrap_pointer", "n"] {
        let kind = ArgumentKind::Value { elements: 1, buffer: 1, offset: 0, data: 9 };
        record.arguments.push(opencl2::Argument::new(name, "ulong", kind));
    }
    let mut binary = Binary::new(Class::Elf64, device);
    binary.kernels.push(opencl2::Kernel::new("k", record));
    binary.code = opencl2::Code::Object(inner);
    binary.write()
}

/// The emulator puts into the registers of each set what the driver puts there.
#[test]
fn sets_of_user_sgprs_are_filled() {
    let processors = [((7, 0, 1), (7, 0, 1), 7), ((8, 0, 3), (8, 0, 4), 13), ((9, 0, 0), (9, 0, 0), 20)];
    for (version, isa, device) in processors {
        for set in &SETS {
            let is_gfx9 = version.0 == 9;
            if is_gfx9 && set.count != 10 {
                continue;
            }
            let text = reading(set, version);
            let bytes = with_kernel(&text, isa, device);
            let what = format!("{version:?}, {} registers", set.count);
            let loaded = sim::CodeObject::load(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut gpu = sim::Device::with_threads(1);
            let module = gpu.load(&loaded).expect("it loads");
            let mut kernarg = vec![0; 56];
            kernarg[48] = 77;
            let dispatch = sim::Dispatch {
                kernel: "k",
                grid: [3, 1, 1],
                group: [1, 1, 1],
                kernarg,
                ..sim::Dispatch::default()
            };
            gpu.run(module, &dispatch).unwrap_or_else(|fault| panic!("{what}: {fault}"));
            let (out, _) = gpu.symbol(module, "out").expect("the variable");
            let mut got = vec![0; 4 * set.expected.len()];
            gpu.read(out, &mut got).expect("memory");
            let mut got: Vec<u32> =
                got.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
            if is_gfx9 {
                // The registers have an address there, whose upper half is not known.
                assert!(got[4] != 0, "{what}");
                got[4] = 16;
            }
            assert_eq!(got, set.expected, "{what}");
        }
    }
}

/// Variables are in the sections of the driver, and the loader writes their addresses into the code.
#[test]
fn variables_have_relocations() {
    let text = "constant static TABLE: [u32; 4] = [3, 5, 7, 11];\nglobal static COUNT: u32 = 40;\n\
                kernel k(out: *global u32, n: u32) { atomic_add(&mut COUNT, TABLE[n], relaxed, agent); out[0] = COUNT; }";
    for (cpu, level) in PROCESSORS.into_iter().zip(LEVELS.into_iter().cycle()) {
        let object = compiled(text, level, cpu);
        let binary = read(object.bytes());
        assert_eq!(binary.code.global_data(), Some(&40u32.to_le_bytes()[..]));
        let table: Vec<u8> = [3u32, 5, 7, 11].into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(binary.code.readonly_data(), Some(&table[..]));
        let loaded = sim::CodeObject::load(object.bytes()).expect("it loads");
        let mut gpu = sim::Device::with_threads(1);
        let module = gpu.load(&loaded).expect("it loads");
        let out = gpu.alloc(4).expect("memory");
        let mut kernarg = vec![0; 60];
        kernarg[48..56].copy_from_slice(&out.to_le_bytes());
        kernarg[56] = 2;
        gpu.run(module, &sim::Dispatch { kernel: "k", kernarg, ..sim::Dispatch::default() })
            .expect("it runs");
        let mut got = [0; 4];
        gpu.read(out, &mut got).expect("memory");
        assert_eq!(u32::from_le_bytes(got), 47, "{cpu}");
    }
}

/// What the driver lacks is an error that names the lack.
#[test]
fn what_the_driver_lacks() {
    let error = |text: &str, cpu: &str| compile(text, OptLevel::O2, cpu, Os::Catalyst).expect_err("refused");
    for cpu in ["gfx600", "gfx1010", "gfx908"] {
        let error = error("kernel k() {}", cpu);
        assert!(error.contains("E0111") && error.contains("no driver of `catalyst`"), "{error}");
    }
    let narrow = "kernel k(a: *shared u32, b: *shared u32, out: *global u32) { out[0] = a[0] + b[0]; }";
    let error = error(narrow, "gfx803");
    assert!(error.contains("E0111") && error.contains("the argument `a` of `k`"), "{error}");
    let object = compiled("kernel k() {}", OptLevel::O2, "gfx803");
    assert!(object.relocatable().is_err());
}

/// The emulator's reader takes damaged binaries without a panic.
#[test]
fn damaged_binaries_do_not_panic() {
    let object = compiled(ARGUMENTS, OptLevel::O1, "gfx803");
    let mut random = support::Random::new(7);
    for _ in 0..3000 {
        let mut bytes = object.bytes().to_vec();
        for _ in 0..=random.below(4u32) {
            let at = random.below(bytes.len());
            bytes[at] = [0, 1, 0x7f, 0xff, random.below(256u32) as u8][random.below(5usize)];
        }
        if random.one_in(8) {
            bytes.truncate(random.below(bytes.len()));
        }
        // Most damage is in code, and gives another kernel.
        let _ = sim::CodeObject::load(&bytes);
    }
}
