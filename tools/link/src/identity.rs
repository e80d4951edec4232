//! Tests whether objects are compatible. They must have the same processor, operating system and code object
//! version, and their settings must not contradict each other.

use crate::Object;
use codeobj::elf::Header;
use objwriter::elf::Identity;

/// Bits of `e_flags` that identify the processor.
pub const MACH: u32 = 0xff;
/// Settings in the `e_flags` of code objects of V4 and later (`EI_ABIVERSION` 2). Each setting has two bits,
/// and the number is the position of the lower one. The bits mean: 0 unsupported, 1 any, 2 off, 3 on.
const SETTINGS: [(&str, u32); 2] = [("xnack", 8), ("sramecc", 10)];
const HSA: u8 = 64;

/// Returns the processor, settings and version that the linked object gets, in which all objects agree.
///
/// # Errors
/// Says which objects do not fit together.
pub fn joined(objects: &[Object]) -> Result<Identity, String> {
    let Some(first) = objects.first() else { return Ok(Identity::default()) };
    let mut flags = first.file.header.flags;
    for object in objects {
        let (a, b) = (&first.file.header, &object.file.header);
        let differ = |what: &str, ours: String, theirs: String| {
            Err(format!("{} and {} are for different {what}: {ours} and {theirs}", first.name, object.name))
        };
        if a.os_abi != b.os_abi {
            return differ("operating systems", system(a), system(b));
        }
        if a.abi_version != b.abi_version {
            return differ("code object versions", version(a), version(b));
        }
        if a.flags & MACH != b.flags & MACH {
            return differ("processors", processor(a), processor(b));
        }
        let counts_settings = a.os_abi == HSA && a.abi_version >= 2;
        if !counts_settings && a.flags != b.flags {
            return differ("target features", format!("{:#x}", a.flags), format!("{:#x}", b.flags));
        }
        for (name, shift) in SETTINGS.into_iter().filter(|_| counts_settings) {
            let (ours, theirs) = (flags >> shift & 3, b.flags >> shift & 3);
            flags |= match (ours, theirs) {
                _ if ours == theirs => 0,
                // "Any" is compatible with "off" and "on".
                (1, on_or_off @ (2 | 3)) => {
                    flags &= !(3 << shift);
                    on_or_off << shift
                }
                (2 | 3, 1) => 0,
                _ => return differ(&format!("settings of {name}"), setting(ours), setting(theirs)),
            };
        }
    }
    let Header { os_abi, abi_version, .. } = first.file.header;
    Ok(Identity { os_abi, abi_version, flags })
}

fn processor(header: &Header) -> String {
    let mach = header.flags & MACH;
    let known = isa::Target::by_elf_mach(mach);
    known.map_or_else(|| format!("{mach:#x}"), |target| target.name.to_owned())
}

fn system(header: &Header) -> String {
    match header.os_abi {
        0 => "none".into(),
        HSA => "HSA".into(),
        65 => "PAL".into(),
        66 => "Mesa".into(),
        other => other.to_string(),
    }
}

fn version(header: &Header) -> String {
    match header.os_abi {
        HSA => format!("V{}", u32::from(header.abi_version) + 2),
        _ => header.abi_version.to_string(),
    }
}

/// Returns the code object version, which only HSA has.
pub fn version_of(identity: &Identity) -> Option<u8> {
    (identity.os_abi == HSA).then(|| identity.abi_version.saturating_add(2))
}

fn setting(bits: u32) -> String {
    ["none", "any", "off", "on"][bits as usize & 3].into()
}
