//! Target features in the syntax of LLVM's tools: `+xnack,-sramecc,+wavefrontsize64`.

use super::Failure;

/// Target features that `--mattr` sets or clears; `None` for a feature that it does not mention.
#[derive(Clone, Copy, Default)]
pub struct Features {
    pub xnack: Option<bool>,
    pub sramecc: Option<bool>,
    /// Number of lanes in a wave.
    pub wave_size: Option<u32>,
    pub cumode: Option<bool>,
    pub tgsplit: Option<bool>,
}

impl Features {
    /// Parses the list of features.
    pub fn new(list: &[String]) -> Result<Features, Failure> {
        let mut features = Features::default();
        for feature in list {
            let (on, name) = match feature.split_at_checked(1) {
                Some(("+", name)) => (true, name),
                Some(("-", name)) => (false, name),
                _ => return Err(Failure::Usage(format!("`{feature}` does not begin with + or -"))),
            };
            match name {
                "xnack" => features.xnack = Some(on),
                // LLVM's AMDGPU guide spells the feature with a hyphen (seed 000, line 232).
                "sramecc" | "sram-ecc" => features.sramecc = Some(on),
                "wavefrontsize64" => features.wave_size = Some(if on { 64 } else { 32 }),
                "wavefrontsize32" => features.wave_size = Some(if on { 32 } else { 64 }),
                "cumode" => features.cumode = Some(on),
                "tgsplit" => features.tgsplit = Some(on),
                _ => {
                    let known = "xnack, sramecc, wavefrontsize32, wavefrontsize64, cumode, tgsplit";
                    return Err(Failure::Usage(format!(
                        "unknown target feature `{name}`; there are {known}"
                    )));
                }
            }
        }
        Ok(features)
    }
}
