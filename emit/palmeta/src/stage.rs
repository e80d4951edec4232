//! Hardware stages and the names and numbers that belong to each stage.
//!
//! # Source
//! AMD's PAL, `palPipelineAbi.h` (order of the stages, symbols); LLVM 19, `AMDGPUPALMetadata.cpp` (register
//! numbers, keys).

/// A hardware stage, in PAL's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Vertex shader in front of tessellation (local shader). GFX9 and later run this stage as a part of HS.
    Ls,
    /// Hull shader.
    Hs,
    /// Vertex or domain shader in front of a geometry shader (export shader). GFX9 and later run this stage
    /// as a part of GS.
    Es,
    /// Geometry shader.
    Gs,
    /// Vertex shader.
    Vs,
    /// Pixel shader.
    Ps,
    /// Compute shader.
    Cs,
}

/// What the tables say about a stage: suffix of names, first program-resource register, first user-data
/// register.
struct Facts {
    letters: &'static str,
    key: &'static str,
    entry_point: &'static str,
    rsrc1: u32,
    user_data: u32,
}

macro_rules! facts {
    ($letters:literal, $rsrc1:literal, $user_data:literal) => {
        Facts {
            letters: $letters,
            key: concat!(".", $letters),
            entry_point: concat!("_amdgpu_", $letters, "_main"),
            rsrc1: $rsrc1,
            user_data: $user_data,
        }
    };
}

static FACTS: [Facts; 7] = [
    facts!("ls", 0x2d4a, 0x2d4c),
    facts!("hs", 0x2d0a, 0x2d0c),
    facts!("es", 0x2cca, 0x2ccc),
    facts!("gs", 0x2c8a, 0x2c8c),
    facts!("vs", 0x2c4a, 0x2c4c),
    facts!("ps", 0x2c0a, 0x2c0c),
    facts!("cs", 0x2e12, 0x2e40),
];

impl Stage {
    /// All stages, in PAL's order.
    pub const ALL: [Stage; 7] = [Stage::Ls, Stage::Hs, Stage::Es, Stage::Gs, Stage::Vs, Stage::Ps, Stage::Cs];

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// Returns the name of the stage in lower case, such as `cs`.
    pub fn letters(self) -> &'static str {
        self.facts().letters
    }

    /// Returns the key of the stage under `.hardware_stages`, such as `.cs`.
    pub fn key(self) -> &'static str {
        self.facts().key
    }

    /// Returns the stage with a key.
    pub fn from_key(key: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.key() == key)
    }

    /// Returns the symbol of the stage's code, such as `_amdgpu_cs_main`. PAL looks for this symbol.
    pub fn entry_point(self) -> &'static str {
        self.facts().entry_point
    }

    /// Returns the number of the stage's register `PGM_RSRC1`.
    pub fn rsrc1(self) -> u32 {
        self.facts().rsrc1
    }

    /// Returns the number of the stage's register `PGM_RSRC2`, which follows `PGM_RSRC1`.
    pub fn rsrc2(self) -> u32 {
        self.facts().rsrc1 + 1
    }

    /// Returns the register and the name of its field that is 1 for waves of 32 lanes. LS and ES run as parts of
    /// HS and GS on the processors that have the field.
    pub fn wave32_field(self) -> (u32, &'static str) {
        const DISPATCH_INITIATOR: u32 = 0x2e00;
        const PS_IN_CONTROL: u32 = 0xa1b6;
        const STAGES_EN: u32 = 0xa2d5;
        match self {
            Stage::Cs => (DISPATCH_INITIATOR, "CS_W32_EN"),
            Stage::Ps => (PS_IN_CONTROL, "PS_W32_EN"),
            Stage::Vs => (STAGES_EN, "VS_W32_EN"),
            Stage::Ls | Stage::Hs => (STAGES_EN, "HS_W32_EN"),
            Stage::Es | Stage::Gs => (STAGES_EN, "GS_W32_EN"),
        }
    }

    /// Returns the number of the register that fills the user SGPR `index` of the stage on a processor with a
    /// major version. GFX9 has the user data of GS in the registers of ES.
    pub fn user_data(self, index: u32, major: u32) -> u32 {
        match (self, major) {
            (Stage::Gs, 9) => Stage::Es.facts().user_data + index,
            _ => self.facts().user_data + index,
        }
    }

    /// Returns the number of user-data registers of the stage on a processor with a major version. Compute
    /// shaders have 16; graphics shaders have 16 up to GFX8 and 32 later.
    pub fn user_data_count(self, major: u32) -> u32 {
        match self {
            Stage::Cs => 16,
            _ if major < 9 => 16,
            _ => 32,
        }
    }
}
