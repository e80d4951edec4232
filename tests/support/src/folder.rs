//! Temporary folders.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the folder of the workspace.
pub fn root() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.find(|folder| folder.join("Cargo.lock").exists()).expect("the folder of the workspace")
}

/// Returns the folder of all temporary folders, which is below Cargo's target folder.
pub fn temporary() -> PathBuf {
    root().join("target/tmp")
}

/// A temporary folder of its own, below `target/tmp`. The folder is removed on drop, except after a panic: then
/// the files show what went wrong.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder. Two folders of one name, also of two processes, are different folders.
    pub fn new(name: &str) -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = temporary().join(format!("{}-{number}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Folder(path)
    }

    /// Writes a file and returns the path of the file.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, contents).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Returns the path of a file in the folder as text.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
