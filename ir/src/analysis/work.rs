//! Functions that are to be looked at, each once at a time, callers first.

use super::CallGraph;
use crate::entity::FuncId;
use cranelift_entity::EntitySet;

/// A list of work for searches along calls, from callers to what they call.
#[derive(Clone, Debug, Default)]
pub struct Work {
    list: Vec<FuncId>,
    waits: EntitySet<FuncId>,
}

impl Work {
    /// All functions.
    pub fn begin(&mut self, graph: &CallGraph) {
        self.list.clear();
        self.list.extend_from_slice(graph.bottom_up());
        self.waits.clear();
        self.waits.extend(graph.bottom_up().iter().copied());
    }

    /// The next.
    pub fn pop(&mut self) -> Option<FuncId> {
        let next = self.list.pop()?;
        self.waits.remove(next);
        Some(next)
    }

    /// Looks at one again, if it does not wait already.
    pub fn push(&mut self, func: FuncId) {
        if self.waits.insert(func) {
            self.list.push(func);
        }
    }
}
