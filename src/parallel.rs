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

/// IR to final machine code, kernel by kernel, in the memory of functions that are not needed any more. Of the IR of the
/// kernels, only what they declare can be used afterwards.
pub(crate) fn kernels(
    (scratch, most): (&mut Vec<Scratch>, Option<usize>),
    spare: &mut Vec<MachFunc>,
    model: &memmodel::Model,
    module: &mut ir::Module,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<MachFunc>, Error> {
    let is_kernel = |func: &&ir::Function| func.kernel.is_some();
    let count = module.funcs.values().filter(is_kernel).count();
    let threads = if observer.looks_at_machine_code() { 1 } else { threads(module, count, most) };
    if scratch.len() < threads {
        scratch.resize_with(threads, Scratch::default);
    }
    let mut funcs = std::mem::take(&mut module.funcs);
    let kernels = funcs.values_mut().filter(|func| func.kernel.is_some());
    let left = Left { kernels: Box::new(kernels), next: 0, spare };
    let work = Work { model, module, job, left: Mutex::new(left), written: AtomicUsize::new(0) };
    let done = work.share(&mut scratch[..threads], observer);
    drop(work);
    module.funcs = funcs;
    let mut code = Vec::with_capacity(count);
    for (_, compiled) in done? {
        code.push(compiled?);
    }
    Ok(code)
}

/// How many threads `count` kernels can keep busy, at most `most` or as many as the machine runs.
fn threads(module: &ir::Module, count: usize, most: Option<usize>) -> usize {
    let kernels = module.funcs.values().filter(|func| func.kernel.is_some());
    let all: usize = kernels.map(ir::Function::inst_count).sum();
    match (all / PER_THREAD).min(count) {
        0 | 1 => 1,
        busy => busy.min(most.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))),
    }
}

/// Kernels that no thread has taken yet.
struct Left<'a> {
    kernels: Box<dyn Iterator<Item = &'a mut ir::Function> + Send + 'a>,
    /// Number of the next one.
    next: usize,
    spare: &'a mut Vec<MachFunc>,
}

/// What the threads share.
struct Work<'a> {
    model: &'a memmodel::Model,
    module: &'a ir::Module,
    job: &'a Job<'a>,
    left: Mutex<Left<'a>>,
    /// Machine instructions so far.
    written: AtomicUsize,
}

/// Kernels by their numbers, and what became of them.
type Done = Vec<(usize, Result<MachFunc, Error>)>;

impl Work<'_> {
    /// Has each scratch memory worked in by a thread; the first is this one.
    fn share(&self, scratch: &mut [Scratch], observer: &mut dyn Observer) -> Result<Done, Error> {
        let Some((first, others)) = scratch.split_first_mut() else {
            return Err(Error::internal("a compiler without scratch memory"));
        };
        if others.is_empty() {
            return Ok(self.run(first, observer));
        }
        let mut done = std::thread::scope(|scope| {
            let helpers: Vec<_> =
                others.iter_mut().map(|own| scope.spawn(move || self.run(own, &mut ()))).collect();
            let mut done = self.run(first, observer);
            for helper in helpers {
                // A panic in a helper goes on in the thread that asked for the compilation.
                done.extend(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        });
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok(done)
    }

    /// The next kernel and its number, and memory for its code.
    fn take(&self) -> Option<(usize, &mut ir::Function, MachFunc)> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let func = left.kernels.next()?;
        left.next += 1;
        Some((left.next - 1, func, left.spare.pop().unwrap_or_default()))
    }

    /// Compiles kernels until there are no more, or one fails. Kernels are taken in order, so that none before the first
    /// that fails is left out.
    fn run(&self, scratch: &mut Scratch, observer: &mut dyn Observer) -> Done {
        let mut done = Vec::new();
        while let Some((index, func, memory)) = self.take() {
            let compiled = self.kernel((index, func), memory, scratch, observer);
            let failed = compiled.is_err();
            done.push((index, compiled));
            if failed {
                let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
                left.kernels = Box::new(std::iter::empty());
            }
        }
        done
    }

    fn kernel(
        &self,
        func: (usize, &mut ir::Function),
        memory: MachFunc,
        scratch: &mut Scratch,
        observer: &mut dyn Observer,
    ) -> Result<MachFunc, Error> {
        let code = scratch.kernel((self.model, self.module), func, memory, self.job, observer)?;
        let own: usize = code.blocks.values().map(|block| block.insts.len()).sum();
        let all = self.written.fetch_add(own, Ordering::Relaxed) + own;
        self.job.budget.machine(all)?;
        Ok(code)
    }
}
