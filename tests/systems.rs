//! Code for Mesa (`mesa3d`), for no operating system, and for PAL (`amdpal`; more in `tests/pal.rs`): what the compiler writes, judged by LLVM 19's
//! assembler and compiler, and what the emulator computes with it.

mod catalyst;
mod clang;

use crate::common::{KERNELS, have, source};
use isa::Os;
use kernc::{CodeObject, Compiler, OptLevel, Options, Subtarget};
use rayon::prelude::*;

/// The systems of Mesa's driver.
const MESA: [Os; 2] = [Os::Unknown, Os::Mesa3d];
const SYSTEMS: [Os; 3] = [Os::Unknown, Os::Mesa3d, Os::AmdPal];
const PROCESSORS: [&str; 6] = ["gfx600", "gfx700", "gfx803", "gfx906", "gfx1010", "gfx1030"];
const LEVELS: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];

/// Returns the processors for which the compiler has code for a system.
fn processors(os: Os) -> Vec<&'static str> {
    if os == Os::Catalyst {
        return catalyst::PROCESSORS.to_vec();
    }
    let more = if os == Os::AmdPal { &["gfx90a"][..] } else { &[] };
    PROCESSORS.iter().chain(more).copied().collect()
}

pub(crate) fn compile(text: &str, level: OptLevel, cpu: &str, os: Os) -> Result<CodeObject, String> {
    let target = Subtarget::by_name(cpu).expect("a processor").with_os(os);
    let options = Options { opt_level: level, verify: true, ..Options::default() };
    Compiler::new(target).compile(text, &options).map_err(|error| error.render(false))
}

/// Loads an object, and describes the arguments of its kernels with the types that the source gives them, if
/// the object does not describe the arguments.
pub(crate) fn load(object: &CodeObject) -> Result<sim::CodeObject, String> {
    let mut loaded = sim::CodeObject::load(object.bytes()).map_err(|error| error.to_string())?;
    for kernel in object.kernels() {
        if loaded.kernel(&kernel.name).is_some_and(|known| !known.untyped) {
            continue;
        }
        let args: Vec<String> =
            kernel.args.iter().map(|arg| format!("{}: {}", arg.name, arg.type_name)).collect();
        loaded.set_parameters(&kernel.name, &args.join(", "))?;
    }
    Ok(loaded)
}

/// Runs an example in all its cases, in fast or in strict mode.
fn check(name: &str, level: OptLevel, cpu: &str, os: Os, strict: bool) -> Result<(), String> {
    let place = |why: String| format!("{name} {level:?} {cpu} {}: {why}", os.system().name);
    let object = compile(&source(name), level, cpu, os).map_err(place)?;
    let loaded = load(&object).map_err(place)?;
    let info = loaded.kernel(name).ok_or_else(|| place("no kernel".to_owned()))?;
    let kernel = testkit::kernel(name).expect("an example");
    let mut device = sim::Device::with_threads(1);
    if strict {
        device.set_mode(sim::Mode::Strict { keep_going: false });
    }
    let module = device.load(&loaded).map_err(|fault| place(fault.to_string()))?;
    for case in (kernel.cases)() {
        // This kernel checks no bounds, and PAL dispatches whole groups.
        if (name, os) == ("bitonic", Os::AmdPal) && !case.grid[0].is_multiple_of(kernel.group[0]) {
            continue;
        }
        testkit::check_case(&mut device, module, info, kernel.group, &case).map_err(place)?;
    }
    Ok(())
}

/// Each example for all systems, with the processors and levels in turn; with `KERNC_SYSTEMS=all` for each
/// processor at each level in both modes.
#[test]
fn examples() {
    let all = std::env::var("KERNC_SYSTEMS").is_ok_and(|value| value == "all");
    let mut cases = Vec::new();
    for (at, name) in KERNELS.into_iter().enumerate() {
        for (of, os) in SYSTEMS.into_iter().enumerate() {
            let processors = processors(os);
            for (n, &cpu) in processors.iter().enumerate() {
                for (m, level) in LEVELS.into_iter().enumerate() {
                    let is_next = n == (at + 3 * of) % processors.len() && m == (at / 2 + of) % LEVELS.len();
                    if all || is_next {
                        cases.push((name, level, cpu, os, at % 2 == 0));
                    }
                }
            }
        }
    }
    let run = |&(name, level, cpu, os, strict): &(&str, OptLevel, &str, Os, bool)| {
        check(name, level, cpu, os, strict)?;
        if all { check(name, level, cpu, os, !strict) } else { Ok(()) }
    };
    let wrong: Vec<String> = cases.par_iter().filter_map(|case| run(case).err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Uses scratch memory, a variable with a constant table, all sizes of the launch, and the global offset.
const POSITIONS: &str = "constant static TABLE: [u32; 4] = [3, 5, 7, 11];
#[workgroup_size(64)]
kernel k(out: *global u32, step: u32) {
    let mut own: [u32; 8];
    for i in 0..8u32 { own[i] = global_id(0) + i; }
    let at = group_id(0) * local_size(0) + local_id(0);
    let sizes = num_groups(0) * 1000000 + global_size(0) * 1000 + local_size(0);
    out[at * 2] = own[(step + at) % 8] * 100 + TABLE[at % 4];
    out[at * 2 + 1] = sizes + local_size(1) + num_groups(2);
}
";

/// The positions, sizes and the global offset are right, in strict mode too. PAL has no global offset.
#[test]
fn positions() {
    for os in SYSTEMS.into_iter().chain([Os::Catalyst]) {
        let offset = if os == Os::AmdPal { 0 } else { 5 };
        for (cpu, level) in processors(os).into_iter().zip(LEVELS.into_iter().cycle()) {
            let target = Subtarget::by_name(cpu).expect("a processor").with_os(os);
            let language = kernc::Language::OpenCl;
            let options = Options { opt_level: level, verify: true, language, ..Options::default() };
            let object = Compiler::new(target).compile(POSITIONS, &options);
            let object = object.unwrap_or_else(|error| panic!("{cpu}: {}", error.render(false)));
            let loaded = load(&object).expect("it loads");
            let mut device = sim::Device::with_threads(1);
            device.set_mode(sim::Mode::Strict { keep_going: false });
            let module = device.load(&loaded).expect("it loads");
            let out = device.alloc(8 * 192).expect("memory");
            let info = loaded.kernel("k").expect("the kernel");
            let mut kernarg = vec![0; info.kernarg_size as usize];
            let places: Vec<u32> = info.explicit_args().map(|arg| arg.offset).collect();
            for (at, bytes) in places.iter().zip([&out.to_le_bytes()[..], &3u32.to_le_bytes()]) {
                kernarg[*at as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            let dispatch = sim::Dispatch {
                kernel: "k",
                grid: [192, 1, 1],
                group: [64, 1, 1],
                kernarg,
                global_offset: [offset.into(), 0, 0],
                ..sim::Dispatch::default()
            };
            let what = format!("{cpu} {}", os.system().name);
            device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{what}: {fault}"));
            let mut got = vec![0; 8 * 192];
            device.read(out, &mut got).expect("memory");
            let values = (0..192u32).flat_map(|at| {
                let own = at + offset + (3 + at) % 8;
                [own * 100 + [3, 5, 7, 11][at as usize % 4], 3_000_000 + 192_000 + 64 + 1 + 1]
            });
            assert!(got == values.flat_map(u32::to_le_bytes).collect::<Vec<u8>>(), "{what}");
        }
    }
}

/// What the compiler writes is what assemblers make of its listing.
#[test]
fn objects_are_those_of_listings() {
    let llvm = have(&["llvm-mc-19"], "objects_are_those_of_listings");
    for os in SYSTEMS {
        for cpu in processors(os) {
            for name in ["saxpy", "reduce", "sha256", "nbody"] {
                let text = source(name);
                let target = Subtarget::by_name(cpu).expect("a processor").with_os(os);
                // Assemblers write no line table for a listing.
                let options = Options { debug: kernc::DebugInfo::None, ..Options::default() };
                let object = Compiler::new(target).compile(&text, &options).expect("compiles");
                let listing = object.assembly(None).expect("a listing");
                let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
                let what = format!("{name} {cpu} {}", os.system().name);
                let again = asm::assemble(&listing, &options)
                    .unwrap_or_else(|list| panic!("{}", asm::render(&list[..1], name, &listing, false)));
                assert!(again == object.bytes(), "{what}: `as` of the listing");
                if llvm {
                    assert!(by_llvm(&listing, cpu, os) == object.bytes(), "{what}: llvm-mc of the listing");
                }
            }
        }
    }
}

fn by_llvm(listing: &str, cpu: &str, os: Os) -> Vec<u8> {
    let triple = format!("-triple={}", os.system().triple);
    let mut command = support::Tool::new("llvm-mc-19");
    command.args([&triple, "-filetype=obj", "-o", "-", &format!("-mcpu={cpu}")]);
    let output = command.input(listing).output().expect("the tool starts");
    assert!(output.status.success(), "{}\n{listing}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns the number of user SGPRs that hold these inputs.
fn set_size(inputs: &[isa::AbiInput]) -> u32 {
    let mut abi = isa::Abi::default();
    inputs.iter().for_each(|&input| abi.request(input));
    abi.user_sgpr_count()
}

/// Returns the table of docs/systems.md: a row for each fact, a column for each system.
fn rows() -> String {
    use isa::system::SYSTEMS;
    use isa::{AbiInput, DataAddress, KernelHeader, LaunchSizes, ScratchSetUp, System};
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let input = |input: &AbiInput| match input {
        AbiInput::PrivateSegmentBuffer => "scratch descriptor",
        AbiInput::DispatchPtr => "dispatch packet",
        AbiInput::QueuePtr => "queue",
        AbiInput::KernargPtr => "arguments",
        AbiInput::DispatchId => "dispatch id",
        AbiInput::FlatScratchInit => "`FLAT_SCRATCH`",
        AbiInput::UserData(0) => "tables and ten dwords of the arguments",
        AbiInput::GroupCounts => "numbers of work-groups",
        _ => "",
    };
    type Cell<'a> = &'a dyn Fn(&System) -> String;
    let facts: [(&str, Cell<'_>); 17] = [
        ("triple", &|s| format!("`{}`", s.triple)),
        ("`EI_OSABI`", &|s| s.os_abi.to_string()),
        ("header of a kernel", &|s| {
            match s.header {
                KernelHeader::Descriptor => "descriptor `.kd`; in V2 `amd_kernel_code_t`",
                KernelHeader::KernelCode => "`amd_kernel_code_t`",
                KernelHeader::Config => "none",
                KernelHeader::Pipeline => "none; metadata of the pipeline",
            }
            .to_owned()
        }),
        ("metadata and versions", &|s| yes(s.has_metadata)),
        ("`.AMDGPU.config`, note with the processor", &|s| yes(s.has_config)),
        ("records of the driver around the object", &|s| yes(s.has_container)),
        ("linked object", &|s| yes(s.is_linked)),
        ("relocations", &|s| if s.has_addends { "`SHT_RELA`" } else { "`SHT_REL`" }.to_owned()),
        ("first argument at byte", &|s| s.arguments_begin.to_string()),
        ("sizes of the launch", &|s| {
            match s.sizes {
                LaunchSizes::Packet => "dispatch packet",
                LaunchSizes::Words => "nine dwords before the arguments",
                LaunchSizes::GroupCounts => "numbers of work-groups in memory",
            }
            .to_owned()
        }),
        ("user SGPRs", &|s| {
            let names = s.user_sgprs.iter().map(input).filter(|name| !name.is_empty());
            names.collect::<Vec<_>>().join(", ")
        }),
        ("sets of user SGPRs (GFX7, GFX8; GFX9)", &|s| {
            let sizes = |has_registers: bool| {
                let sets = s.user_sgpr_sets.iter().filter(|set| set.has_aperture_registers == has_registers);
                sets.map(|set| set_size(set.inputs).to_string()).collect::<Vec<_>>().join(", ")
            };
            if s.user_sgpr_sets.is_empty() {
                "any".to_owned()
            } else {
                format!("{}; {}", sizes(false), sizes(true))
            }
        }),
        ("addresses of variables", &|s| {
            match s.data_address {
                DataAddress::Distance => "distances",
                DataAddress::Relocated => "relocations",
            }
            .to_owned()
        }),
        ("scratch descriptor", &|s| {
            match s.scratch {
                ScratchSetUp::UserSgprs => "user SGPRs",
                ScratchSetUp::Symbols => "`SCRATCH_RSRC_DWORD0`, `1`",
                ScratchSetUp::Table => "global internal table",
            }
            .to_owned()
        }),
        ("calls", &|s| yes(s.has_calls)),
        ("trap handler", &|s| yes(s.has_trap_handler)),
        ("padding after the code (GFX10)", &|s| yes(s.has_code_end)),
    ];
    let line = |name: &str, cell: Cell<'_>| {
        let cells: Vec<String> = SYSTEMS.iter().map(cell).collect();
        format!("| {name} | {} |\n", cells.join(" | "))
    };
    let mut out = line("", &|s| format!("`{}`", s.name));
    out += &format!("|---{}|\n", "|---".repeat(SYSTEMS.len()));
    facts.iter().for_each(|(name, cell)| out += &line(name, *cell));
    out
}

/// `KERNC_BLESS=1` rewrites the table.
#[test]
fn the_page_has_the_rows() {
    const MARKS: [&str; 2] = ["<!-- rows -->\n", "<!-- end of rows -->\n"];
    let path = support::root().join("docs/systems.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let [begin, end] = MARKS.map(|mark| page.find(mark).expect("a mark"));
    let begin = begin + MARKS[0].len();
    if std::env::var_os("KERNC_BLESS").is_some() {
        let new = format!("{}{}{}", &page[..begin], rows(), &page[end..]);
        return std::fs::write(&path, new).expect("the page is written");
    }
    assert_eq!(&page[begin..end], rows(), "run the test with KERNC_BLESS=1");
}

/// What a system lacks is an error that names the lack and the place.
#[test]
fn what_systems_lack() {
    let printing = "#[workgroup_size(64)] kernel k() { printf(\"%d\", 3); }\n";
    let calling = "#[inline(never)]\nfn f(n: u32) -> u32 { return n * 3; }\n\
                   #[workgroup_size(64)]\nkernel k(out: *global u32, n: u32) { out[0] = f(n); }\n";
    for os in SYSTEMS.into_iter().chain([Os::Catalyst]) {
        let error = compile(printing, OptLevel::O2, "gfx803", os).expect_err("refused");
        let name = os.system().name;
        assert!(error.contains("E0111") && error.contains(&format!("the system `{name}` lacks")), "{error}");
        assert!(error.contains("<source>:1"), "{error}");
        let called = compile(calling, OptLevel::O2, "gfx803", os);
        assert_eq!(called.is_ok(), os != Os::Unknown, "{name}: {:?}", called.err());
    }
    let waves = "#[wave_size(64)]\nkernel k(out: *global u32) { out[0] = 1; }\n";
    assert!(compile(waves, OptLevel::O2, "gfx1030", Os::Unknown).is_err());
    assert!(compile(waves, OptLevel::O2, "gfx1030", Os::Mesa3d).is_ok());
}

/// Attributes with which LLVM's kernels ask only for what Mesa's runtime provides.
const FEW_INPUTS: &str = "\"amdgpu-no-dispatch-ptr\" \"amdgpu-no-queue-ptr\" \"amdgpu-no-dispatch-id\" \
                          \"amdgpu-no-implicitarg-ptr\" \"amdgpu-no-flat-scratch-init\"";

/// Compiles a file of `tests/data/systems` with a version of LLVM's compiler.
fn by_llc(version: &str, file: &str, attributes: &str, cpu: &str, os: Os) -> Vec<u8> {
    let path = support::root().join("tests/data/systems").join(file);
    let text = std::fs::read_to_string(path).expect("the file").replace("ATTRIBUTES", attributes);
    let triple = format!("-mtriple={}", os.system().triple);
    let mut command = support::Tool::new(format!("llc-{version}"));
    command.args([&triple, &format!("-mcpu={cpu}"), "-filetype=obj", "-o", "-"]);
    if version == "14" {
        command.args(["-opaque-pointers"]);
    }
    let output = command.input(&text).output().expect("the tool starts");
    assert!(output.status.success(), "{file} {cpu}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Calls `f` with LLVM's object of each file, for both systems of Mesa and each processor.
fn for_each_of_llvm(test: &str, f: impl Fn(&str, &str, Os, &[u8]) + Sync) {
    for version in ["19", "14"] {
        if !have(&[&format!("llc-{version}")], test) {
            continue;
        }
        for os in MESA {
            for file in ["scratch.ll", "shared.ll", "loop.ll", "sizes.ll"] {
                // Mesa's kernels read sizes from the dispatch packet.
                if file == "sizes.ll" && os == Os::Mesa3d {
                    continue;
                }
                PROCESSORS.par_iter().for_each(|cpu| {
                    for attributes in ["", FEW_INPUTS] {
                        let object = by_llc(version, file, attributes, cpu, os);
                        f(&format!("{file} llc-{version} {cpu} {}", os.system().name), file, os, &object);
                    }
                });
            }
        }
    }
}

/// LLVM's kernels run in the emulator with arguments that the object does not describe.
#[test]
fn kernels_of_llvm_run() {
    for_each_of_llvm("kernels_of_llvm_run", |what, file, _, bytes| {
        let mut object = sim::CodeObject::load(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        object.set_parameters("k", "x: *const f32, y: *f32, a: f32").expect("parameters");
        let values: Vec<f32> = (0..192).map(|n| n as f32 + 0.5).collect();
        let bytes = |list: &[f32]| list.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let mut device = sim::Device::with_threads(1);
        let module = device.load(&object).expect("it loads");
        let [x, y] = [0, 1].map(|_| device.alloc(4 * 192).expect("memory"));
        device.write(x, &bytes(&values)).expect("memory");
        let info = object.kernel("k").expect("the kernel");
        let mut kernarg = vec![0; info.kernarg_size as usize];
        let args: Vec<u32> = info.explicit_args().map(|arg| arg.offset).collect();
        let given = [x.to_le_bytes().to_vec(), y.to_le_bytes().to_vec(), 2f32.to_le_bytes().to_vec()];
        for (at, bytes) in args.into_iter().zip(given) {
            kernarg[at as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let dispatch = sim::Dispatch {
            kernel: "k",
            grid: [192, 1, 1],
            group: [64, 1, 1],
            kernarg,
            ..sim::Dispatch::default()
        };
        device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{what}: {fault}"));
        let mut got = vec![0; 4 * 192];
        device.read(y, &mut got).expect("memory");
        let at = |n: usize| if file == "shared.ll" { n / 64 * 64 + 63 - n % 64 } else { n };
        let expected: Vec<f32> = (0..192).map(|n| values[at(n)] * 2.0).collect();
        assert!(got == bytes(&expected), "{what}");
    });
}

/// The disassembler's text of LLVM's objects and of kernc's gives the same files again.
#[test]
fn texts_give_the_same_files() {
    let again = |what: &str, bytes: &[u8]| {
        let object = codeobj::CodeObject::parse(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        let text = codeobj::disasm::disassemble(&object, &codeobj::disasm::Options::default())
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let has_config = text.contains("; COMPUTE_PGM_RSRC1") && text.contains("; COMPUTE_TMPRING_SIZE");
        assert!(has_config || text.contains("(COMPUTE_PGM_RSRC1)': "), "{what}\n{text}");
        let options = asm::Options { kind: asm::Kind::Relocatable, ..asm::Options::default() };
        let made = asm::assemble(&text, &options)
            .unwrap_or_else(|list| panic!("{what}: {}", asm::render(&list[..1], what, &text, false)));
        let first = made.iter().zip(bytes).position(|(a, b)| a != b);
        assert!(made == bytes, "{what}: {} and {} bytes, {first:?}\n{text}", made.len(), bytes.len());
    };
    for_each_of_llvm("texts_give_the_same_files", |what, _, _, bytes| again(what, bytes));
    for os in SYSTEMS {
        for cpu in PROCESSORS {
            let target = Subtarget::by_name(cpu).expect("a processor").with_os(os);
            let options = Options { debug: kernc::DebugInfo::None, ..Options::default() };
            let object = Compiler::new(target).compile(&source("nbody"), &options).expect("compiles");
            again(&format!("nbody {cpu} {}", os.system().name), object.bytes());
        }
    }
}
