//! Debug information of code objects: from what passes kept of the source to DWARF.
//!
//! The way: [`final_code`] finds out where statements begin and where variables are, [`calls`] what calls pass, [`lanes`] where lanes wait; [`scopes`] which code
//! is of which block and which inlined call; [`info`] writes entries ([`entries`]), with places as [`expression`] has them and values as [`computed`] does,
//! [`names`] their index, and [`lines`] the table of lines. All of it becomes
//! [`sections`] of the object that [`emit`] writes.
//!
//! The compiler writes it when it is asked to (`-g`); the table of lines that is always there is [`emit`]'s. Reading is `dwarf`'s.

mod calls;
mod computed;
mod entries;
mod expression;
mod final_code;
mod info;
mod lanes;
mod lines;
mod names;
mod scopes;
mod sections;

use calls::Call;
use emit::Dialect;
use emit::lines::{Lines, Place};
use final_code::FinalCode;
use ir::describe::Description;
use ir::track::{Site, Variable};
use isa::{FuncRole, MachFunc, Subtarget};
use objwriter::dwarf::Contents;
pub use sections::Version;

/// How to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Version of DWARF.
    pub version: Version,
    /// With the extensions or without.
    pub dialect: Dialect,
    /// Whether the source goes along (seed 000, line 2133).
    pub embed_source: bool,
    /// Whether there is an index of names, in version 5.
    pub names: bool,
    /// Whether private memory holds variables wherever statements begin: where the optimiser has moved and removed no access.
    pub memory_is_true: bool,
}

/// A function of the object.
#[derive(Clone, Debug)]
struct Function {
    /// What it is in the source: a number of [`Description::functions`].
    number: u32,
    /// Its code.
    code: FinalCode,
    /// Of its variables, the numbers of their first leaves.
    first_leaves: Vec<u32>,
    /// Calls in it.
    calls: Vec<Call>,
    /// Its variables, and those of what was inlined.
    variables: Vec<Variable>,
    /// What was inlined.
    sites: Vec<Site>,
    /// Lanes of a wavefront.
    lanes: u32,
    /// Where they are, if that is said.
    lanes_at: Option<lanes::Lanes>,
    /// Whether others call it.
    is_called: bool,
    /// Offsets of private variables, by their numbers.
    slots: Vec<u32>,
    /// Offsets in LDS of variables of the module, by their numbers; `u32::MAX` where there is none.
    shared: Vec<u32>,
}

/// Memory that is kept from one object to the next.
#[derive(Debug, Default)]
pub struct Scratch(final_code::Scratch);

/// All that an object says of its source.
#[derive(Clone, Debug)]
pub struct DebugInfo {
    options: Options,
    description: Description,
    /// In the order of the code: kernels, then functions; none for those that the source does not have.
    functions: Vec<Option<Function>>,
    /// What they are in the module.
    ids: Vec<ir::FuncId>,
    stride: u32,
    lines: Lines,
    /// The texts of all files, if they go along.
    source: Option<String>,
}

impl DebugInfo {
    /// What is known of a module and its final code. Instructions get their places in the source back. `funcs` are the IR's functions in the order
    /// of the code.
    pub fn new(
        (options, target): (Options, &Subtarget),
        module: &mut ir::Module,
        (ids, code): (&[ir::FuncId], &mut [MachFunc]),
        (lines, source): (Lines, &str),
        scratch: &mut Scratch,
    ) -> DebugInfo {
        let description = module.description.take().map(|description| *description).unwrap_or_default();
        let mut stride = 0;
        let dwords = Dwords::of(module);
        let mut functions = Vec::with_capacity(code.len());
        for (&id, mach) in ids.iter().zip(code) {
            let func = &mut module.funcs[id];
            let own = func.kernel.as_ref().and_then(|kernel| kernel.state.wave_size).or(mach.wave_size);
            let target = own.and_then(|lanes| target.with_wave_size(lanes)).unwrap_or(*target);
            let (Some(track), Some(mut said)) = (mach.track.take(), func.track.take()) else {
                functions.push(None);
                continue;
            };
            stride = said.stride;
            let says_lanes = options.dialect == Dialect::Heterogeneous;
            let code = final_code::read(mach, &track, &target, says_lanes, &mut scratch.0);
            let lanes_at = says_lanes.then(|| lanes::read(mach, &target));
            let calls = calls::read(mach, &track, &target, |callee| dwords.passed(callee));
            for inst in mach.blocks.values_mut().flat_map(|block| &mut block.insts) {
                inst.loc = said.split(ir::SrcLoc(track.place(inst.loc))).0.0;
            }
            functions.push(Some(Function {
                number: said.number,
                code,
                first_leaves: said.first_leaves().collect(),
                calls,
                variables: std::mem::take(&mut said.variables),
                sites: std::mem::take(&mut said.sites),
                lanes: target.wave_size,
                lanes_at,
                is_called: mach.role == FuncRole::Callee,
                slots: track.slots.clone(),
                shared: track.shared.clone(),
            }));
            func.end_track(said);
            mach.spare.track = Some(track);
        }
        let source = options.embed_source.then(|| source.to_owned());
        DebugInfo { options, description, functions, ids: ids.to_vec(), stride, lines, source }
    }

    /// A place in the source and the site that it is of.
    fn split(&self, loc: u32) -> (u32, u32) {
        let (loc, site) = ir::track::split(ir::SrcLoc(loc), self.stride);
        (loc.0, site)
    }

    /// Where a function is declared.
    fn declaration(&self, function: &Function) -> Place {
        let declared = self.description.functions.get(function.number as usize);
        declared.map_or_else(Place::default, |declared| self.place(declared.loc))
    }

    /// File, line and column of a place; of no line if there is none.
    fn place(&self, loc: ir::SrcLoc) -> Place {
        self.lines.place(self.split(loc.0).0).unwrap_or_default()
    }
}

/// How many dwords of arguments functions have, and those that are called by a pointer.
struct Dwords {
    functions: Vec<u32>,
    signatures: Vec<u32>,
}

impl Dwords {
    fn of(module: &ir::Module) -> Dwords {
        let of_params = |func: &ir::Function| {
            let params = func.layout.first().map_or(&[][..], |&entry| func.params(entry));
            params.iter().map(|&param| func.ty(param).dwords()).sum()
        };
        Dwords {
            functions: module.funcs.values().map(of_params).collect(),
            signatures: module
                .sigs
                .values()
                .map(|sig| sig.params.iter().map(|ty| ty.dwords()).sum())
                .collect(),
        }
    }

    fn passed(&self, callee: isa::Callee) -> u32 {
        let known = match callee {
            isa::Callee::Func(number) => self.functions.get(number as usize),
            isa::Callee::Pointer(number) => self.signatures.get(number as usize),
        };
        known.copied().unwrap_or(0)
    }
}

impl emit::DebugSections for DebugInfo {
    fn sections(&self, image: &emit::Image<'_>) -> Vec<(&'static str, Contents)> {
        info::write(self, image)
    }
}
