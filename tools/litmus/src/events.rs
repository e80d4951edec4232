//! The events of a shape: what each statement means for the memory model.

use crate::matrix::Scope;
use crate::shape::{Change, Order, Semantics, Shape, Statement};

/// Number of events above which a shape is not judged.
const MAX_EVENTS: usize = 64;

/// An access to memory, a fence or a barrier of a shape.
pub(crate) struct Event<'a> {
    /// Thread that executes the statement.
    pub thread: usize,
    /// The statement.
    pub statement: &'a Statement,
    /// Memory order; `Plain` for a barrier.
    pub order: Order,
    /// Scope; `None` if the scope contains all threads of the shape.
    scope: Option<Scope>,
    /// For a [`Statement::StoreNext`], the event that gave the register its value.
    pub operand: Option<usize>,
}

impl Event<'_> {
    /// Returns the variable that the event accesses.
    pub fn variable(&self) -> Option<usize> {
        match *self.statement {
            Statement::Load { variable, .. }
            | Statement::Store { variable, .. }
            | Statement::StoreNext { variable, .. }
            | Statement::Rmw { variable, .. } => Some(variable),
            _ => None,
        }
    }

    /// Returns whether the event reads a variable.
    pub fn reads(&self) -> bool {
        matches!(self.statement, Statement::Load { .. } | Statement::Rmw { .. })
    }

    /// Returns whether the event can write a variable. A compare-and-swap that fails does not write.
    fn writes(&self) -> bool {
        self.variable().is_some() && !matches!(self.statement, Statement::Load { .. })
    }

    fn is_rmw(&self) -> bool {
        matches!(self.statement, Statement::Rmw { .. })
    }

    /// Returns whether the event is a fence.
    pub fn is_fence(&self) -> bool {
        matches!(self.statement, Statement::Fence { .. })
    }

    /// Returns whether the order of the event contains acquire.
    pub fn acquires(&self) -> bool {
        matches!(self.order, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Returns whether the order of the event contains release.
    pub fn releases(&self) -> bool {
        matches!(self.order, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// The events of a shape.
pub(crate) struct Program<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// All events. Events of one thread are neighbours, in program order.
    pub events: Vec<Event<'a>>,
    /// Values that loops need in order to end: the event that reads the value, and the value.
    pub needed: Vec<(usize, u32)>,
    /// For each register, the last event that gives it a value.
    pub last: Vec<usize>,
}

impl<'a> Program<'a> {
    /// Lists the events of a shape. Loops are executed once.
    ///
    /// # Errors
    /// The reason why the executions of the shape cannot be listed.
    pub fn new(shape: &'a Shape) -> Result<Program<'a>, String> {
        let registers = vec![usize::MAX; shape.registers.len()];
        let mut program = Program { shape, events: Vec::new(), needed: Vec::new(), last: registers };
        for (thread, statements) in shape.threads.iter().enumerate() {
            for (index, statement) in statements.iter().enumerate() {
                program.statement(thread, &statements[..index], statement)?;
            }
        }
        if program.events.len() > MAX_EVENTS {
            return Err(format!("there are more than {MAX_EVENTS} accesses, fences and barriers"));
        }
        program.check_barriers()?;
        program.check_races()?;
        Ok(program)
    }

    fn statement(
        &mut self,
        thread: usize,
        before: &[Statement],
        statement: &'a Statement,
    ) -> Result<(), String> {
        let text = || self.shape.statement_text(statement);
        if let Statement::StoreNext { register, .. } | Statement::Until { register, .. } = *statement
            && self.shape.registers[register] != thread
        {
            return Err(format!("`{}` uses a register of another thread", text()));
        }
        let how = match *statement {
            Statement::Rmw { how: Semantics { order: Order::Plain, .. }, .. } => {
                return Err(format!("`{}` is not atomic", text()));
            }
            Statement::Load { how, .. }
            | Statement::Store { how, .. }
            | Statement::StoreNext { how, .. }
            | Statement::Rmw { how, .. }
            | Statement::Fence { how, .. } => how,
            Statement::Barrier => Semantics { order: Order::Plain, scope: None },
            Statement::Label(_) => return Ok(()),
            Statement::Until { register, value, ref label } => {
                let label = before.iter().rposition(|other| *other == Statement::Label(label.clone()));
                let Some(label) = label else { return Err(format!("`{}` has no label before it", text())) };
                if !self.only_reads(&before[label..], register, value) {
                    return Err(format!("an iteration of the loop before `{}` may write memory", text()));
                }
                self.needed.push((self.last[register], value));
                return Ok(());
            }
            Statement::Code(_) => return Err(format!("`{}` is machine code", text())),
        };
        let scope = self
            .scope(how)
            .ok_or_else(|| format!("the scope of `{}` contains all threads in some cases only", text()))?;
        let operand = match *statement {
            Statement::StoreNext { register, .. } => Some(self.last[register]),
            _ => None,
        };
        if let Statement::Load { register, .. } | Statement::Rmw { register: Some(register), .. } = *statement
        {
            self.last[register] = self.events.len();
        }
        self.events.push(Event { thread, statement, order: how.order, scope, operand });
        Ok(())
    }

    /// Returns whether the iterations before the last one change no variable. The loop ends when the register
    /// has this value. An execution without these iterations then agrees with the memory model if the whole
    /// execution does.
    fn only_reads(&self, body: &[Statement], until: usize, end: u32) -> bool {
        let defines = |statement: &&Statement| match **statement {
            Statement::Load { register, .. } | Statement::Rmw { register: Some(register), .. } => {
                register == until
            }
            _ => false,
        };
        let once = body.iter().filter(defines).count() == 1;
        body.iter().all(|statement| match *statement {
            Statement::Load { .. } | Statement::Fence { .. } | Statement::Label(_) => true,
            Statement::Until { .. } => true,
            // The register has another value than the expected one, so the operation has failed.
            Statement::Rmw { register, change: Change::Cas { expected }, .. } => {
                once && register == Some(until) && expected == end
            }
            // The iteration is not the last one, so the swap has not read `end`. If the variable can only
            // hold `end` and the value that the swap writes, the swap has read the same value that it
            // writes, and so changes nothing.
            Statement::Rmw { register, change: Change::Swap, variable, value, .. } => {
                once && register == Some(until) && self.has_only(variable, [end, value])
            }
            _ => false,
        })
    }

    /// Returns whether a variable never has a value besides these.
    fn has_only(&self, variable: usize, values: [u32; 2]) -> bool {
        values.contains(&0)
            && self.shape.threads.iter().flatten().all(|statement| match *statement {
                Statement::Rmw { change: Change::Add, variable: other, .. }
                | Statement::StoreNext { variable: other, .. } => other != variable,
                Statement::Store { variable: other, value, .. }
                | Statement::Rmw { variable: other, value, .. } => {
                    other != variable || values.contains(&value)
                }
                _ => true,
            })
    }

    /// Returns the scope of an operation in all cases of the shape, as in [`Event`]. Returns `None` if the
    /// scope contains the threads in some cases only.
    fn scope(&self, how: Semantics) -> Option<Option<Scope>> {
        let named = |scope: &Scope| {
            self.shape.scopes.is_empty() || self.shape.scopes.iter().any(|name| name == scope.name())
        };
        if !self.shape.groups.is_empty() {
            // Shapes with groups have no cases of wavefront scope. The narrowest scope gives the least order.
            let narrowest = Scope::ALL.into_iter().find(|scope| *scope > Scope::Wavefront && named(scope));
            return Some(how.scope.or(narrowest));
        }
        // The cases place the threads in the scope of the case.
        let widest = Scope::ALL.into_iter().rev().find(named)?;
        how.scope.is_none_or(|scope| scope >= widest).then_some(None)
    }

    fn check_barriers(&self) -> Result<(), String> {
        let count = |thread| self.barriers(thread).count();
        for thread in 0..self.shape.threads.len() {
            let mut group = (0..thread).filter(|&other| self.group(other) == self.group(thread));
            if group.any(|other| count(other) != count(thread)) {
                return Err("threads of one group have different numbers of barriers".into());
            }
        }
        Ok(())
    }

    /// Checks that a data race makes no value unknown that decides whether an event writes.
    fn check_races(&self) -> Result<(), String> {
        let racy_operand = |event: &Event<'_>| event.operand.is_some_and(|read| self.may_race(read));
        let unknown = self.events.iter().any(racy_operand);
        for (index, event) in self.events.iter().enumerate() {
            let compares = matches!(event.statement, Statement::Rmw { change: Change::Cas { .. }, .. });
            if event.is_rmw() && self.may_race(index) || compares && unknown {
                let text = self.shape.statement_text(event.statement);
                return Err(format!("the value that `{text}` reads may depend on a data race"));
            }
        }
        Ok(())
    }

    /// Returns the barriers of a thread.
    pub fn barriers(&self, thread: usize) -> impl Iterator<Item = usize> {
        self.events_where(move |event| {
            event.thread == thread && matches!(event.statement, Statement::Barrier)
        })
    }

    /// Returns the events that meet a condition.
    pub fn events_where(&self, condition: impl Fn(&Event<'a>) -> bool) -> impl Iterator<Item = usize> {
        (0..self.events.len()).filter(move |&index| condition(&self.events[index]))
    }

    /// Returns the work-group of a thread.
    pub fn group(&self, thread: usize) -> u32 {
        self.shape.groups.get(thread).copied().unwrap_or(0)
    }

    /// Returns whether the scope of each of two events contains the thread of the other one.
    pub fn inclusive(&self, first: usize, second: usize) -> bool {
        let (first, second) = (&self.events[first], &self.events[second]);
        let contains = |scope: Option<Scope>| match scope {
            Some(Scope::Wavefront) => first.thread == second.thread,
            Some(Scope::Workgroup) => self.group(first.thread) == self.group(second.thread),
            // All groups of a shape with `groups` are on one agent.
            Some(Scope::Agent | Scope::System) | None => true,
        };
        contains(first.scope) && contains(second.scope)
    }

    /// Returns whether two accesses to one variable are a data race if nothing orders them. At least one of
    /// the accesses is a write.
    pub fn conflict(&self, first: usize, second: usize) -> bool {
        let plain = |index: usize| self.events[index].order == Order::Plain;
        first != second && (plain(first) || plain(second) || !self.inclusive(first, second))
    }

    /// Returns the events that can write a variable.
    pub fn writes_to(&self, variable: usize) -> Vec<usize> {
        self.events_where(|event| event.writes() && event.variable() == Some(variable)).collect()
    }

    /// Returns whether a read may be in a data race with a write of another thread.
    pub fn may_race(&self, read: usize) -> bool {
        let event = &self.events[read];
        let other = |&write: &usize| self.events[write].thread != event.thread;
        event.reads()
            && event.variable().is_some_and(|variable| {
                self.writes_to(variable).iter().filter(|write| other(write)).any(|&w| self.conflict(read, w))
            })
    }

    /// Returns whether the final value of a variable may depend on a data race between writes.
    pub fn end_may_race(&self, variable: usize) -> bool {
        let writes = self.writes_to(variable);
        writes.iter().any(|&first| writes.iter().any(|&second| self.conflict(first, second)))
    }
}
