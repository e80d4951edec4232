//! Checks each executed instruction for accesses to registers in flight and for missing wait states. The
//! scoreboard of crate `check` makes these checks, here for the executed path and in the static checker for
//! all paths.

use super::findings::{Elsewhere, code_position};
use super::touch::Touch;
use super::{FaultClass, Watcher};
use crate::exec::Cx;
use crate::flight::{InFlight, Operation};
use crate::op::Code;
use crate::wave::{ActiveLanes, SHARED_APERTURE};
use check::{Counter, FlatPath, Problem, Site};
use isa::decode::Decoder;
use isa::{MachInst, Operand, RegRange, Setting, Target, op};

/// All code ranges in the form that the scoreboard needs.
pub(super) struct Program {
    pub(super) code: check::Code,
    /// For each code range, the site of its first dword. A site is the scoreboard's number of an instruction.
    first: Vec<Site>,
}

impl Program {
    pub(super) fn new(target: &'static Target, xnack: Setting, ranges: &[Code]) -> Program {
        let decoder = Decoder::new(target);
        let mut code = check::Code::new(target, xnack);
        let nothing = MachInst::new(op::S_NOP, &[Operand::Imm(0)]);
        let mut first = Vec::new();
        for range in ranges {
            first.push(code.len() as Site);
            for at in 0..range.words.len() {
                // An instruction is decoded at every dword, because the loop does not know where instructions
                // start. In the middle of a longer instruction this gives a wrong instruction, which does no
                // harm because it is never executed.
                let words = &range.words[at..];
                let decoded = decoder.as_ref().and_then(|decoder| {
                    decoder.decode(words).or_else(|_| decoder.decode_tolerant(words)).ok()
                });
                code.add(&decoded.map_or(nothing, |(inst, _)| inst));
            }
        }
        Program { code, first }
    }

    #[inline]
    fn site(&self, range: u32, pc: u32) -> Option<Site> {
        Some(self.first.get(range as usize)? + pc)
    }

    fn code_position(&self, site: Site) -> u32 {
        let (range, index) = self.index(site);
        code_position(range, index)
    }

    /// Converts a site (the scoreboard's number of an instruction) to the index of the code range and the
    /// index of the instruction in that range.
    fn index(&self, site: Site) -> (u32, u32) {
        let range = self.first.partition_point(|&first| first <= site).saturating_sub(1);
        (range as u32, site - self.first[range])
    }
}

impl Watcher<'_> {
    /// Checks whether an instruction that is about to run accesses registers in flight, or runs before enough
    /// wait states have passed.
    #[inline]
    pub(super) fn issue(&mut self, cx: &Cx<'_>, touch: &Touch) {
        let program = &self.shared.reading.program;
        let Some(site) = program.site(cx.wave.range, cx.wave.last) else { return };
        let path = if touch.is_flat { flat_path(cx, touch) } else { FlatPath::Unknown };
        let now = &mut self.group.now;
        let board = &mut self.group.waves[now.wave].board;
        let hazards = &mut now.hazards;
        board.issue_on(&program.code, site, path, &mut |finding| hazards.push(finding));
        if !self.group.now.hazards.is_empty() || touch.single.is_some() {
            self.report_hazards(touch);
        }
    }

    /// Returns the outstanding operations of a wave.
    pub(super) fn under_way(&self, wave: u32) -> Option<InFlight> {
        let board = &self.group.waves.get(wave as usize)?.board;
        let program = &self.shared.reading.program;
        let target = program.code.target();
        let counters = Counter::ALL.into_iter().filter(|&counter| Counter::max(counter, target) > 0);
        let operation = |pending: check::Pending| Operation {
            at: (pending.site != check::CALLER).then(|| program.index(pending.site)),
            registers: pending.registers.groups().collect(),
            writes: pending.writes,
            performed: None,
            waits: pending.waits.to_vec(),
        };
        Some(InFlight {
            counters: counters.map(|counter| (counter, board.outstanding(counter))).collect(),
            operations: board.pending(&program.code).map(operation).collect(),
        })
    }

    #[cold]
    fn report_hazards(&mut self, touch: &Touch) {
        let found = std::mem::take(&mut self.group.now.hazards);
        for hazard in &found {
            self.report_hazard(hazard);
        }
        self.group.now.hazards = found;
        self.group.now.hazards.clear();
        if let Some(rule) = touch.single.filter(|rule| rule.level >= self.shared.level) {
            let mut finding = self.finding(FaultClass::Hazard, rule.id, rule.name.to_owned());
            finding.level = rule.level;
            finding.label = "wrong wherever it stands".into();
            finding.fix = Some(rule.mitigation.to_owned());
            self.report(finding);
        }
    }

    fn report_hazard(&mut self, hazard: &check::Finding) {
        let shared = self.shared;
        // The rules of the static checker about memory are skipped here. The modules `transfers` and
        // `writeback` find the same errors more exactly, because they know the addresses of the accesses.
        let of_memory = |id| {
            check::transfers::RULES.iter().any(|rule| rule.id == id)
                || id == check::writeback::NOT_WRITTEN_BACK.id
        };
        if hazard.level() < shared.level || of_memory(hazard.id()) {
            return;
        }
        let me = self.group.first_wave + self.group.now.wave as u32;
        let name = hazard.registers.map_or("a register".into(), RegRange::name);
        let (first, second) = match hazard.problem {
            Problem::InFlight { access, .. } => {
                let second = match access {
                    check::Access::Reads => format!("reads {name} too early"),
                    check::Access::Writes => format!("writes {name}, which the load will overwrite"),
                    check::Access::Overwrites => format!("overwrites {name} before it has been read"),
                    check::Access::Returns => format!("returns {name} to its caller"),
                };
                (format!("has {name} in flight from here on"), second)
            }
            _ if hazard.first == hazard.second => (String::new(), "here".into()),
            Problem::Hazard { .. } | Problem::Event { .. } => {
                ("the first of the two".into(), "comes too soon".into())
            }
        };
        let mut finding = self.finding(FaultClass::Hazard, hazard.id(), hazard.to_string());
        finding.level = hazard.level();
        finding.label = second;
        if hazard.first != check::CALLER && hazard.first != hazard.second {
            let place = shared.reading.program.code_position(hazard.first);
            finding.other = Some(Elsewhere { place, wave: me, label: first });
        }
        if let Some(counter) = hazard.counter() {
            let board = &self.group.waves[self.group.now.wave].board;
            let state = |counter: Counter| format!("{} {}", counter.name(), board.outstanding(counter));
            let used =
                Counter::ALL.into_iter().filter(|&other| other == counter || board.outstanding(other) != 0);
            finding.notes.push(format!("counters here: {}", used.map(state).collect::<Vec<_>>().join(", ")));
        }
        finding.fix = Some(format!("`{}` before it", hazard.mitigation()));
        self.report(finding);
    }
}

/// Returns which memory the lanes of a flat access go to.
fn flat_path(cx: &Cx<'_>, touch: &Touch) -> FlatPath {
    let Some(run) = touch.address.as_slice().first() else { return FlatPath::Unknown };
    let Some(high) = cx.wave.vgpr.get(usize::from(run.first) + 1) else { return FlatPath::Unknown };
    let (mut lds, mut memory) = (false, false);
    for lane in ActiveLanes(cx.wave.exec()) {
        let is_lds = high[lane] == SHARED_APERTURE;
        lds |= is_lds;
        memory |= !is_lds;
    }
    match (lds, memory) {
        (true, false) => FlatPath::Lds,
        (false, true) => FlatPath::Memory,
        _ => FlatPath::Unknown,
    }
}
