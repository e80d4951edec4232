//! The relocations of AMD GPUs (LLVM's AMDGPU guide, seed 000, line 507). They are applied to an image before
//! its load address is known.

use super::LoadError;
use super::image::{Image, Part, Patch};

/// Numbers of the relocations `R_AMDGPU_GOTPCREL`, `_LO` and `_HI`. They refer to an entry in the global
/// offset table, which the linker has to create.
pub(super) const GOT: [u32; 3] = [7, 8, 9];

/// Address and addend of a relocation.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) addend: i64,
}

/// Which value a relocation computes.
#[derive(Clone, Copy)]
enum Value {
    /// The value is the symbol's address plus the addend, so it depends on the load address.
    Absolute,
    /// The value is the symbol's address plus the addend minus the address of the relocated field.
    Relative,
    /// The value is the distance to a branch target, counted in dwords from the end of the branch.
    Branch,
}

/// The kinds of relocations. Each has a number, a value that it computes, and a part of this value that it
/// stores.
const KINDS: [(u32, Value, Part); 13] = [
    (1, Value::Absolute, Part::Low),
    (2, Value::Absolute, Part::High),
    (3, Value::Absolute, Part::Whole),
    (4, Value::Relative, Part::Low),
    (5, Value::Relative, Part::Whole),
    (6, Value::Absolute, Part::Low),
    // For the three relocations from here on, `target` is the address of the symbol's entry in the global
    // offset table.
    (7, Value::Relative, Part::Low),
    (8, Value::Relative, Part::Low),
    (9, Value::Relative, Part::High),
    (10, Value::Relative, Part::Low),
    (11, Value::Relative, Part::High),
    (13, Value::Absolute, Part::Whole),
    (14, Value::Branch, Part::Low),
];

/// Applies a relocation to a symbol's address in the image.
pub(super) fn apply(kind: u32, place: Place, target: u64, image: &mut Image) -> Result<(), LoadError> {
    if kind == 0 {
        return Ok(());
    }
    let known = KINDS.iter().find(|(number, ..)| *number == kind);
    let &(_, value, part) = known.ok_or(LoadError::Relocation(kind))?;
    let sum = target.wrapping_add(place.addend as u64);
    let outside = || LoadError::Segment(format!("a relocation at {:#x} lies outside", place.address));
    match value {
        Value::Absolute => image.patches.push(Patch { place: place.address, value: sum, part }),
        Value::Relative => {
            // The symbol and the relocated field move together when the image is loaded, so the value does
            // not depend on the load address.
            let patch = Patch { place: place.address, value: sum.wrapping_sub(place.address), part };
            patch.apply(&mut image.bytes, 0).then_some(()).ok_or_else(outside)?;
        }
        Value::Branch => {
            let dwords = (sum.wrapping_sub(place.address).wrapping_sub(4) as i64) / 4;
            let dwords = i16::try_from(dwords)
                .map_err(|_| LoadError::Segment("a branch to a symbol that is too far away".into()))?;
            let at = usize::try_from(place.address).map_err(|_| outside())?;
            let field = image.bytes.get_mut(at..).and_then(|bytes| bytes.get_mut(..2)).ok_or_else(outside)?;
            field.copy_from_slice(&dwords.to_le_bytes());
        }
    }
    Ok(())
}
