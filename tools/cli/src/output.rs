//! Output of commands: standard output, and files, which are written completely or not at all.
//!
//! A file is first written under a temporary name in the directory of the file that it replaces, and renamed
//! when it is complete. If the disk is full, the old file thus stays unchanged. If two commands write the
//! same file, the result is the output of one of them.

use super::{Failure, capture};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Prints to standard output. Exits if the text cannot be printed.
pub fn print(text: std::fmt::Arguments<'_>) {
    if capture::is_on() {
        capture::take_up(text.to_string().as_bytes());
        return;
    }
    if let Err(error) = io::stdout().write_fmt(text) {
        let failure = not_printed(&error);
        failure.report();
        std::process::exit(failure.code().into());
    }
}

/// Flushes standard output.
///
/// # Errors
/// Standard output cannot be written.
pub fn finish() -> Result<(), Failure> {
    io::stdout().flush().map_err(|error| not_printed(&error))
}

/// Returns the failure for an error on standard output. If the reader has closed the pipe (as `head` does),
/// the process exits successfully instead, because the reader needs no more output.
fn not_printed(error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    Failure::File(format!("cannot write standard output: {error}"))
}

fn not_written(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::File(format!("cannot write {}: {why}", path.display()))
}

/// Returns an error if a file cannot be written. Called before the expensive work whose result goes to the
/// file.
pub fn check_output(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    if path.exists() {
        return opened(path).map_or_else(|error| Err(not_written(path, &error)), |_| Ok(()));
    }
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() && !directory.is_dir() => {
            Err(not_written(path, &format_args!("there is no directory {}", directory.display())))
        }
        _ => Ok(()),
    }
}

/// Writes a file, or standard output for `-`.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path.as_os_str() != "-" {
        return replace(path, bytes).map_err(|error| not_written(path, &error));
    }
    if capture::take_up(bytes) {
        return Ok(());
    }
    let mut out = io::stdout();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| not_printed(&error))
}

/// Writes a file completely or not at all. If the path is a symbolic link, the link is kept, and the file to
/// which it points is written. An existing file keeps its permissions and owner. In three cases the file is
/// written in place: it is not a regular file (but a device or a pipe), its directory accepts no new files,
/// or it is a mount point.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(place) = followed(path) else { return in_place(path, bytes) };
    let older = match std::fs::metadata(&place) {
        Ok(metadata) if !metadata.is_file() => return in_place(&place, bytes),
        Ok(metadata) => {
            // A file that cannot be written must not be replaced either.
            opened(&place)?;
            Some(metadata)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match created(place.parent().unwrap_or(Path::new(""))) {
        Ok((file, name)) => {
            let done = filled(file, bytes, older.as_ref()).and_then(|()| std::fs::rename(&name, &place));
            if done.is_err() {
                let _ = std::fs::remove_file(&name);
            }
            match done {
                // The file is itself a mount point, as in a container.
                Err(error) if error.kind() == ErrorKind::ResourceBusy => in_place(&place, bytes),
                done => done,
            }
        }
        Err(error) if older.is_some() && error.kind() == ErrorKind::PermissionDenied => {
            in_place(&place, bytes)
        }
        Err(error) => Err(error),
    }
}

/// Opens a file for writing without truncating it.
fn opened(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    file.write_all(bytes)
}

/// Limit on the length of a chain of symbolic links.
const MAX_LINKS: usize = 40;

/// Follows symbolic links and returns the path that they finally lead to, whether or not a file exists there.
/// Returns `None` if the path is a file descriptor of a process, like `/dev/stdout`, or if the links form a
/// cycle.
fn followed(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if ["/proc", "/dev/fd"].iter().any(|folder| path.starts_with(folder)) {
            return None;
        }
        let Ok(to) = std::fs::read_link(&path) else { return Some(path) };
        path = path.parent().unwrap_or(Path::new("")).join(to);
    }
    None
}

/// Creates a file with a name that is unused in its directory.
fn created(folder: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = folder.join(format!(".kernc-{}-{number}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (file, name)),
        }
    }
}

fn filled(mut file: File, bytes: &[u8], older: Option<&Metadata>) -> io::Result<()> {
    file.write_all(bytes)?;
    let Some(older) = older else { return Ok(()) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (older.uid(), older.gid()) {
            // Only the superuser may change the owner of a file, so an error of this call is ignored.
            let _ = fchown(&file, Some(older.uid()), Some(older.gid()));
        }
    }
    file.set_permissions(older.permissions())
}
