//! Options for the target: the processor and the modes that it runs in.

use super::Failure;
use clap::Args;
use kernc::isa::{Os, TargetId, products};
use kernc::{CodeObjectVersion, ModeError, Modes, PROCESSORS, Subtarget, Target};

// Target options of the compiler. This is not a doc comment because clap would use it as the help text of the
// command.
#[derive(Args, Clone)]
pub struct TargetArgs {
    /// Processor to compile for, with features if they matter, like `gfx908:sramecc+:xnack-`. `kernc targets`
    /// lists the processors.
    #[arg(long, visible_alias = "target-id", value_name = "GFX")]
    mcpu: Option<String>,
    /// Operating system whose runtime loads the code. A target id with a triple names it, too.
    #[arg(long, value_name = "OS", value_parser = SYSTEMS)]
    os: Option<String>,
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

/// The systems for which kernc compiles. A test compares the list with the table of systems.
const SYSTEMS: [&str; 5] = ["amdhsa", "amdpal", "mesa3d", "catalyst", "none"];

const MODES: [&str; 12] = [
    "xnack",
    "no-xnack",
    "sramecc",
    "no-sramecc",
    "sram-ecc",
    "no-sram-ecc",
    "cumode",
    "no-cumode",
    "tgsplit",
    "no-tgsplit",
    "wavefrontsize64",
    "no-wavefrontsize64",
];

impl TargetArgs {
    /// Returns options that name only a processor.
    pub fn for_processor(mcpu: Option<&str>) -> TargetArgs {
        TargetArgs {
            mcpu: mcpu.map(str::to_owned),
            os: None,
            modes: Vec::new(),
            wave32: false,
            wave64: false,
            code_object_version: None,
        }
    }

    /// Sets the processor if the command line does not name one.
    pub fn or(&mut self, mcpu: Option<&str>) {
        self.mcpu = self.mcpu.take().or_else(|| mcpu.map(str::to_owned));
    }

    /// Returns the processor and the modes that the options name; `None` if they name no processor.
    pub fn requested_target(&self) -> Result<Option<(&'static Target, Modes)>, Failure> {
        let Some((target, modes)) = target_id(self.mcpu.as_deref())? else { return Ok(None) };
        let switches = self.switches().map_err(|error| wrong(&error))?;
        let modes = modes.and(&switches).map_err(|error| wrong(&error))?;
        Ok(Some((target, modes)))
    }

    /// Returns the subtarget that the options name.
    pub fn subtarget(&self) -> Result<Subtarget, Failure> {
        let Some(id) = &self.mcpu else {
            let text = "no processor given; add `--mcpu` with one of those that `kernc targets` lists";
            return Err(Failure::Usage(text.to_owned()));
        };
        let (target, modes) = Modes::of_target_id(id).map_err(|error| wrong(&error))?;
        let switches = self.switches().map_err(|error| wrong(&error))?;
        let modes = modes.and(&switches).map_err(|error| wrong(&error))?;
        if let (Some(os), Some(_)) = (modes.os, self.code_object_version)
            && !os.system().has_metadata
        {
            let name = os.system().name;
            let text =
                format!("`--code-object-version` is for `amdhsa`; objects for `{name}` have no version");
            return Err(Failure::Usage(text));
        }
        let version = self.code_object_version.and_then(CodeObjectVersion::from_number).unwrap_or_default();
        modes.on(target, version).map_err(|error| wrong(&error))
    }

    /// Returns the modes that the switches set.
    fn switches(&self) -> Result<Modes, ModeError> {
        let wave_size = match (self.wave32, self.wave64) {
            (true, _) => Some(32),
            (_, true) => Some(64),
            _ => None,
        };
        let os = self.os.as_deref().and_then(Os::by_name);
        let mut modes = Modes { wave_size, os, ..Modes::default() };
        for switch in &self.modes {
            let (name, on) = switch.strip_prefix("no-").map_or((switch.as_str(), true), |name| (name, false));
            let mut one = Modes::default();
            match name {
                "xnack" => one.xnack = Some(on),
                "sramecc" | "sram-ecc" => one.sramecc = Some(on),
                "wavefrontsize64" => one.wave_size = Some(if on { 64 } else { 32 }),
                "cumode" => one.cumode = Some(on),
                _ => one.tgsplit = Some(on),
            }
            modes = modes.and(&one)?;
        }
        Ok(modes)
    }
}

/// Parses the target id in `--mcpu`, for commands that work on an existing object. The id may be written for
/// any operating system or runtime. Its features must exist on the processor.
pub fn target_id(id: Option<&str>) -> Result<Option<(&'static Target, Modes)>, Failure> {
    let checked = |text| {
        let id = TargetId::parse(text)?;
        let (target, modes) = (id.target, id.modes());
        modes.on(target, CodeObjectVersion::default()).map(|_| (target, modes))
    };
    id.map(checked).transpose().map_err(|error| wrong(&error))
}

/// Returns the error for a target id or modes that do not exist.
pub fn wrong(error: &ModeError) -> Failure {
    match error {
        ModeError::Processor { name } => unknown_processor(name),
        _ => Failure::Usage(error.to_string()),
    }
}

/// Returns the processor of a processor name or a target id.
pub fn processor(id: &str) -> Result<&'static Target, Failure> {
    TargetId::parse(id).map(|id| id.target).map_err(|error| wrong(&error))
}

/// Returns the error for an unknown processor name, with a suggestion.
fn unknown_processor(name: &str) -> Failure {
    Failure::Usage(format!("unknown processor `{name}`; {}", instead_of(name)))
}

fn instead_of(name: &str) -> String {
    const LISTED: &str = "`kernc targets` lists them";
    if let Some((product, processor)) = products::product(name) {
        return format!("{product} is `{processor}`");
    }
    if name == "native" {
        return "kernc does not ask the machine: `rocminfo` names its processor".to_owned();
    }
    if let Some(former) = codeobj::FORMER_NAMES.iter().find(|former| former.name == name) {
        return format!("it is `{}` today", former.today);
    }
    if codeobj::R600.contains(&name) {
        return format!("it has the architecture r600, and kernc compiles for GFX6 to GFX10; {LISTED}");
    }
    if products::is_later(name) {
        return format!("kernc compiles for GFX6 to GFX10, up to gfx90a and gfx1036; {LISTED}");
    }
    let names = PROCESSORS.iter().flat_map(|target| std::iter::once(&target.name).chain(target.alternatives));
    match frontend::nearest(name, names.copied()) {
        Some(near) => format!("a similar name exists: `{near}`; {LISTED}"),
        None => LISTED.to_owned(),
    }
}
