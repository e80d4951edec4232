//! Groups diagnostics that most likely have one common mistake as their cause. Only the first diagnostics of
//! a group are shown. A note on the last shown diagnostic says how many others the group has.
//!
//! One wrong declaration produces an error at each of its uses. These errors mention the same types or
//! functions, so the grouping compares these as well as the messages.

use crate::cascading_errors::{Read, error_range};
use crate::diag::Diagnostic;
use smallvec::SmallVec;

/// State of the grouping. It has the group of each diagnostic that is shown, and counts the hidden
/// diagnostics of each group.
pub struct Alike<'r, 'p> {
    read: &'r Read<'p>,
    /// Number of diagnostics of one group to show.
    shown: usize,
    /// The group of each shown diagnostic, in the order in which the diagnostics are shown.
    kinds: Vec<Kind>,
    /// For each group with hidden diagnostics: the index of the last shown diagnostic of the group, and the
    /// number of hidden diagnostics.
    more: Vec<(usize, usize)>,
    /// Unknown names whose diagnostics are hidden. Each has the index of the shown diagnostic whose note will
    /// list the name.
    names: Vec<(usize, String)>,
}

/// Key by which diagnostics are grouped. Two diagnostics belong to one group if [`Kind::is_like`] returns
/// true.
struct Kind {
    /// First half of the grouping key. It is the wrong type that the message mentions, the type that lacks a
    /// member, or the whole message. The second half is the field `what`.
    of: String,
    what: String,
    /// The type behind all pointers, in a message about a pointer with too many or too few levels. In a
    /// message about a generic parameter, the name of the parameter. Empty in any other message.
    base: String,
    /// The functions that may contain the mistake: the function in which the diagnostic is located, and the
    /// function that is called at this position.
    bodies: SmallVec<[usize; 2]>,
    /// Number of diagnostics of this group to show.
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

    /// Creates the grouping. `unknown` says whether the program uses unknown names. If so, one diagnostic
    /// less of each group is shown, because other errors are then more often only consequences.
    pub fn new(read: &'r Read<'p>, unknown: bool) -> Self {
        let shown = Self::SHOWN - usize::from(unknown || read.parsed > 0);
        Alike { read, shown, kinds: Vec::new(), more: Vec::new(), names: Vec::new() }
    }

    /// Returns how many diagnostics about types to show in a group. After an error of the parser this is only
    /// one, because most later type errors are consequences of it.
    fn shown_of_types(&self) -> usize {
        if self.read.broken { 1 } else { self.shown }
    }

    fn kind(&self, diagnostic: &Diagnostic) -> Kind {
        let at = error_range(diagnostic).unwrap_or_default();
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

    /// Fills in the grouping key `kind` if the diagnostic is about a wrong type: a pointer, an array, a
    /// tuple, or a generic parameter that lacks a bound. Returns whether the diagnostic is about such a type.
    fn is_of_types(&self, diagnostic: &Diagnostic, kind: &mut Kind) -> bool {
        let message = diagnostic.message.as_str();
        let label = diagnostic.labels.first().map_or("", |(_, label)| label);
        let types = || quoted(message).chain(quoted(label));
        let is_compound = |text: &&str| text.len() > 2 && text.starts_with(['*', '[', '(']);
        let is_generic = diagnostic.notes.iter().any(|note| note.starts_with("where `"));
        let is_parameter =
            |text: &&str| is_generic && text.len() == 1 && text.starts_with(|c: char| c.is_ascii_uppercase());
        if let Some(ty) = types().find(|ty| ty.starts_with("**")).or(types().find(is_compound)) {
            // The message mentions the type of a value and the expected type. The type of the value says more
            // about the cause, so it becomes the key. Errors about a pointer and about a pointer to this
            // pointer most likely come from one mistake, so all `*` are removed from the key.
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

    /// Fills in the grouping key `kind` from the words of the message. The message may be about a missing
    /// member, a type that is too small for a number, or two types that do not match, for example.
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
                // After a syntax error, many diagnostics with one of these two messages most likely have one
                // cause. Perhaps a function lacks its head, so that its body belongs to no function, or one
                // `let` is wrong.
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

    /// Returns whether to hide the diagnostic of an unknown name. It is hidden if enough unknown names in the
    /// same function body are shown, because most likely one declaration is missing. The note on the last
    /// shown diagnostic then also lists the hidden name.
    pub fn are_lost(&mut self, diagnostic: &Diagnostic, kept: &[Diagnostic]) -> bool {
        let is_lost = |one: &Diagnostic| one.code == "E0020" && one.message.starts_with("nothing is called");
        if !is_lost(diagnostic) {
            return false;
        }
        let body_of = |one: &Diagnostic| self.read.body(error_range(one).unwrap_or_default().start);
        let body = body_of(diagnostic);
        let in_body = |old: &Diagnostic| {
            let counts = diagnostic.suggestion.is_some() || old.suggestion.is_none();
            counts && is_lost(old) && body_of(old) == body
        };
        // If the program has a name with a similar spelling, the unknown name may be a typing mistake of its
        // own instead of a consequence of a missing declaration. In this case, more diagnostics are shown
        // before further ones are hidden.
        let shown = if diagnostic.suggestion.is_some() {
            Self::SHOWN
        } else {
            self.shown_of_types().min(Self::SHOWN - 1)
        };
        if kept.iter().filter(|old| in_body(old)).count() < shown {
            return false;
        }
        let last = kept.iter().rposition(in_body).unwrap_or_default();
        self.names.extend(error_range(diagnostic).map(|at| (last, self.read.source[at].to_owned())));
        true
    }

    /// Returns whether enough diagnostics of this diagnostic's group are shown already. If so, the diagnostic
    /// is counted as hidden.
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

    /// Records that a diagnostic is shown.
    pub fn keep(&mut self, diagnostic: &Diagnostic) {
        let kind = self.kind(diagnostic);
        self.kinds.push(kind);
    }

    /// Adds the notes about hidden diagnostics to the shown ones.
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

/// Returns the parts of `text` that are in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split('`').skip(1).step_by(2)
}

/// Returns whether `types` has pointers to the same type with different numbers of levels, such as `*T` and
/// `**T`. The type `T` itself counts as having no level.
fn has_two_levels<'t>(types: impl Iterator<Item = &'t str> + Clone) -> bool {
    let Some(base) = types.clone().find_map(pointee) else { return false };
    let levels = |ty: &str| ty.bytes().filter(|&byte| byte == b'*').count();
    let mut of_base = types.filter(|ty| *ty == base || pointee(ty) == Some(base)).map(levels);
    let first = of_base.next();
    of_base.any(|level| Some(level) != first)
}

/// Returns the type behind all pointers of the pointer type `ty`, for example `T` for `**T`. For an array or
/// a tuple, looks at the first element type instead. Returns `None` if the type is not a pointer.
fn pointee(ty: &str) -> Option<&str> {
    let ty = ty.trim_start_matches(['[', '(']);
    let ty = ty.split([';', ',', ')', ']']).next().unwrap_or(ty);
    (ty.len() > 1 && ty.starts_with('*')).then(|| ty.rsplit([' ', '*']).next().unwrap_or(ty))
}

/// Returns the first name in a text.
fn first_word(text: &str) -> &str {
    let of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.split(|c| !of_name(c)).find(|word| !word.is_empty()).unwrap_or(text)
}
