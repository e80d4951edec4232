//! Directives about the processor, the code object's version, kernels and metadata.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use isa::Target;
use std::ops::Range;

impl Assembler {
    pub(super) fn target_directive(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        span: &Range<usize>,
    ) -> Result<bool> {
        match name {
            ".amdgcn_target" => self.amdgcn_target(cur)?,
            ".amdhsa_code_object_version" => {
                cur.blank();
                let start = cur.pos;
                let version = self.absolute(cur)?;
                match u8::try_from(version) {
                    Ok(version @ 2..=6) => self.settings.version.get_or_insert(version),
                    _ => {
                        return Err(error(start..cur.pos, "the code object version is a number from 2 to 6"));
                    }
                };
            }
            ".amdhsa_kernel" => self.amdhsa_kernel(cur, span)?,
            ".amdgpu_metadata" => self.amdgpu_metadata(cur, span)?,
            ".end_amdhsa_kernel" => {
                return Err(error(span.clone(), "`.end_amdhsa_kernel` without `.amdhsa_kernel`"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `.amdgcn_target "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"`, or V3's `gfx906+xnack`.
    fn amdgcn_target(&mut self, cur: &mut Cursor) -> Result<()> {
        cur.blank();
        let start = cur.pos;
        let text = String::from_utf8_lossy(&cur.string()?).into_owned();
        let span = start..cur.pos;
        let id = text.split("--").nth(1).unwrap_or(&text);
        let name_end = id.find([':', '+']).unwrap_or(id.len());
        let (name, features) = id.split_at(name_end);
        let Some(target) = Target::by_name(name) else {
            return Err(error(span, format!("unknown processor `{name}`")));
        };
        match self.settings.target {
            Some(known) if known.name != target.name => {
                let message = format!("the source is for {name}, but {} was asked for", known.name);
                return Err(error(span, message));
            }
            Some(_) => {}
            None => self.set_target(target),
        }
        for (feature, on) in features_of(features) {
            match feature {
                "xnack" => self.settings.xnack = Some(on),
                "sramecc" | "sram-ecc" => self.settings.sramecc = Some(on),
                _ => return Err(error(span, format!("unknown target feature `{feature}`"))),
            }
        }
        self.settings.has_plain_id = features.is_empty();
        // V3 names what is on; what it does not name is off.
        if features.starts_with('+') {
            self.settings.xnack.get_or_insert(false);
            self.settings.sramecc.get_or_insert(false);
        }
        Ok(())
    }
}

/// `:xnack+:sramecc-`, `+xnack+sram-ecc`
fn features_of(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let v3 = text.starts_with('+');
    text.split([':', '+'])
        .filter(|part| !part.is_empty())
        .map(move |part| match part.strip_suffix('-') {
            Some(name) => (name, false),
            None => (part, true),
        })
        .map(move |(name, on)| if v3 { (name, true) } else { (name, on) })
}
