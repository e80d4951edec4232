//! The names and descriptions of strict mode's rules. The rules about registers and single instructions come
//! from the static checker.

/// A rule of strict mode.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Short name that identifies the rule.
    pub id: &'static str,
    /// Name of the rule for display.
    pub name: &'static str,
    /// Explanation of the rule, and the usual remedy.
    pub text: &'static str,
}

const fn rule(id: &'static str, name: &'static str, text: &'static str) -> Rule {
    Rule { id, name, text }
}

/// Name of the rule against passing knowledge on too early. A wave breaks the rule if it tells waves of other
/// groups of an access by another wave while this access is still in flight.
pub(super) const PASSED_ON: &str = "passed-on-in-flight";

static RULES: [Rule; 29] = [
    rule(
        "race-read-after-write",
        "a wave reads what another has written, without order",
        "Between the two there is no barrier, and no release that the reader has acquired: it may find the older value. Within \
         a group a barrier orders them; between groups an atomic that releases and one that acquires.",
    ),
    rule(
        "race-write-after-write",
        "two waves write different values to a place, without order",
        "Which value stays is chance. Places that are looked at with loads that act at L2 count as places of atomics, and are \
         not reported.",
    ),
    rule(
        "race-write-after-read",
        "a wave writes what another has read, without order",
        "The reader might as well have found the new value: often a barrier is missing at the end of a loop, before shared \
         memory is filled again, or between filling and reading it.",
    ),
    rule(
        PASSED_ON,
        "a wave passes on an access of another wave of its group, which may be in flight",
        "A wave accesses memory and tells its group, by LDS or a barrier; another wave of the group releases to the device; a wave \
         of another group acquires that. The waves of a group share a cache, so nothing waits before the group is told, and a wait \
         of the releasing wave counts its own operations alone. The first wave has to wait for the access before it tells its \
         group. This counts with `--rules manual`: the guide's sequences, which LLVM emits, have no such wait, and the guide does not \
         promise that accesses of one compute unit stay in order.",
    ),
    rule(
        "lane-race",
        "lanes of one wave write different values to a place, without order",
        "The lanes of one instruction have no order, nor have those of the two sides of a branch: chance decides which value \
         stays. Lanes that store the same value are not reported, nor are atomic stores.",
    ),
    rule(
        "lane-lost-update",
        "lanes of one wave read, change and write one place",
        "All lanes load the old value, each changes its own copy, and all store: one update is kept, the others are lost. \
         `x[0] += 1` in every work-item is the usual case. An atomic adds them all; so does a sum over the wave that one lane adds.",
    ),
    rule(
        "inactive-lane",
        "a value that matters was taken from a lane that is not active",
        "An exchange between lanes (`ds_bpermute_b32`, `ds_swizzle_b32`, DPP) gives zero, or what the register held before, where \
         the lane that is read is switched off. A value that is not used afterwards is not reported.",
    ),
    rule(
        "divergent-barrier",
        "a barrier is reached by some work-items of a wave and not by others",
        "Hardware counts waves, not work-items: the barrier passes, and orders nothing for those who are missing.",
    ),
    rule(
        "stale-vector-cache",
        "a load may find a stale copy in the vector cache",
        "The order is there, but the reader's L0 or L1 may hold the line as it was: an acquire at agent scope invalidates it.",
    ),
    rule(
        "stale-scalar-cache",
        "a scalar load of what a vector store has written",
        "The scalar cache does not see vector stores; only `s_dcache_inv` makes it forget.",
    ),
    rule(
        "uninitialised-store",
        "something undefined is stored to global memory",
        "Nothing has written the register, or the shared or private memory that it was loaded from. Moving undefined bits about \
         is no finding; letting others see them is.",
    ),
    rule("uninitialised-address", "an address depends on something undefined", "See uninitialised-store."),
    rule("uninitialised-m0", "an access depends on M0, which nothing has set", "See uninitialised-store."),
    rule(
        "uninitialised-branch",
        "the program's way depends on something undefined",
        "See uninitialised-store.",
    ),
    rule("uninitialised-exec", "EXEC is set from something undefined", "See uninitialised-store."),
    rule(
        "missing-flat-scratch",
        "scratch is accessed through FLAT_SCRATCH, which nothing has set up",
        "The kernel's prologue has to compute it from the initial registers.",
    ),
    rule(
        "restrict-overlap",
        "a place is accessed through a `restrict` argument and written through another, or the other way round",
        "The compiler takes accesses through the two arguments for independent: it may reorder them, or keep a value in a register. \
         Either the two arguments must not overlap, or neither is `restrict`.",
    ),
    rule(
        "buffer-out-of-range",
        "an access is out of range of its buffer resource",
        "Loads give zero there, and stores are dropped. The report names the SGPRs of the resource, its bounds, and the instruction \
         that wrote them last: often they hold something else than a resource. Offsets of 2 GiB and more are not reported: \
         that is how a lane is told to do nothing. Nor are swizzled resources, as private memory has.",
    ),
    rule(
        "lds-without-m0",
        "LDS is accessed and M0 is not set",
        "Up to GFX8, M0 holds the limit of LDS addresses.",
    ),
    rule(
        "lds-beyond-m0",
        "an LDS address is not below the limit in M0",
        "Loads give zero there, and stores are dropped.",
    ),
    rule(
        "misaligned",
        "an address is not aligned as the processor asks",
        "LDS accesses and atomics need it.",
    ),
    rule(
        "clobbered-by-call",
        "a register is used after a call that has changed it",
        "Something depends on it: an address, a branch, EXEC, a store to global memory. Either the function has to save and restore \
         the register, as the calling convention asks for (docs/calling-convention.md), or its caller must not rely on it: it keeps \
         the value elsewhere. In lanes that are not active at the call a function leaves every VGPR as it was.",
    ),
    rule(
        "stack-pointer",
        "a function returns with another stack pointer",
        "What it has added to s32 it takes off again before it returns.",
    ),
    rule(
        "frame-pointer",
        "a function returns with another frame pointer",
        "A function that uses s33 saves it first, and restores it before it returns.",
    ),
    rule(
        "exec-not-restored",
        "a function returns with another EXEC",
        "The lanes that call are active again when it returns.",
    ),
    rule(
        "mode-not-restored",
        "a function returns in another MODE",
        "Rounding, denormals and exceptions are the caller's: a function that changes them changes them back.",
    ),
    rule(
        "flat-scratch-not-restored",
        "a function returns with another FLAT_SCRATCH",
        "The kernel sets it up; functions leave it as it is.",
    ),
    rule(
        "return-address",
        "a function does not return to where it was called",
        "s[30:31] has the address to return to. A function that calls others saves it before, and restores it.",
    ),
    rule(
        "xnack-own-address",
        "a load that may be replayed overwrites its own address",
        "A part of a scalar load may be there, and its address gone, when the rest finds no page.",
    ),
];

/// Returns all rules that belong to strict mode itself.
pub fn rules() -> &'static [Rule] {
    &RULES
}

/// Returns the level of the findings of a rule, which says how certain they are. It applies if the finding
/// itself has no level.
pub(super) fn level(id: &str) -> check::Level {
    check::rules::find(id).map_or(check::Level::Certain, |rule| rule.level)
}

/// Returns whether strict mode or the static checker has a rule with this name.
pub(super) fn is_known(id: &str) -> bool {
    RULES.iter().any(|rule| rule.id == id) || check::rules::find(id).is_some()
}
