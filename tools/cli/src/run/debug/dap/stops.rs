//! Stops of a wave: tells the client about them, and handles its requests until the wave continues.

use super::frames::stopped_thread;
use super::requests::{Answer, Place, Then, body};
use super::server::Server;
use crate::report_renderer::ReportRenderer;
use crate::run::debug::terminal::{Display, headline};
use debug::{Action, Reason, Stop};
use serde_json::{Value, json};

/// A reason for stopping that the client can switch on and off ("ExceptionBreakpointsFilter"). All reasons
/// are on by default.
pub struct Filter {
    pub name: &'static str,
    label: &'static str,
    description: &'static str,
    is: fn(&Reason) -> bool,
}

pub const FILTERS: [Filter; 2] = [
    Filter {
        name: "strict",
        label: "What strict mode finds",
        description: "Missing waits, hazards, races and undefined values, right behind the instruction",
        is: |reason| matches!(reason, Reason::Found(_)),
    },
    Filter {
        name: "faults",
        label: "Faults",
        description: "Accesses outside of buffers, traps, and whatever else ends the dispatch",
        is: |reason| matches!(reason, Reason::Trapped(_)),
    },
];

pub fn filters() -> Vec<Value> {
    let told = |filter: &Filter| json!({ "filter": filter.name, "label": filter.label, "description": filter.description, "default": true });
    FILTERS.iter().map(told).collect()
}

/// Called when a wave has stopped, or when requests have arrived while the dispatch runs. Returns how the
/// wave continues.
pub fn stopped(server: &mut Server, stop: &mut Stop<'_>) -> Action {
    let is_told = matches!(stop.reason, Reason::Asked | Reason::Set);
    if FILTERS.iter().any(|filter| (filter.is)(&stop.reason) && !server.points.has(filter.name)) {
        return Action::Resume;
    }
    if !is_told {
        arrive(server, stop);
    }
    loop {
        let then = match server.is_running {
            true => server.serve_waiting(&mut Place::At(stop)),
            false => Some(server.serve(&mut Place::At(stop))),
        };
        match then {
            None => return Action::Resume,
            Some(Then::Pause) => arrive(server, stop),
            // The action only sets a value, so the wave stays stopped. The client already has its response
            // and can send further requests.
            Some(Then::Go(action @ Action::Set(_))) => return action,
            Some(Then::Go(action)) => {
                server.goes_back = matches!(action, Action::BackToBreakpoint);
                server.is_running = true;
                server.forget();
                return action;
            }
            Some(_) => return Action::Quit,
        }
    }
}

/// Tells the client that a wave has stopped and why ("Stopped Event").
fn arrive(server: &mut Server, stop: &Stop<'_>) {
    server.is_running = false;
    server.typed.look_anew();
    let (reason, hit) = match &stop.reason {
        Reason::Begin => ("entry", None),
        Reason::Ended => ("exit", None),
        Reason::Breakpoint(id) | Reason::Condition { id, .. } | Reason::Changed { id, .. } => {
            server.points.reason(*id)
        }
        Reason::Step | Reason::Finished | Reason::Chosen(_) => ("step", None),
        Reason::Arrived if server.goes_back && stop.ordinal() == 1 => ("entry", None),
        Reason::Arrived if server.goes_back => ("breakpoint", None),
        Reason::Arrived => ("step", None),
        Reason::Found(_) | Reason::Trapped(_) => ("exception", None),
        Reason::Asked | Reason::Set => ("pause", None),
    };
    let mut body = json!({ "reason": reason, "description": headline(stop), "allThreadsStopped": true });
    if let Some(hit) = hit {
        body["hitBreakpointIds"] = json!([hit]);
    }
    if let Reason::Condition { why, .. } = &stop.reason {
        body["text"] = json!(why);
    }
    if let Some((_, what, _)) = exception(stop) {
        body["text"] = json!(what);
    }
    body["threadId"] = json!(stopped_thread(server, stop));
    server.event("stopped", body);
    let shown = |display: &Display| format!("{}\n", display.value_text(stop));
    let displays: String = server.typed.displays.iter().map(shown).collect();
    server.output("console", &displays);
}

/// Returns the rule, a sentence and the class of the problem that has stopped a wave. `None` if the wave has
/// stopped for another reason.
fn exception(stop: &Stop<'_>) -> Option<(String, String, String)> {
    match &stop.reason {
        Reason::Found(report) => {
            Some((report.rule.clone(), report.message.clone(), report.class.name().to_owned()))
        }
        Reason::Trapped(fault) => {
            let class = fault.class().name().to_owned();
            Some((class.clone(), fault.headline(), class))
        }
        _ => None,
    }
}

/// Handles the "ExceptionInfo Request". The response includes the full report.
pub fn exception_info(server: &mut Server, stop: &mut Stop<'_>, _: &Value) -> Answer {
    let (id, what, class) = exception(stop).ok_or("nothing is wrong here")?;
    let teller = ReportRenderer::new(&server.file, None, false);
    let report = match &stop.reason {
        Reason::Found(report) => teller.report(report),
        Reason::Trapped(fault) => teller.fault(fault),
        _ => String::new(),
    };
    body(json!({
        "exceptionId": id,
        "description": what,
        "breakMode": "always",
        "details": { "message": report.trim_end(), "typeName": class, "fullTypeName": id },
    }))
}
