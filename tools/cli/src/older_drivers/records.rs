//! Every record of a binary, as the package `legacy` lists its fields.

use super::report::Record;
use amdil::Item;
use legacy::{Binary, Extra, KernelCode, elf, gallium, opencl1, opencl2};

/// Adds the records of a binary.
pub fn add_binary(report: &mut Record, binary: &Binary<'_>) {
    match binary {
        Binary::OpenCl1(binary) => add_opencl1(report, binary),
        Binary::OpenCl2(binary) => add_opencl2(report, binary),
        Binary::Gallium(container) => add_gallium(report, container),
        _ => report.field("format", "unknown"),
    }
}

fn add_opencl1(report: &mut Record, binary: &opencl1::Binary<'_>) {
    report.extend(binary.fields());
    for kernel in &binary.kernels {
        let record = report.add(format!("Kernel {}", kernel.name), kernel.fields());
        if let Some(metadata) = kernel.metadata {
            add_amdil(record, metadata);
        }
        for encoding in kernel.inner.iter().flat_map(|inner| &inner.encodings) {
            add_encoding(record, encoding);
        }
    }
    add_extras(report, &binary.symbols);
}

fn add_encoding(kernel: &mut Record, encoding: &opencl1::Encoding<'_>) {
    let record = kernel.add("Encoding", encoding.fields());
    for note in &encoding.notes {
        record.add(format!("Note {}", note.kind()), note.fields());
    }
    for element in encoding.user_data() {
        record.add("User data", element.fields());
    }
    for symbol in &encoding.symbols {
        record.add("Symbol", symbol.fields());
    }
}

/// Adds the blocks of a metadata text with their arguments, and which rules the text breaks.
fn add_amdil(kernel: &mut Record, text: &[u8]) {
    let metadata = match amdil::parse_bytes(text) {
        Ok(metadata) => metadata,
        Err(errors) => {
            let record = kernel.add("Metadata that cannot be read", Vec::new());
            errors.iter().for_each(|error| record.field("error", error));
            return;
        }
    };
    for item in &metadata.items {
        let Item::Block(block) = item else { continue };
        let record = kernel.add(format!("Metadata of {}", block.name.as_str()), Vec::new());
        if let Some(version) = block.version() {
            record.field("version", version);
        }
        if let Some(id) = block.unique_id() {
            record.field("unique id", id);
        }
        for argument in block.arguments() {
            let argument_record = record.add(format!("Argument {}", argument.name.as_str()), Vec::new());
            argument_record.field("text", argument);
            argument_record.field("constant buffer", argument.place.buffer);
            argument_record.field("offset", argument.place.offset);
        }
    }
    for problem in amdil::verify(&metadata) {
        kernel.field("broken rule", problem);
    }
}

fn add_opencl2(report: &mut Record, binary: &opencl2::Binary<'_>) {
    report.extend(binary.fields());
    for kernel in &binary.kernels {
        let record = report.add(format!("Kernel {}", kernel.name), kernel.metadata.fields());
        for argument in &kernel.metadata.arguments {
            record.add(format!("Argument {}", argument.name), argument.fields());
        }
        for format in &kernel.metadata.formats {
            record.add("Format of printf", format.fields());
        }
    }
    match &binary.code {
        opencl2::Code::Object(object) => add_object(report, object),
        opencl2::Code::Kernels(kernels) => {
            for kernel in kernels {
                let record = report.add(format!("Code of {}", kernel.name), kernel.fields());
                add_header(record, kernel.header());
            }
        }
        _ => report.field("code", "none"),
    }
    if matches!(binary.code, opencl2::Code::Object(_)) {
        or_problem(report, binary.code.kernels(), |report, kernel| {
            let record = report.add(format!("Code of {}", kernel.name), kernel.fields());
            add_header(record, Some(kernel.header));
        });
    }
    or_problem(report, binary.code.notes(), |report, note| {
        report.add("Note", note.fields());
    });
    or_problem(report, binary.code.samplers(), |report, sampler| {
        report.add("Sampler", sampler.fields());
    });
    add_extras(report, &binary.symbols);
}

fn add_gallium(report: &mut Record, container: &gallium::Container<'_>) {
    report.extend(container.fields());
    for kernel in &container.kernels {
        let record = report.add(format!("Kernel {}", kernel.name), kernel.fields());
        for argument in &kernel.arguments {
            record.add("Argument", argument.fields(container.form));
        }
        match container.header(kernel) {
            Ok(header) => add_header(record, header),
            Err(error) => record.field("problem", error),
        }
    }
    for section in &container.sections {
        let mut fields = section.fields();
        let name = container.section_type_name(section.kind).unwrap_or("unknown");
        fields.push(("name of the type".into(), name.to_owned()));
        report.add("Section of the container", fields);
    }
    or_problem(report, container.configs(), |report, config| {
        report.add(format!("Configuration of {}", config.kernel), config.fields());
    });
    for format in &container.formats {
        report.add("Format of printf", format.fields());
    }
    if let Some(object) = container.object() {
        add_object(report, object);
    }
}

/// Adds a record for each item, or a field that says why the items cannot be read.
fn or_problem<T>(report: &mut Record, items: legacy::Result<Vec<T>>, add: impl Fn(&mut Record, T)) {
    match items {
        Ok(items) => items.into_iter().for_each(|item| add(report, item)),
        Err(error) => report.field("problem", error),
    }
}

fn add_header(record: &mut Record, header: Option<KernelCode<'_>>) {
    if let Some(header) = header {
        record.add("amd_kernel_code_t", header.fields());
    }
}

fn add_object(report: &mut Record, object: &elf::Object<'_>) {
    let record = report.add("Inner ELF file", object.fields());
    for segment in &object.segments {
        record.add("Segment", segment.fields());
    }
    for section in &object.sections {
        let section_record = record.add("Section", section.fields());
        for relocation in &section.relocations {
            section_record.add("Relocation", relocation.fields());
        }
    }
    for symbol in object.symbols.iter().skip(1) {
        record.add("Symbol", symbol.fields());
    }
}

fn add_extras(report: &mut Record, symbols: &[Extra<'_>]) {
    for symbol in symbols {
        report.add("Other symbol", symbol.fields());
    }
}
