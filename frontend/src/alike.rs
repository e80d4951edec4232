//! Diagnostics of one kind, which are most likely of one mistake: the first ones are shown, the others counted in a note.
//!
//! A declaration that is wrong is told where it is used, so what is counted together is not only what is said, but of what.

use crate::diag::Diagnostic;
use crate::echoes::{Read, place};
use smallvec::SmallVec;

/// What the diagnostics kept so far are about.
pub struct Alike<'r, 'p> {
    read: &'r Read<'p>,
    /// How many that may be of one mistake are shown.
    shown: usize,
    /// Of each that is kept.
    kinds: Vec<Kind>,
    /// The last one shown of each kind, and how many there are more.
    more: Vec<(usize, usize)>,
    /// Unknown names that are not shown, each with the diagnostic that mentions it.
    names: Vec<(usize, String)>,
}

/// What the diagnostics of one mistake share.
struct Kind {
    /// What something has become by mistake, the type that lacks something, or all that is said; and of what.
    of: String,
    what: String,
    /// What the pointer leads to that something has become, or no longer is; the parameter of a generic function.
    base: String,
    /// The functions that it may be a mistake of: the one it is in, and the one that is called there.
    bodies: SmallVec<[usize; 2]>,
    /// How many are shown.
    shown: usize,
}

impl Kind {
    fn is_like(&self, other: &Kind) -> bool {
        let of_one_body = || self.bodies.iter().any(|body| other.bodies.contains(body));
        self.of == other.of && self.what == other.what
            || !self.base.is_empty() && self.base == other.base && of_one_body()
    }
}

impl<'r, 'p> Alike<'r, 'p> {
    const SHOWN: usize = 3;

    /// `unknown`: some names are not known.
    pub fn new(read: &'r Read<'p>, unknown: bool) -> Self {
        let shown = Self::SHOWN - usize::from(unknown || read.parsed > 0);
        Alike { read, shown, kinds: Vec::new(), more: Vec::new(), names: Vec::new() }
    }

    /// How many that say something about types are shown. Where something was not understood, more of what follows is of that.
    fn shown_of_types(&self) -> usize {
        if self.read.broken { 1 } else { self.shown }
    }

    fn kind(&self, diagnostic: &Diagnostic) -> Kind {
        let at = place(diagnostic).unwrap_or_default();
        let mut kind = Kind {
            of: String::new(),
            what: String::new(),
            base: String::new(),
            bodies: [self.read.body(at.start)].into_iter().chain(self.read.callee(at.start)).collect(),
            shown: self.shown_of_types(),
        };
        if !self.is_of_types(diagnostic, &mut kind) {
            self.is_of_words(diagnostic, &mut kind);
        }
        kind
    }

    /// Of what a declaration has become: a pointer, an array or a tuple, or the parameter of a generic function, which lacks a bound.
    fn is_of_types(&self, diagnostic: &Diagnostic, kind: &mut Kind) -> bool {
        let message = diagnostic.message.as_str();
        let label = diagnostic.labels.first().map_or("", |(_, label)| label);
        let types = || quoted(message).chain(quoted(label));
        let is_compound = |text: &&str| text.len() > 2 && text.starts_with(['*', '[', '(']);
        let is_generic = diagnostic.notes.iter().any(|note| note.starts_with("where `"));
        let is_parameter =
            |text: &&str| is_generic && text.len() == 1 && text.starts_with(|c: char| c.is_ascii_uppercase());
        if let Some(ty) = types().find(|ty| ty.starts_with("**")).or(types().find(is_compound)) {
            // What pointer something is tells more than which was expected there. A pointer to a pointer, and what it points to, are most
            // likely of one slip.
            let is_plain = ty.starts_with('*') && !ty.starts_with("**");
            let of = if is_plain { types().filter(is_compound).last().unwrap_or(ty) } else { ty };
            kind.of = of.trim_start_matches('*').to_owned();
            if self.read.broken || has_two_levels(types()) || label.starts_with("points to `*") {
                kind.base = types().find_map(pointee).unwrap_or_default().to_owned();
            }
        } else if message.starts_with("`*` needs a pointer") {
            kind.base = quoted(message).last().unwrap_or_default().to_owned();
            kind.of = format!("*{}", kind.base);
        } else if let Some(parameter) = types().find(is_parameter) {
            kind.base = parameter.to_owned();
            kind.of = message.to_owned();
        }
        !kind.of.is_empty()
    }

    /// Of what is said: what something has not that it had as what it was meant to be, a type too small for numbers, two types that do
    /// not go together.
    fn is_of_words(&self, diagnostic: &Diagnostic, kind: &mut Kind) {
        let message = diagnostic.message.as_str();
        let (at, label) = diagnostic.labels.first().map_or((0..0, ""), |(at, text)| (at.clone(), text));
        let lacks =
            [" has no field", " has no lanes ", " cannot be indexed", " lanes, found ", "missing in "];
        let of_type = lacks.iter().any(|what| message.contains(what));
        let of_types = matches!(diagnostic.code, "E0040" | "E0041") || message.ends_with("call it with `()`");
        let parsed = self.read.parsed > 0;
        let fewer = self.shown.min(Self::SHOWN - 1);
        let (of, what, shown) =
            match message.split_once("` does not fit in ").or(message.split_once("` takes a ")) {
                Some((_, ty)) => (ty, "", self.shown),
                None if of_type => {
                    (quoted(message).next().unwrap_or(message), "", fewer.min(self.shown_of_types()))
                }
                None if message.ends_with("different types") => ("", label, fewer.min(self.shown_of_types())),
                // The head of a function is missing, and this is its body; or what one `let` declares.
                None if parsed
                    && (message.ends_with("returns nothing") || message.starts_with("`let` takes")) =>
                {
                    (message, "", 1)
                }
                None if of_types => (message, "", self.shown_of_types()),
                None if parsed => (message, "", self.shown),
                None => (message, first_word(&self.read.source[at]), fewer),
            };
        (kind.of, kind.what, kind.shown) = (of.to_owned(), what.to_owned(), shown);
    }

    /// Many names in one body that nothing is called: what declares them is missing. Those behind the first ones are mentioned
    /// there.
    pub fn are_lost(&mut self, diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
        let is_lost = |one: &Diagnostic| one.code == "E0020" && one.message.starts_with("nothing is called");
        if !is_lost(diagnostic) {
            return false;
        }
        let body_of = |one: &Diagnostic| self.read.body(place(one).unwrap_or_default().start);
        let body = body_of(diagnostic);
        let in_body = |old: &Diagnostic| {
            let counts = diagnostic.suggestion.is_some() || old.suggestion.is_none();
            counts && is_lost(old) && body_of(old) == body
        };
        // A name that another one is like may be a slip of its own.
        let shown = if diagnostic.suggestion.is_some() {
            Self::SHOWN
        } else {
            self.shown_of_types().min(Self::SHOWN - 1)
        };
        if kept.iter().filter(|old| in_body(old)).count() < shown {
            return false;
        }
        let last = kept.iter().rposition(in_body).unwrap_or_default();
        self.names.extend(place(diagnostic).map(|at| (last, self.read.source[at].to_owned())));
        true
    }

    /// Whether enough of this kind are shown. It is counted then.
    pub fn are_many(&mut self, diagnostic: &Diagnostic) -> bool {
        let kind = self.kind(diagnostic);
        if self.kinds.iter().filter(|old| old.is_like(&kind)).count() < kind.shown {
            return false;
        }
        let last = self.kinds.iter().rposition(|old| old.is_like(&kind)).unwrap_or_default();
        match self.more.iter_mut().find(|(of, _)| *of == last) {
            Some((_, count)) => *count += 1,
            None => self.more.push((last, 1)),
        }
        true
    }

    /// Tells that a diagnostic is shown.
    pub fn keep(&mut self, diagnostic: &Diagnostic) {
        let kind = self.kind(diagnostic);
        self.kinds.push(kind);
    }

    /// Adds the notes to what is shown.
    pub fn note(&self, kept: &mut [Diagnostic]) {
        for &(last, count) in &self.more {
            let places = if count == 1 { "place" } else { "places" };
            kept[last].notes.push(format!("{count} more {places} like it"));
        }
        for of_body in self.names.chunk_by(|a, b| a.0 == b.0) {
            let names: Vec<String> = of_body.iter().map(|(_, name)| format!("`{name}`")).collect();
            kept[of_body[0].0].notes.push(format!("nor is anything called {}", names.join(", ")));
        }
    }
}

/// What stands in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split('`').skip(1).step_by(2)
}

/// Whether types are pointers of more than one level, counting what they lead to.
fn has_two_levels<'t>(types: impl Iterator<Item = &'t str> + Clone) -> bool {
    let Some(base) = types.clone().find_map(pointee) else { return false };
    let levels = |ty: &str| ty.bytes().filter(|&byte| byte == b'*').count();
    let mut of_base = types.filter(|ty| *ty == base || pointee(ty) == Some(base)).map(levels);
    let first = of_base.next();
    of_base.any(|level| Some(level) != first)
}

/// What a pointer, or the first one in an array or a tuple, leads to in the end.
fn pointee(ty: &str) -> Option<&str> {
    let ty = ty.trim_start_matches(['[', '(']);
    let ty = ty.split([';', ',', ')', ']']).next().unwrap_or(ty);
    (ty.len() > 1 && ty.starts_with('*')).then(|| ty.rsplit([' ', '*']).next().unwrap_or(ty))
}

/// The first name in a text.
fn first_word(text: &str) -> &str {
    let of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.split(|c| !of_name(c)).find(|word| !word.is_empty()).unwrap_or(text)
}
