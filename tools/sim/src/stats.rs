//! Counts of executed instructions.

use crate::op::Class;

/// Counts of a dispatch. An instruction counts once for each wave that executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// Number of executed instructions of all kinds.
    pub instructions: u64,
    /// Number of scalar arithmetic instructions.
    pub salu: u64,
    /// Number of vector arithmetic instructions.
    pub valu: u64,
    /// Number of scalar memory instructions.
    pub smem: u64,
    /// Number of vector memory instructions.
    pub vmem: u64,
    /// LDS.
    pub lds: u64,
    /// Number of branches, waits, barriers and similar instructions.
    pub flow: u64,
    /// Number of executed `s_trap 3` instructions, which call a debugger on a real device. The emulator only
    /// counts them.
    pub debug_traps: u64,
    /// Number of work-groups.
    pub groups: u64,
    /// Number of waves.
    pub waves: u64,
}

/// Numbers of executed instructions, for each [`Class`].
pub(crate) type Counts = [u64; 6];

impl RunStats {
    /// Adds the counts of another dispatch.
    pub(crate) fn join(&mut self, other: &RunStats) {
        let RunStats { instructions, salu, valu, smem, vmem, lds, flow, debug_traps, groups, waves } = *other;
        self.instructions += instructions;
        self.salu += salu;
        self.valu += valu;
        self.smem += smem;
        self.vmem += vmem;
        self.lds += lds;
        self.flow += flow;
        self.debug_traps += debug_traps;
        self.groups += groups;
        self.waves += waves;
    }

    pub(crate) fn add(&mut self, counts: &Counts, waves: u64) {
        let of = |class: Class| counts[class as usize];
        self.instructions += counts.iter().sum::<u64>();
        self.salu += of(Class::Salu);
        self.valu += of(Class::Valu);
        self.smem += of(Class::Smem);
        self.vmem += of(Class::Vmem);
        self.lds += of(Class::Lds);
        self.flow += of(Class::Flow);
        self.groups += 1;
        self.waves += waves;
    }
}
