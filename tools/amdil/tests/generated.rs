//! Random texts: each breaks no rule, and comes back the same.
//!
//! `KERNC_AMDIL_CASES=10000 cargo test -p kernc-amdil --test amdil generated::` for that many.

use amdil::{
    Access, Argument, ArgumentKind, Block, DEVICES, DataSegment, DataType, DataVector, Dimension, Flag,
    Format, GroupSize, Item, Line, MemorySpace, Metadata, Name, OldArgument, OldKind, Place, Pointer,
    PointerMemory, Printf, Qualifiers, Record, Resource, Sampler, Usage, Values, Version, lay_out, parse,
    verify,
};
use std::collections::BTreeSet;
use support::Random;

/// Returns the count of cases: a few, or what the variable of the environment says.
pub fn count(variable: &str, few: u64) -> u64 {
    std::env::var(variable).map_or(few, |text| text.parse().expect("a number"))
}

fn name(text: impl Into<String>) -> Name {
    Name::new(text).expect("a name")
}

fn line(text: impl Into<String>) -> Line {
    Line::new(text).expect("a line")
}

/// Returns a random text that breaks no rule.
pub fn text(seed: u64) -> Metadata {
    let mut random = Random::new(seed);
    let mut maker = Maker { random: &mut random, formats: 0 };
    if maker.random.one_in(2) {
        let id = 1024 + maker.random.below(50);
        return Metadata { items: vec![Item::Block(maker.block(id, "k", true, &[], true))] };
    }
    maker.unit()
}

struct Maker<'a> {
    random: &'a mut Random,
    /// Count of format strings so far.
    formats: u32,
}

impl Maker<'_> {
    /// Makes the text of a compilation unit: code, descriptions, data and debug lines.
    fn unit(&mut self) -> Metadata {
        let functions = 1 + self.random.below(5);
        let ids: Vec<u32> = (0..functions).map(|index| 1024 + index).collect();
        let mut items = Vec::new();
        let segments = self.segments();
        let has_data = !segments.is_empty();
        let early = self.random.one_in(2);
        if early {
            items.extend(segments.clone());
        }
        items.extend(["il_cs_2_0", "dcl_cb cb0[15] ; ABI data"].map(|text| Item::Il(line(text))));
        items.push(Item::CallMarker);
        items.extend(["endmain", ""].map(|text| Item::Il(line(text))));
        for &id in &ids {
            let kernel = id == ids[0] || self.random.one_in(3);
            let short = format!("f{id}");
            let full = if kernel { format!("__OpenCL_{short}_kernel") } else { short.clone() };
            if self.random.one_in(3) {
                items.push(Item::Debug(vec![line(format!("\t.file\t\"{short}.cl\"")), line(";.info_begin")]));
            }
            let code = [format!("func {id} ; {full}"), "\tmov r1.x___, r65.x".into(), "ret".into()];
            items.extend(code.map(|text| Item::Il(line(text))));
            items.push(Item::Il(line(format!("endfunc ; {full}"))));
            items.push(Item::Block(self.block(id, &short, kernel, &ids, has_data)));
        }
        if self.random.one_in(4) {
            items.push(Item::OldArgument(self.old_argument()));
        }
        if !early {
            items.extend(segments);
        }
        items.push(Item::Il(line("end")));
        Metadata { items }
    }

    /// Makes a block; `functions` are the numbers of the functions in the text, none for a block alone.
    fn block(&mut self, id: u32, short: &str, kernel: bool, functions: &[u32], has_data: bool) -> Block {
        let full = if kernel { format!("__OpenCL_{short}_kernel") } else { short.to_owned() };
        let version = *self.random.pick(&[
            Version { major: 2, minor: 0, revision: 80 },
            Version { major: 2, minor: 0, revision: 96 },
            Version { major: 3, minor: 0, revision: 5 },
            Version { major: 3, minor: 1, revision: 104 },
            Version { major: 3, minor: 1, revision: 111 },
        ]);
        let mut records = self.arguments(version);
        let mut others = vec![Record::UniqueId(id)];
        if kernel || self.random.one_in(3) {
            others.push(Record::Version(version));
            others.push(Record::Device(name(self.random.pick(DEVICES).0)));
        } else {
            // Without a version, a reader does not know how much a pointer has to state.
            others.extend(self.random.one_in(2).then_some(Record::LimitGroupSize));
        }
        self.facts(&mut others, has_data);
        self.lists(&mut others, functions);
        self.resources(&mut others);
        for other in others {
            let at = self.random.below(records.len() + 1);
            records.insert(at, other);
        }
        Block { name: name(full), records }
    }

    /// Makes arguments, and the records that refer to them.
    fn arguments(&mut self, version: Version) -> Vec<Record> {
        let count = self.random.below(12usize);
        let (mut read, mut written, mut counters) = (0, 0, 0);
        let kinds: Vec<ArgumentKind> = (0..count)
            .map(|_| match self.random.below(8) {
                0..3 => self.value(),
                3..6 => ArgumentKind::Pointer(self.pointer(version)),
                6 => {
                    let access = *self.random.pick(Access::ALL);
                    let next = if access == Access::WriteOnly { &mut written } else { &mut read };
                    let id = *next % if access == Access::WriteOnly { 8 } else { 128 };
                    *next += 1;
                    ArgumentKind::Image { dimension: *self.random.pick(Dimension::ALL), access, id }
                }
                _ if self.random.one_in(3) => ArgumentKind::Semaphore { id: self.random.below(4) },
                _ => {
                    counters += 1;
                    ArgumentKind::Counter { bits: self.random.choose(&[32, 64]), id: counters - 1 }
                }
            })
            .collect();
        let too_many = written > 8;
        let kinds = if too_many { vec![] } else { kinds };
        let (places, _) = lay_out(self.random.below(2), &kinds, false).expect("a constant buffer is large");
        let mut records = Vec::new();
        let mut later = Vec::new();
        let mut samplers = 0;
        for (index, (kind, place)) in kinds.into_iter().zip(places).enumerate() {
            let argument = name(format!("a{index}"));
            records.push(Record::Argument(Argument { name: argument.clone(), kind, place }));
            if self.random.one_in(3) {
                later.push(Record::ConstArgument { index: index as u32, name: argument.clone() });
            }
            if self.random.one_in(2) {
                let types = ["uint*", "image2d_t", "struct a::b", "float4"];
                let type_name = line(self.random.choose(&types));
                later.push(Record::Reflection { index: index as u32, type_name });
            }
            if matches!(kind, ArgumentKind::Value { ty: DataType::U32 | DataType::I32, count: 1 }) {
                let sampler = Sampler { name: argument, id: samplers, in_kernel: false, value: 0 };
                later.push(Record::Sampler(sampler));
                samplers += 1;
            }
        }
        if self.random.one_in(3) {
            let value = self.random.choose(&[0, 16, 20, 22, 38, 41]);
            let sampler = Sampler { name: name("unknown_20"), id: samplers, in_kernel: true, value };
            later.push(Record::Sampler(sampler));
        }
        records.extend(later);
        records
    }

    fn value(&mut self) -> ArgumentKind {
        let ty = *self.random.pick(DataType::ALL);
        let count = match ty {
            DataType::Struct | DataType::Union => 1 + self.random.below(400),
            DataType::Event | DataType::Opaque => 1,
            _ => self.random.choose(&[1, 2, 3, 4, 8, 16]),
        };
        ArgumentKind::Value { ty, count }
    }

    fn pointer(&mut self, version: Version) -> Pointer {
        let types: Vec<_> = DataType::ALL.iter().filter(|ty| **ty != DataType::Event).copied().collect();
        let qualifiers = (version >= Version::QUALIFIERS)
            .then(|| Qualifiers { volatile: self.random.one_in(2), restrict: self.random.one_in(2) });
        let access = *self.random.pick(Access::ALL);
        let usage = (version >= Version::ACCESS).then_some(Usage { access, qualifiers });
        Pointer {
            ty: self.random.choose(&types),
            count: 1,
            memory: *self.random.pick(PointerMemory::ALL),
            buffer: self.random.below(16),
            alignment: 1 << self.random.below(8),
            usage,
        }
    }

    /// Adds records about memory, work-groups, messages and formats.
    fn facts(&mut self, records: &mut Vec<Record>, has_data: bool) {
        for _ in 0..self.random.below(4) {
            let (space, size) = (*self.random.pick(MemorySpace::ALL), self.random.below(100_000));
            records.push(Record::Memory { space, size });
        }
        let allowed = |flag: &&Flag| has_data || **flag != Flag::DataRequired;
        for flag in Flag::ALL.iter().filter(allowed) {
            records.extend(self.random.one_in(5).then_some(Record::Flag(*flag)));
        }
        for kind in GroupSize::ALL {
            if self.random.one_in(4) {
                let mut size = || 1 + self.random.below(256);
                records.push(Record::GroupSize { kind: *kind, size: [size(), size(), size()] });
            }
        }
        let limited = records.contains(&Record::LimitGroupSize);
        if !limited && self.random.one_in(4) {
            records.push(Record::LargestGroup(1 + self.random.below(1024)));
        }
        for (index, message) in ["no images", "", "a: colon; and more"].into_iter().enumerate() {
            if self.random.one_in(6) {
                let error = self.random.one_in(2);
                let text = line(format!("{}00{index}:{message}", if error { 'E' } else { 'W' }));
                records.push(if error { Record::Error(text) } else { Record::Warning(text) });
            }
        }
        for _ in 0..self.random.below(3) {
            let sizes = (0..self.random.below(4)).map(|_| self.random.choose(&[1, 2, 4, 8, 16])).collect();
            let pieces = ["%d", ":", ";", "\n", "\\", "n", " ", "%v4f", "ä", "\t", "\x07", "x"];
            let string: String = (0..self.random.below(12)).map(|_| self.random.choose(&pieces)).collect();
            let format = Format::new(&string).expect("a format");
            records.push(Record::Printf(Printf { id: self.formats, sizes, format }));
            self.formats += 1;
        }
        records.extend(self.random.one_in(6).then(|| Record::VectorTypeHint(line("float4"))));
        records.extend(self.random.one_in(6).then_some(Record::WavesPerSimd(2)));
        if self.random.one_in(8) {
            records.push(Record::OldArgument(self.old_argument()));
        }
    }

    /// Adds lists of functions and intrinsics.
    fn lists(&mut self, records: &mut Vec<Record>, functions: &[u32]) {
        for _ in 0..self.random.below(3) {
            let called: BTreeSet<u32> = if functions.is_empty() {
                (0..self.random.below(4)).map(|_| 1024 + self.random.below(100)).collect()
            } else {
                (0..self.random.below(4)).map(|_| self.random.choose(functions)).collect()
            };
            records.push(Record::Functions(called.into_iter().collect()));
        }
        if self.random.one_in(3) {
            let ids: BTreeSet<u32> = (0..self.random.below(5)).map(|_| self.random.below(1000)).collect();
            records.push(Record::Intrinsics(ids.into_iter().collect()));
        }
    }

    /// Adds the numbers of resources.
    fn resources(&mut self, records: &mut Vec<Record>) {
        for (resource, at) in Resource::ALL.iter().zip(0..) {
            if self.random.one_in(2) {
                records.push(Record::Resource { resource: *resource, id: at + 4 * self.random.below(250) });
            }
        }
    }

    fn old_argument(&mut self) -> OldArgument {
        let kind = if self.random.one_in(2) {
            OldKind::Value(*self.random.pick(DataType::ALL))
        } else {
            let memory = *self.random.pick(PointerMemory::ALL);
            OldKind::Pointer { memory, buffer: self.random.below(12), alignment: 4 }
        };
        let place = Place { buffer: 0, offset: 96 };
        OldArgument { function: name("main"), name: name("old"), count: 1, place, kind }
    }

    /// Makes data segments for different constant buffers.
    fn segments(&mut self) -> Vec<Item> {
        let mut segments = Vec::new();
        for buffer in [None, Some(2), Some(15)] {
            if self.random.one_in(2) {
                continue;
            }
            let mut vectors = Vec::new();
            let mut offset = 0u32;
            for _ in 0..self.random.below(4) {
                let types: Vec<_> = DataType::ALL.iter().filter(|ty| ty.size().is_some()).copied().collect();
                let bytes = self.random.one_in(4);
                let ty = if bytes { DataType::Struct } else { self.random.choose(&types) };
                let lanes: u8 = if bytes { 1 } else { self.random.choose(&[1, 2, 3, 4, 8, 16]) };
                let size = ty.size().unwrap_or(1);
                let count = u32::from(lanes).next_power_of_two() * self.random.below(4u32);
                let mask = u64::MAX >> (64 - 8 * size);
                let values = Values::hexadecimal((0..count).map(|_| self.random.bits() & mask));
                vectors.push(DataVector { lanes, ty, offset, values });
                offset = (offset + count * size).next_multiple_of(16);
            }
            let end = match buffer {
                None => self.random.choose(&[None, Some(0)]),
                some => some,
            };
            segments.push(Item::Data(DataSegment { buffer, size: offset, vectors, end }));
        }
        segments
    }
}

#[test]
fn random_texts_come_back_the_same() {
    let mut kinds = BTreeSet::new();
    for seed in 0..count("KERNC_AMDIL_CASES", 300) {
        let metadata = text(seed);
        let written = metadata.to_string();
        let read = parse(&written).unwrap_or_else(|errors| panic!("seed {seed}\n{written}{errors:#?}"));
        assert!(read == metadata, "seed {seed} is read as another text\n{written}");
        let problems = verify(&metadata);
        assert!(problems.is_empty(), "seed {seed}\n{written}{problems:#?}");
        // The first line of an item and the name of a record say what was covered.
        for line in written.lines().filter(|line| line.starts_with(';')) {
            let end = line[1..].find(|c: char| !c.is_ascii_alphanumeric() && !"_#$.".contains(c));
            kinds.insert(line[..end.map_or(line.len(), |end| end + 1)].to_owned());
        }
    }
    for (record, _) in amdil::forms() {
        assert!(kinds.contains(&format!(";{record}")), "no text has ;{record}: {kinds:?}");
    }
    for part in [";ARGSTART", ";#DATASTART", ";DEBUGSTART", ";$$$$$$$$$$"] {
        assert!(kinds.contains(part), "no text has {part}: {kinds:?}");
    }
}
