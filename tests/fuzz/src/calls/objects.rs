//! Splits a program into the sources of several objects: each function is defined in one of them, and
//! declared in the others.
//!
//! The program's text comes from the writer or from the reduction of a failing program: items begin at the
//! first column, and a function ends with a brace there.

/// Returns the sources. Variables, tables and the kernel are in the first source; a variable inside a
/// function stays with its function.
pub(super) fn split(source: &str, objects: usize) -> Vec<String> {
    let mut sources = vec![String::new(); objects];
    let mut functions = 0;
    let mut attributes = String::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let first = line.split(' ').next().unwrap_or_default();
        match first {
            "global" | "constant" | "shared" => variable(line, &mut sources),
            "fn" => {
                let mut text = line.to_owned() + "\n";
                body(&mut lines, &mut text);
                let owner = functions % objects;
                functions += 1;
                for (number, source) in sources.iter_mut().enumerate() {
                    match number == owner {
                        true => *source += &format!("#[export]\n{text}"),
                        false => *source += &format!("extern {};\n", line.trim_end_matches(" {")),
                    }
                }
                attributes.clear();
            }
            "kernel" => {
                sources[0] += &format!("{attributes}{line}\n");
                body(&mut lines, &mut sources[0]);
            }
            _ if line.starts_with("#[") => attributes += &format!("{line}\n"),
            _ => sources.iter_mut().for_each(|source| *source += &format!("{line}\n")),
        }
    }
    sources
}

/// Appends the lines up to the brace that ends an item.
fn body<'a>(lines: &mut impl Iterator<Item = &'a str>, out: &mut String) {
    for line in lines {
        *out += line;
        *out += "\n";
        if line == "}" {
            return;
        }
    }
}

fn variable(line: &str, sources: &mut [String]) {
    let declared = line.split(" = ").next().unwrap_or(line).trim_end_matches(';');
    for (number, source) in sources.iter_mut().enumerate() {
        match number {
            0 => *source += &format!("{line}\n"),
            _ => *source += &format!("extern {declared};\n"),
        }
    }
}
