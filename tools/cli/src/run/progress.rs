//! A progress line on the terminal during long runs.

use crate::capture;
use kernc::sim::Progress;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Time after which the first progress line is shown, so that short runs show none.
const PATIENCE: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_millis(250);

/// Runs `work` and meanwhile shows its progress on standard error, if that is a terminal.
pub fn with_progress<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() || capture::is_on() {
        return work();
    }
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (start, mut wait) = (Instant::now(), PATIENCE);
            while end.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = INTERVAL;
                print_line(&format!("\r\x1b[K{}", line(progress, start.elapsed())));
            }
            if wait == INTERVAL {
                print_line("\r\x1b[K");
            }
        });
        let result = work();
        drop(ended);
        result
    })
}

fn print_line(text: &str) {
    let mut stderr = std::io::stderr();
    // A failure to write to the terminal does not matter.
    let _ = stderr.write_all(text.as_bytes());
    let _ = stderr.flush();
}

fn line(progress: &Progress, time: Duration) -> String {
    let millions = progress.instructions() as f64 / 1e6;
    let rate = millions / time.as_secs_f64().max(0.001);
    let (ended, total) = progress.groups();
    format!(
        "{} s: {ended} of {total} groups have ended, {millions:.0} million wave instructions, {rate:.1} a second",
        time.as_secs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_far_it_is() {
        let text = line(&Progress::default(), Duration::from_secs(3));
        assert_eq!(text, "3 s: 0 of 0 groups have ended, 0 million wave instructions, 0.0 a second");
        assert_eq!(with_progress(&Progress::default(), || 7), 7);
    }
}
