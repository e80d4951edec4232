//! Converts what the checks of strict mode have found to reports ([`Report`]).

use super::calls::Link;
use super::defined::Origin;
use super::touch::Touch;
use super::{FaultClass, Report, Watcher};
use crate::exec::Cx;
use crate::fault::Location;

/// Encodes a code position, which identifies an instruction, in 32 bits. `range` is the index of the code
/// range, and `pc` the index of the instruction in that range.
pub(super) fn code_position(range: u32, pc: u32) -> u32 {
    range << 26 | pc & ((1 << 26) - 1)
}

/// Returns the code range and the index of the instruction that a code position encodes.
pub(crate) fn split_place(place: u32) -> (u32, u32) {
    (place >> 26, place & ((1 << 26) - 1))
}

/// The other instruction that a finding is about. A finding may be about two instructions; one of them is the
/// current instruction.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    pub(super) place: u32,
    /// Number of the wave in the dispatch, counted from 1.
    pub(super) wave: u32,
    pub(super) label: String,
}

/// A finding in the form that the checks use, to which the texts of instructions and source locations are
/// added later.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(super) class: FaultClass,
    pub(super) rule: String,
    pub(super) level: check::Level,
    pub(super) message: String,
    pub(super) place: u32,
    /// Index of the wave in the group.
    pub(super) wave: usize,
    pub(super) lane: Option<u32>,
    pub(super) label: String,
    pub(super) other: Option<Elsewhere>,
    /// The active calls of the wave.
    pub(super) calls: Vec<Link>,
    pub(super) notes: Vec<String>,
    pub(super) fix: Option<String>,
}

impl Finding {
    /// Converts the finding to a [`Report`] for the user. The function `locate` returns the source location
    /// for a code position, a wave of the dispatch (counted from 0) and a lane.
    pub(crate) fn report(
        self,
        first_wave: u32,
        locate: impl Fn(u32, u32, u32, Option<u32>, &[Link]) -> Location,
    ) -> Report {
        let at = |place: u32, wave: u32, lane, calls: &[Link]| {
            let (range, pc) = split_place(place);
            locate(range, pc, wave, lane, calls)
        };
        Report {
            class: self.class,
            rule: self.rule,
            level: self.level,
            message: self.message,
            at: at(self.place, first_wave - 1 + self.wave as u32, self.lane, &self.calls),
            at_label: self.label,
            other: self.other.map(|other| (at(other.place, other.wave - 1, None, &[]), other.label)),
            notes: self.notes,
            fix: self.fix,
        }
    }
}

impl Watcher<'_> {
    /// Creates a finding whose location is the current instruction. The caller adds the optional parts, such
    /// as notes and the fix.
    pub(super) fn finding(&self, class: FaultClass, rule: &str, message: String) -> Finding {
        Finding {
            class,
            rule: rule.to_owned(),
            level: super::rules::level(rule),
            message,
            place: self.group.now.place,
            wave: self.group.now.wave,
            lane: None,
            label: String::new(),
            other: None,
            calls: self.chain(),
            notes: Vec::new(),
            fix: None,
        }
    }

    /// Adds a finding to the results, unless it was already reported for the same instructions.
    #[cold]
    pub(super) fn report(&mut self, finding: Finding) {
        debug_assert!(super::rules::is_known(&finding.rule), "{} is no rule", finding.rule);
        if self.group.now.reported {
            return;
        }
        let other = finding.other.as_ref().map(|other| other.place);
        if self.shared.is_new(&finding.rule, finding.place, other) {
            // If a barrier is missing, a wave may read a value before another wave writes it. Strict mode
            // first finds that the value is undefined, and only later, at the write, that the accesses race.
            // The race explains the error better, so the run does not end yet at a finding about an undefined
            // value.
            self.group.now.stops = finding.class != FaultClass::Uninitialised;
            self.group.findings.push(finding);
            self.group.now.reported = true;
            if self.shared.uses_several_threads() {
                // On several host threads, timing decides which of the two accesses comes second, so the run
                // must be repeated on one thread.
                self.shared.cross();
            }
        }
    }

    /// Reports that control flow or EXEC depends on an undefined register.
    #[cold]
    pub(super) fn report_dependence(&mut self, cx: &Cx<'_>, touch: &Touch, exec: bool) {
        let wave = &self.group.waves[self.group.now.wave];
        let register = wave.defined.name_undefined(touch, cx.wave.exec());
        let (rule, what) = match exec {
            true => ("uninitialised-exec", "EXEC is set from"),
            false => ("uninitialised-branch", "the program's way depends on"),
        };
        let mut finding = self.finding(
            FaultClass::Uninitialised,
            rule,
            format!("{what} {register}, which nothing has initialised"),
        );
        finding.label = format!("uses {register}");
        self.report_undefined(finding, touch.lanes_read(cx.wave.exec()));
    }

    /// Reports an error that an undefined register causes. The report names the load or the call that made
    /// the register undefined in one of the given lanes.
    #[cold]
    pub(super) fn report_undefined(&mut self, mut finding: Finding, lanes: u64) {
        let wave = &self.group.waves[self.group.now.wave];
        match self.touch.map(|touch| wave.defined.origin(touch, lanes)).unwrap_or_default() {
            Origin::Load(place) => {
                let (wave, label) = (wave.order.wave, "found what nobody has written".to_owned());
                finding.other = Some(Elsewhere { place, wave, label });
                self.note_frame(&mut finding, place);
            }
            Origin::Call(change) => self.blame_call(&mut finding, change),
            Origin::Inactive(place) => {
                let wave = wave.order.wave;
                finding.rule = "inactive-lane".to_owned();
                finding.message = finding
                    .message
                    .replace("which nothing has initialised", "taken from a lane that was not active");
                let label = "read lanes that were not active".to_owned();
                finding.other = Some(Elsewhere { place, wave, label });
                finding.fix =
                    Some("the exchange where all lanes that are read are active: before the branch".into());
            }
            Origin::Unwritten => finding.notes.push("no instruction has written it before".into()),
        }
        self.report(finding);
    }
}

/// Returns the name of an SGPR or special register that has the given hardware code.
pub(super) fn scalar_name(code: u32) -> String {
    match code {
        102 => "flat_scratch_lo (s102)".into(),
        103 => "flat_scratch_hi (s103)".into(),
        106 => "vcc_lo".into(),
        107 => "vcc_hi".into(),
        124 => "m0".into(),
        126 => "exec_lo".into(),
        127 => "exec_hi".into(),
        code => format!("s{code}"),
    }
}

/// Returns the name of a VGPR, by its index in `Wave::vgpr`.
pub(super) fn vector_name(register: usize) -> String {
    if register < 256 { format!("v{register}") } else { format!("a{}", register - 256) }
}
