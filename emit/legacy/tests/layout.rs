//! Numbers of drivers' binaries: what the writer makes has the same sizes and places.
//!
//! The binaries are public: Multi2Sim's `m2s-bench-amdsdk-2.5-src` and ethminer's `libethash-cl/kernels/bin`.
//! Their bytes are not part of the project.

use crate::models;
use legacy::elf::Class;
use legacy::{Binary, Field, opencl1, opencl2};
use opencl2::{Argument, ArgumentKind, Kernel, Metadata, Note, Revision};

fn value(fields: &[Field], name: &str) -> String {
    let found: Vec<_> = fields.iter().filter(|field| field.0 == name).map(|field| field.1.clone()).collect();
    assert_eq!(found.len(), 1, "{name} in {fields:?}");
    found[0].clone()
}

/// `FFT_Kernels.bin` has two encodings. Its dictionary is at 0xd4, its section headers are at 292, and the
/// notes of the first encoding at 0x2b4.
#[test]
fn inner_files_have_the_layout_of_drivers() {
    let binary = models::opencl1(Class::Elf32);
    let inner = binary.kernels[0].inner.as_ref().unwrap().write();
    let word = |at: usize| u32::from_le_bytes(inner[at..at + 4].try_into().unwrap());
    assert_eq!(inner[..9], *b"\x7fELF\x01\x01\x01\x64\x01");
    assert_eq!((word(16), word(28), word(32), word(36)), (0x7d_0002, 52, 292, 1));
    // The dictionary: type 0x70000002, 40 bytes at 0xd4.
    assert_eq!((word(52), word(56), word(68), word(72)), (0x7000_0002, 0xd4, 0x28, 0));
    // The first entry: machine 25, type 4, at 0x2b4.
    assert_eq!((word(0xd4), word(0xd8), word(0xdc)), (25, 4, 0x2b4));
    // The first note: name of 8 bytes.
    assert_eq!((word(0x2b4), inner[0x2c0..0x2c8].to_vec()), (8, b"ATI CAL\0".to_vec()));
}

/// The kernel `search` of ethminer's binaries has 13 arguments. The record has 1,828 bytes.
#[test]
fn records_have_the_size_of_drivers() {
    let names = [
        ("_.global_offset_0", "size_t"),
        ("_.global_offset_1", "size_t"),
        ("_.global_offset_2", "size_t"),
        ("_.printf_buffer", "size_t"),
        ("_.vqueue_pointer", "size_t"),
        ("_.aqlwrap_pointer", "size_t"),
        ("output", "uint*"),
        ("header", "uint2*"),
        ("dag0", "ulong8*"),
        ("dag1", "ulong8*"),
        ("dag_size", "uint"),
        ("start_nonce", "ulong"),
        ("target", "ulong"),
    ];
    let kind = ArgumentKind::Value { elements: 1, buffer: 1, offset: 0, data: 5 };
    let mut metadata = Metadata::new(0, "generic");
    metadata.arguments = names.map(|(name, type_name)| Argument::new(name, type_name, kind)).to_vec();
    let mut binary = opencl2::Binary::new(Class::Elf64, 9);
    binary.kernels.push(Kernel::new("search", metadata));
    let written = binary.write();
    let file = object::File::parse(&*written).unwrap();
    use object::{Object as _, ObjectSymbol as _};
    let symbol = file.symbol_by_name("__OpenCL_&__OpenCL_search_kernel_metadata").unwrap();
    assert_eq!(symbol.size(), 1828);
}

/// Structures of 0xd8, 0xe0 and 0x110 bytes with 64 bits; of 0x88, 0x90 and 0xa4 with 32 bits. Without
/// arguments the names, an empty argument and an empty format of `printf` follow.
#[test]
fn records_of_each_revision_have_their_sizes() {
    let sizes = [(Class::Elf32, [0x88, 0x90, 0xa4], 64 + 24), (Class::Elf64, [0xd8, 0xe0, 0x110], 88 + 48)];
    for (class, structures, ends) in sizes {
        for (revision, structure) in
            [Revision::Old, Revision::Middle, Revision::New].into_iter().zip(structures)
        {
            let mut metadata = Metadata::new(0, "generic");
            metadata.revision = revision;
            let mut binary = opencl2::Binary::new(class, 9);
            binary.kernels.push(Kernel::new("k", metadata));
            let written = binary.write();
            let file = object::File::parse(&*written).unwrap();
            use object::{Object as _, ObjectSection as _};
            let rodata = file.section_by_name(".rodata").unwrap().data().unwrap();
            let hint = usize::from(revision == Revision::New);
            assert_eq!(rodata.len(), structure + 22 + 8 + hint + ends, "{class:?} {revision:?}");
            assert_eq!(usize::from(rodata[0]) + 256 * usize::from(rodata[1]), structure);
        }
    }
}

/// The notes of ethminer's binaries have 200 bytes, and the ISA's note has 26.
#[test]
fn notes_have_the_size_of_drivers() {
    let notes = Note::write(&Note::of_driver((8, 0, 4), 1));
    assert_eq!(notes.len(), 200);
    // 12 bytes of the header, 4 of the name: notes of 8 and 11 bytes come before the ISA's.
    assert_eq!(notes[24 + 28..][..12], [4, 0, 0, 0, 26, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(notes[24 + 28 + 16..][..4], [4, 0, 7, 0]);
}

/// Fields of a file say what its records say.
#[test]
fn fields_name_what_is_in_a_binary() {
    let binary = models::opencl1(Class::Elf64);
    let fields = binary.fields();
    assert_eq!(value(&fields, "device"), "1021 (tahiti)");
    assert_eq!(value(&fields, "driver version"), "1348.5");
    let encoding = &binary.kernels[0].inner.as_ref().unwrap().encodings[1];
    assert_eq!(value(&encoding.fields(), "machine"), "26 (tahiti)");
    let data = encoding.user_data();
    assert_eq!(data.len(), 2);
    assert_eq!(value(&data[0].fields(), "class"), "23 (PTR_UAV_TABLE)");
    assert_eq!(value(&data[1].fields(), "first register"), "s4");
    let fields: Vec<Field> = encoding.notes.iter().flat_map(|note| note.fields()).collect();
    assert_eq!(value(&fields, "AMU_ABI_SI_NUM_VGPRS"), "0xb");
    assert_eq!(value(&fields, "COMPUTE_PGM_RSRC2.USER_SGPR"), "8");
    assert_eq!(value(&fields, "AMU_ABI_UAV_RESOURCE_MASK_0"), "0x800");
    assert_eq!(value(&fields, "ATI_SCRATCH_BUFFERS"), "0xc");
    assert_eq!(value(&fields, "ATI_OUTPUTS"), "empty");
    assert_eq!(value(&fields, "note of type 18"), "78797a");
    let header = binary.kernels[0].header.as_ref().unwrap().fields();
    assert_eq!(value(&header, "header flags"), "0xa (printf 64-bit)");

    let binary = models::opencl2(Class::Elf64, Revision::New);
    let fields = binary.fields();
    assert_eq!(value(&fields, "instruction set"), "8.0.4");
    // The record names the generation, so the driver is 2236 or later. For some of these, 18 is gfx804.
    assert_eq!(value(&fields, "device for driver 2580"), "ellesmere");
    assert_eq!(value(&fields, "device for driver 2236"), "gfx804");
    let fields = binary.kernels[0].metadata.fields();
    assert_eq!(value(&fields, "capabilities"), "0x20 (RT_64BIT_ABI)");
    let arguments: Vec<_> = binary.kernels[0].metadata.arguments.iter().map(Argument::fields).collect();
    assert_eq!(value(&arguments[2], "memory"), "4 (UAV)");
    assert_eq!(value(&arguments[2], "access"), "3 (read and write)");
    assert_eq!(value(&arguments[7], "data"), "18 (opaque)");
    assert_eq!(value(&arguments[8], "kind"), "9 (unknown)");
    let kernels = binary.code.kernels().unwrap();
    assert_eq!((kernels.len(), kernels[0].name, kernels[0].code), (1, "k", models::CODE));
    let header = kernels[0].header.fields();
    assert_eq!(value(&header, "wavefront_sgpr_count"), "24");
    assert!(value(&header, "control_directives").starts_with("0700"));
    assert_eq!(value(&binary.code.samplers().unwrap()[0].fields(), "addressing"), "3 (repeat)");
    assert_eq!(binary.code.readonly_data(), Some(&[2; 24][..]));
    assert_eq!(binary.code.global_data(), Some(&[1; 16][..]));

    let binary = models::opencl2(Class::Elf64, Revision::Old);
    let opencl2::Code::Kernels(kernels) = &binary.code else { panic!() };
    assert_eq!(value(&kernels[0].fields(), "stub offset of the header"), "0x40");
    assert_eq!(kernels[0].header().unwrap().entry(), 256);
}

/// Pairs of `.AMDGPU.config` belong to the kernels in the order of the code.
#[test]
fn configurations_belong_to_kernels() {
    let container = models::gallium(legacy::gallium::Form::First, Class::Elf64, true);
    let configs = container.configs().unwrap();
    assert_eq!((configs[0].kernel, configs[1].kernel), ("first", "second"));
    assert_eq!(value(&configs[1].fields(), "COMPUTE_PGM_RSRC1"), "0xac0041");
    assert_eq!(value(&configs[1].fields(), "COMPUTE_PGM_RSRC1.VGPRS"), "1");
    assert_eq!(value(&configs[1].fields(), "COMPUTE_PGM_RSRC1.SGPRS"), "1");
    assert_eq!(value(&configs[0].fields(), "COMPUTE_PGM_RSRC1.FLOAT_MODE"), "192");
    let header = container.header(&container.kernels[1]).unwrap().unwrap();
    assert_eq!(header.get("user_sgpr_count"), Some(8));
    assert_eq!(container.section_type_name(2), Some("executable text"));
    let old = models::gallium(legacy::gallium::Form::First, Class::Elf32, false);
    assert_eq!(old.section_type_name(0), Some("text"));
    assert_eq!(old.header(&old.kernels[0]).unwrap(), None);
    assert_eq!(value(&old.kernels[0].arguments[8].fields(old.form), "type"), "8 (sampler)");
    assert_eq!(opencl1::device_name(0x40a), Some("tonga"));
    assert!(matches!(legacy::read(&old.write()).unwrap().binary, Binary::Gallium(_)));
}
