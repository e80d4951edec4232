//! The devices of this text.

use crate::words::words;

words! {
    /// Generation of a device.
    Generation {
        /// R7xx.
        R700 = "R700",
        /// Evergreen.
        Evergreen = "Evergreen",
        /// Northern Islands.
        NorthernIslands = "Northern Islands",
        /// Southern Islands, GFX6.
        SouthernIslands = "Southern Islands",
        /// Sea Islands, GFX7.
        SeaIslands = "Sea Islands",
        /// Volcanic Islands, GFX8.
        VolcanicIslands = "Volcanic Islands",
    }
}

impl Generation {
    /// Tells whether the code of the generation is GCN, which the other tools know.
    pub fn is_gcn(self) -> bool {
        self >= Generation::SouthernIslands
    }
}

/// Device names and generations. Up to Northern Islands the names are those of `-mcpu` (seed 003, line 66);
/// `kauai` and `test` of that list are no devices. The later names are those of CLRX, `utils/GPUId.cpp`.
pub const DEVICES: &[(&str, Generation)] = &[
    ("rv710", Generation::R700),
    ("rv730", Generation::R700),
    ("rv770", Generation::R700),
    ("cypress", Generation::Evergreen),
    ("juniper", Generation::Evergreen),
    ("redwood", Generation::Evergreen),
    ("cedar", Generation::Evergreen),
    ("cayman", Generation::NorthernIslands),
    ("barts", Generation::NorthernIslands),
    ("turks", Generation::NorthernIslands),
    ("caicos", Generation::NorthernIslands),
    ("capeverde", Generation::SouthernIslands),
    ("pitcairn", Generation::SouthernIslands),
    ("tahiti", Generation::SouthernIslands),
    ("oland", Generation::SouthernIslands),
    ("hainan", Generation::SouthernIslands),
    ("bonaire", Generation::SeaIslands),
    ("spectre", Generation::SeaIslands),
    ("spooky", Generation::SeaIslands),
    ("kalindi", Generation::SeaIslands),
    ("hawaii", Generation::SeaIslands),
    ("mullins", Generation::SeaIslands),
    ("iceland", Generation::VolcanicIslands),
    ("tonga", Generation::VolcanicIslands),
    ("fiji", Generation::VolcanicIslands),
    ("carrizo", Generation::VolcanicIslands),
    ("stoney", Generation::VolcanicIslands),
    ("horse", Generation::VolcanicIslands),
    ("goose", Generation::VolcanicIslands),
    ("ellesmere", Generation::VolcanicIslands),
    ("baffin", Generation::VolcanicIslands),
    ("gfx804", Generation::VolcanicIslands),
];

/// Returns the generation of the device with the given name.
pub fn generation(device: &str) -> Option<Generation> {
    DEVICES.iter().find(|(name, _)| *name == device).map(|(_, generation)| *generation)
}
