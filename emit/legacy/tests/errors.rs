//! Files that break a rule: the error has the offset and the rule.

use crate::models;
use crate::round_trip::replace;
use legacy::elf::{Class, Object, Place, Relocation, Section, Symbol};
use legacy::opencl2::Revision;
use legacy::{gallium, opencl2};

fn error(bytes: &[u8]) -> String {
    match legacy::read(bytes) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn fails(bytes: &[u8], expected: &str) {
    let error = error(bytes);
    assert!(error.contains(expected), "{error}");
}

fn find(bytes: &[u8], part: &[u8]) -> usize {
    (0..bytes.len()).find(|&at| bytes[at..].starts_with(part)).unwrap()
}

#[test]
fn files_of_other_formats_are_refused() {
    fails(b"", "offset 0x0: the file is neither a binary of AMD's OpenCL drivers nor of clover");
    fails(b"\x7fELF", "neither");
    fails(&[0; 100], "neither");
    // A code object of ROCm.
    let mut object = Object::new(Class::Elf64, 3, 0xe0);
    object.os_abi = 64;
    fails(&object.write(), "neither");
}

#[test]
fn elf_files_must_be_whole() {
    let whole = models::opencl2(Class::Elf64, Revision::New).write();
    let sections_at = u64::from_le_bytes(whole[40..48].try_into().unwrap());
    fails(&whole[..sections_at as usize], "the table of section headers has");
    fails(&whole[..40], "the ELF header has");
    let change = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        error(&bytes)
    };
    assert_eq!(change(5, 2), "offset 0x5: the file is not little-endian");
    assert_eq!(change(6, 9), "offset 0x6: the version of an ELF file is 1");
    assert!(change(58, 63).contains("an entry of the table of section headers has 63 bytes, not 64"));
    assert!(change(62, 200).contains("the section of section names has number 200"));
}

#[test]
fn records_must_keep_their_rules() {
    let whole = models::opencl2(Class::Elf64, Revision::New).write();
    let record = find(&whole, &[0x10, 1, 0, 0, 0, 0, 0, 0]);
    let change = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[record + at] = value;
        error(&bytes)
    };
    let place = |at: usize| format!("offset {:#x}: ", record + at);
    let expected =
        place(0) + "the structure of a kernel's record has 0x111 bytes; known sizes are 0xd8, 0xe0, 0x110";
    assert_eq!(change(0, 0x11), expected);
    assert!(change(8, 0).starts_with(&(place(0) + "the record says that it has")));
    assert!(change(167, 0x80).contains("structures of arguments do not fit"));
    // The number of arguments is one less: the table then ends with an argument that is not empty.
    assert!(change(160, 8).contains("the table of arguments ends with an empty argument"));
    let first = 0x110 + 22 + 5 + 4;
    assert_eq!(change(first, 87), place(first) + "an argument has 88 bytes, not 87");
    // The name of the first argument gets longer.
    assert!(change(first + 8, 200).contains("does not end with a NUL"));
}

#[test]
fn cal_notes_must_keep_their_rules() {
    let whole = models::opencl1(Class::Elf32).write();
    let name = find(&whole, b"ATI CAL\0");
    let change = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        error(&bytes)
    };
    assert_eq!(change(name, b'X'), format!("offset {name:#x}: the name of a CAL note is `ATI CAL`"));
    assert_eq!(
        change(name - 12, 9),
        format!("offset {:#x}: the name of a CAL note has 8 bytes, not 9", name - 12)
    );
    assert!(change(name - 8, 7).contains("which is not a multiple of 4"));
    assert!(change(name - 4, 16).contains("not a multiple of its entries' 16"));
    assert!(change(name - 6, 1).contains("the contents of a CAL note has"));
    // The machine of the inner file.
    let inner = name - 12 - 0x2b4;
    assert_eq!(whole[inner..inner + 4], *b"\x7fELF");
    assert!(change(inner + 18, 1).contains("the inner file of a kernel is ELF32 for machine 0x7d"));
    // The dictionary's first entry starts later, and then ends earlier.
    assert!(change(inner + 0xdc, 0xb8).contains("two encodings overlap"));
    assert!(change(inner + 0xe0, 0).contains("the segment is in no encoding of the dictionary"));
}

/// Records that would be copied must not share bytes, so that a small file has no large model.
#[test]
fn records_must_not_overlap() {
    let mut binary = models::opencl2(Class::Elf64, Revision::New);
    let second = opencl2::Kernel::new("l", binary.kernels[0].metadata.clone());
    binary.kernels.push(second);
    let whole = binary.write();
    let file = object::File::parse(&*whole).unwrap();
    use object::{Object as _, ObjectSymbol as _};
    let size = file.symbol_by_name("__OpenCL_&__OpenCL_l_kernel_metadata").unwrap().size();
    // The second symbol: section 5, value `size`, size `size`. Its value becomes 0.
    let symbol =
        [5u16.to_le_bytes().to_vec(), size.to_le_bytes().to_vec(), size.to_le_bytes().to_vec()].concat();
    let mut changed = symbol.clone();
    changed[2..10].fill(0);
    let mut bytes = whole.clone();
    replace(&mut bytes, &symbol, &changed);
    fails(&bytes, "the contents of two symbols overlap");
}

#[test]
fn inner_files_must_keep_their_rules() {
    let with = |change: &dyn Fn(&mut Object)| {
        let mut binary = models::opencl2(Class::Elf64, Revision::New);
        let opencl2::Code::Object(object) = &mut binary.code else { panic!() };
        change(object);
        error(&binary.write())
    };
    let relocation = Relocation { offset: 0, kind: 1, symbol: 99, addend: Some(0) };
    assert!(with(&|object| object.sections[4].relocations.push(relocation)).contains("names symbol 99 of 4"));
    assert!(
        with(&|object| object.symbols[1].size = 100)
            .contains("the header of a kernel (amd_kernel_code_t) has")
    );
    assert!(with(&|object| object.symbols[1].size = 4000).contains("the kernel of a symbol has 4000 bytes"));
    assert!(with(&|object| object.sections[5].data = &[0; 7]).contains("not a multiple of 8 bytes"));
    assert!(with(&|object| object.sections[0].data = &[200; 16]).contains("the name of a note has"));
    let entry = models::kernel(&[]);
    let entry: &'static [u8] = [&entry[..17], &[9], &entry[18..]].concat().leak();
    let with_entry = with(&|object| {
        object.sections[4].data = entry;
        object.sections[4].relocations.clear();
        object.symbols[1].size = 256;
    });
    assert!(with_entry.contains("the entry 0x900 is not within the kernel's bytes"), "{with_entry}");
}

#[test]
fn containers_must_keep_their_rules() {
    let with = |change: &dyn Fn(&mut gallium::Container)| {
        let mut container = models::gallium(gallium::Form::First, Class::Elf64, true);
        change(&mut container);
        error(&container.write())
    };
    assert!(
        with(&|container| container.kernels[0].section = 4)
            .contains("is in section 4, which has no ELF file")
    );
    assert!(
        with(&|container| container.kernels[1].offset = 9999)
            .contains("kernel `second` is not within `.text`")
    );
    assert!(
        with(&|container| {
            let gallium::Contents::Object(object) = &mut container.sections[0].contents else { panic!() };
            object.symbols.pop();
            object.symbols.push(Symbol::local("local", 0, Place::Section(0), 0, 0));
            object.sections[1] = Section::new(".AMDGPU.config", 0, &[0; 12]);
        })
        .contains("`.AMDGPU.config` has 3 words, which 1 kernels cannot share")
    );
    let whole = models::gallium(gallium::Form::First, Class::Elf32, false).write();
    fails(&[&whole[..], &[0]].concat(), "the file does not end after the last record");
    for size in 1..whole.len() {
        assert!(error(&whole[..size]).starts_with("offset "), "{size} bytes");
    }
    let mut bytes = whole.clone();
    bytes[3] = 0x40;
    fails(&bytes, "offset 0x0: the file is too short for 1073741826 kernels");
}
