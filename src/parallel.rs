//! The kernels of a module, side by side where there are several.
//!
//! Threads take kernels in order, and what comes out is put in order again: neither code nor mistakes found in it
//! depend on how many threads there are.

use crate::error::Error;
use crate::models::Models;
use crate::pipeline::{Job, Observer, Scratch};
use isa::MachFunc;
use std::slice::IterMut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Instructions of the IR that are worth a thread: some milliseconds of work, against some ten microseconds to start it.
const PER_THREAD: usize = 1500;

/// IR to final machine code, kernel by kernel, in the memory of functions that are not needed any more: the first of `code`
/// are those of the kernels then, and how many there are is the result. Of the IR of the kernels, only what they declare can
/// be used afterwards.
pub(crate) fn kernels(
    (scratch, most): (&mut Vec<Scratch>, Option<usize>),
    code: &mut Vec<MachFunc>,
    models: &Models,
    module: &mut ir::Module,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<usize, Error> {
    let is_kernel = |func: &&ir::Function| func.kernel.is_some();
    let count = module.funcs.values().filter(is_kernel).count();
    let threads = if observer.looks_at_machine_code() { 1 } else { threads(module, count, most) };
    if scratch.len() < threads {
        scratch.resize_with(threads, Scratch::new);
    }
    if code.len() < count {
        code.resize_with(count, MachFunc::default);
    }
    let mut funcs = std::mem::take(&mut module.funcs);
    let left = Left { funcs: funcs.values_mut(), next: 0, code: code.iter_mut(), failed: None };
    let work = Work { models, module, job, left: Mutex::new(left), written: AtomicUsize::new(0) };
    work.share(&mut scratch[..threads], observer)?;
    let failed = work.left.into_inner().unwrap_or_else(PoisonError::into_inner).failed;
    module.funcs = funcs;
    failed.map_or(Ok(count), |(_, error)| Err(error))
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
    funcs: IterMut<'a, ir::Function>,
    /// Number of the next one.
    next: usize,
    /// Memory for their code.
    code: IterMut<'a, MachFunc>,
    /// The first kernel that has failed so far.
    failed: Option<(usize, Error)>,
}

/// What the threads share.
struct Work<'a> {
    models: &'a Models,
    module: &'a ir::Module,
    job: &'a Job<'a>,
    left: Mutex<Left<'a>>,
    /// Machine instructions so far.
    written: AtomicUsize,
}

impl<'a> Work<'a> {
    /// Has each scratch memory worked in by a thread; the first is this one.
    fn share(&self, scratch: &mut [Scratch], observer: &mut dyn Observer) -> Result<(), Error> {
        let Some((first, others)) = scratch.split_first_mut() else {
            return Err(Error::internal("a compiler without scratch memory"));
        };
        if others.is_empty() {
            self.run(first, observer);
            return Ok(());
        }
        std::thread::scope(|scope| {
            let helpers: Vec<_> =
                others.iter_mut().map(|own| scope.spawn(move || self.run(own, &mut ()))).collect();
            self.run(first, observer);
            for helper in helpers {
                // A panic in a helper goes on in the thread that asked for the compilation.
                helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        Ok(())
    }

    fn left(&self) -> MutexGuard<'_, Left<'a>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next kernel and its number, and memory for its code.
    fn take(&self) -> Option<(usize, &'a mut ir::Function, &'a mut MachFunc)> {
        let mut left = self.left();
        let func = left.funcs.find(|func| func.kernel.is_some())?;
        left.next += 1;
        Some((left.next - 1, func, left.code.next()?))
    }

    /// Compiles kernels until there are no more, or one fails. Kernels are taken in order, so that none before the first
    /// that fails is left out.
    fn run(&self, scratch: &mut Scratch, observer: &mut dyn Observer) {
        while let Some((index, func, mach)) = self.take() {
            let Err(error) = self.kernel((index, func), mach, scratch, observer) else { continue };
            let mut left = self.left();
            left.funcs = IterMut::default();
            if left.failed.as_ref().is_none_or(|&(first, _)| index < first) {
                left.failed = Some((index, error));
            }
        }
    }

    fn kernel(
        &self,
        func: (usize, &mut ir::Function),
        mach: &mut MachFunc,
        scratch: &mut Scratch,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let model = self.models.of(func.1.kernel.as_ref())?;
        scratch.kernel((model, self.module), func, mach, self.job, observer)?;
        let own: usize = mach.blocks.values().map(|block| block.insts.len()).sum();
        let all = self.written.fetch_add(own, Ordering::Relaxed) + own;
        self.job.budget.machine(all)
    }
}
