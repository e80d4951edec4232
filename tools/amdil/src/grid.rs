//! Constant buffer 0: the values about a dispatch that every kernel can read.

use crate::words::words;
use std::fmt;

words! {
    /// An element of constant buffer 0, in the order of the document's table (seed 003, line 109). The last
    /// element is not in the document: drivers that split a dispatch put the offset of the whole dispatch
    /// there (ROCclr, `device/gpu/gpukernel.cpp`; CLRX, `doc/AmdAbi.md`).
    GridElement {
        /// Work items of the dispatch in a dimension.
        GlobalSize = "global work size",
        /// Count of dimensions; 0 for a task.
        Dimensions = "work dimensions",
        /// Work items of a work-group in a dimension.
        LocalSize = "local work size",
        /// Work-groups of the dispatch in a dimension.
        Groups = "work-groups",
        /// Offset to the ring of the private memory, 0 if private memory is not emulated.
        PrivateRing = "offset of the private ring",
        /// Private memory of a work item in bytes.
        PrivateSize = "private memory of a work item",
        /// Offset to the ring of the local memory, 0 if local memory is not emulated.
        LocalRing = "offset of the local ring",
        /// Local memory of a work-group in bytes.
        LocalMemorySize = "local memory of a work-group",
        /// Place of the tables of the mathematical library in the global buffer.
        MathTables = "tables of the mathematical library",
        /// The numbers 0.0, 0.5, 1.0 and 2.0.
        MathConstant = "constant of the mathematical library",
        /// Offset of the work items in a dimension.
        GlobalOffset = "global offset",
        /// Product of the offsets in all dimensions.
        FlatGlobalOffset = "flat global offset",
        /// Offset of the work-groups in a dimension.
        GroupOffset = "group offset",
        /// Product of the offsets of the work-groups in all dimensions.
        FlatGroupOffset = "flat group offset",
        /// Offset of the emulated data segment in the global buffer.
        DataOffset = "offset of the data segment",
        /// Offset of the printf buffer.
        PrintfOffset = "offset of the printf buffer",
        /// Size of the printf buffer.
        PrintfSize = "size of the printf buffer",
        /// Always 0.
        Zero = "zero",
        /// Offset of the whole dispatch in a dimension.
        WholeOffset = "offset of the whole dispatch",
    }
}

/// A row of the layout of constant buffer 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridRow {
    /// What is there.
    pub element: GridElement,
    /// Which dimension or which of several numbers, from 0.
    pub index: usize,
    /// Offset in bytes with pointers of 32 bits.
    pub offset: u32,
    /// Offset and size in bytes with pointers of 64 bits ([`Flag::Abi64`](crate::Flag::Abi64)).
    pub wide: (u32, u32),
}

/// Size of constant buffer 0 in bytes: ten vectors.
pub const GRID_SIZE: usize = 160;

/// Returns a row of an element that is the same with pointers of 32 and of 64 bits.
const fn row(element: GridElement, index: usize, offset: u32) -> GridRow {
    GridRow { element, index, offset, wide: (offset, 4) }
}

/// The layout of constant buffer 0. The document has only pointers of 32 bits. The columns for 64 bits are
/// those of ROCclr, `device/gpu/gpukernel.cpp`, and for the rings those of the AMDIL backend of LLVM,
/// `AMDILKernelManager.cpp`.
pub const GRID: [GridRow; 38] = {
    use GridElement::*;
    [
        row(GlobalSize, 0, 0),
        row(GlobalSize, 1, 4),
        row(GlobalSize, 2, 8),
        row(Dimensions, 0, 12),
        row(LocalSize, 0, 16),
        row(LocalSize, 1, 20),
        row(LocalSize, 2, 24),
        row(Zero, 0, 28),
        row(Groups, 0, 32),
        row(Groups, 1, 36),
        row(Groups, 2, 40),
        row(Zero, 0, 44),
        GridRow { element: PrivateRing, index: 0, offset: 48, wide: (48, 8) },
        GridRow { element: PrivateSize, index: 0, offset: 52, wide: (56, 4) },
        GridRow { element: Zero, index: 0, offset: 56, wide: (60, 4) },
        row(Zero, 0, 60),
        GridRow { element: LocalRing, index: 0, offset: 64, wide: (64, 8) },
        GridRow { element: LocalMemorySize, index: 0, offset: 68, wide: (72, 4) },
        GridRow { element: Zero, index: 0, offset: 72, wide: (76, 4) },
        GridRow { element: MathTables, index: 0, offset: 76, wide: (76, 4) },
        row(MathConstant, 0, 80),
        row(MathConstant, 1, 84),
        row(MathConstant, 2, 88),
        row(MathConstant, 3, 92),
        row(GlobalOffset, 0, 96),
        row(GlobalOffset, 1, 100),
        row(GlobalOffset, 2, 104),
        row(FlatGlobalOffset, 0, 108),
        row(GroupOffset, 0, 112),
        row(GroupOffset, 1, 116),
        row(GroupOffset, 2, 120),
        row(FlatGroupOffset, 0, 124),
        GridRow { element: DataOffset, index: 0, offset: 128, wide: (128, 8) },
        GridRow { element: PrintfOffset, index: 0, offset: 132, wide: (136, 8) },
        GridRow { element: PrintfSize, index: 0, offset: 136, wide: (144, 4) },
        GridRow { element: WholeOffset, index: 0, offset: 144, wide: (148, 4) },
        GridRow { element: WholeOffset, index: 1, offset: 148, wide: (152, 4) },
        GridRow { element: WholeOffset, index: 2, offset: 152, wide: (156, 4) },
    ]
};

impl GridRow {
    /// Returns the place as IL writes it: vector and component, for pointers of 32 bits.
    pub fn place(&self) -> String {
        let component = ["x", "y", "z", "w"][(self.offset / 4 % 4) as usize];
        format!("cb0[{}].{component}", self.offset / 16)
    }
}

/// A dispatch, from which constant buffer 0 is filled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// Work items in each dimension, at most 3; empty for a task (`clEnqueueTask`), which is one work item.
    pub global: Vec<u32>,
    /// Work items of a work-group in each dimension, as many as `global`.
    pub local: Vec<u32>,
    /// Offset of the work items in each dimension.
    pub offset: [u32; 3],
    /// Offset of the work-groups in each dimension.
    pub group_offset: [u32; 3],
    /// Offset of the whole dispatch, if this is a part of one.
    pub whole_offset: [u32; 3],
    /// Offset to the ring of emulated private memory.
    pub private_ring: u64,
    /// Private memory of a work item in bytes.
    pub private_size: u32,
    /// Offset to the ring of emulated local memory.
    pub local_ring: u64,
    /// Local memory of a work-group in bytes.
    pub local_size: u32,
    /// Place of the tables of the mathematical library in the global buffer.
    pub math_tables: u32,
    /// Offset of the emulated data segment in the global buffer.
    pub data_offset: u64,
    /// Offset of the printf buffer.
    pub printf_offset: u64,
    /// Size of the printf buffer.
    pub printf_size: u32,
}

/// Why constant buffer 0 cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridError {
    /// There are more than three dimensions, or the sizes have different counts of dimensions.
    Dimensions,
    /// The size of a work-group in a dimension is 0 or does not divide the size of the dispatch.
    Local(usize),
    /// An offset has more than 32 bits where the kernel has pointers of 32 bits.
    Wide(GridElement),
    /// The product of the offsets of the dimensions has more than 32 bits.
    FlatOffset,
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GridError::Dimensions => {
                write!(f, "a dispatch has at most three dimensions, and as many of local size")
            }
            GridError::Local(dimension) => {
                write!(f, "the work-group size does not divide the dispatch in dimension {dimension}")
            }
            GridError::Wide(element) => {
                write!(f, "the {element} has more than 32 bits, and the kernel has pointers of 32")
            }
            GridError::FlatOffset => write!(f, "the product of the offsets has more than 32 bits"),
        }
    }
}

impl std::error::Error for GridError {}

impl Grid {
    /// Returns the bytes of constant buffer 0, with pointers of 64 bits if `wide`.
    ///
    /// # Errors
    /// If the sizes do not fit together or a number does not fit into its element.
    pub fn constants(&self, wide: bool) -> Result<[u8; GRID_SIZE], GridError> {
        let dimensions = self.global.len();
        if dimensions > 3 || self.local.len() != dimensions {
            return Err(GridError::Dimensions);
        }
        for (dimension, (global, local)) in self.global.iter().zip(&self.local).enumerate() {
            if *local == 0 || global % local != 0 {
                return Err(GridError::Local(dimension));
            }
        }
        let mut bytes = [0; GRID_SIZE];
        for row in GRID {
            let value = self.value(row.element, row.index)?;
            let (offset, size) = if wide { row.wide } else { (row.offset, 4) };
            if row.element == GridElement::Zero || (wide && row.element == GridElement::MathTables) {
                // The document has no place for the tables beside pointers of 64 bits, and drivers with such
                // pointers write none.
                continue;
            }
            if size == 4 && value > u64::from(u32::MAX) {
                return Err(GridError::Wide(row.element));
            }
            let (offset, size) = (offset as usize, size as usize);
            bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Ok(bytes)
    }

    /// Returns the number of an element.
    fn value(&self, element: GridElement, index: usize) -> Result<u64, GridError> {
        let of = |sizes: &[u32]| u64::from(sizes.get(index).copied().unwrap_or(1));
        let flat = |offsets: &[u32; 3]| {
            let product = offsets.iter().try_fold(1u32, |product, offset| product.checked_mul(*offset));
            product.map(u64::from).ok_or(GridError::FlatOffset)
        };
        Ok(match element {
            GridElement::GlobalSize => of(&self.global),
            GridElement::Dimensions => self.global.len() as u64,
            GridElement::LocalSize => of(&self.local),
            GridElement::Groups => of(&self.global) / of(&self.local),
            GridElement::PrivateRing => self.private_ring,
            GridElement::PrivateSize => self.private_size.into(),
            GridElement::LocalRing => self.local_ring,
            GridElement::LocalMemorySize => self.local_size.into(),
            GridElement::MathTables => self.math_tables.into(),
            GridElement::MathConstant => [0.0f32, 0.5, 1.0, 2.0][index].to_bits().into(),
            GridElement::GlobalOffset => self.offset[index].into(),
            GridElement::FlatGlobalOffset => flat(&self.offset)?,
            GridElement::GroupOffset => self.group_offset[index].into(),
            GridElement::FlatGroupOffset => flat(&self.group_offset)?,
            GridElement::DataOffset => self.data_offset,
            GridElement::PrintfOffset => self.printf_offset,
            GridElement::PrintfSize => self.printf_size.into(),
            GridElement::Zero => 0,
            GridElement::WholeOffset => self.whole_offset[index].into(),
        })
    }
}
