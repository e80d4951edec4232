//! Mixed-precision instructions. Each source is an f32 or an f16, the arithmetic is in f32, and the result is
//! an f32 or an f16.

use super::convert::to_half;
use super::real::{Real, nearest};
use super::valu::{self, Format, flushes, plain, rounding, write};
use super::{Cx, Flow, Handler};
use crate::float;
use crate::op::Op;
use crate::soft::{self, Round, Single};
use half::f16;

/// The part of the register that receives the result.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Whole,
    Low,
    High,
}

pub(super) fn handler(name: &str) -> Option<Handler> {
    Some(match name {
        "v_fma_mix_f32" => |cx, op| mix(cx, op, true, Part::Whole),
        "v_fma_mixlo_f16" => |cx, op| mix(cx, op, true, Part::Low),
        "v_fma_mixhi_f16" => |cx, op| mix(cx, op, true, Part::High),
        "v_mad_mix_f32" => |cx, op| mix(cx, op, false, Part::Whole),
        "v_mad_mixlo_f16" => |cx, op| mix(cx, op, false, Part::Low),
        "v_mad_mixhi_f16" => |cx, op| mix(cx, op, false, Part::High),
        _ => return None,
    })
}

/// How f32 arithmetic treats rounding and denormals. MODE and the instruction decide this.
#[derive(Clone, Copy)]
struct Arithmetic {
    fused: bool,
    fast: bool,
    round: Round,
    flush: (bool, bool),
}

impl Arithmetic {
    fn run(self, values: [f32; 3]) -> f32 {
        let [a, b, c] = values;
        let flush = |value: f32| if self.flush.1 { value.flushed() } else { value };
        let value = if self.fused { a.mul_add(b, c) } else { flush(a * b) + c };
        if self.fast && !value.is_nan() {
            return flush(value);
        }
        let [x, y, z] = values.map(|value| u64::from(value.to_bits()));
        let single = |bits: u64| f32::from_bits(bits as u32);
        let exact = match self.fused {
            true => soft::fma::<Single>(self.round, x, y, z),
            false => soft::nan_of::<Single>(&[x, y, z]).unwrap_or_else(|| {
                let product = flush(single(soft::mul::<Single>(self.round, x, y)));
                soft::add::<Single>(self.round, product.to_bits().into(), z)
            }),
        };
        flush(single(exact))
    }
}

/// Runs a mixed-precision instruction. `op_sel_hi` has a bit for each source. If the bit is set, the source
/// is an f16, and `op_sel` selects one half of the source register. Otherwise, the source is an f32.
fn mix(cx: &mut Cx<'_>, op: &Op, fused: bool, part: Part) -> Flow {
    // `v_mad_mix` flushes denormals, as `v_mad_f32` does.
    let flush = if fused { flushes(cx.wave, Format::F32) } else { (true, true) };
    let round = rounding(cx.wave, Format::F32);
    let arithmetic = Arithmetic { fused, fast: nearest(cx, Format::F32), round, flush };
    let flush16 = flushes(cx.wave, Format::F16);
    let round16 = rounding(cx.wave, Format::F16);
    let (clamp, dx10) = (op.clamp(), cx.wave.dx10_clamp);
    let [a, b, c, d] = &mut cx.scratch.sources;
    let sources = [
        plain(cx.wave, op.src[0], 1, a)[0],
        plain(cx.wave, op.src[1], 1, b)[0],
        plain(cx.wave, op.src[2], 1, c)[0],
    ];
    let old = plain(cx.wave, op.src[3], 1, d)[0];
    let result = &mut cx.scratch.result;
    for lane in 0..64 {
        let values = std::array::from_fn(|at| {
            let bits = sources[at][lane];
            let value = match (op.op_sel_hi >> at & 1, op.op_sel >> at & 1) {
                (0, _) if flush.0 => f32::from_bits(bits).flushed(),
                (0, _) => f32::from_bits(bits),
                (_, half) => {
                    let value = f16::from_bits((bits >> (16 * half)) as u16);
                    float::half_to_single(if flush16.0 { value.flushed() } else { value })
                }
            };
            let value = if op.abs >> at & 1 != 0 { value.abs() } else { value };
            if op.neg >> at & 1 != 0 { -value } else { value }
        });
        let value = arithmetic.run(values);
        let half = || {
            let half = to_half(round16, value);
            let half = if clamp { f16::from_f64(valu::clamp(half.to_f64(), dx10)) } else { half };
            u32::from(if flush16.1 { half.flushed() } else { half }.to_bits())
        };
        result[0][lane] = match part {
            Part::Whole if clamp => (valu::clamp(value.into(), dx10) as f32).to_bits(),
            Part::Whole => value.to_bits(),
            Part::Low => old[lane] & 0xffff_0000 | half(),
            Part::High => old[lane] & 0xffff | half() << 16,
        };
    }
    let exec = cx.wave.exec();
    write(cx.wave, op.dst, &cx.scratch.result[0], exec);
    Flow::Next
}
