//! `kernc run --idle-waits`: reports the waits and cache invalidations that the run did not need.

use kernc::sim::idle_waits::{Log, Need, Verdict};

/// Returns a text that says why the memory model does not require a certain wait or invalidation.
fn why(need: &Need) -> &'static str {
    match need.order {
        Verdict::Idle if need.counter.is_some() => "nothing was under way",
        Verdict::Idle => "nothing was learned of other waves since the last one",
        Verdict::Private if need.counter.is_some() => "what was under way is nobody else's",
        _ => "the rest keeps the order",
    }
}

/// Prints the unneeded waits and invalidations.
pub fn print(log: &Log) {
    if let Some(clash) = log.clash() {
        outln!(
            "{:#x} and {:#x} meet in memory {}: nothing is said of waits",
            clash.first,
            clash.second,
            clash.what
        );
        return;
    }
    let needs = log.needs();
    let idle: Vec<&Need> = needs.iter().filter(|need| need.is_idle()).collect();
    outln!(
        "{} of {} waits and invalidations were idle in this run, each for itself",
        idle.len(),
        needs.len()
    );
    for need in idle {
        let counter = need.counter.map_or(String::new(), |counter| format!("{}: ", counter.name()));
        outln!("{:#8x}  {:<40} {counter}{}", need.offset, need.text, why(need));
    }
}
