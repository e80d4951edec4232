//! What a dispatch executed.

use crate::op::Class;

/// Counts of a dispatch. An instruction counts once for each wave that executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// All instructions.
    pub instructions: u64,
    /// Scalar arithmetic.
    pub salu: u64,
    /// Vector arithmetic.
    pub valu: u64,
    /// Scalar memory.
    pub smem: u64,
    /// Vector memory.
    pub vmem: u64,
    /// LDS.
    pub lds: u64,
    /// Branches, waits, barriers and the like.
    pub flow: u64,
    /// Times that `s_trap 3` called the debugger, which there is none of.
    pub debug_traps: u64,
    /// Work-groups.
    pub groups: u64,
    /// Waves.
    pub waves: u64,
}

/// Instructions by [`Class`].
pub(crate) type Counts = [u64; 6];

impl RunStats {
    /// Adds what another dispatch executed.
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
