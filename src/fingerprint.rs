//! Keys for caches of compiled objects.

use crate::options::{DebugInfo, Options};
use frontend::Printf;
use isa::Subtarget;
use std::fmt::{self, Write};

/// A key of 128 bits for a cache of compiled objects. If the same source is compiled twice with equal keys,
/// the objects have equal bytes.
///
/// The key is the same in every process, on every machine and for every number of threads.
/// [`Options::fingerprint`] says which inputs it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Returns a key that also covers `bytes`, for example the source text.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Fingerprint {
        let mut hash = Fnv(self.0);
        hash.field(bytes);
        Fingerprint(hash.0)
    }

    /// Returns the key as a number.
    pub const fn to_u128(self) -> u128 {
        self.0
    }
}

/// Writes the key as 32 hexadecimal digits, which can serve as a file name.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Options {
    /// Returns a key that covers everything that determines the bytes of an object, except the source text:
    /// the version of kernc, the processor with all its modes and properties, the options that change code,
    /// and the name of the source file, which is in the line table.
    ///
    /// Files that a source includes with `use` are part of the source: their texts must be added to the key,
    /// too.
    ///
    /// The key does not cover inputs that cannot change the bytes: verification, limits, and the file's name
    /// if there is neither a line table nor an `assert` nor a checked division. Two builds of kernc from
    /// different sources that have the same version number produce the same keys.
    ///
    /// ```
    /// # let (source, options) = ("kernel k() {}", kernc::Options::default());
    /// let target = kernc::Target::by_name("gfx906").unwrap();
    /// let name = format!("{}.co", options.fingerprint(target).with(source.as_bytes()));
    /// # assert_eq!(name.len(), 35);
    /// ```
    pub fn fingerprint(&self, target: impl Into<Subtarget>) -> Fingerprint {
        let Options {
            opt_level,
            params,
            fp_contract,
            fast_math,
            asserts,
            check_divisions,
            printf,
            unsafe_fp_atomics,
            waits_all,
            state,
            language,
            call_abi,
            call_stack_size,
            file_name,
            debug,
            dwarf,
            verify: _,
            limits: _,
            files: _,
            warnings: _,
        } = self;
        let mut hash = Fnv(Fnv::BASIS);
        hash.field(env!("CARGO_PKG_VERSION").as_bytes());
        // The target is hashed as its `Debug` text, so that fields which are added to it later are included
        // without a change here. Writing to a hash cannot fail.
        let _ = write!(hash, "{:?}", target.into());
        let calls_host = &(*printf == Printf::Hostcall);
        let switches =
            [fp_contract, fast_math, asserts, check_divisions, calls_host, unsafe_fp_atomics, waits_all];
        hash.field(&[opt_level.number()]);
        hash.field(&switches.map(|&switch| u8::from(switch)));
        let _ = write!(hash, "{state:?}");
        hash.field(language.name().as_bytes());
        hash.field(call_abi.name().as_bytes());
        hash.field(&call_stack_size.to_le_bytes());
        // An `assert` and a checked division print the file's name.
        let named =
            (*debug > DebugInfo::None || *asserts || *check_divisions).then_some(file_name.as_bytes());
        let dwarf = (*debug == DebugInfo::Full).then_some(dwarf);
        let _ = write!(hash, "{debug:?} {dwarf:?}");
        hash.field(named.unwrap_or_default());
        for (name, value) in params {
            hash.field(name.as_bytes());
            hash.field(value.as_bytes());
        }
        Fingerprint(hash.0)
    }
}

/// The 128-bit variant of the hash FNV-1a.
struct Fnv(u128);

impl Fnv {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(Self::PRIME);
        }
    }

    /// Adds a field to the hash: its length, then its bytes. Without the length, two inputs that divide the
    /// same bytes differently into fields would have the same hash.
    fn field(&mut self, bytes: &[u8]) {
        self.bytes(&(bytes.len() as u64).to_le_bytes());
        self.bytes(bytes);
    }
}

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::options::{Dialect, Dwarf, DwarfVersion, OptLevel};
    use std::collections::HashSet;

    #[test]
    fn fnv_of_known_texts() {
        let of = |text: &str| {
            let mut hash = Fnv(Fnv::BASIS);
            hash.bytes(text.as_bytes());
            hash.0
        };
        assert_eq!(of("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(of("foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }

    #[test]
    fn what_changes_code_changes_the_key() {
        let target = Subtarget::by_name("gfx906").expect("known");
        let base = Options::default();
        let param = |name: &str, value: &str| Options {
            params: vec![(name.to_owned(), value.to_owned())],
            ..Options::default()
        };
        let dwarf = |version, dialect| Dwarf { version, dialect, ..Dwarf::default() };
        let mut keys: Vec<Fingerprint> = [
            base.clone(),
            Options { opt_level: OptLevel::O0, ..base.clone() },
            Options { opt_level: OptLevel::O1, ..base.clone() },
            Options { state: ir::InitialState { ieee: Some(false), ..Default::default() }, ..base.clone() },
            Options { opt_level: OptLevel::O3, ..base.clone() },
            Options { fp_contract: false, ..base.clone() },
            Options { fast_math: true, ..base.clone() },
            Options { asserts: false, ..base.clone() },
            Options { check_divisions: true, ..base.clone() },
            Options { printf: Printf::Hostcall, ..base.clone() },
            Options { unsafe_fp_atomics: true, ..base.clone() },
            Options { waits_all: true, ..base.clone() },
            Options { language: emit::Language::Hip, ..base.clone() },
            Options { debug: DebugInfo::None, ..base.clone() },
            Options { debug: DebugInfo::Full, ..base.clone() },
            Options {
                debug: DebugInfo::Full,
                dwarf: dwarf(DwarfVersion::V4, Dialect::Standard),
                ..base.clone()
            },
            Options {
                debug: DebugInfo::Full,
                dwarf: dwarf(DwarfVersion::V5, Dialect::Heterogeneous),
                ..base.clone()
            },
            Options { call_abi: callconv::Convention::Guide, ..base.clone() },
            Options { call_stack_size: 64, ..base.clone() },
            Options { file_name: "other.k".to_owned(), ..base.clone() },
            param("A", "1"),
            param("A", "11"),
            param("A1", "1"),
        ]
        .iter()
        .map(|options| options.fingerprint(target))
        .collect();
        keys.push(base.fingerprint(Subtarget::by_name("gfx900").expect("known")));
        let (mut other_mode, mut other_version) = (target, target);
        other_mode.cumode = false;
        other_version.code_object = isa::CodeObjectVersion::V5;
        keys.push(base.fingerprint(other_mode));
        keys.push(base.fingerprint(other_version));
        keys.push(base.fingerprint(target).with(b""));
        keys.push(base.fingerprint(target).with(b"kernel"));
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());

        let same = Options { verify: !base.verify, limits: Limits::service(), ..base.clone() };
        assert_eq!(same.fingerprint(target), base.fingerprint(target));
        let unnamed = Options { debug: DebugInfo::None, asserts: false, ..base };
        let named = Options { file_name: "other.k".to_owned(), ..unnamed.clone() };
        assert_eq!(named.fingerprint(target), unnamed.fingerprint(target));
    }
}
