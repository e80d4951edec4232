//! Files of the kernel language that come with the compiler: `use "std/hsa.k";`.

use crate::files::File;

/// The files: name and text.
const FILES: [(&str, &str); 1] = [("std/hsa.k", include_str!("hsa.k"))];

/// Returns the file with a name that begins with `std/`; `None` if the name begins otherwise.
///
/// # Errors
/// A text for people, which lists the files, if there is no file of that name.
pub fn open(name: &str) -> Option<Result<File, String>> {
    if !name.starts_with("std/") {
        return None;
    }
    let found = FILES.iter().find(|file| file.0 == name);
    Some(match found {
        Some(&(name, text)) => Ok(File { name: name.to_owned(), text: text.to_owned() }),
        None => {
            let names: Vec<String> = FILES.iter().map(|file| format!("`{}`", file.0)).collect();
            Err(format!("the compiler comes with {}", names.join(", ")))
        }
    })
}

/// Returns whether a file that comes with the compiler has a function.
#[cfg(test)]
pub fn has_function(name: &str) -> bool {
    FILES.iter().any(|file| file.1.contains(&format!("fn {name}(")))
}
