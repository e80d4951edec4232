//! The result of a compilation.

use crate::occupancy::Occupancy;
use emit::{EmitError, Program, ValueKind};
use ir::{ParamKind, Space};
use isa::{MachFunc, Subtarget};
use std::fmt;

/// A compiled translation unit.
#[derive(Clone, Debug)]
pub struct CodeObject {
    pub(crate) target: Subtarget,
    pub(crate) bytes: Vec<u8>,
    pub(crate) kernels: Vec<KernelInfo>,
    pub(crate) module: ir::Module,
    pub(crate) code: Vec<MachFunc>,
}

/// One argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelArg {
    /// Name.
    pub name: String,
    /// Type as the source writes it.
    pub type_name: String,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// A pointer to a buffer rather than a value.
    pub is_pointer: bool,
}

/// What a wave of the kernel occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Vector registers.
    pub vgprs: u32,
    /// Scalar registers, VCC included.
    pub sgprs: u32,
    /// Bytes of statically allotted LDS.
    pub lds: u32,
    /// Bytes of scratch memory per work-item.
    pub scratch: u32,
    /// Dwords spilled from vector registers.
    pub spilled_vgprs: u32,
    /// Dwords spilled from scalar registers.
    pub spilled_sgprs: u32,
    /// Bytes of code.
    pub code_bytes: u32,
    /// Instructions.
    pub instructions: u32,
    /// Waves per SIMD and their limit.
    pub occupancy: Occupancy,
}

/// What a host needs to launch a kernel, and what an engineer wants to know of it.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    /// Name; the descriptor's symbol is `NAME.kd`.
    pub name: String,
    /// Arguments in order.
    pub args: Vec<KernelArg>,
    /// Bytes of the kernarg segment.
    pub kernarg_size: u32,
    /// Required work-group size.
    pub workgroup_size: Option<[u32; 3]>,
    /// Registers, memory, occupancy.
    pub resources: Resources,
}

/// A kernel argument's value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Arg {
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    /// A device address.
    Pointer(u64),
}

/// Arguments that do not fit the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackError {
    /// The kernel takes another number of arguments.
    Count {
        /// Arguments it takes.
        expected: usize,
        /// Arguments given.
        given: usize,
    },
    /// An argument of the wrong size.
    Size {
        /// Name of the argument.
        name: String,
        /// Bytes it takes.
        expected: u32,
        /// Bytes given.
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

impl KernelInfo {
    /// The kernarg segment for the given arguments, in order.
    pub fn pack(&self, args: &[Arg]) -> Result<Vec<u8>, PackError> {
        if args.len() != self.args.len() {
            return Err(PackError::Count { expected: self.args.len(), given: args.len() });
        }
        let mut out = vec![0; self.kernarg_size as usize];
        for (info, arg) in self.args.iter().zip(args) {
            let (bits, given) = match *arg {
                Arg::I32(value) => (u64::from(value as u32), 4),
                Arg::U32(value) => (u64::from(value), 4),
                Arg::F32(value) => (u64::from(value.to_bits()), 4),
                Arg::I64(value) => (value as u64, 8),
                Arg::U64(value) | Arg::Pointer(value) => (value, 8),
                Arg::F64(value) => (value.to_bits(), 8),
            };
            if given != info.size {
                return Err(PackError::Size { name: info.name.clone(), expected: info.size, given });
            }
            let at = info.offset as usize;
            out[at..at + given as usize].copy_from_slice(&bits.to_le_bytes()[..given as usize]);
        }
        Ok(out)
    }
}

impl CodeObject {
    /// The loadable ELF file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The processor it is for, and its modes.
    pub fn target(&self) -> &Subtarget {
        &self.target
    }

    /// Its kernels, in source order.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// A relocatable ELF file with the same code, for a linker.
    pub fn relocatable(&self) -> Result<Vec<u8>, EmitError> {
        emit::elf::relocatable(&self.program())
    }

    /// An assembler source of the same code. With the source text, it shows source lines and the reasons of inserted
    /// instructions as comments.
    pub fn assembly(&self, source: Option<(&str, &str)>) -> Result<String, EmitError> {
        emit::asm::listing(&self.program(), source.map(|(name, text)| emit::asm::Source { name, text }))
    }

    /// The metadata note as YAML.
    pub fn metadata(&self) -> String {
        emit::metadata::yaml(&emit::metadata::tree(&self.program()))
    }

    /// The final machine code as text.
    pub fn machine_code(&self) -> String {
        self.code.iter().map(|func| func.dump(&self.target)).collect()
    }

    /// The optimised IR.
    pub fn module(&self) -> &ir::Module {
        &self.module
    }

    /// The optimised IR as text.
    pub fn ir(&self) -> String {
        self.module.to_string()
    }

    fn program(&self) -> Program<'_> {
        program(self.target, &self.module, &self.code)
    }
}

/// The emitter's view of a module and its machine code (one function per kernel, in order).
pub(crate) fn program<'a>(target: Subtarget, module: &'a ir::Module, code: &'a [MachFunc]) -> Program<'a> {
    let kernels = module.funcs.values().filter_map(|func| func.kernel.as_ref());
    let kernels = kernels.zip(code).map(|(info, func)| kernel(info, func)).collect();
    let variables = module
        .globals
        .iter()
        .filter(|(_, global)| matches!(global.space, Space::Constant | Space::Global))
        .map(|(id, global)| emit::Variable {
            id: id.as_u32(),
            name: &global.name,
            size: global.size,
            align: global.align,
            init: &global.init,
            writable: global.space == Space::Global,
        })
        .filter(|variable| is_referenced(code, variable.id) || variable.writable)
        .collect();
    Program { target, kernels, variables }
}

/// A constant that was folded into the code needs no place in the object.
fn is_referenced(code: &[MachFunc], id: u32) -> bool {
    code.iter().any(|func| func.relocs.iter().any(|reloc| reloc.global == id))
}

fn kernel<'a>(info: &'a ir::KernelInfo, func: &'a MachFunc) -> emit::Kernel<'a> {
    emit::Kernel {
        func,
        args: info.params.iter().map(argument).collect(),
        kernarg_align: info.params.iter().map(|param| param.align).max().unwrap_or(1).max(8),
        reqd_workgroup_size: info.reqd_workgroup_size,
        workgroup_size_hint: info.workgroup_size_hint,
        vec_type_hint: info.vec_type_hint.as_deref(),
        max_flat_workgroup_size: info.max_flat_workgroup_size(),
    }
}

fn argument(param: &ir::KernelParam) -> emit::Arg<'_> {
    emit::Arg {
        name: &param.name,
        type_name: &param.type_name,
        value_type: param.elem,
        size: param.size,
        offset: param.offset,
        kind: match param.kind {
            ParamKind::ByValue => ValueKind::ByValue,
            ParamKind::GlobalBuffer => ValueKind::GlobalBuffer,
            ParamKind::DynamicShared => ValueKind::DynamicSharedPointer,
        },
        address_space: param.space.map(|space| match space {
            // The metadata keeps OpenCL's word for LDS.
            Space::Shared => "local",
            other => other.name(),
        }),
        pointee_align: Some(param.pointee_align),
        is_const: param.is_const,
        is_restrict: param.is_restrict,
        is_volatile: param.is_volatile,
    }
}

/// What the host gets to know of a kernel.
pub(crate) fn kernel_info(
    target: &Subtarget,
    info: &ir::KernelInfo,
    func: &MachFunc,
    size: CodeSize,
) -> KernelInfo {
    let sgprs = func.sgprs + if func.uses_vcc { 2 } else { 0 };
    let group = info.max_flat_workgroup_size();
    KernelInfo {
        name: func.name.clone(),
        args: info
            .params
            .iter()
            .map(|param| KernelArg {
                name: param.name.clone(),
                type_name: param.type_name.clone(),
                offset: param.offset,
                size: param.size,
                is_pointer: param.kind != ParamKind::ByValue,
            })
            .collect(),
        kernarg_size: func.kernarg_size,
        workgroup_size: info.reqd_workgroup_size,
        resources: Resources {
            vgprs: func.vgprs,
            sgprs,
            lds: func.lds_size,
            scratch: func.scratch_size,
            spilled_vgprs: func.spilled.vgprs,
            spilled_sgprs: func.spilled.sgprs,
            code_bytes: size.bytes,
            instructions: size.instructions,
            occupancy: Occupancy::new(target, func.vgprs, sgprs, func.lds_size, group),
        },
    }
}

/// Size of a kernel's code.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CodeSize {
    pub bytes: u32,
    pub instructions: u32,
}
