//! Options for the initial state of waves, for kernels that do not set this state by attributes.

use clap::Args;
use kernc::ir::{Denormals, Exceptions, InitialState};

// Options of the compiler that correspond to attributes of kernels. This is not a doc comment because clap
// would use it as the help text of the command.
#[derive(Args, Clone)]
pub struct StateArgs {
    /// Treatment of f32 denormals in kernels without `#[denormals]`.
    #[arg(long, value_name = "keep|flush", value_parser = denormals)]
    denormals: Option<Denormals>,
    /// IEEE mode of kernels without `#[ieee]`.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    ieee: Option<bool>,
    /// Clamping of NaNs to 0 in kernels without `#[dx10_clamp]`.
    #[arg(long, value_name = "on|off", value_parser = switch)]
    dx10_clamp: Option<bool>,
    /// Exceptions that trap in kernels without `#[exceptions]`, separated by commas.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = exception)]
    exceptions: Vec<Exceptions>,
    /// Bytes of hidden arguments of kernels without `#[implicit_args]` (default: as many as the language
    /// has).
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(0..=i64::from(InitialState::MAX_IMPLICIT_ARGS)))]
    implicit_args: Option<u32>,
}

impl StateArgs {
    /// Returns the initial wave state that the options describe. The wave size is not part of it, because it
    /// is a mode of the processor.
    pub fn state(&self) -> InitialState {
        let exceptions = self.exceptions.iter().copied().reduce(Exceptions::union);
        InitialState {
            wave_size: None,
            denormals: self.denormals,
            ieee: self.ieee,
            dx10_clamp: self.dx10_clamp,
            exceptions,
            implicit_args: self.implicit_args,
        }
    }
}

fn denormals(name: &str) -> Result<Denormals, String> {
    Denormals::by_name(name).ok_or_else(|| "it is `keep` or `flush`".to_owned())
}

fn switch(name: &str) -> Result<bool, String> {
    match name {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("it is `on` or `off`".to_owned()),
    }
}

fn exception(name: &str) -> Result<Exceptions, String> {
    let known = || Exceptions::NAMES.map(|row| row.0).join(", ");
    Exceptions::by_name(name).ok_or_else(|| format!("there are {}", known()))
}
