//! What is written is read back as the same model, and another reader of ELF files sees the same.

use crate::models;
use legacy::elf::Class;
use legacy::{Binary, opencl1, opencl2};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

#[test]
fn every_model_comes_back_the_same() {
    let all = models::all();
    assert_eq!(all.len(), 14);
    for (name, binary) in all {
        let written = binary.write();
        let read = legacy::read(&written).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(read.binary == binary, "{name}");
        assert_eq!(read.unclaimed, [], "{name}");
        // The second writing gives the same bytes.
        assert!(read.binary.write() == written, "{name}");
    }
}

#[test]
fn a_binary_without_kernels_comes_back_the_same() {
    for class in [Class::Elf32, Class::Elf64] {
        let first = opencl1::Binary::new(class, 0x3fe, b"driver");
        let second = opencl2::Binary::new(class, 6);
        for binary in [Binary::OpenCl1(first), Binary::OpenCl2(second)] {
            let written = binary.write();
            assert_eq!(legacy::read(&written).unwrap().binary, binary);
        }
    }
}

/// A program for the host processor has one ELF file for all kernels.
#[test]
fn a_program_for_the_host_comes_back_the_same() {
    let mut binary = opencl1::Binary::new(Class::Elf64, opencl1::HOST, b"driver");
    binary.host = Some(b"\x7fELF of the host");
    binary.symbols.clear();
    let written = Binary::OpenCl1(binary.clone()).write();
    assert_eq!(legacy::read(&written).unwrap().binary, Binary::OpenCl1(binary));
}

/// Symbols that the formats give no meaning are kept, with their bytes.
#[test]
fn other_symbols_are_kept() {
    let mut names = Vec::new();
    for class in [Class::Elf32, Class::Elf64] {
        let mut binary = models::opencl2(class, opencl2::Revision::New);
        // Give the format's symbols other names, so that they have no meaning.
        let mut written = binary.write();
        replace(&mut written, b"__OpenCL_compiler_options\0", b"__OpenCL_compiler_optionz\0");
        let read = legacy::read(&written).unwrap();
        let Binary::OpenCl2(read) = read.binary else { panic!() };
        let options = binary.options.take().unwrap();
        assert_eq!(read.options, None);
        let extra = &read.symbols[0];
        assert_eq!(
            (extra.symbol.name, extra.section, extra.data),
            ("__OpenCL_compiler_optionz", Some(".comment"), options)
        );
        names.extend(extra.fields());
        let again = read.write();
        assert_eq!(legacy::read(&again).unwrap().binary, Binary::OpenCl2(read));
    }
    assert!(names.contains(&("record section".into(), ".comment".to_owned())));
}

/// Replaces the only place of `from`.
pub fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let places: Vec<_> = (0..=bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert_eq!(places.len(), 1, "{from:?}");
    bytes[places[0]..places[0] + to.len()].copy_from_slice(to);
}

/// The crate `object` finds the same sections, symbols and relocations in the ELF files.
#[test]
fn another_reader_agrees() {
    let inner = models::inner();
    let written = inner.write();
    let file = object::File::parse(&*written).unwrap();
    for section in &inner.sections {
        let other = file.section_by_name(section.name).unwrap();
        assert_eq!(
            (other.data().unwrap(), other.size(), other.align()),
            (section.data, section.size, section.align)
        );
        let relocations: Vec<_> = other
            .relocations()
            .map(|(offset, relocation)| {
                let object::RelocationTarget::Symbol(symbol) = relocation.target() else { panic!() };
                (offset - section.address, symbol.0 as u32, Some(relocation.addend()))
            })
            .collect();
        let expected: Vec<_> = section
            .relocations
            .iter()
            .map(|row| (row.offset - section.address, row.symbol, row.addend))
            .collect();
        assert_eq!(relocations, expected, "{}", section.name);
    }
    let symbols: Vec<_> =
        file.symbols().map(|symbol| (symbol.name().unwrap(), symbol.address(), symbol.size())).collect();
    let expected: Vec<_> =
        inner.symbols.iter().skip(1).map(|symbol| (symbol.name, symbol.value, symbol.size)).collect();
    assert_eq!(symbols, expected);
    // The outer file of each class.
    for class in [Class::Elf32, Class::Elf64] {
        let written = models::opencl1(class).write();
        let file = object::File::parse(&*written).unwrap();
        assert_eq!(file.is_64(), class == Class::Elf64);
        let names: Vec<_> = file.symbols().map(|symbol| symbol.name().unwrap()).collect();
        let expected = [
            "__OpenCL_compile_options",
            "__OpenCL_0_global",
            "__OpenCL_first_metadata",
            "__OpenCL_first_kernel",
            "__OpenCL_first_header",
            "__OpenCL_second_metadata",
            "__OpenCL_second_kernel",
            "__OpenCL_second_header",
        ];
        assert_eq!(names, expected);
        let comment = file.section_by_name(".comment").unwrap().data().unwrap();
        assert!(comment.starts_with(b" -save-temps@(#) OpenCL 1.2"));
    }
}
