//! `.amdhsa_kernel`: kernel descriptors of code object V3 and later.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::directive::symbols::sym;
use crate::error::{Result, error};
use crate::expr::{Specifier, Value};
use crate::section::{Fixup, FixupKind};
use isa::{DescriptorFields, Feature, Target};
use objwriter::descriptor::{self as fields, FIELDS, Registers};
use std::ops::Range;

/// Field whose value refers to symbols of later lines.
struct Later {
    name: String,
    value: Value,
    /// The spans of a directive and of its value, for error messages. They are positions in the numbering
    /// that all texts share.
    spans: [(u32, u32); 2],
}

/// Kernel descriptor with fields that are not known yet.
pub(crate) struct Unfinished {
    target: &'static Target,
    block: Block,
    descriptor: [u8; fields::SIZE],
    /// Section and offset of the descriptor.
    pub place: (u32, u64),
    span: (u32, u32),
}

/// Contents of the directives of a block.
#[derive(Default)]
struct Block {
    later: Vec<Later>,
    seen: Vec<String>,
    next_free_vgpr: Option<u32>,
    next_free_sgpr: Option<u32>,
    user_sgpr_count: Option<u32>,
    reserve_vcc: Option<bool>,
    reserve_flat_scratch: Option<bool>,
    reserve_xnack_mask: Option<bool>,
    accum_offset: Option<u32>,
    wave32: Option<bool>,
}

impl Assembler {
    pub(super) fn amdhsa_kernel(&mut self, cur: &mut Cursor, span: &Range<usize>) -> Result<()> {
        let Some(target) = self.settings.target else {
            return Err(error(span.clone(), "the processor is not known").label("`.amdhsa_kernel` needs one"));
        };
        let name = cur.expect_name("the name of the kernel")?.to_string();
        cur.expect_end()?;
        cur.skip_line();
        let mut descriptor = fields::defaults(target, self.settings.cumode.unwrap_or(false));
        if self.settings.tgsplit && fields::TG_SPLIT.on.has(target) {
            fields::TG_SPLIT.set(&mut descriptor, 1);
        }
        let mut block = Block::default();
        loop {
            cur.blank();
            let start = cur.pos;
            if cur.is_end() {
                return Err(error(span.clone(), "no `.end_amdhsa_kernel` ends this").label("begins here"));
            }
            if cur.at_end() || cur.peek() == b'#' {
                cur.skip_line();
                continue;
            }
            let directive = cur.name().unwrap_or_default();
            let at = start..cur.pos.max(start + 1);
            if directive == ".end_amdhsa_kernel" {
                break;
            }
            if let Err(mistake) =
                self.kernel_directive(cur, directive, at, target, &mut block, &mut descriptor)
            {
                let text = cur.text;
                self.report(text, mistake);
                if self.stopped {
                    return Ok(());
                }
            }
            cur.skip_line();
        }
        if block.later.is_empty() {
            self.finish_descriptor(target, &block, &mut descriptor, span)?;
            return self.write_descriptor(&name, &descriptor, span);
        }
        self.write_descriptor(&name, &[0; fields::SIZE], span)?;
        let (section, end) = self.here();
        let place = (section, end - fields::SIZE as u64);
        let span = self.span_of(span.clone());
        self.unfinished.push(Unfinished { target, block, descriptor, place, span });
        Ok(())
    }

    /// Fills in the descriptor fields whose values depend on symbols that were defined later. To be called at
    /// the end of the source.
    pub(crate) fn finish_descriptors(&mut self) {
        for mut kernel in std::mem::take(&mut self.unfinished) {
            let range = |span: (u32, u32)| span.0 as usize..span.1 as usize;
            let mut mistakes = Vec::new();
            for later in std::mem::take(&mut kernel.block.later) {
                let [at, value_span] = later.spans.map(range);
                let done = match self.known_number(later.value) {
                    None => Err(error(value_span, "the value of this expression must be known in the end")),
                    Some(value) => {
                        let (target, block) = (kernel.target, &mut kernel.block);
                        self.kernel_field(
                            &later.name,
                            value,
                            at,
                            value_span,
                            target,
                            block,
                            &mut kernel.descriptor,
                        )
                    }
                };
                mistakes.extend(done.err());
            }
            if mistakes.is_empty() {
                let span = range(kernel.span);
                let done =
                    self.finish_descriptor(kernel.target, &kernel.block, &mut kernel.descriptor, &span);
                mistakes.extend(done.err());
            }
            let (section, at) = (kernel.place.0 as usize, kernel.place.1 as usize);
            if let Some(bytes) = self.sections[section].data.get_mut(at..at + fields::SIZE) {
                bytes.copy_from_slice(&kernel.descriptor);
            }
            for mistake in mistakes {
                self.report_placed(mistake);
            }
        }
    }

    fn kernel_directive(
        &mut self,
        cur: &mut Cursor,
        directive: &str,
        at: Range<usize>,
        target: &Target,
        block: &mut Block,
        descriptor: &mut [u8; fields::SIZE],
    ) -> Result<()> {
        let Some(name) = directive.strip_prefix(".amdhsa_") else {
            return Err(error(at, "expected an `.amdhsa_` directive or `.end_amdhsa_kernel`"));
        };
        cur.blank();
        let start = cur.pos;
        let value = self.expression(cur)?;
        cur.expect_end()?;
        let value_span = start..cur.pos.max(start + 1);
        if block.seen.iter().any(|seen| seen == name) {
            return Err(error(at, format!("`.amdhsa_{name}` is given twice")));
        }
        block.seen.push(name.to_owned());
        if let Some(value) = self.known_number(value) {
            return self.kernel_field(name, value, at, value_span, target, block, descriptor);
        }
        let spans = [self.span_of(at), self.span_of(value_span)];
        block.later.push(Later { name: name.to_owned(), value, spans });
        Ok(())
    }

    /// Sets a field of a descriptor.
    #[allow(clippy::too_many_arguments)]
    fn kernel_field(
        &self,
        name: &str,
        value: i64,
        at: Range<usize>,
        value_span: Range<usize>,
        target: &Target,
        block: &mut Block,
        descriptor: &mut [u8; fields::SIZE],
    ) -> Result<()> {
        let limit = |max: u64| match u64::try_from(value) {
            Ok(value) if value <= max => Ok(value as u32),
            _ => Err(error(value_span.clone(), format!("`.amdhsa_{name}` takes a number from 0 to {max}"))),
        };
        let flag = || limit(1).map(|value| value != 0);
        match name {
            "next_free_vgpr" => block.next_free_vgpr = Some(limit(u32::MAX.into())?),
            "next_free_sgpr" => block.next_free_sgpr = Some(limit(u32::MAX.into())?),
            "user_sgpr_count" => block.user_sgpr_count = Some(limit(31)?),
            "reserve_vcc" => block.reserve_vcc = Some(flag()?),
            "reserve_flat_scratch" if DescriptorFields::RESERVE_FLAT_SCRATCH.has(target) => {
                block.reserve_flat_scratch = Some(flag()?)
            }
            "reserve_xnack_mask" if DescriptorFields::RESERVE_XNACK_MASK.has(target) => {
                block.reserve_xnack_mask = Some(flag()?)
            }
            "accum_offset" if target.has(Feature::UNIFIED_VGPRS) => match limit(256)? {
                offset if offset >= 4 && offset.is_multiple_of(4) => block.accum_offset = Some(offset),
                _ => return Err(error(value_span, "the offset is a multiple of 4 from 4 to 256")),
            },
            _ => match FIELDS.iter().find(|field| field.directive == Some(name)) {
                Some(field) if field.on.has(target) => {
                    let value = limit(field.max())?;
                    field.set(descriptor, value.into());
                    if *field == fields::WAVEFRONT_SIZE32 {
                        block.wave32 = Some(value != 0);
                    }
                }
                known => {
                    let special =
                        ["reserve_flat_scratch", "reserve_xnack_mask", "accum_offset"].contains(&name);
                    return Err(match known.is_some() || special {
                        true => error(at, format!("{} has no `.amdhsa_{name}`", target.name)),
                        false => error(at, format!("unknown directive `.amdhsa_{name}`")),
                    });
                }
            },
        }
        Ok(())
    }

    /// Computes the register counts of a descriptor, and checks that the required directives are there.
    fn finish_descriptor(
        &mut self,
        target: &Target,
        block: &Block,
        descriptor: &mut [u8; fields::SIZE],
        span: &Range<usize>,
    ) -> Result<()> {
        let fault = |message: String| error(span.clone(), message);
        let required = |value: Option<u32>, name: &str| {
            value.ok_or_else(|| error(span.clone(), format!("`.amdhsa_{name}` is required")))
        };
        let vgprs = required(block.next_free_vgpr, "next_free_vgpr")?;
        let sgprs = required(block.next_free_sgpr, "next_free_sgpr")?;
        let lanes = block.wave32.map_or(target.wave_size, |wave32| if wave32 { 32 } else { 64 });
        let target = target.with_wave_size(lanes).unwrap_or(target);
        let xnack = target.has(Feature::XNACK) && self.settings.feature(self.settings.xnack) != Some(false);
        let registers = Registers {
            vgprs,
            sgprs,
            vcc: block.reserve_vcc.unwrap_or(true),
            flat_scratch: block.reserve_flat_scratch.unwrap_or(true),
            xnack_mask: block.reserve_xnack_mask.unwrap_or(xnack),
        };
        registers.set(target, descriptor).map_err(|error| fault(error.to_string()))?;
        let shared = match fields::SHARED_VGPR_COUNT.on.has(target) {
            true => fields::SHARED_VGPR_COUNT.get(descriptor),
            false => 0,
        };
        if shared > 0 && block.wave32 == Some(true) {
            return Err(fault("`.amdhsa_shared_vgpr_count` is for wavefronts of 64 lanes".to_owned()));
        }
        if fields::VGPR_BLOCKS.get(descriptor) + 2 * shared > fields::VGPR_BLOCKS.max() {
            return Err(fault("`.amdhsa_shared_vgpr_count` and the VGPRs are too many together".to_owned()));
        }
        let implied = fields::user_sgprs(descriptor, target);
        let count = block.user_sgpr_count.unwrap_or(implied);
        if count < implied || count > 31 {
            let message = format!("the enabled user SGPRs are {implied}, more than the {count} there are");
            return Err(fault(message));
        }
        fields::USER_SGPR_COUNT.set(descriptor, count.into());
        if target.has(Feature::UNIFIED_VGPRS) {
            let offset = required(block.accum_offset, "accum_offset")?;
            if offset > vgprs.max(1).next_multiple_of(4) {
                return Err(error(span.clone(), "`.amdhsa_accum_offset` exceeds the VGPRs"));
            }
            fields::ACCUM_OFFSET.set(descriptor, u64::from(offset / 4 - 1));
        }
        Ok(())
    }

    /// Writes the descriptor at the current position and defines `name.kd`.
    fn write_descriptor(
        &mut self,
        name: &str,
        descriptor: &[u8; fields::SIZE],
        span: &Range<usize>,
    ) -> Result<()> {
        let place = self.place_of(span.start);
        let kernel = self.symbols.get_or_add(name, place);
        let label = format!("{name}.kd");
        self.define_label(&label, span.clone())?;
        let descriptor_symbol = self.symbols.get_or_add(&label, place);
        // The symbol of the descriptor gets the binding and visibility that the kernel's symbol has at this
        // point. If the visibility is the default, the kernel's symbol becomes protected afterwards, because
        // another object must not replace the kernel.
        let (mut binding, visibility) = (self.symbols[kernel].binding, self.symbols[kernel].visibility);
        if !self.symbols[kernel].is_defined() {
            binding.get_or_insert(sym::STB_GLOBAL);
        }
        let symbol = &mut self.symbols[descriptor_symbol];
        symbol.binding = binding;
        symbol.visibility = visibility;
        symbol.kind = sym::STT_OBJECT;
        symbol.size = Some(Value::Abs(fields::SIZE as i64));
        if visibility == 0 {
            self.symbols[kernel].visibility = sym::STV_PROTECTED;
        }
        let offset = self.here().1 + fields::ENTRY_OFFSET;
        self.emit(descriptor, span)?;
        let value = self.symbol_node(kernel, Specifier::None);
        self.register_used(value);
        let fixup_span = self.span_of(span.clone());
        self.current().fixups.push(Fixup { offset, value, kind: FixupKind::Entry, span: fixup_span });
        Ok(())
    }
}
