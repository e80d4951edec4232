//! The records of a block: name, fewest and most fields, form, and what reads the fields.

use crate::fields::{Failure, Fields};
use crate::model::{
    Argument, ArgumentKind, OldArgument, OldKind, Place, Pointer, Printf, Qualifiers, Record, Sampler, Usage,
    Version,
};
use crate::rules::Rule;
use crate::text::{Format, unescaped};
use crate::words::{Flag, GroupSize, MemorySpace, Resource};

/// Result of reading the fields of a record.
type Read = Result<Record, Failure>;

/// How a record is read.
pub(crate) struct Form {
    /// Name after the semicolon.
    pub name: &'static str,
    /// The form, for messages.
    pub form: &'static str,
    /// Fewest and most fields after the name. The last field of a free text has all that follows.
    pub fields: (usize, usize),
    /// Reads the fields.
    pub read: fn(&mut Fields<'_>) -> Read,
}

/// More fields than a record can have: the record counts its fields itself or ends with a free text.
const ANY: usize = usize::MAX;

/// The records that a block can have.
pub(crate) const FORMS: &[Form] = &[
    form("version", ";version:MAJOR:MINOR:REVISION", (3, 3), |f| {
        let (major, minor, revision) = (f.number()?, f.number()?, f.number()?);
        Ok(Record::Version(Version { major, minor, revision }))
    }),
    form("device", ";device:NAME", (1, 1), |f| Ok(Record::Device(f.name()?))),
    form("error", ";error:MESSAGE", (1, ANY), |f| Ok(Record::Error(f.rest()?))),
    form("warning", ";warning:MESSAGE", (1, ANY), |f| Ok(Record::Warning(f.rest()?))),
    form("memory", ";memory:SPACE:SIZE or ;memory:WORD", (1, 2), memory),
    form("uniqueid", ";uniqueid:NUMBER", (1, 1), |f| Ok(Record::UniqueId(f.number()?))),
    form("value", ";value:NAME:TYPE:COUNT:BUFFER:OFFSET", (5, 5), |f| {
        argument(f, |f| Ok(ArgumentKind::Value { ty: f.data_type()?, count: f.number()? }))
    }),
    form(
        "pointer",
        ";pointer:NAME:TYPE:1:BUFFER:OFFSET:MEMORY:NUMBER:ALIGNMENT[:ACCESS[:VOLATILE:RESTRICT]]",
        (8, 11),
        pointer,
    ),
    form("image", ";image:NAME:DIMENSION:ACCESS:NUMBER:BUFFER:OFFSET", (6, 6), |f| {
        argument(f, |f| {
            let (dimension, access) = (f.word(Rule::DimensionName)?, f.word(Rule::AccessName)?);
            Ok(ArgumentKind::Image { dimension, access, id: f.number()? })
        })
    }),
    form("counter", ";counter:NAME:BITS:NUMBER:BUFFER:OFFSET", (5, 5), |f| {
        argument(f, |f| Ok(ArgumentKind::Counter { bits: f.number()?, id: f.number()? }))
    }),
    form("sema", ";sema:NAME:NUMBER:BUFFER:OFFSET", (4, 4), |f| {
        argument(f, |f| Ok(ArgumentKind::Semaphore { id: f.number()? }))
    }),
    form("sampler", ";sampler:NAME:NUMBER:IN_KERNEL:VALUE", (4, 4), |f| {
        let (name, id) = (f.name()?, f.number()?);
        Ok(Record::Sampler(Sampler { name, id, in_kernel: f.switch()?, value: f.number()? }))
    }),
    form("constarg", ";constarg:INDEX:NAME", (2, 2), |f| {
        Ok(Record::ConstArgument { index: f.number()?, name: f.name()? })
    }),
    form("reflection", ";reflection:INDEX:TYPE", (2, ANY), |f| {
        Ok(Record::Reflection { index: f.number()?, type_name: f.rest()? })
    }),
    form("uavid", ";uavid:NUMBER", (1, 1), |f| resource(f, Resource::Uav)),
    form("privateid", ";privateid:NUMBER", (1, 1), |f| resource(f, Resource::Private)),
    form("printfid", ";printfid:NUMBER", (1, 1), |f| resource(f, Resource::Printf)),
    form("cbid", ";cbid:NUMBER", (1, 1), |f| resource(f, Resource::Constant)),
    form("printf_fmt", ";printf_fmt:NUMBER:COUNT:SIZE...:LENGTH:FORMAT;", (4, ANY), printf),
    form("function", ";function:COUNT:NUMBER...", (1, ANY), |f| Ok(Record::Functions(list(f)?))),
    form("intrinsic", ";intrinsic:COUNT:NUMBER...", (1, ANY), |f| Ok(Record::Intrinsics(list(f)?))),
    form("cws", ";cws:X:Y:Z", (3, 3), |f| group_size(f, GroupSize::Required)),
    form("crs", ";crs:X:Y:Z", (3, 3), |f| group_size(f, GroupSize::Region)),
    form("wsh", ";wsh:X:Y:Z", (3, 3), |f| group_size(f, GroupSize::Hint)),
    form("lws", ";lws:SIZE", (1, 1), |f| Ok(Record::LargestGroup(f.number()?))),
    form("limitgroupsize", ";limitgroupsize", (0, 0), |_| Ok(Record::LimitGroupSize)),
    form("vth", ";vth:TYPE", (1, ANY), |f| Ok(Record::VectorTypeHint(f.rest()?))),
    form("WavesPerSimdHint", ";WavesPerSimdHint:COUNT", (1, 1), |f| Ok(Record::WavesPerSimd(f.number()?))),
    OLD_ARGUMENT,
];

/// The older form of an argument, which may also be outside blocks.
pub(crate) const OLD_ARGUMENT: Form = form(
    "ARG",
    ";ARG:FUNCTION:NAME:TYPE:COUNT:BUFFER:OFFSET or ;ARG:FUNCTION:NAME:pointer:COUNT:BUFFER:OFFSET:MEMORY:NUMBER:ALIGNMENT",
    (6, 9),
    |f| Ok(Record::OldArgument(old_argument(f)?)),
);

/// Returns the name and the form of each record that a block can have.
pub fn forms() -> impl Iterator<Item = (&'static str, &'static str)> {
    FORMS.iter().map(|form| (form.name, form.form))
}

/// Returns a row of the table.
const fn form(
    name: &'static str,
    form: &'static str,
    fields: (usize, usize),
    read: fn(&mut Fields<'_>) -> Read,
) -> Form {
    Form { name, form, fields, read }
}

/// Reads `;memory:`: an address space and a size, or a fact.
fn memory(f: &mut Fields<'_>) -> Read {
    if f.left() == 2 {
        let space: MemorySpace = f.word(Rule::MemorySpaceName)?;
        return Ok(Record::Memory { space, size: f.number()? });
    }
    let at = f.at();
    if f.peek().is_some_and(|word| MemorySpace::from_text(word).is_some()) {
        return Err(f.failure(at, Rule::FieldCount, "the size of the memory is missing"));
    }
    Ok(Record::Flag(f.word::<Flag>(Rule::MemorySpaceName)?))
}

/// Reads an argument: its name, what `kind` reads, and its place.
fn argument(f: &mut Fields<'_>, kind: impl FnOnce(&mut Fields<'_>) -> Result<ArgumentKind, Failure>) -> Read {
    let (name, kind) = (f.name()?, kind(f)?);
    Ok(Record::Argument(Argument { name, kind, place: place(f)? }))
}

/// Reads a constant buffer and an offset.
fn place(f: &mut Fields<'_>) -> Result<Place, Failure> {
    Ok(Place { buffer: f.number()?, offset: f.number()? })
}

/// Reads a pointer, which has one of three counts of fields.
fn pointer(f: &mut Fields<'_>) -> Read {
    let fields = f.left();
    if fields == 10 {
        return Err(f.failure(f.at(), Rule::FieldCount, "a pointer has 8, 9 or 11 fields, not 10"));
    }
    let (name, ty, count, place) = (f.name()?, f.data_type()?, f.number()?, place(f)?);
    let (memory, buffer, alignment) = (f.word(Rule::PointerMemoryName)?, f.number()?, f.number()?);
    let mut usage = None;
    if fields > 8 {
        let access = f.word(Rule::AccessName)?;
        let mut qualifiers = None;
        if fields > 9 {
            qualifiers = Some(Qualifiers { volatile: f.switch()?, restrict: f.switch()? });
        }
        usage = Some(Usage { access, qualifiers });
    }
    let kind = ArgumentKind::Pointer(Pointer { ty, count, memory, buffer, alignment, usage });
    Ok(Record::Argument(Argument { name, kind, place }))
}

/// Reads the number of a resource.
fn resource(f: &mut Fields<'_>, resource: Resource) -> Read {
    Ok(Record::Resource { resource, id: f.number()? })
}

/// Reads a size in three dimensions.
fn group_size(f: &mut Fields<'_>, kind: GroupSize) -> Read {
    Ok(Record::GroupSize { kind, size: [f.number()?, f.number()?, f.number()?] })
}

/// Reads a count and as many numbers.
fn list(f: &mut Fields<'_>) -> Result<Vec<u32>, Failure> {
    let at = f.at();
    let count = f.number()?;
    if count as usize != f.left() {
        let message = format!("the count is {count}, and {} numbers follow", f.left());
        return Err(f.failure(at, Rule::ListCount, message));
    }
    (0..count).map(|_| f.number()).collect()
}

/// Reads a format string. The record says how long the string is, as the string may have colons and
/// semicolons.
fn printf(f: &mut Fields<'_>) -> Read {
    let id = f.number()?;
    let at = f.at();
    let count = f.number()? as usize;
    if f.left() < count.saturating_add(2) {
        let message = format!("the count of arguments is {count}, but the record ends before");
        return Err(f.failure(at, Rule::ListCount, message));
    }
    let sizes = (0..count).map(|_| f.number()).collect::<Result<Vec<_>, _>>()?;
    let length_at = f.at();
    let length = f.number()? as usize;
    let text_at = f.at();
    let rest = f.rest()?;
    let rest = rest.as_str();
    let (mut end, mut found) = (0, 0);
    for (after, c) in unescaped(rest) {
        if found >= length {
            break;
        }
        found += c.len_utf8();
        end = after;
    }
    if found != length {
        let message = format!("the length is {length}, but only {found} bytes follow");
        return Err(f.failure(length_at, Rule::PrintfLength, message));
    }
    let (text, after) = rest.split_at(end);
    if after != ";" {
        let rule = if after.is_empty() { Rule::PrintfEnd } else { Rule::PrintfLength };
        let message = format!("after the {length} bytes of the format there is `{after}`, not a semicolon");
        return Err(f.failure(text_at + end, rule, message));
    }
    let Some(format) = Format::escaped(text) else {
        return Err(f.failure(text_at, Rule::ControlCharacter, "the format has a control character"));
    };
    Ok(Record::Printf(Printf { id, sizes, format }))
}

/// Reads an argument in the older form.
pub(crate) fn old_argument(f: &mut Fields<'_>) -> Result<OldArgument, Failure> {
    let at = f.at();
    let fields = f.left();
    let (function, name) = (f.name()?, f.name()?);
    let is_pointer = f.peek() == Some("pointer");
    if fields != if is_pointer { 9 } else { 6 } {
        let what = if is_pointer { "a pointer has 9" } else { "a value has 6" };
        return Err(f.failure(at, Rule::FieldCount, format!("{what} fields in this form, not {fields}")));
    }
    if is_pointer {
        f.skip();
        let (count, place) = (f.number()?, place(f)?);
        let (memory, buffer, alignment) = (f.word(Rule::PointerMemoryName)?, f.number()?, f.number()?);
        return Ok(OldArgument {
            function,
            name,
            count,
            place,
            kind: OldKind::Pointer { memory, buffer, alignment },
        });
    }
    let (ty, count) = (f.data_type()?, f.number()?);
    Ok(OldArgument { function, name, count, place: place(f)?, kind: OldKind::Value(ty) })
}
