//! The runner of foreign tools.

use crate::cache;
use crate::folder::{root, temporary};
use crate::hash::Hash;
use crate::inputs::Inputs;
use crate::named::NamedFolders;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// A foreign tool with its arguments: a builder like [`Command`], whose answers are kept.
///
/// The answer to a question comes from the cache if the cache has the answer. The question is the tool (path,
/// size and time of change), the arguments, the variables, the standard input, and the contents of all files
/// that arguments name or that such files include. The answer is the exit code, both outputs, and the files
/// that the tool writes: the file after `-o`, and those of [`writes`](Tool::writes).
///
/// The folder of the clone and temporary folders are not part of a question. An answer names the folders of
/// the question that gets the answer. If the tool writes a folder's name into a file that is not text, such as
/// debug information, the answer is not kept. The same holds if the tool writes another file that an
/// argument names, such as `--output=FILE`, or another file in a temporary folder of the question. A program of the clone is always asked.
#[derive(Clone, Debug)]
pub struct Tool {
    name: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    input: Vec<u8>,
    written: Vec<PathBuf>,
    cache: Option<PathBuf>,
    is_fresh: bool,
}

/// Returns the path of a tool; `None` if the tool is not on the PATH.
fn path_of(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns whether a tool is on the PATH.
pub fn is_there(name: &str) -> bool {
    path_of(OsStr::new(name)).is_some()
}

/// Returns the path of a tool if the tool is on the PATH; otherwise says that `test` is left out. With
/// `KERNC_REQUIRE_ORACLES` set, a missing tool is a failure.
pub fn find(name: &str, test: &str) -> Option<PathBuf> {
    let found = path_of(OsStr::new(name));
    if found.is_none() {
        assert!(std::env::var_os("KERNC_REQUIRE_ORACLES").is_none(), "{name} is missing");
        println!("left out: {test} ({name} is not on the PATH)");
    }
    found
}

/// Returns whether all tools are on the PATH, and says otherwise that `test` is left out, as [`find`] does.
pub fn have(names: &[&str], test: &str) -> bool {
    names.iter().all(|name| find(name, test).is_some())
}

impl Tool {
    /// Creates a question to a tool, by the name or path of the tool.
    pub fn new(name: impl AsRef<OsStr>) -> Tool {
        Tool {
            name: name.as_ref().to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: None,
            input: Vec::new(),
            written: Vec::new(),
            cache: cache::folder(),
            is_fresh: false,
        }
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Tool {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Tool {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Tool {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Sets the folder in which the tool runs.
    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Tool {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Sets the standard input, which is empty otherwise. The tool need not read all of the input.
    pub fn input(&mut self, input: impl AsRef<[u8]>) -> &mut Tool {
        self.input = input.as_ref().to_vec();
        self
    }

    /// Adds an argument that names a file which the tool writes.
    pub fn writes(&mut self, file: impl AsRef<Path>) -> &mut Tool {
        self.written.push(file.as_ref().to_owned());
        self.arg(file.as_ref())
    }

    /// Asks the tool itself, always, and keeps no answer.
    pub fn fresh(&mut self) -> &mut Tool {
        self.is_fresh = true;
        self
    }

    /// Uses a cache in another folder.
    pub fn cache_in(&mut self, folder: &Path) -> &mut Tool {
        self.cache = Some(folder.to_owned());
        self
    }

    /// Returns the answer: exit status, standard output and standard error.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool cannot be started.
    pub fn output(&mut self) -> std::io::Result<Output> {
        let Some(cache) = self.cache.clone().filter(|_| !self.is_fresh) else { return self.run() };
        let outputs = self.outputs();
        let named = self.named_folders();
        let Some(key) = self.key(&named, &outputs)? else { return self.run() };
        if let Some(answer) = cache::read(&cache, &key, &named, &outputs) {
            return Ok(answer);
        }
        let before = self.undeclared_files(&named, &outputs);
        let answer = self.run()?;
        // A file that the tool writes without a declaration would not come back with the answer.
        if self.undeclared_files(&named, &outputs) == before {
            // A cache that cannot be written costs time, not the test.
            let _ = cache::write(&cache, &key, &named, &answer, &outputs);
        }
        Ok(answer)
    }

    /// Returns the exit status, and shows both outputs if the tool fails.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool cannot be started.
    pub fn status(&mut self) -> std::io::Result<ExitStatus> {
        let answer = self.output()?;
        if !answer.status.success() {
            println!("{}", String::from_utf8_lossy(&answer.stdout));
            println!("{}", String::from_utf8_lossy(&answer.stderr));
        }
        Ok(answer.status)
    }

    /// Returns the folder in which the tool runs.
    fn place(&self) -> PathBuf {
        self.folder.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// Returns the files that the tool writes.
    fn outputs(&self) -> Vec<PathBuf> {
        let after = self.arguments.windows(2).filter(|pair| pair[0] == "-o" && pair[1] != "-");
        let after = after.map(|pair| PathBuf::from(&pair[1]));
        after.chain(self.written.iter().cloned()).map(|path| self.place().join(path)).collect()
    }

    /// Returns the files that exist, that the tool may write, and that are not declared as outputs, each with the
    /// time of its last change: files that arguments name, and files in the temporary folders that the question
    /// names. An argument may name several files, separated by commas.
    fn undeclared_files(&self, named: &NamedFolders, outputs: &[PathBuf]) -> Vec<(PathBuf, i64, i64)> {
        let place = self.place();
        let words: Vec<String> =
            self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let words = words.iter().flat_map(|word| word.split([',', '=']).chain([word.as_str()]));
        let mut files: Vec<PathBuf> = words.map(|word| place.join(word)).collect();
        files.extend(named.temporary_files());
        files.sort();
        files.dedup();
        let undeclared = files.into_iter().filter(|file| !outputs.contains(file));
        let changed = |file: PathBuf| {
            let data = std::fs::metadata(&file).ok().filter(std::fs::Metadata::is_file)?;
            Some((file, data.mtime(), data.mtime_nsec()))
        };
        undeclared.filter_map(changed).collect()
    }

    /// Returns the folders that the question names.
    fn named_folders(&self) -> NamedFolders {
        let words = self.arguments.iter().chain(self.variables.iter().map(|(_, value)| value));
        let mut texts: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        texts.push(self.place().display().to_string());
        texts.push(String::from_utf8_lossy(&self.input).into_owned());
        NamedFolders::collect(texts.iter().map(String::as_str))
    }

    /// Returns the hash of the question; `None` for a program that Cargo built from this clone.
    fn key(&self, named: &NamedFolders, outputs: &[PathBuf]) -> std::io::Result<Option<String>> {
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let program = std::fs::canonicalize(path_of(&self.name).ok_or_else(missing)?)?;
        let mut hash = Hash::new();
        if program.starts_with(temporary()) {
            // The test has built the program, so its time of change says nothing.
            hash.field(&std::fs::read(&program)?);
        } else if program.starts_with(root()) {
            return Ok(None);
        } else {
            let data = std::fs::metadata(&program)?;
            // clang and other tools look at the name by which they are called.
            hash.field(self.name.as_encoded_bytes());
            hash.field(program.as_os_str().as_encoded_bytes());
            hash.field(format!("{} {} {}", data.len(), data.mtime(), data.mtime_nsec()).as_bytes());
        }
        for (name, value) in &self.variables {
            hash.field(name.as_encoded_bytes());
            hash.field(named.hide(&value.to_string_lossy()).as_bytes());
        }
        let place = self.place();
        let arguments: Vec<String> =
            self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let mut inputs = Inputs::new(&mut hash, named, &place, &arguments);
        for argument in &arguments {
            if outputs.contains(&place.join(argument)) {
                inputs.hash.field(b"<written>");
            } else {
                inputs.argument(argument)?;
            }
        }
        let input = String::from_utf8(self.input.clone()).map(|text| named.hide(&text).into_bytes());
        inputs.contents(&input.unwrap_or_else(|_| self.input.clone()), &place)?;
        Ok(Some(hash.text()))
    }

    /// Runs the tool.
    fn run(&self) -> std::io::Result<Output> {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take();
        std::thread::scope(|scope| {
            // A tool that does not read its input to the end closes the pipe, which is no error.
            scope.spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(&self.input)));
            child.wait_with_output()
        })
    }
}
