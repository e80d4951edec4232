//! Output of a command that goes to whoever runs it instead of to the terminal.

use std::cell::RefCell;

thread_local! {
    /// What commands of this thread have printed, the innermost last. A thread that waits for others may take up another
    /// command meanwhile, and ends it before it goes on with its own.
    static TEXTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Whether output is wanted by someone.
pub fn is_on() -> bool {
    TEXTS.with_borrow(|texts| !texts.is_empty())
}

/// Keeps output, if it is wanted.
pub fn take_up(bytes: &[u8]) -> bool {
    TEXTS.with_borrow_mut(|texts| match texts.last_mut() {
        Some(text) => {
            text.extend_from_slice(bytes);
            true
        }
        None => false,
    })
}

/// What has been kept so far: it is whoever's who asks.
pub fn taken() -> Vec<u8> {
    TEXTS.with_borrow_mut(|texts| texts.last_mut().map(std::mem::take).unwrap_or_default())
}

/// Runs a command; returns what it printed, to standard output and standard error, and what it returned: nothing if it
/// panicked.
pub fn capture<T>(command: impl FnOnce() -> T) -> (Vec<u8>, Option<T>) {
    TEXTS.with_borrow_mut(|texts| texts.push(Vec::new()));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(command)).ok();
    (TEXTS.with_borrow_mut(Vec::pop).unwrap_or_default(), result)
}
