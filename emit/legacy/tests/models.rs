//! Binaries of our own, with every record of each format.

use legacy::elf::{Class, Object, Place, Relocation, Section, Segment, Symbol};
use legacy::{gallium, opencl1, opencl2};
use objwriter::kernel_code::{Key, SIZE};

fn leak(bytes: Vec<u8>) -> &'static [u8] {
    bytes.leak()
}

/// Returns the header of a kernel, and code.
pub fn kernel(code: &[u8]) -> Vec<u8> {
    let mut header = [0; SIZE];
    let keys = [
        ("amd_code_version_major", 1),
        ("amd_machine_kind", 1),
        ("kernel_code_entry_byte_offset", 256),
        ("user_sgpr_count", 8),
        ("wavefront_sgpr_count", 24),
        ("workitem_vgpr_count", 4),
        ("is_ptr64", 1),
    ];
    for (name, value) in keys {
        Key::by_name(name).unwrap().set(&mut header, value);
    }
    // The first byte of the directives, which no key covers.
    header[128] = 7;
    [&header[..], code].concat()
}

/// Code: `s_nop 0` for a while, then `s_endpgm`.
pub const CODE: &[u8] = &[0, 0, 0x80, 0xbf, 0, 0, 0x80, 0xbf, 0, 0, 0x81, 0xbf];

fn notes() -> Vec<opencl1::Note<'static>> {
    use opencl1::{Note, UserData};
    let mut pairs = opencl1::user_data_pairs(&[
        UserData { class: 0x17, slot: 0, first: 2, count: 2 },
        UserData { class: 2, slot: 0, first: 4, count: 4 },
    ]);
    pairs.extend([[0x8000_1041, 11], [0x2e13, 0x90], [0x8000_0078, 64], [0x8000_1843, 0x800]]);
    vec![
        Note::Inputs(vec![0, 1]),
        Note::Outputs(vec![]),
        Note::Uavs(vec![[11, 4, 0, 5], [10, 4, 0, 5]]),
        Note::ConditionalOutput(vec![0]),
        Note::FloatConstants(vec![[0, 2]]),
        Note::IntConstants(vec![[1, 3]]),
        Note::BoolConstants(vec![[2, 4]]),
        Note::EarlyExit(vec![1]),
        Note::GlobalBuffers(vec![]),
        Note::ConstantBuffers(vec![[1, 2], [0, 15]]),
        Note::InputSamplers(vec![[0, 1]]),
        Note::ScratchBuffers(vec![12]),
        Note::PersistentBuffers(vec![]),
        Note::ProgramInfo(pairs),
        Note::SubConstantBuffers(vec![]),
        Note::UavMailboxSize(vec![0]),
        Note::UavOperations((0..32).collect()),
        Note::Other(18, b"xyz"),
    ]
}

/// Returns a binary of OpenCL 1.x with two kernels of two encodings each.
pub fn opencl1(class: Class) -> opencl1::Binary<'static> {
    use opencl1::{Binary, Encoding, Global, Header, Inner, Kernel};
    let mut binary =
        Binary::new(class, 0x3fd, b"@(#) OpenCL 1.2 AMD-APP (1348.5).  Driver version: 1348.5 (VM)");
    binary.options = Some(b" -save-temps");
    binary.globals.push(Global::new("0", b"constants of the program"));
    for name in ["first", "second"] {
        let mut inner = Inner::new();
        for machine in [0x19, 0x1a] {
            let mut encoding = Encoding::new(machine, CODE);
            encoding.notes = notes();
            encoding.data = &[5; 64];
            for (index, name) in ["uav11", "uav10"].into_iter().enumerate() {
                encoding.symbols.push(Symbol::local(name, 0, Place::Other(16), index as u64, 0));
            }
            inner.encodings.push(encoding);
        }
        let header = Header::new(8704, Header::PRINTF | Header::WIDE);
        let metadata = b";ARGSTART:__OpenCL_k_kernel\n;ARGEND:__OpenCL_k_kernel\n";
        binary.kernels.push(Kernel::new(name, metadata, header, inner));
    }
    binary.sections.push(Section::new(".llvmir", 0, b"BC"));
    binary
}

/// Returns the arguments that drivers put before those of the source, and one argument of each kind.
pub fn arguments() -> Vec<opencl2::Argument<'static>> {
    use opencl2::{Argument, ArgumentKind as Kind};
    let value = |offset, data| Kind::Value { elements: 1, buffer: 1, offset, data };
    let pointer = |offset, memory, access| Kind::Pointer {
        elements: 1,
        buffer: 1,
        offset,
        resource: 7,
        align: 4,
        data: 8,
        memory,
        access,
        is_volatile: 1,
        is_restrict: 1,
        is_pipe: 0,
    };
    vec![
        Argument::new("_.global_offset_0", "size_t", value(0, 5)),
        Argument::new("_.printf_buffer", "size_t", pointer(48, 4, 1)),
        Argument::new("output", "uint*", pointer(96, 4, 3)),
        Argument::new("s", "sampler_t", Kind::Sampler { id: 0, is_kernel_defined: 0, value: 112 }),
        Argument::new(
            "i",
            "image2d_t",
            Kind::Image { resource: 1, buffer: 1, offset: 128, access: 2, shape: [1, 0xb9, 0x18, 0x73] },
        ),
        Argument::new(
            "c",
            "counter32_t",
            Kind::Counter { is_32_bit: 1, resource: 2, buffer: 1, offset: 160 },
        ),
        Argument::new("m", "semaphore", Kind::Semaphore { resource: 3, buffer: 1, offset: 176 }),
        Argument::new(
            "q",
            "queue_t",
            Kind::Queue { elements: 1, buffer: 1, offset: 192, data: 18, memory: 4 },
        ),
        Argument::new("u", "unknown", Kind::Unknown(9)),
    ]
}

/// Returns the inner file of an OpenCL 2.0 binary: code, data, samplers and relocations.
pub fn inner() -> Object<'static> {
    let mut object = Object::new(Class::Elf64, 1, 0xe0);
    object.os_abi = 64;
    let notes = leak(opencl2::Note::write(&opencl2::Note::of_driver((8, 0, 4), 1)));
    object.add_section(Section { kind: 7, align: 8, ..Section::new(".note", 0, notes) });
    let relocation = |offset, kind, symbol| Relocation { offset, kind, symbol, addend: Some(-8) };
    let global = Section { align: 8, ..Section::new(".hsadata_global_agent", 0x90_0003, &[1; 16]) };
    object.add_section(global);
    let bss = Section {
        kind: 8,
        address: 16,
        size: 24,
        align: 8,
        ..Section::new(".hsabss_global_agent", 0x90_0003, &[])
    };
    object.add_section(bss);
    let readonly = Section {
        align: 8,
        relocations: vec![relocation(8, 4, 3)],
        ..Section::new(".hsadata_readonly_agent", 0xa0_0003, &[2; 24])
    };
    let readonly = object.add_section(readonly);
    let text = leak(kernel(CODE));
    let code = Section {
        align: 256,
        address: 256,
        relocations: vec![relocation(256, 1, 2), relocation(260, 2, 2)],
        ..Section::new(".hsatext", 0xc0_0007, text)
    };
    let code = object.add_section(code);
    let samplers = leak(opencl2::Sampler::write(&[opencl2::Sampler::new(1, 0, 3)]));
    let samplers =
        Section { align: 8, entry_size: 8, ..Section::new(".hsaimage_samplerinit", 0x10, samplers) };
    let samplers = object.add_section(samplers);
    object.symbols.extend([
        opencl2::kernel_symbol("&__OpenCL_k_kernel", code, 0, text.len() as u64),
        Symbol::local("__hsa_section.hsadata_readonly_agent", 3, Place::Section(readonly), 0, 0),
        Symbol::local("", opencl2::SYMBOL_METADATA, Place::Section(samplers), 0, 0),
    ]);
    let segment = |kind, flags, align, first, count| Segment { kind, flags, align, first, count };
    object.segments = vec![
        segment(0x6000_0001, 6, 8, 1, 2),
        segment(0x6000_0002, 6, 8, 3, 1),
        segment(0x6000_0003, 5, 256, 4, 1),
    ];
    object
}

/// Returns a binary of OpenCL 2.0 of a revision of the kernels' records.
pub fn opencl2(class: Class, revision: opencl2::Revision) -> opencl2::Binary<'static> {
    use opencl2::{Binary, Code, Kernel, Metadata, OldKernel, PrintfFormat, Revision};
    let mut binary = Binary::new(class, 18);
    binary.options = Some(b"-cl-std=CL2.0");
    let mut metadata = Metadata::new(0, if revision == Revision::New { "GFX8" } else { "generic" });
    metadata.revision = revision;
    metadata.arguments = arguments();
    metadata.formats = vec![PrintfFormat::new(7, vec![4, 8], b"%d %ld\n")];
    metadata.group_size = [128, 1, 1];
    match revision {
        Revision::Old => (metadata.hidden_arguments, metadata.waves_hint) = (0, 0),
        Revision::Middle => {}
        Revision::New => (metadata.group_size_hint, metadata.vector_hint) = ([12, 11, 3], "int"),
    }
    binary.kernels.push(Kernel::new("k", metadata));
    binary.code = if revision == Revision::Old {
        let stub = leak([&64u32.to_le_bytes()[..], &[3; 60]].concat());
        let bytes = leak(kernel(CODE));
        let mut old = OldKernel::new("k", stub, &bytes[..256], &bytes[256..]);
        old.record = Some(&[9; 20]);
        Code::Kernels(vec![old])
    } else {
        Code::Object(inner())
    };
    binary.sections.push(Section { align: 4, ..Section::new(".brig", 0, b"HSA BRIG") });
    binary
}

/// Returns a container of clover with two kernels.
pub fn gallium(form: gallium::Form, class: Class, has_headers: bool) -> gallium::Container<'static> {
    use gallium::{Argument, Container, Form, Kernel, PrintfFormat};
    let mut object = Object::new(class, 1, if has_headers { 0xe0 } else { 0 });
    object.os_abi = if has_headers { 64 } else { 0 };
    let one = kernel(CODE);
    let text = leak([&one[..], &vec![0; 512 - one.len()], &one].concat());
    let text = object.add_section(Section { align: 256, ..Section::new(".text", 6, text) });
    let pairs = [0xb848u32, 0xac0080, 0xb84c, 0x90, 0xb860, 0, 0xb848, 0xac0041, 0xb84c, 0x90, 0xb860, 0];
    let config = leak(pairs.iter().flat_map(|word| word.to_le_bytes()).collect());
    object.add_section(Section::new(".AMDGPU.config", 0, config));
    let global =
        |name, value| Symbol { binding: 1, ..Symbol::local(name, 0, Place::Section(text), value, 0) };
    // The table is not in the order of the code.
    object.symbols.extend([global("second", 512), global("first", 0)]);
    let mut container = Container::new();
    container.form = form;
    let kinds = if form == Form::First { 0..9 } else { 0..7 };
    for (name, offset) in [("first", 0), ("second", 512)] {
        let mut kernel = Kernel::new(name, 3, offset);
        kernel.arguments = kinds.clone().map(|kind| Argument::new(kind, 8)).collect();
        kernel.arguments[0].sign_extend = 1;
        kernel.arguments[0].semantic = 2;
        if form == Form::Last {
            kernel.attributes = b"__attribute__((reqd_work_group_size(64, 1, 1)))";
            kernel.group_size = vec![64, 1, 1];
        }
        container.kernels.push(kernel);
    }
    let kind = if has_headers { 2 } else { 0 };
    container.sections.push(gallium::Section::code(3, kind, object));
    container.sections.push(gallium::Section::data(4, 3, b"constants"));
    if form == Form::Last {
        container.formats.push(PrintfFormat::new(vec![4, 8], b"%d %ld\0"));
        container.strings_in_buffer = 1;
    }
    container
}

/// Returns every binary of this file by a name.
pub fn all() -> Vec<(String, legacy::Binary<'static>)> {
    use gallium::Form;
    use opencl2::Revision;
    let mut all = Vec::new();
    for class in [Class::Elf32, Class::Elf64] {
        let bits = class.bits();
        all.push((format!("opencl1 {bits}"), legacy::Binary::OpenCl1(opencl1(class))));
        for revision in [Revision::Old, Revision::Middle, Revision::New] {
            let binary = legacy::Binary::OpenCl2(opencl2(class, revision));
            all.push((format!("opencl2 {bits} {revision:?}"), binary));
        }
        for (form, has_headers) in [(Form::First, false), (Form::First, true), (Form::Last, true)] {
            let binary = legacy::Binary::Gallium(gallium(form, class, has_headers));
            all.push((format!("gallium {bits} {form:?} {has_headers}"), binary));
        }
    }
    all
}
