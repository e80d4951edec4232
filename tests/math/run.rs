//! Runs a function of one processor's code over arguments.

use kernc::sim::{self, ArgValue, Buffer, CodeObject, Device, Dispatch, Limits, Mode, Placed};
use kernc::{Compiler, OptLevel, Options, Target};

/// Type of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Float {
    F32,
    F64,
}

impl Float {
    pub fn name(self) -> &'static str {
        if self == Float::F32 { "f32" } else { "f64" }
    }

    pub fn size(self) -> usize {
        if self == Float::F32 { 4 } else { 8 }
    }

    pub fn bytes(self, xs: &[f64]) -> Vec<u8> {
        match self {
            Float::F32 => xs.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect(),
            Float::F64 => xs.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    pub fn read(self, bytes: &[u8]) -> Vec<f64> {
        let one = |bytes: &[u8]| match self {
            Float::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
            Float::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        };
        bytes.chunks_exact(self.size()).map(one).collect()
    }
}

/// `out = expression` of `a` and `b`; the second has another type where the function takes a whole number.
pub fn kernel(expression: &str, ty: Float, second: &str) -> String {
    let ty = ty.name();
    format!(
        "#[workgroup_size(64)] kernel t(x: *global {ty}, y: *global {second}, out: *global {ty}) {{
            let i = global_id(0); let a = x[i]; let b = y[i]; out[i] = {expression}; }}"
    )
}

/// The bytes that a kernel leaves in `out`, of `size` bytes.
pub fn emulated(
    source: &str,
    (processor, level, mode): (&str, OptLevel, Mode),
    inputs: &[(&str, Vec<u8>)],
    lanes: usize,
    size: usize,
) -> Vec<u8> {
    executed(&compiled(source, processor, level), mode, inputs, lanes, size).0
}

/// The code object for a processor.
pub fn compiled(source: &str, processor: &str, level: OptLevel) -> Vec<u8> {
    let target = Target::by_name(processor).unwrap();
    let options = Options { opt_level: level, verify: true, ..Options::default() };
    let object = Compiler::new(target).compile(source, &options);
    object.unwrap_or_else(|why| panic!("{source}\n{why}")).bytes().to_vec()
}

/// What kernel `t` leaves in its last buffer, and how many instructions its waves execute.
pub fn executed(
    object: &[u8],
    mode: Mode,
    inputs: &[(&str, Vec<u8>)],
    lanes: usize,
    size: usize,
) -> (Vec<u8>, u64) {
    let loaded = CodeObject::load(object).unwrap();
    let info = loaded.kernel("t").unwrap();
    // clang tells no names: arguments are in the order of the inputs, the output last.
    let buffer = |at: usize| {
        let given = inputs.get(at);
        let bytes = given.map_or_else(|| vec![0; size], |input| input.1.clone());
        ArgValue::Buffer(Buffer { element: sim::Scalar::U8, shape: vec![bytes.len() as u64], bytes })
    };
    let values: Vec<ArgValue> = (0..info.explicit_args().count()).map(buffer).collect();
    let mut device = Device::with_threads(1);
    device.set_mode(mode);
    let module = device.load(&loaded).unwrap();
    let placed = Placed::new(&mut device, info, &values).unwrap();
    let dispatch = Dispatch {
        kernel: "t",
        grid: [lanes as u32, 1, 1],
        group: [64, 1, 1],
        kernarg: placed.kernarg.clone(),
        limits: Limits { instructions: u64::MAX, ..Limits::default() },
        ..Dispatch::default()
    };
    let stats = device.run(module, &dispatch).unwrap_or_else(|why| panic!("{why}"));
    let at = info.explicit_args().count() - 1;
    (placed.read(&device, at).unwrap().unwrap().bytes, stats.instructions)
}
