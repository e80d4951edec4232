//! The line table, with statements.

use crate::DebugInfo;
use emit::Image;
use objwriter::dwarf::{Contents, LineTable, LineTableHeader, SourceFile};

/// Approximate size in bytes of a line table without rows.
const FEW: usize = 256;

/// Returns the contents of `.debug_line`.
pub fn write(info: &DebugInfo, image: &Image<'_>) -> Contents {
    let header = LineTableHeader {
        version: info.options.version.number(),
        statements: true,
        sources: info.source.is_some(),
    };
    let text = info.source.as_deref().unwrap_or_default();
    let text_of = |file| text.get(info.lines.text_of(file)).unwrap_or_default();
    let files = info.lines.files().enumerate().map(|(n, name)| SourceFile { name, text: text_of(n) });
    let rows: usize = info.functions.iter().flatten().map(|function| function.code.lines.len()).sum();
    let contents = Contents { bytes: Vec::with_capacity(FEW + 4 * rows), ..Contents::default() };
    let mut table = LineTable::new(contents, image.text, header, files);
    for (function, &(start, end)) in info.functions.iter().zip(image.functions) {
        table.begin(start);
        let Some(function) = function else {
            table.end(end);
            continue;
        };
        let mut last = None;
        let mut in_prologue = true;
        for line in &function.code.lines {
            let place = match (line.start, line.loc) {
                // Debuggers expect that the first row of a function has the source line of the function's
                // declaration.
                (0, 0) => info.declaration(function),
                _ => info.source_position(ir::SrcLoc(line.loc)),
            };
            // A row is omitted if no statement begins there and its source location is that of the previous
            // row, because it tells the debugger nothing.
            if line.is_statement {
                table.statement(true);
                if std::mem::take(&mut in_prologue) {
                    table.prologue_end();
                }
            } else if last == Some(place) {
                continue;
            } else {
                table.statement(line.start == 0);
            }
            last = Some(place);
            table.row(place.row(start + u64::from(line.start)));
        }
        table.end(end);
    }
    table.finish()
}
