//! What the address of an image instruction is made of.

bitflags::bitflags! {
    /// Parts of an address, in the order of the registers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct AddressParts: u8 {
        /// Derivatives of the place.
        const SLOPES = 1;
        /// Derivatives of the place, of 16 bits.
        const HALF_SLOPES = 1 << 1;
        /// Coordinates.
        const PLACE = 1 << 2;
        /// Level of detail, or its limit.
        const LEVEL = 1 << 3;
        /// The image must have several samples a texel.
        const SAMPLES = 1 << 4;
        /// A ray: `dwords` with three of them less if its directions are of 16 bits.
        const RAY = 1 << 5;
    }
}

/// What an address is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageAddress {
    /// Dwords before the parts: offset, bias, reference value.
    pub dwords: u8,
    /// The parts.
    pub parts: AddressParts,
}

/// Shape of an image; the numbering is the hardware's.
#[derive(Clone, Copy, Debug)]
pub struct Dim {
    /// What the assembler calls it, after `SQ_RSRC_IMG_`.
    pub name: &'static str,
    /// Coordinates of a place.
    pub coordinates: u8,
    /// Derivatives of a place.
    pub slopes: u8,
}

const fn dim(name: &'static str, coordinates: u8, slopes: u8) -> Dim {
    Dim { name, coordinates, slopes }
}

/// The shapes. A layer of an array and a sample are coordinates, but have no slope.
pub const DIMS: [Dim; 8] = [
    dim("1D", 1, 2),
    dim("2D", 2, 4),
    dim("3D", 3, 6),
    dim("CUBE", 3, 4),
    dim("1D_ARRAY", 2, 2),
    dim("2D_ARRAY", 3, 4),
    dim("2D_MSAA", 3, 4),
    dim("2D_MSAA_ARRAY", 4, 4),
];

/// The first of the shapes with several samples a texel.
pub const FIRST_MSAA_DIM: u8 = 6;

impl ImageAddress {
    const fn has(self, part: AddressParts) -> bool {
        self.parts.contains(part)
    }

    /// Dwords of the address on GFX10, which says of what shape the image is. Addresses of 16 bits (`a16`) are two to a
    /// dword, but for what stands before the parts; slopes are so in instructions of their own only.
    pub fn len(self, dim: u8, a16: bool) -> u8 {
        let dim = &DIMS[usize::from(dim & 7)];
        if self.has(AddressParts::RAY) {
            return self.dwords - if a16 { 3 } else { 0 };
        }
        let place = if self.has(AddressParts::PLACE) { dim.coordinates } else { 0 };
        let place = place + u8::from(self.has(AddressParts::LEVEL));
        let slopes = match () {
            _ if self.has(AddressParts::HALF_SLOPES) => (dim.slopes / 2).next_multiple_of(2),
            _ if self.has(AddressParts::SLOPES) => dim.slopes,
            _ => 0,
        };
        self.dwords + slopes + if a16 { place.div_ceil(2) } else { place }
    }

    /// Most dwords of the address for a shape that the instruction makes sense of.
    pub fn most(self) -> u8 {
        let slopes = match () {
            // Two share a dword.
            _ if self.has(AddressParts::HALF_SLOPES) => 4,
            _ if self.has(AddressParts::SLOPES) => 6,
            _ => 0,
        };
        match self.has(AddressParts::RAY) {
            true => self.dwords,
            false => self.dwords + slopes + 3 + u8::from(self.has(AddressParts::LEVEL)),
        }
    }

    /// Least and most dwords of the address before GFX10, where only the resource says of what shape the image is.
    pub fn len_range(self) -> (u8, u8) {
        (self.dwords + u8::from(self.has(AddressParts::SLOPES)) + 1, self.most().max(4))
    }
}
