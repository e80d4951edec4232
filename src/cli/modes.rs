//! What is compiled for: the processor, and the modes it runs in.

use super::Failure;
use clap::Args;
use kernc::{CodeObjectVersion, ModeError, Modes, Subtarget, Target};

/// Options of the compiler that say what the code is for.
#[derive(Args, Clone)]
pub struct TargetArgs {
    /// Processor to compile for, with features if they matter, like `gfx908:sramecc+:xnack-`; `kernc targets` lists them.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// Set a mode of the processor: `-mxnack`, `-mno-cumode`.
    #[arg(short = 'm', value_name = "[no-]MODE", value_parser = MODES)]
    modes: Vec<String>,
    /// Wavefronts of 32 lanes.
    #[arg(long)]
    wave32: bool,
    /// Wavefronts of 64 lanes.
    #[arg(long, conflicts_with = "wave32")]
    wave64: bool,
    /// Version of the code object, 2 to 6.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=6))]
    code_object_version: Option<u8>,
}

const MODES: [&str; 8] =
    ["xnack", "no-xnack", "sramecc", "no-sramecc", "cumode", "no-cumode", "tgsplit", "no-tgsplit"];

impl TargetArgs {
    /// Takes a processor where the command line has none.
    pub fn or(&mut self, mcpu: Option<&str>) {
        self.mcpu = self.mcpu.take().or_else(|| mcpu.map(str::to_owned));
    }

    /// The processor that they name, and its modes.
    pub fn asked(&self) -> Result<Option<(&'static Target, Modes)>, Failure> {
        let Some((target, modes)) = target_id(self.mcpu.as_deref())? else { return Ok(None) };
        let switches = self.switches().map_err(|error| wrong(&error))?;
        let modes = modes.and(&switches).map_err(|error| wrong(&error))?;
        Ok(Some((target, modes)))
    }

    /// What they say.
    pub fn subtarget(&self) -> Result<Subtarget, Failure> {
        let Some(id) = &self.mcpu else {
            let text = "no processor given; add `--mcpu` with one of those that `kernc targets` lists";
            return Err(Failure::Usage(text.to_owned()));
        };
        let (target, modes) = Modes::of_target_id(id).map_err(|error| wrong(&error))?;
        let switches = self.switches().map_err(|error| wrong(&error))?;
        let modes = modes.and(&switches).map_err(|error| wrong(&error))?;
        let version = self.code_object_version.and_then(CodeObjectVersion::from_number).unwrap_or_default();
        modes.on(target, version).map_err(|error| wrong(&error))
    }

    /// The modes of the switches.
    fn switches(&self) -> Result<Modes, ModeError> {
        let wave_size = match (self.wave32, self.wave64) {
            (true, _) => Some(32),
            (_, true) => Some(64),
            _ => None,
        };
        let mut modes = Modes { wave_size, ..Modes::default() };
        for switch in &self.modes {
            let (name, on) = switch.strip_prefix("no-").map_or((switch.as_str(), true), |name| (name, false));
            let mut one = Modes::default();
            match name {
                "xnack" => one.xnack = Some(on),
                "sramecc" => one.sramecc = Some(on),
                "cumode" => one.cumode = Some(on),
                _ => one.tgsplit = Some(on),
            }
            modes = modes.and(&one)?;
        }
        Ok(modes)
    }
}

/// The target id that `--mcpu` names. The processor must have the features.
pub fn target_id(id: Option<&str>) -> Result<Option<(&'static Target, Modes)>, Failure> {
    let checked = |id| {
        let (target, modes) = Modes::of_target_id(id)?;
        modes.on(target, CodeObjectVersion::default()).map(|_| (target, modes))
    };
    id.map(checked).transpose().map_err(|error| wrong(&error))
}

/// A target id or modes that do not exist.
pub fn wrong(error: &ModeError) -> Failure {
    match error {
        ModeError::Processor { .. } => Failure::Usage(format!("{error}; `kernc targets` lists them")),
        _ => Failure::Usage(error.to_string()),
    }
}
