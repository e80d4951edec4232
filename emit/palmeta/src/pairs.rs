//! The older note: pairs of a key and a value, both of 32 bits. Keys below 0x10000000 are register numbers,
//! and the larger keys are facts of the pipeline.
//!
//! # Source
//! LLVM 19, `AMDGPUMetadata.h` (`PALMD::Key`) and `AMDGPUPALMetadata.cpp`; AMD's PAL of 2020,
//! `palPipelineAbi.h` (`PipelineMetadataType`). PAL inserted the hashes of task and mesh shaders later, which
//! moved all keys; LLVM has kept the numbers from before, and so do these tables.

use crate::error::Error;
use crate::register;
use crate::stage::Stage;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Directive of the text form.
pub const DIRECTIVE: &str = ".amd_amdgpu_pal_metadata";

/// First key that is not the number of a register.
pub const FIRST_FACT: u32 = 0x1000_0000;

/// Names of facts that each stage has, and the key of the first stage. The stages follow each other in PAL's
/// order.
static STAGE_FACTS: [(u32, &str); 7] = [
    (0x1000_0021, "NumUsedVgprs"),
    (0x1000_0028, "NumUsedSgprs"),
    (0x1000_002f, "NumAvailableVgprs"),
    (0x1000_0036, "NumAvailableSgprs"),
    (0x1000_003d, "LdsByteSize"),
    (0x1000_0044, "ScratchByteSize"),
    (0x1000_0054, "PerformanceDataBufferSize"),
];

/// Names of facts of the pipeline.
static FACTS: [(u32, &str); 26] = [
    (0x1000_0018, "InternalPipelineHashDword0"),
    (0x1000_0019, "InternalPipelineHashDword1"),
    (0x1000_001a, "UserDataLimit"),
    (0x1000_001c, "HsMaxTessFactor"),
    (0x1000_001d, "PsUsesUavs"),
    (0x1000_001e, "PsUsesRovs"),
    (0x1000_001f, "PsRunsAtSampleRate"),
    (0x1000_0020, "SpillThreshold"),
    (0x1000_004b, "StreamOutTableEntry"),
    (0x1000_004c, "IndirectTableEntry0"),
    (0x1000_004d, "IndirectTableEntry1"),
    (0x1000_004e, "IndirectTableEntry2"),
    (0x1000_004f, "EsGsLdsByteSize"),
    (0x1000_0050, "UsesViewportArrayIndex"),
    (0x1000_0051, "PipelineNameIndex"),
    (0x1000_0052, "ApiHwShaderMappingLo"),
    (0x1000_0053, "ApiHwShaderMappingHi"),
    (0x1000_005b, "CalcWaveBreakSizeAtDrawTime"),
    (0x1000_005c, "Reserved9"),
    (0x1000_005d, "PsWritesUavs"),
    (0x1000_005e, "PsWritesDepth"),
    (0x1000_005f, "PsUsesAppendConsume"),
    (0x1000_0060, "InternalPipelineHashDword2"),
    (0x1000_0061, "InternalPipelineHashDword3"),
    (0x1000_0062, "CsWaveFrontSize"),
    (0x1000_0063, "MeshScratchByteSize"),
];

/// Shaders of the API, in the order of their hashes: four keys each, from [`FIRST_FACT`] on.
static SHADERS: [&str; 6] = ["Cs", "Vs", "Hs", "Ds", "Gs", "Ps"];

/// A key of the older note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// Number of a register.
    Register(u32),
    /// Fact of a stage, with its name.
    Stage(Stage, &'static str),
    /// Fact of the pipeline, with its name.
    Pipeline(&'static str),
    /// Dword of the hash of an API shader: letters of the shader, and index of the dword.
    ShaderHash(&'static str, u32),
    /// Key without a known meaning.
    Unknown(u32),
}

impl Key {
    /// Returns the meaning of a key.
    pub fn from_number(number: u32) -> Key {
        if number < FIRST_FACT {
            return Key::Register(number);
        }
        let hash = number - FIRST_FACT;
        if let Some(&shader) = SHADERS.get((hash / 4) as usize) {
            return Key::ShaderHash(shader, hash % 4);
        }
        let of_stage = STAGE_FACTS.iter().find_map(|&(first, name)| {
            let stage = Stage::ALL.get(number.checked_sub(first)? as usize)?;
            Some(Key::Stage(*stage, name))
        });
        let of_pipeline = || FACTS.iter().find(|fact| fact.0 == number).map(|fact| Key::Pipeline(fact.1));
        of_stage.or_else(of_pipeline).unwrap_or(Key::Unknown(number))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Key::Register(number) => match register::name(number) {
                Some(name) => write!(f, "{name}"),
                None => write!(f, "register {number:#x}"),
            },
            Key::Stage(stage, name) => write!(f, "{}{name}", capitalised(stage.letters())),
            Key::Pipeline(name) => f.write_str(name),
            Key::ShaderHash(shader, dword) => write!(f, "Api{shader}HashDword{dword}"),
            Key::Unknown(number) => write!(f, "unknown {number:#x}"),
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The older note: values by key. As in LLVM, two values of one key are combined with a bitwise "or".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    values: BTreeMap<u32, u32>,
}

impl Pairs {
    /// Returns the value of a key.
    pub fn get(&self, key: u32) -> Option<u32> {
        self.values.get(&key).copied()
    }

    /// Sets bits in the value of a key.
    pub fn set(&mut self, key: u32, value: u32) {
        *self.values.entry(key).or_default() |= value;
    }

    /// Returns the keys and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.values.iter().map(|(&key, &value)| (key, value))
    }

    /// Reads the contents of a note.
    ///
    /// # Errors
    /// The contents are not a whole number of pairs.
    pub fn read(bytes: &[u8]) -> Result<Pairs, Error> {
        let (whole, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Error::at_byte(bytes.len() - rest.len(), "a pair has eight bytes"));
        }
        let mut pairs = Pairs::default();
        for &[a, b, c, d, e, f, g, h] in whole {
            pairs.set(u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        }
        Ok(pairs)
    }

    /// Returns the contents of the note.
    pub fn write(&self) -> Vec<u8> {
        self.iter().flat_map(|(key, value)| [key.to_le_bytes(), value.to_le_bytes()]).flatten().collect()
    }

    /// Returns the operands of the directive [`DIRECTIVE`], such as `0x2e12,0xaf0000`.
    pub fn operands(&self) -> String {
        let mut out = String::new();
        for (key, value) in self.iter() {
            let comma = if out.is_empty() { "" } else { "," };
            let _ = write!(out, "{comma}{key:#x},{value:#x}");
        }
        out
    }

    /// Reads the operands of the directive [`DIRECTIVE`]: keys and values, separated by commas.
    ///
    /// # Errors
    /// Returns the first operand that is no number of 32 bits, or a key without a value.
    pub fn from_operands(text: &str) -> Result<Pairs, Error> {
        let mut pairs = Pairs::default();
        let (mut at, mut key) = (0, None);
        if text.trim().is_empty() {
            return Ok(pairs);
        }
        for operand in text.split(',') {
            let number = number(operand.trim()).ok_or_else(|| {
                let blanks = operand.len() - operand.trim_start().len();
                Error::in_line(text, at + blanks, "an operand is a number of 32 bits")
            })?;
            match key.take() {
                None => key = Some(number),
                Some(key) => pairs.set(key, number),
            }
            at += operand.len() + 1;
        }
        match key {
            None => Ok(pairs),
            Some(_) => Err(Error::in_line(text, text.len(), "a value follows each key")),
        }
    }
}

/// Reads a number of 32 bits. A negative number is a number modulo 2^32.
fn number(text: &str) -> Option<u32> {
    match text.strip_prefix('-') {
        Some(digits) => {
            let magnitude = objwriter::value::unsigned(digits).filter(|&number| number <= 1 << 31)?;
            Some((magnitude as u32).wrapping_neg())
        }
        None => objwriter::value::unsigned(text)?.try_into().ok(),
    }
}
