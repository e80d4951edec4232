//! Conversions between number formats. Float to integer saturates, and NaN gives 0, as Rust's `as` does.

use super::Handler;
use super::valu::lanes;
use half::f16;

pub(super) fn handler(name: &str) -> Option<Handler> {
    to_int(name).or_else(|| to_float(name)).or_else(|| packing(name))
}

fn to_int(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_i32_f32" => lanes!((a: f32) -> i32 => a as i32),
        "v_cvt_u32_f32" => lanes!((a: f32) -> u32 => a as u32),
        "v_cvt_i32_f64" => lanes!((a: f64) -> i32 => a as i32),
        "v_cvt_u32_f64" => lanes!((a: f64) -> u32 => a as u32),
        "v_cvt_rpi_i32_f32" => lanes!((a: f32) -> i32 => (f64::from(a) + 0.5).floor() as i32),
        "v_cvt_flr_i32_f32" => lanes!((a: f32) -> i32 => a.floor() as i32),
        "v_cvt_u16_f16" => lanes!((a: f16) -> u16 => f32::from(a) as u16),
        "v_cvt_i16_f16" => lanes!((a: f16) -> i16 => f32::from(a) as i16),
        "v_cvt_norm_i16_f16" => lanes!((a: f16) -> i16 => norm_i16(f32::from(a)) as i16),
        "v_cvt_norm_u16_f16" => lanes!((a: f16) -> u16 => norm_u16(f32::from(a)) as u16),
        _ => return None,
    })
}

fn to_float(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_f32_i32" => lanes!((a: i32) -> f32 => a as f32),
        "v_cvt_f32_u32" => lanes!((a: u32) -> f32 => a as f32),
        "v_cvt_f64_i32" => lanes!((a: i32) -> f64 => f64::from(a)),
        "v_cvt_f64_u32" => lanes!((a: u32) -> f64 => f64::from(a)),
        "v_cvt_f64_f32" => lanes!((a: f32) -> f64 => f64::from(a)),
        "v_cvt_f32_f64" => lanes!((a: f64) -> f32 => a as f32),
        "v_cvt_f32_f16" => lanes!((a: f16) -> f32 => f32::from(a)),
        "v_cvt_f16_f32" => lanes!((a: f32) -> f16 => f16::from_f32(a)),
        "v_cvt_f16_u16" => lanes!((a: u16) -> f16 => f16::from_f32(f32::from(a))),
        "v_cvt_f16_i16" => lanes!((a: i16) -> f16 => f16::from_f32(f32::from(a))),
        "v_cvt_f32_ubyte0" => lanes!((a: u32) -> f32 => (a & 255) as f32),
        "v_cvt_f32_ubyte1" => lanes!((a: u32) -> f32 => (a >> 8 & 255) as f32),
        "v_cvt_f32_ubyte2" => lanes!((a: u32) -> f32 => (a >> 16 & 255) as f32),
        "v_cvt_f32_ubyte3" => lanes!((a: u32) -> f32 => (a >> 24) as f32),
        "v_cvt_off_f32_i4" => lanes!((a: u32) -> f32 => ((a << 28) as i32 >> 28) as f32 / 16.0),
        _ => return None,
    })
}

fn packing(name: &str) -> Option<Handler> {
    Some(match name {
        "v_cvt_pkrtz_f16_f32" => {
            lanes!((a: f32, b: f32) -> u32 => pack(f16_toward_zero(a), f16_toward_zero(b)))
        }
        "v_cvt_pknorm_i16_f32" => lanes!((a: f32, b: f32) -> u32 => pack(norm_i16(a), norm_i16(b))),
        "v_cvt_pknorm_u16_f32" => lanes!((a: f32, b: f32) -> u32 => pack(norm_u16(a), norm_u16(b))),
        "v_cvt_pknorm_i16_f16" => {
            lanes!((a: f16, b: f16) -> u32 => pack(norm_i16(f32::from(a)), norm_i16(f32::from(b))))
        }
        "v_cvt_pknorm_u16_f16" => {
            lanes!((a: f16, b: f16) -> u32 => pack(norm_u16(f32::from(a)), norm_u16(f32::from(b))))
        }
        "v_cvt_pk_u16_u32" => lanes!((a: u32, b: u32) -> u32 => pack(a.min(0xffff), b.min(0xffff))),
        "v_cvt_pk_i16_i32" => lanes!((a: i32, b: i32) -> u32 => {
            pack(a.clamp(-0x8000, 0x7fff) as u32, b.clamp(-0x8000, 0x7fff) as u32)
        }),
        "v_cvt_pk_u8_f32" => lanes!((a: f32, b: u32, c: u32) -> u32 => {
            let at = 8 * (b & 3);
            c & !(255 << at) | (a.round_ties_even() as u8 as u32) << at
        }),
        "v_pack_b32_f16" => lanes!((a: f16, b: f16) -> u32 => pack(a.to_bits().into(), b.to_bits().into())),
        "v_sat_pk_u8_i16" => lanes!((a: u32) -> u32 => {
            let saturate = |half: u32| (half as i16).clamp(0, 255) as u32;
            saturate(a) | saturate(a >> 16) << 8
        }),
        _ => return None,
    })
}

#[inline(always)]
fn pack(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

/// Signed normalised: -1.0..=1.0 to 16 bits.
fn norm_i16(value: f32) -> u32 {
    (value.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i32 as u32
}

/// Unsigned normalised: 0.0..=1.0 to 16 bits.
fn norm_u16(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u32
}

/// To half precision, rounding toward zero: what overflows becomes the largest number.
pub(super) fn f16_toward_zero(value: f32) -> u32 {
    let nearest = f16::from_f32(value);
    let away = f32::from(nearest).abs() > value.abs();
    u32::from(if away { nearest.to_bits() - 1 } else { nearest.to_bits() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toward_zero() {
        assert_eq!(f16_toward_zero(1.0), 0x3c00);
        assert_eq!(f16_toward_zero(1.000_9), 0x3c00);
        assert_eq!(f16_toward_zero(-1.000_9), 0xbc00);
        assert_eq!(f16_toward_zero(1e9), 0x7bff);
        assert_eq!(f16_toward_zero(f32::INFINITY), 0x7c00);
        assert_eq!(f16_toward_zero(1e-9), 0);
    }
}
