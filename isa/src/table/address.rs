//! Components of the address of an image instruction.

bitflags::bitflags! {
    /// Components of an address, in the order of the registers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct AddressParts: u8 {
        /// Derivatives of the coordinates.
        const SLOPES = 1;
        /// 16-bit derivatives of the coordinates.
        const HALF_SLOPES = 1 << 1;
        /// Coordinates.
        const PLACE = 1 << 2;
        /// Level of detail, or its limit.
        const LEVEL = 1 << 3;
        /// The image must be multisampled.
        const SAMPLES = 1 << 4;
        /// The address describes a ray and has no other components. Its size is [`ImageAddress::dwords`]
        /// dwords, or three dwords less if the ray's directions have 16 bits per component.
        const RAY = 1 << 5;
    }
}

/// Composition of an image address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageAddress {
    /// Number of dwords that precede the coordinates: offset, bias and reference value.
    pub dwords: u8,
    /// The components.
    pub parts: AddressParts,
}

/// Dimension of an image, such as `2D_ARRAY`. The hardware's number of a dimension is its index in [`DIMS`].
#[derive(Clone, Copy, Debug)]
pub struct Dim {
    /// The assembler's name, which follows `SQ_RSRC_IMG_`.
    pub name: &'static str,
    /// Number of coordinates.
    pub coordinates: u8,
    /// Number of derivatives.
    pub slopes: u8,
}

const fn dim(name: &'static str, coordinates: u8, slopes: u8) -> Dim {
    Dim { name, coordinates, slopes }
}

/// The image dimensions with the number of coordinates of each. The layer in an array of images and the
/// sample number count as coordinates too, but have no derivatives.
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

/// Number of the first multisampled dimension.
pub const FIRST_MSAA_DIM: u8 = 6;

impl ImageAddress {
    const fn has(self, part: AddressParts) -> bool {
        self.parts.contains(part)
    }

    /// Returns the size of the address in dwords on GFX10, where the instruction contains the dimension of
    /// the image. With 16-bit addresses (`a16`), two coordinates share a dword. The dwords before the
    /// components and the derivatives keep their size. For derivatives of 16 bits there are separate
    /// instructions ([`AddressParts::HALF_SLOPES`]).
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

    /// Returns the maximum size of the address in dwords, over all dimensions that have a meaning in the
    /// instruction.
    pub fn most(self) -> u8 {
        let slopes = match () {
            // Two derivatives share a dword.
            _ if self.has(AddressParts::HALF_SLOPES) => 4,
            _ if self.has(AddressParts::SLOPES) => 6,
            _ => 0,
        };
        match self.has(AddressParts::RAY) {
            true => self.dwords,
            false => self.dwords + slopes + 3 + u8::from(self.has(AddressParts::LEVEL)),
        }
    }

    /// Returns the minimum and maximum size of the address in dwords before GFX10, where only the resource
    /// contains the dimension of the image.
    pub fn len_range(self) -> (u8, u8) {
        (self.dwords + u8::from(self.has(AddressParts::SLOPES)) + 1, self.most().max(4))
    }
}
