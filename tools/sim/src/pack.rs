//! Packs the values of arguments on the host into bytes with the layout that the metadata describes. HIP does
//! the same with the `kernelParams` of `hipModuleLaunchKernel`.

use crate::fault::Fault;
use crate::metadata::ArgKind;
use crate::object::KernelInfo;

/// The value of an argument. `From` converts a number or an address (a [`DevicePtr`](crate::DevicePtr), which
/// is a `u64`) to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg(Vec<u8>);

impl Arg {
    /// Creates an argument from the bytes of a structure or vector.
    pub fn bytes(bytes: &[u8]) -> Arg {
        Arg(bytes.to_vec())
    }
}

macro_rules! from_number {
    ($($type:ty)*) => {
        $(impl From<$type> for Arg {
            fn from(value: $type) -> Arg {
                Arg(value.to_le_bytes().to_vec())
            }
        })*
    };
}

from_number!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl KernelInfo {
    /// Returns the explicit part of the argument segment, for
    /// [`Dispatch::kernarg`](crate::Dispatch::kernarg).
    ///
    /// # Errors
    /// Fails if the number of arguments, or the size of an argument, differs from the metadata.
    pub fn pack(&self, args: &[Arg]) -> Result<Vec<u8>, Fault> {
        let refuse = |why: String| Err(Fault::Dispatch(format!("{}: {why}", self.name)));
        let infos: Vec<_> = self.explicit_args().collect();
        if infos.len() != args.len() {
            return refuse(format!("{} arguments, not {}", infos.len(), args.len()));
        }
        let mut segment = Vec::new();
        for (at, (info, Arg(bytes))) in infos.into_iter().zip(args).enumerate() {
            // A vector of three elements takes the space of four elements. A value with three quarters of the
            // argument's size therefore fits as well. The value for a pointer to dynamic LDS is an offset in
            // LDS.
            let fits = bytes.len() == info.size as usize || bytes.len() * 4 == info.size as usize * 3;
            if !fits || matches!(info.kind, ArgKind::Other(_)) {
                let name = info.name.clone().unwrap_or_else(|| format!("#{at}"));
                return refuse(format!(
                    "argument {name} is {:?} of {} bytes, given are {}",
                    info.kind,
                    info.size,
                    bytes.len()
                ));
            }
            let start = info.offset as usize;
            segment.resize(segment.len().max(start + info.size as usize), 0);
            segment[start..start + bytes.len()].copy_from_slice(bytes);
        }
        Ok(segment)
    }
}
