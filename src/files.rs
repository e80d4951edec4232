//! Files on disk, for `use`.

use frontend::{File, Files, path_next_to};
use std::path::PathBuf;

/// Finds the files that a program uses with `use`. A file is searched first in the directory of the file that
/// names it, then in the directories of a list, in order.
#[derive(Clone, Debug, Default)]
pub struct Directories {
    /// Directories to search, in order, for files that are not in the directory of the file that names them.
    pub list: Vec<PathBuf>,
}

impl Files for Directories {
    fn open(&self, path: &str, from: &str) -> Result<File, String> {
        let in_list = self.list.iter().map(|directory| directory.join(path).to_string_lossy().into_owned());
        for name in std::iter::once(path_next_to(path, from)).chain(in_list) {
            match read(&name) {
                Ok(text) => return Ok(File { name, text }),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        let more = if self.list.is_empty() { "" } else { " and in none of the directories given" };
        Err(format!("there is no such file beside this one{more}"))
    }
}

/// Reads a regular file. Pipes and devices are rejected because they may never end.
fn read(name: &str) -> std::io::Result<String> {
    if !std::fs::metadata(name)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    std::fs::read_to_string(name)
}
