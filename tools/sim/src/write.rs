//! Changes that a debugger makes to a dispatch when a wave has stopped.

use crate::debug::Dword;
use crate::exec::Cx;

/// The value that a debugger writes, and where it writes it. A write to a register or address that does not
/// exist has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// A scalar register, by its code as in [`Stopped::scalar`](crate::Stopped::scalar), and the new value.
    Scalar(u16, u32),
    /// A lane's dword of a vector register: the number of the register as in
    /// [`Stopped::vector`](crate::Stopped::vector), the lane, and the new value.
    Vector(u16, u32, u32),
    /// Bytes of global memory, from an address on.
    Global(u64, Vec<u8>),
    /// Bytes of the group's LDS, from an offset on.
    Lds(u64, Vec<u8>),
    /// Bytes of a lane's private memory: the lane, the offset of the first byte, and the bytes.
    Private(u32, u64, Vec<u8>),
}

impl Write {
    pub(crate) fn apply(&self, cx: &mut Cx<'_>) {
        match *self {
            Write::Scalar(code, value) => {
                if let Some(register) = cx.wave.sgpr[..128].get_mut(usize::from(code)) {
                    *register = value;
                }
            }
            Write::Vector(number, lane, value) => {
                let register = cx.wave.vgpr.get_mut(usize::from(number));
                if let Some(dword) = register.and_then(|lanes| lanes.get_mut(lane as usize)) {
                    *dword = value;
                }
            }
            Write::Global(address, ref bytes) => {
                cx.memory.write(address, bytes);
            }
            Write::Lds(offset, ref bytes) => put(cx.lds, bytes, |at| {
                let at = offset.checked_add(at)?;
                (at < u64::from(cx.lds_bytes)).then_some(at)
            }),
            Write::Private(lane, offset, ref bytes) => {
                let lanes = u64::from(cx.wave.lanes);
                // The scratch of a wave interleaves the private memory of its lanes: the same dword of
                // neighbouring lanes is stored side by side.
                put(&mut cx.wave.scratch, bytes, |at| {
                    let at = offset.checked_add(at)?;
                    (at / 4).checked_mul(lanes)?.checked_add(lane.into())?.checked_mul(4)?.checked_add(at % 4)
                });
            }
        }
    }
}

impl Write {
    /// Returns the dwords of registers, LDS and private memory that the write changes, each with a mask of
    /// the changed bits.
    pub(crate) fn dwords(&self) -> impl Iterator<Item = (Dword, u32)> {
        let register = match *self {
            Write::Scalar(code, _) => Some(Dword::Scalar(code)),
            Write::Vector(number, lane, _) => Some(Dword::Vector(number, lane)),
            _ => None,
        };
        let memory = match self {
            Write::Lds(offset, bytes) => Some((None, *offset, bytes.len())),
            Write::Private(lane, offset, bytes) => Some((Some(*lane), *offset, bytes.len())),
            _ => None,
        };
        let bytes = memory.into_iter().flat_map(|(lane, offset, count)| {
            let places = (0..count as u64).filter_map(move |at| offset.checked_add(at));
            places.map(move |at| {
                let number = usize::try_from(at / 4).unwrap_or(usize::MAX);
                let dword = lane.map_or(Dword::Lds(number), |lane| Dword::Private(lane, number));
                (dword, 0xff << (at % 4 * 8))
            })
        });
        register.into_iter().map(|dword| (dword, u32::MAX)).chain(bytes)
    }
}

/// Writes bytes into an array of dwords. The function `place` returns the position in the array for each
/// byte.
fn put(dwords: &mut [u32], bytes: &[u8], place: impl Fn(u64) -> Option<u64>) {
    for (&byte, at) in bytes.iter().zip(0..) {
        let Some(at) = place(at) else { return };
        let dword = usize::try_from(at / 4).ok().and_then(|dword| dwords.get_mut(dword));
        let Some(dword) = dword else { return };
        let shift = at % 4 * 8;
        *dword = *dword & !(0xff << shift) | u32::from(byte) << shift;
    }
}
