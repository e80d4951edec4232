//! The metadata of a code object: a tree, with access to the parts that tools need.

use crate::error::Error;
use crate::fields;
use crate::message_pack;
use crate::pairs::{Key, Pairs};
use crate::stage::Stage;
use crate::text::{self, BEGIN, END, Spelling};
use crate::user_data::Layout;
use crate::verify::{self, Finding};
use objwriter::Value;
use objwriter::note::{NT_METADATA, NT_PAL_METADATA, record};
use std::fmt::Write;

/// The metadata of an AMDPAL code object. All entries of the tree are kept, also those whose keys are not
/// known.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    root: Value,
}

/// Key of the version.
const VERSION: &str = "amdpal.version";
/// Key of the sequence of pipelines. PAL has one pipeline in a code object.
const PIPELINES: &str = "amdpal.pipelines";
const STAGES: &str = ".hardware_stages";
const REGISTERS: &str = ".registers";

impl Default for Metadata {
    fn default() -> Metadata {
        Metadata::new()
    }
}

impl Metadata {
    /// Returns metadata of one pipeline without facts, and without a version. LLVM writes such metadata.
    pub fn new() -> Metadata {
        Metadata { root: Value::Map(vec![(PIPELINES.into(), Value::Seq(vec![Value::Map(Vec::new())]))]) }
    }

    /// Returns a tree as metadata.
    ///
    /// # Errors
    /// The tree is no map. [`Metadata::verify`] finds all other deviations.
    pub fn from_tree(root: Value) -> Result<Metadata, Error> {
        match root {
            Value::Map(_) => Ok(Metadata { root }),
            _ => Err(Error::at_byte(0, "the metadata is a map")),
        }
    }

    /// Returns the tree.
    pub fn tree(&self) -> &Value {
        &self.root
    }

    /// Reads the contents of a note of the type `NT_AMDGPU_METADATA`.
    ///
    /// # Errors
    /// The contents are not MessagePack, nest too deeply, or are not a map.
    #[cfg(feature = "read")]
    pub fn read(bytes: &[u8]) -> Result<Metadata, Error> {
        Metadata::from_tree(message_pack::read(bytes)?)
    }

    /// Returns the contents of a note of the type `NT_AMDGPU_METADATA`, as LLVM writes them.
    pub fn write(&self) -> Vec<u8> {
        message_pack::write(&self.root)
    }

    /// Reads the YAML document between the directives `.amdgpu_pal_metadata` and `.end_amdgpu_pal_metadata`,
    /// with the rules of LLVM's assembler.
    ///
    /// # Errors
    /// The text is not YAML, is not a map, or a key of `.registers` is not the number of a register.
    pub fn from_text(text: &str) -> Result<Metadata, Error> {
        Ok(Metadata { root: text::read(text)? })
    }

    /// Returns the YAML document.
    pub fn to_text(&self, spelling: Spelling) -> String {
        text::document(&self.root, spelling)
    }

    /// Returns the lines of an assembly file: the directives and the YAML document between the directives.
    pub fn to_directives(&self, spelling: Spelling) -> String {
        let mut out = String::new();
        let _ = write!(out, "\t{BEGIN}\n{}\t{END}\n", self.to_text(spelling));
        out
    }

    /// Compares the tree with the known keys, and returns all findings.
    pub fn verify(&self) -> Vec<Finding> {
        verify::verify(&self.root)
    }

    /// Returns the version: major and minor.
    pub fn version(&self) -> Option<[u64; 2]> {
        match self.root.get(VERSION)?.items() {
            [Value::Uint(major), Value::Uint(minor)] => Some([*major, *minor]),
            _ => None,
        }
    }

    /// Sets the version.
    pub fn set_version(&mut self, [major, minor]: [u32; 2]) {
        *entry(&mut self.root, VERSION) = Value::Seq(vec![major.into(), minor.into()]);
    }

    /// Returns the map of the pipeline.
    pub fn pipeline(&self) -> Option<&Value> {
        self.root.get(PIPELINES)?.items().first()
    }

    fn pipeline_mut(&mut self) -> &mut Value {
        let pipelines = entry(&mut self.root, PIPELINES);
        if !matches!(pipelines, Value::Seq(items) if !items.is_empty()) {
            *pipelines = Value::Seq(vec![Value::Map(Vec::new())]);
        }
        match pipelines {
            Value::Seq(items) => &mut items[0],
            _ => unreachable!("the value was made a sequence"),
        }
    }

    /// Sets an entry of the pipeline's map, such as `.user_data_limit`.
    pub fn set(&mut self, key: &'static str, value: Value) {
        *entry(self.pipeline_mut(), key) = value;
    }

    /// Returns the map of a stage. Returns `None` if the pipeline does not have the stage.
    pub fn stage(&self, stage: Stage) -> Option<&Value> {
        self.pipeline()?.get(STAGES)?.get(stage.key())
    }

    /// Returns the stages that the pipeline has, in PAL's order.
    pub fn stages(&self) -> impl Iterator<Item = Stage> {
        Stage::ALL.into_iter().filter(|&stage| self.stage(stage).is_some())
    }

    /// Sets an entry of a stage's map, such as `.vgpr_count`.
    pub fn set_in_stage(&mut self, stage: Stage, key: &'static str, value: Value) {
        *entry(entry(entry(self.pipeline_mut(), STAGES), stage.key()), key) = value;
    }

    /// Returns the numbers and values of all registers. Entries that are not numbers of 32 bits are left out;
    /// [`Metadata::verify`] reports these entries.
    pub fn registers(&self) -> impl Iterator<Item = (u32, u32)> {
        let registers = match self.pipeline().and_then(|pipeline| pipeline.get(REGISTERS)) {
            Some(Value::Map(entries)) => entries.as_slice(),
            _ => &[],
        };
        registers.iter().filter_map(|(key, value)| match (key, value) {
            (Value::Uint(key), Value::Uint(value)) => {
                Some(((*key).try_into().ok()?, (*value).try_into().ok()?))
            }
            _ => None,
        })
    }

    /// Adds an empty map of registers, if the metadata has no such map. LLVM's assembler does so.
    pub fn add_registers(&mut self) {
        map(entry(self.pipeline_mut(), REGISTERS));
    }

    /// Returns the value of a register.
    pub fn register(&self, number: u32) -> Option<u32> {
        self.registers().find(|register| register.0 == number).map(|register| register.1)
    }

    /// Returns the number of lanes of a stage's waves on a processor with the version `[major, minor, stepping]`:
    /// the entry `.wavefront_size`, or else what the registers say. Registers that are not there are 0. Returns
    /// `None` if the metadata says nothing about the stage.
    pub fn wave_size(&self, stage: Stage, version: [u32; 3]) -> Option<u32> {
        if let Some(Value::Uint(lanes)) = self.stage(stage).and_then(|map| map.get(".wavefront_size")) {
            return (*lanes).try_into().ok();
        }
        self.register(stage.rsrc1())?;
        let (number, name) = stage.wave32_field();
        let field = fields::field(number, name, version);
        let is_wave32 = field.is_some_and(|field| field.get(self.register(number).unwrap_or(0)) == 1);
        Some(if is_wave32 { 32 } else { 64 })
    }

    /// Sets bits in the value of a register. As in LLVM, the new value is the bitwise "or" of all values.
    pub fn set_register(&mut self, number: u32, value: u32) {
        let registers = map(entry(self.pipeline_mut(), REGISTERS));
        let key = Value::from(number);
        match registers.iter_mut().find(|(known, _)| *known == key) {
            Some((_, Value::Uint(bits))) => *bits |= u64::from(value),
            Some((_, other)) => *other = value.into(),
            None => registers.push((key, value.into())),
        }
    }

    /// Describes the user data of a compute kernel: the registers, `.user_data_limit` and `.spill_threshold`.
    pub fn set_user_data(&mut self, layout: &Layout) {
        for (number, value) in layout.registers() {
            self.set_register(number, value);
        }
        self.set(".user_data_limit", layout.limit.into());
        self.set(".spill_threshold", layout.spill_threshold.into());
    }

    /// Returns the facts of the older note in the form of the newer one, and the pairs that have no place
    /// there.
    pub fn from_pairs(pairs: &Pairs) -> (Metadata, Vec<(u32, u32)>) {
        let mut metadata = Metadata::new();
        let (mut registers, mut rest) = (Vec::new(), Vec::new());
        for (key, value) in pairs.iter() {
            match Key::from_number(key) {
                Key::Register(number) => registers.push((number.into(), value.into())),
                fact if metadata.set_fact(fact, value) => {}
                _ => rest.push((key, value)),
            }
        }
        metadata.set(REGISTERS, Value::Map(registers));
        let half = |key| pairs.get(key).map(u64::from);
        let hash = |[low, high]: [u32; 2]| Some(Value::Uint(half(low)? | half(high)? << 32));
        if let Some(stable) = hash(STABLE_HASH) {
            let unique = hash(UNIQUE_HASH).unwrap_or(Value::Uint(0));
            metadata.set(".internal_pipeline_hash", Value::Seq(vec![stable, unique]));
            rest.retain(|(key, _)| !STABLE_HASH.contains(key) && !UNIQUE_HASH.contains(key));
        }
        (metadata, rest)
    }

    /// Sets a fact of the older note. Returns whether the newer form has a place for the fact.
    fn set_fact(&mut self, fact: Key, value: u32) -> bool {
        let (stage, name) = match fact {
            Key::Stage(stage, name) => (Some(stage), name),
            Key::Pipeline(name) => (None, name),
            _ => return false,
        };
        let Some(place) = FACT_PLACES.iter().find(|place| place.fact == name) else { return false };
        let value = if place.is_flag { Value::Bool(value != 0) } else { value.into() };
        match stage.or(place.stage) {
            Some(stage) => self.set_in_stage(stage, place.key, value),
            None => self.set(place.key, value),
        }
        true
    }
}

/// Keys of the two halves of the hash of a pipeline in the older note.
const STABLE_HASH: [u32; 2] = [0x1000_0018, 0x1000_0019];
const UNIQUE_HASH: [u32; 2] = [0x1000_0060, 0x1000_0061];

/// Where the newer form has a fact of the older note.
struct FactPlace {
    fact: &'static str,
    key: &'static str,
    /// The stage, if the fact is of one stage and does not name the stage.
    stage: Option<Stage>,
    is_flag: bool,
}

const fn number(fact: &'static str, key: &'static str) -> FactPlace {
    FactPlace { fact, key, stage: None, is_flag: false }
}

const fn ps_flag(fact: &'static str, key: &'static str) -> FactPlace {
    FactPlace { fact, key, stage: Some(Stage::Ps), is_flag: true }
}

static FACT_PLACES: [FactPlace; 18] = [
    number("NumUsedVgprs", ".vgpr_count"),
    number("NumUsedSgprs", ".sgpr_count"),
    number("NumAvailableVgprs", ".vgpr_limit"),
    number("NumAvailableSgprs", ".sgpr_limit"),
    number("LdsByteSize", ".lds_size"),
    number("ScratchByteSize", ".scratch_memory_size"),
    number("PerformanceDataBufferSize", ".perf_data_buffer_size"),
    number("UserDataLimit", ".user_data_limit"),
    number("SpillThreshold", ".spill_threshold"),
    number("EsGsLdsByteSize", ".es_gs_lds_size"),
    number("MeshScratchByteSize", ".mesh_scratch_memory_size"),
    FactPlace { stage: Some(Stage::Cs), ..number("CsWaveFrontSize", ".wavefront_size") },
    FactPlace { is_flag: true, ..number("UsesViewportArrayIndex", ".uses_viewport_array_index") },
    ps_flag("PsUsesUavs", ".uses_uavs"),
    ps_flag("PsUsesRovs", ".uses_rovs"),
    ps_flag("PsWritesUavs", ".writes_uavs"),
    ps_flag("PsWritesDepth", ".writes_depth"),
    ps_flag("PsUsesAppendConsume", ".uses_append_consume"),
];

/// Makes a value a map, and returns the entries of the map.
fn map(value: &mut Value) -> &mut Vec<(Value, Value)> {
    if !matches!(value, Value::Map(_)) {
        *value = Value::Map(Vec::new());
    }
    match value {
        Value::Map(entries) => entries,
        _ => unreachable!("the value was made a map"),
    }
}

/// Returns the value of a key in a map. A key that is not there gets the value nil.
fn entry<'v>(value: &'v mut Value, key: &'static str) -> &'v mut Value {
    let entries = map(value);
    let index = entries.iter().position(|(known, _)| known.as_str() == Some(key)).unwrap_or_else(|| {
        entries.push((key.into(), Value::Nil));
        entries.len() - 1
    });
    &mut entries[index].1
}

/// A note with metadata, in either form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// `NT_AMDGPU_METADATA`, with the owner `AMDGPU`.
    MessagePack(Metadata),
    /// `NT_AMD_PAL_METADATA`, with the owner `AMD`.
    Pairs(Pairs),
}

impl Note {
    /// Reads a note. Returns `None` if the owner and the type are not those of a note with metadata.
    ///
    /// # Errors
    /// The contents are damaged.
    #[cfg(feature = "read")]
    pub fn read(owner: &str, kind: u32, contents: &[u8]) -> Result<Option<Note>, Error> {
        Ok(match (owner, kind) {
            ("AMDGPU", NT_METADATA) => Some(Note::MessagePack(Metadata::read(contents)?)),
            ("AMD", NT_PAL_METADATA) => Some(Note::Pairs(Pairs::read(contents)?)),
            _ => None,
        })
    }

    /// Returns the note record.
    pub fn record(&self) -> Vec<u8> {
        match self {
            Note::MessagePack(metadata) => record("AMDGPU", NT_METADATA, &metadata.write()),
            Note::Pairs(pairs) => record("AMD", NT_PAL_METADATA, &pairs.write()),
        }
    }
}
