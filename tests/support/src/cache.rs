//! The cache of answers of foreign tools, which is outside of the clone.

use crate::named::NamedFolders;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};

/// The first bytes of an answer. A new format has a new number.
const MAGIC: &[u8] = b"kernc answer 2\n";

/// Returns the folder of the answers: the folder that `KERNC_TEST_CACHE` names, or else `kernc-tests` in the
/// user's folder for caches. Returns `None` if the variable is `off` or there is no such folder; then every
/// question is asked.
pub fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = || {
        let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?;
        Some(caches.join("kernc-tests"))
    };
    variable("KERNC_TEST_CACHE").or_else(user).filter(|folder| folder != Path::new("off"))
}

/// Returns the file of an answer.
fn file(folder: &Path, key: &str) -> PathBuf {
    folder.join(&key[..2]).join(&key[2..])
}

/// Returns an answer, and writes the files that the tool wrote; `None` if the cache has no whole answer.
pub fn read(folder: &Path, key: &str, named: &NamedFolders, outputs: &[PathBuf]) -> Option<Output> {
    let bytes = std::fs::read(file(folder, key)).ok()?;
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let code = i32::from_le_bytes(*field(&mut rest)?.as_array()?);
    let stdout = named.original_form(field(&mut rest)?);
    let stderr = named.original_form(field(&mut rest)?);
    let files: Option<Vec<_>> =
        outputs.iter().map(|_| Some((field(&mut rest)?, field(&mut rest)?))).collect();
    let files = files.filter(|_| rest.is_empty())?;
    for (path, (mode, contents)) in outputs.iter().zip(files) {
        // A tool that fails writes no file.
        let Some(mode) = mode.as_array() else { continue };
        std::fs::write(path, named.original_form(contents)).ok()?;
        std::fs::set_permissions(path, PermissionsExt::from_mode(u32::from_le_bytes(*mode))).ok()?;
    }
    Some(Output { status: ExitStatus::from_raw(code << 8), stdout, stderr })
}

/// Keeps an answer. Does not keep the answer of a tool that a signal ended, and no answer that names a folder in
/// a place where no placeholder is possible.
pub fn write(
    folder: &Path,
    key: &str,
    named: &NamedFolders,
    answer: &Output,
    outputs: &[PathBuf],
) -> std::io::Result<()> {
    let Some(bytes) = kept_answer(named, answer, outputs) else { return Ok(()) };
    let path = file(folder, key);
    std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
    // Two processes may write the same answer, and a reader must not see half of an answer.
    let whole = path.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    std::fs::write(&whole, bytes)?;
    std::fs::rename(whole, path)
}

/// Returns the bytes that the cache keeps of an answer.
fn kept_answer(named: &NamedFolders, answer: &Output, outputs: &[PathBuf]) -> Option<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    let mut put = |field: &[u8]| {
        bytes.extend((field.len() as u64).to_le_bytes());
        bytes.extend(field);
    };
    put(&answer.status.code()?.to_le_bytes());
    put(&named.kept_form(&answer.stdout)?);
    put(&named.kept_form(&answer.stderr)?);
    for path in outputs {
        match std::fs::metadata(path) {
            Ok(data) if data.is_file() => {
                put(&data.permissions().mode().to_le_bytes());
                put(&named.kept_form(&std::fs::read(path).ok()?)?);
            }
            _ => [(); 2].iter().for_each(|()| put(&[])),
        }
    }
    Some(bytes)
}

/// Takes a field from the front of an answer.
fn field<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (field, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(field)
}
