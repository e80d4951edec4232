//! The pipeline of an AMDPAL object: stages, registers and user data, from the metadata in a note.

use crate::elf::{CodeObject, Symbol};
use objwriter::Value;
use palmeta::user_data::Mapping;
use palmeta::{Metadata, Note, Stage, fields, register};

/// A pipeline, in the newer form of the metadata.
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The metadata.
    pub metadata: Metadata,
    /// Pairs of the older form that have no place in the newer form.
    pub unplaced: Vec<(u32, u32)>,
}

/// A register of a pipeline, with its value.
#[derive(Clone, Debug)]
pub struct Register {
    /// Number of the register.
    pub number: u32,
    /// Name, or the number as text if the number has no name.
    pub name: String,
    /// Value.
    pub value: u32,
    /// Names and values of the fields on a processor.
    pub fields: Vec<(&'static str, u32)>,
    /// Bits of the value that are set and belong to no field. They are 0 for a register without known fields.
    pub other_bits: u32,
}

impl Pipeline {
    /// Returns the pipeline of an object, if the object has metadata of AMDPAL.
    pub fn of_object(object: &CodeObject<'_>) -> Option<Pipeline> {
        Some(match object.pal_metadata()? {
            Note::MessagePack(metadata) => Pipeline { metadata, unplaced: Vec::new() },
            Note::Pairs(pairs) => {
                let (metadata, unplaced) = Metadata::from_pairs(&pairs);
                Pipeline { metadata, unplaced }
            }
            _ => return None,
        })
    }

    /// Returns the hardware stages of the pipeline. The older form need not name a stage: then the stages are
    /// those whose program-resource registers are set.
    pub fn stages(&self) -> Vec<Stage> {
        let has = |stage: &Stage| {
            self.metadata.stage(*stage).is_some() || self.metadata.register(stage.rsrc1()).is_some()
        };
        Stage::ALL.into_iter().filter(has).collect()
    }

    /// Returns the symbol of a stage's code: the symbol that PAL looks for, or else the symbol that the metadata
    /// names, as in objects of LLVM.
    pub fn entry<'o, 'data>(&self, object: &'o CodeObject<'data>, stage: Stage) -> Option<&'o Symbol<'data>> {
        let named = |name: &str| {
            let symbols = object.symbols().iter();
            symbols.filter(|symbol| !symbol.is_undefined()).find(|symbol| symbol.name == name)
        };
        let said = |key| self.metadata.stage(stage)?.get(key)?.as_str();
        let keys = [".entry_point_symbol", ".entry_point"];
        named(stage.entry_point()).or_else(|| keys.into_iter().filter_map(said).find_map(named))
    }

    /// Returns the registers in the order of their numbers, with their fields on a processor. A register that
    /// damaged metadata has twice is there once.
    pub fn registers(&self, version: Option<[u32; 3]>) -> Vec<Register> {
        let mut registers: Vec<Register> = self
            .metadata
            .registers()
            .map(|(number, value)| {
                let of_version = |version| fields::fields(number, version);
                let fields: Vec<_> = version.into_iter().flat_map(of_version).collect();
                let rest = |version| value & fields::uncovered(number, version);
                Register {
                    number,
                    name: register::name(number).map_or_else(|| format!("{number:#x}"), |it| it.to_string()),
                    value,
                    other_bits: version.filter(|_| !fields.is_empty()).map_or(0, rest),
                    fields: fields.iter().map(|field| (field.name, field.get(value))).collect(),
                }
            })
            .collect();
        registers.sort_by_key(|register| register.number);
        registers.dedup_by_key(|register| register.number);
        registers
    }

    /// Returns the user SGPRs of a stage that the metadata describes, with their contents.
    pub fn user_data(&self, stage: Stage, major: u32) -> Vec<(u32, Mapping)> {
        let value = |index| self.metadata.register(stage.user_data(index, major));
        let mapping = |index| Some((index, Mapping::from_number(value(index)?)));
        (0..stage.user_data_count(major)).filter_map(mapping).collect()
    }

    /// Returns the entries of the pipeline's map without those that other parts of a report show.
    pub fn facts(&self) -> Vec<(String, &Value)> {
        let shown = [".hardware_stages", ".registers"];
        let Some(Value::Map(entries)) = self.metadata.pipeline() else { return Vec::new() };
        let name = |key: &Value| key.as_str().map_or_else(|| format!("{key:?}"), str::to_owned);
        let entries = entries.iter().map(|(key, value)| (name(key), value));
        entries.filter(|(key, _)| !shown.contains(&key.as_str())).collect()
    }
}
