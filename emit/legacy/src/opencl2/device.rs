//! The device of an OpenCL 2.0 binary: `e_flags`, whose meaning depends on the driver.
//!
//! # Source
//! CLRX, `amdbin/AmdCL2Binaries.cpp` (tables of codes by driver) and `utils/GPUId.cpp` (versions of the
//! instruction set, as the HSA finalizer numbers them).

/// Device: name, and the version of the instruction set in the finalizer's numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// Name of the device, as in the driver.
    pub name: &'static str,
    /// Version of the instruction set: major, minor, stepping.
    pub isa: (u32, u32, u32),
    /// LLVM's name of the processor.
    pub processor: &'static str,
}

const fn device(name: &'static str, isa: (u32, u32, u32), processor: &'static str) -> Device {
    Device { name, isa, processor }
}

const SPECTRE: Device = device("spectre", (7, 0, 0), "gfx700");
const SPOOKY: Device = device("spooky", (7, 0, 0), "gfx700");
const KALINDI: Device = device("kalindi", (7, 0, 0), "gfx703");
const MULLINS: Device = device("mullins", (7, 0, 0), "gfx703");
const BONAIRE: Device = device("bonaire", (7, 0, 0), "gfx704");
const HAWAII: Device = device("hawaii", (7, 0, 1), "gfx701");
const ICELAND: Device = device("iceland", (8, 0, 0), "gfx802");
const TONGA: Device = device("tonga", (8, 0, 0), "gfx802");
const CARRIZO: Device = device("carrizo", (8, 0, 1), "gfx801");
const FIJI: Device = device("fiji", (8, 0, 4), "gfx803");
const STONEY: Device = device("stoney", (8, 1, 0), "gfx810");
const BAFFIN: Device = device("baffin", (8, 0, 4), "gfx803");
const ELLESMERE: Device = device("ellesmere", (8, 0, 4), "gfx803");
const GFX804: Device = device("gfx804", (8, 0, 4), "gfx803");
/// Code names of drivers before the devices were sold. CLRX does not say which devices they became.
const GOOSE: Device = device("goose", (8, 0, 4), "gfx803");
const HORSE: Device = device("horse", (8, 0, 4), "gfx803");
const DUMMY: Device = device("dummy", (8, 0, 1), "gfx801");
const GFX900: Device = device("gfx900", (9, 0, 0), "gfx900");
const GFX901: Device = device("gfx901", (9, 0, 1), "gfx900");
const GFX902: Device = device("gfx902", (9, 0, 2), "gfx902");
const GFX903: Device = device("gfx903", (9, 0, 3), "gfx902");
const GFX904: Device = device("gfx904", (9, 0, 4), "gfx904");
const GFX905: Device = device("gfx905", (9, 0, 5), "gfx904");
const GFX906: Device = device("gfx906", (9, 0, 6), "gfx906");
const GFX907: Device = device("gfx907", (9, 0, 7), "gfx906");

/// Codes that mean the same in all drivers.
static COMMON: &[(u32, Device)] = &[
    (1, SPECTRE),
    (2, SPOOKY),
    (3, KALINDI),
    (4, MULLINS),
    (6, BONAIRE),
    (7, HAWAII),
    (8, ICELAND),
    (9, TONGA),
];

/// Drivers with one meaning of the codes: first driver version (times 100), name, codes beside the common
/// ones.
pub struct Drivers(pub u32, pub &'static str, &'static [(u32, Device)]);

/// All drivers, from the oldest to the newest.
pub static DRIVERS: &[Drivers] = &[
    Drivers(180005, "15.7 (1800.05)", &[(15, CARRIZO), (16, FIJI)]),
    Drivers(191205, "15.11 (1912.05)", &[(15, DUMMY), (16, CARRIZO), (17, FIJI)]),
    Drivers(200406, "16.3 (2004.06)", &[(12, HORSE), (13, GOOSE), (15, CARRIZO), (16, FIJI), (17, STONEY)]),
    Drivers(
        203603,
        "GPU-PRO (2036.03)",
        &[(13, CARRIZO), (14, FIJI), (15, STONEY), (16, BAFFIN), (17, ELLESMERE)],
    ),
    Drivers(
        223600,
        "2236",
        &[(12, CARRIZO), (13, FIJI), (14, STONEY), (15, BAFFIN), (16, ELLESMERE), (17, GFX900), (18, GFX804)],
    ),
    Drivers(
        226400,
        "2264",
        &[(13, CARRIZO), (14, FIJI), (15, STONEY), (16, BAFFIN), (17, ELLESMERE), (18, GFX804), (19, GFX900)],
    ),
    Drivers(
        234800,
        "2348",
        &[
            (14, CARRIZO),
            (15, FIJI),
            (16, STONEY),
            (17, BAFFIN),
            (18, ELLESMERE),
            (19, GFX804),
            (20, GFX900),
            (21, GFX901),
        ],
    ),
    Drivers(
        244200,
        "2442",
        &[
            (12, CARRIZO),
            (13, FIJI),
            (14, STONEY),
            (15, BAFFIN),
            (16, ELLESMERE),
            (17, GFX900),
            (18, GFX804),
            (19, GFX901),
        ],
    ),
    Drivers(
        248200,
        "2482",
        &[
            (12, CARRIZO),
            (13, FIJI),
            (14, STONEY),
            (16, BAFFIN),
            (18, ELLESMERE),
            (19, GFX900),
            (20, GFX804),
            (21, GFX901),
        ],
    ),
    Drivers(
        252700,
        "2527",
        &[
            (12, CARRIZO),
            (13, FIJI),
            (14, STONEY),
            (16, BAFFIN),
            (18, ELLESMERE),
            (20, GFX900),
            (21, GFX804),
            (23, GFX901),
            (24, GFX902),
            (25, GFX903),
            (26, GFX904),
            (27, GFX905),
        ],
    ),
    Drivers(
        258000,
        "2580",
        &[
            (12, CARRIZO),
            (13, FIJI),
            (14, STONEY),
            (16, BAFFIN),
            (18, ELLESMERE),
            (20, GFX900),
            (21, GFX804),
            (23, GFX901),
            (24, GFX902),
            (25, GFX903),
            (26, GFX904),
            (27, GFX905),
            (28, GFX906),
            (29, GFX907),
        ],
    ),
];

impl Drivers {
    /// Returns the device that a code means for these drivers.
    pub fn device(&self, code: u32) -> Option<Device> {
        let row = COMMON.iter().chain(self.2).find(|row| row.0 == code);
        row.map(|row| row.1)
    }

    /// Returns the first device with a processor, which is LLVM's name, and the device's code for these
    /// drivers.
    pub fn device_of(&self, processor: &str) -> Option<(u32, Device)> {
        COMMON.iter().chain(self.2).find(|row| row.1.processor == processor).copied()
    }

    /// Returns the code of a device for these drivers.
    pub fn code(&self, name: &str) -> Option<u32> {
        COMMON.iter().chain(self.2).find(|row| row.1.name == name).map(|row| row.0)
    }
}

/// Returns the drivers of a driver version, which is the version times 100.
pub fn drivers(version: u32) -> &'static Drivers {
    DRIVERS.iter().rev().find(|drivers| drivers.0 <= version).unwrap_or(&DRIVERS[0])
}
