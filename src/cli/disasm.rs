//! `kernc disasm FILE`: the code of a code object, as an assembler would read it.

use super::{Failure, read};
use clap::Args;
use kernc::Target;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct DisasmArgs {
    /// Code object.
    file: PathBuf,
    /// Processor to decode for (default: the file's own).
    #[arg(long, value_name = "GFX")]
    mcpu: Option<String>,
}

const EM_AMDGPU: u16 = 224;

/// Runs the command.
pub fn run(args: DisasmArgs) -> Result<(), Failure> {
    let bytes = read(&args.file)?;
    let bad = |why: &str| Failure::File(format!("{}: {why}", args.file.display()));
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(bytes.as_slice())
        .map_err(|error| bad(&format!("not a readable ELF file: {error}")))?;
    let header = file.elf_header();
    let endian = object::Endianness::Little;
    if header.e_machine.get(endian).0 != EM_AMDGPU {
        return Err(bad("not an AMD GPU code object"));
    }
    let target = match &args.mcpu {
        Some(name) => Target::by_name(name).ok_or_else(|| {
            Failure::Usage(format!("unknown processor `{name}`; `kernc targets` lists them"))
        })?,
        None => Target::by_elf_mach(header.e_flags.get(endian).0)
            .ok_or_else(|| bad("a processor that kernc does not know; try `--mcpu`"))?,
    };
    let mut symbols: Vec<(u64, u64, &str)> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?)))
        .collect();
    symbols.sort_unstable();
    let text = file.section_by_name(".text").ok_or_else(|| bad("no section .text"))?;
    let data = text.data().map_err(|error| bad(&error.to_string()))?;
    let mut out = format!("\t.amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n", target.name);
    for (address, size, name) in symbols {
        let start = address.wrapping_sub(text.address());
        let range = usize::try_from(start).ok().zip(usize::try_from(start.wrapping_add(size)).ok());
        let Some(code) = range.and_then(|(start, end)| data.get(start..end)) else {
            return Err(bad(&format!("symbol {name} lies outside of .text")));
        };
        let _ = writeln!(out, "{name}:");
        listing(target, address, code, &mut out);
    }
    super::write("-".as_ref(), out.as_bytes())
}

/// Words that are no instruction appear as `.long`.
fn listing(target: &Target, mut address: u64, code: &[u8], out: &mut String) {
    let words: Vec<u32> =
        code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let mut rest = words.as_slice();
    let mut text = String::new();
    while let Some(&word) = rest.first() {
        text.clear();
        let length = match isa::decode(target, rest) {
            Ok((inst, length)) => {
                isa::write_inst(target, &inst, None, &mut text);
                length
            }
            Err(_) => {
                let _ = write!(text, ".long {word:#010x}");
                1
            }
        };
        let raw: Vec<String> = rest[..length].iter().map(|word| format!("{word:08X}")).collect();
        let _ = writeln!(out, "\t{text:<60}// {address:012X}: {}", raw.join(" "));
        rest = &rest[length..];
        address += length as u64 * 4;
    }
}
