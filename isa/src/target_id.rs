//! Parses target ids such as `gfx908:sramecc+:xnack-`, combines them with mode switches, and creates the
//! resulting [`Subtarget`].
//!
//! # Source
//! Features and their defaults: LLVM's AMDGPU guide, seed 000, lines 31 and 187. From code object V4 on, a
//! feature that is not named may be on or off (LLVM's `Any`). Before V4, an object says on or off, and the
//! guide's table gives the meaning of a feature that is not named.

use crate::subtarget::{CodeObjectVersion, Os, Setting, Subtarget};
use crate::target::{Feature, Target};
use std::fmt;

/// Requested modes; `None` means the processor's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Whether memory accesses may be replayed.
    pub xnack: Option<bool>,
    /// Whether registers and memories have error correction.
    pub sramecc: Option<bool>,
    /// Whether work-groups stay within a compute unit.
    pub cumode: Option<bool>,
    /// Whether the waves of a work-group may run on several compute units. `None` if this was not requested.
    pub tgsplit: Option<bool>,
    /// Number of lanes of a wavefront: 32 or 64.
    pub wave_size: Option<u32>,
    /// Operating system whose runtime loads the code.
    pub os: Option<Os>,
}

/// An unknown processor or mode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeError {
    /// No processor has the given name.
    Processor {
        /// The given name of a processor.
        name: String,
    },
    /// The target id does not have the right number of parts: one (a processor), or five (a triple and a
    /// processor).
    Shape {
        /// The given target id.
        text: String,
    },
    /// A part of the triple is unknown.
    Triple {
        /// Name of the part of the triple.
        part: &'static str,
        /// The given text of this part.
        text: String,
        /// The known values of this part.
        known: &'static [&'static str],
    },
    /// Two different operating systems are requested.
    Systems {
        /// One of them.
        one: Os,
        /// The other.
        other: Os,
    },
    /// A part of the target id is neither `xnack` nor `sramecc` followed by `+` or `-`.
    Feature {
        /// The given part of the target id.
        part: String,
    },
    /// A feature is named twice, with different settings.
    Twice {
        /// Name of the feature.
        feature: &'static str,
    },
    /// The processor does not have this mode.
    Lacks {
        /// The processor.
        processor: &'static str,
        /// The mode.
        mode: &'static str,
        /// The modes that the processor has.
        allowed: String,
    },
}

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModeError::Processor { name } => write!(f, "unknown processor `{name}`"),
            ModeError::Shape { text } => write!(
                f,
                "`{text}` is no target id; one is a processor, or a triple and a processor: `gfx906`, \
                 `amdgcn-amd-amdhsa--gfx906`"
            ),
            ModeError::Triple { part, text, known } => {
                let known: Vec<String> =
                    known.iter().filter(|word| !word.is_empty()).map(|word| format!("`{word}`")).collect();
                write!(f, "unknown {part} `{text}` in a target id; there is {}", known.join(", "))
            }
            ModeError::Systems { one, other } => {
                write!(f, "both `{}` and `{}` are asked for", one.system().name, other.system().name)
            }
            ModeError::Feature { part } => {
                write!(f, "`{part}` in a target id is none of `xnack+`, `xnack-`, `sramecc+`, `sramecc-`")
            }
            ModeError::Twice { feature } => write!(f, "`{feature}` is asked for both on and off"),
            ModeError::Lacks { processor, mode, allowed } => {
                write!(f, "{processor} has no `{mode}`; it has {allowed}")
            }
        }
    }
}

impl std::error::Error for ModeError {}

/// Syntax of the features in a target id. It also determines the meaning of a feature that is not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The target id names no features.
    Plain,
    /// Syntax such as `gfx906+xnack`, up to code object V3. A feature that is not named is off.
    Plus,
    /// Syntax such as `gfx906:xnack-`, from code object V4 on. A feature that is not named may be on or off.
    Colon,
}

/// A target id. It consists of an optional triple, the processor, and settings of the processor's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetId {
    /// The operating system of the triple. `None` if the target id has no triple.
    pub os: Option<Os>,
    /// The processor.
    pub target: &'static Target,
    /// Settings of the features that the target id names.
    pub named: Modes,
    /// Syntax in which the features are given.
    pub spelling: Spelling,
}

/// A part of a triple: its name and its known values.
struct Part {
    name: &'static str,
    known: &'static [&'static str],
}

/// The parts of a triple. They come from LLVM's AMDGPU guide (seed 000, line 9); the environments of older
/// compilers come from its older version (seed 001, the table of target triples).
const TRIPLE: [Part; 4] = [
    Part { name: "architecture", known: &["amdgcn"] },
    Part { name: "vendor", known: &["amd", "mesa", "mesa3d", "unknown", ""] },
    Part { name: "operating system", known: &["amdhsa", "amdpal", "mesa3d", "catalyst", "unknown", ""] },
    Part { name: "environment", known: &["", "unknown", "opencl", "amdgizcl", "amdgiz", "hcc"] },
];

impl TargetId {
    /// Parses a target id such as `amdgcn-amd-amdhsa--gfx908:sramecc+:xnack-`, `gfx908:xnack+`,
    /// `gfx902+xnack` or `gfx906`.
    ///
    /// # Errors
    /// Fails if a part is unknown, a feature is named twice, or the processor does not have a feature.
    pub fn parse(text: &str) -> Result<TargetId, ModeError> {
        let end = text.find([':', '+']).unwrap_or(text.len());
        let (before, features) = text.split_at(end);
        let (os, name) = match before.split('-').collect::<Vec<_>>()[..] {
            [name] => (None, name),
            [architecture, vendor, os, environment, name] => {
                (Some(triple([architecture, vendor, os, environment])?), name)
            }
            _ => return Err(ModeError::Shape { text: text.to_owned() }),
        };
        let target = Target::by_name(name).ok_or_else(|| ModeError::Processor { name: name.to_owned() })?;
        let spelling = match features.bytes().next() {
            None => Spelling::Plain,
            Some(b'+') => Spelling::Plus,
            Some(_) => Spelling::Colon,
        };
        let named = settings(features, spelling)?;
        named.missing(target)?;
        Ok(TargetId { os, target, named, spelling })
    }

    /// Returns the modes that the target id requests. They include modes that are off because the target id
    /// does not name them.
    pub fn modes(&self) -> Modes {
        let off = |feature| (self.spelling == Spelling::Plus && self.target.has(feature)).then_some(false);
        Modes {
            xnack: self.named.xnack.or(off(Feature::XNACK)),
            sramecc: self.named.sramecc.or(off(Feature::SRAMECC)),
            os: self.os,
            ..self.named
        }
    }
}

/// Checks the parts of a triple. Returns its operating system.
fn triple(parts: [&str; 4]) -> Result<Os, ModeError> {
    for (part, text) in TRIPLE.iter().zip(parts) {
        if !part.known.contains(&text) {
            let (part, known) = (part.name, part.known);
            return Err(ModeError::Triple { part, text: text.to_owned(), known });
        }
    }
    let found =
        [Os::AmdHsa, Os::AmdPal, Os::Mesa3d, Os::Catalyst].into_iter().find(|os| os.name() == parts[2]);
    Ok(found.unwrap_or(Os::Unknown))
}

/// Parses the settings of features in a target id, such as `:sramecc+:xnack-` or `+xnack+sram-ecc`.
fn settings(text: &str, spelling: Spelling) -> Result<Modes, ModeError> {
    let mut modes = Modes::default();
    let mark = if spelling == Spelling::Plus { '+' } else { ':' };
    for part in text.split(mark).skip(1) {
        let wrong = || ModeError::Feature { part: part.to_owned() };
        let (name, on) = match (part.strip_suffix('+'), part.strip_suffix('-')) {
            _ if spelling == Spelling::Plus => (part, true),
            (Some(name), _) => (name, true),
            (_, Some(name)) => (name, false),
            _ => return Err(wrong()),
        };
        match name {
            "xnack" => set("xnack", &mut modes.xnack, on)?,
            "sramecc" | "sram-ecc" => set("sramecc", &mut modes.sramecc, on)?,
            _ => return Err(wrong()),
        }
    }
    Ok(modes)
}

/// A mode such as `xnack` or `wavefrontsize64`: its name, a function that returns whether the mode was
/// requested, and a function that returns whether a processor has the mode.
struct Mode {
    name: &'static str,
    is_set: fn(&Modes) -> bool,
    exists: fn(&Target) -> bool,
}

const MODES: [Mode; 6] = [
    Mode { name: "xnack", is_set: |modes| modes.xnack.is_some(), exists: |t| t.has(Feature::XNACK) },
    Mode { name: "sramecc", is_set: |modes| modes.sramecc.is_some(), exists: |t| t.has(Feature::SRAMECC) },
    Mode { name: "cumode", is_set: |modes| modes.cumode.is_some(), exists: |t| t.has(Feature::WAVE32) },
    Mode { name: "tgsplit", is_set: |modes| modes.tgsplit.is_some(), exists: |t| t.has(Feature::TGSPLIT) },
    Mode { name: "wave32", is_set: |modes| modes.wave_size == Some(32), exists: |t| has_wave_size(t, 32) },
    Mode { name: "wave64", is_set: |modes| modes.wave_size == Some(64), exists: |t| has_wave_size(t, 64) },
];

fn has_wave_size(target: &Target, lanes: u32) -> bool {
    target.with_wave_size(lanes).is_some()
}

impl Modes {
    /// Parses a target id for which code should be compiled. Returns the processor and the requested modes.
    ///
    /// # Errors
    /// Fails like [`TargetId::parse`].
    pub fn of_target_id(text: &str) -> Result<(&'static Target, Modes), ModeError> {
        let id = TargetId::parse(text)?;
        Ok((id.target, id.modes()))
    }

    /// Returns the union of two sets of requested modes.
    ///
    /// # Errors
    /// Fails if both request different settings of a mode.
    pub fn and(mut self, other: &Modes) -> Result<Modes, ModeError> {
        let both = [
            ("xnack", &mut self.xnack, other.xnack),
            ("sramecc", &mut self.sramecc, other.sramecc),
            ("cumode", &mut self.cumode, other.cumode),
            ("tgsplit", &mut self.tgsplit, other.tgsplit),
        ];
        for (name, mine, theirs) in both {
            if let Some(on) = theirs {
                set(name, mine, on)?;
            }
        }
        if self.wave_size.is_some() && other.wave_size.is_some() && self.wave_size != other.wave_size {
            return Err(ModeError::Twice { feature: "wave32" });
        }
        self.wave_size = self.wave_size.or(other.wave_size);
        match (self.os, other.os) {
            (Some(one), Some(other)) if one != other => return Err(ModeError::Systems { one, other }),
            (mine, theirs) => self.os = mine.or(theirs),
        }
        Ok(self)
    }

    /// # Errors
    /// Fails if a mode is requested that the processor does not have.
    fn missing(&self, target: &Target) -> Result<(), ModeError> {
        match MODES.iter().find(|mode| (mode.is_set)(self) && !(mode.exists)(target)) {
            Some(mode) => {
                Err(ModeError::Lacks { processor: target.name, mode: mode.name, allowed: allowed(target) })
            }
            None => Ok(()),
        }
    }

    /// Returns the processor in these modes, for a code object version.
    ///
    /// # Errors
    /// Fails if a mode is requested that the processor does not have.
    pub fn on(&self, target: &'static Target, version: CodeObjectVersion) -> Result<Subtarget, ModeError> {
        self.missing(target)?;
        let lanes = self.wave_size.unwrap_or(target.wave_size);
        let target = target.with_wave_size(lanes).unwrap_or(target);
        let usual = Subtarget::new(target).with_version(version);
        Ok(Subtarget {
            xnack: self.xnack.map_or(usual.xnack, Setting::from_bool),
            sramecc: self.sramecc.map_or(usual.sramecc, Setting::from_bool),
            cumode: self.cumode.unwrap_or(usual.cumode),
            tgsplit: self.tgsplit.unwrap_or(usual.tgsplit),
            os: self.os.unwrap_or(usual.os),
            ..usual
        })
    }
}

/// A function that sets or clears a mode.
type ModeSetter = fn(&mut Modes, bool);

/// Returns all combinations of the modes that a processor has. In each combination, every mode is set
/// explicitly.
pub fn combinations(target: &Target) -> Vec<Modes> {
    let exists = |name: &str| MODES.iter().any(|mode| mode.name == name && (mode.exists)(target));
    let mut all = vec![Modes::default()];
    let flags: [(&str, ModeSetter); 4] = [
        ("xnack", |modes, on| modes.xnack = Some(on)),
        ("sramecc", |modes, on| modes.sramecc = Some(on)),
        ("cumode", |modes, on| modes.cumode = Some(on)),
        ("tgsplit", |modes, on| modes.tgsplit = Some(on)),
    ];
    for (_, say) in flags.iter().filter(|(name, _)| exists(name)) {
        all = with_each_setting(&all, say);
    }
    all = with_each_setting(&all, |modes, second| modes.wave_size = Some(if second { 64 } else { 32 }));
    all.retain(|modes| modes.wave_size.is_some_and(|lanes| has_wave_size(target, lanes)));
    all
}

/// Returns a list that has each element of `list` twice: once changed by `say` with false, and once changed
/// by `say` with true.
fn with_each_setting(list: &[Modes], say: impl Fn(&mut Modes, bool)) -> Vec<Modes> {
    let one = |(modes, second): (&Modes, bool)| {
        let mut modes = *modes;
        say(&mut modes, second);
        modes
    };
    list.iter().flat_map(|modes| [(modes, false), (modes, true)]).map(one).collect()
}

/// Returns the names of the modes that a processor has, as text for error messages.
fn allowed(target: &Target) -> String {
    let names: Vec<String> =
        MODES.iter().filter(|mode| (mode.exists)(target)).map(|mode| format!("`{}`", mode.name)).collect();
    names.join(", ")
}

fn set(feature: &'static str, place: &mut Option<bool>, on: bool) -> Result<(), ModeError> {
    match place.replace(on) {
        Some(before) if before != on => Err(ModeError::Twice { feature }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CodeObjectVersion::{V3, V4};

    fn subtarget(id: &str, version: CodeObjectVersion) -> Result<String, String> {
        let (target, modes) = Modes::of_target_id(id).map_err(|error| error.to_string())?;
        modes.on(target, version).map(|subtarget| subtarget.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn ids() {
        let ok = |id, version| subtarget(id, version).unwrap();
        assert_eq!(ok("gfx906", V4), "gfx906");
        assert_eq!(ok("gfx906", V3), "gfx906:sramecc-:xnack-");
        assert_eq!(ok("gfx902", V3), "gfx902:xnack+");
        assert_eq!(ok("gfx908:xnack+", V3), "gfx908:sramecc+:xnack+");
        assert_eq!(ok("gfx908:sramecc+:xnack-", V4), "gfx908:sramecc+:xnack-");
        assert_eq!(ok("amdgcn-amd-amdhsa--gfx90a:xnack-", V4), "gfx90a:xnack-");
        assert_eq!(ok("hawaii", V4), "gfx701");
        assert_eq!(ok("amdgcn-amd-amdhsa-unknown-gfx90a", V4), "gfx90a");
        assert_eq!(ok("amdgcn--amdhsa--gfx902+xnack", V4), "gfx902:xnack+");
        assert_eq!(ok("gfx908+sram-ecc", V4), "gfx908:sramecc+:xnack-");
    }

    #[test]
    fn wrong_ids() {
        let wrong = |id| subtarget(id, V4).unwrap_err();
        assert_eq!(wrong("gfx9999"), "unknown processor `gfx9999`");
        assert_eq!(
            wrong("gfx906:xnack"),
            "`xnack` in a target id is none of `xnack+`, `xnack-`, `sramecc+`, `sramecc-`"
        );
        assert_eq!(wrong("gfx906:xnack+:xnack-"), "`xnack` is asked for both on and off");
        assert_eq!(wrong("gfx600:xnack+"), "gfx600 has no `xnack`; it has `wave64`");
        assert_eq!(
            wrong("gfx1030:sramecc-"),
            "gfx1030 has no `sramecc`; it has `cumode`, `wave32`, `wave64`"
        );
    }

    #[test]
    fn wrong_triples() {
        let wrong = |id| subtarget(id, V4).unwrap_err();
        assert_eq!(
            wrong("r600-amd-amdhsa--gfx900"),
            "unknown architecture `r600` in a target id; there is `amdgcn`"
        );
        assert_eq!(
            wrong("amdgcn-nvidia-amdhsa--gfx900"),
            "unknown vendor `nvidia` in a target id; there is `amd`, `mesa`, `mesa3d`, `unknown`"
        );
        assert_eq!(
            wrong("amdgcn-amd-linux--gfx900"),
            "unknown operating system `linux` in a target id; there is `amdhsa`, `amdpal`, `mesa3d`, `catalyst`, `unknown`"
        );
        assert!(wrong("amdgcn-amd-amdhsa-gnu-gfx900").starts_with("unknown environment `gnu`"));
        for shape in ["amdgcn-amd-amdhsa-gfx900", "--gfx900", "amdhsa--gfx900", "a-b-c-d-e-gfx900"] {
            assert!(wrong(shape).starts_with(&format!("`{shape}` is no target id;")), "{shape}");
        }
        assert_eq!(wrong("amdgcn-amd-amdhsa--"), "unknown processor ``");
    }

    #[test]
    fn systems_of_triples() {
        let os = |id: &str| TargetId::parse(id).unwrap().os;
        assert_eq!(os("gfx900"), None);
        assert_eq!(os("amdgcn-amd-amdhsa--gfx900"), Some(Os::AmdHsa));
        assert_eq!(os("amdgcn-amd-amdpal--gfx900"), Some(Os::AmdPal));
        assert_eq!(os("amdgcn-mesa-mesa3d--gfx900"), Some(Os::Mesa3d));
        assert_eq!(os("amdgcn-amd-unknown--gfx900"), Some(Os::Unknown));
        assert_eq!(os("amdgcn----gfx900"), Some(Os::Unknown));
    }

    #[test]
    fn every_combination_is_accepted_once() {
        for (name, count) in
            [("gfx600", 1), ("gfx803", 1), ("gfx900", 2), ("gfx906", 4), ("gfx90a", 8), ("gfx1010", 8)]
        {
            let target = Target::by_name(name).unwrap();
            let all = combinations(target);
            assert_eq!(all.len(), count, "{name}");
            for (n, modes) in all.iter().enumerate() {
                assert!(modes.on(target, V4).is_ok(), "{name} {modes:?}");
                assert!(!all[..n].contains(modes), "{name} {modes:?}");
            }
        }
    }

    #[test]
    fn switches_add_to_ids() {
        let wave64 = Modes { wave_size: Some(64), cumode: Some(true), ..Modes::default() };
        let gfx1010 = Target::by_name("gfx1010").unwrap();
        let subtarget = wave64.on(gfx1010, V4).unwrap();
        assert_eq!((subtarget.wave_size, subtarget.cumode), (64, true));
        assert!(
            !Modes::default().on(gfx1010, V4).unwrap().cumode,
            "work-group processor mode is the default"
        );
        let xnack = |on| Modes { xnack: Some(on), ..Modes::default() };
        assert_eq!(xnack(true).and(&wave64).unwrap(), Modes { xnack: Some(true), ..wave64 });
        assert!(xnack(true).and(&xnack(false)).is_err());
        assert!(Modes { wave_size: Some(32), ..Modes::default() }.and(&wave64).is_err());
        let (_, mesa) = Modes::of_target_id("amdgcn-mesa-mesa3d--gfx1010").unwrap();
        assert_eq!(mesa.and(&wave64).unwrap().on(gfx1010, V4).unwrap().os, Os::Mesa3d);
        let none = Modes { os: Some(Os::Unknown), ..Modes::default() };
        assert_eq!(mesa.and(&none).unwrap_err().to_string(), "both `mesa3d` and `none` are asked for");
    }
}
