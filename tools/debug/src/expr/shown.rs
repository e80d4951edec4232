//! A value for a lane, converted for display.

use crate::memory_value::MemoryValue;

/// A value for a lane, converted for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The value as text.
    pub text: String,
    /// Type of the value as the user would write it.
    pub ty: String,
    /// Parts of the value.
    pub parts: Parts,
    /// Where the value is in memory, if it is in memory.
    pub memory_value: Option<MemoryValue>,
    /// The waits, such as `vmcnt(0)`, after which the value is available. Set if an outstanding memory
    /// operation has yet to write the registers of the value.
    pub pending: Option<String>,
}

/// Formats the value, and says whether it is available.
impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        self.pending.as_ref().map_or(Ok(()), |wait| write!(f, " (not written yet, but after {wait})"))
    }
}

/// The parts of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// The value has no parts.
    None,
    /// Fields, by name.
    Fields(Vec<String>),
    /// Number of elements.
    Elements(u64),
    /// The target of a pointer.
    Target,
}

impl Parts {
    /// Returns the number of parts.
    pub fn count(&self) -> u64 {
        match self {
            Parts::None => 0,
            Parts::Fields(names) => names.len() as u64,
            Parts::Elements(count) => *count,
            Parts::Target => 1,
        }
    }

    /// Returns the names and expressions of `count` parts (elements or members) of a value, starting at part
    /// `from`. `text` is the expression of the whole value.
    pub fn within<'a>(
        &'a self,
        text: &'a str,
        from: u64,
        count: u64,
    ) -> impl Iterator<Item = (String, String)> + 'a {
        let whole = if text.starts_with(['*', '-']) { format!("({text})") } else { text.to_owned() };
        let end = from.saturating_add(count).min(self.count());
        (from..end).filter_map(move |at| match self {
            Parts::None => None,
            Parts::Fields(names) => {
                let name = names.get(usize::try_from(at).ok()?)?;
                Some((name.clone(), format!("{whole}.{name}")))
            }
            Parts::Elements(_) => Some((format!("[{at}]"), format!("{whole}[{at}]"))),
            Parts::Target => Some((format!("*{text}"), format!("*{whole}"))),
        })
    }
}
