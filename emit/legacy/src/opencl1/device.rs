//! Devices of OpenCL 1.x binaries: `e_machine` of the outer file and the machine of an encoding.
//!
//! # Source
//! CLRX, `amdbin/AmdBinGen.cpp` and `amdbin/AmdBinaries.cpp`, for Southern Islands and later; Multi2Sim,
//! `src/arch/southern-islands/disassembler/Binary.cc`, for the older ones.

use crate::fields::named;

/// `e_machine` of the outer file for programs of the host processor.
pub const HOST: u16 = 0x7d4;

/// `e_machine` of the outer file: number and device. Two numbers have two names each.
pub static DEVICES: &[(u16, &str)] = &[
    (0x3fd, "tahiti"),
    (0x3fe, "pitcairn"),
    (0x3ff, "capeverde"),
    (0x402, "oland"),
    (0x403, "bonaire"),
    (0x404, "spectre"),
    (0x405, "spooky"),
    (0x406, "kalindi"),
    (0x407, "hainan"),
    (0x408, "hawaii"),
    (0x409, "iceland"),
    (0x40a, "tonga"),
    (0x40b, "mullins"),
    (0x40c, "fiji"),
    (0x40d, "carrizo"),
    (0x40e, "ellesmere (horse)"),
    (0x40f, "baffin (goose)"),
    (0x411, "stoney (dummy)"),
    (0x412, "gfx804"),
    (HOST, "host processor"),
];

/// Machine of an encoding: number and device.
pub static MACHINES: &[(u32, &str)] = &[
    (0, "r600"),
    (1, "rv610"),
    (2, "rv630"),
    (3, "rv670"),
    (4, "r700"),
    (5, "rv770"),
    (6, "rv710"),
    (7, "rv730"),
    (8, "cypress"),
    (9, "juniper"),
    (10, "redwood"),
    (11, "cedar"),
    (12, "sumo"),
    (13, "supersumo"),
    (14, "wrestler"),
    (15, "cayman"),
    (16, "kauai"),
    (17, "barts"),
    (18, "turks"),
    (19, "caicos"),
    (0x19, "not for the processor"),
    (0x1a, "tahiti"),
    (0x1b, "pitcairn"),
    (0x1c, "capeverde"),
    (0x20, "oland"),
    (0x21, "bonaire"),
    (0x22, "spectre"),
    (0x23, "spooky"),
    (0x24, "kalindi"),
    (0x25, "hainan"),
    (0x27, "hawaii"),
    (0x29, "iceland"),
    (0x2a, "tonga"),
    (0x2b, "mullins"),
    (0x2c, "baffin"),
    (0x2d, "fiji"),
    (0x2e, "carrizo"),
    (0x2f, "ellesmere"),
    (0x31, "stoney (dummy)"),
    (0x32, "gfx804"),
];

/// Returns the name of the device of an outer file.
pub fn device_name(machine: u16) -> Option<&'static str> {
    named(DEVICES, machine)
}

/// Returns the name of the device of an encoding.
pub fn machine_name(machine: u32) -> Option<&'static str> {
    named(MACHINES, machine)
}

/// Returns whether a number can be the machine of an outer file.
///
/// Devices before Southern Islands have numbers from 0x3f1 on that are not known one by one.
pub(crate) fn is_machine(machine: u16) -> bool {
    (0x3f1..0x500).contains(&machine) || machine == HOST
}
