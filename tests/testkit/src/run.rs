//! Runs a code object in the emulator and compares the results.

use crate::data::{Arg, Case, Data, Expected, Value};
use sim::{ArgInfo, ArgKind, CodeObject, Device, Dispatch, KernelInfo, Limits, ModuleId, RunStats};

/// Limit of the number of instructions: far more than each case needs, but few enough that an endless loop
/// ends in reasonable time.
const INSTRUCTIONS: u64 = 400_000_000;

/// A case whose buffers are on the device.
pub struct Prepared {
    kernarg: Vec<u8>,
    buffers: Vec<(&'static str, u64, Data, Option<Expected>)>,
}

/// Checks a kernel of a code object in all its cases.
pub fn check_kernel(object: &[u8], name: &str) -> Result<(), String> {
    check_kernel_on(&mut Device::new(), object, name)
}

/// Checks a kernel in all its cases on a given device, for example a device with a single thread.
pub fn check_kernel_on(device: &mut Device, object: &[u8], name: &str) -> Result<(), String> {
    execute(device, object, name).map(drop)
}

/// Checks a kernel in all its cases. Returns how many instructions all waves executed in all cases.
pub fn execute(device: &mut Device, object: &[u8], name: &str) -> Result<u64, String> {
    let kernel = crate::kernel(name).ok_or_else(|| format!("{name} is not one of the example kernels"))?;
    let object = CodeObject::load(object).map_err(|error| error.to_string())?;
    let info = object.kernel(name).ok_or_else(|| format!("no kernel {name} in the code object"))?;
    let module = device.load(&object).map_err(|fault| fault.to_string())?;
    let mut executed = 0;
    for (at, case) in (kernel.cases)().iter().enumerate() {
        let checked = check_case(device, module, info, kernel.group, case);
        let stats = checked.map_err(|why| format!("{name}, case {at}, grid {:?}: {why}", case.grid))?;
        executed += stats.instructions;
    }
    Ok(executed)
}

/// Runs a case and compares its buffers with the expected content.
pub fn check_case(
    device: &mut Device,
    module: ModuleId,
    info: &KernelInfo,
    group: [u32; 3],
    case: &Case,
) -> Result<RunStats, String> {
    let prepared = prepare(device, info, case)?;
    let dispatch = Dispatch {
        kernel: &info.name,
        grid: case.grid,
        group,
        kernarg: prepared.kernarg.clone(),
        dynamic_lds: 0,
        limits: Limits { instructions: INSTRUCTIONS, stack: 0 },
        ..Dispatch::default()
    };
    let stats = device.run(module, &dispatch).map_err(|fault| fault.to_string())?;
    prepared.check(device)?;
    prepared.buffers.iter().for_each(|(_, address, ..)| _ = device.free(*address));
    Ok(stats)
}

/// Copies a case's buffers to the device and builds its kernel argument segment.
pub fn prepare(device: &mut Device, info: &KernelInfo, case: &Case) -> Result<Prepared, String> {
    let explicit: Vec<&ArgInfo> = info.explicit_args().collect();
    if explicit.len() != case.args.len() {
        return Err(format!("the kernel has {} arguments, not {}", explicit.len(), case.args.len()));
    }
    let mut prepared = Prepared { kernarg: Vec::new(), buffers: Vec::new() };
    for (at, arg) in explicit.iter().enumerate() {
        let value = match &arg.name {
            Some(name) => {
                let found = case.args.iter().find(|candidate| candidate.name == name.as_str());
                found.ok_or_else(|| format!("the kernel's argument {name} has no value"))?
            }
            None => &case.args[at],
        };
        let bytes = argument_bytes(device, arg, value, &mut prepared)?;
        let (start, end) = (arg.offset as usize, (arg.offset + arg.size) as usize);
        if prepared.kernarg.len() < end {
            prepared.kernarg.resize(end, 0);
        }
        prepared.kernarg[start..end].copy_from_slice(&bytes);
    }
    Ok(prepared)
}

impl Prepared {
    /// Returns the explicit arguments of the kernel argument segment.
    pub fn kernarg(&self) -> &[u8] {
        &self.kernarg
    }

    /// Compares the buffers with their expected content.
    pub fn check(&self, device: &Device) -> Result<(), String> {
        for (name, address, before, expected) in &self.buffers {
            let mut bytes = before.bytes();
            device.read(*address, &mut bytes).map_err(|fault| fault.to_string())?;
            let after = before.with_bytes(&bytes);
            let unchanged = Expected::Exactly(before.clone());
            let expected = expected.as_ref().unwrap_or(&unchanged);
            expected.check(&after).map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    }
}

fn argument_bytes(
    device: &mut Device,
    info: &ArgInfo,
    arg: &Arg,
    prepared: &mut Prepared,
) -> Result<Vec<u8>, String> {
    let bytes = match &arg.value {
        Value::I32(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
        Value::Buffer(data, expected) => {
            let bytes = data.bytes();
            let address = device.alloc(bytes.len() as u64).map_err(|fault| fault.to_string())?;
            device.write(address, &bytes).map_err(|fault| fault.to_string())?;
            prepared.buffers.push((arg.name, address, data.clone(), expected.clone()));
            address.to_le_bytes().to_vec()
        }
    };
    let is_buffer = matches!(arg.value, Value::Buffer(..));
    if bytes.len() != info.size as usize || is_buffer != (info.kind == ArgKind::GlobalBuffer) {
        return Err(format!("argument {} is {:?} of {} bytes", arg.name, info.kind, info.size));
    }
    Ok(bytes)
}
