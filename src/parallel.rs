//! Compiles the kernels of a module, on several threads if there are several kernels.
//!
//! Threads take kernels in the order of the module, and the results are put back in this order. Neither the
//! code nor the reported errors therefore depend on the number of threads.

use crate::error::Error;
use crate::models::Models;
use crate::pipeline::{Job, Observer, Scratch};
use mir::MachFunc;
use std::slice::IterMut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of IR instructions for which it is worthwhile to start a thread. To compile them takes some
/// milliseconds, and to start a thread takes about ten microseconds.
const PER_THREAD: usize = 1500;

/// Compiles each kernel from IR to final machine code and returns the number of kernels. The machine
/// functions of the kernels are stored at the beginning of `code`, over the old machine functions there,
/// whose memory is reused. Compilation changes the code of the kernels in the IR, so afterwards only their
/// declarations may be used.
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

/// Returns the number of threads to use for `count` kernels: as many as the kernels can keep busy, but at
/// most `most`. If `most` is `None`, the limit is the number of threads that the machine runs at once.
fn threads(module: &ir::Module, count: usize, most: Option<usize>) -> usize {
    let kernels = module.funcs.values().filter(|func| func.kernel.is_some());
    let all: usize = kernels.map(ir::Function::inst_count).sum();
    match (all / PER_THREAD).min(count) {
        0 | 1 => 1,
        busy => busy.min(most.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))),
    }
}

/// The kernels that no thread has taken yet.
struct Left<'a> {
    funcs: IterMut<'a, ir::Function>,
    /// Number of the next kernel.
    next: usize,
    /// Machine functions for the code of the kernels.
    code: IterMut<'a, MachFunc>,
    /// The kernel whose compilation failed, as its number and the error. Of several kernels, this is the
    /// first one in module order.
    failed: Option<(usize, Error)>,
}

/// State that the threads share.
struct Work<'a> {
    models: &'a Models,
    module: &'a ir::Module,
    job: &'a Job<'a>,
    left: Mutex<Left<'a>>,
    /// Number of machine instructions so far.
    written: AtomicUsize,
}

impl<'a> Work<'a> {
    /// Compiles kernels on one thread for each element of `scratch`. The current thread is one of them and
    /// uses the first element.
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
                // If another thread panics, the panic continues in the thread that requested the compilation.
                helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        Ok(())
    }

    fn left(&self) -> MutexGuard<'_, Left<'a>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next kernel that no thread has taken. Returns its number, its IR, and the machine function
    /// that receives its code.
    fn take(&self) -> Option<(usize, &'a mut ir::Function, &'a mut MachFunc)> {
        let mut left = self.left();
        let func = left.funcs.find(|func| func.kernel.is_some())?;
        left.next += 1;
        Some((left.next - 1, func, left.code.next()?))
    }

    /// Compiles kernels until none is left or one fails. Kernels are taken in order. If one fails, all
    /// kernels before it are therefore compiled as well, and the first failure in the order of the module is
    /// reported.
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
        let model = self.models.for_kernel(func.1.kernel.as_ref())?;
        scratch.kernel((model, self.module), func, mach, self.job, observer)?;
        let own: usize = mach.blocks.values().map(|block| block.insts.len()).sum();
        let all = self.written.fetch_add(own, Ordering::Relaxed) + own;
        self.job.budget.machine(all)
    }
}
