//! Command line of kernc.
//!
//! Exit codes: 0 success; 1 the source has errors; 2 the command line is wrong; 3 a file cannot be read, written or
//! understood; 4 the emulated kernel stopped with a fault; 5 a fault of kernc itself; 6 `kernc check`, or `kernc run` in
//! strict mode, has something to report; 7 `kernc test` has a test that does not pass, or `kernc run` has left other buffers than
//! were expected.

mod cli;

use std::process::ExitCode;

/// Exit code of a panic, which is a fault of kernc itself like any other.
const PANIC: u8 = 5;

fn main() -> ExitCode {
    if cfg!(panic = "abort") {
        end_at_panic();
    }
    let cli = cli::parse(std::env::args_os());
    let run = || cli::run(cli).and_then(|()| cli::finish());
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            failure.report();
            ExitCode::from(failure.code())
        }
        Err(_) => ExitCode::from(PANIC),
    }
}

/// Where panics do not unwind, as in the release profile, the message is followed by the documented exit code and not by a
/// signal.
fn end_at_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tell(panic);
        if let Some(test) = cli::current_test() {
            eprintln!("{test}: kernc panicked in this test");
        }
        std::process::exit(PANIC.into());
    }));
}
