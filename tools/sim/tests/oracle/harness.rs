//! Machine code that finds its inputs and outputs in buffers: assembled, loaded and run on the emulator.
//!
//! At its start s[4:7] is the resource of the inputs, whose first two words are their address; s[8:11] that of the outputs;
//! s2 the work-group's number; v0 the work-item's.

use super::Mode;
use isa::Target;
use sim::{CodeObject, Device, Dispatch};
use std::fmt::Write as _;

/// How a kernel is run.
#[derive(Clone, Copy)]
pub struct Harness {
    /// Processor and wave size.
    pub target: &'static Target,
    /// MODE.
    pub mode: Mode,
    /// VGPRs; on processors with matrix instructions as many accumulation registers.
    pub vgprs: u32,
    /// Bytes of LDS.
    pub lds: u32,
    /// Work-items of a group.
    pub group: u32,
    /// Groups.
    pub groups: u32,
}

impl Harness {
    /// A wave that needs little.
    pub fn new(target: &'static Target, mode: Mode) -> Harness {
        Harness { target, mode, vgprs: 32, lds: 0, group: 64, groups: 1 }
    }

    fn source(&self, body: &str) -> String {
        let Harness { target, mode, vgprs, lds, .. } = self;
        let field = |at: u32| mode.float >> at & 3;
        let accumulates = target.has(isa::Feature::UNIFIED_VGPRS);
        let mut source = format!(
            ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\ns_load_dwordx8 s[4:11], s[0:1], 0x0\ns_waitcnt 0\n{body}\
             s_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_group_segment_fixed_size {lds}\n\
             .amdhsa_kernarg_size 32\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_next_free_vgpr {}\n\
             .amdhsa_next_free_sgpr 80\n\
             .amdhsa_float_round_mode_32 {}\n.amdhsa_float_round_mode_16_64 {}\n\
             .amdhsa_float_denorm_mode_32 {}\n.amdhsa_float_denorm_mode_16_64 {}\n\
             .amdhsa_ieee_mode {}\n.amdhsa_dx10_clamp {}\n",
            if accumulates { 2 * vgprs } else { *vgprs },
            field(0),
            field(2),
            field(4),
            field(6),
            u32::from(mode.ieee),
            u32::from(mode.dx10),
        );
        if accumulates {
            let _ = writeln!(source, ".amdhsa_accum_offset {vgprs}");
        }
        if mode.fp16_overflow {
            source.push_str(".amdhsa_fp16_overflow 1\n");
        }
        if target.version.0 == 10 {
            let _ = writeln!(source, ".amdhsa_wavefront_size32 {}", u32::from(target.wave_size == 32));
        }
        source.push_str(".end_amdhsa_kernel\n");
        source
    }

    fn assemble(&self, body: &str) -> Result<Vec<u8>, String> {
        let wave64 = self.target.wave_size == 64;
        let options = asm::Options { target: Some(self.target), wave64, ..asm::Options::default() };
        let source = self.source(body);
        asm::assemble(&source, &options).map_err(|wrong| {
            let first = &wrong[0];
            let line = source[..first.span.start].matches('\n').count();
            format!("{}: {}", first.message, source.lines().nth(line).unwrap_or_default())
        })
    }

    /// Words 2 and 3 of the resource hold its size and neither format nor swizzling.
    fn resource(&self, address: u64, bytes: usize) -> [u32; 4] {
        let format = match self.target.version.0 {
            10 => 0x3101_6fac,
            _ => 0x0002_7fac,
        };
        [address as u32, (address >> 32) as u32 & 0xffff, bytes as u32, format]
    }

    /// The dwords that the code leaves behind.
    pub fn run(&self, body: &str, input: &[u32], answer: usize) -> Result<Vec<u32>, String> {
        let object = self.assemble(body)?;
        let object = CodeObject::load(&object).map_err(|error| error.to_string())?;
        let text = |fault: sim::Fault| fault.to_string();
        let mut device = Device::new();
        let module = device.load(&object).map_err(text)?;
        let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut output = vec![0; answer * 4];
        let from = device.alloc(bytes.len().max(4) as u64).map_err(text)?;
        let to = device.alloc(output.len() as u64).map_err(text)?;
        device.write(from, &bytes).map_err(text)?;
        let kernarg = self.resource(from, bytes.len()).into_iter().chain(self.resource(to, output.len()));
        let dispatch = Dispatch {
            kernel: "k",
            grid: [self.group * self.groups, 1, 1],
            group: [self.group as u16 as _, 1, 1],
            kernarg: kernarg.flat_map(u32::to_le_bytes).collect(),
            ..Dispatch::default()
        };
        device.run(module, &dispatch).map_err(text)?;
        device.read(to, &mut output).map_err(text)?;
        Ok(output.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}
