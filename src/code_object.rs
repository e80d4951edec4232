//! The result of a compilation.

use crate::error::Error;
use crate::models::own_target;
use crate::register_limit::{VgprLimit, vgpr_limit};
use debuginfo::DebugInfo;
use emit::lines::Lines;
use emit::{Dialect, EmitError, Language, Program, ValueKind};
use ir::{ParamKind, Space};
use isa::{Hidden, Occupancy, Subtarget, Usage};
use mir::{Archive, MachFunc};
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;
use std::fmt;
use std::sync::OnceLock;

/// A compiled translation unit.
///
/// Besides the bytes of the loadable object, it keeps the machine code and facts about kernels and variables.
/// These are needed to write a listing or a relocatable object. [`CodeObject::into_bytes`] drops everything
/// but the bytes.
#[derive(Clone)]
pub struct CodeObject {
    target: Subtarget,
    language: Language,
    bytes: Vec<u8>,
    signatures: SmallVec<[Signature; 1]>,
    /// Parameters of all kernels, one kernel after the other.
    params: Vec<ir::KernelParam>,
    variables: Vec<(ir::Global, ir::GlobalData)>,
    /// Functions and variables that the code refers to and that another object file defines.
    externals: Vec<(mir::Referent, SmolStr)>,
    /// Signatures for [`emit::Program::signatures`].
    function_signatures: Vec<String>,
    /// LDS variables whose addresses the linker chooses, in the order of their symbols.
    shared: Vec<(ir::Global, ir::GlobalData)>,
    /// The functions of the module, by id, whose code follows the code of the kernels. The flag says whether
    /// other object files may call the function.
    functions: Vec<(ir::FuncId, bool)>,
    /// Formats of `printf` as the metadata lists them.
    formats: Vec<String>,
    code: Archive,
    /// Lines of the source, if the object has a line table.
    lines: Option<Lines>,
    /// Full debug information, if requested.
    debug: Option<Box<DebugInfo>>,
    /// Dialect in which the call frame information is written, or `None` if the object has no call frame
    /// information.
    frames: Option<Dialect>,
    /// Kernel information, computed at its first use.
    kernels: OnceLock<Vec<KernelInfo>>,
}

/// A kernel without its parameters and its code.
#[derive(Clone)]
struct Signature {
    info: ir::KernelInfo,
    /// Number of the kernel's parameters in the object's list.
    params: usize,
    name: SmolStr,
    kernarg_size: u32,
    resources: Resources,
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelArg {
    /// Name.
    pub name: SmolStr,
    /// Type of the parameter as the source writes it. The text of a struct includes the struct's fields.
    pub type_name: SmolStr,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Whether the argument is a pointer to a buffer and not a value.
    pub is_pointer: bool,
}

/// Resources that a wave of the kernel occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resources {
    /// Number of vector registers. It includes the accumulation registers on processors where both are in one
    /// register file.
    pub vgprs: u32,
    /// Number of accumulation registers.
    pub agprs: u32,
    /// Number of scalar registers, including VCC.
    pub sgprs: u32,
    /// Bytes of statically allocated LDS.
    pub lds: u32,
    /// Bytes of scratch memory per work-item.
    pub scratch: u32,
    /// Dwords spilled from vector registers.
    pub spilled_vgprs: u32,
    /// Dwords spilled from scalar registers.
    pub spilled_sgprs: u32,
    /// Bytes of code.
    pub code_bytes: u32,
    /// Number of instructions.
    pub instructions: u32,
    /// Waves per SIMD and the resource that limits them.
    pub occupancy: Occupancy,
    /// Largest number of vector registers that the kernel may use.
    pub vgpr_limit: VgprLimit,
}

/// Reason why the compiler inserted an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// Name of the kernel that contains the instruction.
    pub kernel: SmolStr,
    /// Byte offset of the instruction from the kernel's first instruction.
    pub offset: u32,
    /// Why the compiler inserted the instruction, as listings show it: `vmcnt: v_fmac_f32 needs v2 of
    /// global_load_dword`.
    pub text: String,
}

/// Facts about a kernel: what a host needs to launch the kernel, and what engineers may want to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelInfo {
    /// Name of the kernel; the symbol of its descriptor is `NAME.kd`.
    pub name: SmolStr,
    /// Arguments in order.
    pub args: Vec<KernelArg>,
    /// Bytes of the kernarg segment, including implicit arguments.
    pub kernarg_size: u32,
    /// Required work-group size.
    pub workgroup_size: Option<[u32; 3]>,
    /// Registers, memory and occupancy.
    pub resources: Resources,
}

/// Value of a kernel argument.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Arg<'a> {
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    /// A device address.
    Pointer(u64),
    /// A struct or vector with the memory layout of the language.
    Bytes(&'a [u8]),
}

/// Error for arguments that do not match the kernel's parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackError {
    /// The number of arguments is wrong.
    Count {
        /// Number of arguments that the kernel takes.
        expected: usize,
        /// Number of arguments given.
        given: usize,
    },
    /// An argument has the wrong size.
    Size {
        /// Name of the argument.
        name: String,
        /// Size of the parameter in bytes.
        expected: u32,
        /// Size of the given argument in bytes.
        given: u32,
    },
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackError::Count { expected, given } => {
                write!(f, "the kernel takes {expected} arguments, {given} were given")
            }
            PackError::Size { name, expected, given } => {
                write!(f, "argument `{name}` takes {expected} bytes, {given} were given")
            }
        }
    }
}

impl std::error::Error for PackError {}

impl<'a> Arg<'a> {
    /// Returns the bytes of the argument as they are stored in memory. If the argument is a number, `scalar`
    /// holds these bytes.
    fn bytes<'b>(self, scalar: &'b mut [u8; 8]) -> &'b [u8]
    where
        'a: 'b,
    {
        let (bits, size) = match self {
            Arg::I8(value) => (value as u64, 1),
            Arg::U8(value) => (u64::from(value), 1),
            Arg::I16(value) => (value as u64, 2),
            Arg::U16(value) => (u64::from(value), 2),
            Arg::I32(value) => (value as u64, 4),
            Arg::U32(value) => (u64::from(value), 4),
            Arg::F32(value) => (u64::from(value.to_bits()), 4),
            Arg::I64(value) => (value as u64, 8),
            Arg::U64(value) | Arg::Pointer(value) => (value, 8),
            Arg::F64(value) => (value.to_bits(), 8),
            Arg::Bytes(bytes) => return bytes,
        };
        *scalar = bits.to_le_bytes();
        &scalar[..size]
    }
}

impl KernelInfo {
    /// Returns the kernarg segment for the given arguments, which are in the order of the parameters.
    ///
    /// # Errors
    /// [`PackError::Count`] if the number of arguments differs from the number of parameters, and
    /// [`PackError::Size`] if an argument does not have the size of its parameter.
    pub fn pack(&self, args: &[Arg<'_>]) -> Result<Vec<u8>, PackError> {
        if args.len() != self.args.len() {
            return Err(PackError::Count { expected: self.args.len(), given: args.len() });
        }
        let mut out = vec![0; self.kernarg_size as usize];
        for (info, arg) in self.args.iter().zip(args) {
            let mut scalar = [0; 8];
            let bytes = arg.bytes(&mut scalar);
            if bytes.len() != info.size as usize {
                let (name, given) = (info.name.to_string(), bytes.len() as u32);
                return Err(PackError::Size { name, expected: info.size, given });
            }
            let at = info.offset as usize;
            out[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Ok(out)
    }
}

/// Lists the kernels of the object, not their code.
impl fmt::Debug for CodeObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut object = f.debug_struct("CodeObject");
        object
            .field("target", &self.target.to_string())
            .field("kernels", &self.kernels())
            .finish_non_exhaustive()
    }
}

impl CodeObject {
    /// Writes the object for a module and its final machine code. `code` contains the kernels in order,
    /// followed by the functions.
    pub(crate) fn new(
        (target, language): (Subtarget, Language),
        module: &mut ir::Module,
        code: &[MachFunc],
        (lines, frames, debug): (Option<Lines>, Option<Dialect>, Option<Box<DebugInfo>>),
        emitter: &mut emit::Context,
    ) -> Result<CodeObject, Error> {
        let mut signatures = SmallVec::with_capacity(code.len());
        let infos = || module.funcs.values().filter_map(|func| func.kernel.as_ref());
        let mut params = Vec::with_capacity(infos().map(|info| info.params.len()).sum());
        let infos = module.funcs.values_mut().filter_map(|func| func.kernel.as_mut());
        for (info, func) in infos.zip(code) {
            let count = info.params.len();
            params.append(&mut info.params);
            signatures.push(Signature {
                info: info.clone(),
                params: count,
                name: func.name.as_str().into(),
                kernarg_size: emit::HiddenPart::new(
                    &target,
                    func.kernarg_size,
                    info.state.implicit_args,
                    func.hidden,
                )
                .end(),
                resources: resources(&own_target(&target, info), info, func, func.lds_size),
            });
        }
        let here = |func: &ir::Function| func.kernel.is_none() && func.linkage != ir::Linkage::Extern;
        let functions = module.funcs.iter().filter(|(_, func)| here(func));
        let functions = functions.map(|(id, func)| (id, func.linkage == ir::Linkage::Export)).collect();
        let externals = externals(module, code);
        let function_signatures = function_signatures(module, &externals);
        let shared = shared(module, code);
        let referenced = referenced(module.globals.len(), code);
        // If the object will be linked with others, constants are emitted even if this object does not use
        // them, because other objects may refer to them.
        let is_open = crate::shared::is_open(module);
        let is_emitted = |(id, global): &(ir::Global, &ir::GlobalData)| match global.space {
            _ if global.external => false,
            Space::Global => true,
            Space::Constant => {
                referenced[id.as_u32() as usize] || is_open && !crate::shared::is_of_function(global)
            }
            _ => false,
        };
        let variables =
            module.globals.iter().filter(is_emitted).map(|(id, global)| (id, global.clone())).collect();
        let formats = formats(module, code);
        let (bytes, kernels) = (Vec::new(), OnceLock::new());
        let archive = Archive::from_funcs(code);
        let mut object = CodeObject {
            target,
            language,
            bytes,
            signatures,
            params,
            variables,
            functions,
            externals,
            function_signatures,
            shared,
            formats,
            code: archive,
            lines,
            debug,
            frames,
            kernels,
        };
        if object.externals.is_empty() {
            object.count_lds(code);
            let bytes = object.with_program(code, |program| emit::elf::complete_in(program, emitter));
            object.bytes = bytes.map_err(|error| not_written(error, &target))?;
        }
        Ok(object)
    }

    /// Returns the LDS size of each kernel in bytes.
    pub(crate) fn lds(&self) -> impl Iterator<Item = u32> {
        self.signatures.iter().map(|signature| signature.resources.lds)
    }

    /// Adds the sizes of the LDS variables that a linker would place to the LDS sizes of the kernels. This is
    /// for an object that is loaded without linking.
    fn count_lds(&mut self, code: &[MachFunc]) {
        if self.shared.is_empty() {
            return;
        }
        let lds = self.with_program(code, emit::shared::lds);
        for ((signature, func), lds) in self.signatures.iter_mut().zip(code).zip(lds) {
            let target = own_target(&self.target, &signature.info);
            signature.resources = resources(&target, &signature.info, func, lds);
        }
    }

    /// Returns the names of the functions and variables that the code uses and other object files define. If
    /// there are any, only a linker can make a loadable object. [`CodeObject::bytes`] is then empty, and
    /// [`CodeObject::relocatable`] returns the input for the linker.
    pub fn undefined(&self) -> impl Iterator<Item = &str> {
        self.externals.iter().map(|(_, name)| name.as_str())
    }

    /// Returns the loadable ELF file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the loadable ELF file and drops everything else.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the target processor with its modes.
    pub fn target(&self) -> &Subtarget {
        &self.target
    }

    /// Returns the kernels in source order.
    pub fn kernels(&self) -> &[KernelInfo] {
        self.kernels
            .get_or_init(|| self.with_params().map(|(kernel, own)| kernel_info(kernel, own)).collect())
    }

    /// Returns the kernels, each with its parameters.
    fn with_params(&self) -> impl Iterator<Item = (&Signature, &[ir::KernelParam])> {
        let mut left = self.params.as_slice();
        self.signatures.iter().map(move |kernel| {
            let (own, others) = left.split_at(kernel.params);
            left = others;
            (kernel, own)
        })
    }

    /// Returns a relocatable ELF file with the same code, for a linker.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the object's version or operating system cannot express something in the
    /// object, and [`Error::Internal`] for a fault of kernc.
    pub fn relocatable(&self) -> Result<Vec<u8>, Error> {
        self.with_program(&self.code.funcs(), emit::elf::relocatable)
            .map_err(|error| not_written(error, &self.target))
    }

    /// Returns an assembler source of the same code. If the source text (name and contents) is given, source
    /// lines and the reasons of inserted instructions are added as comments.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the object's version or operating system cannot express something in the
    /// object, and [`Error::Internal`] for a fault of kernc.
    pub fn assembly(&self, source: Option<(&str, &str)>) -> Result<String, Error> {
        let source = source.map(|(name, text)| emit::asm::Source { name, text });
        self.with_program(&self.code.funcs(), |program| emit::asm::listing(program, source))
            .map_err(|error| not_written(error, &self.target))
    }

    /// Returns the inserted instructions (waits, invalidates, nops, spills, copies) with their reasons,
    /// kernel by kernel in the order of the code.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (func, signature) in self.code.funcs().iter().zip(&self.signatures) {
            let target = own_target(&self.target, &signature.info);
            let mut offset = 0;
            for inst in func.blocks.values().flat_map(|block| &block.insts) {
                if let Some(note) = inst.note.index() {
                    let kernel = signature.name.clone();
                    reasons.push(Reason { kernel, offset, text: func.notes[note].to_string() });
                }
                offset += isa::size_in_words(&target, inst) as u32 * 4;
            }
        }
        reasons
    }

    /// Returns the metadata note as YAML.
    pub fn metadata(&self) -> String {
        self.with_program(&self.code.funcs(), |program| match self.externals.is_empty() {
            true => emit::shared::loadable(program, emit::metadata::text),
            false => emit::metadata::text(program),
        })
    }

    /// Returns the final machine code as text.
    pub fn machine_code(&self) -> String {
        self.machine_functions().iter().map(|(func, target)| func.dump(target)).collect()
    }

    /// Returns the final machine code of the kernels, followed by that of the functions. Each comes with the
    /// target that it is compiled for.
    pub fn machine_functions(&self) -> Vec<(MachFunc, Subtarget)> {
        let kernels = self.signatures.iter().map(|kernel| own_target(&self.target, &kernel.info));
        let own = |(func, target): (MachFunc, Subtarget)| {
            let target = func.wave_size.and_then(|lanes| target.with_wave_size(lanes)).unwrap_or(target);
            (func, target)
        };
        self.code.funcs().into_iter().zip(kernels.chain(std::iter::repeat(self.target))).map(own).collect()
    }

    /// Calls `f` with this object in the form that the emitter takes (`Program`), and returns the result of
    /// `f`.
    fn with_program<T>(&self, code: &[MachFunc], f: impl FnOnce(&Program) -> T) -> T {
        let args: SmallVec<[emit::Arg<'_>; 8]> = self.params.iter().map(argument).collect();
        let mut left = args.as_slice();
        let mut kernels: SmallVec<[emit::Kernel<'_>; 1]> = SmallVec::with_capacity(code.len());
        for ((signature, params), func) in self.with_params().zip(code) {
            let (own, others) = left.split_at(params.len());
            left = others;
            kernels.push(kernel(signature, (params, own), func));
        }
        let functions = self.functions.iter().zip(&code[self.signatures.len()..]);
        let functions =
            functions.map(|(&(id, export), func)| emit::Function { id: id.as_u32(), func, export });
        let functions: SmallVec<[emit::Function<'_>; 2]> = functions.collect();
        let variables = self.variables.iter().map(|(id, global)| variable(*id, global));
        let variables: SmallVec<[emit::Variable<'_>; 4]> = variables.collect();
        let shared = self.shared.iter().map(|(id, data)| emit::shared::Shared {
            id: id.as_u32(),
            name: &data.name,
            size: if data.dynamic { 0 } else { data.size },
            align: data.align.max(16),
            local: crate::shared::is_of_function(data),
        });
        let shared: SmallVec<[emit::shared::Shared<'_>; 2]> = shared.collect();
        let (target, language) = (self.target, self.language);
        let lines = self.lines.as_ref();
        let debug = self.debug.as_deref().map(|debug| debug as &dyn emit::DebugSections);
        let is_shared =
            |to: mir::Referent| self.shared.iter().any(|(id, _)| to == mir::Referent::Global(id.as_u32()));
        let externals = self.externals.iter().filter(|(to, _)| !is_shared(*to));
        let externals =
            externals.map(|(to, name): &(mir::Referent, SmolStr)| emit::External { to: *to, name });
        let externals = externals.chain(scratch_symbols(code));
        let externals: SmallVec<[emit::External<'_>; 2]> = externals.collect();
        let (functions, variables, formats) = (&functions, &variables, &self.formats);
        f(&Program {
            target,
            language,
            kernels: &kernels,
            functions,
            externals: &externals,
            signatures: &self.function_signatures,
            shared: &shared,
            variables,
            formats,
            lines,
            debug,
            frames: self.frames,
        })
    }
}

/// Returns the symbols of the scratch descriptor to which the code refers. The runtime defines them.
fn scratch_symbols<'a>(code: &'a [MachFunc]) -> impl Iterator<Item = emit::External<'a>> {
    let uses = |to: mir::Referent| code.iter().flat_map(|func| &func.relocs).any(|reloc| reloc.to == to);
    let symbols = (0..).zip(isa::system::SCRATCH_SYMBOLS);
    let symbols = symbols.map(|(dword, name)| emit::External { to: mir::Referent::Scratch(dword), name });
    symbols.filter(move |symbol| uses(symbol.to))
}

/// Returns the formats of `printf` for the metadata. The list is empty if no kernel prints.
fn formats(module: &ir::Module, code: &[MachFunc]) -> Vec<String> {
    if !code.iter().any(|func| func.hidden.contains(Hidden::PRINTF_BUFFER)) {
        return Vec::new();
    }
    let numbered = (1..).zip(&module.formats);
    numbered.map(|(number, format)| emit::printf::encode(number, &format.sizes, &format.text)).collect()
}

fn variable(id: ir::Global, global: &ir::GlobalData) -> emit::Variable<'_> {
    emit::Variable {
        id: id.as_u32(),
        name: &global.name,
        size: global.size,
        align: global.align,
        init: &global.init,
        writable: global.space == Space::Global || !global.funcs.is_empty(),
        functions: global.funcs.iter().map(|&(at, func)| (at, func.as_u32())).collect(),
    }
}

/// Converts an error of the emitter. A request that the format does not support is the user's error. Any
/// other error is an internal one.
#[cold]
fn not_written(error: EmitError, target: &Subtarget) -> Error {
    match error {
        EmitError::Unsupported(what) => Error::Unsupported { what, target: target.to_string(), place: None },
        error => Error::internal(error),
    }
}

/// Returns the functions and variables that another object file defines and that this object refers to, in
/// its code or in the initial value of a variable.
fn externals(module: &ir::Module, code: &[MachFunc]) -> Vec<(mir::Referent, SmolStr)> {
    let addresses = module.globals.values().flat_map(|global| &global.funcs);
    let addresses = addresses.map(|&(_, func)| mir::Referent::Func(func.as_u32()));
    let mut found = Vec::new();
    for to in code.iter().flat_map(|func| &func.relocs).map(|reloc| reloc.to).chain(addresses) {
        let name = match to {
            mir::Referent::Func(id) => {
                let func = &module.funcs[ir::FuncId::from_u32(id)];
                (func.linkage == ir::Linkage::Extern).then(|| func.name.as_str().into())
            }
            mir::Referent::Global(id) => {
                let global = &module.globals[ir::Global::from_u32(id)];
                global.external.then(|| global.name.clone())
            }
            // The runtime defines the scratch descriptor, so the object can be loaded alone.
            mir::Referent::Scratch(_) => None,
        };
        if let Some(name) = name
            && !found.iter().any(|(known, _)| *known == to)
        {
            found.push((to, name));
        }
    }
    found
}

/// Returns the names and signatures of the functions that other object files may call, and of those that the
/// code calls in other object files. A signature lists the types as the calling convention sees them: the
/// fields of structs one by one, and integers without signedness.
fn function_signatures(module: &ir::Module, externals: &[(mir::Referent, SmolStr)]) -> Vec<String> {
    let is_named = |id: ir::FuncId| externals.iter().any(|(to, _)| *to == mir::Referent::Func(id.as_u32()));
    let is_known = |(id, func): &(ir::FuncId, &ir::Function)| match func.linkage {
        ir::Linkage::Export => func.kernel.is_none(),
        ir::Linkage::Extern => is_named(*id),
        ir::Linkage::Local => false,
    };
    let text = |(_, func): (ir::FuncId, &ir::Function)| {
        let list = |types: &mut dyn Iterator<Item = ir::Type>| {
            types.map(|ty| ty.to_string()).collect::<Vec<_>>().join(", ")
        };
        let params = list(&mut func.param_types());
        let results = list(&mut func.results.iter().copied());
        let arrow = if results.is_empty() { "" } else { " -> " };
        format!("{} ({params}){arrow}{results}", func.name)
    };
    module.funcs.iter().filter(is_known).map(text).collect()
}

/// Returns the LDS variables that a linker places, in the order of their symbols. Variables that are private
/// to this object come first, then the others. Within each of these two groups, the variables are in the
/// order in which the code first refers to them.
fn shared(module: &ir::Module, code: &[MachFunc]) -> Vec<(ir::Global, ir::GlobalData)> {
    let mut found: Vec<(ir::Global, ir::GlobalData)> = Vec::new();
    let named = code.iter().flat_map(|func| {
        let insts = func.blocks.values().flat_map(|block| &block.insts);
        insts.flat_map(isa::MachInst::operands).filter_map(|operand| match *operand {
            isa::Operand::Reloc(number) => func.relocs.get(number as usize),
            _ => None,
        })
    });
    for reloc in named {
        if let (mir::Referent::Global(id), mir::Distance::Address) = (reloc.to, reloc.part)
            && !found.iter().any(|(known, _)| known.as_u32() == id)
        {
            let id = ir::Global::from_u32(id);
            found.push((id, module.globals[id].clone()));
        }
    }
    let is_known = |(_, data): &(ir::Global, ir::GlobalData)| !crate::shared::is_of_function(data);
    let (known, own) = found.into_iter().partition(is_known);
    let (mut all, known): (Vec<_>, Vec<_>) = (own, known);
    all.extend(known);
    all
}

/// Returns, for each module variable by id, whether the code refers to it. A variable without a reference is
/// not emitted. An example is a constant whose value is part of the instructions.
fn referenced(globals: usize, code: &[MachFunc]) -> SmallVec<[bool; 16]> {
    let mut referenced = smallvec![false; globals];
    for reloc in code.iter().flat_map(|func| &func.relocs) {
        if let mir::Referent::Global(global) = reloc.to
            && let Some(entry) = referenced.get_mut(global as usize)
        {
            *entry = true;
        }
    }
    referenced
}

fn kernel<'a>(
    Signature { info, .. }: &'a Signature,
    (params, args): (&[ir::KernelParam], &'a [emit::Arg<'a>]),
    func: &'a MachFunc,
) -> emit::Kernel<'a> {
    emit::Kernel {
        func,
        args,
        kernarg_align: params.iter().map(|param| param.align).max().unwrap_or(1).max(4),
        reqd_workgroup_size: info.reqd_workgroup_size,
        workgroup_size_hint: info.workgroup_size_hint,
        vec_type_hint: info.vec_type_hint.as_deref(),
        max_flat_workgroup_size: info.max_flat_workgroup_size(),
        lds: func.lds_size,
        state: state(&info.state),
    }
}

fn state(asked: &ir::InitialState) -> emit::InitialState {
    let usual = emit::InitialState::default();
    emit::InitialState {
        wave_size: asked.wave_size,
        flush_denormals: asked.flushes(),
        ieee: asked.ieee.unwrap_or(usual.ieee),
        dx10_clamp: asked.dx10_clamp.unwrap_or(usual.dx10_clamp),
        exceptions: asked.exceptions.map_or(usual.exceptions, |exceptions| exceptions.bits()),
        implicit_args: asked.implicit_args,
    }
}

fn argument(param: &ir::KernelParam) -> emit::Arg<'_> {
    emit::Arg {
        name: &param.name,
        type_name: &param.type_name,
        value_type: param.elem,
        size: param.size,
        offset: param.offset,
        align: param.align,
        kind: match param.kind {
            ParamKind::ByValue => ValueKind::ByValue,
            ParamKind::GlobalBuffer => ValueKind::GlobalBuffer,
            ParamKind::DynamicShared => ValueKind::DynamicSharedPointer,
            ParamKind::Opaque(opaque) => {
                ValueKind::Opaque(opaque.name(), opaque.access().map(ir::Access::name))
            }
        },
        address_space: param.space.map(|space| match space {
            // The metadata uses OpenCL's word for LDS.
            Space::Shared => "local",
            other => other.name(),
        }),
        pointee_align: Some(param.pointee_align),
        is_const: param.is_const,
        is_restrict: param.is_restrict,
        is_volatile: param.is_volatile,
    }
}

/// Returns the facts about a kernel for the host.
fn kernel_info(kernel: &Signature, params: &[ir::KernelParam]) -> KernelInfo {
    let arg = |param: &ir::KernelParam| KernelArg {
        name: param.name.clone(),
        type_name: param.type_name.clone(),
        offset: param.offset,
        size: param.size,
        is_pointer: param.kind != ParamKind::ByValue,
    };
    KernelInfo {
        name: kernel.name.clone(),
        args: params.iter().map(arg).collect(),
        kernarg_size: kernel.kernarg_size,
        workgroup_size: kernel.info.reqd_workgroup_size,
        resources: kernel.resources,
    }
}

/// Returns the resources that a wave of the kernel occupies.
fn resources(target: &Subtarget, info: &ir::KernelInfo, func: &MachFunc, lds: u32) -> Resources {
    let insts = || func.blocks.values().flat_map(|block| &block.insts);
    let words: usize = insts().map(|inst| isa::size_in_words(target, inst)).sum();
    let registers = emit::descriptor::registers(target, func);
    let (vgprs, sgprs) = (registers.vgprs, registers.total_sgprs(target));
    let group = info.max_flat_workgroup_size();
    Resources {
        vgprs,
        agprs: func.agprs,
        sgprs,
        lds,
        scratch: func.scratch_size,
        spilled_vgprs: func.spilled.vgprs,
        spilled_sgprs: func.spilled.sgprs,
        code_bytes: words as u32 * 4,
        instructions: insts().count() as u32,
        occupancy: Occupancy::new(target, &Usage { vgprs, sgprs, lds, group }),
        vgpr_limit: vgpr_limit(target, info),
    }
}
