//! The writer: one line for each record, in the order of the model.

use crate::model::{
    Argument, ArgumentKind, Block, DataSegment, DataVector, Item, Metadata, OldArgument, OldKind, Pointer,
    Printf, Record, Usage, Version,
};
use std::fmt;

/// The mark that stands for the call of the kernel: a semicolon and ten dollar signs (seed 003, line 470).
pub const CALL_MARKER: &str = ";$$$$$$$$$$";

impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| item.fmt(f))
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Block(block) => block.fmt(f),
            Item::Data(segment) => segment.fmt(f),
            Item::Debug(lines) => {
                writeln!(f, ";DEBUGSTART")?;
                lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
                writeln!(f, ";DEBUGEND")
            }
            Item::CallMarker => writeln!(f, "{CALL_MARKER}"),
            Item::OldArgument(argument) => writeln!(f, "{argument}"),
            Item::Il(line) => writeln!(f, "{line}"),
        }
    }
}

impl Item {
    /// Returns the count of lines that the item is written in.
    pub fn lines(&self) -> usize {
        match self {
            Item::Block(block) => block.records.len() + 2,
            Item::Data(segment) => segment.vectors.len() + 2,
            Item::Debug(lines) => lines.len() + 2,
            Item::CallMarker | Item::OldArgument(_) | Item::Il(_) => 1,
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, ";ARGSTART:{}", self.name)?;
        self.records.iter().try_for_each(|record| writeln!(f, "{record}"))?;
        writeln!(f, ";ARGEND:{}", self.name)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Record::Version(version) => write!(f, ";version:{version}"),
            Record::Device(name) => write!(f, ";device:{name}"),
            Record::Error(message) => write!(f, ";error:{message}"),
            Record::Warning(message) => write!(f, ";warning:{message}"),
            Record::Memory { space, size } => write!(f, ";memory:{space}:{size}"),
            Record::Flag(flag) => write!(f, ";memory:{flag}"),
            Record::UniqueId(id) => write!(f, ";uniqueid:{id}"),
            Record::Argument(argument) => argument.fmt(f),
            Record::Sampler(sampler) => {
                let location = u8::from(sampler.in_kernel);
                write!(f, ";sampler:{}:{}:{location}:{}", sampler.name, sampler.id, sampler.value)
            }
            Record::ConstArgument { index, name } => write!(f, ";constarg:{index}:{name}"),
            Record::Reflection { index, type_name } => write!(f, ";reflection:{index}:{type_name}"),
            Record::Resource { resource, id } => write!(f, ";{resource}:{id}"),
            Record::Printf(printf) => printf.fmt(f),
            Record::Functions(ids) => list(f, "function", ids),
            Record::Intrinsics(ids) => list(f, "intrinsic", ids),
            Record::GroupSize { kind, size: [x, y, z] } => write!(f, ";{kind}:{x}:{y}:{z}"),
            Record::LargestGroup(size) => write!(f, ";lws:{size}"),
            Record::LimitGroupSize => write!(f, ";limitgroupsize"),
            Record::VectorTypeHint(name) => write!(f, ";vth:{name}"),
            Record::WavesPerSimd(count) => write!(f, ";WavesPerSimdHint:{count}"),
            Record::OldArgument(argument) => argument.fmt(f),
            Record::Unknown(line) => line.fmt(f),
        }
    }
}

/// Writes a record with a list of numbers, which its count precedes.
fn list(f: &mut fmt::Formatter<'_>, name: &str, ids: &[u32]) -> fmt::Result {
    write!(f, ";{name}:{}", ids.len())?;
    ids.iter().try_for_each(|id| write!(f, ":{id}"))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.major, self.minor, self.revision)
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, buffer, offset) = (&self.name, self.place.buffer, self.place.offset);
        match &self.kind {
            ArgumentKind::Value { ty, count } => write!(f, ";value:{name}:{ty}:{count}:{buffer}:{offset}"),
            ArgumentKind::Pointer(Pointer { ty, count, memory, buffer: number, alignment, usage }) => {
                write!(f, ";pointer:{name}:{ty}:{count}:{buffer}:{offset}:{memory}:{number}:{alignment}")?;
                usage.iter().try_for_each(|usage| usage.fmt(f))
            }
            ArgumentKind::Image { dimension, access, id } => {
                write!(f, ";image:{name}:{dimension}:{access}:{id}:{buffer}:{offset}")
            }
            ArgumentKind::Counter { bits, id } => write!(f, ";counter:{name}:{bits}:{id}:{buffer}:{offset}"),
            ArgumentKind::Semaphore { id } => write!(f, ";sema:{name}:{id}:{buffer}:{offset}"),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.access)?;
        match self.qualifiers {
            Some(qualifiers) => {
                write!(f, ":{}:{}", u8::from(qualifiers.volatile), u8::from(qualifiers.restrict))
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Printf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ";printf_fmt:{}:{}", self.id, self.sizes.len())?;
        self.sizes.iter().try_for_each(|size| write!(f, ":{size}"))?;
        write!(f, ":{}:{};", self.format.length(), self.format)
    }
}

impl fmt::Display for OldArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OldArgument { function, name, count, place, kind } = self;
        write!(f, ";ARG:{function}:{name}:")?;
        match kind {
            OldKind::Value(ty) => write!(f, "{ty}:{count}:{}:{}", place.buffer, place.offset),
            OldKind::Pointer { memory, buffer, alignment } => {
                write!(f, "pointer:{count}:{}:{}:{memory}:{buffer}:{alignment}", place.buffer, place.offset)
            }
        }
    }
}

impl fmt::Display for DataSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.buffer {
            Some(buffer) => writeln!(f, ";#DATASTART:{buffer}:{}", self.size)?,
            None => writeln!(f, ";#DATASTART:{}", self.size)?,
        }
        self.vectors.iter().try_for_each(|vector| writeln!(f, "{vector}"))?;
        match self.end {
            Some(end) => writeln!(f, ";#DATAEND:{end}"),
            None => writeln!(f, ";#DATAEND"),
        }
    }
}

impl fmt::Display for DataVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(";#")?;
        if self.lanes != 1 {
            write!(f, "v{}", self.lanes)?;
        }
        write!(f, "{}:{}:{}", self.ty, self.offset, self.values.len())?;
        if self.values.is_empty() { Ok(()) } else { write!(f, ":{}", self.values) }
    }
}
