//! Debug information of code objects: turns what the passes kept about the source into DWARF.
//!
//! In the first step, [`final_code`] finds where statements begin and where variables are located, [`calls`]
//! finds what each call passes, and [`lanes`] finds where inactive lanes wait. [`scopes`] assigns code to the
//! blocks of the source and to inlined calls. [`info`] writes the entries ([`entries`]), with variable
//! locations from [`expression`] and computed values from [`computed`]. [`names`] writes the index of names,
//! and [`lines`] writes the line table. The results become [`sections`] of the object that [`emit`] writes.
//!
//! The compiler writes this debug information only if the user asks for it (`-g`). The line table that every
//! object has is written by [`emit`]. Reading debug information is the task of the `dwarf` crate.

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
use emit::lines::{Lines, SourcePosition};
use final_code::FinalCode;
use ir::describe::Description;
use ir::track::{Site, Variable};
use isa::Subtarget;
use mir::{FuncRole, MachFunc};
use objwriter::dwarf::Contents;
pub use sections::Version;

/// Options for writing debug information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Version of DWARF.
    pub version: Version,
    /// Whether the DWARF extensions of the guide are used.
    pub dialect: Dialect,
    /// Whether the line table contains the text of the source files (LLVM's AMDGPU guide, seed 000, line
    /// 2133).
    pub embed_source: bool,
    /// Whether the index of names, `.debug_names`, is written. DWARF 4 does not have this section.
    pub names: bool,
    /// Whether a variable that has a copy in private memory can always be read from there when a statement
    /// begins. This is so if the optimiser has neither moved nor removed accesses to memory.
    pub memory_is_true: bool,
}

/// A function of the object, with everything from which its debug information is written.
#[derive(Clone, Debug)]
struct Function {
    /// Number of the function in the description of the source: an index into [`Description::functions`].
    number: u32,
    /// Final code of the function.
    code: FinalCode,
    /// For each variable of the function, the number of its first fragment (scalar part of the variable).
    first_fragments: Vec<u32>,
    /// Calls in the function.
    calls: Vec<Call>,
    /// Variables of the function itself and of the functions inlined into it.
    variables: Vec<Variable>,
    /// Inlined calls.
    sites: Vec<Site>,
    /// Number of lanes in a wavefront.
    lanes: u32,
    /// Where the lanes are, if the dialect can describe that.
    lanes_at: Option<lanes::Lanes>,
    /// Whether other functions call this function. This is false for kernels.
    is_called: bool,
    /// For each variable that has a copy in private memory, the byte offset of the copy there. The index is
    /// the number of the variable's slot.
    slots: Vec<u32>,
    /// Offsets in LDS of the module's variables, by number of the variable. The offset is `u32::MAX` for a
    /// variable that the function does not use.
    shared: Vec<u32>,
}

/// Memory that is reused from one object to the next.
#[derive(Debug, Default)]
pub struct Scratch(final_code::Scratch);

/// Everything that an object says about its source.
#[derive(Clone, Debug)]
pub struct DebugInfo {
    options: Options,
    description: Description,
    /// Functions in the order of the code: kernels first, then other functions. `None` for a function that
    /// the compiler generated without source.
    functions: Vec<Option<Function>>,
    /// Identifiers of the functions in the module, in the same order.
    ids: Vec<ir::FuncId>,
    stride: u32,
    lines: Lines,
    /// Concatenated texts of all source files, if the texts are embedded.
    source: Option<String>,
}

impl DebugInfo {
    /// Collects the debug information of a module from its final code. `ids` are the functions of the IR in
    /// the order of `code`.
    ///
    /// While debug information is kept, `MachInst::loc` holds the number of an IR operation (a point).
    /// Afterwards it holds the source location again.
    pub fn new(
        (options, target): (Options, &Subtarget),
        module: &mut ir::Module,
        (ids, code): (&[ir::FuncId], &mut [MachFunc]),
        (lines, source): (Lines, &str),
        scratch: &mut Scratch,
    ) -> DebugInfo {
        let description = module.description.take().map(|description| *description).unwrap_or_default();
        let mut stride = 0;
        let dwords = Dwords::for_module(module);
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
            let calls = calls::read(mach, &track, &target, |callee| dwords.argument_dwords(callee));
            for inst in mach.blocks.values_mut().flat_map(|block| &mut block.insts) {
                inst.loc = said.split(ir::SrcLoc(track.location_of_point(inst.loc))).0.0;
            }
            functions.push(Some(Function {
                number: said.number,
                code,
                first_fragments: said.first_fragments().collect(),
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

    /// Splits the location of an instruction into two parts: the source location, and the number of the
    /// inlined call to which the instruction belongs. The number is 0 for code that was not inlined.
    fn split(&self, loc: u32) -> (u32, u32) {
        let (loc, site) = ir::track::split(ir::SrcLoc(loc), self.stride);
        (loc.0, site)
    }

    /// Returns the source location at which a function is declared.
    fn declaration(&self, function: &Function) -> SourcePosition {
        let declared = self.description.functions.get(function.number as usize);
        declared.map_or_else(SourcePosition::default, |declared| self.source_position(declared.loc))
    }

    /// Returns the file, line and column of a location. The line is 0 if the location is unknown.
    fn source_position(&self, loc: ir::SrcLoc) -> SourcePosition {
        self.lines.position(self.split(loc.0).0).unwrap_or_default()
    }
}

/// The number of dwords that the arguments of a call take in registers. It is known for each called function
/// and for each signature. For a call through a function pointer, only the signature is known.
struct Dwords {
    functions: Vec<u32>,
    signatures: Vec<u32>,
}

impl Dwords {
    fn for_module(module: &ir::Module) -> Dwords {
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

    fn argument_dwords(&self, callee: mir::Callee) -> u32 {
        let known = match callee {
            mir::Callee::Func(number) => self.functions.get(number as usize),
            mir::Callee::Pointer(number) => self.signatures.get(number as usize),
        };
        known.copied().unwrap_or(0)
    }
}

impl emit::DebugSections for DebugInfo {
    fn sections(&self, image: &emit::Image<'_>) -> Vec<(&'static str, Contents)> {
        info::write(self, image)
    }
}
