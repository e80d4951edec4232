//! The table of lines, with statements.

use crate::DebugInfo;
use emit::Image;
use objwriter::dwarf::{Contents, LineTable, LineTableHeader};

/// `.debug_line`.
pub fn write(info: &DebugInfo, image: &Image<'_>) -> Contents {
    let header = LineTableHeader {
        version: info.options.version.number(),
        file: &info.lines.file,
        source: info.source.as_deref(),
        statements: true,
    };
    let mut table = LineTable::with_header(Contents::default(), image.text, &header);
    for (function, &(start, end)) in info.functions.iter().zip(image.functions) {
        table.begin(start);
        let Some(function) = function else {
            table.end(end);
            continue;
        };
        let mut last = None;
        let mut in_prologue = true;
        for line in &function.code.lines {
            let place = info.line(ir::SrcLoc(line.loc));
            // Of a place alone it is of no interest which part of the line it is.
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
            table.row(start + u64::from(line.start), place.0, place.1);
        }
        table.end(end);
    }
    table.finish()
}
