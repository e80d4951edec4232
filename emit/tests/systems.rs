//! The section `.AMDGPU.config`, and the metadata of PAL's pipelines, state the same values as LLVM 19 for
//! kernels with the same resources.

use emit::{InitialState, Kernel, Language, Program};
use isa::{Abi, MachInst, Operand, Os, Subtarget, op};
use mir::{MachBlock, MachFunc};
use object::{Object, ObjectSection};
use support::{Tool, have};

const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx1010", "gfx1012", "gfx1030"];

/// The resources of a kernel: the highest VGPR and SGPR, dwords of LDS, dwords of scratch, work-group ids, and the
/// modes (IEEE, denormals of f32).
struct Used {
    vgpr: u32,
    sgpr: u32,
    lds: u32,
    scratch: u32,
    groups: [bool; 3],
    items: u8,
    ieee: bool,
    flush: bool,
}

const USED: [Used; 6] = [
    Used { vgpr: 0, sgpr: 6, lds: 0, scratch: 0, groups: [true; 3], items: 2, ieee: true, flush: false },
    Used {
        vgpr: 17,
        sgpr: 30,
        lds: 100,
        scratch: 5,
        groups: [true, false, false],
        items: 0,
        ieee: false,
        flush: true,
    },
    Used {
        vgpr: 40,
        sgpr: 53,
        lds: 1,
        scratch: 0,
        groups: [true, true, false],
        items: 1,
        ieee: true,
        flush: true,
    },
    Used {
        vgpr: 101,
        sgpr: 95,
        lds: 5000,
        scratch: 77,
        groups: [true, false, true],
        items: 0,
        ieee: false,
        flush: false,
    },
    Used {
        vgpr: 255,
        sgpr: 20,
        lds: 8192,
        scratch: 300,
        groups: [true; 3],
        items: 2,
        ieee: true,
        flush: false,
    },
    Used {
        vgpr: 64,
        sgpr: 39,
        lds: 65,
        scratch: 1,
        groups: [true, false, false],
        items: 1,
        ieee: true,
        flush: false,
    },
];

/// Returns LLVM IR of a kernel with these resources.
fn ir(used: &Used) -> String {
    let Used { vgpr, sgpr, lds, scratch, groups, items, ieee, flush } = used;
    let mut out = String::new();
    if *lds > 0 {
        out += &format!("@lds = internal addrspace(3) global [{lds} x i32] undef\n");
    }
    out += "define amdgpu_kernel void @k(ptr addrspace(1) %p) #0 {\n";
    out += &format!("  call void asm sideeffect \"\", \"~{{v{vgpr}}},~{{s{sgpr}}}\"()\n");
    if *scratch > 0 {
        out += &format!("  %s = alloca [{scratch} x i32], addrspace(5)\n");
        out += "  store volatile i32 1, ptr addrspace(5) %s\n";
    }
    if *lds > 0 {
        out += "  store volatile i32 0, ptr addrspace(3) @lds\n";
    }
    out += "  store volatile i32 1, ptr addrspace(1) %p\n  ret void\n}\nattributes #0 = { ";
    let absent = ["dispatch-ptr", "queue-ptr", "dispatch-id", "implicitarg-ptr", "flat-scratch-init"];
    let mut absent: Vec<String> = absent.iter().map(|name| (*name).to_owned()).collect();
    for (dim, name) in ["x", "y", "z"].iter().enumerate() {
        if !groups[dim] {
            absent.push(format!("workgroup-id-{name}"));
        }
        if dim > usize::from(*items) {
            absent.push(format!("workitem-id-{name}"));
        }
    }
    out += &absent.iter().map(|name| format!("\"amdgpu-no-{name}\" ")).collect::<String>();
    out += &format!("\"amdgpu-ieee\"=\"{ieee}\" \"amdgpu-flat-work-group-size\"=\"1,64\" ");
    out += if *flush { "\"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\" }\n" } else { "}\n" };
    out
}

/// Returns the numbers of the section as LLVM writes them, and the value of a comment such as `NumSgprs`.
fn by_llvm(text: &str, cpu: &str, os: Os) -> (Vec<u32>, String) {
    let mut command = Tool::new("llc-19");
    command.args([&format!("-mtriple={}", os.system().triple), &format!("-mcpu={cpu}"), "-o", "-"]);
    let output = command.input(text).output().expect("the tool starts");
    assert!(output.status.success(), "{cpu}: {}\n{text}", String::from_utf8_lossy(&output.stderr));
    let listing = String::from_utf8(output.stdout).expect("text");
    let longs = listing.lines().filter_map(|line| line.trim().strip_prefix(".long")?.trim().parse().ok());
    (longs.take(10).collect(), listing)
}

/// Returns the value of a comment of LLVM's listing such as `NumSgprs`.
fn comment(listing: &str, name: &str) -> u32 {
    let found =
        listing.lines().find_map(|line| line.strip_prefix("; ")?.strip_prefix(name)?.strip_prefix(": "));
    found.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or_else(|| panic!("no {name}"))
}

/// Returns the section `.AMDGPU.config` that kernc writes for a kernel with the resources that LLVM's listing
/// states.
fn by_kernc(used: &Used, listing: &str, cpu: &str, os: Os) -> Vec<u32> {
    let bytes = object_of(used, listing, cpu, os);
    let file = object::File::parse(&*bytes).expect("an object");
    let section = file.section_by_name(".AMDGPU.config").expect("the section");
    let (words, rest) = section.data().expect("contents").as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Returns kernc's object with a kernel that has the resources that LLVM's listing states.
fn object_of(used: &Used, listing: &str, cpu: &str, os: Os) -> Vec<u8> {
    let target = Subtarget::by_name(cpu).expect("a processor").with_os(os);
    let stated = |name: &str| comment(listing, name);
    let rsrc2 = |name: &str| stated(&format!("COMPUTE_PGM_RSRC2:{name}"));
    let (is_mesa, is_pal) = (os == Os::Mesa3d, os == Os::AmdPal);
    // For PAL, LLVM leaves the user SGPRs and the ids to the frontend.
    let rsrc2 =
        |name: &str| if is_pal { u32::from(name == "SCRATCH_EN" && used.scratch > 0) } else { rsrc2(name) };
    let abi = Abi {
        private_segment_buffer: is_mesa || rsrc2("SCRATCH_EN") == 1,
        makes_buffer: !is_mesa,
        pal: is_pal,
        kernarg_ptr: true,
        // LLVM asks Mesa for FLAT_SCRATCH, although Mesa does not provide it.
        flat_scratch_init: is_mesa && rsrc2("USER_SGPR") == 8,
        workgroup_id: ["X", "Y", "Z"].map(|dim| rsrc2(&format!("TGID_{dim}_EN")) == 1),
        private_segment_wave_offset: rsrc2("SCRATCH_EN") == 1,
        workitem_ids: rsrc2("TIDIG_COMP_CNT") as u8,
        ..Abi::default()
    };
    let mut func = MachFunc { name: "k".to_owned(), vgprs: stated("NumVgprs"), abi, ..MachFunc::default() };
    func.lds_size = stated("LDSByteSize");
    func.scratch_size = stated("ScratchSize");
    // The total includes special registers, which `registers` adds again.
    let extra = emit::descriptor::registers(&target, &func).total_sgprs(&target);
    func.sgprs = stated("NumSgprs") - extra;
    func.blocks.push(MachBlock {
        insts: vec![MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)])],
        ..MachBlock::default()
    });
    let state = InitialState { ieee: used.ieee, flush_denormals: used.flush, ..InitialState::default() };
    let kernel = Kernel {
        func: &func,
        args: &[],
        kernarg_align: 8,
        reqd_workgroup_size: Some([64, 1, 1]).filter(|_| is_pal),
        workgroup_size_hint: None,
        vec_type_hint: None,
        max_flat_workgroup_size: 64,
        lds: func.lds_size,
        state,
    };
    let program = Program {
        target,
        language: Language::default(),
        kernels: &[kernel],
        functions: &[],
        externals: &[],
        signatures: &[],
        shared: &[],
        variables: &[],
        formats: &[],
        lines: None,
        debug: None,
        frames: None,
    };
    emit::elf::complete_in(&program, &mut emit::Context::default()).expect("an object")
}

#[test]
fn registers_are_those_of_llvm() {
    if !have(&["llc-19"], "registers_are_those_of_llvm") {
        return;
    }
    for os in [Os::Unknown, Os::Mesa3d] {
        for cpu in PROCESSORS {
            for used in &USED {
                let text = ir(used);
                let (theirs, listing) = by_llvm(&text, cpu, os);
                assert_eq!(theirs.len(), 10, "{listing}");
                let ours = by_kernc(used, &listing, cpu, os);
                let hex = |list: &[u32]| list.iter().map(|word| format!("{word:#x}")).collect::<Vec<_>>();
                assert_eq!(hex(&ours), hex(&theirs), "{cpu} {}\n{text}", os.system().name);
            }
        }
    }
}

/// Returns the metadata of a PAL object.
fn pipeline(bytes: &[u8]) -> palmeta::Metadata {
    let file = object::File::parse(bytes).expect("an object");
    let section = file.section_by_name(".note").expect("the section").data().expect("contents");
    // The note with the name of the processor comes first.
    let at = section.windows(8).position(|bytes| bytes == b"AMDGPU\0\0").expect("the note");
    let size = section[at - 8..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word)) as usize;
    palmeta::Metadata::read(&section[at + 8..][..size]).expect("metadata")
}

#[test]
fn pipelines_are_those_of_llvm() {
    if !have(&["llc-19"], "pipelines_are_those_of_llvm") {
        return;
    }
    const RSRC1: u32 = 0x2e12;
    const RSRC2: u32 = 0x2e13;
    const INITIATOR: u32 = 0x2e00;
    // `SCRATCH_EN` and `LDS_SIZE`, which LLVM states.
    const MASK: u32 = 1 | 0x1ff << 15;
    for cpu in PROCESSORS.into_iter().chain(["gfx90a"]) {
        for used in &USED {
            let text = ir(used).replace(
                "define amdgpu_kernel void @k(ptr addrspace(1) %p)",
                "define amdgpu_cs void @k(ptr addrspace(1) inreg %p)",
            );
            let (_, listing) = by_llvm(&text, cpu, Os::AmdPal);
            let lines = listing.lines().skip_while(|line| line.trim() != "---");
            let block: Vec<&str> = lines.take_while(|line| !line.contains(".end_amdgpu_pal")).collect();
            let theirs = palmeta::Metadata::from_text(&(block.join("\n") + "\n")).expect("metadata");
            let ours = pipeline(&object_of(used, &listing, cpu, Os::AmdPal));
            let what = format!("{cpu}\n{text}\n{}", theirs.to_text(palmeta::Spelling::Llvm19));
            let hex = |metadata: &palmeta::Metadata, number, mask| {
                metadata.register(number).map(|value| format!("{:#x}", value & mask))
            };
            assert_eq!(hex(&ours, RSRC1, u32::MAX), hex(&theirs, RSRC1, u32::MAX), "RSRC1 {what}");
            assert_eq!(hex(&ours, RSRC2, MASK), hex(&theirs, RSRC2, MASK), "RSRC2 {what}");
            assert_eq!(hex(&ours, INITIATOR, u32::MAX), hex(&theirs, INITIATOR, u32::MAX), "{what}");
            for key in [".scratch_memory_size", ".vgpr_count", ".agpr_count"] {
                let of = |metadata: &palmeta::Metadata| {
                    metadata.stage(palmeta::Stage::Cs).and_then(|stage| stage.get(key)).cloned()
                };
                assert_eq!(of(&ours), of(&theirs), "{key} {what}");
            }
            let found = ours.verify();
            assert!(found.is_empty(), "{found:?}");
        }
    }
}
