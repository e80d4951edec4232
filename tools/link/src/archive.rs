//! Reads archives (`.a` files). The members of an ordinary archive are object files. A thin archive contains
//! only the names of object files.

use object::read::archive::ArchiveFile;

/// Returns whether a file is an archive.
pub fn is_archive(data: &[u8]) -> bool {
    data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n")
}

/// Name of a member, and its contents.
pub type Member<'a> = (String, Result<&'a [u8], String>);

/// Returns the members of an archive.
///
/// # Errors
/// Says what is wrong with the file.
pub fn members(data: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let archive = ArchiveFile::parse(data).map_err(|error| error.to_string())?;
    if archive.is_thin() {
        return Err("a thin archive holds no objects, only their names: who reads it has to read them".into());
    }
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(|error| format!("the archive is damaged: {error}"))?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        let contents = member.data(data).map_err(|error| format!("{name}: {error}"));
        members.push((name, contents));
    }
    Ok(members)
}

/// Returns the file names in a thin archive, which are relative to the archive's directory. Returns `None`
/// for any other file.
///
/// # Errors
/// Says what is wrong with the archive.
pub fn thin_members(data: &[u8]) -> Result<Option<Vec<String>>, String> {
    if !data.starts_with(b"!<thin>\n") {
        return Ok(None);
    }
    let archive = ArchiveFile::parse(data).map_err(|error| error.to_string())?;
    let name = |member: object::read::Result<object::read::archive::ArchiveMember<'_>>| {
        let member = member.map_err(|error| format!("the archive is damaged: {error}"))?;
        String::from_utf8(member.name().to_vec()).map_err(|_| "a member's name is no text".to_owned())
    };
    archive.members().map(name).collect::<Result<_, _>>().map(Some)
}
