//! Hazards that wait states do not mitigate. To mitigate such a hazard, code needs an instruction of a
//! particular kind between the two instructions of the hazard.
//!
//! # Source
//! GFX10.1: the hazards that LLVM's `GCNHazardRecognizer` mitigates on gfx1010-gfx1013
//! (`FeatureISAVersion10_1_Common`), by behaviour; no manual describes them. `vccz`: errata of Southern
//! Islands and Sea Islands as LLVM knows them (`hasReadVCCZBug`, `partialVCCWritesUpdateVCCZ`). Clauses: GCN3
//! ISA 4.5 and Vega ISA 4.5, "SMEM clauses" under XNACK.

use crate::code::Code;
use crate::effects::{Effects, Kinds};
use crate::finding::{EventRule, Finding, Level, Problem, Site};
use crate::regset::RegSet;
use isa::target::KnownHazards;
use isa::{Reg, RegRange, Setting};
use smallvec::SmallVec;

/// Rule of GFX10.1: a vector memory, LDS or flat instruction reads an SGPR, and then SALU or SMEM writes this
/// SGPR.
pub static VMEM_SCALAR_WRITE: EventRule = EventRule {
    id: "vmem-scalar-write",
    name: "SGPR is overwritten that a vector memory instruction may still read",
    mitigation: "s_waitcnt_depctr 0xffe3",
    source: "llvm: VMEMtoScalarWriteHazard",
    level: Level::Certain,
};
/// Rule of GFX10.1: SMEM reads an SGPR, and then VALU writes this SGPR.
pub static SMEM_VECTOR_WRITE: EventRule = EventRule {
    id: "smem-vector-write",
    name: "SGPR is overwritten by VALU that a scalar memory instruction may still read",
    mitigation: "s_mov_b32 null, 0",
    source: "llvm: SMEMtoVectorWriteHazard",
    level: Level::Certain,
};
/// Rule of GFX10.1: an instruction that is not VALU reads EXEC, and then VALU writes EXEC.
pub static CMPX_EXEC: EventRule = EventRule {
    id: "vcmpx-exec-war",
    name: "EXEC is overwritten by v_cmpx while another instruction may still read it",
    mitigation: "s_waitcnt_depctr 0xfffe",
    source: "llvm: VcmpxExecWARHazard",
    level: Level::Certain,
};
/// Rule of GFX10.1: `v_cmpx` is followed by `v_permlane` without a VALU instruction between them.
pub static CMPX_PERMLANE: EventRule = EventRule {
    id: "vcmpx-permlane",
    name: "v_permlane after v_cmpx without a VALU instruction in between",
    mitigation: "v_mov_b32 v0, v0 (any VALU instruction but v_nop)",
    source: "llvm: VcmpxPermlaneHazard",
    level: Level::Certain,
};
/// Rule of GFX10.1: an LDS instruction is followed by a branch, and then by a vector memory instruction. The
/// order of LDS and vector memory may also be the opposite.
pub static LDS_BRANCH_VMEM: EventRule = EventRule {
    id: "lds-branch-vmem-war",
    name: "LDS and vector memory on the two sides of a branch",
    mitigation: "s_waitcnt_vscnt null, 0",
    source: "llvm: LdsBranchVmemWARHazard",
    level: Level::Certain,
};
/// Rule of processors before GFX10: a branch reads `vccz` while `vccz` may not yet agree with VCC.
pub static VCCZ: EventRule = EventRule {
    id: "vccz-stale",
    name: "branch on vccz, which may not be what vcc says",
    mitigation: "s_mov_b64 vcc, vcc (with lgkmcnt 0)",
    source: "llvm: hasReadVCCZBug (GFX6, GFX7), partialVCCWritesUpdateVCCZ (before GFX10)",
    level: Level::Certain,
};
/// Rule for processors with XNACK: an instruction in a clause overwrites a source of an earlier memory
/// instruction of the clause. The hardware may replay that memory instruction, which then reads the new
/// value.
pub static CLAUSE: EventRule = EventRule {
    id: "xnack-clause",
    name: "source of a memory instruction is overwritten in its clause, which XNACK may replay",
    mitigation: "s_nop 0",
    source: "GCN3; Vega; llvm: checkSoftClauseHazards",
    level: Level::Certain,
};
/// Variant of [`CLAUSE`] for two instructions that are farther apart than LLVM looks. LLVM does not prevent
/// the hazard at this distance, so the level is lower.
pub static LONG_CLAUSE: EventRule = EventRule {
    id: "xnack-long-clause",
    name: "source of a memory instruction is overwritten far on in its clause, which XNACK may replay",
    level: Level::Manual,
    ..CLAUSE
};
/// Rule for processors with XNACK: a store follows a load in the same clause. A replay of the load would read
/// what the store has written.
pub static CLAUSE_STORE: EventRule = EventRule {
    id: "xnack-clause-store",
    name: "store in a clause with a load, which XNACK may replay",
    mitigation: "s_nop 0",
    source: "llvm: checkSoftClauseHazards",
    level: Level::Certain,
};

/// Variant of [`CLAUSE`] for code whose target id leaves open whether the hardware may replay memory
/// instructions.
pub static OPEN_CLAUSE: EventRule = EventRule { level: Level::Manual, ..CLAUSE };
/// Variant of [`CLAUSE_STORE`] for code whose target id leaves open whether the hardware may replay memory
/// instructions.
pub static OPEN_CLAUSE_STORE: EventRule = EventRule { level: Level::Manual, ..CLAUSE_STORE };

/// All rules of this module, one for each name. A variant for target ids that leave XNACK open has the same
/// name as its rule, so it is left out.
pub static EVENT_RULES: [&EventRule; 9] = [
    &VMEM_SCALAR_WRITE,
    &SMEM_VECTOR_WRITE,
    &CMPX_EXEC,
    &CMPX_PERMLANE,
    &LDS_BRANCH_VMEM,
    &VCCZ,
    &CLAUSE,
    &LONG_CLAUSE,
    &CLAUSE_STORE,
];

/// Number of previous instructions that LLVM's hazard recognizer examines (`MaxLookAhead`).
const LLVM_LOOKS_BACK: Site = 5;

/// Instructions that clauses consist of.
const CLAUSE_KINDS: Kinds = Kinds::SMEM.union(Kinds::VMEM).union(Kinds::FLAT);

/// The hazards that need earlier instructions of a particular kind, other than the hazards of `vccz` and of
/// clauses.
const PENDING: KnownHazards = KnownHazards::VMEM_SCALAR_WRITE
    .union(KnownHazards::SMEM_VECTOR_WRITE)
    .union(KnownHazards::VCMPX_EXEC_WAR)
    .union(KnownHazards::VCMPX_PERMLANE)
    .union(KnownHazards::LDS_BRANCH_VMEM_WAR);

/// Which of the hazards in this module a processor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Has {
    /// The hazards of the processor's family.
    pub(crate) hazards: KnownHazards,
    /// Whether memory instructions form clauses that may be replayed.
    pub(crate) clauses: bool,
}

impl Has {
    /// Returns whether `vccz` may be wrong.
    fn has_vccz(self) -> bool {
        self.hazards.intersects(KnownHazards::VCCZ_AFTER_SMEM.union(KnownHazards::VCCZ_AFTER_HALF_WRITE))
    }

    /// Returns whether an instruction has to be examined, because it may take part in one of the hazards.
    #[inline(always)]
    pub(crate) fn concerns(self, effects: &Effects, events: &Events) -> bool {
        // Any other instruction only ends the current clause.
        let clauses = || !events.clause.is_empty() || effects.kinds.intersects(CLAUSE_KINDS);
        self.hazards.intersects(PENDING) || self.has_vccz() && effects.vccz || self.clauses && clauses()
    }
}

/// Sorted numbers of instructions.
type Sites = SmallVec<[Site; 4]>;

/// Earlier instructions that may still cause a hazard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Events {
    /// Vector memory instructions that may not have read their scalar registers yet.
    vmem: Sites,
    /// Scalar memory instructions that may not have read their scalar registers yet.
    smem: Sites,
    /// An instruction that is not VALU and reads EXEC.
    exec: Option<Site>,
    cmpx: Option<Site>,
    /// The last memory instruction, if it accesses LDS. The next field, `lds_branch`, says that a branch has
    /// followed this instruction.
    lds: Option<Site>,
    lds_branch: Option<Site>,
    /// The last memory instruction, if it accesses vector memory. The next field, `vector_branch`, says that
    /// a branch has followed this instruction.
    vector: Option<Site>,
    vector_branch: Option<Site>,
    /// The instruction after which `vccz` does not agree with VCC.
    vccz: Option<Site>,
    clause: Sites,
}

fn add(sites: &mut Sites, site: Site) -> bool {
    match sites.binary_search(&site) {
        Ok(_) => false,
        Err(place) => {
            sites.insert(place, site);
            true
        }
    }
}

fn join_sites(sites: &mut Sites, other: &Sites) -> bool {
    let mut changed = false;
    for &site in other {
        changed |= add(sites, site);
    }
    changed
}

fn join_site(site: &mut Option<Site>, other: Option<Site>) -> bool {
    match (*site, other) {
        (None, Some(_)) => {
            *site = other;
            true
        }
        _ => false,
    }
}

const VCC: RegRange = RegRange { first: Reg::VCC, len: 2 };
const EXEC: RegRange = RegRange { first: Reg::EXEC, len: 2 };

impl Events {
    /// Joins the state of another path into this state. Returns whether this state has changed.
    pub(crate) fn join(&mut self, other: &Events) -> bool {
        join_sites(&mut self.vmem, &other.vmem)
            | join_sites(&mut self.smem, &other.smem)
            | join_site(&mut self.exec, other.exec)
            | join_site(&mut self.cmpx, other.cmpx)
            | join_site(&mut self.lds, other.lds)
            | join_site(&mut self.lds_branch, other.lds_branch)
            | join_site(&mut self.vector, other.vector)
            | join_site(&mut self.vector_branch, other.vector_branch)
            | join_site(&mut self.vccz, other.vccz)
            | join_sites(&mut self.clause, &other.clause)
    }

    /// Removes the recorded instructions for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: impl Fn(Site) -> bool) {
        for sites in [&mut self.vmem, &mut self.smem, &mut self.clause] {
            sites.retain(|site| keep(*site));
        }
        let Events { exec, cmpx, lds, lds_branch, vector, vector_branch, vccz, vmem: _, smem: _, clause: _ } =
            self;
        for site in [exec, cmpx, lds, lds_branch, vector, vector_branch, vccz] {
            *site = site.filter(|site| keep(*site));
        }
    }

    /// Returns the instructions of all events.
    pub(crate) fn sites(&self) -> Sites {
        let Events { exec, cmpx, lds, lds_branch, vector, vector_branch, vccz, vmem, smem, clause } = self;
        let mut sites: Sites = [exec, cmpx, lds, lds_branch, vector, vector_branch, vccz]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        sites.extend([vmem, smem, clause].into_iter().flatten().copied());
        sites
    }

    /// Returns whether the state has an event of an instruction.
    pub(crate) fn has(&self, site: Site) -> bool {
        let Events { exec, cmpx, lds, lds_branch, vector, vector_branch, vccz, vmem, smem, clause } = self;
        [exec, cmpx, lds, lds_branch, vector, vector_branch, vccz].into_iter().any(|one| *one == Some(site))
            || [vmem, smem, clause].into_iter().any(|sites| sites.contains(&site))
    }

    /// Checks an instruction and updates the state. `scalar_pending` says whether scalar memory operations
    /// are in flight.
    pub(crate) fn issue(
        &mut self,
        code: &Code,
        site: Site,
        effects: &Effects,
        scalar_pending: bool,
        sink: &mut impl FnMut(Finding),
    ) {
        let mut report = |first, registers: Option<RegRange>, rule| {
            sink(Finding {
                first,
                second: site,
                registers,
                problem: Problem::Event { rule },
                is_doubtful: false,
            });
        };
        if code.has.hazards.intersects(PENDING) {
            let mut report = |first, registers, rule, hazard| {
                if code.has.hazards.contains(hazard) {
                    report(first, registers, rule);
                }
            };
            self.scalar_writes(code, effects, &mut report);
            self.exec_writes(effects, &mut report);
            self.branches(effects, &mut report);
            self.update_pending(site, effects);
        }
        if code.has.has_vccz() {
            self.vccz(code, site, effects, scalar_pending, &mut report);
        }
        if code.has.clauses {
            self.clauses(code, site, effects, &mut report);
        }
    }

    fn scalar_writes(
        &self,
        code: &Code,
        effects: &Effects,
        report: &mut impl FnMut(Site, Option<RegRange>, &'static EventRule, KnownHazards),
    ) {
        let mut written = effects.writes.and(&RegSet::SCALAR);
        if effects.kinds.contains(Kinds::SAVEEXEC) {
            // LLVM considers only the explicit destination of the instruction for this hazard, and not its
            // implicit write to EXEC.
            written = written.without(&RegSet::from_range(EXEC));
        }
        if written.is_empty() {
            return;
        }
        let (sites, (rule, hazard)) = match effects.kinds {
            kinds if kinds.intersects(Kinds::SALU | Kinds::SOPP | Kinds::SMEM) => {
                (&self.vmem, (&VMEM_SCALAR_WRITE, KnownHazards::VMEM_SCALAR_WRITE))
            }
            kinds if kinds.contains(Kinds::VALU) => {
                (&self.smem, (&SMEM_VECTOR_WRITE, KnownHazards::SMEM_VECTOR_WRITE))
            }
            _ => return,
        };
        for &first in sites {
            let common = code.effects(first).reads.and(&written);
            if !common.is_empty() {
                report(first, common.first_group(), rule, hazard);
            }
        }
    }

    fn exec_writes(
        &self,
        effects: &Effects,
        report: &mut impl FnMut(Site, Option<RegRange>, &'static EventRule, KnownHazards),
    ) {
        let valu = effects.kinds.contains(Kinds::VALU);
        if let (true, Some(first)) = (valu && effects.writes.intersects(&RegSet::from_range(EXEC)), self.exec)
        {
            report(first, Some(EXEC), &CMPX_EXEC, KnownHazards::VCMPX_EXEC_WAR);
        }
        if let (true, Some(first)) = (effects.kinds.contains(Kinds::PERMLANE), self.cmpx) {
            report(first, None, &CMPX_PERMLANE, KnownHazards::VCMPX_PERMLANE);
        }
    }

    fn branches(
        &self,
        effects: &Effects,
        report: &mut impl FnMut(Site, Option<RegRange>, &'static EventRule, KnownHazards),
    ) {
        let other = match memory_side(effects.kinds) {
            Some(Side::Lds) => self.vector_branch,
            Some(Side::Vector) => self.lds_branch,
            None => None,
        };
        if let Some(first) = other {
            report(first, None, &LDS_BRANCH_VMEM, KnownHazards::LDS_BRANCH_VMEM_WAR);
        }
    }

    /// Updates the state for the hazards [`PENDING`]. The instruction may be the first instruction of a
    /// hazard, and it may mitigate hazards of earlier instructions.
    fn update_pending(&mut self, site: Site, effects: &Effects) {
        let kinds = effects.kinds;
        let valu = kinds.contains(Kinds::VALU);
        let (vm_vsrc, sa_sdst) = effects.depctr;
        let waits_all = effects.op == isa::op::S_WAITCNT && effects.waits.0[..3] == [0; 3];
        if valu || waits_all || vm_vsrc {
            self.vmem.clear();
        }
        if kinds.intersects(Kinds::VMEM | Kinds::FLAT | Kinds::DS)
            && effects.reads.intersects(&RegSet::SCALAR)
        {
            add(&mut self.vmem, site);
        }
        let lgkm = crate::Counter::Lgkm as usize;
        let chain = kinds.contains(Kinds::SALU) && !kinds.contains(Kinds::NO_SALU_CHAIN);
        if chain || kinds.contains(Kinds::WAIT) && effects.waits.0[lgkm] == 0 {
            self.smem.clear();
        }
        if kinds.contains(Kinds::SMEM) {
            add(&mut self.smem, site);
        }
        if valu && effects.writes.intersects(&RegSet::SCALAR) || sa_sdst {
            self.exec = None;
        } else if !valu && effects.reads.intersects(&RegSet::from_range(EXEC)) {
            self.exec = Some(site);
        }
        if kinds.contains(Kinds::CMPX) {
            self.cmpx = Some(site);
        } else if valu && !kinds.contains(Kinds::V_NOP) {
            self.cmpx = None;
        }
        let vs = crate::Counter::Vs as usize;
        match memory_side(kinds) {
            Some(side) => {
                (self.lds, self.lds_branch, self.vector, self.vector_branch) = (None, None, None, None);
                match side {
                    Side::Lds => self.lds = Some(site),
                    Side::Vector => self.vector = Some(site),
                }
            }
            None if effects.waits.0[vs] == 0 => {
                (self.lds, self.lds_branch, self.vector, self.vector_branch) = (None, None, None, None);
            }
            None if kinds.contains(Kinds::BRANCH) => {
                self.lds_branch = self.lds_branch.or(self.lds);
                self.vector_branch = self.vector_branch.or(self.vector);
            }
            None => {}
        }
    }

    fn vccz(
        &mut self,
        code: &Code,
        site: Site,
        effects: &Effects,
        scalar_pending: bool,
        report: &mut impl FnMut(Site, Option<RegRange>, &'static EventRule),
    ) {
        let after_smem = code.has.hazards.contains(KnownHazards::VCCZ_AFTER_SMEM);
        let reads = effects.kinds.contains(Kinds::VCCZ_BRANCH) || effects.reads.contains(Reg::VCCZ);
        if let (true, Some(first)) = (reads, self.vccz) {
            report(first, Some(VCC), &VCCZ);
        }
        if effects.kinds.contains(Kinds::SMEM) {
            if after_smem {
                self.vccz = Some(site);
            }
            return;
        }
        match (effects.writes.contains(VCC.first), effects.writes.contains(VCC.first.offset(1))) {
            (true, true) if scalar_pending && after_smem => self.vccz = self.vccz.or(Some(site)),
            (true, true) => self.vccz = None,
            (false, false) => {}
            _ if code.has.hazards.contains(KnownHazards::VCCZ_AFTER_HALF_WRITE) => self.vccz = Some(site),
            _ => {}
        }
    }

    fn clauses(
        &mut self,
        code: &Code,
        site: Site,
        effects: &Effects,
        report: &mut impl FnMut(Site, Option<RegRange>, &'static EventRule),
    ) {
        let kind = |kinds: Kinds| match kinds {
            kinds if kinds.contains(Kinds::SMEM) => 1,
            kinds if kinds.intersects(Kinds::VMEM | Kinds::FLAT) && code.vector_clauses => 2,
            _ => 0,
        };
        let own = kind(effects.kinds);
        if own == 0 || self.clause.first().is_some_and(|&first| kind(code.effects(first).kinds) != own) {
            self.clause.clear();
        }
        if own == 0 {
            return;
        }
        // A finding is certain only within the distance in which LLVM prevents this hazard. The members of a
        // clause follow each other directly, so the distance is the number of instructions.
        let near = self.clause.iter().position(|member| site.abs_diff(*member) <= LLVM_LOOKS_BACK);
        let near = near.map_or(&[][..], |first| &self.clause[first..]);
        let is_near = spoilt(code, near, site).is_some();
        let found = if is_near { spoilt(code, near, site) } else { spoilt(code, &self.clause, site) };
        if let Some((first, registers, rule)) = found {
            let is_store = std::ptr::eq(rule, &CLAUSE_STORE);
            let is_open = code.xnack() == Setting::Any;
            let rule = match (is_store, is_near, is_open) {
                (true, _, true) => &OPEN_CLAUSE_STORE,
                (false, true, true) => &OPEN_CLAUSE,
                (false, false, _) => &LONG_CLAUSE,
                _ => rule,
            };
            report(first, registers, rule);
            self.clause.clear();
        }
        add(&mut self.clause, site);
    }
}

/// Returns the hazard between an instruction and the earlier members of its clause, if there is one. The
/// first part of the result is the member that would be replayed with changed registers or changed memory.
fn spoilt(code: &Code, members: &[Site], site: Site) -> Option<(Site, Option<RegRange>, &'static EventRule)> {
    let effects = code.effects(site);
    // If the clause has only stores, it has no load that could be replayed. LLVM decides in the same way.
    let load = members.iter().rev().copied().find(|member| !code.effects(*member).writes.is_empty())?;
    if effects.kinds.contains(Kinds::STORES) {
        return Some((load, None, &CLAUSE_STORE));
    }
    // A load that writes one half of a register keeps the other half. The kept half does not count as a
    // source, because a replay loads it again.
    let common = |reads: &RegSet, writes: &RegSet| reads.and(writes).first_group();
    let overwritten = members.iter().rev().find_map(|&member| {
        let theirs = code.effects(member);
        let registers = common(&theirs.reads_at_issue, &effects.writes)
            .or(common(&effects.reads_at_issue, &theirs.writes))?;
        Some((member, registers))
    });
    let own = || Some((load, common(&effects.reads_at_issue, &effects.writes)?));
    // A load among the members may overwrite its own source or that of another member. When this load was
    // issued, the clause had no other load, so this was no hazard yet. The further member makes it one.
    let theirs = || {
        let written = members.iter().fold(RegSet::EMPTY, |all, member| all.or(&code.effects(*member).writes));
        let mut members = members.iter().rev();
        members.find_map(|&member| Some((member, common(&code.effects(member).reads_at_issue, &written)?)))
    };
    let (first, registers) = overwritten.or_else(own).or_else(theirs)?;
    Some((first, Some(registers), &CLAUSE))
}

enum Side {
    Lds,
    Vector,
}

/// Returns whether an instruction accesses LDS or vector memory. Returns `None` for a flat access, which may
/// go to either.
fn memory_side(kinds: Kinds) -> Option<Side> {
    match kinds {
        kinds if kinds.contains(Kinds::DS) => Some(Side::Lds),
        kinds if kinds.contains(Kinds::FLAT_ANY) => None,
        kinds if kinds.intersects(Kinds::VMEM | Kinds::FLAT) => Some(Side::Vector),
        _ => None,
    }
}
