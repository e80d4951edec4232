//! Foreign tools and foreign code for the tests.
#![allow(dead_code)] // each test file uses its part

pub mod build;
pub mod pairs;

use isa::{Decoder, Target};
use memmodel::cfg::{self, Decoded};
use mir::MachFunc;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::path::Path;
use support::Tool;

/// Decodes words that begin at an address.
pub fn decode(target: &Target, words: &[u32], address: u64) -> Vec<Decoded> {
    let decoder = Decoder::new(target).unwrap();
    let mut code = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (inst, size) = decoder.decode(&words[at..]).unwrap_or_else(|error| {
            panic!("word {at} ({:#x?}): {error}", &words[at..words.len().min(at + 3)])
        });
        code.push(Decoded { address: address + 4 * at as u64, size: 4 * size as u32, inst });
        at += size;
    }
    code
}

/// Every function of an object as (name, code).
pub fn functions(target: &Target, object: &[u8]) -> Vec<(String, MachFunc)> {
    let file = object::File::parse(object).unwrap();
    let text = file.section_by_name(".text").unwrap();
    let bytes = text.data().unwrap();
    let mut functions = Vec::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() != 0) {
        let start = (symbol.address() - text.address()) as usize;
        let words: Vec<u32> = bytes[start..start + symbol.size() as usize]
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let code = decode(target, &words, symbol.address());
        functions.push((symbol.name().unwrap().to_owned(), cfg::build(&code)));
    }
    functions
}

/// A program of a foreign tool chain, if it is installed.
pub fn tool(name: &str) -> Option<Tool> {
    support::is_there(name).then(|| Tool::new(name))
}

/// The objects of a directory, in order of name.
pub fn objects(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "co" || ext == "o"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into(), std::fs::read(path).unwrap()))
        .collect()
}
