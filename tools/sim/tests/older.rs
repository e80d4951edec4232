//! Objects of older compilers and assemblers, and of several: what their headers and notes leave out.

use sim::{CodeObject, Device, Dispatch, Limits, LoadError};

/// A kernel of code object V2 without metadata; it doubles floats.
const TWICE: &str = include_str!("../../../tests/data/cli/twice_v2.s");

fn assembled(source: &str) -> Vec<u8> {
    asm::assemble(source, &asm::Options::default())
        .unwrap_or_else(|list| panic!("{}", asm::render(&list, "source.s", source, false)))
}

/// With other `e_flags`.
fn with_flags(mut bytes: Vec<u8>, flags: u32) -> Vec<u8> {
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    bytes
}

/// Compilers before LLVM 7 wrote 0 or 2 there: the note names the processor.
#[test]
fn the_processor_of_a_note() {
    for flags in [0, 2] {
        let object = CodeObject::load(&with_flags(assembled(TWICE), flags)).unwrap();
        assert_eq!(object.target().name, "gfx906", "{flags}");
    }
}

/// Without a note it has to be said.
#[test]
fn the_processor_that_is_asked_for() {
    let bytes = with_flags(
        assembled(".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\n.amdhsa_code_object_version 2\ns_endpgm\n"),
        0,
    );
    assert!(matches!(CodeObject::load(&bytes), Err(LoadError::Processor(0))));
    let target = isa::Target::by_name("gfx803");
    assert_eq!(CodeObject::load_for(&bytes, target).unwrap().target().name, "gfx803");
}

#[test]
fn parameters_from_outside() {
    let mut object = CodeObject::load(&assembled(TWICE)).unwrap();
    assert!(object.kernels()[0].untyped);
    assert_eq!(object.set_parameters("once", ""), Err("there is no kernel `once`".to_owned()));
    object.set_parameters("twice", "src: *const f32, dst: *f32").unwrap();
    assert_eq!(
        object.set_parameters("twice", ""),
        Err("the object says what the arguments of twice are".to_owned())
    );
    let kernel = object.kernels()[0].clone();
    let texts = ["iota:4".to_owned(), "zeros:4".to_owned()];
    let values = sim::args::bind(&kernel, &[], &texts, sim::Conversion::Refuse).unwrap();
    let mut device = Device::with_threads(1);
    let placed = sim::args::Placed::new(&mut device, &kernel, &values).unwrap();
    let module = device.load(&object).unwrap();
    let dispatch = Dispatch {
        kernel: "twice",
        grid: [4, 1, 1],
        group: [4, 1, 1],
        kernarg: placed.kernarg.clone(),
        limits: Limits { instructions: 1000, stack: 0 },
        ..Dispatch::default()
    };
    device.run(module, &dispatch).unwrap();
    let buffer = placed.read(&device, 1).unwrap().unwrap();
    let floats: Vec<f32> = buffer
        .bytes
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    assert_eq!(floats, [0.0, 2.0, 4.0, 6.0]);
}

/// Kernels of every note, and one that no note knows.
#[test]
fn kernels_of_several_notes() {
    let kernel = |name: &str| {
        format!(
            ".text\n.globl {name}\n.p2align 8\n.type {name},@function\n{name}:\ns_endpgm\n.size {name}, .-{name}\n.rodata\n.p2align 6\n\
             .amdhsa_kernel {name}\n.amdhsa_next_free_vgpr 1\n.amdhsa_next_free_sgpr 1\n.end_amdhsa_kernel\n"
        )
    };
    let note = |name: &str| {
        format!(
            ".amdgpu_metadata\n---\namdhsa.version: [ 1, 1 ]\namdhsa.kernels:\n  - .name: {name}\n    .symbol: {name}.kd\n    .wavefront_size: 64\n\
             {}...\n.end_amdgpu_metadata\n",
            [
                "kernarg_segment_size",
                "group_segment_fixed_size",
                "private_segment_fixed_size",
                "kernarg_segment_align",
                "sgpr_count",
                "vgpr_count",
                "max_flat_workgroup_size",
            ]
            .map(|key| format!("    .{key}: 8\n"))
            .concat()
        )
    };
    let source = ["one", "two", "three"].map(kernel).concat() + &note("two") + &note("one");
    let source = format!(".amdgcn_target \"amdgcn-amd-amdhsa--gfx906\"\n{source}");
    let object = CodeObject::load(&assembled(&source)).unwrap();
    let found: Vec<_> =
        object.kernels().iter().map(|kernel| (kernel.name.as_str(), kernel.untyped)).collect();
    assert_eq!(found, [("two", false), ("one", false), ("three", true)]);
}
