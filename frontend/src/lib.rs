//! The frontend translates the text of the kernel language into a checked tree and then into IR.
//!
//! ```text
//! text -> lexer -> parser -> check -> lower -> ir::Module
//! ```
//!
//! Lexer, parser and checker report all user errors, as [`Diagnostics`]; `lower` gets only correct programs
//! and cannot fail. The language is described in `docs/language.md`, the diagnostics in
//! `docs/diagnostics.md`.

mod argument_words;
mod ast;
mod builtins;
mod cascading_errors;
mod cfg;
mod check;
mod codes;
mod diag;
mod documentation;
mod files;
mod format;
mod habits;
mod language_parts;
mod lexer;
mod library;
mod lower;
mod parser;
mod scalar;
mod similar_errors;
mod standard;
mod type_text;
mod types;
mod warn;

pub use cfg::{Processor, Question};
pub use codes::{codes, explain};
pub use diag::{Diagnostic, Diagnostics, Severity, SourceText, Suggestion, UsedFile};
pub use documentation::{Documented, documentation};
pub use files::{File, Files, path_next_to};
pub use isa::spelling::nearest;
pub use language_parts::{all_parts, parts};
pub use lower::passing::Abi;
pub use warn::{Level, Warnings};

/// Returns the names of the built-in functions.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
}

/// Options of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Values of `param` items: `NAME` and the value as written in `-P NAME=VALUE`.
    pub params: &'a [(String, String)],
    /// Whether `a*b + c` may become a fused multiply-add, which rounds only once.
    pub fp_contract: bool,
    /// Finds and reads the files that `use` names. Without it, `use` finds no files.
    pub files: Option<&'a dyn Files>,
    /// Target processor, about which the program can ask with `#[cfg(…)]` and `has(…)`. Without a processor,
    /// the answer to every such question is false.
    pub processor: Option<&'a dyn Processor>,
    /// Levels of the warnings that [`Context::warnings`] returns.
    pub warnings: Warnings,
    /// Whether `f32` divisions and mathematical functions use the faster and less accurate operations of the
    /// built-in functions that begin with `native_`.
    pub fast_math: bool,
    /// Whether atomic operations order only the accesses to their own address space, unless they are
    /// `seq_cst`. This is OpenCL's memory model (LLVM's AMDGPU guide: seed 000, line 3067).
    pub separate_spaces: bool,
    /// Whether `global_id` counts from the global offset of the dispatch, as in OpenCL (LLVM's AMDGPU guide:
    /// seed 000, line 4381).
    pub global_offset: bool,
    /// Calling convention of functions that other object files call or whose addresses are taken. Without a
    /// convention, these functions follow only the compiler's internal rules, so that other object files
    /// cannot call them.
    pub abi: Option<Abi<'a>>,
    /// Whether `assert` generates code.
    pub asserts: bool,
    /// Whether the generated code tests the divisor of an integer division. If the divisor is zero, the code
    /// prints the position of the division and ends the dispatch.
    pub check_divisions: bool,
    /// How the text that `printf` and `assert` print reaches the host.
    pub printf: Printf,
    /// Whether to generate debug information, which is stored in [`ir::Module::description`] and
    /// [`ir::Function::track`].
    pub debug: bool,
    /// Whether code also stores each value of a variable to private memory, at a fixed place that is called
    /// the variable's home. Debuggers find the variable there.
    pub homes: bool,
}

/// How the output of `printf` and `assert` reaches the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Printf {
    /// `printf` writes to OpenCL's buffer, which the host reads after the kernel has ended. Output that does
    /// not fit in the buffer is lost.
    #[default]
    Buffer,
    /// `printf` calls the host, as in HIP. Each call waits until the host has printed the text.
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

/// Largest length of a source text in bytes. The limit exists because positions are 32-bit numbers.
const MAX_SOURCE: usize = 1 << 28;

/// Working memory that is reused from file to file.
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
    /// The source ranges of the last program in which an attribute `#[allow]` suppresses a warning, with the
    /// warning's name. The list has only warnings that phases after the frontend compute.
    quiet: Vec<(&'static str, lexer::Span)>,
    /// Text of the last program if it has several files.
    source: Option<std::sync::Arc<SourceText>>,
    /// Context that compiles the functions of the library.
    library: Option<Box<Context>>,
}

impl Context {
    /// Takes a module that the caller no longer needs, so that the next module can reuse its memory.
    pub fn recycle(&mut self, mut module: ir::Module) {
        module.clear();
        self.module = module;
    }

    /// Returns the warnings about the last program and clears them.
    pub fn warnings(&mut self) -> Diagnostics {
        std::mem::take(&mut self.warnings)
    }

    /// Returns the joined text of the program that was compiled last, and clears it. The source positions in
    /// the program's IR refer to this text. Returns `None` if the program has only one file.
    pub fn source(&mut self) -> Option<std::sync::Arc<SourceText>> {
        self.source.take()
    }

    /// Returns the level of the warning `name` for byte `at` of the program that was compiled last: allowed,
    /// shown as a warning, or denied.
    pub fn level(&self, warnings: &Warnings, name: &str, at: usize) -> Level {
        let at = at as u32;
        let allows =
            |(allowed, span): &(&str, lexer::Span)| *allowed == name && (span.start..span.end).contains(&at);
        if self.quiet.iter().any(allows) { Level::Allow } else { warnings.level(name) }
    }

    /// Compiles a source file to IR.
    ///
    /// # Errors
    /// The mistakes in the source.
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

/// Returns a context for the functions of the library.
#[cold]
fn new_library() -> Box<Context> {
    Box::default()
}

/// Compiles one file with a new context; see [`Context::compile`].
///
/// # Errors
/// The mistakes in the source.
pub fn compile(file_name: &str, source: &str, options: &Options<'_>) -> Result<ir::Module, Diagnostics> {
    Context::default().compile(file_name, source, options)
}
