//! `--html FILE`: writes a self-contained page about a code object. The page shows the source next to the
//! assembly, how often each line ran, the reason of each wait, control-flow graphs, register pressure,
//! occupancy, bank conflicts and findings.
//!
//! The Rust code collects the data ([`Page`], which is embedded in the page as JSON); `page.js` displays it
//! and `page.css` defines the style. The page makes no network requests.

mod code;
mod facts;
mod finding;
mod graph;

use super::report_renderer::ReportRenderer;
use super::{Failure, write};
use check::object::Entries;
use codeobj::disasm::Lines;
use kernc::sim::{self, Profile};
use serde::Serialize;
use std::path::Path;

pub use finding::{Finding, of_fault, of_note, of_report, of_static};

/// Input of the page.
pub struct Content<'a> {
    /// Command that makes the page: `check`, `run`.
    pub command: &'a str,
    /// File that was read.
    pub file: &'a Path,
    /// Bytes of the code object.
    pub object: &'a [u8],
    /// Processor for which the code is decoded. Overrides the processor that the object's header names.
    pub target: Option<&'static kernc::Target>,
    /// Provides the texts of the sources.
    pub teller: &'a ReportRenderer,
    /// The compiler's reasons for the instructions that it inserted, if they are known.
    pub reasons: &'a [kernc::Reason],
    /// Kernel that ran.
    pub kernel: Option<&'a str>,
    /// Profile of the run, and the kernel that it belongs to.
    pub profile: Option<(&'a Profile, &'a sim::KernelInfo)>,
    /// Findings to show.
    pub findings: Vec<Finding>,
    /// Control-flow graphs of the functions; empty if the compiler has not just compiled the object.
    pub flows: &'a [::graph::Flow],
}

/// Data of the page.
#[derive(Serialize)]
struct Page {
    command: String,
    file: String,
    version: &'static str,
    target: String,
    /// Kernel that ran.
    kernel: Option<String>,
    functions: Vec<code::Function>,
    sources: Vec<Source>,
    findings: Vec<Finding>,
    graphs: Vec<graph::Graph>,
    /// Number of wave instructions executed in the run, if a profile was recorded.
    executed: Option<u64>,
    /// Other facts about the run.
    run: Vec<facts::Fact>,
}

/// A source text.
#[derive(Serialize)]
struct Source {
    name: String,
    /// Lines of the source; `None` if it could not be read.
    lines: Option<Vec<String>>,
}

/// Writes the page to a file.
pub fn save(to: &Path, content: Content<'_>) -> Result<(), Failure> {
    write(to, html(&page(content)?)?.as_bytes())
}

fn page(content: Content<'_>) -> Result<Page, Failure> {
    let Content { file, object: bytes, .. } = content;
    let object = super::inspect::parse(file, bytes)?;
    let entries = Entries::new(&object, content.target)
        .map_err(|refusal| Failure::File(format!("{}: {refusal}; try `--mcpu`", file.display())))?;
    let lines = Lines::read(&object);
    let counts = content.profile.map(|(profile, _)| profile);
    let mut names = Vec::new();
    let mut functions = code::functions(&entries, &lines, counts, &mut names);
    // An object that the loader rejects has no facts.
    if let Ok(loaded) = sim::CodeObject::load(bytes) {
        for kernel in loaded.kernels() {
            let found = functions.iter_mut().find(|function| function.begins_at(kernel.entry));
            let Some(function) = found else { continue };
            function.explain(kernel, content.reasons);
            function.did_not_run = content.kernel.is_some_and(|ran| ran != kernel.name);
            facts::of_kernel(&loaded, kernel, function);
        }
    }
    let text = |name: String| Source {
        lines: content.teller.text(&name).map(|text| text.lines().map(str::to_owned).collect()),
        name,
    };
    Ok(Page {
        command: content.command.to_owned(),
        file: file.display().to_string(),
        version: env!("CARGO_PKG_VERSION"),
        target: entries.target().name.to_owned(),
        kernel: content.kernel.map(str::to_owned),
        executed: counts.map(Profile::executed),
        run: content.profile.map_or(Vec::new(), |(profile, kernel)| facts::of_run(profile, kernel)),
        functions,
        sources: names.into_iter().map(text).collect(),
        findings: content.findings,
        graphs: graph::graphs(content.flows),
    })
}

/// Returns the title of the page, escaped for HTML: the file name, and the name of the kernel that ran.
fn title(page: &Page) -> String {
    let name = Path::new(&page.file)
        .file_name()
        .map_or(page.file.clone(), |name| name.to_string_lossy().into_owned());
    let kernel = page.kernel.iter().map(|kernel| format!(": {kernel}"));
    let text = name + &kernel.collect::<String>();
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns the template with all its parts filled in.
fn html(page: &Page) -> Result<String, Failure> {
    let data = serde_json::to_string(page).map_err(|error| Failure::Internal(format!("error: {error}\n")))?;
    // In a script element, only `<` could end the data.
    let data = data.replace('<', "\\u003c");
    let parts = [("/* page.css */", include_str!("page.css")), ("/* page.js */", include_str!("page.js"))];
    let template = include_str!("page.html").replace("<!-- title -->", &title(page));
    let (head, tail) = template.split_once("/* data */").unwrap_or((&template, ""));
    let filled =
        |text: &str| parts.iter().fold(text.to_owned(), |text, (mark, part)| text.replace(mark, part));
    Ok(filled(head) + &data + &filled(tail))
}
