//! A pool of compilers for programs that compile on several threads.

use crate::pipeline::Compiler;
use isa::Subtarget;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Compilers for one processor, which threads borrow.
///
/// A compiler keeps the working memory of its passes, so a compiler that has compiled before needs few
/// allocations. The pool creates a compiler when a thread asks and none is free; it never has more compilers
/// than threads have borrowed at the same time. Each compiler works on one thread
/// ([`Compiler::set_threads`]), because the program already has its own threads. The bytes of an object do
/// not depend on which compiler of the pool is used.
///
/// ```
/// let target = kernc::Target::by_name("gfx906").expect("a known processor");
/// let pool = kernc::Pool::new(target);
/// let sizes: Vec<usize> = std::thread::scope(|scope| {
///     let compile = |n: u32| {
///         let source = format!("kernel k(x: *global u32) {{ x[0] = {n}; }}");
///         let object = pool.get().compile(&source, &kernc::Options::default()).expect("a correct kernel");
///         object.bytes().len()
///     };
///     let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || compile(n))).collect();
///     threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
/// });
/// assert_eq!(sizes.len(), 4);
/// ```
pub struct Pool {
    target: Subtarget,
    /// Compilers that no thread has borrowed.
    free: Mutex<Vec<Compiler>>,
}

/// A compiler borrowed from a [`Pool`], to which it returns when this value is dropped.
pub struct PooledCompiler<'a> {
    pool: &'a Pool,
    /// `None` only while the value is dropped.
    compiler: Option<Compiler>,
}

impl Pool {
    /// Creates a pool without compilers for a processor in the modes that the [`Subtarget`] names.
    pub fn new(target: impl Into<Subtarget>) -> Pool {
        Pool { target: target.into(), free: Mutex::default() }
    }

    /// Borrows a compiler. Never waits for another thread to return a compiler.
    pub fn get(&self) -> PooledCompiler<'_> {
        let free = self.free().pop();
        let compiler = free.unwrap_or_else(|| {
            let mut compiler = Compiler::new(self.target);
            compiler.set_threads(1);
            compiler
        });
        PooledCompiler { pool: self, compiler: Some(compiler) }
    }

    /// Returns the processor and the modes that the compilers compile for.
    pub fn target(&self) -> &Subtarget {
        &self.target
    }

    /// Locks the list of free compilers. A panic in another thread cannot leave the list half changed, so it
    /// is safe to use the list after one.
    fn free(&self) -> MutexGuard<'_, Vec<Compiler>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for PooledCompiler<'_> {
    type Target = Compiler;

    fn deref(&self) -> &Compiler {
        self.compiler.as_ref().expect("present until it is dropped")
    }
}

impl DerefMut for PooledCompiler<'_> {
    fn deref_mut(&mut self) -> &mut Compiler {
        self.compiler.as_mut().expect("present until it is dropped")
    }
}

/// Returns the compiler to the pool. A compiler whose compilation panicked is dropped, because its working
/// memory may be in any state.
impl Drop for PooledCompiler<'_> {
    fn drop(&mut self) {
        if let Some(compiler) = self.compiler.take()
            && !std::thread::panicking()
        {
            self.pool.free().push(compiler);
        }
    }
}
