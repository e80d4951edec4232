//! Runs one kernel many times: the code is loaded once, the buffers stay where they are, and inputs that are consecutive
//! numbers are made by the kernel itself.

use kernc::sim::{self, CodeObject, Device, DevicePtr, Dispatch, Limits, ModuleId};

/// A kernel `t(base: u32, x, y, out)` or `t(base: u32, out)` and its buffers.
pub struct Bench {
    device: Device,
    module: ModuleId,
    kernarg: Vec<u8>,
    buffers: Vec<DevicePtr>,
}

/// Work-items of a group.
const GROUP: u32 = 256;

/// `out = expression` of the number `a` whose bits are those of `base` and the work-item.
pub fn of_bits(expression: &str, ty: &str) -> String {
    let cast = if ty == "f16" { "as u16" } else { "" };
    format!(
        "#[workgroup_size({GROUP})] kernel t(base: u32, out: *global {ty}) {{
            let i = global_id(0); let a = bitcast::<{ty}>((base + i as u32) {cast}); out[i] = {expression}; }}"
    )
}

/// `out = expression` of the halves `a` and `b` whose bits are those of `base` and the work-item.
pub fn of_halves(expression: &str) -> String {
    format!(
        "#[workgroup_size({GROUP})] kernel t(base: u32, out: *global f16) {{
            let i = global_id(0); let bits = base + i as u32;
            let a = bitcast::<f16>(bits as u16); let b = bitcast::<f16>((bits >> 16) as u16); out[i] = {expression}; }}"
    )
}

/// `out = expression` of `a` and `b` that lie in memory.
pub fn of_pairs(expression: &str, ty: &str, second: &str) -> String {
    format!(
        "#[workgroup_size({GROUP})] kernel t(base: u32, x: *global {ty}, y: *global {second}, out: *global {ty}) {{
            let i = global_id(0); let a = x[i]; let b = y[i]; out[i] = {expression}; }}"
    )
}

impl Bench {
    /// With room for so many bytes in each buffer.
    pub fn new(object: &[u8], size: usize) -> Bench {
        let loaded = CodeObject::load(object).unwrap();
        let info = loaded.kernel("t").unwrap();
        let mut device = Device::with_threads(1);
        let module = device.load(&loaded).unwrap();
        let (mut kernarg, mut buffers) = (Vec::new(), Vec::new());
        for arg in info.explicit_args() {
            let start = arg.offset as usize;
            kernarg.resize(start + arg.size as usize, 0);
            if arg.size == 8 {
                let buffer = device.alloc(size as u64).unwrap();
                kernarg[start..].copy_from_slice(&buffer.to_le_bytes());
                buffers.push(buffer);
            }
        }
        Bench { device, module, kernarg, buffers }
    }

    /// Puts bytes into an input buffer.
    pub fn put(&self, buffer: usize, bytes: &[u8]) {
        self.device.write(self.buffers[buffer], bytes).unwrap();
    }

    /// What the kernel leaves in its last buffer.
    pub fn run(&mut self, base: u32, lanes: u32, out: &mut [u8]) -> sim::RunStats {
        self.kernarg[..4].copy_from_slice(&base.to_le_bytes());
        let dispatch = Dispatch {
            kernel: "t",
            grid: [lanes, 1, 1],
            group: [GROUP, 1, 1],
            kernarg: self.kernarg.clone(),
            limits: Limits { instructions: u64::MAX, ..Limits::default() },
            ..Dispatch::default()
        };
        let stats = self.device.run(self.module, &dispatch).unwrap_or_else(|why| panic!("{why}"));
        self.device.read(*self.buffers.last().unwrap(), out).unwrap();
        stats
    }
}
