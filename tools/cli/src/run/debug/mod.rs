//! `kernc debug FILE ARGUMENT...`: runs a kernel under the debugger in the terminal.

mod commands;
mod dap;
mod examine;
mod format;
mod gdb;
mod info;
mod points;
mod select;
mod terminal;

use super::launch::{Launch, Run, found, mode, spoken, stopped};
use super::output_buffers::Shown;
use super::{RunArgs, Texts, expect};
use crate::inspect::parse;
use crate::run::load::Loaded;
use crate::{Failure, complain, sources};
use clap::Args;
use debug::{FrontEnd, Session};
use kernc::sim;
use std::path::Path;
use terminal::Terminal;

#[derive(Args, Clone)]
pub struct DebugArgs {
    /// Run this debugger command at the start. Several of these options are run in their order. Further
    /// commands come from standard input.
    #[arg(short = 'x', long = "command", value_name = "COMMAND")]
    commands: Vec<String>,
    /// Serve the GDB remote serial protocol on this port of the local machine, instead of the terminal. 0
    /// takes any free port.
    #[arg(long, value_name = "PORT", conflicts_with = "commands")]
    gdb: Option<u16>,
    /// The architecture that GDB is told: `aarch64` is for a GDB that does not know AMD's GPUs.
    #[arg(long, value_enum, value_name = "NAME", default_value = "amdgcn", requires = "gdb")]
    gdb_architecture: gdb::Architecture,
    /// Serve an editor: the Debug Adapter Protocol on standard input and output, or for one client on a port
    /// of this machine. The editor decides what is launched and how.
    #[arg(long, value_name = "PORT", num_args = 0..=1, exclusive = true)]
    dap: Option<Option<u16>>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &DebugArgs) -> Result<(), Failure> {
    match (args.dap, args.gdb) {
        (Some(port), _) => dap::run(port),
        (None, Some(port)) => {
            let gdb = || Ok(Box::new(gdb::Gdb::new(port, args.gdb_architecture)?) as Box<dyn FrontEnd>);
            dispatch(&args.run, gdb, &Here)
        }
        (None, None) => dispatch(&args.run, || Ok(Box::new(Terminal::new(&args.commands))), &Here),
    }
}

/// The code that has requested a debugging session: the command line, or a server for editors.
trait Host {
    /// Called when a file has been loaded and the debugging session is ready. Returns whether to begin the
    /// dispatch.
    fn begins(&self, _session: &Session, _file: &Path) -> bool {
        true
    }

    /// Shows a failure to the user before the session ends. Returns the failure with which the command ends;
    /// it need not be shown again.
    fn show_failure(&self, failure: Failure) -> Failure {
        failure.report();
        Failure::Told(failure.code())
    }
}

/// The command line, as the code that has requested a session.
struct Here;

impl Host for Here {}

/// Runs a dispatch under the debugger. `front_end` is called to create the front end when everything is
/// loaded.
fn dispatch(
    args: &RunArgs,
    front_end: impl FnOnce() -> Result<Box<dyn FrontEnd>, Failure>,
    host: &dyn Host,
) -> Result<(), Failure> {
    let args = &RunArgs { is_debugged: true, ..args.clone() };
    let refused = [
        (args.script.is_some(), "--script"),
        (args.compare.is_some(), "--compare"),
        (args.list, "--list"),
        (args.html.is_some(), "--html"),
        (args.threads.is_some_and(|threads| threads != 1), "--threads"),
        (args.observe.is_active(), "--profile`, `--trace`, `--coverage` and `--idle-waits"),
    ];
    if let Some((_, option)) = refused.into_iter().find(|(given, _)| *given) {
        return Err(Failure::Usage(format!("`{option}` does not go together with debugging")));
    }
    // clap requires a file if there is no script.
    let Some(file) = &args.file else { return Ok(()) };
    let loaded = Loaded::new(file, args)?;
    let texts = Texts::new(args)?;
    let mut launch = Launch::new(args, &loaded, &texts)?;
    let policy = args.rules.policy()?;
    let mode = mode(args, &policy)?;
    if args.schedule.explores() {
        return Err(Failure::Usage(
            "a session has one schedule: give `--seed`, and not `--schedules`".to_owned(),
        ));
    }
    let shown = Shown::new(args, launch.kernel, &launch.values)?;
    let expected = super::expected(args, &launch)?;
    let object = parse(file, &loaded.bytes)?;
    let program = debug::Program::read(&object, |name| sources::text(name, file));
    let session = Session::new(program, front_end()?);
    if !host.begins(&session, file) {
        return Ok(());
    }
    launch.debugger = Some(&session);
    let outcome = |mut run: Run| {
        spoken(&mut run.device, &loaded.teller);
        let stats = run.stats.map_err(|fault| stopped(&fault, &loaded.teller))?;
        outln!("the dispatch has ended: {} waves, {} wave instructions", stats.waves, stats.instructions);
        shown.show(launch.kernel, &run.device, &run.placed)?;
        let found = found(args, &loaded, launch.kernel, run.device.reports(), &policy);
        complain(&policy.unused(&loaded.file));
        found?;
        expect::check_all(&expected, &run.device, &run.placed)
    };
    let mut last = Ok(());
    loop {
        let run = launch.run(args, mode, &sim::Observe::default())?;
        if session.wants_again() {
            continue;
        }
        if session.has_quit() {
            return Ok(());
        }
        if !session.has_left() {
            last = outcome(run);
            if session.may_stay() {
                // The front end may stay connected after the end of the dispatch. So it shows the failure
                // now, before it is asked whether to stop once more.
                last = last.map_err(|failure| host.show_failure(failure));
                if session.wants_final_stop() {
                    continue;
                }
            }
        }
        session.ended(last.is_ok());
        return last;
    }
}
