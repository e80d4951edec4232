//! Reads binaries that drivers made. They are not part of the project: the folder is named by hand.

use legacy::{Binary, Field, opencl1, opencl2};
use std::path::Path;

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn print(indent: usize, fields: Vec<Field>) {
    for (name, value) in fields {
        println!("{:indent$}{name}: {value}", "");
    }
}

fn print_opencl1(binary: &opencl1::Binary) {
    print(0, binary.fields());
    for kernel in &binary.kernels {
        println!("kernel");
        print(2, kernel.fields());
        for encoding in kernel.inner.iter().flat_map(|inner| &inner.encodings) {
            println!("  encoding");
            print(4, encoding.fields());
            for note in &encoding.notes {
                println!("    note {}", note.kind());
                print(6, note.fields());
            }
            for element in encoding.user_data() {
                println!("    user data");
                print(6, element.fields());
            }
            for symbol in &encoding.symbols {
                println!("    symbol");
                print(6, symbol.fields());
            }
        }
    }
    binary.symbols.iter().for_each(|symbol| print(2, symbol.fields()));
}

fn print_opencl2(binary: &opencl2::Binary) {
    print(0, binary.fields());
    for kernel in &binary.kernels {
        println!("kernel {}", kernel.name);
        print(2, kernel.metadata.fields());
        for argument in &kernel.metadata.arguments {
            println!("  argument");
            print(4, argument.fields());
        }
        kernel.metadata.formats.iter().for_each(|format| print(4, format.fields()));
    }
    if let opencl2::Code::Kernels(kernels) = &binary.code {
        for kernel in kernels {
            println!("old kernel {}", kernel.name);
            print(2, kernel.fields());
            print(4, kernel.header().unwrap().fields());
        }
    }
    if let opencl2::Code::Object(object) = &binary.code {
        print(2, object.fields());
        object.segments.iter().for_each(|segment| print(4, segment.fields()));
        for section in &object.sections {
            print(4, section.fields());
            section.relocations.iter().for_each(|relocation| print(6, relocation.fields()));
        }
        object.symbols.iter().for_each(|symbol| print(4, symbol.fields()));
    }
    for kernel in binary.code.kernels().unwrap() {
        println!("code {}", kernel.name);
        print(2, kernel.fields());
        print(4, kernel.header.fields());
    }
    binary.code.notes().unwrap().iter().for_each(|note| print(2, note.fields()));
    binary.code.samplers().unwrap().iter().for_each(|sampler| print(2, sampler.fields()));
    binary.symbols.iter().for_each(|symbol| print(2, symbol.fields()));
}

fn print_gallium(container: &legacy::gallium::Container) {
    print(0, container.fields());
    for kernel in &container.kernels {
        println!("kernel");
        print(2, kernel.fields());
        for argument in &kernel.arguments {
            println!("  argument");
            print(4, argument.fields(container.form));
        }
        if let Some(header) = container.header(kernel).unwrap() {
            print(4, header.fields());
        }
    }
    for config in container.configs().unwrap() {
        println!("config {}", config.kernel);
        print(2, config.fields());
    }
    let object = container.object().unwrap();
    print(2, object.fields());
    object.sections.iter().for_each(|section| print(4, section.fields()));
    object.symbols.iter().for_each(|symbol| print(4, symbol.fields()));
}

/// Every binary of a folder is read, and the model comes back the same after it is written and read again.
///
/// The fields are printed. `KERNC_LEGACY_OUTPUT` names a folder for the files that are written, so that
/// another disassembler can compare these files with those of the driver.
#[test]
#[ignore = "reads the folder that KERNC_LEGACY_BINARIES names"]
fn binaries_of_drivers_round_trip() {
    let folder = std::env::var("KERNC_LEGACY_BINARIES").expect("a folder");
    let output = std::env::var("KERNC_LEGACY_OUTPUT").ok();
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    paths.sort();
    let (mut read, mut failed) = ([0; 3], 0);
    for path in paths {
        let data = std::fs::read(&path).unwrap();
        if legacy::format(&data).is_none() {
            continue;
        }
        println!("=== {}", path.display());
        let first = match legacy::read(&data) {
            Ok(first) => first,
            Err(error) => {
                println!("ERROR {error}");
                failed += 1;
                continue;
            }
        };
        for gap in &first.unclaimed {
            println!("UNCLAIMED {:#x} {}", gap.offset, gap.size);
        }
        match &first.binary {
            Binary::OpenCl1(binary) => print_opencl1(binary),
            Binary::OpenCl2(binary) => print_opencl2(binary),
            Binary::Gallium(container) => print_gallium(container),
            _ => unreachable!(),
        }
        let written = first.binary.write();
        if let Some(output) = &output {
            std::fs::write(Path::new(output).join(path.file_name().unwrap()), &written).unwrap();
        }
        let second = legacy::read(&written).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(first.binary == second.binary, "{}", path.display());
        assert_eq!(second.unclaimed, [], "{}", path.display());
        read[match first.binary {
            Binary::OpenCl1(_) => 0,
            Binary::OpenCl2(_) => 1,
            _ => 2,
        }] += 1;
    }
    println!("read: {read:?} of OpenCL 1.x, OpenCL 2.0, clover; failed: {failed}");
    assert_eq!(failed, 0);
}
