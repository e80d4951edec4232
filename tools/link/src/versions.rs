//! Version scripts, which decide which names other objects may see.
//!
//! A script consists of any number of `NAME { global: PATTERN; ... local: PATTERN; ... } PARENT;`. Only the
//! lists matter here: the names of versions are read and ignored, because no loader of AMD GPU code evaluates
//! versions.

/// Patterns of names, which may contain `*`, `?` and `[...]`. The flag of a pattern says whether it hides the
/// names that it matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    patterns: Vec<(String, bool)>,
}

impl Versions {
    /// Parses a script.
    ///
    /// # Errors
    /// Says what is wrong, with the line.
    pub fn parse(text: &str) -> Result<Versions, String> {
        let tokens = tokens(text)?;
        let mut tokens = tokens.iter().peekable();
        let mut versions = Versions::default();
        while let Some((line, token)) = tokens.next() {
            // A version block begins either with the name of the version, followed by a brace, or directly
            // with the brace.
            let open = if token == "{" { Some(token) } else { tokens.next().map(|(_, token)| token) };
            if open.map(String::as_str) != Some("{") {
                return Err(format!("line {line}: `{{` is missing behind `{token}`"));
            }
            versions.block(&mut tokens)?;
            // The name of the parent version may come before the semicolon.
            for (_, token) in tokens.by_ref() {
                if token == ";" {
                    break;
                }
            }
        }
        Ok(versions)
    }

    fn block<'t>(
        &mut self,
        tokens: &mut std::iter::Peekable<impl Iterator<Item = &'t (usize, String)>>,
    ) -> Result<(), String> {
        let mut is_local = false;
        while let Some((line, token)) = tokens.next() {
            match token.as_str() {
                "}" => return Ok(()),
                ";" => {}
                "{" | ":" => return Err(format!("line {line}: `{token}` where a name should be")),
                "extern" => return Err(format!("line {line}: `extern` lists are not supported")),
                "global" | "local" if tokens.peek().is_some_and(|(_, next)| next == ":") => {
                    tokens.next();
                    is_local = token == "local";
                }
                name => self.patterns.push((name.to_owned(), is_local)),
            }
        }
        Err("a `}` is missing at the end".into())
    }

    /// Returns whether the script hides a name from other objects. An exact name takes precedence over
    /// patterns, and other patterns take precedence over `*`.
    pub fn hides(&self, name: &str) -> bool {
        let rank = |pattern: &str| match pattern {
            "*" => 2,
            pattern if is_pattern(pattern) => 1,
            _ => 0,
        };
        let matching =
            self.patterns.iter().filter(|(pattern, _)| matches(pattern.as_bytes(), name.as_bytes()));
        matching.min_by_key(|(pattern, _)| rank(pattern)).is_some_and(|(_, is_local)| *is_local)
    }

    /// Returns the exact names that are visible.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let seen = self.patterns.iter().filter(|(pattern, is_local)| !is_local && !is_pattern(pattern));
        seen.map(|(name, _)| name.as_str())
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Splits a script into words, quoted words and punctuation. Each has its line number.
fn tokens(text: &str) -> Result<Vec<(usize, String)>, String> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\n' => {
                line += 1;
                1
            }
            _ if first.is_whitespace() => first.len_utf8(),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                let length = rest.find("*/").ok_or(format!("line {line}: the comment has no end"))? + 2;
                line += rest[..length].matches('\n').count();
                length
            }
            '{' | '}' | ';' | ':' => {
                tokens.push((line, first.to_string()));
                1
            }
            '"' => {
                let length = rest[1..].find('"').ok_or(format!("line {line}: the text has no end"))?;
                tokens.push((line, rest[1..=length].to_owned()));
                length + 2
            }
            _ => {
                let ends = |c: char| c.is_whitespace() || "{};:\"#".contains(c);
                let length = rest.find(ends).unwrap_or(rest.len());
                tokens.push((line, rest[..length].to_owned()));
                length
            }
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// Returns whether a pattern matches a name. If the match fails, the last `*` is tried again and matches one
/// more character.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, n));
                at += 1;
                continue;
            }
            Some(_) => {
                if let Some(length) = one(&pattern[at..], name[n]) {
                    (at, n) = (at + length, n + 1);
                    continue;
                }
            }
            None => {}
        }
        let Some((place, taken)) = star else { return false };
        star = Some((place, taken + 1));
        (at, n) = (place + 1, taken + 1);
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Returns the length of the first element of a pattern (a letter, `?` or `[...]`), if this element matches
/// the letter. Returns `None` if it does not.
fn one(pattern: &[u8], letter: u8) -> Option<usize> {
    match pattern[0] {
        b'?' => Some(1),
        b'[' => {
            let end = pattern.iter().skip(2).position(|&byte| byte == b']')? + 2;
            let (is_not, set) = match pattern[1] {
                b'^' | b'!' => (true, &pattern[2..end]),
                _ => (false, &pattern[1..end]),
            };
            let mut found = false;
            let mut at = 0;
            while at < set.len() {
                let (low, high, length) = match set.get(at + 1..at + 3) {
                    Some(&[b'-', high]) => (set[at], high, 3),
                    _ => (set[at], set[at], 1),
                };
                found |= (low..=high).contains(&letter);
                at += length;
            }
            (found != is_not).then_some(end + 1)
        }
        byte => (byte == letter).then_some(1),
    }
}

#[test]
fn patterns() {
    let all = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
    assert!(all("*", "") && all("f*o", "fo") && all("f*o*r", "foobar") && all("?[a-c]", "xb"));
    assert!(!all("f*o", "for") && !all("?", "") && !all("[!a]", "a") && !all("", "x") && !all("[", "["));
}

#[test]
fn order_of_patterns() {
    let script = "# comment\nV1 { global: f; g*; /* more */ local: *; };\nV2 { gone*; local: g1; } V1;";
    let versions = Versions::parse(script).expect("a script");
    let hidden = ["f", "g1", "g2", "other", "gone"].map(|name| versions.hides(name));
    assert_eq!(hidden, [false, true, false, true, false]);
    assert_eq!(versions.names().collect::<Vec<_>>(), ["f"]);
    assert_eq!(Versions::parse("{ global: f;"), Err("a `}` is missing at the end".into()));
    assert_eq!(Versions::parse("V1 f;"), Err("line 1: `{` is missing behind `V1`".into()));
    assert!(Versions::parse("{ extern \"C++\" { f; }; };").is_err());
}
