//! Builds the report of an access to private memory that a wave does not have. The report states the offset
//! of the access, the functions that use the stack, and why private memory has its size.

use crate::fault::{Fault, NOWHERE, OUTSIDE, Trap};
use crate::group::Group;
use crate::launch::Launch;
use crate::op::Src;
use crate::wave::{SCRATCH_BASE, Wave};
use callconv::{Convention, column};

/// Size of the address range that contains all scratch memory. The range begins at the start of scratch.
const APERTURE: u64 = 1 << 40;
/// Maximum number of stack frames that a report lists.
const SHOWN: usize = 8;

/// Returns the byte offset in a lane's private memory at which an access failed. The offset may be negative.
/// Returns `None` if the access is not to private memory.
fn wanted(wave: &Wave, address: u64, reason: &str) -> Option<i64> {
    let is_scratch = (SCRATCH_BASE..SCRATCH_BASE + APERTURE).contains(&address);
    match reason {
        OUTSIDE => Some(address as i64),
        NOWHERE if is_scratch => {
            let distance = address.wrapping_sub(wave.scratch_base) as i64;
            let dwords = distance.div_euclid(4).div_euclid(i64::from(wave.lanes));
            Some(dwords * 4 + distance.rem_euclid(4))
        }
        _ => None,
    }
}

/// Returns whether the instruction at which a wave has stopped reads the stack pointer or the frame pointer.
/// Its address is then probably on the stack.
fn is_by_stack(wave: &Wave, launch: &Launch<'_>) -> bool {
    let stack = &column(Convention::Today).stack;
    let op = launch.code.get(wave.range as usize).and_then(|code| code.ops.get(wave.last as usize));
    let is_pointer =
        |src: &Src| matches!(src, Src::S(code) if [stack.pointer, stack.frame].contains(&u16::from(*code)));
    op.is_some_and(|op| op.src.iter().any(is_pointer))
}

/// Returns the fault to report if the trap of a wave is an access to private memory that does not exist.
/// Returns `None` for all other traps.
pub(crate) fn fault(group: &Group, at: usize, launch: &Launch<'_>, trap: Trap) -> Option<Fault> {
    let Trap::Memory { address, bytes, access, reason, lane } = trap else { return None };
    let wave = &group.waves[at];
    let offset = wanted(wave, address, reason)?;
    let size = launch.private_bytes;
    let frames = frames(group, at, launch);
    let overflow = offset >= i64::from(size) && (is_by_stack(wave, launch) || frames.len() > 1);
    let descriptor = launch.kernel.descriptor.private_segment;
    let stack = size.saturating_sub(descriptor);
    let mut notes = vec![match stack {
        0 => format!(
            "its size is what the kernel's descriptor asks for: {descriptor} bytes; `--stack BYTES` adds to it"
        ),
        _ => format!(
            "its size is what the kernel's descriptor asks for, {descriptor} bytes, and {stack} by `--stack`"
        ),
    }];
    if frames.len() > 1 {
        notes.push(format!("frames on the stack, innermost first: {}", listed(&frames)));
    }
    let lane = Some(lane).filter(|&lane| lane < 64);
    let at = Box::new(group.location(at, launch, lane));
    Some(Fault::Scratch { offset, bytes, access, size, overflow, notes, at })
}

/// Returns the stack frames of the calls that have not returned. Equal frames in a row are one element. Each
/// element has the name of the function, the bytes of its frame for each lane, and the number of equal
/// frames.
fn frames(group: &Group, at: usize, launch: &Launch<'_>) -> Vec<(String, u32, u64)> {
    let Some(shadow) = &group.shadow else { return Vec::new() };
    let wave = &group.waves[at];
    let stack = wave.sgpr[usize::from(column(Convention::Today).stack.pointer)];
    let name = |callee: Option<u32>| match callee {
        Some(place) => launch.functions.name(launch.address_of(place)),
        None => launch.kernel.name.clone(),
    };
    let frames = shadow.stack_frames(at, stack, launch.target.stack_scale()).into_iter();
    frames.map(|(callee, bytes, count)| (name(callee), bytes, count)).collect()
}

fn listed(frames: &[(String, u32, u64)]) -> String {
    let one = |(name, bytes, count): &(String, u32, u64)| match count {
        1 => format!("`{name}` {bytes} bytes"),
        count => format!("`{name}` {bytes} bytes, {count} times"),
    };
    let mut list: Vec<String> = frames.iter().take(SHOWN).map(one).collect();
    if frames.len() > SHOWN {
        list.push(format!("{} more", frames.len() - SHOWN));
    }
    list.join("; ")
}
