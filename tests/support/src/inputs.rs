//! Which files a tool reads, and how an argument reads that names one.

use crate::folder::{root, temporary};
use crate::hash::Hash;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns where the path of a file begins in an argument: `-I/a` and `--option=/a` name the file `/a`.
fn path_of(argument: &str) -> &str {
    match argument.split_once('=') {
        Some((option, path)) if option.starts_with('-') => path,
        _ => argument.strip_prefix("-I").unwrap_or(argument),
    }
}

/// Returns a text with the folders of this clone and of this process replaced by names that all clones share.
pub fn without_folders(text: &str) -> String {
    let temporary = format!("{}/", temporary().display());
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // `target/tmp/NUMBER-NUMBER-NAME/` has the number of a process, so only what follows counts.
    while let Some((before, after)) = rest.split_once(&temporary) {
        out.push_str(before);
        out.push_str("<temporary>");
        rest = after.find('/').map_or("", |end| &after[end..]);
    }
    out.push_str(rest);
    out.replace(&root().display().to_string(), "<root>")
}

/// The files that a question has added to the hash.
pub struct Inputs<'a> {
    pub hash: &'a mut Hash,
    /// Where relative paths begin.
    pub folder: &'a Path,
    /// Folders of `-I`.
    pub included: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
}

impl<'a> Inputs<'a> {
    pub fn new(hash: &'a mut Hash, folder: &'a Path, arguments: &[String]) -> Inputs<'a> {
        let included = arguments.iter().filter_map(|argument| argument.strip_prefix("-I"));
        let included = included.map(|path| folder.join(path)).collect();
        Inputs { hash, folder, included, seen: BTreeSet::new() }
    }

    /// Adds an argument, and the contents of the file or folder that the argument names.
    pub fn argument(&mut self, argument: &str) -> std::io::Result<()> {
        self.hash.field(without_folders(argument).as_bytes());
        let path = self.folder.join(path_of(argument));
        if path.is_file() {
            return self.file(&path);
        }
        if path_of(argument).starts_with('/') && path.is_dir() {
            let entries: std::io::Result<Vec<_>> = std::fs::read_dir(&path)?.collect();
            let mut files: Vec<PathBuf> = entries?.iter().map(std::fs::DirEntry::path).collect();
            files.sort();
            for file in files.iter().filter(|file| file.is_file()) {
                self.hash.field(without_folders(&file.to_string_lossy()).as_bytes());
                self.file(file)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> std::io::Result<()> {
        if self.seen.insert(path.to_owned()) {
            let bytes = std::fs::read(path)?;
            self.contents(&bytes, path.parent().unwrap_or(path))?;
        }
        Ok(())
    }

    /// Adds the contents of a file, and of the files that the contents include by a name in quotes. Headers of
    /// the system belong to the tool, so their contents are not added.
    pub fn contents(&mut self, bytes: &[u8], beside: &Path) -> std::io::Result<()> {
        self.hash.field(bytes);
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
        for line in text.lines().filter(|line| line.contains("include") || line.contains("incbin")) {
            let Some(name) = line.split('"').nth(1) else { continue };
            let places = [beside, self.folder].into_iter().map(Path::to_owned);
            let places: Vec<PathBuf> = places.chain(self.included.iter().cloned()).collect();
            for file in places.iter().map(|place| place.join(name)).filter(|file| file.is_file()) {
                self.file(&file)?;
            }
        }
        Ok(())
    }
}
