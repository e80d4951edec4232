//! `tests/math/swept.tsv`: what has been swept, with which code, and what came out.

use super::task::Task;
use std::path::PathBuf;

/// A line: a function, a type, and processors whose code does the same arithmetic.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub ty: String,
    pub processors: String,
    /// Hash of the code; `-`: not yet run.
    pub code: String,
    pub commit: String,
    pub numbers: String,
    /// In units in the last place; `same`: the bits of the swept processor.
    pub worst: String,
    pub at: String,
    pub limit: String,
}

const HEAD: &str = "function\ttype\tprocessors\tcode\tcommit\tnumbers\tworst\tat\tlimit";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/math/swept.tsv")
}

fn parse(line: &str) -> Row {
    let mut fields = line.split('\t').map(str::to_owned);
    let mut next = || fields.next().unwrap_or_default();
    Row {
        name: next(),
        ty: next(),
        processors: next(),
        code: next(),
        commit: next(),
        numbers: next(),
        worst: next(),
        at: next(),
        limit: next(),
    }
}

impl Row {
    pub fn is_of(&self, task: &Task) -> bool {
        self.name == task.name && self.ty == task.ty
    }

    /// What is wrong with its result.
    pub fn fault(&self) -> Option<String> {
        let (worst, limit) = (self.worst.parse::<f64>(), self.limit.parse::<f64>());
        let fine = match (self.code.as_str(), worst, limit) {
            ("-", ..) => true,
            (_, Ok(worst), Ok(limit)) => worst <= limit,
            _ => self.worst == "same",
        };
        (!fine)
            .then(|| format!("{} of {}: {} of {} at {}", self.name, self.ty, self.worst, self.limit, self.at))
    }
}

/// The rows of the file.
pub fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    text.lines().skip(1).map(parse).collect()
}

/// Puts rows in the place of those of the same function and type, and writes the file: a run that is stopped goes on there.
pub fn put(task: &Task, new: &[Row]) {
    let mut rows = rows();
    let at = rows.iter().position(|row| row.is_of(task)).unwrap_or(rows.len());
    rows.retain(|row| !row.is_of(task));
    rows.splice(at..at, new.iter().cloned());
    let line = |row: &Row| {
        let Row { name, ty, processors, code, commit, numbers, worst, at, limit } = row;
        [name, ty, processors, code, commit, numbers, worst, at, limit].map(String::as_str).join("\t")
    };
    let text = std::iter::once(HEAD.to_owned()).chain(rows.iter().map(line)).collect::<Vec<_>>().join("\n");
    let new = path().with_extension("new");
    std::fs::write(&new, text + "\n").unwrap();
    std::fs::rename(new, path()).unwrap();
}

/// A row that says that there is none.
pub fn not_run(task: &Task) -> Row {
    let none = String::new;
    Row {
        name: task.name.into(),
        ty: task.ty.into(),
        processors: none(),
        code: "-".into(),
        commit: none(),
        numbers: "0".into(),
        worst: none(),
        at: none(),
        limit: task.limit().to_string(),
    }
}
