//! The object and the listing of a hand-made program, judged by LLVM's tools where they are installed.

use emit::{Arg, Kernel, Program, ValueKind, Variable};
use isa::{Abi, Edge, MachBlock, MachFunc, MachInst, Operand, Reg, RelocRef, Subtarget, op};
use object::{Object, ObjectSection, ObjectSymbol};
use std::process::Command;

/// Two blocks with a branch between them, and references to a constant and to a variable.
fn func(name: &str) -> MachFunc {
    let mut func = MachFunc { name: name.to_owned(), vgprs: 3, sgprs: 12, ..MachFunc::default() };
    func.abi = Abi { kernarg_ptr: true, workgroup_id: [true, false, false], ..Abi::default() };
    func.kernarg_size = 20;
    func.lds_size = 256;
    func.uses_vcc = true;
    let pair = |n| Operand::regs(Reg::sgpr(n), 2);
    let single = |n| Operand::reg(Reg::sgpr(n));
    for global in [7, 9] {
        for hi in [false, true] {
            func.relocs.push(RelocRef { global, hi, addend: 4 });
        }
    }
    let mut entry = MachBlock::default();
    for reloc in [0, 2] {
        entry.insts.extend([
            MachInst::new(op::S_GETPC_B64, &[pair(8)]),
            MachInst::new(op::S_ADD_U32, &[single(8), single(8), Operand::Reloc(reloc)]),
            MachInst::new(op::S_ADDC_U32, &[single(9), single(9), Operand::Reloc(reloc + 1)]),
        ]);
    }
    let end = isa::MBlock::from_u32(1);
    entry.insts.push(MachInst::new(op::S_CBRANCH_EXECZ, &[Operand::Block(end)]));
    entry.insts.push(MachInst::new(op::S_MOV_B32, &[single(3), Operand::int(12345)]));
    entry.linear[0] = Some(Edge { to: end, args: Default::default() });
    func.blocks.push(entry);
    let last = MachInst::new(op::S_ENDPGM, &[Operand::Imm(0)]);
    func.blocks.push(MachBlock { insts: vec![last], ..MachBlock::default() });
    func
}

fn program(funcs: &[MachFunc]) -> Program<'_> {
    let args = vec![
        Arg {
            name: "x",
            type_name: "*const global f32",
            value_type: "f32",
            size: 8,
            offset: 0,
            kind: ValueKind::GlobalBuffer,
            address_space: Some("global"),
            pointee_align: None,
            is_const: true,
            is_restrict: true,
            is_volatile: false,
        },
        Arg {
            name: "n",
            type_name: "u32",
            value_type: "u32",
            size: 4,
            offset: 16,
            kind: ValueKind::ByValue,
            address_space: None,
            pointee_align: None,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
        },
    ];
    let kernel = |func| Kernel {
        func,
        args: args.clone(),
        kernarg_align: 8,
        reqd_workgroup_size: Some([64, 1, 1]),
        workgroup_size_hint: None,
        vec_type_hint: None,
        max_flat_workgroup_size: 64,
    };
    Program {
        target: Subtarget::by_name("gfx906").unwrap(),
        kernels: funcs.iter().map(kernel).collect(),
        variables: vec![
            Variable { id: 7, name: "table", size: 40, align: 16, init: &[1, 2, 3, 250], writable: false },
            Variable { id: 9, name: "counter", size: 8, align: 8, init: &[], writable: true },
        ],
    }
}

fn section(elf: &[u8], name: &str) -> Vec<u8> {
    let file = object::File::parse(elf).unwrap();
    file.section_by_name(name).unwrap().data().unwrap().to_vec()
}

fn scratch(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs a tool if it is there; its output. It must succeed without a complaint.
fn tool(name: &str, args: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(name).args(args).output() else {
        println!("left out: {name} is not on the PATH");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{name}: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn assembler_gives_the_same_bytes() {
    let funcs = [func("first"), func("second")];
    let program = program(&funcs);
    let (source, out) = (scratch("two.s"), scratch("two.o"));
    std::fs::write(&source, emit::asm::listing(&program, None).unwrap()).unwrap();
    let args = [
        "-triple=amdgcn-amd-amdhsa",
        "-mcpu=gfx906",
        "-mattr=-xnack,-sramecc",
        "--amdhsa-code-object-version=3",
        "-filetype=obj",
        source.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ];
    if tool("llvm-mc-14", &args).is_none() {
        return;
    }
    let theirs = std::fs::read(&out).unwrap();
    let ours = emit::elf::relocatable(&program).unwrap();
    for name in [".text", ".rodata", ".data", ".note"] {
        assert_eq!(section(&ours, name), section(&theirs, name), "{name}");
    }
    let relocations = |elf: &[u8]| {
        let file = object::File::parse(elf).unwrap();
        let mut all = Vec::new();
        for section in file.sections() {
            for (offset, relocation) in section.relocations() {
                let object::RelocationTarget::Symbol(symbol) = relocation.target() else { panic!() };
                let symbol = file.symbol_by_index(symbol).unwrap();
                // The assembler may count from the section instead of the symbol.
                all.push((
                    section.name().unwrap().to_owned(),
                    offset,
                    format!("{:?}", relocation.flags()),
                    symbol.address() as i64 + relocation.addend(),
                ));
            }
        }
        all
    };
    assert_eq!(relocations(&ours), relocations(&theirs));
}

#[test]
fn linker_gives_the_same_distances() {
    let funcs = [func("first"), func("second")];
    let program = program(&funcs);
    let (input, out) = (scratch("link.o"), scratch("link.so"));
    std::fs::write(&input, emit::elf::relocatable(&program).unwrap()).unwrap();
    if tool("ld.lld-19", &["-shared", input.to_str().unwrap(), "-o", out.to_str().unwrap()]).is_none() {
        return;
    }
    // Layouts differ, so compare where each reference leads, not its bytes.
    let leads_to = |elf: &[u8]| {
        let file = object::File::parse(elf).unwrap();
        let text = file.section_by_name(".text").unwrap();
        let bytes = text.data().unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let address = |name: &str| file.symbols().find(|s| s.name() == Ok(name)).unwrap().address();
        let mut found = Vec::new();
        for kernel in ["first", "second"] {
            for (getpc, variable) in [(0u64, "table"), (20, "counter")] {
                let start = address(kernel) + getpc;
                let at = (start - text.address()) as usize;
                let distance = u64::from(word(at + 8)) | u64::from(word(at + 16)) << 32;
                found.push((start + 4).wrapping_add(distance).wrapping_sub(address(variable)));
            }
            let descriptor = address(&format!("{kernel}.kd"));
            let rodata = file.section_by_name(".rodata").unwrap();
            let at = (descriptor - rodata.address()) as usize + emit::descriptor::ENTRY_OFFSET;
            let entry = i64::from_le_bytes(rodata.data().unwrap()[at..at + 8].try_into().unwrap());
            found.push((descriptor as i64 + entry) as u64 - address(kernel));
        }
        found
    };
    let ours = emit::elf::loadable(&program).unwrap();
    assert_eq!(leads_to(&ours), [4, 4, 0, 4, 4, 0]);
    assert_eq!(leads_to(&std::fs::read(&out).unwrap()), [4, 4, 0, 4, 4, 0]);
}

#[test]
fn readelf_reads_everything() {
    let funcs = [func("first"), func("second")];
    let file = scratch("two.co");
    std::fs::write(&file, emit::elf::loadable(&program(&funcs)).unwrap()).unwrap();
    for readelf in ["llvm-readelf-14", "llvm-readelf-19"] {
        let Some(text) = tool(readelf, &["-a", file.to_str().unwrap()]) else { continue };
        for expected in [
            "second.kd",
            ".sgpr_count:     14",
            "R E 0x1000",
            "(HASH)",
            "Type:                              DYN",
        ] {
            assert!(text.contains(expected), "{readelf}: no {expected} in\n{text}");
        }
    }
}
