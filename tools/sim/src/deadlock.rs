//! Builds the report of a deadlock, which says what each wave waits for and which instruction wrote the
//! awaited location last.

use crate::fault::{Fault, Location};
use crate::group::{Group, StalledWave};
use crate::launch::Launch;
use crate::stalled::{PolledLocation, memory_contents};
use crate::watch::Space;
use crate::wave::{Wave, WaveState};

/// Maximum number of waves that the report names.
const MOST_WAVES: usize = 16;
/// Maximum number of memory locations that the report names as awaited by one wave.
const MOST_PLACES: usize = 2;

/// Why a wave makes no progress, as a line of the report.
struct Reason {
    at: Location,
    text: String,
    /// Whether the wave waits for one of its own lanes.
    own_lane: bool,
}

/// Returns the fault for a deadlock of the dispatch: each wave that has not ended either repeats a loop
/// without progress or is at a barrier.
pub(crate) fn fault(launch: &Launch<'_>, limit: u64, groups: &[(Group, Vec<StalledWave>)]) -> Fault {
    let ended = |number: u64, wave: u32| {
        let group = groups.iter().find(|(group, _)| group.number == number);
        let wave = group.and_then(|(group, _)| group.waves.get(wave as usize));
        wave.is_none_or(|wave| wave.state == WaveState::Done)
    };
    let mut reasons: Vec<Reason> = Vec::new();
    let mut count = 0;
    for (group, standing) in groups {
        count += group.running();
        let at_barrier = (0..group.waves.len()).filter(|&at| group.waves[at].state == WaveState::AtBarrier);
        reasons.extend(standing.iter().map(|standing| polls(launch, group, standing, &ended)));
        reasons.extend(at_barrier.map(|at| waits_at_barrier(launch, group, at)));
    }
    // Waves that wait for one of their own lanes cause the deadlock, so the report names them first.
    let (own, others): (Vec<Reason>, Vec<Reason>) = reasons.into_iter().partition(|reason| reason.own_lane);
    let own_lane = !own.is_empty();
    let shown = own.into_iter().chain(others).take(MOST_WAVES);
    let (waves, waits) = shown.map(|reason| (reason.at, reason.text)).unzip();
    Fault::Stuck { limit, deadlock: true, of_group: false, own_lane, waves, waits, count }
}

/// Returns the fault for a deadlock within a group: each wave of the group that has not ended waits for
/// another wave of the group. Other groups may continue.
pub(crate) fn of_group(launch: &Launch<'_>, limit: u64, group: (Group, Vec<StalledWave>)) -> Fault {
    let mut fault = fault(launch, limit, &[group]);
    if let Fault::Stuck { of_group, .. } = &mut fault {
        *of_group = true;
    }
    fault
}

fn wave_text(number: u32, [x, y, z]: [u32; 3]) -> String {
    format!("wave {number} in group ({x}, {y}, {z})")
}

/// Returns a text with an instruction, its address and its source line.
fn place_text(at: &Location) -> String {
    let line = at.source.as_ref().map_or(String::new(), |source| format!(", {source}"));
    format!("`{}` at {:#x} of {}{line}", at.text, at.offset, at.kernel)
}

fn waits_at_barrier(launch: &Launch<'_>, group: &Group, at: usize) -> Reason {
    let place = group.location(at, launch, None);
    let who = wave_text(group.waves[at].id, group.id);
    let text = format!("{who} waits for its group at the barrier {}", place_text(&place));
    Reason { at: place, text, own_lane: false }
}

/// Returns for what a wave that makes no progress waits.
fn polls(
    launch: &Launch<'_>,
    group: &Group,
    standing: &StalledWave,
    ended: &dyn Fn(u64, u32) -> bool,
) -> Reason {
    let wave = &group.waves[standing.wave];
    let who = wave_text(wave.id, group.id);
    let location = |at: (u32, u32)| launch.location(at.0, at.1, group.id, wave.id, None);
    // A loop that waits with atomics may also contain loads that are not the reason of the wait. If the loop
    // has atomics, the report therefore names only the locations of the atomics.
    let atomics: Vec<&PolledLocation> = standing.polled.iter().filter(|polled| polled.is_atomic).collect();
    let all: Vec<&PolledLocation> = standing.polled.iter().collect();
    let polled = if atomics.is_empty() { all } else { atomics };
    let own = polled.iter().find_map(|polled| parked_lane(wave, standing.lanes, polled));
    let Some(first) = polled.first() else {
        let at = group.location(standing.wave, launch, None);
        let text = format!("{who} goes round a loop that reads no memory, at {}", place_text(&at));
        return Reason { at, text, own_lane: false };
    };
    let at = location(first.at);
    let what = |polled: &&PolledLocation| {
        let (name, value) = (name(launch, polled), value(launch, group, polled));
        let written = written_by(launch, group, polled, ended);
        format!("{name}, which is {value}{}", written.map_or(String::new(), |by| format!(": {by}")))
    };
    let mut places = polled.iter().take(MOST_PLACES).map(what).collect::<Vec<_>>().join("; ");
    if polled.len() > MOST_PLACES {
        places.push_str(&format!("; and {} more", polled.len() - MOST_PLACES));
    }
    let text = match own {
        Some(lane) => format!(
            "{who} waits at {} for {}, which its own lane {lane} has changed: that lane is off until the others leave the loop",
            place_text(&at),
            name(launch, first)
        ),
        None => format!("{who} waits at {} for {places}", place_text(&at)),
    };
    Reason { at, text, own_lane: own.is_some() }
}

/// Returns the lane of the wave that has last changed the awaited location, if this lane is parked. A parked
/// lane does not take part in the loop, so it cannot change the location again.
fn parked_lane(wave: &Wave, lanes: u64, polled: &PolledLocation) -> Option<u32> {
    let (space, address, lane) = wave.changed?;
    let same = (space, address) == (polled.space, polled.address);
    (same && lane < 64 && lanes >> lane & 1 == 0).then_some(lane)
}

fn name(launch: &Launch<'_>, polled: &PolledLocation) -> String {
    match polled.space {
        Space::Lds => format!("LDS address {:#x}", polled.address),
        _ => {
            let name = launch.names.describe(polled.address, polled.bytes);
            name.unwrap_or_else(|| format!("address {:#x}", polled.address))
        }
    }
}

fn value(launch: &Launch<'_>, group: &Group, polled: &PolledLocation) -> u64 {
    match polled.space {
        Space::Lds => group.lds.get((polled.address / 4) as usize).copied().unwrap_or(0).into(),
        _ => memory_contents(launch.memory, polled.address, polled.bytes),
    }
}

/// Returns a text that says which wave has written a location last. Returns `None` outside of strict mode,
/// because only strict mode tracks writes.
fn written_by(
    launch: &Launch<'_>,
    group: &Group,
    polled: &PolledLocation,
    ended: &dyn Fn(u64, u32) -> bool,
) -> Option<String> {
    let (Some(shadow), Some(shared)) = (&group.shadow, &launch.strict) else { return None };
    let Some((place, wave)) = shadow.last_change(shared, launch.memory, polled.space, polled.address) else {
        return Some("nothing has written it".to_owned());
    };
    let (number, wave) = shared.group_and_place(wave - 1);
    let id = launch.group_id(number);
    let (range, pc) = crate::strict::split_place(place);
    let at = launch.location(range, pc, id, wave, None);
    let line = at.source.as_ref().map_or_else(|| format!("`{}`", at.text), ToString::to_string);
    let end = if ended(number, wave) { ", which has ended," } else { "" };
    Some(format!("{}{end} has written it last, {line}", wave_text(wave, id)))
}
