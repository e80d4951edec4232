//! Finds test files.

use crate::Kind;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A path that cannot be searched for tests.
#[derive(Debug)]
pub enum FindError {
    /// The path cannot be read.
    Io(PathBuf, io::Error),
    /// The path is a file of a kind that has no tests.
    Kind(PathBuf),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindError::Io(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            FindError::Kind(path) => write!(f, "{} is no file that can be tested", path.display()),
        }
    }
}

impl std::error::Error for FindError {}

/// Returns the kind of a file.
pub(crate) fn kind_of(path: &Path, kinds: &[Kind]) -> Option<Kind> {
    let extension = path.extension()?;
    kinds.iter().copied().find(|kind| extension == kind.extension)
}

/// Finds the files of the given kinds: the named files, and the files in the named folders and their
/// subfolders. Files of a folder are sorted by path.
///
/// # Errors
/// The first path that cannot be read, or that is a file of another kind.
pub fn find(paths: &[PathBuf], kinds: &[Kind]) -> Result<Vec<(PathBuf, Kind)>, FindError> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, kinds, &mut found)?;
            continue;
        }
        std::fs::metadata(path).map_err(|error| FindError::Io(path.clone(), error))?;
        let kind = kind_of(path, kinds).ok_or_else(|| FindError::Kind(path.clone()))?;
        found.push((path.clone(), kind));
    }
    Ok(found)
}

fn walk(folder: &Path, kinds: &[Kind], found: &mut Vec<(PathBuf, Kind)>) -> Result<(), FindError> {
    let failed = |error| FindError::Io(folder.to_owned(), error);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, kinds, found)?;
        } else if let Some(kind) = kind_of(&path, kinds) {
            found.push((path, kind));
        }
    }
    Ok(())
}
