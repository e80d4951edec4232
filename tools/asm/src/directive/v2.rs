//! Directives of code object V2 (seed 000, line 4591).

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::expr::Value;
use crate::symbol::Definition;
use isa::{Feature, PROCESSORS, Target};
use objwriter::descriptor::{self, Field};
use objwriter::elf::STT_AMDGPU_HSA_KERNEL;
use objwriter::kernel_code::{self, KEYS, Key};
use objwriter::note::{self, NT_ISA_NAME, NT_ISA_VERSION, NT_VERSION};
use std::ops::Range;

/// The keys that only some processors have, each with the field of the kernel descriptor that has the same
/// meaning.
const LATER: [(&str, Field); 4] = [
    ("enable_wgp_mode", descriptor::WGP_MODE),
    ("enable_mem_ordered", descriptor::MEM_ORDERED),
    ("enable_fwd_progress", descriptor::FWD_PROGRESS),
    ("enable_wavefront_size32", descriptor::WAVEFRONT_SIZE32),
];

impl Assembler {
    pub(super) fn v2_directive(&mut self, cur: &mut Cursor, name: &str, span: &Range<usize>) -> Result<bool> {
        match name {
            ".hsa_code_object_version" => self.code_object_version(cur, span)?,
            ".hsa_code_object_isa" => self.code_object_isa(cur, span)?,
            ".amdgpu_hsa_kernel" => self.hsa_kernel(cur)?,
            ".amd_kernel_code_t" => self.kernel_code(cur, span)?,
            ".amd_amdgpu_isa" => {
                let text = cur.string()?;
                self.begin_v2();
                self.note("AMD", NT_ISA_NAME, &text, span)?;
            }
            ".amd_amdgpu_hsa_metadata" => self.hsa_metadata(cur, span)?,
            ".end_amd_kernel_code_t" => {
                return Err(error(span.clone(), "`.end_amd_kernel_code_t` without `.amd_kernel_code_t`"));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Handles `.hsa_code_object_version major, minor`.
    fn code_object_version(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let major = self.number_32(cur)?;
        cur.expect(b',')?;
        let minor = self.number_32(cur)?;
        self.begin_v2();
        self.note("AMD", NT_VERSION, &note::version(major, minor), span)
    }

    /// Handles `.hsa_code_object_isa [major, minor, stepping, "vendor", "arch"]`.
    fn code_object_isa(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        cur.blank();
        let (mut vendor, mut arch) = (b"AMD".to_vec(), b"AMDGPU".to_vec());
        let mut version = if cur.at_end() {
            let Some(target) = self.settings.target else {
                return Err(
                    error(span.clone(), "the processor is not known").label("needs numbers, or `--mcpu`")
                );
            };
            let (major, minor, stepping) = target.version;
            [major, minor, stepping]
        } else {
            let mut version = [0; 3];
            for number in &mut version {
                *number = self.number_32(cur)?;
                cur.expect(b',')?;
            }
            vendor = cur.string()?;
            cur.expect(b',')?;
            arch = cur.string()?;
            if self.settings.target.is_none() {
                self.target_of_isa(version, span)?;
            }
            version
        };
        let xnack = self.settings.target.is_some_and(|target| target.has(Feature::XNACK));
        if xnack && self.settings.xnack != Some(false) {
            version = note::replaying(version);
        }
        self.begin_v2();
        let desc = note::isa_version(version, &vendor, &arch);
        self.note("AMD", NT_ISA_VERSION, &desc, span)
    }

    /// Sets the processor that has this version, if `--mcpu` does not give the processor. An odd stepping
    /// means that XNACK replay is on.
    fn target_of_isa(&mut self, version: [u32; 3], span: &Range<usize>) -> Result<()> {
        let find = |[major, minor, stepping]: [u32; 3]| {
            let version = (major, minor, stepping);
            let former = || {
                let name = codeobj::FORMER_NAMES.iter().find(|former| former.version == version)?;
                Target::by_name(name.today)
            };
            PROCESSORS.iter().find(|target| target.version == version).or_else(former)
        };
        let even = [version[0], version[1], version[2] & !1];
        let with_xnack = || {
            find(even)
                .filter(|target| version[0] == 9 && target.has(Feature::XNACK))
                .map(|target| (target, true))
        };
        let Some((target, xnack)) = find(version).map(|target| (target, false)).or_else(with_xnack) else {
            let [major, minor, stepping] = version;
            return Err(error(
                span.clone(),
                format!("no known processor has version {major}.{minor}.{stepping}"),
            )
            .label("the processor is not known"));
        };
        self.set_target(target);
        if version[0] == 9 {
            self.settings.xnack.get_or_insert(xnack);
        }
        Ok(())
    }

    /// Reads an expression with a value of 32 bits.
    pub(crate) fn number_32(&mut self, cur: &mut Cursor) -> Result<u32> {
        cur.blank();
        let start = cur.pos;
        let value = self.absolute(cur)?;
        u32::try_from(value).map_err(|_| error(cur.span_from(start), "the number does not fit 32 bits"))
    }

    /// Handles `.amdgpu_hsa_kernel name`. The directive also resets the counts of used registers, because a
    /// kernel begins.
    fn hsa_kernel(&mut self, cur: &mut Cursor) -> Result<()> {
        let id = self.symbol_in(cur)?;
        self.symbols[id].kind = STT_AMDGPU_HSA_KERNEL;
        self.symbols.register(id);
        self.counts.plain_vgprs = 0;
        for id in [self.counts.vgpr[1], self.counts.agpr, self.counts.sgpr[1]] {
            self.symbols[id].definition = Definition::Value { value: Value::Abs(0), fixed: false };
        }
        Ok(())
    }

    /// Reads `key = value` lines up to `.end_amd_kernel_code_t`.
    fn kernel_code(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let Some(target) = self.settings.target else {
            return Err(
                error(span.clone(), "the processor is not known").label("`.amd_kernel_code_t` needs one")
            );
        };
        let mut header = [0; kernel_code::SIZE];
        let wgp = !self.settings.cumode.unwrap_or(false);
        KEYS.iter().for_each(|key| key.set(&mut header, key.default_for(target, wgp)));
        cur.expect_end()?;
        cur.skip_line();
        loop {
            cur.blank();
            if cur.is_end() {
                return Err(error(span.clone(), "no `.end_amd_kernel_code_t` ends this").label("begins here"));
            }
            if cur.at_end() || cur.peek() == b'#' {
                cur.skip_line();
                continue;
            }
            let start = cur.pos;
            let key = cur.name().unwrap_or_default();
            if key == ".end_amd_kernel_code_t" {
                break;
            }
            let at = start..cur.pos.max(start + 1);
            if let Err(mistake) = self.kernel_code_line(cur, key, at, target, &mut header) {
                let text = cur.text;
                self.report(text, mistake);
                if self.stopped {
                    return Ok(());
                }
            }
            cur.skip_line();
        }
        self.begin_v2();
        self.emit(&header, span)
    }

    fn kernel_code_line(
        &mut self,
        cur: &mut Cursor,
        key: &str,
        at: Range<usize>,
        target: &Target,
        header: &mut [u8; kernel_code::SIZE],
    ) -> Result<()> {
        let Some(field) = Key::by_name(key) else {
            return Err(error(at, format!("unknown key `{key}`")).label("not a field of `amd_kernel_code_t`"));
        };
        cur.expect(b'=')?;
        let value = self.absolute(cur)?;
        cur.expect_end()?;
        let later = LATER.iter().any(|(later, field)| *later == key && !field.on.has(target));
        if later && value != 0 {
            return Err(error(at, format!("`{key}` exists from GFX10 on")));
        }
        field.set(header, value as u64);
        Ok(())
    }
}
