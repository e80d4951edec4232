//! The kernels of a module, side by side where there are several.
//!
//! Threads take kernels in order, and what comes out is put in order again: neither code nor mistakes found in it
//! depend on how many threads there are.

use crate::error::Error;
use crate::pipeline::{Job, Observer, Scratch};
use isa::MachFunc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Instructions of the IR that are worth a thread: some milliseconds of work, against some ten microseconds to start it.
const PER_THREAD: usize = 1500;

/// IR to final machine code, kernel by kernel, in the memory of functions that are not needed any more.
pub(crate) fn kernels(
    scratch: &mut [Scratch],
    spare: &mut Vec<MachFunc>,
    model: &memmodel::Model,
    module: &ir::Module,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<MachFunc>, Error> {
    let funcs: Vec<&ir::Function> = module.funcs.values().filter(|func| func.kernel.is_some()).collect();
    let work = Work {
        model,
        module,
        job,
        funcs: &funcs,
        spare: Mutex::new(spare),
        next: AtomicUsize::new(0),
        written: AtomicUsize::new(0),
    };
    let threads = if observer.looks_at_machine_code() { 1 } else { work.threads().min(scratch.len()) };
    let Some((first, others)) = scratch[..threads].split_first_mut() else {
        return Err(Error::internal("a compiler without scratch memory"));
    };
    if others.is_empty() {
        return work.run(first, observer).into_iter().map(|(_, compiled)| compiled).collect();
    }
    let mut done = std::thread::scope(|scope| {
        let work = &work;
        let helpers: Vec<_> =
            others.iter_mut().map(|own| scope.spawn(move || work.run(own, &mut ()))).collect();
        let mut done = work.run(first, observer);
        for helper in helpers {
            // A panic in a helper goes on in the thread that asked for the compilation.
            done.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, compiled)| compiled).collect()
}

/// What the threads share.
struct Work<'a> {
    model: &'a memmodel::Model,
    module: &'a ir::Module,
    job: &'a Job<'a>,
    funcs: &'a [&'a ir::Function],
    spare: Mutex<&'a mut Vec<MachFunc>>,
    /// The next kernel to take.
    next: AtomicUsize,
    /// Machine instructions so far.
    written: AtomicUsize,
}

impl Work<'_> {
    /// How many threads the kernels can keep busy.
    fn threads(&self) -> usize {
        let in_blocks = |func: &&ir::Function| {
            func.layout.iter().map(|&block| func.blocks[block].insts.len()).sum::<usize>()
        };
        let all: usize = self.funcs.iter().map(in_blocks).sum();
        (all / PER_THREAD).min(self.funcs.len()).max(1)
    }

    /// Compiles kernels until there are no more, or one fails. Kernels are taken in order, so that none before the first
    /// that fails is left out.
    fn run(
        &self,
        scratch: &mut Scratch,
        observer: &mut dyn Observer,
    ) -> Vec<(usize, Result<MachFunc, Error>)> {
        let mut done = Vec::new();
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(func) = self.funcs.get(index) else { return done };
            let compiled = self.kernel((index, func), scratch, observer);
            let failed = compiled.is_err();
            done.push((index, compiled));
            if failed {
                self.next.store(self.funcs.len(), Ordering::Relaxed);
                return done;
            }
        }
    }

    fn kernel(
        &self,
        func: (usize, &ir::Function),
        scratch: &mut Scratch,
        observer: &mut dyn Observer,
    ) -> Result<MachFunc, Error> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let code = scratch.kernel((self.model, self.module), func, spare, self.job, observer)?;
        let own: usize = code.blocks.values().map(|block| block.insts.len()).sum();
        let all = self.written.fetch_add(own, Ordering::Relaxed) + own;
        self.job.budget.machine(all)?;
        Ok(code)
    }
}
