//! Which files a tool reads, and how an argument reads that names one.

use crate::folder::{root, temporary};
use crate::hash::Hash;
use crate::named::NamedFolders;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns where the path of a file begins in an argument: `-I/a` and `--option=/a` name the file `/a`.
fn path_of(argument: &str) -> &str {
    match argument.split_once('=') {
        Some((option, path)) if option.starts_with('-') => path,
        _ => argument.strip_prefix("-I").unwrap_or(argument),
    }
}

/// The files that a question has added to the hash.
pub struct Inputs<'a> {
    pub hash: &'a mut Hash,
    /// Folders that the question names.
    pub named: &'a NamedFolders,
    /// Where relative paths begin.
    pub folder: &'a Path,
    /// Folders of `-I`.
    pub included: Vec<PathBuf>,
    seen: BTreeSet<PathBuf>,
}

impl<'a> Inputs<'a> {
    pub fn new(
        hash: &'a mut Hash,
        named: &'a NamedFolders,
        folder: &'a Path,
        arguments: &[String],
    ) -> Inputs<'a> {
        let included = arguments.iter().filter_map(|argument| argument.strip_prefix("-I"));
        let included = included.map(|path| folder.join(path)).collect();
        Inputs { hash, named, folder, included, seen: BTreeSet::new() }
    }

    /// Adds an argument, and the contents of the file or folder that the argument names.
    pub fn argument(&mut self, argument: &str) -> std::io::Result<()> {
        self.hash.field(self.named.hide(argument).as_bytes());
        let path = self.folder.join(path_of(argument));
        if path.is_file() {
            return self.file(&path);
        }
        if path_of(argument).starts_with('/') && path.is_dir() {
            let entries: std::io::Result<Vec<_>> = std::fs::read_dir(&path)?.collect();
            let mut files: Vec<PathBuf> = entries?.iter().map(std::fs::DirEntry::path).collect();
            files.sort();
            for file in files.iter().filter(|file| file.is_file()) {
                self.hash.field(self.named.hide(&file.to_string_lossy()).as_bytes());
                self.file(file)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> std::io::Result<()> {
        if !self.seen.insert(path.to_owned()) {
            return Ok(());
        }
        if path.starts_with(root().join("target")) && !path.starts_with(temporary()) {
            // Cargo built the file, so the time of change says which version the file is.
            let data = std::fs::metadata(path)?;
            self.hash.field(format!("{} {} {}", data.len(), data.mtime(), data.mtime_nsec()).as_bytes());
        } else {
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
