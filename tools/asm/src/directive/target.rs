//! Directives about the processor, the code object version, kernels and metadata.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use isa::{Modes, Os, Spelling, TargetId};
use objwriter::elf::Identity;
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
                self.only_hsa(name, span)?;
                cur.blank();
                let start = cur.pos;
                let version = self.absolute(cur)?;
                match u8::try_from(version) {
                    Ok(2) => self.begin_v2(),
                    Ok(version @ 3..=6) => {
                        self.settings.version.get_or_insert(version);
                    }
                    _ => {
                        return Err(error(start..cur.pos, "the code object version is a number from 2 to 6"));
                    }
                }
            }
            ".amdhsa_kernel" => {
                self.only_hsa(name, span)?;
                self.amdhsa_kernel(cur, span)?;
            }
            ".amdgpu_metadata" => {
                self.only_hsa(name, span)?;
                self.amdgpu_metadata(cur, span)?;
            }
            ".kernc_elf_header" => self.elf_header(cur)?,
            palmeta::BEGIN => self.pal_metadata(cur, span)?,
            palmeta::pairs::DIRECTIVE => self.pal_pairs(cur, span)?,
            ".end_amdhsa_kernel" => {
                return Err(error(span.clone(), "`.end_amdhsa_kernel` without `.amdhsa_kernel`"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Handles `.amdgcn_target "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"`. V3 writes features in another
    /// way: `gfx906+xnack`.
    fn amdgcn_target(&mut self, cur: &mut Cursor) -> Result<()> {
        cur.blank();
        let start = cur.pos;
        let text = String::from_utf8_lossy(&cur.string()?).into_owned();
        let span = start..cur.pos;
        let id = TargetId::parse(&text).map_err(|wrong| error(span.clone(), wrong.to_string()))?;
        let differs = |ours: &str, theirs: &str| {
            Err(error(span.clone(), format!("the source is for {ours}, but {theirs} was asked for")))
        };
        match (id.os, self.settings.os) {
            (Some(os), Some(known)) if os != known => return differs(os.name(), known.name()),
            (os, known) => self.settings.os = os.or(known),
        }
        match self.settings.target {
            Some(known) if known.name != id.target.name => return differs(id.target.name, known.name),
            Some(_) => {}
            None => self.set_target(id.target),
        }
        let asked = Modes { xnack: self.settings.xnack, sramecc: self.settings.sramecc, ..Modes::default() };
        let modes = id.named.and(&asked).map_err(|wrong| error(span, wrong.to_string()))?;
        let silent = id.modes();
        self.settings.xnack = modes.xnack.or(silent.xnack);
        self.settings.sramecc = modes.sramecc.or(silent.sramecc);
        self.settings.has_plain_id = id.spelling == Spelling::Plain;
        Ok(())
    }

    /// Rejects a directive that is for `amdhsa` only.
    pub(super) fn only_hsa(&self, name: &str, span: &Range<usize>) -> Result<()> {
        match self.settings.os() {
            Os::AmdHsa => Ok(()),
            os => Err(error(
                span.clone(),
                format!("`{name}` is for `amdhsa`, and the target is for `{}`", os.name()),
            )
            .note("other systems have other headers of kernels and other metadata")),
        }
    }

    /// Handles `.kernc_elf_header os_abi, abi_version, flags`, which sets the fields of a file header that no
    /// target id can express.
    fn elf_header(&mut self, cur: &mut Cursor) -> Result<()> {
        let mut numbers = [0; 3];
        for (n, number) in numbers.iter_mut().enumerate() {
            if n > 0 {
                cur.expect(b',')?;
            }
            cur.blank();
            let start = cur.pos;
            let most = if n < 2 { i64::from(u8::MAX) } else { i64::from(u32::MAX) };
            let value = self.absolute(cur)?;
            if !(0..=most).contains(&value) {
                return Err(error(cur.span_from(start), format!("a number from 0 to {most:#x}")));
            }
            *number = value as u32;
        }
        let [os_abi, abi_version, flags] = numbers;
        self.settings.header = Some(Identity { os_abi: os_abi as u8, abi_version: abi_version as u8, flags });
        Ok(())
    }
}
