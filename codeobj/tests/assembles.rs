//! There and back with kernc's own tools: what `disasm` writes, `as` turns into the same code, data and notes.

#![allow(missing_docs)]

mod common;

use codeobj::{CodeObject, disasm, elf::Symbol};
use common::{RECORDED, clang, have, kernels, scratch, section};

/// What differs between an object and the one that the assembler makes of its text.
fn round_trip(bytes: &[u8]) -> Result<(), String> {
    let object = CodeObject::parse(bytes).unwrap();
    let relocatable = object.header.is_relocatable();
    let text = disasm::disassemble(&object, &disasm::Options { lines: true, ..Default::default() }).unwrap();
    // The text of V2 does not name the processor, only its numbers.
    let identity = codeobj::Identity::of(&object.header);
    let options = asm::Options {
        target: identity.target.filter(|_| identity.version == Some(2)),
        kind: if relocatable { asm::Kind::Relocatable } else { asm::Kind::Loadable },
        wave64: text.contains("+wavefrontsize64"),
        ..asm::Options::default()
    };
    let again = asm::assemble(&text, &options).map_err(|diagnostics| {
        asm::render(&diagnostics[..diagnostics.len().min(3)], "listing", &text, false)
    })?;
    let again = CodeObject::parse(&again).unwrap();
    for name in [".text", ".rodata", ".note"] {
        let (old, new) = (section(&object, name), section(&again, name));
        if old.len() != new.len() {
            return Err(format!("{name} has {} bytes instead of {}", new.len(), old.len()));
        }
        let differing = old.iter().zip(new).position(|(old, new)| old != new);
        if let Some(at) = differing.filter(|&at| relocatable || !is_layout(&object, name, at)) {
            return Err(format!("{name} differs at {at:#x}"));
        }
    }
    let header =
        |object: &CodeObject<'_>| (object.header.flags, object.header.os_abi, object.header.abi_version);
    if header(&object) != header(&again) {
        return Err(format!("{:?} became {:?}", header(&object), header(&again)));
    }
    let (old, new) = (symbols(&object), symbols(&again));
    if old != new {
        return Err(format!("symbols {old:?} became {new:?}"));
    }
    Ok(())
}

/// Where descriptors say how far the code is away, the assembler's layout of a loadable file may differ from a linker's.
fn is_layout(object: &CodeObject<'_>, name: &str, at: usize) -> bool {
    let Some(rodata) = object.section(".rodata").filter(|_| name == ".rodata") else { return false };
    object.descriptors().any(|descriptor| {
        let offset = (descriptor.address - rodata.address) as usize;
        (offset + 16..offset + 24).contains(&at)
    })
}

/// The global symbols, by name and properties. Values of loadable files depend on the layout.
fn symbols(object: &CodeObject<'_>) -> Vec<(String, u64, u64, u8, u8, u8)> {
    let is_global = |symbol: &&Symbol<'_>| symbol.binding != 0;
    let value = |symbol: &Symbol<'_>| if object.header.is_relocatable() { symbol.value } else { 0 };
    let mut symbols: Vec<_> = object
        .symbols()
        .iter()
        .filter(is_global)
        .map(|symbol| {
            let name = symbol.name.to_owned();
            (name, value(symbol), symbol.size, symbol.kind, symbol.binding, symbol.visibility)
        })
        .collect();
    symbols.sort();
    symbols
}

#[test]
fn recorded_objects() {
    for (name, bytes) in RECORDED {
        round_trip(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// All kernels, processors and versions: `cargo test -p kernc-codeobj --test assembles -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn every_object() {
    let dir = scratch("assembles");
    let (mut count, mut failures) = (0, Vec::new());
    for (llvm, version) in [(19, 4), (19, 5), (19, 6), (14, 2), (14, 3), (14, 4)] {
        if !have(&[&format!("clang-{llvm}"), "ld.lld-19"], &format!("V{version} of LLVM {llvm}")) {
            continue;
        }
        for target in &isa::target::PROCESSORS {
            for kernel in kernels() {
                for made in clang(llvm, &kernel, target.name, version, &dir).into_iter().flatten() {
                    count += 1;
                    if let Err(error) = round_trip(&made.bytes()) {
                        failures.push(format!("{}: {error}", made.name()));
                    }
                }
            }
        }
        println!("V{version} of LLVM {llvm}: {count} objects so far, {} failures", failures.len());
    }
    failures.iter().take(10).for_each(|failure| println!("{failure}"));
    assert!(failures.is_empty() && count > 0);
}
