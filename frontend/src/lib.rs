//! Kernel language text to checked tree to IR.
//!
//! ```text
//! text -> lexer -> parser -> check -> lower -> ir::Module
//! ```
//!
//! Everything a user can get wrong is reported by the first three, as [`Diagnostics`]; `lower` sees
//! only programs without mistakes and cannot fail. The language is described in
//! `docs/language.md`, the diagnostics in `docs/diagnostics.md`.

mod alike;
mod ast;
mod builtins;
mod cfg;
mod check;
mod codes;
mod diag;
mod documentation;
mod echoes;
mod files;
mod format;
mod habits;
mod lexer;
mod library;
mod lower;
mod parser;
mod parts;
mod scalar;
mod types;
mod warn;
mod words;
mod written;

pub use cfg::{Processor, Question};
pub use codes::{codes, explain};
pub use diag::{Diagnostic, Diagnostics, Severity, SourceText, Suggestion, UsedFile};
pub use documentation::{Documented, documentation};
pub use files::{File, Files, beside};
pub use isa::spelling::nearest;
pub use lower::border::Abi;
pub use parts::{all_parts, parts};
pub use warn::{Level, Warnings};

/// Names of the built-in functions.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
}

/// What a compilation depends on besides the source.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Values of `param` items, `NAME` and value as written after `-P NAME=VALUE`.
    pub params: &'a [(String, String)],
    /// Whether `a*b + c` may be rounded once.
    pub fp_contract: bool,
    /// What `use` takes files from; without it there are none.
    pub files: Option<&'a dyn Files>,
    /// What `#[cfg(…)]` and `has(…)` ask; without it the answer to everything is no.
    pub processor: Option<&'a dyn Processor>,
    /// What is warned of: [`Context::warnings`].
    pub warnings: Warnings,
    /// Whether functions and divisions of `f32` are their `native_` forms.
    pub fast_math: bool,
    /// Whether atomics that are not `seq_cst` order the accesses of their own address space alone, as OpenCL's memory model
    /// has it (seed 000, line 3067).
    pub separate_spaces: bool,
    /// Whether `global_id` counts from the global offset of the dispatch, as OpenCL's does (seed 000, line 4381).
    pub global_offset: bool,
    /// How functions are called that other objects know, or whose addresses are taken; without it as all others, which no other object knows of.
    pub abi: Option<Abi<'a>>,
    /// Whether `assert` does anything.
    pub asserts: bool,
    /// Whether an integer division by zero is printed with its place and ends the dispatch.
    pub check_divisions: bool,
    /// The way of what is printed.
    pub printf: Printf,
    /// Whether what a debugger is told goes along: [`ir::Module::description`], [`ir::Function::track`].
    pub debug: bool,
    /// Whether each variable is in private memory, too, for debuggers to find it there.
    pub homes: bool,
}

/// How what `printf` and `assert` print gets to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Printf {
    /// By OpenCL's buffer, which the host reads when the kernel has ended: what has no room there is lost.
    #[default]
    Buffer,
    /// By calls of the host, as HIP's: each waits until it is printed.
    Hostcall,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            params: &[],
            fp_contract: true,
            fast_math: false,
            separate_spaces: false,
            global_offset: false,
            abi: None,
            asserts: true,
            check_divisions: false,
            printf: Printf::Buffer,
            debug: false,
            homes: false,
            files: None,
            processor: None,
            warnings: Warnings::NONE,
        }
    }
}

/// Largest source text: positions are 32-bit.
const MAX_SOURCE: usize = 1 << 28;

/// Memory that is reused from file to file.
#[derive(Default)]
pub struct Context {
    tokens: lexer::Tokens,
    ast: ast::Ast<'static>,
    parser: parser::Scratch,
    checker: check::Scratch,
    warner: warn::Scratch,
    lower: lower::Scratch,
    module: ir::Module,
    warnings: Diagnostics,
    /// Where the last program allows which of the warnings that come after the frontend.
    quiet: Vec<(&'static str, lexer::Span)>,
    /// The last program, if it has several files.
    source: Option<std::sync::Arc<SourceText>>,
    /// Compiles the functions of the library.
    library: Option<Box<Context>>,
}

impl Context {
    /// Takes back a module that is no longer needed: the next one is made in its memory.
    pub fn recycle(&mut self, mut module: ir::Module) {
        module.clear();
        self.module = module;
    }

    /// Takes what the last program that compiled was warned of.
    pub fn warnings(&mut self) -> Diagnostics {
        std::mem::take(&mut self.warnings)
    }

    /// Takes the texts of the program that was compiled last, which places in its IR count in, if it has several files.
    pub fn source(&mut self) -> Option<std::sync::Arc<SourceText>> {
        self.source.take()
    }

    /// What becomes of a warning about a byte of the program that was compiled last.
    pub fn level(&self, warnings: &Warnings, name: &str, at: usize) -> Level {
        let at = at as u32;
        let allows =
            |(allowed, span): &(&str, lexer::Span)| *allowed == name && (span.start..span.end).contains(&at);
        if self.quiet.iter().any(allows) { Level::Allow } else { warnings.level(name) }
    }

    /// Compiles a source file to IR.
    ///
    /// # Errors
    /// What is wrong with the source.
    pub fn compile(
        &mut self,
        file_name: &str,
        source: &str,
        options: &Options<'_>,
    ) -> Result<ir::Module, Diagnostics> {
        let mut sink = diag::Sink::default();
        if source.len() > MAX_SOURCE {
            sink.push(Diagnostic::error("E0007", "the source is larger than 256 MiB"));
            return Err(sink.finish(file_name, ""));
        }
        let Context { tokens, ast, parser, checker, warner, lower, module, warnings, quiet, .. } = self;
        lexer::lex(source, tokens, &mut sink);
        let used = files::gather(file_name, source, options.files, tokens, &mut sink);
        self.source.clone_from(&used);
        let source = used.as_ref().map_or(source, |used| used.text.as_str());
        let tree =
            parser::parse(source, tokens, std::mem::take(ast).renew(), options.processor, parser, &mut sink);
        let parsed = sink.count();
        check::check(&tree, options, checker, &mut sink);
        let own = used.as_ref().and_then(|used| used.used.first()).map_or(source.len(), |file| file.start);
        let text = || used.clone().unwrap_or_else(|| SourceText::new(file_name, source));
        if sink.has_errors() {
            habits::amend(source, tokens, &tree.skipped, parsed, &mut sink);
            return Err(sink.finish_all(text()));
        }
        let found = warn::warn(&tree, &checker.checked, options.warnings, own, warner);
        if !found.is_empty() {
            let denied = found.iter().any(|one| one.severity == Severity::Error);
            found.into_iter().for_each(|one| sink.push(one));
            let list = sink.finish_all(text());
            if denied {
                return Err(list);
            }
            *warnings = list;
        }
        quiet.clear();
        quiet.extend(warn::quiet_later(&tree));
        let module = std::mem::take(module);
        let mut module = lower::lower(&tree, source, &text, &mut checker.checked, options, lower, module);
        *ast = tree.renew();
        if !lower.library.is_empty() {
            library::link(&mut module, &lower.library, self.library.get_or_insert_with(new_library));
        }
        Ok(module)
    }
}

/// A context for the functions of the library.
#[cold]
fn new_library() -> Box<Context> {
    Box::default()
}

/// [`Context::compile`] for one file.
///
/// # Errors
/// What is wrong with the source.
pub fn compile(file_name: &str, source: &str, options: &Options<'_>) -> Result<ir::Module, Diagnostics> {
    Context::default().compile(file_name, source, options)
}
