//! The folders that a question names. They differ between clones and runs, and the answer to the question does
//! not depend on them.

use crate::folder::{root, temporary};
use std::path::PathBuf;

/// Folders that a question names: temporary folders in the order in which they appear, then the folder of the
/// workspace. The cache has a placeholder in place of each folder.
pub struct NamedFolders(Vec<String>);

/// What each placeholder begins with.
const PLACEHOLDER: &str = "<folder ";

impl NamedFolders {
    /// Collects the folders that texts name.
    pub fn collect<'a>(texts: impl IntoIterator<Item = &'a str>) -> NamedFolders {
        let temporary = format!("{}/", temporary().display());
        let mut folders: Vec<String> = Vec::new();
        for text in texts {
            for (at, _) in text.match_indices(&temporary) {
                let name = &text[at + temporary.len()..];
                // The names of temporary folders have only these characters: see `Folder::new`.
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
                let end = name.find(|c| !is_part(c)).unwrap_or(name.len());
                let folder = text[at..at + temporary.len() + end].to_owned();
                if end > 0 && !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        folders.push(root().display().to_string());
        NamedFolders(folders)
    }

    /// Returns the files in the temporary folders that the question names.
    pub fn temporary_files(&self) -> Vec<PathBuf> {
        let folders = self.0[..self.0.len() - 1].iter().filter_map(|folder| std::fs::read_dir(folder).ok());
        folders.flatten().flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect()
    }

    /// Returns a text with placeholders for the folders.
    pub fn hide(&self, text: &str) -> String {
        let folders = self.0.iter().enumerate();
        folders.fold(text.to_owned(), |text, (n, folder)| text.replace(folder, &format!("{PLACEHOLDER}{n}>")))
    }

    /// Returns a text with the folders for their placeholders.
    pub fn show(&self, text: &str) -> String {
        let folders = self.0.iter().enumerate();
        folders.fold(text.to_owned(), |text, (n, folder)| text.replace(&format!("{PLACEHOLDER}{n}>"), folder))
    }

    /// Returns the form of an output that the cache can keep. Returns `None` if no form gives the output back:
    /// a file that is not text names a folder, or a text has a placeholder or a temporary folder that the
    /// question does not name.
    pub fn kept_form(&self, output: &[u8]) -> Option<Vec<u8>> {
        let Ok(text) = std::str::from_utf8(output) else {
            let names_folder = |folder: &[u8]| output.windows(folder.len()).any(|bytes| bytes == folder);
            return (!names_folder(root().as_os_str().as_encoded_bytes())).then(|| output.to_vec());
        };
        let kept = self.hide(text);
        let is_exact = self.show(&kept) == text && !text.contains(PLACEHOLDER);
        let has_unnamed = kept.contains(&format!("{PLACEHOLDER}{}>/target/tmp/", self.0.len() - 1));
        (is_exact && !has_unnamed).then(|| kept.into_bytes())
    }

    /// Returns the output of which the cache kept a form.
    pub fn original_form(&self, kept: &[u8]) -> Vec<u8> {
        match std::str::from_utf8(kept) {
            Ok(text) => self.show(text).into_bytes(),
            Err(_) => kept.to_vec(),
        }
    }
}
