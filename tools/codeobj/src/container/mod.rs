//! Containers, which are files that hold code objects: offload bundles of clang, compressed bundles, LLVM's
//! offload binaries, archives, and host programs and libraries with any of these in a section.
//!
//! Containers nest: a member of an archive may be a host object with a section of bundles, and the bundles
//! may be compressed. [`Contents::read`] opens all of them and lists each AMD GPU code object with its path.
//!
//! The code objects themselves are read by [`crate::elf`]. The hash in compressed bundles is not checked.
//!
//! # Source
//! clang's page "Clang Offload Bundler" (both the layout of bundles and the header of compressed ones) and
//! LLVM 19's `OffloadBinary`; checked against files that clang-offload-bundler 19 and
//! clang-offload-packager 19 write (`tools/cli/tests/containers.rs`).

mod binary;
mod bundle;
mod compressed;
mod host;

use crate::elf::EM_AMDGPU;
use std::borrow::Cow;
use std::fmt;

/// How deep containers may be nested. For comparison, an archive of host objects with compressed bundles has
/// a depth of four.
const DEPTH: usize = 8;

/// How many bytes the compressed bundles of a file may have together when they are unpacked.
const UNPACKED: u64 = 8 << 30;

/// Code object in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'data> {
    /// Path to the code object: names of archive members, sections and bundle entries, outermost first.
    pub path: Vec<String>,
    /// Target id that the container gives, such as `amdgcn-amd-amdhsa--gfx90a:xnack-`; empty if it gives
    /// none.
    pub target: String,
    /// Bytes of the code object.
    pub bytes: Cow<'data, [u8]>,
}

impl Entry<'_> {
    /// Returns the path as one text, with a colon between the names of archive members, sections and bundle
    /// entries.
    pub fn name(&self) -> String {
        self.path.join(":")
    }

    /// Returns the processor that the container names, without its features.
    pub fn processor(&self) -> Option<&str> {
        let (_, processor) = self.target.split_once("--")?;
        processor.split(':').next().filter(|name| !name.is_empty())
    }
}

/// A part of a container from which no code object could be read, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Path to the part.
    pub path: Vec<String>,
    /// Reason why the part was left out.
    pub why: Reason,
}

/// Reason why a part of a container was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The part contains code for the host, or no code.
    NoGpuCode,
    /// The part contains GPU code in another form than a code object. The text names the form.
    OtherForm(&'static str),
    /// The part is damaged. The text describes the damage.
    Damaged(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoGpuCode => f.write_str("no GPU code"),
            Reason::OtherForm(form) => write!(f, "{form}, not a code object"),
            Reason::Damaged(how) => f.write_str(how),
        }
    }
}

/// Contents of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents<'data> {
    /// Code objects, in file order.
    pub entries: Vec<Entry<'data>>,
    /// Parts that are not code objects, in file order.
    pub left_out: Vec<LeftOut>,
}

impl<'data> Contents<'data> {
    /// Opens a container, and the containers in it. Returns `None` for a file that is not a container: a code
    /// object, a text, or an unknown file.
    ///
    /// A damaged container is read as far as possible. [`Contents::left_out`] says what is wrong with the
    /// rest.
    pub fn read(bytes: &'data [u8]) -> Option<Contents<'data>> {
        if !is_container(bytes) {
            return None;
        }
        let mut opener = Opener { contents: Contents::default(), unpacked: 0 };
        opener.open(Cow::Borrowed(bytes), &Way::default());
        Some(opener.contents)
    }

    /// Lists the damaged parts.
    pub fn damaged(&self) -> impl Iterator<Item = &LeftOut> {
        self.left_out.iter().filter(|part| matches!(part.why, Reason::Damaged(_)))
    }
}

/// Returns whether a file is a container, judging by its first bytes.
pub fn is_container(bytes: &[u8]) -> bool {
    !matches!(kind(bytes), Kind::Unknown | Kind::CodeObject)
}

/// Kind of a file, judging by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CodeObject,
    /// An ELF or PE/COFF file for another machine.
    Host,
    Archive,
    Bundle,
    Compressed,
    OffloadBinary,
    /// GPU code in a form that is not a code object.
    Other(&'static str),
    Unknown,
}

fn kind(bytes: &[u8]) -> Kind {
    let is = |magic: &[u8]| bytes.starts_with(magic);
    if is(b"\x7fELF") {
        let machine = bytes.get(18..20).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        return if machine.is_none_or(|machine| machine == EM_AMDGPU) {
            Kind::CodeObject
        } else {
            Kind::Host
        };
    }
    match () {
        () if is(b"!<arch>\n") || is(b"!<thin>\n") => Kind::Archive,
        () if is(bundle::MAGIC) => Kind::Bundle,
        () if is(compressed::MAGIC) => Kind::Compressed,
        () if is(binary::MAGIC) => Kind::OffloadBinary,
        () if is(b"MZ") || is(&host::COFF_X86_64) => Kind::Host,
        () if is(b"BC\xc0\xde") || is(b"\xde\xc0\x17\x0b") => Kind::Other("LLVM bitcode"),
        () if is(b"\x03\x02\x23\x07") => Kind::Other("SPIR-V"),
        () => Kind::Unknown,
    }
}

/// Describes a part of a container while the part is opened: the path to the part, and its target id. The
/// target id is the one that the nearest enclosing container gives.
#[derive(Clone, Default)]
struct Way {
    path: Vec<String>,
    target: String,
}

impl Way {
    /// Returns the path to a part with that name.
    fn to(&self, name: impl Into<String>) -> Way {
        let mut way = self.clone();
        way.path.push(name.into());
        way
    }

    fn for_target(mut self, target: &str) -> Way {
        target.clone_into(&mut self.target);
        self
    }
}

/// State of opening containers.
struct Opener<'data> {
    contents: Contents<'data>,
    /// Total number of bytes that have been unpacked so far.
    unpacked: u64,
}

impl<'data> Opener<'data> {
    /// Opens a part of a container. A code object is added to the list; the parts of a nested container are
    /// opened in turn.
    fn open(&mut self, data: Cow<'data, [u8]>, way: &Way) {
        if way.path.len() > DEPTH {
            return self.leave_out(way, Reason::Damaged(format!("containers nest more than {DEPTH} deep")));
        }
        match kind(&data) {
            Kind::CodeObject => {
                let Way { path, target } = way.clone();
                self.contents.entries.push(Entry { path, target, bytes: data });
            }
            Kind::Other(form) => self.leave_out(way, Reason::OtherForm(form)),
            Kind::Unknown => self.leave_out(way, Reason::NoGpuCode),
            Kind::Archive => self.open_parts(data, way, archive_parts),
            Kind::Host => self.open_parts(data, way, host::parts),
            Kind::Bundle | Kind::Compressed | Kind::OffloadBinary => self.row(data, way),
        }
    }

    /// Opens the parts that `parts` finds in a container.
    fn open_parts(&mut self, data: Cow<'data, [u8]>, way: &Way, parts: impl Fn(&[u8]) -> Parts) {
        let found = parts(&data);
        if found.parts.is_empty() && found.problem.is_none() {
            self.leave_out(way, Reason::NoGpuCode);
        }
        for part in found.parts {
            let inner = way.to(part.name);
            let inner = part.target.map_or(inner.clone(), |target| inner.for_target(&target));
            match part.range {
                Some(range) => self.open(slice(&data, range), &inner),
                None => self.leave_out(&inner, Reason::NoGpuCode),
            }
        }
        if let Some(problem) = found.problem {
            self.leave_out(way, Reason::Damaged(problem));
        }
    }

    /// Opens all containers in a buffer. They follow one another with zeros between them, as in a section of
    /// a host program.
    fn row(&mut self, data: Cow<'data, [u8]>, way: &Way) {
        let first = extent(&data).map_or(data.len(), |size| size.min(data.len()));
        let is_alone = data[first..].iter().all(|&byte| byte == 0);
        let mut start = 0;
        for number in 1.. {
            let size = extent(&data[start..]).map_or(data.len() - start, |size| size.min(data.len() - start));
            let inner = if is_alone { way.clone() } else { way.to(number.to_string()) };
            self.single(slice(&data, start..start + size), &inner);
            let end = start + size;
            let Some(zeros) = data[end..].iter().position(|&byte| byte != 0) else { return };
            start = end + zeros;
            if !matches!(kind(&data[start..]), Kind::Bundle | Kind::Compressed | Kind::OffloadBinary) {
                let what = format!("bytes from {start:#x} on are no bundle");
                return self.leave_out(way, Reason::Damaged(what));
            }
        }
    }

    fn single(&mut self, data: Cow<'data, [u8]>, way: &Way) {
        match kind(&data) {
            Kind::Bundle => self.open_parts(data, way, bundle::parts),
            Kind::OffloadBinary => self.open_parts(data, way, binary::parts),
            _ => match compressed::unpack(&data, UNPACKED - self.unpacked) {
                Ok(unpacked) => {
                    self.unpacked += unpacked.len() as u64;
                    self.open(Cow::Owned(unpacked), way);
                }
                Err(problem) => self.leave_out(way, Reason::Damaged(problem)),
            },
        }
    }

    fn leave_out(&mut self, way: &Way, why: Reason) {
        self.contents.left_out.push(LeftOut { path: way.path.clone(), why });
    }
}

/// Returns the size of the container at the beginning of `data`, if its header gives the size.
fn extent(data: &[u8]) -> Option<usize> {
    match kind(data) {
        Kind::Bundle => bundle::extent(data),
        Kind::Compressed => compressed::extent(data),
        Kind::OffloadBinary => binary::extent(data),
        _ => None,
    }
}

/// Part of a container.
struct Part {
    name: String,
    /// Target id that the container gives for the part, if any.
    target: Option<String>,
    /// Byte range of the part in the container. `None` if the part is not for a GPU, so that it need not be
    /// opened.
    range: Option<std::ops::Range<usize>>,
}

/// The parts of a container that could be read. If the container is damaged, `problem` says why other parts
/// could not be read.
#[derive(Default)]
struct Parts {
    parts: Vec<Part>,
    problem: Option<String>,
}

impl Parts {
    fn damaged(problem: impl Into<String>) -> Parts {
        Parts { parts: Vec::new(), problem: Some(problem.into()) }
    }
}

/// Returns a part of a buffer. If the buffer borrows its bytes, the part borrows them, too; otherwise the
/// part is a copy.
fn slice<'data>(data: &Cow<'data, [u8]>, range: std::ops::Range<usize>) -> Cow<'data, [u8]> {
    match data {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[range]),
        Cow::Owned(bytes) => Cow::Owned(bytes[range].to_vec()),
    }
}

fn archive_parts(data: &[u8]) -> Parts {
    let archive = match object::read::archive::ArchiveFile::parse(data) {
        Ok(archive) if archive.is_thin() => {
            return Parts::damaged("a thin archive names its members' files and does not hold them");
        }
        Ok(archive) => archive,
        Err(error) => return Parts::damaged(format!("the archive is damaged: {error}")),
    };
    let mut found = Parts::default();
    for member in archive.members() {
        let member = match member {
            Ok(member) => member,
            Err(error) => {
                found.problem = Some(format!("the archive is damaged: {error}"));
                break;
            }
        };
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let (offset, size) = member.file_range();
        match range(data, offset, size) {
            Some(range) => found.parts.push(Part { name, target: None, range: Some(range) }),
            None => found.problem = Some(format!("member {name} lies outside of the archive")),
        }
    }
    found
}

/// Returns `size` bytes at `offset` as a range, if the file contains all of them. Otherwise returns `None`.
fn range(data: &[u8], offset: u64, size: u64) -> Option<std::ops::Range<usize>> {
    let end = offset.checked_add(size)?;
    (end <= data.len() as u64).then_some(offset as usize..end as usize)
}

/// Reads a little-endian number of `N` bytes.
fn number<const N: usize>(data: &[u8], offset: usize) -> Option<u64> {
    let bytes = data.get(offset..offset.checked_add(N)?)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
