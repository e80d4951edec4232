//! What no client sends: damaged headers, wrong JSON, requests with any arguments and at any time. The server answers each request with a
//! sentence or a body, and ends as it is documented. `KERNC_HOSTILE=2000` for more damaged sessions.

use crate::common::root;
use std::io::{Read, Write};
use std::process::Stdio;
use testkit::Rng;

/// A message, framed.
fn framed(json: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes()
}

fn request(seq: usize, command: &str, arguments: &str) -> Vec<u8> {
    framed(&format!(r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#))
}

/// What a server answers to bytes, and its exit code.
fn served(bytes: &[u8]) -> (String, i32) {
    let mut server = crate::kernc()
        .args(["debug", "--dap"])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kernc starts");
    let mut input = server.stdin.take().expect("a pipe");
    let mut output = server.stdout.take().expect("a pipe");
    let bytes = bytes.to_vec();
    // Who only writes waits for ever once nobody reads the answers.
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(&bytes);
    });
    let mut text = Vec::new();
    output.read_to_end(&mut text).expect("answers");
    writer.join().expect("a thread that ends");
    let left = server.wait_with_output().expect("an exit code");
    let errors = String::from_utf8_lossy(&left.stderr).into_owned();
    assert!(!errors.contains("panicked"), "{errors}");
    (String::from_utf8_lossy(&text).into_owned(), left.status.code().unwrap_or(-1))
}

#[test]
fn streams_that_are_none() {
    let cases: [(&[u8], &str); 6] = [
        (b"Content-Length: 12\r\n\r\n{\"seq\":", "ends after 7 of them"),
        (b"Content-Length: 99999999999999999999\r\n\r\n{}", "is no length of a message"),
        (b"Content-Length: 17179869184\r\n\r\n{}", "is longer than"),
        (b"Content-Length", "ends in a header"),
        (b"hello\r\n\r\n", "has no `Content-Length`"),
        (&[0xff; 10_000], "more than 4096 bytes"),
    ];
    for (bytes, why) in cases {
        let (text, code) = served(bytes);
        assert!(text.contains(why) && text.contains("\"success\":false"), "{text}");
        assert_eq!(code, 3, "{why}");
    }
    assert_eq!(served(b""), (String::new(), 0));
}

#[test]
fn messages_that_are_none() {
    let deep = "[".repeat(100_000);
    let none = [
        "",
        "{",
        "null",
        "[]",
        "3",
        "\"x\"",
        "{}",
        r#"{"seq":"x"}"#,
        r#"{"seq":1,"type":"event","event":"x"}"#,
        &deep,
    ];
    let none = none
        .into_iter()
        .chain([r#"{"seq":-1,"type":"request","command":7}"#, "{\"seq\":1,\"type\":\"request\"}"]);
    let mut bytes: Vec<u8> = none.clone().flat_map(framed).collect();
    bytes.extend(framed("\u{fffd}"));
    bytes.extend(request(9, "initialize", "{}"));
    bytes.extend(request(10, "disconnect", "{}"));
    let (text, code) = served(&bytes);
    assert_eq!(text.matches("\"success\":false").count(), none.count() + 1, "{text}");
    assert_eq!(text.matches("\"success\":true").count(), 2, "{text}");
    assert_eq!(code, 0);
}

/// Requests that do not end the session or let the dispatch go on for good.
const REQUESTS: [&str; 27] = [
    "attach",
    "cancel",
    "setBreakpoints",
    "setFunctionBreakpoints",
    "setInstructionBreakpoints",
    "setDataBreakpoints",
    "setExceptionBreakpoints",
    "breakpointLocations",
    "loadedSources",
    "source",
    "dataBreakpointInfo",
    "pause",
    "threads",
    "next",
    "stepIn",
    "stepOut",
    "stepBack",
    "stackTrace",
    "scopes",
    "variables",
    "evaluate",
    "completions",
    "exceptionInfo",
    "readMemory",
    "disassemble",
    "initialize",
    "gotoTargets",
];

/// Arguments: each field that any request has, with one wrong value.
fn wrong_arguments() -> Vec<String> {
    let fields = [
        "threadId",
        "frameId",
        "variablesReference",
        "expression",
        "name",
        "source",
        "breakpoints",
        "line",
        "endLine",
        "memoryReference",
        "count",
        "offset",
        "instructionOffset",
        "instructionCount",
        "start",
        "startFrame",
        "levels",
        "text",
        "filters",
        "dataId",
        "instructionReference",
        "asAddress",
        "bytes",
        "sourceReference",
        "path",
        "condition",
        "hitCondition",
    ];
    let long = format!("\"{}\"", "(*".repeat(5000));
    let values = [
        "null",
        "-1",
        "0",
        "1",
        "128",
        "18446744073709551615",
        "-9223372036854775808",
        "9223372036854775807",
        "1e400",
        "\"\"",
        "\"*\"",
        "\"0xffffffffffffffff\"",
        "\"global:0xffffffffffffffff:65536\"",
        "\"private:0:0xffffffffffffffff\"",
        "\"$s[0:999]\"",
        "\"\\u0000\\ud800x\"",
        &long,
        "{}",
        "[]",
        "[null]",
        r#"[{"line":4294967295,"name":"*0","dataId":"lds:0,0,0:0:1","instructionReference":"0x0"}]"#,
        "true",
    ];
    let all = |value: &str| fields.map(|field| format!("\"{field}\":{value}")).join(",");
    values.iter().map(|value| format!("{{{}}}", all(value))).collect()
}

/// A session up to a place, as bytes.
fn session(stop: bool) -> Vec<u8> {
    let program = root().join("examples/saxpy.k");
    let launch = format!(
        r#"{{"program":{program:?},"processor":"gfx906","grid":64,"args":["iota:64","zeros:64",2,64],"stopOnEntry":true}}"#
    );
    let mut bytes = request(1, "initialize", "{}");
    bytes.extend(request(2, "launch", &launch));
    if stop {
        bytes.extend(request(3, "configurationDone", "{}"));
        bytes.extend(request(4, "threads", "{}"));
    }
    bytes
}

#[test]
fn any_request_at_any_time() {
    let arguments = wrong_arguments();
    let launched = |stop| {
        let mut bytes = session(stop);
        for (at, arguments) in arguments.iter().enumerate() {
            for (number, command) in REQUESTS.into_iter().enumerate() {
                bytes.extend(request(1000 * (at + 1) + number, command, arguments));
            }
        }
        bytes.extend(request(7, "disconnect", "{}"));
        bytes
    };
    for stop in [false, true] {
        let (text, code) = served(&launched(stop));
        let responses = text.matches("\"type\":\"response\"").count();
        // 1e400 is no number of JSON: the message is refused as a whole, but answered.
        let wanted = arguments.len() * REQUESTS.len() + 3 + 2 * usize::from(stop);
        assert_eq!((responses, code), (wanted, 0), "{}", text.chars().take(2000).collect::<String>());
        assert!(text.len() < 100 << 20, "{} bytes", text.len());
    }
}

#[test]
fn damaged_sessions() {
    let count = std::env::var("KERNC_HOSTILE").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let mut whole = session(true);
    for (seq, (command, arguments)) in [
        ("setBreakpoints", r#"{"source":{"path":"saxpy.k"},"breakpoints":[{"line":7,"condition":"$v0 == 3","hitCondition":"% 2"}]}"#),
        ("stackTrace", r#"{"threadId":128,"levels":20}"#),
        ("scopes", r#"{"frameId":1}"#),
        ("variables", r#"{"variablesReference":3}"#),
        ("evaluate", r#"{"expression":"$v0 == 3","context":"repl"}"#),
        ("disassemble", r#"{"memoryReference":"0x1700","instructionOffset":-5,"instructionCount":20}"#),
        ("readMemory", r#"{"memoryReference":"global:0x4fffff000","count":64}"#),
        ("next", r#"{"threadId":128,"granularity":"line"}"#),
        ("stepBack", r#"{"threadId":128}"#),
        ("continue", r#"{"threadId":128}"#),
    ]
    .into_iter()
    .enumerate()
    {
        whole.extend(request(10 + seq, command, arguments));
    }
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let mut bytes = whole.clone();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len() as u32) as usize;
            match rng.below(3) {
                0 => bytes[at] = rng.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes[at] ^= 1 << rng.below(8),
            }
        }
        let (_, code) = served(&bytes);
        assert!(code == 0 || code == 3, "seed {seed}: {code}");
    }
}
