//! Commands that select the wave and the lane to inspect.

use super::commands::{self, Done, Outcome, number, stay};
use super::terminal::{Terminal, stop_text};
use debug::Stop;

/// Runs `wave N` or `wave N COMMAND`. The first selects a wave of the group; the second runs one command for
/// that wave.
pub fn wave(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    if rest.is_empty() {
        return print_selection(stop);
    }
    let (wave, command) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let missing = || format!("there is no wave `{wave}` in the group, or it has ended");
    let number = u32::try_from(number(wave)?).map_err(|_| missing())?;
    stop.at.wave_of_group(number).ok_or_else(missing)?;
    if command.trim().is_empty() {
        stop.choose_wave(number);
        terminal.look_anew();
        return stop.on_wave(Some(number), |stop| print_selection(stop));
    }
    // The selected frame is one of the stopped wave. A command for another wave begins at that wave's
    // innermost frame instead.
    let frame = std::mem::replace(&mut terminal.frame, 0);
    let done = stop.on_wave(Some(number), |stop| commands::run_here(command.trim(), terminal, stop));
    terminal.frame = frame;
    match done? {
        Outcome::Stay => stay(),
        Outcome::Go(_) => Err(format!("`wave {number}` alone looks at the wave: then it can move on")),
    }
}

/// Runs `item X[,Y,Z]`: selects the wave and the lane of a work-item.
pub fn item(terminal: &mut Terminal, stop: &mut Stop<'_>, rest: &str) -> Done {
    let item = ids(rest)?;
    let [x, y, z] = item;
    let Some((group, wave, lane)) = stop.at.place_of_item(item) else {
        let [width, height, depth] = stop.at.grid();
        return Err(format!(
            "there is no work-item ({x}, {y}, {z}): the grid has {width} x {height} x {depth}"
        ));
    };
    if group != stop.at.group() {
        let [own_x, own_y, own_z] = stop.at.group();
        let [x, y, z] = group;
        return Err(format!(
            "the work-item is one of group ({x}, {y}, {z}), and what has stopped is group ({own_x}, {own_y}, {own_z})"
        ));
    }
    if stop.at.wave_of_group(wave).is_none() {
        return Err(format!("the work-item has come to its end: it was lane {lane} of wave {wave}"));
    }
    stop.choose_wave(wave);
    stop.choose_lane(Some(lane))?;
    terminal.look_anew();
    stop.on_wave(Some(wave), |stop| print_selection(stop))
}

/// Parses the ids of a work-item: `70`, `3,4`, `3, 4, 0`.
fn ids(text: &str) -> Result<[u32; 3], String> {
    let wrong = || format!("`item` takes a global work-item, X or X,Y or X,Y,Z, and not `{text}`");
    let parts = text.split(',').map(|part| part.trim().parse().map_err(|_| wrong()));
    let parts = parts.collect::<Result<Vec<u32>, String>>()?;
    if parts.len() > 3 {
        return Err(wrong());
    }
    Ok(std::array::from_fn(|dim| parts.get(dim).copied().unwrap_or(0)))
}

/// Prints the selected wave and lane, and their position.
fn print_selection(stop: &Stop<'_>) -> Done {
    let lane = stop.lane();
    let [x, y, z] = stop.at.location(Some(lane)).item.unwrap_or_default();
    let active = stop.at.exec().count_ones();
    outln!("{}, {active} of {} lanes, lane {lane}, work-item ({x}, {y}, {z})", stop.who(), stop.at.lanes());
    outln!("{}", stop_text(stop));
    commands::waits(stop);
    stay()
}
