//! Turns errors of the command line into messages that say what the user most likely meant.

use super::{Cli, Failure};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;

/// Options of other compilers, each with the option of kernc that does the same.
const FOREIGN: [(&str, &str); 22] = [
    ("-S", "`--emit asm` writes assembly"),
    ("-c", "`--emit obj` writes a relocatable object"),
    ("-emit-llvm", "`--emit ir` writes the IR of kernc"),
    ("--ptx", "`--emit asm` writes assembly"),
    ("-E", "there is no preprocessor: `use \"file.k\";`, `#[cfg(…)]` and `param` items stand in its place"),
    ("-x", "the extension of a file says what is in it: `.k`, `.kir`, `.mir`"),
    ("-std", "the language has one version"),
    ("-march", "the processor is named by `--mcpu`"),
    ("-mtriple", "the processor is named by `--mcpu`"),
    ("-target", "the processor is named by `--mcpu`"),
    ("--target", "the processor is named by `--mcpu`"),
    ("--offload-arch", "the processor is named by `--mcpu`"),
    ("--cuda-gpu-arch", "the processor is named by `--mcpu`"),
    ("-arch", "the processor is named by `--mcpu`"),
    ("-mattr", "modes are switches: `-mxnack`, `-mno-cumode`, `--wave64`"),
    ("-ffast-math", "`--fast-math` takes the bare instructions"),
    ("-cl-fast-relaxed-math", "`--fast-math` takes the bare instructions"),
    ("-ffp-contract", "write `--fp-contract on` or `off`"),
    ("-save-temps", "`--emit ir,asm,obj` writes what is in between"),
    ("--save-temps", "`--emit ir,asm,obj` writes what is in between"),
    ("-v", "`--time-passes` and `--dump-after PASS` say what is done"),
    ("-include", "write `use \"file.k\";` in the source"),
];

/// Words that users may take for the command that compiles. In kernc, this is `kernc FILE` without a command.
const COMPILES: [&str; 6] = ["compile", "build", "cc", "make", "kc", "emit"];

/// Parses a command line.
///
/// # Errors
/// The mistake, and what the user most likely meant. For `--help` and `--version`, the "error" is their text
/// and not a failure.
pub fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(&words).map_err(|error| explained(&words, error))
}

/// Returns the error for a word that is not a command but was most likely meant to be one.
pub fn no_command(word: &str) -> Failure {
    Failure::Usage(format!("there is no command `{word}`; {}", instead_of(word)))
}

/// Returns a hint about a command that does not exist.
fn instead_of(word: &str) -> String {
    if COMPILES.contains(&word) {
        return "`kernc FILE` compiles".to_owned();
    }
    if matches!(word, "fmt" | "format") {
        return "there is no formatter".to_owned();
    }
    let commands = Cli::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    match frontend::nearest(word, names) {
        Some(name) => format!("a similar name exists: `{name}`"),
        None => "`kernc --help` lists the commands".to_owned(),
    }
}

/// Returns the error with a better message if one is known.
fn explained(words: &[OsString], error: clap::Error) -> clap::Error {
    let message = |text: String| Cli::command().error(ErrorKind::ArgumentConflict, text);
    if let Some(text) = second_file(words, &error) {
        return message(text);
    }
    if !error.use_stderr() {
        return error;
    }
    let texts = words.iter().skip(1).filter_map(|word| word.to_str());
    let of_word = |word: &str| {
        let is_it =
            |name: &str| word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        FOREIGN.iter().find(|row| is_it(row.0))
    };
    match texts.into_iter().find_map(of_word) {
        Some((name, instead)) => Cli::command()
            .error(ErrorKind::UnknownArgument, format!("there is no option `{name}`: {instead}")),
        None => error,
    }
}

/// Returns a message for a command line with two words that are not options. The option parser takes the
/// first word for the source and the second for the name of a command.
fn second_file(words: &[OsString], error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(second)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let at = words.iter().position(|word| word.to_str() == Some(second))?;
    let source = Cli::try_parse_from(&words[..at]).ok()?.compile.source?;
    let first = source.display();
    Some(match super::compile::is_no_file(&source) {
        true => format!("there is no command `{first}`; {}", instead_of(&first.to_string())),
        false if Cli::command().get_subcommands().any(|command| command.get_name() == second) => {
            format!("a command stands in front: `kernc {second} {first}`")
        }
        false => format!(
            "one file is compiled at a time, and here are `{first}` and `{second}`; `kernc link` joins the objects that `--emit obj` \
             writes"
        ),
    })
}
