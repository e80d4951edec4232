//! Built-in functions of OpenCL, CUDA and HIP: each one that is no function here is told what to write instead, not a name that
//! only looks alike. `tests/data/foreign/*.txt` has the names.

use std::path::Path;

fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/foreign");
    let mut names = Vec::new();
    for file in ["opencl.txt", "cuda.txt"] {
        let text = std::fs::read_to_string(folder.join(file)).expect("part of the repository");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        names.extend(lines.flat_map(str::split_whitespace).map(str::to_owned));
    }
    names
}

/// What is said of a call by a name; `None` where the language has the function.
fn messages_of_call(name: &str) -> Option<Vec<String>> {
    let source = format!("kernel k(n: u32, p: *global u32) {{ p[0] = {name}(n, n); }}");
    let list = frontend::compile("foreign.k", &source, &frontend::Options::default()).err()?.list;
    let unknown = list.into_iter().find(|one| one.code == "E0022")?;
    Some(unknown.help)
}

#[test]
fn each_name_is_told_what_to_write() {
    let names = names();
    assert!(names.len() > 600, "only {} names", names.len());
    let wrong: Vec<String> = (names.iter())
        .filter_map(|name| {
            let help = messages_of_call(name)?;
            let is_told = help.iter().any(|text| !text.starts_with("a similar name"));
            (!is_told).then(|| format!("{name}: {help:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} names:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is proposed in place of a function compiles.
#[test]
fn what_is_proposed_compiles() {
    // Variables of the types that such functions have.
    const HEADS: [&str; 7] = [
        "n: u32, p: *global u32) { const a: u32 = 1; const b: u32 = 2; const c: u32 = 3; const d: u32 = 0; \
         let (x, y, z, w, v, m, s, i, lane, mask) = (n, n, n, n, n, n, n, n, n, n); let (high, low, insert, base) = (n, n, n, n); \
         let (offset, width, code, limit, expected, new) = (n, n, n, n, n, n);",
        "mask: u64) {",
        "n: u32) { let b = n > 1;",
        "n: f32) { let (a, b, c, x, y, z, w) = (n, n, n, n, n, n, n); let v = f32x4(n);",
        "n: f64) { let (a, b, c, x, y, z, w) = (n, n, n, n, n, n, n);",
        "x: f16, y: f16, v: f32x2) {",
        "v: f16x2, a: f16x2, b: f16x2, c: f32) {",
    ];
    let (mut tried, mut wrong) = (0, Vec::new());
    for name in names() {
        let Some(help) = messages_of_call(&name) else { continue };
        let Some(code) = help.first().and_then(|text| text.strip_prefix("write `")?.split('`').next()) else {
            continue;
        };
        // A name alone is that of the function, and some texts have a gap to fill.
        if code.contains(['…', ';', '=']) && !code.contains("==") && !code.contains(">=")
            || !code.contains([' ', '('])
        {
            continue;
        }
        tried += 1;
        let compiles = |head: &str| {
            ["let result = ", ""].iter().any(|start| {
                let source = format!("kernel k({head} {start}{code}; }}");
                frontend::compile("proposed.k", &source, &frontend::Options::default()).is_ok()
            })
        };
        if !HEADS.into_iter().any(compiles) {
            wrong.push(format!("{name}: {code}"));
        }
    }
    assert!(tried > 60, "only {tried} proposals are code");
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}
