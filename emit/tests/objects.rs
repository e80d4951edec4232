//! The object and the listing of a hand-made program, judged by LLVM's tools where they are installed.

use emit::{Arg, InitialState, Kernel, Language, Program, ValueKind, Variable};
use isa::{Abi, CodeObjectVersion, MachInst, Operand, Reg, Subtarget, op};
use mir::{Distance, Edge, MachBlock, MachFunc, Referent, RelocRef};
use object::{Object, ObjectSection, ObjectSymbol};
use support::Tool;

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
        for part in [Distance::Low, Distance::High] {
            func.relocs.push(RelocRef { to: Referent::Global(global), part, addend: 4 });
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
        align: 8,
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
        align: 4,
        kind: ValueKind::ByValue,
        address_space: None,
        pointee_align: None,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
    },
];

static VARIABLES: std::sync::LazyLock<Vec<Variable<'static>>> = std::sync::LazyLock::new(|| {
    let table = Variable {
        id: 7,
        name: "table",
        size: 40,
        align: 16,
        init: &[1, 2, 3, 250],
        writable: false,
        functions: Default::default(),
    };
    let counter =
        Variable { id: 9, name: "counter", size: 8, align: 8, init: &[], writable: true, ..table.clone() };
    vec![table, counter]
});

fn kernels<'f>(funcs: &'f [MachFunc]) -> Vec<Kernel<'f>> {
    let kernel = |func: &'f MachFunc| Kernel {
        func,
        args: &ARGS,
        kernarg_align: 8,
        reqd_workgroup_size: Some([64, 1, 1]),
        workgroup_size_hint: None,
        vec_type_hint: None,
        max_flat_workgroup_size: 64,
        lds: func.lds_size,
        state: InitialState::default(),
    };
    funcs.iter().map(kernel).collect()
}

fn program<'a>(kernels: &'a [Kernel<'a>], version: CodeObjectVersion) -> Program<'a> {
    let target = Subtarget::by_name("gfx906").unwrap().with_version(version);
    let language = Language::default();
    Program {
        target,
        language,
        kernels,
        functions: &[],
        externals: &[],
        signatures: &[],
        shared: &[],
        variables: &VARIABLES,
        formats: &[],
        lines: None,
        frames: None,
        debug: None,
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
    let Ok(output) = Tool::new(name).args(args).output() else {
        println!("left out: {name} is not on the PATH");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{name}: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

use CodeObjectVersion::{V2, V3, V4, V5, V6};

const VERSIONS: [CodeObjectVersion; 5] = [V2, V3, V4, V5, V6];

/// Two kernels in every version, as every language: with and without hidden arguments.
fn for_each_variant(mut check: impl FnMut(&str, &Program)) {
    let funcs = [func("first"), func("second")];
    let kernels = kernels(&funcs);
    for version in VERSIONS {
        for language in Language::ALL {
            let program = Program { language, ..program(&kernels, version) };
            check(&format!("{version} {}", language.name()), &program);
        }
    }
}

/// The whole file: sections, symbols, relocations, names.
#[test]
fn assemblers_give_the_same_bytes() {
    let assemblers = [("llvm-mc-14", &[V2, V3, V4, V5][..]), ("llvm-mc-19", &[V4, V5, V6])];
    for_each_variant(|what, program| {
        let version = program.target.code_object;
        for (assembler, versions) in assemblers {
            // LLVM 14 knows V5, but not its hidden arguments.
            let is_unknown = assembler == "llvm-mc-14"
                && version == V5
                && matches!(program.language, Language::OpenCl | Language::Hip);
            if is_unknown || !versions.contains(&version) {
                continue;
            }
            let stem = format!("{assembler}-{}", what.replace(' ', "-"));
            let (source, out) = (scratch(&format!("{stem}.s")), scratch(&format!("{stem}.o")));
            std::fs::write(&source, emit::asm::listing(program, None).unwrap()).unwrap();
            let number = format!("--amdhsa-code-object-version={}", version.number());
            let files = [source.to_str().unwrap(), "-o", out.to_str().unwrap()];
            let mut args = vec!["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx906", &number, "-filetype=obj"];
            // The older versions cannot say "either" and mean "off" here.
            if version < V4 {
                args.push("-mattr=-xnack,-sramecc");
            }
            args.extend(files);
            if tool(assembler, &args).is_some() {
                let (ours, theirs) = (emit::elf::relocatable(program).unwrap(), std::fs::read(&out).unwrap());
                assert!(ours == theirs, "{assembler}: {what}: see {}", source.display());
            }
        }
    });
}

/// What `kernc as` makes of our listing is what we write, byte by byte, in both kinds of file.
#[test]
fn our_assembler_gives_the_same_files() {
    for_each_variant(|what, program| {
        let alone = Program { kernels: &program.kernels[..1], ..program.clone() };
        let mut variables = VARIABLES.clone();
        variables.reverse();
        let reversed = Program { variables: &variables, ..alone.clone() };
        for program in [program, &alone, &reversed] {
            let listing = emit::asm::listing(program, None).unwrap();
            for (kind, ours) in [
                (asm::Kind::Relocatable, emit::elf::relocatable(program)),
                (asm::Kind::Loadable, emit::elf::loadable(program)),
            ] {
                // V2 has no target id to say it with.
                let off = (program.target.code_object == V2).then_some(false);
                let options = asm::Options { kind, xnack: off, sramecc: off, ..asm::Options::default() };
                assert!(asm::assemble(&listing, &options).unwrap() == ours.unwrap(), "{what}: {kind:?}");
            }
        }
    });
}

#[test]
fn metadata_is_written_as_its_tree_is() {
    for_each_variant(|what, program| {
        let (mut tree, mut direct) = (Vec::new(), Vec::new());
        emit::metadata::tree(program).write_message_pack(&mut tree);
        emit::metadata::write_message_pack(program, &mut direct);
        assert!(!direct.is_empty());
        assert_eq!(direct, tree, "{what}");
    });
}

/// A file written in memory that another version was written in.
#[test]
fn memory_goes_from_version_to_version() {
    let mut ctx = emit::Context::default();
    for_each_variant(|what, program| {
        let again = emit::elf::loadable_in(program, &mut ctx).unwrap();
        assert!(again == emit::elf::loadable(program).unwrap(), "{what}");
    });
}

#[test]
fn linker_gives_the_same_sections() {
    for_each_variant(|what, program| {
        let stem = what.replace(' ', "-");
        let (input, out) = (scratch(&format!("{stem}.o")), scratch(&format!("{stem}.so")));
        std::fs::write(&input, emit::elf::relocatable(program).unwrap()).unwrap();
        if tool("ld.lld-19", &["-shared", input.to_str().unwrap(), "-o", out.to_str().unwrap()]).is_none() {
            return;
        }
        let ours = emit::elf::loadable(program).unwrap();
        let theirs = std::fs::read(&out).unwrap();
        // Runtime, version and flags.
        assert_eq!((&ours[7..9], &ours[48..52]), (&theirs[7..9], &theirs[48..52]), "{what}");
        same_sections(what, &ours, &theirs);
    });
}

fn same_sections(what: &str, ours: &[u8], theirs: &[u8]) {
    // The linker has sections of its own in between, which `.dynsym` counts.
    for name in [".note", ".gnu.hash", ".hash", ".dynstr", ".rodata", ".text", ".dynamic", ".data"] {
        assert_eq!(section(ours, name), section(theirs, name), "{what}: {name}");
        let place = |elf: &[u8]| {
            let file = object::File::parse(elf).unwrap();
            let section = file.section_by_name(name).unwrap();
            (section.address(), section.size(), section.align())
        };
        assert_eq!(place(ours), place(theirs), "{what}: {name}");
    }
    let symbols = |elf: &[u8]| {
        let file = object::File::parse(elf).unwrap();
        let symbol =
            |symbol: object::Symbol| (symbol.name().unwrap().to_owned(), symbol.address(), symbol.size());
        file.dynamic_symbols().map(symbol).collect::<Vec<_>>()
    };
    assert_eq!(symbols(ours), symbols(theirs), "{what}");
}

/// PAL has one kernel in an object. More are refused, not written as something else.
#[test]
fn several_kernels_are_refused_for_pal() {
    let funcs = [func("first"), func("second")];
    let kernels = kernels(&funcs);
    let mut program = program(&kernels, V4);
    program.target.os = isa::Os::AmdPal;
    let refused = |error: emit::EmitError| matches!(error, emit::EmitError::Unsupported(_));
    assert!(emit::elf::loadable(&program).is_err_and(refused));
    assert!(emit::asm::listing(&program, None).is_err_and(refused));
}

#[test]
fn readelf_reads_everything() {
    for_each_variant(|what, program| {
        let version = program.target.code_object;
        let file = scratch(&format!("{}.co", what.replace(' ', "-")));
        std::fs::write(&file, emit::elf::loadable(program).unwrap()).unwrap();
        let (kernel, sgprs) = match version {
            V2 => ("second@kd", "NumSGPRs:        14"),
            V3 => ("second.kd", ".sgpr_count:     14"),
            // XNACK_MASK is reserved, since accesses may be replayed.
            _ => ("second.kd", ".sgpr_count:     16"),
        };
        for readelf in ["llvm-readelf-14", "llvm-readelf-19"] {
            let Some(text) = tool(readelf, &["-a", file.to_str().unwrap()]) else { continue };
            for expected in [kernel, sgprs, "R E 0x1000", "(HASH)", "Type:                              DYN"]
            {
                assert!(text.contains(expected), "{readelf}: {what}: no {expected} in\n{text}");
            }
        }
    });
}
