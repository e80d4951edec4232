//! The order of records in the blocks that drivers write.

use crate::model::{Block, Record};
use crate::words::{Flag, Resource};
use std::collections::BTreeMap;

impl Block {
    /// Puts the records into the order in which the compilers of drivers write them. Records of a kind keep
    /// their order, and a `;constarg:` follows its argument.
    ///
    /// The runtimes of drivers read any order, but CLRX expects `;reflection:` at the end
    /// (`amdbin/AmdBinaries.cpp`). The order is that of the AMDIL backend of LLVM, `AMDILKernelManager.cpp`.
    pub fn sort_as_drivers_do(&mut self) {
        let names: BTreeMap<_, _> = self
            .arguments()
            .zip(0u32..)
            .map(|(argument, index)| (argument.name.as_str().to_owned(), index))
            .collect();
        self.records.sort_by_cached_key(|record| {
            // Arguments sort by their index, and what belongs to an argument comes after it.
            let index = |name: &str, after: u8| (names.get(name).copied().unwrap_or(u32::MAX), after);
            match record {
                Record::Argument(argument) => (rank(record), index(argument.name.as_str(), 0)),
                Record::ConstArgument { name, .. } => (rank(record), index(name.as_str(), 1)),
                _ => (rank(record), (0, 0)),
            }
        });
    }
}

/// Returns the place of a kind of record in the order.
fn rank(record: &Record) -> usize {
    match record {
        Record::Version(_) => 0,
        Record::Device(_) => 1,
        Record::UniqueId(_) => 2,
        Record::Memory { .. } => 3,
        Record::GroupSize { .. } => 4,
        Record::LargestGroup(_) | Record::LimitGroupSize => 5,
        Record::VectorTypeHint(_) | Record::WavesPerSimd(_) => 6,
        Record::Argument(_) | Record::ConstArgument { .. } | Record::OldArgument(_) => 7,
        Record::Flag(flag) if *flag != Flag::Abi64 => 8,
        Record::Functions(_) => 9,
        Record::Intrinsics(_) => 10,
        Record::Printf(_) => 11,
        Record::Sampler(_) => 12,
        Record::Flag(_) => 13,
        Record::Error(_) | Record::Warning(_) => 14,
        Record::Resource { resource: Resource::Uav, .. } => 15,
        Record::Resource { resource: Resource::Printf, .. } => 16,
        Record::Resource { resource: Resource::Constant, .. } => 17,
        Record::Resource { resource: Resource::Private, .. } => 18,
        Record::Unknown(_) => 19,
        Record::Reflection { .. } => 20,
    }
}
