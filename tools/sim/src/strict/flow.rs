//! A search for data flow in the code. It finds out whether the value that a store writes may be computed
//! from the value that a load has read, on any path from the load to the store. The race checks use the
//! answer to recognise lost updates.

use super::calls::Transfer;
use super::findings::split_place;
use super::polls::{Tainted, target};
use super::start::{Shared, lock};
use super::touch::Class;
use std::collections::HashMap;

/// Maximum number of instructions that the search visits for one pair of a load and a store.
const MOST: usize = 20_000;

impl Shared {
    /// Returns whether the data of the store at code position `store` depends on the result of the load at
    /// code position `load`.
    #[cold]
    pub(super) fn depends(&self, store: u32, load: u32) -> bool {
        if let Some(&known) = lock(&self.flows).get(&(store, load)) {
            return known;
        }
        let depends = self.find_flow(store, load);
        lock(&self.flows).insert((store, load), depends);
        depends
    }

    fn find_flow(&self, store: u32, load: u32) -> bool {
        let ((range, store), (other, load)) = (split_place(store), split_place(load));
        if range != other {
            return false;
        }
        let (store, load) = (store as usize, load as usize);
        let mut at_targets: HashMap<usize, Tainted> = HashMap::new();
        let mut work = vec![(load, Tainted::default())];
        let mut steps = 0;
        while let Some((mut at, mut tainted)) = work.pop() {
            while steps < MOST
                && let Some((inst, size)) = self.instruction(range, at)
            {
                steps += 1;
                let touch = self.touch(range, at as u32);
                let next = at + size;
                if at == store && touch.reads.registers().any(|register| tainted.has(register)) {
                    return true;
                }
                match touch.class {
                    _ if at == load => tainted.write(touch, true),
                    _ if touch.ends => break,
                    Class::Jump if !matches!(touch.transfer, Transfer::Call(_)) => break,
                    Class::Branch => {
                        let is_conditional = inst.op.row().name != "s_branch";
                        let ways = [target(&inst, next), is_conditional.then_some(next)];
                        for way in ways.into_iter().flatten() {
                            let is_new = !at_targets.contains_key(&way);
                            let known = at_targets.entry(way).or_default();
                            if known.join(&tainted) || is_new {
                                work.push((way, known.clone()));
                            }
                        }
                        break;
                    }
                    _ => tainted.step(touch, &inst),
                }
                at = next;
            }
        }
        false
    }
}
