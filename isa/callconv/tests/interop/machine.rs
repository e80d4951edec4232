//! The other side, as assembly made of the table, and the run of both.

mod values;

use self::values::{check_cells, dwords, image, same};
use crate::interop::c;
use crate::interop::random::Random;
use callconv::{
    Assignment, Convention, Form, How, Kind, Param, Passed, Piece, Place, Prototype, Signature, TypeId,
    Types, assign, preserved,
};
use isa::Subtarget;
use sim::{CodeObject, Device, Dispatch};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use support::{Folder, Tool};

/// Work-items of a run.
const LANES: usize = 3;
/// Bytes of a lane in each buffer; a power of two.
pub const STRIDE: usize = 1 << 13;
/// Bytes of an immediate offset, and so of what lies on the stack.
const REACH: u32 = 4092;

pub struct Config {
    pub clang: &'static str,
    pub convention: Convention,
    pub target: Subtarget,
    /// Clang's option.
    pub level: &'static str,
    /// What its files are called by.
    pub name: &'static str,
}

/// A signature with values of each lane.
pub struct Case {
    pub types: Types,
    pub params: Vec<Param>,
    pub result: Option<TypeId>,
    assignment: Assignment,
    args: Vec<Vec<Vec<u8>>>,
    returned: Vec<Vec<u8>>,
    seed: u64,
}

impl Case {
    pub fn new(seed: u64, config: &Config) -> Case {
        let mut random = Random::new(seed);
        let bf16 = config.convention == Convention::Today;
        let most = random.choose(&[1, 2, 4, 8, 20, 40]);
        let mut types = Types::default();
        let (mut params, mut bytes) = (Vec::new(), 0);
        for _ in 0..random.below(most + 1) {
            let ty = random.ty(&mut types, bf16);
            bytes += types.size(ty).next_multiple_of(16);
            if bytes > 1000 {
                break;
            }
            params.push(Param::unmarked(ty));
        }
        let result = (random.below(8) > 0).then(|| random.ty(&mut types, bf16));
        Case::create(types, params, result, &mut random, seed, config)
    }

    /// A signature that a document shows. Arrays have no form of their own in C: there they are structs.
    pub fn from_prototype(prototype: Prototype, config: &Config) -> Case {
        let Prototype { mut types, mut params, result, .. } = prototype;
        for param in &mut params {
            if matches!(types.kind(param.ty), Kind::Array(..)) {
                param.ty = types.structure(&[param.ty]).unwrap();
            }
        }
        let result = result.map(|ty| match types.kind(ty) {
            Kind::Array(..) => types.structure(&[ty]).unwrap(),
            _ => ty,
        });
        Case::create(types, params, result, &mut Random::new(1), 1, config)
    }

    fn create(
        types: Types,
        params: Vec<Param>,
        result: Option<TypeId>,
        random: &mut Random,
        seed: u64,
        config: &Config,
    ) -> Case {
        let assigned = |result| {
            let signature = Signature { params: &params, result, ..Signature::default() };
            assign(&types, &signature, &config.target, config.convention).unwrap()
        };
        let is_flat = |passed: &Passed| passed.how == How::Address && passed.pieces.len() == 2;
        // Clang has no code for a flat address on GFX6.
        let lacks =
            !config.target.has(isa::Feature::FLAT) && assigned(result).result.as_ref().is_some_and(is_flat);
        let result = result.filter(|_| !lacks);
        let assignment = assigned(result);
        let value = |random: &mut Random, ty| random.value(&types, ty);
        let args = (0..LANES).map(|_| params.iter().map(|param| value(random, param.ty)).collect()).collect();
        let returned = (0..LANES).map(|_| result.map_or(Vec::new(), |ty| value(random, ty))).collect();
        Case { types, params, result, assignment, args, returned, seed }
    }
}

/// Where each argument lies in a lane of C's buffer.
pub fn offsets(case: &Case) -> Vec<usize> {
    let mut end = 0usize;
    let sizes = case.params.iter().map(|param| (case.types.size(param.ty), case.types.align(param.ty)));
    sizes
        .map(|(size, align)| {
            let at = end.next_multiple_of(align as usize);
            end = at + size as usize;
            at
        })
        .collect()
}

/// One dword that is moved between a place, or memory that an address names, and a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    /// A place of argument or result.
    At(usize),
    /// So many bytes of memory behind the address in the place.
    Behind(usize, u32, u32),
    /// The same of a flat address, whose upper half is in the next place.
    Flat(usize, u32, u32),
    /// So many bytes of the stack.
    On(u32, u32),
}

/// Cells of values in their order: the index into `places`, and what a lane's value has there.
struct Cells {
    places: Vec<Place>,
    cells: Vec<Cell>,
    /// For each cell: the values and pieces that it holds.
    holds: Vec<Vec<(usize, Piece)>>,
}

fn cells(case: &Case, passed: &[(usize, &Passed, TypeId)]) -> Cells {
    let mut out = Cells { places: Vec::new(), cells: Vec::new(), holds: Vec::new() };
    for &(value, passed, ty) in passed {
        for piece in case.assignment.pieces_of(passed) {
            let found = out.places.iter().position(|place| *place == piece.place);
            let place = found.unwrap_or_else(|| {
                out.places.push(piece.place);
                out.places.len() - 1
            });
            if passed.how == How::Value {
                match out.cells.iter().position(|cell| *cell == Cell::At(place)) {
                    Some(at) => out.holds[at].push((value, *piece)),
                    None => {
                        out.cells.push(Cell::At(place));
                        out.holds.push(vec![(value, *piece)]);
                    }
                }
                continue;
            }
            // The upper half of an address has been seen to with the lower.
            if passed.how == How::Address && piece.offset > 0 {
                continue;
            }
            let is_flat = passed.how == How::Address && passed.pieces.len() == 2;
            // Parts, as bytes between them may be undefined.
            case.types.parts(ty, 0, &mut |at, scalar, lanes| {
                let (at, end) = (at as u32, at as u32 + scalar.bits() / 8 * lanes);
                let step = (scalar.bits() / 8).min(4);
                for offset in (at..end).step_by(step as usize) {
                    out.cells.push(match (passed.how, piece.place) {
                        (How::Image, Place::Stack(from)) => Cell::On(from + offset, step),
                        _ if is_flat => Cell::Flat(place, offset, step),
                        _ => Cell::Behind(place, offset, step),
                    });
                    let bits = 8 * step as u8;
                    let whole = Piece { offset, bits, shift: 0, place: piece.place, form: Form::Bits };
                    out.holds.push(vec![(value, whole)]);
                }
            });
        }
    }
    out
}

fn args_of(case: &Case) -> Cells {
    let list: Vec<_> =
        case.assignment.params.iter().enumerate().map(|(i, passed)| (i, passed, case.params[i].ty)).collect();
    cells(case, &list)
}

fn result_of(case: &Case) -> Cells {
    let list: Vec<_> =
        case.assignment.result.iter().zip(case.result).map(|(passed, ty)| (0, passed, ty)).collect();
    cells(case, &list)
}

const WAIT: &str = "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)";

/// Bytes of a dword that its pieces say something of.
fn bytes_of(holds: &[(usize, Piece)]) -> u32 {
    let bits = |piece: &Piece| match piece.form {
        Form::Bits => u32::from(piece.shift + piece.bits),
        _ => 32,
    };
    holds.iter().map(|(_, piece)| bits(piece).div_ceil(8)).max().unwrap_or(4).next_power_of_two()
}

/// An instruction for private memory.
fn buffer(store: bool, bytes: u32) -> &'static str {
    match (store, bytes) {
        (true, 1) => "buffer_store_byte",
        (true, 2) => "buffer_store_short",
        (true, _) => "buffer_store_dword",
        (false, 1) => "buffer_load_ubyte",
        (false, 2) => "buffer_load_ushort",
        (false, _) => "buffer_load_dword",
    }
}

/// Text of assembly for one processor.
pub struct Asm<'a> {
    pub out: String,
    pub config: &'a Config,
}

impl Asm<'_> {
    pub fn put(&mut self, line: &str) {
        let _ = writeln!(self.out, "  {line}");
    }

    fn wait(&mut self) {
        self.put(WAIT);
        if self.config.target.version.0 == 10 {
            self.put("s_waitcnt_vscnt null, 0x0");
            // So that an SGPR of the operation may be written.
            self.put("v_nop");
        }
    }

    pub fn begin(&mut self, name: &str) {
        let _ = writeln!(self.out, ".globl {name}\n.p2align 8\n.type {name},@function\n{name}:");
        self.put("s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)");
        self.wait();
    }

    pub fn end(&mut self, name: &str) {
        self.wait();
        self.put("s_setpc_b64 s[30:31]");
        let _ = writeln!(self.out, ".size {name}, .-{name}");
    }

    /// Bytes of `v[base:base+1] + at` from or to a register; the base is a multiple of [`STRIDE`].
    pub fn flat(&mut self, store: bool, reg: &str, base: u16, at: usize) {
        self.put(&format!("v_or_b32 v38, {at:#x}, v{base}"));
        self.put(&format!("v_mov_b32 v39, v{}", base + 1));
        if self.config.target.version.0 == 6 {
            // Without FLAT: a buffer of all memory.
            self.put("s_mov_b32 s24, 0\n  s_mov_b32 s25, 0\n  s_mov_b32 s26, 0\n  s_mov_b32 s27, 0x100f000");
            let name = buffer(store, 4);
            self.put(&format!("{name} {reg}, v[38:39], s[24:27], 0 addr64"));
            return self.wait();
        }
        match store {
            true => self.put(&format!("flat_store_dword v[38:39], {reg}")),
            false => self.put(&format!("flat_load_dword {reg}, v[38:39]")),
        }
        self.wait();
    }

    fn stack(&mut self, store: bool, reg: &str, at: u32) {
        self.stack_bytes(store, reg, at, 4);
    }

    fn stack_bytes(&mut self, store: bool, reg: &str, at: u32, bytes: u32) {
        assert!(at <= REACH);
        self.access((store, bytes), reg, ("off", "s32"), at);
        self.wait();
    }

    /// An access to private memory: at the sum of an address in a VGPR, a scalar offset and a constant.
    fn access(&mut self, (store, bytes): (bool, u32), reg: &str, (address, base): (&str, &str), at: u32) {
        let name = buffer(store, bytes);
        if self.has_descriptor() {
            let offen = if address == "off" { "" } else { "offen " };
            return self.put(&format!("{name} {reg}, {address}, s[0:3], {base} {offen}offset:{at}"));
        }
        let (name, base) = (name.replace("buffer", "scratch"), if base == "0" { "off" } else { base });
        match store {
            true => self.put(&format!("{name} {address}, {reg}, {base} offset:{at}")),
            false => self.put(&format!("{name} {reg}, {address}, {base} offset:{at}")),
        }
    }

    fn has_descriptor(&self) -> bool {
        callconv::scratch_descriptor(&self.config.target).is_some()
    }

    /// Private memory behind an address.
    fn private(&mut self, store: bool, reg: &str, address: &str, at: u32, bytes: u32) {
        self.access((store, bytes), reg, (address, "0"), at);
        self.wait();
    }

    /// `v33` to private memory behind the flat address in `v[50:51]`.
    fn store_flat(&mut self, at: u32, bytes: u32) {
        // An addition that all generations write alike.
        self.put(&format!("v_mov_b32 v37, {at:#x}\n  v_mad_u32_u24 v36, v37, 1, v50\n  v_mov_b32 v37, v51"));
        self.put(&format!("{} v[36:37], v33", buffer(true, bytes).replace("buffer", "flat")));
        self.wait();
    }

    /// The upper half of flat addresses of private memory to `s17`.
    fn aperture(&mut self) {
        match self.config.target.version.0 {
            6 => panic!("no flat addresses"),
            // In the queue, whose address a kernel of V4 hands over; offsets are dwords before GFX8.
            7 => self.put("s_load_dword s17, s[6:7], 0x11"),
            8 => self.put("s_load_dword s17, s[6:7], 0x44"),
            _ => self.put("s_mov_b64 s[16:17], src_private_base"),
        }
        self.wait();
    }

    /// `v[52:53]` and `v[54:55]`: this lane's bytes of C's two buffers.
    fn buffers(&mut self) {
        self.put("s_getpc_b64 s[16:17]");
        self.put("s_add_u32 s16, s16, cio@gotpcrel32@lo+4");
        self.put("s_addc_u32 s17, s17, cio@gotpcrel32@hi+12");
        self.put("s_load_dwordx2 s[16:17], s[16:17], 0x0");
        self.wait();
        self.put("s_load_dwordx4 s[20:23], s[16:17], 0x0");
        self.wait();
        self.put("v_mbcnt_lo_u32_b32 v48, -1, 0");
        if self.config.target.wave_size == 64 {
            self.put("v_mbcnt_hi_u32_b32 v48, -1, v48");
        }
        self.put(&format!("v_lshlrev_b32 v48, {}, v48", STRIDE.trailing_zeros()));
        for (to, from) in [(52, 20), (54, 22)] {
            self.put(&format!("v_or_b32 v{to}, s{from}, v48"));
            self.put(&format!("v_mov_b32 v{}, s{}", to + 1, from + 1));
        }
    }

    /// `fN`, `hN`: stores what the places hold, then puts the result into its places.
    fn callee(&mut self, name: &str, case: &Case) {
        self.begin(name);
        self.buffers();
        let (args, result) = (args_of(case), result_of(case));
        for k in 0..args.cells.len() {
            let reg = self.read(&args, k);
            self.flat(true, &reg, 52, 4 * k);
        }
        // The address of the result lies where results do not.
        for (place, to) in result.places.iter().zip(["v50", "v51"]) {
            if matches!(result.cells.first(), Some(Cell::Behind(..) | Cell::Flat(..))) {
                self.fetch(*place, to);
            }
        }
        let mut written = Vec::new();
        for (k, cell) in result.cells.iter().enumerate() {
            self.flat(false, "v33", 54, 4 * k);
            match *cell {
                Cell::Behind(_, at, bytes) => self.private(true, "v33", "v50", at, bytes),
                Cell::Flat(_, at, bytes) => self.store_flat(at, bytes),
                Cell::On(..) => panic!("a result is not on the stack"),
                Cell::At(place) => {
                    let Place::Vgpr(reg) = result.places[place] else { panic!("a result is in VGPRs") };
                    self.put(&format!("v_mov_b32 v{reg}, v33"));
                    written.push(reg);
                }
            }
        }
        self.scramble(&written);
        self.end(name);
    }

    /// Writes what a call does not preserve.
    fn scramble(&mut self, but: &[u16]) {
        for reg in (0..40).chain(48..56).filter(|reg| !but.contains(reg)) {
            self.put(&format!("v_mov_b32 v{reg}, 0x5a5a5a5a"));
        }
        for reg in if self.has_descriptor() { 4..30 } else { 0..30 } {
            self.put(&format!("s_mov_b32 s{reg}, 0xa5a5a5a5"));
        }
        if self.config.target.has(isa::Feature::MAI) {
            let kept = preserved(self.config.convention, &self.config.target).agprs;
            let is_kept = |reg: &u16| kept.iter().any(|&(from, to)| (from..=to).contains(reg));
            for reg in (0..56).filter(|reg| !is_kept(reg)) {
                self.put(&format!("v_accvgpr_write_b32 a{reg}, v39"));
            }
        }
        // Of those that are not preserved; that it is named makes room for all of clang's.
        self.put("v_mov_b32 v119, 0x5a5a5a5a");
        self.put("s_mov_b64 vcc, 0");
    }

    fn fetch(&mut self, place: Place, reg: &str) {
        match place {
            Place::Vgpr(from) => self.put(&format!("v_mov_b32 {reg}, v{from}")),
            Place::Sgpr(from) => self.put(&format!("v_mov_b32 {reg}, s{from}")),
            Place::Stack(at) => self.stack(false, reg, at),
        }
    }

    fn read(&mut self, cells: &Cells, k: usize) -> String {
        match cells.cells[k] {
            Cell::At(place) => match cells.places[place] {
                // What lies beside a part need not be written.
                Place::Stack(at) => self.stack_bytes(false, "v33", at, bytes_of(&cells.holds[k])),
                other => self.fetch(other, "v33"),
            },
            Cell::Flat(..) => panic!("only results have flat addresses"),
            Cell::Behind(place, at, bytes) => {
                self.fetch(cells.places[place], "v34");
                self.private(false, "v33", "v34", at, bytes);
            }
            Cell::On(at, bytes) => self.stack_bytes(false, "v33", at, bytes),
        }
        "v33".to_owned()
    }

    /// `shimN`: what the places hold comes from `v[0:1]`; what the function of clang's gives goes to
    /// `v[2:3]`.
    fn caller(&mut self, i: usize, case: &Case) {
        let name = format!("shim{i}");
        self.begin(&name);
        let (args, result) = (args_of(case), result_of(case));
        let (frame, rooms) = frame(case);
        self.put("v_mov_b32 v33, 0");
        for at in (0..frame + case.assignment.stack_bytes).step_by(4) {
            assert!(at <= REACH);
            self.access((true, 4), "v33", ("off", "s32"), at);
        }
        self.wait();
        for (at, reg) in [(0, "s30"), (4, "s31"), (16, "s34"), (20, "s35")] {
            self.put(&format!("v_mov_b32 v33, {reg}"));
            self.stack(true, "v33", at);
        }
        for (at, reg) in [(8, "v2"), (12, "v3"), (24, "v40"), (28, "v41")] {
            self.stack(true, reg, at);
        }
        self.put("v_mov_b32 v52, v0\n  v_mov_b32 v53, v1");
        // Padding has registers as well, and clang may store them.
        (0..31).for_each(|reg| self.put(&format!("v_mov_b32 v{reg}, 0")));
        self.put("s_mov_b32 s34, 0x1234\n  s_mov_b32 s35, 0x5678");
        self.put("v_mov_b32 v40, 0x4321\n  v_mov_b32 v41, 0x8765");
        if self.config.target.has(isa::Feature::UNIFIED_VGPRS) {
            self.put("v_accvgpr_write_b32 a40, v41");
        }
        self.addresses(&args, &result, frame, &rooms);
        for (k, cell) in args.cells.iter().enumerate() {
            self.flat(false, "v33", 52, 4 * k);
            match *cell {
                Cell::At(place) => self.deliver(args.places[place], frame),
                Cell::Flat(..) => panic!("only results have flat addresses"),
                Cell::Behind(place, at, bytes) => {
                    let room = rooms[&args.places[place].key()];
                    self.stack_bytes(true, "v33", room + at, bytes);
                }
                Cell::On(at, bytes) => self.stack_bytes(true, "v33", frame + at, bytes),
            }
        }
        let scale = self.config.target.stack_scale();
        self.put(&format!("s_add_u32 s32, s32, {:#x}", frame * scale));
        self.put("s_getpc_b64 s[16:17]");
        self.put(&format!("s_add_u32 s16, s16, g{i}@rel32@lo+4"));
        self.put(&format!("s_addc_u32 s17, s17, g{i}@rel32@hi+12"));
        self.put("s_swappc_b64 s[30:31], s[16:17]");
        self.wait();
        self.put(&format!("s_sub_u32 s32, s32, {:#x}", frame * scale));
        self.stack(false, "v52", 8);
        self.stack(false, "v53", 12);
        self.results(&result, &rooms);
        let agpr = if self.config.target.has(isa::Feature::UNIFIED_VGPRS) { "a40" } else { "v41" };
        for (k, reg) in ["v40", "v41", "s34", "s35", agpr].iter().enumerate() {
            match reg.starts_with('a') {
                true => self.put(&format!("v_accvgpr_read_b32 v33, {reg}")),
                false => self.put(&format!("v_mov_b32 v33, {reg}")),
            }
            self.flat(true, "v33", 52, KEPT + 4 * k);
        }
        for (at, reg) in [(0, 30), (4, 31), (16, 34), (20, 35)] {
            self.stack(false, "v33", at);
            self.put(&format!("v_readfirstlane_b32 s{reg}, v33"));
        }
        self.stack(false, "v40", 24);
        self.stack(false, "v41", 28);
        self.end(&name);
    }

    /// Addresses of what lies in this frame.
    fn addresses(&mut self, args: &Cells, result: &Cells, frame: u32, rooms: &BTreeMap<(u8, u32), u32>) {
        for place in args.places.iter().chain(&result.places) {
            let Some(room) = rooms.get(&place.key()) else { continue };
            self.put(&format!("s_lshr_b32 s16, s32, {}", self.config.target.stack_scale().trailing_zeros()));
            self.put(&format!("s_add_u32 s16, s16, {room:#x}"));
            self.put("v_mov_b32 v33, s16");
            self.deliver(*place, frame);
        }
        if let Some(Cell::Flat(lower, ..)) = result.cells.first() {
            self.aperture();
            self.put("v_mov_b32 v33, s17");
            self.deliver(result.places[lower + 1], frame);
        }
    }

    /// `v33` to a place of an argument.
    fn deliver(&mut self, place: Place, frame: u32) {
        match place {
            Place::Vgpr(reg) => self.put(&format!("v_mov_b32 v{reg}, v33")),
            Place::Sgpr(_) => panic!("no argument is marked"),
            Place::Stack(at) => self.stack(true, "v33", frame + at),
        }
    }

    fn results(&mut self, result: &Cells, rooms: &BTreeMap<(u8, u32), u32>) {
        for (k, cell) in result.cells.iter().enumerate() {
            match *cell {
                Cell::At(place) => self.fetch(result.places[place], "v33"),
                Cell::Behind(place, at, bytes) | Cell::Flat(place, at, bytes) => {
                    let room = rooms[&result.places[place].key()];
                    self.stack_bytes(false, "v33", room + at, bytes);
                }
                Cell::On(..) => panic!("a result is not on the stack"),
            }
            self.flat(true, "v33", 52, 4 * k);
        }
    }
}

/// Where the shim stores what the call preserved.
const KEPT: usize = STRIDE - 64;

trait Key {
    fn key(&self) -> (u8, u32);
}

impl Key for Place {
    fn key(&self) -> (u8, u32) {
        match *self {
            Place::Vgpr(reg) => (0, u32::from(reg)),
            Place::Sgpr(reg) => (1, u32::from(reg)),
            Place::Stack(at) => (2, at),
        }
    }
}

/// Bytes of the shim's frame, and where in it lies what a place has the address of.
fn frame(case: &Case) -> (u32, BTreeMap<(u8, u32), u32>) {
    let (mut end, mut rooms) = (64u32, BTreeMap::new());
    let all = case.assignment.params.iter().zip(case.params.iter().map(|param| param.ty));
    let returned = case.assignment.result.iter().zip(case.result);
    for (passed, ty) in all.chain(returned) {
        if passed.how == How::Address {
            let piece = &case.assignment.pieces_of(passed)[0];
            end = end.next_multiple_of(case.types.align(ty).max(16) as u32);
            rooms.insert(piece.place.key(), end);
            end += case.types.size(ty).next_multiple_of(4) as u32;
        }
    }
    (end.next_multiple_of(16), rooms)
}

/// What clang makes of a source.
fn clang(config: &Config, source: &Path, text: &str) -> Vec<u8> {
    std::fs::write(source, text).unwrap();
    let object = source.with_added_extension("o");
    let mut command = Tool::new(config.clang);
    command.args([
        "-target",
        "amdgcn-amd-amdhsa",
        "-mcode-object-version=4",
        "-nogpulib",
        config.level,
        "-w",
        "-c",
    ]);
    // Without replay: clang 19 has clauses in code for either that replay would not survive.
    let suffix = if config.target.has(isa::Feature::XNACK) { ":xnack-" } else { "" };
    command.arg(format!("-mcpu={}{suffix}", config.target.name));
    if config.target.has(isa::Feature::WAVE32) && config.target.wave_size == 64 {
        command.arg("-mwavefrontsize64");
    }
    let output = command.arg(source).arg("-o").arg(&object).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&object).unwrap()
}

/// Our side as an object.
pub fn assemble(text: &str, config: &Config, stem: &str) -> Vec<u8> {
    let options = asm::Options {
        target: Some(&isa::PROCESSORS[usize::from(config.target.number)]),
        kind: asm::Kind::Relocatable,
        version: Some(4),
        xnack: config.target.has(isa::Feature::XNACK).then_some(false),
        wave64: config.target.wave_size == 64,
        ..asm::Options::default()
    };
    asm::assemble(text, &options).unwrap_or_else(|errors| panic!("{stem}: {:?}", errors[0]))
}

fn build(cases: &[Case], config: &Config) -> Vec<u8> {
    let dir = Folder::new("interop");
    let lanes = config.target.wave_size;
    let stem = format!(
        "interop-{}-{}-{lanes}{}{}-{}-{}",
        config.clang,
        config.target.name,
        config.level,
        config.name,
        cases[0].seed,
        cases.len()
    );
    let theirs = clang(config, &dir.join(format!("{stem}.c")), &c::source(cases, config));
    let kernels = clang(config, &dir.join(format!("{stem}.cl")), &c::kernels(cases.len()));
    let mut text = Asm { out: ".text\n".into(), config };
    for (i, case) in cases.iter().enumerate() {
        text.callee(&format!("f{i}"), case);
        text.callee(&format!("h{i}"), case);
        text.caller(i, case);
    }
    std::fs::write(dir.join(format!("{stem}.s")), &text.out).unwrap();
    let ours = assemble(&text.out, config, &stem);
    let files = [("theirs", &theirs), ("kernels", &kernels), ("ours", &ours)];
    let inputs = files.map(|(name, data)| link::Input { name, data, is_lazy: false });
    link::link(&inputs, &link::Options::default()).unwrap_or_else(|faults| panic!("{stem}: {}", faults[0]))
}

/// What strict mode says of clang's own code and is not about calls: padding that nothing has written is
/// stored with the rest of a struct (what is no padding is compared); and halves of a register are loaded one
/// behind the other without a wait between (gfx1010).
fn is_known(report: &sim::Report) -> bool {
    report.rule == "uninitialised-store" || report.rule == "read-in-flight" && report.at.text.contains("_d16")
}

/// Buffers of a run: what goes in and what came out, of kernel and function.
struct Machine {
    device: Device,
    module: sim::ModuleId,
    buffers: [sim::DevicePtr; 4],
}

impl Machine {
    fn new(object: &[u8]) -> Machine {
        let object = CodeObject::load(object).unwrap_or_else(|error| panic!("{error}"));
        let mut device = Device::with_threads(1);
        device.set_mode(sim::Mode::Strict { keep_going: true });
        let module = device.load(&object).unwrap_or_else(|fault| panic!("{fault}"));
        let bytes = (STRIDE * 4) as u64;
        let buffers = [(); 4].map(|()| {
            let at = device.alloc(2 * bytes).unwrap();
            at + (at.next_multiple_of(bytes) - at)
        });
        let (cio, _) = device.symbol(module, "cio").expect("cio");
        let both = [buffers[2], buffers[3]];
        device.write(cio, &both.iter().flat_map(|at| at.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        Machine { device, module, buffers }
    }

    fn run(&mut self, kernel: &str, inputs: [&[Vec<u8>]; 2]) -> Result<[Vec<Vec<u8>>; 2], String> {
        let [input, output, stored, returned] = self.buffers;
        for buffer in self.buffers {
            self.device.fill(buffer, 0xcc, (STRIDE * LANES) as u64).unwrap();
        }
        for (buffer, lanes) in [(input, inputs[0]), (returned, inputs[1])] {
            for (lane, bytes) in lanes.iter().enumerate() {
                self.device.write(buffer + (lane * STRIDE) as u64, bytes).unwrap();
            }
        }
        let kernarg = [input, output].iter().flat_map(|at| at.to_le_bytes()).collect();
        let size = [LANES as u32, 1, 1];
        let dispatch = Dispatch { kernel, grid: size, group: size, kernarg, ..Dispatch::default() };
        self.device.run(self.module, &dispatch).map_err(|fault| fault.to_string())?;
        let report = self.device.reports().iter().find(|report| !is_known(report));
        if let Some(report) = report {
            return Err(report.to_string());
        }
        let read = |buffer| {
            let lane = |lane: usize| {
                let mut bytes = vec![0; STRIDE];
                self.device.read(buffer + (lane * STRIDE) as u64, &mut bytes).unwrap();
                bytes
            };
            (0..LANES).map(lane).collect::<Vec<_>>()
        };
        Ok([read(output), read(stored)])
    }
}

/// Whether clang's callee takes an argument wrongly: `tests/llvm`, `lanes_on_the_stack`. Optimised code of
/// ours does not ask for it.
fn is_wrong_in_llvm(case: &Case, config: &Config) -> bool {
    let wrong = |(passed, param): (&Passed, &Param)| {
        let pieces = case.assignment.pieces_of(passed);
        let on_stack = matches!(pieces.first().map(|piece| piece.place), Some(Place::Stack(_)));
        let is_wrong =
            matches!((case.types.size(param.ty), callconv::has_16_bit(&config.target)), (2, _) | (4, false));
        on_stack && passed.how == How::Value && pieces.len() > 1 && is_wrong
    };
    config.level == "-O0" && case.assignment.params.iter().zip(&case.params).any(wrong)
}

/// Mistakes of both roles.
pub fn run(cases: &[Case], config: &Config) -> Vec<String> {
    let mut machine = Machine::new(&build(cases, config));
    let mut wrong = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        for (role, found) in [
            ("clang calls", calls_ours(&mut machine, "A", i, case)),
            ("clang calls by a pointer", calls_ours(&mut machine, "P", i, case)),
            ("clang is called", calls_clang(&mut machine, i, case)),
        ] {
            if role == "clang is called" && is_wrong_in_llvm(case, config) {
                continue;
            }
            if let Err(text) = found {
                let Config { clang, target, .. } = config;
                let places: Vec<_> = case
                    .assignment
                    .params
                    .iter()
                    .map(|passed| {
                        (passed.how, case.assignment.pieces_of(passed).first().map(|piece| piece.place))
                    })
                    .collect();
                wrong.push(format!(
                    "{clang} {target}, seed {}, {i}: {role}: {text}\n    {places:?}",
                    case.seed
                ));
            }
        }
    }
    wrong
}

fn tys(case: &Case) -> Vec<TypeId> {
    case.params.iter().map(|param| param.ty).collect()
}

fn calls_ours(machine: &mut Machine, role: &str, i: usize, case: &Case) -> Result<(), String> {
    let (args, result) = (args_of(case), result_of(case));
    let images: Vec<_> = (0..LANES).map(|lane| image(case, lane)).collect();
    let results: Vec<_> =
        case.returned.iter().map(|value| dwords(&result, std::slice::from_ref(value))).collect();
    let [out, stored] = machine.run(&format!("{role}{i}"), [&images, &results])?;
    for lane in 0..LANES {
        if let Some(text) = check_cells(case, &args, &tys(case), &case.args[lane], &stored[lane]) {
            return Err(format!("arguments of lane {lane}: {text}"));
        }
        if let Some(ty) = case.result
            && !same(&case.types, ty, &out[lane], &case.returned[lane])
        {
            let size = case.returned[lane].len();
            return Err(format!("result: {:02x?}, not {:02x?}", &out[lane][..size], case.returned[lane]));
        }
    }
    Ok(())
}

fn calls_clang(machine: &mut Machine, i: usize, case: &Case) -> Result<(), String> {
    let (args, result) = (args_of(case), result_of(case));
    let places: Vec<_> = case.args.iter().map(|values| dwords(&args, values)).collect();
    let [out, stored] = machine.run(&format!("B{i}"), [&places, &case.returned])?;
    for lane in 0..LANES {
        for (k, at) in offsets(case).into_iter().enumerate() {
            let (ty, value) = (case.params[k].ty, &case.args[lane][k]);
            if !same(&case.types, ty, &stored[lane][at..], value) {
                let found = &stored[lane][at..at + value.len()];
                return Err(format!("argument {k} of lane {lane}: {found:02x?}, not {value:02x?}"));
            }
        }
        if let Some(ty) = case.result
            && let Some(text) =
                check_cells(case, &result, &[ty], std::slice::from_ref(&case.returned[lane]), &out[lane])
        {
            return Err(format!("result: {text}"));
        }
        let kept: Vec<u8> =
            [0x4321u32, 0x8765, 0x1234, 0x5678, 0x8765].iter().flat_map(|word| word.to_le_bytes()).collect();
        if out[lane][KEPT..KEPT + 20] != kept {
            return Err(format!("preserved: {:02x?}", &out[lane][KEPT..KEPT + 20]));
        }
    }
    Ok(())
}
