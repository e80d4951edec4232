//! A worklist that starts with all functions of a module, callers first, and contains each function at most
//! once.

use super::CallGraph;
use crate::entity::FuncId;
use cranelift_entity::EntitySet;

/// A worklist for propagating what is known about functions along calls, from callers to callees.
#[derive(Clone, Debug, Default)]
pub struct FunctionWorklist {
    list: Vec<FuncId>,
    waits: EntitySet<FuncId>,
}

impl FunctionWorklist {
    /// Fills the list with all functions.
    pub fn begin(&mut self, graph: &CallGraph) {
        self.list.clear();
        self.list.extend_from_slice(graph.bottom_up());
        self.waits.clear();
        self.waits.extend(graph.bottom_up().iter().copied());
    }

    /// Removes and returns the next function.
    pub fn pop(&mut self) -> Option<FuncId> {
        let next = self.list.pop()?;
        self.waits.remove(next);
        Some(next)
    }

    /// Adds a function unless it is already in the list.
    pub fn push(&mut self, func: FuncId) {
        if self.waits.insert(func) {
            self.list.push(func);
        }
    }
}
