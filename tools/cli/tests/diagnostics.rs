//! Diagnostics as users and tools get them from the command line.

use std::process::Output;

const SOURCE: &str =
    "kernel k(x: *global f32) {\n    x[0] = y;\n    x[1] = 1 + true;\n    sqrtt(\"\u{e9}\\\"\");\n}\n";

fn kernc(args: &[&str]) -> Output {
    crate::kernc().args(args).output().unwrap()
}

fn source(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, SOURCE).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_code_is_explained() {
    for (code, _, meaning) in frontend::codes() {
        let output = kernc(&["explain", code]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.trim() == meaning.trim(), "{code}: {text}");
    }
    assert!(!kernc(&["explain", "E9999"]).status.success());
}

#[test]
fn several_errors_in_a_run() {
    let path = source("several.k");
    let output = kernc(&[&path, "--mcpu", "gfx906", "-o", "-"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(text.matches("error[").count() >= 3 && text.contains("several.k:2:"), "{text}");
}

#[test]
fn json_is_json() {
    let path = source("json.k");
    let output = kernc(&[&path, "--mcpu", "gfx906", "-o", "-", "--error-format", "json"]);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    // One value a line, or one for all.
    let values: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().unwrap();
    let list: Vec<&serde_json::Value> = values
        .iter()
        .flat_map(|value| value.as_array().map_or(vec![value], |list| list.iter().collect()))
        .collect();
    assert!(list.len() >= 3, "{text}");
    for value in list {
        let code = value["code"].as_str().unwrap();
        assert!(frontend::explain(code).is_some(), "{value}");
        assert!(value["message"].as_str().is_some_and(|message| !message.is_empty()), "{value}");
    }
}
