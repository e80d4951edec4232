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

const ARGS: [Arg<'_>; 2] = [
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

fn program(funcs: &[MachFunc]) -> Program<'_> {
    let kernel = |func| Kernel {
        func,
        args: &ARGS,
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
    // The whole file: sections, symbols, relocations, names.
    assert_eq!(ours, theirs);
}

/// What `kernc as` makes of our listing is what we write, byte by byte, in both kinds of file.
#[test]
fn our_assembler_gives_the_same_files() {
    let funcs = [func("first"), func("second")];
    let mut programs = vec![program(&funcs), program(&funcs[..1])];
    programs[1].variables.reverse();
    for program in &programs {
        let listing = emit::asm::listing(program, None).unwrap();
        for (kind, ours) in [
            (asm::Kind::Relocatable, emit::elf::relocatable(program)),
            (asm::Kind::Loadable, emit::elf::loadable(program)),
        ] {
            let options = asm::Options { kind, version: Some(3), ..asm::Options::default() };
            assert!(asm::assemble(&listing, &options).unwrap() == ours.unwrap(), "{kind:?}");
        }
    }
}

#[test]
fn metadata_is_written_as_its_tree_is() {
    let funcs = [func("first"), func("second")];
    let (mut tree, mut direct) = (Vec::new(), Vec::new());
    emit::metadata::tree(&program(&funcs)).write_message_pack(&mut tree);
    emit::metadata::write_message_pack(&program(&funcs), &mut direct);
    assert!(!direct.is_empty());
    assert_eq!(direct, tree);
}

#[test]
fn linker_gives_the_same_sections() {
    let funcs = [func("first"), func("second")];
    let program = program(&funcs);
    let (input, out) = (scratch("link.o"), scratch("link.so"));
    std::fs::write(&input, emit::elf::relocatable(&program).unwrap()).unwrap();
    if tool("ld.lld-19", &["-shared", input.to_str().unwrap(), "-o", out.to_str().unwrap()]).is_none() {
        return;
    }
    let ours = emit::elf::loadable(&program).unwrap();
    let theirs = std::fs::read(&out).unwrap();
    // The linker has sections of its own in between, which `.dynsym` counts.
    for name in [".note", ".gnu.hash", ".hash", ".dynstr", ".rodata", ".text", ".dynamic", ".data"] {
        assert_eq!(section(&ours, name), section(&theirs, name), "{name}");
        let place = |elf: &[u8]| {
            let file = object::File::parse(elf).unwrap();
            let section = file.section_by_name(name).unwrap();
            (section.address(), section.size(), section.align())
        };
        assert_eq!(place(&ours), place(&theirs), "{name}");
    }
    let symbols = |elf: &[u8]| {
        let file = object::File::parse(elf).unwrap();
        let symbol =
            |symbol: object::Symbol| (symbol.name().unwrap().to_owned(), symbol.address(), symbol.size());
        file.dynamic_symbols().map(symbol).collect::<Vec<_>>()
    };
    assert_eq!(symbols(&ours), symbols(&theirs));
}

/// What the compiler has no metadata for is refused, not written as something else.
#[test]
fn other_versions_are_refused() {
    let funcs = [func("first")];
    let mut program = program(&funcs);
    program.target.code_object = isa::CodeObjectVersion::V5;
    let refused = |error: emit::EmitError| matches!(error, emit::EmitError::Unsupported(_));
    assert!(emit::elf::loadable(&program).is_err_and(refused));
    assert!(emit::asm::listing(&program, None).is_err_and(refused));
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
