//! Small kernels in assembly with a planted bug, and their correct twins.

#![allow(dead_code, reason = "each test takes what it needs")]

use sim::{CodeObject, Device, Dispatch, Fault, FaultClass, Limits, Mode};

/// Kernels get a buffer of this size as their argument, filled with zeros.
pub const BYTES: u64 = 65536;

pub struct Kernel<'a> {
    pub cpu: &'a str,
    pub body: &'a str,
    pub grid: u32,
    pub group: u32,
    pub scratch: u32,
}

pub fn kernel<'a>(body: &'a str) -> Kernel<'a> {
    Kernel { cpu: "gfx906", body, grid: 64, group: 64, scratch: 0 }
}

pub fn source(kernel: &Kernel<'_>) -> String {
    let Kernel { cpu, body, scratch, .. } = kernel;
    let scratch_enable = u8::from(*scratch != 0);
    let flat_init =
        if *scratch != 0 && !cpu.starts_with("gfx6") { ".amdhsa_user_sgpr_flat_scratch_init 1" } else { "" };
    let (mode, wave) = match cpu.starts_with("gfx10") {
        true => (".amdhsa_wavefront_size32 1\n.amdhsa_workgroup_processor_mode 1", 32),
        false => ("", 64),
    };
    format!(
        r#"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  {flat_init}
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset {scratch_enable}
  .amdhsa_private_segment_fixed_size {scratch}
  .amdhsa_next_free_vgpr 24
  .amdhsa_next_free_sgpr 32
  .amdhsa_group_segment_fixed_size 4096
  {mode}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version:
  - 1
  - 2
amdhsa.target: amdgcn-amd-amdhsa--{cpu}
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: {scratch}
    .wavefront_size: {wave}
    .sgpr_count: 40
    .vgpr_count: 24
    .max_flat_workgroup_size: 1024
    .args:
      - .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
...
.end_amdgpu_metadata
"#
    )
}

/// Runs a kernel strictly.
pub fn run(kernel: &Kernel<'_>) -> Result<(), Fault> {
    run_on(kernel, Mode::STRICT, 1, 100_000)
}

pub fn run_on(kernel: &Kernel<'_>, mode: Mode, threads: usize, instructions: u64) -> Result<(), Fault> {
    Prepared::new(kernel, mode, threads).run(kernel, instructions)
}

/// The same with findings of a level, strictly.
pub fn run_at(kernel: &Kernel<'_>, level: check::Level) -> Result<(), Fault> {
    let mut prepared = Prepared::new(kernel, Mode::STRICT, 1);
    prepared.device.set_level(level);
    prepared.run(kernel, 100_000)
}

/// Runs a kernel and returns the dwords of its buffer, which begins as `0, 1, 2, ...`.
pub fn contents(kernel: &Kernel<'_>, mode: Mode) -> Result<Vec<u32>, Fault> {
    let mut prepared = Prepared::new(kernel, mode, 1);
    let numbers: Vec<u8> = (0..BYTES as u32 / 4).flat_map(u32::to_le_bytes).collect();
    prepared.device.write(prepared.buffer, &numbers)?;
    prepared.run(kernel, 100_000)?;
    let mut bytes = vec![0; BYTES as usize];
    prepared.device.read(prepared.buffer, &mut bytes)?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

/// A device with a kernel and its buffer.
struct Prepared {
    device: Device,
    module: sim::ModuleId,
    buffer: u64,
}

impl Prepared {
    fn new(kernel: &Kernel<'_>, mode: Mode, threads: usize) -> Prepared {
        let (cpu, replays) = kernel.cpu.split_once(":xnack").unwrap_or((kernel.cpu, ""));
        let xnack = (!replays.is_empty()).then_some(replays == "+");
        let options = asm::Options { target: isa::Target::by_name(cpu), xnack, ..asm::Options::default() };
        let text = source(kernel);
        let bytes = asm::assemble(&text, &options).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let object = CodeObject::load(&bytes).expect("it loads");
        let mut device = Device::with_threads(threads);
        device.set_mode(mode);
        let module = device.load(&object).expect("it fits");
        let buffer = device.alloc(BYTES).expect("room");
        Prepared { device, module, buffer }
    }

    fn run(&mut self, kernel: &Kernel<'_>, instructions: u64) -> Result<(), Fault> {
        let dispatch = Dispatch {
            kernel: "k",
            grid: [kernel.grid, 1, 1],
            group: [kernel.group, 1, 1],
            kernarg: self.buffer.to_le_bytes().to_vec(),
            dynamic_lds: 0,
            limits: Limits { instructions, stack: 0 },
            ..Dispatch::default()
        };
        self.device.run(self.module, &dispatch).map(|_| ())
    }
}

/// The class and the rule of what ended a run.
pub fn verdict(kernel: &Kernel<'_>) -> Result<(FaultClass, String), String> {
    match run(kernel) {
        Ok(()) => Err("nothing was found".into()),
        Err(Fault::Found(report)) => Ok((report.class, report.rule.clone())),
        Err(fault) => Ok((fault.class(), String::new())),
    }
}

/// The bug is found by its rule; the twin passes.
#[track_caller]
pub fn pair(bad: Kernel<'_>, good: Kernel<'_>, class: FaultClass, rule: &str) {
    assert_eq!(verdict(&bad), Ok((class, rule.to_owned())));
    if let Err(fault) = run(&good) {
        panic!("the correct twin: {fault}");
    }
}

/// The lines of `body` that are not marked, or all of them: `!` marks what the bug leaves out, `?` what it adds.
pub fn twins(body: &str) -> (String, String) {
    let pick = |left_out: char, taken: char| {
        let lines = body.lines().filter(|line| !line.trim_start().starts_with(left_out));
        lines.map(|line| line.replacen(taken, "", 1)).collect::<Vec<_>>().join("\n")
    };
    (pick('!', '?'), pick('?', '!'))
}

#[track_caller]
pub fn planted(body: &str, class: FaultClass, rule: &str) {
    let (bad, good) = twins(body);
    pair(kernel(&bad), kernel(&good), class, rule);
}

#[track_caller]
pub fn planted_in(shape: Kernel<'_>, class: FaultClass, rule: &str) {
    let (bad, good) = twins(shape.body);
    pair(Kernel { body: &bad, ..shape }, Kernel { body: &good, ..shape }, class, rule);
}

/// `s[4:5]` is the buffer, `v1` the byte offset of the lane's dword.
const START: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
s_waitcnt lgkmcnt(0)
";

pub fn with_start(body: &str) -> String {
    format!("{START}{body}")
}
