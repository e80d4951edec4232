//! Requests that move a wave forwards or backwards.

use super::frames::follow;
use super::requests::{Answer, Arguments, Reply, Then, without_body};
use super::server::Server;
use debug::{Action, Step, Stop};
use serde_json::{Value, json};

/// Handles the "Pause Request".
pub fn pause(server: &mut Server, _: &mut Stop<'_>, _: &Value) -> Answer {
    match std::mem::take(&mut server.is_running) {
        true => without_body(Then::Pause),
        false => Err("the wave has stopped".to_owned()),
    }
}

/// Handles the "Continue Request".
pub fn continue_request(_: &mut Server, _: &mut Stop<'_>, _: &Value) -> Answer {
    Ok(Reply { body: json!({ "allThreadsContinued": true }), then: Then::Go(Action::Continue) })
}

fn is_instruction(arguments: &Value) -> bool {
    arguments.text("granularity") == Some("instruction")
}

/// Handles the "Next Request".
pub fn next(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    follow(server, stop, arguments)?;
    without_body(Then::Go(if is_instruction(arguments) { stop.over() } else { Action::Step(Step::Over) }))
}

/// Handles the "StepIn Request".
pub fn step_in(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    follow(server, stop, arguments)?;
    without_body(Then::Go(Action::Step(if is_instruction(arguments) {
        Step::Instruction
    } else {
        Step::Line
    })))
}

/// Handles the "StepOut Request".
pub fn step_out(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    follow(server, stop, arguments)?;
    without_body(Then::Go(stop.out()?))
}

/// Handles the "StepBack Request".
pub fn step_back(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    follow(server, stop, arguments)?;
    without_body(Then::Go(Action::Back(if is_instruction(arguments) {
        Step::Instruction
    } else {
        Step::Over
    })))
}

/// Handles the "ReverseContinue Request".
pub fn reverse_continue(_: &mut Server, _: &mut Stop<'_>, _: &Value) -> Answer {
    without_body(Then::Go(Action::BackToBreakpoint))
}
