//! The code of a binary of an older driver as code objects, one for each processor, for `disasm` and `check`.

use super::super::{Failure, modes};
use isa::{CodeObjectVersion, Feature, Os, Setting, Target};
use legacy::elf::{Class, Object, Place, Section, Symbol};
use legacy::{Binary, gallium, opencl1, opencl2};
use objwriter::elf::Identity;
use std::path::Path;

/// LLVM's names of the processors of OpenCL 1.x devices.
///
/// # Source
/// LLVM, `docs/AMDGPUUsage.rst` (products of each processor); CLRX, `utils/GPUId.cpp`, for code names.
static PROCESSORS: &[(&str, &str)] = &[
    ("tahiti", "gfx600"),
    ("pitcairn", "gfx601"),
    ("capeverde", "gfx601"),
    ("oland", "gfx602"),
    ("hainan", "gfx602"),
    ("spectre", "gfx700"),
    ("spooky", "gfx700"),
    ("hawaii", "gfx701"),
    ("kalindi", "gfx703"),
    ("mullins", "gfx703"),
    ("bonaire", "gfx704"),
    ("carrizo", "gfx801"),
    ("iceland", "gfx802"),
    ("tonga", "gfx802"),
    ("fiji", "gfx803"),
    ("baffin", "gfx803"),
    ("ellesmere", "gfx803"),
    ("gfx804", "gfx803"),
    ("stoney (dummy)", "gfx810"),
];

/// Code of one processor.
pub struct Code<'data> {
    /// The processor. `None` if the binary does not say which one, or if kernc does not know the processor.
    pub target: Option<&'static Target>,
    /// What the binary says about the processor.
    pub device: String,
    /// Names and code of the kernels.
    pub kernels: Vec<(String, &'data [u8])>,
}

impl Code<'_> {
    /// Returns an ELF file with the code for a processor, without an operating system: a header that a target id
    /// expresses. The code of a kernel follows the code of the kernel before.
    pub fn object(&self, target: &'static Target) -> Vec<u8> {
        const RELOCATABLE: u16 = 1;
        const AMDGPU: u16 = 224;
        const ALLOCATED_CODE: u64 = 6;
        const FUNCTION: u8 = 2;
        let text: Vec<u8> = self.kernels.iter().flat_map(|kernel| kernel.1).copied().collect();
        let mut object = Object::new(Class::Elf64, RELOCATABLE, AMDGPU);
        let setting = |feature| if target.has(feature) { Setting::Any } else { Setting::Unsupported };
        let (xnack, sramecc) = (setting(Feature::XNACK), setting(Feature::SRAMECC));
        let identity = Identity::new(Os::Unknown, target, xnack, sramecc, CodeObjectVersion::V3);
        (object.os_abi, object.flags) = (identity.os_abi, identity.flags);
        let section = object.add_section(Section::new(".text", ALLOCATED_CODE, &text));
        let mut start = 0;
        for (name, code) in &self.kernels {
            let size = code.len() as u64;
            object.symbols.push(Symbol::local(name, FUNCTION, Place::Section(section), start, size));
            start += size;
        }
        object.write()
    }
}

/// Returns the code of a binary.
///
/// # Errors
/// The code of the kernels breaks a rule of the format.
pub fn codes<'data>(binary: &Binary<'data>, file: &Path) -> Result<Vec<Code<'data>>, Failure> {
    let codes = match binary {
        Binary::OpenCl1(binary) => Ok(opencl1_codes(binary)),
        Binary::OpenCl2(binary) => opencl2_codes(binary),
        Binary::Gallium(container) => gallium_codes(container),
        _ => Ok(Vec::new()),
    };
    codes.map_err(|error| Failure::File(format!("{}: {error}", file.display())))
}

fn opencl1_codes<'data>(binary: &opencl1::Binary<'data>) -> Vec<Code<'data>> {
    let mut codes: Vec<(u32, Code<'_>)> = Vec::new();
    for kernel in &binary.kernels {
        for encoding in kernel.inner.iter().flat_map(|inner| &inner.encodings) {
            let of_kernel = (kernel.name.to_owned(), encoding.text);
            match codes.iter_mut().find(|code| code.0 == encoding.machine) {
                Some((_, code)) => code.kernels.push(of_kernel),
                None => {
                    let device = opencl1::machine_name(encoding.machine);
                    let processor = PROCESSORS.iter().find(|row| Some(row.0) == device);
                    let target = processor.and_then(|row| modes::processor(row.1).ok());
                    let device = format!("machine {:#x} ({})", encoding.machine, device.unwrap_or("unknown"));
                    codes.push((encoding.machine, Code { target, device, kernels: vec![of_kernel] }));
                }
            }
        }
    }
    codes.into_iter().map(|code| code.1).collect()
}

fn opencl2_codes<'data>(binary: &opencl2::Binary<'data>) -> legacy::Result<Vec<Code<'data>>> {
    let kernels: Vec<(String, &[u8])> = match &binary.code {
        opencl2::Code::Kernels(kernels) => {
            kernels.iter().map(|kernel| (kernel.name.to_owned(), kernel.code)).collect()
        }
        code => code.kernels()?.iter().map(|kernel| (kernel.name.to_owned(), kernel.code)).collect(),
    };
    // Devices of different drivers that the code can mean have the same instructions: the first one decides.
    let device = binary.devices().first().map(|found| found.1);
    let target = device.and_then(|device| modes::processor(device.processor).ok());
    let device = format!("device {} ({})", binary.device, device.map_or("unknown", |device| device.name));
    Ok(vec![Code { target, device, kernels }])
}

fn gallium_codes<'data>(container: &gallium::Container<'data>) -> legacy::Result<Vec<Code<'data>>> {
    let object = container.object();
    let text = object.and_then(|object| object.section(".text")).map_or(&[][..], |text| text.data);
    let mut starts: Vec<usize> = container.kernels.iter().map(|kernel| kernel.offset as usize).collect();
    starts.push(text.len());
    starts.sort_unstable();
    let mut kernels = Vec::new();
    for kernel in &container.kernels {
        let start = kernel.offset as usize;
        let end = starts.iter().find(|&&end| end > start).copied().unwrap_or(text.len());
        let header = container.header(kernel)?;
        let entry = header.map_or(0, |header| usize::try_from(header.entry()).unwrap_or(usize::MAX));
        let code = text.get(start.saturating_add(entry)..end).unwrap_or_default();
        kernels.push((kernel.name.to_owned(), code));
    }
    let bytes = object.map(Object::write).unwrap_or_default();
    let parsed = codeobj::CodeObject::parse(&bytes).ok();
    let target = parsed.and_then(|object| codeobj::Identity::of_object(&object).target);
    let flags = object.map_or(0, |object| object.flags);
    Ok(vec![Code { target, device: format!("ELF flags {flags:#x}"), kernels }])
}
