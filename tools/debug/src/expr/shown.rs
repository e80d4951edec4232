//! A value for a lane, to be shown.

use crate::spot::Spot;

/// A value for a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// As text.
    pub text: String,
    /// Its type, as a user would write it.
    pub ty: String,
    /// What it consists of.
    pub parts: Parts,
    /// Where it is in memory, if it is there.
    pub spot: Option<Spot>,
    /// The waits that it takes until it is there, if it is in registers that a memory operation has yet to write: `vmcnt(0)`.
    pub pending: Option<String>,
}

/// The value, and whether it is there.
impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        self.pending.as_ref().map_or(Ok(()), |wait| write!(f, " (not written yet, but after {wait})"))
    }
}

/// What a value consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Nothing.
    None,
    /// Fields, by their names.
    Fields(Vec<String>),
    /// So many elements.
    Elements(u64),
    /// What it points to.
    Target,
}

impl Parts {
    /// How many.
    pub fn count(&self) -> u64 {
        match self {
            Parts::None => 0,
            Parts::Fields(names) => names.len() as u64,
            Parts::Elements(count) => *count,
            Parts::Target => 1,
        }
    }

    /// Some of them: what each is called, and the expression for it where that of the whole is `text`.
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
