//! Tracks the active calls of a wave and checks that each called function preserves the registers that the
//! calling convention says it preserves.
//!
//! # Source
//!
//! The calling convention comes from crate `callconv` (see docs/calling-convention.md, column "LLVM 19").
//!
//! # How it works
//!
//! A call is an instruction that sets the program counter and writes a return address to SGPRs. A return is a
//! jump to that return address. A jump to the first instruction of a function is a tail call.
//!
//! Before a called function overwrites a register for the first time, the [`Watcher`], which observes the run
//! for strict mode, saves the register's value. When the function returns, the watcher compares the saved
//! values with the current ones; registers with different values were changed by the call. In a kernel
//! without calls, these checks cost one comparison for each instruction.
//!
//! # Consequences
//!
//! Every function must preserve certain registers, such as the stack pointer. If one of these registers has
//! changed, the watcher reports it when the function returns.
//!
//! A change to any other register may be harmless, because a caller may know which registers its callee
//! changes (LLVM allocates registers across calls). The watcher therefore marks such a register as undefined,
//! and reports only an instruction whose result depends on it. The report names the call.
//!
//! # Limits
//!
//! The watcher does not know which registers hold a function's results. It assumes that the results are in
//! the first VGPRs, in the lanes that were active at the call.

use super::findings::{Elsewhere, Finding, code_position, scalar_name, split_place, vector_name};
use super::touch::{Class, EXEC_BITS, Touch};
use super::{FaultClass, Watcher};
use crate::exec::Cx;
use crate::fault::Called;
use crate::functions::Functions;
use crate::op::{Op, Src};
use crate::wave::{ActiveLanes, Lanes, mode, reg};
use callconv::{After, Convention, RETURN_ADDRESS, Subject, column};
use isa::Subtarget;
use rustc_hash::FxHashMap;

/// Maximum number of active calls for which a frame is kept. In deeper recursion, the frames in the middle of
/// the chain are dropped, and only their number is kept.
const MAX_FRAMES: usize = 4096;
/// Number of outermost calls whose frames are never dropped.
const OUTER: usize = 16;
/// Maximum number of VGPRs whose old values are saved, summed over all active calls of a wave. This limits
/// memory use, because the old value of a VGPR takes 256 bytes.
const MAX_KEPT: usize = 1 << 14;
/// Number of calls that a report lists if the call chain is long. The first element of the pair counts the
/// innermost calls, the second the outermost calls.
const SHOWN: (usize, usize) = (8, 4);

/// Number that stands for SCC where this module identifies registers by numbers. SGPRs and special registers
/// have numbers below 128, and VGPRs have numbers from 256.
pub(super) const SCC: u16 = 253;
pub(super) const VECTORS: u16 = 256;

/// The rules of the calling convention, as masks of registers.
pub(crate) struct Rules {
    /// SGPRs that a call preserves.
    preserved: u128,
    /// Mask of the scalar registers on which compilers disagree, such as M0. Some callers rely on these
    /// registers after a call, although the convention does not make callees preserve them.
    disputed: u128,
    stack: usize,
    frame: usize,
    preserved_vectors: Vec<(u16, u16)>,
    results: std::ops::RangeInclusive<u16>,
    pub(super) lanes: u32,
    /// How much the stack pointer counts for each byte of a lane.
    pub(super) scale: u32,
}

impl Rules {
    pub(crate) fn new(target: &Subtarget, convention: Convention) -> Rules {
        let facts = column(convention);
        let preserved = callconv::preserved(convention, target);
        let bits = |&(from, to): &(u16, u16)| (from..=to.min(127)).fold(0u128, |bits, code| bits | 1 << code);
        let disputed = callconv::states(convention, target)
            .any(|state| state.subject == Subject::M0 && state.after == After::Disputed);
        let descriptor = callconv::scratch_descriptor(target);
        let scratch = descriptor.map_or(0, |range| ((1 << range.len) - 1) << range.first.0);
        let accumulators = preserved.agprs.iter().map(|&(from, to)| (from + 256, to + 256));
        Rules {
            preserved: preserved.sgprs.iter().map(bits).fold(scratch, |all, bits| all | bits),
            disputed: if disputed { 1 << reg::M0 } else { 0 },
            stack: facts.stack.pointer.into(),
            frame: facts.stack.frame.into(),
            preserved_vectors: preserved.vgprs.iter().copied().chain(accumulators).collect(),
            results: facts.result_vgprs.clone(),
            lanes: target.wave_size,
            scale: target.stack_scale(),
        }
    }

    /// Returns whether strict mode may overwrite a scalar register at a call in order to find errors. It may
    /// overwrite VCC, M0, and SGPRs up to the last one that calls preserve. It must not overwrite other
    /// registers, which belong to the system, or the `disputed` registers.
    pub(super) fn is_own(&self, register: u16) -> bool {
        let last = 127 - (self.preserved.leading_zeros() as u16);
        let is_other = [reg::VCC, reg::VCC + 1, reg::M0].contains(&register.into());
        (register <= last || is_other) && self.disputed >> register & 1 == 0
    }

    fn preserves(&self, register: u16) -> bool {
        match register.checked_sub(VECTORS) {
            Some(vector) => self.preserved_vectors.iter().any(|&(from, to)| (from..=to).contains(&vector)),
            None => register < 128 && self.preserved >> register & 1 != 0,
        }
    }
}

/// An active call of a function.
#[derive(Default)]
struct Frame {
    /// Code position of the call instruction.
    call: u32,
    /// Code position of the first instruction of the running function. After a tail call, the running
    /// function is the one to which the tail call jumped.
    callee: u32,
    /// Code position to which the function has to return.
    back: u32,
    /// Code position after the latest call that this function has made, once this call has returned.
    last_back: Option<u32>,
    exec: u64,
    mode: u32,
    stack: u32,
    frame: u32,
    flat_scratch: u64,
    /// Whether the call goes through a function pointer. The compiler of the caller then did not know which
    /// function is called.
    by_address: bool,
    /// Whether the call puts the return address in the SGPR pair that the calling convention specifies.
    is_convention: bool,
    /// Whether `scalars`, `scc` and `vectors` hold the old value of every register that was written since the
    /// call. Only then can the return compare the registers with their old values.
    is_proven: bool,
    /// Mask of the scalar registers whose old values are saved. The next field holds these values. The fields
    /// after it are the same for SCC and for VGPRs.
    scalars_noted: u128,
    scalars: Vec<(u8, u32)>,
    scc: Option<bool>,
    vectors_noted: [u64; 8],
    vectors: Vec<(u16, Box<Lanes>)>,
}

impl Frame {
    /// Saves the value of a VGPR that is about to be overwritten, unless an older value of it is already
    /// saved. Returns whether it saved the value, so that the caller can count saved VGPRs.
    fn note_vector(&mut self, register: usize, wave: &[Lanes]) -> bool {
        let (word, bit) = (register / 64, 1u64 << (register % 64));
        let (Some(values), Some(noted)) = (wave.get(register), self.vectors_noted.get_mut(word)) else {
            return false;
        };
        if *noted & bit != 0 {
            return false;
        }
        *noted |= bit;
        self.vectors.push((register as u16, Box::new(*values)));
        true
    }

    fn note_scalars(&mut self, mut bits: u128, sgpr: &[u32; 256]) {
        bits &= !self.scalars_noted;
        self.scalars_noted |= bits;
        while bits != 0 {
            let code = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            self.scalars.push((code as u8, sgpr[code]));
        }
    }

    /// Merges `inner`, the frame of a callee that has returned, into `self`, the frame of its caller. A frame
    /// has saved values of registers. If only the callee has saved a register, the caller has not written it,
    /// so the saved value is also the register's value at the start of the caller. `kept` counts the saved
    /// VGPRs of all frames, and decreases by those that are dropped.
    fn take(&mut self, inner: Frame, kept: &mut usize) {
        if !self.is_proven {
            *kept -= inner.vectors.len();
            return;
        }
        for (code, value) in inner.scalars {
            if self.scalars_noted >> code & 1 == 0 {
                self.scalars_noted |= 1 << code;
                self.scalars.push((code, value));
            }
        }
        self.scc = self.scc.or(inner.scc);
        for (register, values) in inner.vectors {
            let (word, bit) = (usize::from(register) / 64, 1u64 << (register % 64));
            if self.vectors_noted[word] & bit == 0 {
                self.vectors_noted[word] |= bit;
                self.vectors.push((register, values));
            } else {
                *kept -= 1;
            }
        }
    }

    fn forget(&mut self, kept: &mut usize) {
        *kept -= self.vectors.len();
        self.vectors = Vec::new();
        self.scalars = Vec::new();
        self.is_proven = false;
    }
}

/// A register that a call has changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Change {
    pub(super) call: u32,
    pub(super) callee: u32,
    pub(super) register: u16,
}

/// A position on the stack.
#[derive(Clone, Copy)]
struct OnStack {
    /// A byte position on the stack, given relative to the stack frame that contains it.
    callee: Option<u32>,
    offset: u32,
}

/// The active calls of a wave.
#[derive(Default)]
pub(super) struct Calls {
    frames: Vec<Frame>,
    /// Number of active calls whose frames have been dropped to save memory. These calls come between the
    /// first [`OUTER`] elements of `frames` and the remaining elements.
    gap: u64,
    /// Number of VGPRs saved in `frames`.
    kept: usize,
    changes: Vec<Change>,
    changes_by: FxHashMap<Change, u32>,
    /// Loads that read stack bytes that were never written. Maps the code position of each of these loads to
    /// the position of the bytes on the stack, for reports.
    loads: FxHashMap<u32, OnStack>,
}

impl Calls {
    /// Returns whether the wave is inside a called function.
    #[inline]
    pub(super) fn is_inside(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Saves the old values of the registers that the current instruction is about to overwrite, so that the
    /// return from the innermost call can be checked.
    pub(super) fn note_writes(&mut self, cx: &Cx<'_>, touch: &Touch) {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_proven) else { return };
        if touch.scalar_writes & !frame.scalars_noted != 0 {
            frame.note_scalars(touch.scalar_writes, &cx.wave.sgpr);
        }
        if touch.writes_scc {
            frame.scc.get_or_insert(cx.wave.scc);
        }
        let mut noted = 0;
        for register in touch.writes.registers() {
            noted += usize::from(frame.note_vector(register, &cx.wave.vgpr));
        }
        if noted > 0 {
            self.kept += noted;
            self.bound();
        }
    }

    /// Saves the old values of the registers that the current instruction is about to overwrite, if M0 takes
    /// part in selecting these registers (register indexing).
    pub(super) fn note_indexed(&mut self, cx: &Cx<'_>, touch: &Touch) {
        self.note_writes(cx, touch);
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_proven) else { return };
        let m0 = cx.wave.sgpr[reg::M0];
        for offset in [m0, m0 & 0xff] {
            for register in touch.writes.registers() {
                let register = register.wrapping_add(offset as usize);
                self.kept += usize::from(frame.note_vector(register, &cx.wave.vgpr));
            }
            if offset < 128 {
                frame.note_scalars(touch.scalar_writes << offset, &cx.wave.sgpr);
            }
        }
    }

    /// Saves the old value of a scalar register that the emulator itself, not an instruction, is about to
    /// overwrite.
    pub(super) fn note_scalar(&mut self, register: u16, cx: &Cx<'_>) {
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_proven) {
            frame.note_scalars(1 << register, &cx.wave.sgpr);
        }
    }

    /// Saves the old value of a VGPR that the emulator itself, not an instruction, is about to overwrite.
    pub(super) fn note_vector(&mut self, register: usize, cx: &Cx<'_>) {
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_proven) {
            self.kept += usize::from(frame.note_vector(register, &cx.wave.vgpr));
            self.bound();
        }
    }

    /// Saves the old value of SCC, which the emulator itself, not an instruction, is about to overwrite.
    pub(super) fn note_scc(&mut self, scc: bool) {
        if let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_proven) {
            frame.scc.get_or_insert(scc);
        }
    }

    /// Drops saved register values if more than [`MAX_KEPT`] VGPRs are saved, so that memory use stays
    /// bounded. Values saved for outer calls are dropped first. Registers are then not checked when these
    /// calls return.
    fn bound(&mut self) {
        if self.kept <= MAX_KEPT {
            return;
        }
        let innermost = self.frames.len() - 1;
        for frame in &mut self.frames[..innermost] {
            frame.forget(&mut self.kept);
        }
        if self.kept > MAX_KEPT {
            self.frames[innermost].forget(&mut self.kept);
        }
    }

    /// Handles a jump to `to` if the jump returns from one of the outermost [`OUTER`] calls. All calls inside
    /// this call have then ended as well. The function removes the frames of all these calls, and sets the
    /// number of dropped frames (`gap`) to 0. Returns whether the jump was such a return.
    fn leaves_gap(&mut self, to: u32) -> bool {
        let Some(at) = self.frames[..OUTER].iter().rposition(|frame| frame.back == to) else { return false };
        self.frames.truncate(at);
        self.gap = 0;
        true
    }

    fn push(&mut self, frame: Frame) {
        if self.frames.len() == MAX_FRAMES {
            // The frames of the [`OUTER`] outermost calls and the innermost half of the frames are kept. The
            // frames between them are dropped, and `gap` counts them.
            let middle = OUTER..MAX_FRAMES / 2;
            self.gap += middle.len() as u64;
            for mut frame in self.frames.drain(middle) {
                frame.forget(&mut self.kept);
            }
            // The dropped frames held the old values of registers that inner functions have written. Without
            // these values, the returns of the outer frames cannot be checked, so the values saved in the
            // outer frames are dropped, too.
            self.frames[..OUTER].iter_mut().for_each(|frame| frame.forget(&mut self.kept));
        }
        self.frames.push(frame);
    }

    /// Returns the active calls of the wave, innermost call first. The first element is the call of the
    /// function that the wave is executing.
    fn chain(&self) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        for (at, frame) in self.frames.iter().enumerate().rev() {
            let gap = if at + 1 == OUTER { self.gap } else { 0 };
            if let Some(last) = links.last_mut() {
                last.skipped += gap;
                if gap == 0 && last.skipped == 0 && (last.call, last.callee) == (frame.call, frame.callee) {
                    last.count += 1;
                    continue;
                }
            }
            links.push(Link { call: frame.call, callee: frame.callee, count: 1, skipped: 0 });
        }
        let (inner, outer) = SHOWN;
        if links.len() > inner + outer {
            let middle = inner..links.len() - outer;
            let skipped: u64 = links[middle.clone()].iter().map(|link| link.count + link.skipped).sum();
            links[inner - 1].skipped += skipped;
            links.drain(middle);
        }
        links
    }

    /// Returns where on the stack a byte of scratch is: the function whose frame contains the byte, and the
    /// offset of the byte in this frame. The byte is given by its offset in a lane's scratch. `scale` is how
    /// much the stack pointer counts for each byte of a lane.
    fn on_stack(&self, byte: u32, scale: u32) -> OnStack {
        let frame = self.frames.iter().rev().find(|frame| frame.stack / scale <= byte);
        match frame {
            Some(frame) => OnStack { callee: Some(frame.callee), offset: byte - frame.stack / scale },
            None => OnStack { callee: None, offset: byte },
        }
    }

    /// Records that the load at code position `load` has read stack bytes that were never written. A report
    /// can then name the stack frame. The position of the bytes is an offset in bytes in a lane's scratch.
    #[cold]
    pub(super) fn note_unwritten(&mut self, load: u32, byte: u32, scale: u32) {
        if self.is_inside() && !self.loads.contains_key(&load) {
            self.loads.insert(load, self.on_stack(byte, scale));
        }
    }

    pub(super) fn change(&mut self, change: Change) -> u32 {
        let next = self.changes.len() as u32;
        let number = *self.changes_by.entry(change).or_insert(next);
        if number == next {
            self.changes.push(change);
        }
        number
    }
}

/// A run of equal calls in a call chain, which a report shows as one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(super) call: u32,
    pub(super) callee: u32,
    /// Number of equal calls, each nested in the previous one.
    pub(super) count: u64,
    /// Number of calls that follow in the chain and that the report leaves out.
    pub(super) skipped: u64,
}

impl Link {
    /// Converts the call to the form that a report shows. The function `address` maps a code position to its
    /// file address.
    pub(crate) fn called(
        &self,
        functions: &Functions,
        address: impl Fn(u32) -> u64,
        source: impl Fn(u64) -> Option<codeobj::disasm::SourcePlace>,
    ) -> Called {
        let call = address(self.call);
        Called {
            function: functions.name(address(self.callee)),
            caller: functions.name(call),
            offset: call,
            source: source(call),
            count: self.count,
            skipped: self.skipped,
        }
    }
}

/// How an instruction takes part in calls and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// The instruction neither calls nor jumps to an address in registers.
    None,
    /// The instruction is a call. It writes the return address to the pair of SGPRs that begins with this
    /// number.
    Call(u16),
    /// The instruction jumps to the address in the pair of SGPRs that begins with this number.
    Jump(u16),
}

impl Watcher<'_> {
    pub(super) fn calls(&mut self) -> &mut Calls {
        &mut self.wave().calls
    }

    /// Returns the active calls of the current wave.
    pub(super) fn chain(&self) -> Vec<Link> {
        self.group.waves[self.group.now.wave].calls.chain()
    }

    /// Saves the old values of the registers that an instruction is about to overwrite. Must only be called
    /// while a called function is running.
    #[inline(never)]
    pub(super) fn note_overwritten(&mut self, cx: &Cx<'_>, op: &Op, touch: &Touch) {
        let is_indexed = cx.wave.gpr_idx && op.class == crate::op::Class::Valu;
        match is_indexed || touch.class == Class::Indexed {
            true => self.calls().note_indexed(cx, touch),
            false => self.calls().note_writes(cx, touch),
        }
    }

    /// Updates the chain of active calls after an instruction that calls a function or sets the program
    /// counter from registers (a return, a tail call, or an ordinary indirect jump).
    #[cold]
    pub(super) fn transfer(&mut self, cx: &mut Cx<'_>, op: &Op, touch: &Touch) {
        let to = code_position(cx.wave.range, cx.wave.pc);
        match touch.transfer {
            Transfer::None => {}
            Transfer::Call(link) => self.call(cx, op, link, to),
            Transfer::Jump(from) => self.jump(cx, from, to),
        }
    }

    fn call(&mut self, cx: &mut Cx<'_>, op: &Op, link: u16, to: u32) {
        self.wave().board.cross();
        let (call, rules) = (self.group.now.place, &self.shared.rules);
        // A caller that knows its callee computes the callee's address from the program counter, in the SGPR
        // pair that then receives the return address. A call whose target address is in another SGPR pair
        // therefore goes through a function pointer.
        let by_address = matches!(op.src[0], Src::S(code) if u16::from(code) != link);
        if self.shared.scramble.is_some() {
            self.scramble_call(cx, call, to, by_address);
        }
        let (range, pc) = split_place(call);
        let frame = Frame {
            call,
            callee: to,
            back: code_position(range, pc + u32::from(op.len)),
            exec: cx.wave.exec(),
            mode: cx.wave.mode(),
            stack: cx.wave.sgpr[rules.stack],
            frame: cx.wave.sgpr[rules.frame],
            flat_scratch: cx.wave.flat_scratch(),
            by_address,
            // A call that writes the return address to other SGPRs does not follow the calling convention, so
            // the convention's rules do not apply to the called function.
            is_convention: link == RETURN_ADDRESS,
            is_proven: link == RETURN_ADDRESS,
            ..Frame::default()
        };
        self.calls().push(frame);
    }

    fn jump(&mut self, cx: &mut Cx<'_>, from: u16, to: u32) {
        let calls = self.calls();
        let Some(frame) = calls.frames.last_mut() else { return };
        if frame.back == to {
            self.returned(cx);
            return;
        }
        if !frame.is_convention && calls.gap > 0 && calls.frames.len() == OUTER + 1 && calls.leaves_gap(to) {
            return;
        }
        let Some(frame) = calls.frames.last() else { return };
        let own_call = frame.last_back == Some(to) && from == RETURN_ADDRESS;
        let is_convention = frame.is_convention;
        let (callee, back) = (self.address(frame_callee(self)), self.address(to));
        let functions = &self.shared.functions;
        if functions.begins(back) {
            // A jump to the first instruction of a function is a tail call: the function takes the place of
            // the running one.
            if let Some(frame) = self.calls().frames.last_mut() {
                frame.callee = to;
            }
            return;
        }
        let leaves = functions.at(callee).is_some_and(|function| !function.has(back));
        if is_convention && (own_call || leaves) {
            self.lost_return(to, own_call);
        }
    }

    /// Returns the file address of a code position.
    fn address(&self, at: u32) -> u64 {
        self.shared.address(at)
    }

    fn name(&self, at: u32) -> String {
        self.shared.functions.name(self.address(at))
    }

    fn lost_return(&mut self, to: u32, own_call: bool) {
        let Some(frame) = self.calls().frames.last() else { return };
        let (call, callee, back) = (frame.call, frame.callee, frame.back);
        let (to, back) = (self.address(to), self.address(back));
        let name = self.name(callee);
        let message = match own_call {
            true => format!("`{name}` returns to {to:#x}, behind a call of its own, and not to {back:#x}"),
            false => format!(
                "`{name}` goes to {to:#x}, which is in another function, and was to return to {back:#x}"
            ),
        };
        let mut finding = self.finding(FaultClass::Convention, "return-address", message);
        finding.label = "goes elsewhere".into();
        finding.other = self.at_call(call, "called it");
        if own_call {
            finding.fix = Some("save s[30:31] before the call, and restore them before the return".into());
        }
        self.report(finding);
    }

    fn at_call(&self, call: u32, label: &str) -> Option<Elsewhere> {
        let wave = self.group.waves[self.group.now.wave].order.wave;
        Some(Elsewhere { place: call, wave, label: label.to_owned() })
    }

    /// Handles a return to the instruction after the call: removes the frame of the call and checks the
    /// registers that the function has changed.
    fn returned(&mut self, cx: &mut Cx<'_>) {
        self.wave().board.cross();
        let calls = self.calls();
        let Some(frame) = calls.frames.pop() else { return };
        if frame.is_convention {
            self.must_be_same(cx, &frame);
            self.lose_changed(cx, &frame);
        }
        let calls = self.calls();
        let (call, callee, by_address) = (frame.call, frame.callee, frame.by_address);
        if calls.frames.len() == OUTER && calls.gap > 0 {
            // The innermost call returns to a function whose frame was dropped to save memory. From now on,
            // the call of this function is the innermost one. It no longer counts as dropped.
            calls.gap -= 1;
            let gap = Frame { back: frame.back, call: frame.call, callee: frame.callee, ..Frame::default() };
            calls.kept -= frame.vectors.len();
            calls.frames.push(gap);
            return;
        }
        match calls.frames.last_mut() {
            Some(outer) => {
                outer.last_back = Some(frame.back);
                outer.take(frame, &mut calls.kept);
            }
            None => calls.kept -= frame.vectors.len(),
        }
        if self.shared.scramble.is_some() {
            self.scramble_return(cx, call, callee, by_address);
        }
    }

    /// Checks the registers that every function must preserve, such as the stack pointer, and reports the
    /// first of them that has changed.
    fn must_be_same(&mut self, cx: &Cx<'_>, frame: &Frame) {
        let (stack, fp) = (self.shared.rules.stack, self.shared.rules.frame);
        let name = self.name(frame.callee);
        let exec = cx.wave.exec();
        let kept_mode = |value: u32| value & !mode::CSP;
        let mut found = None;
        for (code, old, rule) in [(stack, frame.stack, "stack-pointer"), (fp, frame.frame, "frame-pointer")] {
            let (new, what) = (cx.wave.sgpr[code], rule.replace('-', " "));
            if old != new {
                let message =
                    format!("`{name}` returns with another {what}: s{code} is {new:#x}, and was {old:#x}");
                found.get_or_insert((rule, message));
            }
        }
        if exec != frame.exec {
            let message = format!("`{name}` returns with another EXEC: {exec:#x}, and was {:#x}", frame.exec);
            found = Some(("exec-not-restored", message));
        }
        let new = cx.wave.mode();
        if kept_mode(new) != kept_mode(frame.mode) {
            let message = format!("`{name}` returns in another MODE: {new:#x}, and was {:#x}", frame.mode);
            found = Some(("mode-not-restored", message));
        }
        if cx.wave.flat_scratch() != frame.flat_scratch {
            found =
                Some(("flat-scratch-not-restored", format!("`{name}` returns with another FLAT_SCRATCH")));
        }
        let Some((rule, message)) = found else { return };
        let mut finding = self.finding(FaultClass::Convention, rule, message);
        finding.label = "returns".into();
        // The frame of the returning call has already been removed from `frames`. So the call is added to the
        // call chain of the report here.
        match finding.calls.first_mut() {
            Some(link) if (link.call, link.callee) == (frame.call, frame.callee) => link.count += 1,
            _ => {
                let (call, callee) = (frame.call, frame.callee);
                finding.calls.insert(0, Link { call, callee, count: 1, skipped: 0 });
            }
        }
        finding.other = self.at_call(frame.call, "called it");
        self.report(finding);
    }

    /// Marks all registers that the returning function has changed as undefined, also those that it should
    /// have preserved. A report then follows only if later code depends on one of them.
    fn lose_changed(&mut self, cx: &Cx<'_>, frame: &Frame) {
        let (call, callee) = (frame.call, frame.callee);
        let kept_out = EXEC_BITS | self.shared.rules.disputed;
        for &(code, old) in &frame.scalars {
            let known = kept_out >> code & 1 != 0;
            if !known && cx.wave.sgpr[usize::from(code)] != old {
                let change = self.calls().change(Change { call, callee, register: code.into() });
                self.wave().defined.lose_scalar(code.into(), change);
            }
        }
        if frame.scc.is_some_and(|old| old != cx.wave.scc) {
            let change = self.calls().change(Change { call, callee, register: SCC });
            self.wave().defined.lose_scc(change);
        }
        for (register, old) in &frame.vectors {
            let Some(new) = cx.wave.vgpr.get(usize::from(*register)) else { continue };
            let all = if self.shared.rules.lanes == 64 { u64::MAX } else { u32::MAX.into() };
            let mut lanes = ActiveLanes(all)
                .filter(|&lane| old[lane] != new[lane])
                .fold(0u64, |lanes, lane| lanes | 1 << lane);
            if self.shared.rules.results.contains(register) {
                lanes &= !frame.exec;
            }
            if lanes != 0 {
                let change = self.calls().change(Change { call, callee, register: register + VECTORS });
                self.wave().defined.lose_vector((*register).into(), lanes, change);
            }
        }
    }

    /// Rewrites a finding about an undefined register, so that its text says that a call has changed the
    /// register. `number` is the index of the changed register in `changes`.
    pub(super) fn blame_call(&self, finding: &mut Finding, number: u32) {
        let calls = &self.group.waves[self.group.now.wave].calls;
        let Some(&Change { call, callee, register }) = calls.changes.get(number as usize) else { return };
        let (name, rules) = (self.name(callee), &self.shared.rules);
        let register_name = match register {
            SCC => "scc".to_owned(),
            VECTORS.. => vector_name(usize::from(register - VECTORS)),
            _ => scalar_name(register.into()),
        };
        finding.class = FaultClass::Convention;
        finding.rule = "clobbered-by-call".into();
        let changed = format!("which the call of `{name}` has changed");
        finding.message = finding.message.replace("which nothing has initialised", &changed);
        finding.other = self.at_call(call, &format!("called `{name}`, which has changed {register_name}"));
        let note = match rules.preserves(register) {
            true => format!("a call preserves {register_name}: `{name}` has to save and restore it"),
            false if register >= VECTORS && rules.results.contains(&(register - VECTORS)) => {
                format!(
                    "a call preserves {register_name} in lanes that are not active: `{name}` has to save and restore them"
                )
            }
            false => format!("a call does not preserve {register_name}: what it held has to be elsewhere"),
        };
        finding.notes.push(note);
    }

    /// Adds a note to a finding about a load of stack bytes that were never written. The note says in which
    /// function's frame the bytes are, and at which offset.
    pub(super) fn note_frame(&self, finding: &mut Finding, load: u32) {
        let calls = &self.group.waves[self.group.now.wave].calls;
        let Some(OnStack { callee, offset }) = calls.loads.get(&load) else { return };
        let whose = callee
            .map_or("the kernel's frame".into(), |callee| format!("the frame of `{}`", self.name(callee)));
        finding.notes.push(format!("it is byte {offset} of {whose} on the stack"));
    }
}

fn frame_callee(watcher: &Watcher<'_>) -> u32 {
    watcher.group.waves[watcher.group.now.wave].calls.frames.last().map_or(0, |frame| frame.callee)
}

impl super::GroupShadow {
    /// Returns the active calls of a wave, innermost first.
    pub(crate) fn calls(&self, wave: usize) -> Vec<Link> {
        self.waves.get(wave).map_or_else(Vec::new, |wave| wave.calls.chain())
    }

    /// Returns the stack frames of a wave's active calls, innermost first, for the report about stack use.
    /// Consecutive frames of the same function and size are one element. An element has the function (`None`
    /// for the kernel), the bytes of a lane's stack that each frame takes, and the number of frames. `stack`
    /// is the current value of the stack pointer, which counts `scale` for each byte of a lane.
    pub(crate) fn stack_frames(&self, wave: usize, stack: u32, scale: u32) -> Vec<(Option<u32>, u32, u64)> {
        let Some(shadow) = self.waves.get(wave) else { return Vec::new() };
        let mut end = stack;
        let mut found: Vec<(Option<u32>, u32, u64)> = Vec::new();
        let mut add = |callee: Option<u32>, bytes: u32| match found.last_mut() {
            Some((last, size, count)) if (*last, *size) == (callee, bytes) => *count += 1,
            _ => found.push((callee, bytes, 1)),
        };
        for frame in shadow.calls.frames.iter().rev() {
            add(Some(frame.callee), end.saturating_sub(frame.stack) / scale);
            end = frame.stack;
        }
        add(None, end / scale);
        found
    }
}
