//! LLVM's tools as judges: what `inspect` shows is what `llvm-readelf` shows, the code's text is `llvm-objdump`'s, and
//! `llvm-mc` makes the same bytes of it.

#![allow(missing_docs)]

use crate::common::{Made, PROCESSORS, clang, have, in_parallel, kernels, run, scratch, section, tool};
use codeobj::{CodeObject, disasm, names, note};
use std::path::Path;

/// (LLVM, code object version) that the compilers can write.
const VERSIONS: [(u32, u32); 6] = [(19, 4), (19, 5), (19, 6), (14, 2), (14, 3), (14, 4)];

/// Makes objects with the compilers that are there.
fn make(kernels: &[&str], processors: &[&str], versions: &[(u32, u32)], test: &str) -> Vec<Made> {
    let dir = scratch(test);
    let mut made = Vec::new();
    for &(llvm, version) in versions {
        if !have(&[&format!("clang-{llvm}"), "ld.lld-19"], &format!("{test}: V{version} of LLVM {llvm}")) {
            continue;
        }
        for processor in processors {
            for kernel in kernels {
                made.extend(clang(llvm, kernel, processor, version, &dir).into_iter().flatten());
            }
        }
    }
    made
}

/// The listing of an object.
fn listing(bytes: &[u8], raw: bool) -> String {
    let object = CodeObject::parse(bytes).unwrap();
    disasm::disassemble(&object, &disasm::Options { raw, lines: true, ..Default::default() }).unwrap()
}

/// Assembles the listing and compares code, data and notes. What differs.
fn round_trip(made: &Made, dir: &Path) -> Result<(), String> {
    let bytes = made.bytes();
    let text = listing(&bytes, false);
    let wave64 = text.contains("+wavefrontsize64");
    // LLVM 14 takes the version from its command line and does not know the directive.
    let text: String = match made.version {
        3 => text
            .lines()
            .filter(|line| !line.contains(".amdhsa_code_object_version"))
            .fold(String::new(), |text, line| text + line + "\n"),
        _ => text,
    };
    let source = dir.join(format!("{}.s", made.name()));
    let again = dir.join(format!("{}.again", made.name()));
    std::fs::write(&source, text).unwrap();
    let (assembler, mut args) = made.assembler(wave64);
    args.extend([source.to_str().unwrap().to_owned(), "-o".to_owned(), again.to_str().unwrap().to_owned()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    run(assembler, &args)?;
    if made.loadable {
        let linked = dir.join(format!("{}.linked", made.name()));
        run("ld.lld-19", &["-shared", again.to_str().unwrap(), "-o", linked.to_str().unwrap()])?;
        std::fs::rename(&linked, &again).unwrap();
    }
    let again = std::fs::read(&again).unwrap();
    let (old, new) = (CodeObject::parse(&bytes).unwrap(), CodeObject::parse(&again).unwrap());
    for name in [".text", ".rodata", ".note"] {
        if section(&old, name) != section(&new, name) {
            return Err(format!("{name} differs"));
        }
    }
    let symbols = |object: &CodeObject<'_>| {
        let is_kept = |symbol: &&codeobj::elf::Symbol<'_>| symbol.binding != 0;
        let mut symbols: Vec<_> = object
            .symbols()
            .iter()
            .filter(is_kept)
            .map(|symbol| (symbol.name.to_owned(), symbol.value, symbol.size, symbol.kind, symbol.visibility))
            .collect();
        symbols.sort();
        symbols
    };
    if symbols(&old) != symbols(&new) {
        return Err(format!("symbols differ: {:?} {:?}", symbols(&old), symbols(&new)));
    }
    Ok(())
}

/// How many objects come out the same, and what differs in the others.
fn round_trips(made: &[Made], test: &str) -> (usize, Vec<String>) {
    let dir = scratch(test);
    let (mut count, mut failures) = (0, Vec::new());
    for made in made {
        let (assembler, _) = made.assembler(false);
        if !have(&[assembler], test) {
            continue;
        }
        count += 1;
        failures.extend(round_trip(made, &dir).err().map(|error| format!("{}: {error}", made.name())));
    }
    (count, failures)
}

#[test]
fn assembling_the_text_gives_the_object() {
    let test = "round_trip";
    let mut made = make(&["sgemm_lds", "sha256"], &["gfx906"], &VERSIONS, test);
    made.extend(make(&["histogram", "softmax"], PROCESSORS, &[(19, 5), (14, 2)], test));
    let (count, failures) = round_trips(&made, test);
    println!("{count} objects assembled to the same code, data, notes and symbols");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// All kernels, processors and versions:
/// `cargo test -p kernc-codeobj --test codeobj llvm_agrees:: -- --ignored --nocapture`.
#[test]
#[ignore = "takes half an hour"]
fn assembling_the_text_gives_every_object() {
    let test = "every_round_trip";
    let kernels = kernels();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let of_processor = |name: &str| {
        let made = make(&kernels, &[name], &VERSIONS, test);
        let (count, failures) = round_trips(&made, test);
        println!("{name}: {count} objects, {} differ", failures.len());
        (count, failures)
    };
    let names: Vec<&str> = isa::target::PROCESSORS.iter().map(|target| target.name).collect();
    let (mut count, mut failures) = (0, Vec::new());
    for (some, different) in in_parallel(&names, |name| of_processor(name)) {
        count += some;
        failures.extend(different);
    }
    println!("{count} objects, {} differ", failures.len());
    assert!(failures.is_empty(), "{}", failures[..failures.len().min(20)].join("\n"));
}

/// The recorded objects too, whose expected text the other tests compare without LLVM.
#[test]
fn recorded_text_gives_the_recorded_object() {
    let test = "recorded_round_trip";
    if !have(&["llvm-mc-14", "llvm-mc-19", "ld.lld-19"], test) {
        return;
    }
    let dir = scratch(test);
    for (name, bytes) in crate::common::RECORDED {
        let mut parts = name.split('.');
        let (_, processor, made_by) = (parts.next(), parts.next().unwrap(), parts.next().unwrap());
        let (llvm, version) = made_by.split_once('v').unwrap();
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        let made = Made {
            path,
            processor: processor.to_owned(),
            version: version.parse().unwrap(),
            llvm: llvm.parse().unwrap(),
            loadable: name.ends_with(".co"),
        };
        round_trip(&made, &dir).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Words of lines that a `llvm-readelf` table has.
fn rows<'a>(text: &'a str, begins: impl Fn(&str) -> bool + 'a) -> Vec<Vec<&'a str>> {
    text.lines().filter(|line| begins(line)).map(|line| line.split_whitespace().collect()).collect()
}

fn agrees_with_readelf(made: &Made) {
    let bytes = made.bytes();
    let object = CodeObject::parse(&bytes).unwrap();
    let path = made.path.to_str().unwrap();
    let readelf = if made.version == 2 { "llvm-readelf-14" } else { "llvm-readelf-19" };
    let name = made.name();

    let header = tool(readelf, &["-h", path]);
    let field = |key: &str| {
        let line = header.lines().find(|line| line.trim_start().starts_with(key)).unwrap();
        line.split_once(':').unwrap().1.trim().to_owned()
    };
    let flags = field("Flags:");
    assert_eq!(
        flags.split(',').next().unwrap(),
        format!("{:#X}", object.header.flags).replace("0X", "0x"),
        "{name}"
    );
    assert_eq!(field("ABI Version:"), object.header.abi_version.to_string(), "{name}");
    assert!(field("Type:").starts_with(&names::file_type(object.header.file_type)), "{name}");
    if let Some(processor) = flags.split(", ").nth(1) {
        assert_eq!(Some(processor), codeobj::Identity::from_header(&object.header).processor(), "{name}");
    }

    let sections = tool(readelf, &["-S", "-W", path]);
    let theirs = rows(&sections, |line| line.trim_start().starts_with('[') && !line.contains("[Nr]"));
    assert_eq!(theirs.len(), object.sections.len(), "{name}");
    for (index, section) in object.sections.iter().enumerate().skip(1) {
        let ours = format!(
            "{} {} {:016x} {:06x} {:06x} {:02x}",
            section.name,
            names::section_type(section.kind),
            section.address,
            section.offset,
            section.size,
            section.entry_size
        );
        let line =
            sections.lines().find(|line| line.trim_start().starts_with(&format!("[{index:2}]"))).unwrap();
        let line = line.split_once(']').unwrap().1.split_whitespace().collect::<Vec<_>>();
        assert_eq!(line[..6].join(" "), ours, "{name}");
        let end = [section.link.to_string(), section.info.to_string(), section.align.to_string()];
        assert_eq!(line[line.len() - 3..], end, "{name} {}", section.name);
    }

    let symbols = tool(readelf, &["-s", "-W", path]);
    let theirs = rows(&symbols, |line| {
        line.trim_start().split(':').next().is_some_and(|number| number.parse::<u32>().is_ok())
    });
    let ours: Vec<_> = object.symbol_tables.iter().flat_map(|table| table.symbols.iter()).collect();
    assert_eq!(theirs.len(), ours.len(), "{name}");
    for (theirs, ours) in theirs.iter().zip(ours) {
        let index = match ours.section {
            0 => "UND".to_owned(),
            0xfff1 => "ABS".to_owned(),
            index => index.to_string(),
        };
        let ours = format!(
            "{:016x} {:>5} {} {} {} {index} {}",
            ours.value,
            ours.size,
            names::symbol_type(ours.kind),
            names::symbol_binding(ours.binding),
            names::symbol_visibility(ours.visibility),
            if names::symbol_type(ours.kind) == "SECTION" {
                object.sections[usize::from(ours.section)].name
            } else {
                ours.name
            }
        );
        assert_eq!(theirs[1..].join(" "), ours.split_whitespace().collect::<Vec<_>>().join(" "), "{name}");
    }

    let relocations = tool(readelf, &["-r", "-W", path]);
    let theirs = rows(&relocations, |line| line.contains("R_AMDGPU_"));
    let ours: Vec<_> = object
        .relocation_tables
        .iter()
        .flat_map(|table| table.records.iter().map(|record| (object.symbols_of(table.symbols), record)))
        .collect();
    assert_eq!(theirs.len(), ours.len(), "{name}");
    for (theirs, (symbols, ours)) in theirs.iter().zip(ours) {
        assert_eq!(theirs[0], format!("{:016x}", ours.offset), "{name}");
        assert_eq!(theirs[2], names::relocation(ours.kind), "{name}");
        let symbol = &symbols[ours.symbol as usize];
        if !symbol.name.is_empty() {
            assert_eq!(theirs[4], symbol.name, "{name}");
        }
        assert_eq!(*theirs.last().unwrap(), format!("{:x}", ours.addend.unsigned_abs()), "{name}");
    }

    metadata_agrees(&object, readelf, path, &name);
}

/// The metadata's text, line for line.
fn metadata_agrees(object: &CodeObject<'_>, readelf: &str, path: &str, name: &str) {
    let theirs = tool(readelf, &["--notes", path]);
    let theirs: Vec<&str> = theirs.lines().skip_while(|line| line.trim() != "---").skip(1).collect();
    let theirs: Vec<&str> = theirs.into_iter().take_while(|line| line.trim() != "...").collect();
    let mut ours = String::new();
    for note in object.notes() {
        match note.meaning() {
            note::Meaning::Metadata(value) => value.write_yaml(0, &mut ours),
            note::Meaning::Yaml(text) => ours.push_str(text),
            note::Meaning::Damaged(why) => panic!("{name}: {why}"),
            _ => {}
        }
    }
    let ours: Vec<&str> = ours.lines().skip(1).take_while(|line| *line != "...").collect();
    assert!(!ours.is_empty(), "{name}");
    assert_eq!(theirs, ours, "{name}");
}

#[test]
fn inspect_shows_what_readelf_shows() {
    let test = "readelf";
    if !have(&["llvm-readelf-19", "llvm-readelf-14"], test) {
        return;
    }
    let mut made = make(&["sgemm_lds", "reduce"], &["gfx906", "gfx1030"], &VERSIONS, test);
    made.extend(make(&["saxpy"], &["gfx600", "gfx803", "gfx90a"], &VERSIONS, test));
    made.iter().for_each(agrees_with_readelf);
    let dir = scratch(test);
    for (name, bytes) in crate::common::RECORDED {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        let version = if name.contains("v2") { 2 } else { 4 };
        agrees_with_readelf(&Made { path, processor: String::new(), version, llvm: 19, loadable: false });
    }
    println!("{} objects agree with llvm-readelf", made.len() + crate::common::RECORDED.len());
}

/// Address and text of each instruction, with branch targets as distances in words.
fn instructions(text: &str, base: u64) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((code, place)) = line.split_once("// ") else { continue };
        let Some(address) = place.split(':').next().and_then(|place| u64::from_str_radix(place, 16).ok())
        else {
            continue;
        };
        // Words with the text that they stand for.
        let code = code.split_once(" ; ").map_or(code, |(_, text)| text).trim();
        let code = match code.split_once(".L_") {
            Some((before, label)) => {
                let target = base + u64::from_str_radix(label, 16).unwrap();
                format!("{before}{}", (target.wrapping_sub(address + 4) / 4) & 0xffff)
            }
            None => code.to_owned(),
        };
        found.push((address, code));
    }
    found
}

#[test]
fn the_text_is_objdumps() {
    let test = "objdump";
    if !have(&["llvm-objdump-19"], test) {
        return;
    }
    let kernels = kernels();
    let kernels: Vec<&str> = kernels.iter().map(String::as_str).collect();
    let (mut count, mut unknown) = (0, 0);
    let mut made = make(&kernels, &["gfx906"], &[(19, 5)], test);
    // LLVM does not disassemble GFX6 and GFX7.
    let is_judged = |name: &&str| !name.starts_with("gfx6") && !name.starts_with("gfx7");
    let others: Vec<&str> = PROCESSORS.iter().copied().filter(is_judged).collect();
    made.extend(make(&["histogram", "softmax"], &others, &[(19, 5)], test));
    for made in made {
        if !made.loadable {
            continue;
        }
        let bytes = made.bytes();
        let object = CodeObject::parse(&bytes).unwrap();
        let base = object.section(".text").unwrap().address;
        let ours = listing(&bytes, true);
        let mut args = vec!["-d", "-z", "-j", ".text", made.path.to_str().unwrap()];
        if ours.contains("+wavefrontsize64") {
            args.push("--mattr=+wavefrontsize64,-wavefrontsize32");
        }
        let theirs = instructions(&tool("llvm-objdump-19", &args), base);
        // Padding has no addresses; instructions have.
        let ours = instructions(&ours, base);
        let mut theirs = theirs.iter();
        for (address, text) in &ours {
            let (_, expected) = theirs.find(|(at, _)| at == address).unwrap();
            count += 1;
            if text.starts_with(".long") {
                unknown += 1;
            } else {
                assert_eq!(text, expected, "{} at {address:#x}", made.name());
            }
        }
    }
    println!("{count} instructions have llvm-objdump's text, {unknown} are not decoded");
    assert!(count > 3000 && unknown * 100 < count, "{count} {unknown}");
}
