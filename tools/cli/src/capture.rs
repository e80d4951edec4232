//! Captures the output of a command for its caller (a test, or a debugging server) instead of printing it to
//! the terminal.

use std::cell::RefCell;

thread_local! {
    /// Captured output of the commands that run on this thread. Commands can be nested: a thread that waits
    /// for other threads may start another command, which ends before the thread continues with the first
    /// one. The last text is the output of the innermost command.
    static TEXTS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether output is being captured on this thread.
pub fn is_on() -> bool {
    TEXTS.with_borrow(|texts| !texts.is_empty())
}

/// Appends output to the captured text. Returns false if output is not being captured; the caller must then
/// print it.
pub fn take_up(bytes: &[u8]) -> bool {
    TEXTS.with_borrow_mut(|texts| match texts.last_mut() {
        Some(text) => {
            text.extend_from_slice(bytes);
            true
        }
        None => false,
    })
}

/// Returns the text captured so far and removes it.
pub fn taken() -> Vec<u8> {
    TEXTS.with_borrow_mut(|texts| texts.last_mut().map(std::mem::take).unwrap_or_default())
}

/// Runs a command. Returns what it printed to standard output and standard error, and its result, which is
/// `None` if the command panicked.
pub fn capture<T>(command: impl FnOnce() -> T) -> (Vec<u8>, Option<T>) {
    TEXTS.with_borrow_mut(|texts| texts.push(Vec::new()));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(command)).ok();
    (TEXTS.with_borrow_mut(Vec::pop).unwrap_or_default(), result)
}
