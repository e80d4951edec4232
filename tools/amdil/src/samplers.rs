//! The bits of a sampler. The document leaves them out (seed 003, line 267); they are those of CLRX,
//! `doc/AmdAbi.md`.

use crate::words::words;

words! {
    /// What a sampler does with coordinates outside of the image.
    Addressing {
        /// Nothing.
        None = "none",
        /// Repeats the image.
        Repeat = "repeat",
        /// Takes the pixel at the edge.
        ClampToEdge = "clamp to edge",
        /// Takes the border's colour.
        Clamp = "clamp",
        /// Repeats the image, each second time mirrored.
        MirroredRepeat = "mirrored repeat",
    }
}

words! {
    /// How a sampler makes a value of several pixels.
    Filter {
        /// Not stated.
        None = "none",
        /// Takes the nearest pixel.
        Nearest = "nearest",
        /// Interpolates.
        Linear = "linear",
    }
}

/// State of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerState {
    /// Coordinates are from 0 to 1 (bit 0).
    pub normalized: bool,
    /// What happens outside of the image (bits 1 to 3).
    pub addressing: Addressing,
    /// Filter (bits 4 and 5).
    pub filter: Filter,
}

impl SamplerState {
    /// Returns the state with the given bits, or none if other bits are set or a mode is unknown.
    pub fn from_bits(bits: u32) -> Option<SamplerState> {
        if bits >> 6 != 0 {
            return None;
        }
        let addressing = *Addressing::ALL.get((bits >> 1 & 7) as usize)?;
        let filter = *Filter::ALL.get((bits >> 4) as usize)?;
        Some(SamplerState { normalized: bits & 1 == 1, addressing, filter })
    }

    /// Returns the bits of the state.
    pub fn bits(self) -> u32 {
        u32::from(self.normalized) | (self.addressing as u32) << 1 | (self.filter as u32) << 4
    }
}
