//! The GDB remote serial protocol: what Debian's `gdb-multiarch` does with it and with our objects, and what hostile packets do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use support::{Random, Tool};

const GDB: &str = "gdb-multiarch";

/// A debugged kernel that waits for GDB.
struct Server {
    child: Child,
    port: String,
}

impl Server {
    fn start(args: &[&str]) -> Server {
        let mut command = crate::kernc();
        command.arg("debug").args(args).args(["--gdb", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("kernc");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.as_mut().expect("standard output"));
        out.read_line(&mut line).expect("a line");
        let port = line.rsplit(':').next().map(|port| port.trim_end_matches(['`', '\n']).to_owned());
        Server { child, port: port.expect("a port") }
    }

    /// Whether the kernel has ended as it should.
    fn end(mut self) -> bool {
        self.child.wait().expect("an end").success()
    }
}

/// A test that fails leaves nobody waiting.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// What GDB prints, and what comes by way of its errors: what monitor commands print is there, too. `None` where it is not installed.
fn gdb(server: Option<&Server>, commands: &[&str], file: &str) -> Option<[String; 2]> {
    let mut command = Tool::new(GDB);
    command.current_dir(crate::common::root());
    command.args(["-nx", "--batch"]);
    // Entries of call frame information without a rule for the frame, as clang writes them, end GDB 13 with an internal error.
    command.args(["-ex", "maintenance set dwarf unwinders off"]);
    if let Some(Server { port, .. }) = server {
        command.fresh().args(["-ex", &format!("target remote localhost:{port}")]);
    }
    commands.iter().for_each(|one| {
        command.args(["-ex", one]);
    });
    let output = command.arg(file).output().ok()?;
    Some([output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()))
}

/// The object of a kernel.
fn object(source: &str) -> String {
    let stem = PathBuf::from(source).file_stem().expect("a name").to_owned();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(stem).with_extension("gdb.co");
    let path = path.to_str().expect("a name").to_owned();
    let mut command = crate::kernc();
    command.args([source, "--mcpu", "gfx906", "-o", &path]);
    assert!(command.status().expect("kernc").success());
    path
}

/// Lines that all are there, in this order.
#[track_caller]
fn has(text: &str, lines: &[&str]) {
    let mut rest = text;
    for line in lines {
        let Some(at) = rest.find(line) else { panic!("`{line}` is missing, or not in its place:\n{text}") };
        rest = &rest[at + line.len()..];
    }
}

const CALLS: &str = "tests/golden/debug/calls.k";
const WAVES: &str = "tests/data/gdb/waves.k";

#[test]
fn gdb_debugs_a_kernel_there_and_back() {
    let object = object(CALLS);
    let server =
        Server::start(&[&object, "--grid", "64", "iota:64", "zeros:64", "--gdb-architecture", "aarch64"]);
    let commands = [
        "print/x $exec",
        "print $v0[5]",
        "print sizeof($v0)",
        "break inner",
        "continue",
        "monitor backtrace",
        "stepi",
        "monitor where",
        "reverse-stepi",
        "monitor where",
        "delete",
        "break calls.k:11",
        "continue",
        "reverse-continue",
        "monitor where",
        "monitor continue",
        "monitor nonsense",
        "set var $s0 = 3",
        "delete",
        // The end of the dispatch is the end of what can be replayed.
        "continue",
        "monitor where",
        "reverse-stepi",
        "monitor where",
        "stepi",
        "continue",
    ];
    let Some([text, errors]) = gdb(Some(&server), &commands, &object) else {
        TcpStream::connect(format!("localhost:{}", server.port)).expect("a server");
        assert!(server.end());
        return println!("left out: no {GDB}");
    };
    let lines = [
        "$1 = 0xffffffffffffffff",
        "$2 = 5",
        "$3 = 256",
        "Breakpoint 1 at",
        "Breakpoint 1, ",
        "Breakpoint 1, ",
        "Breakpoint 2 at",
        "Breakpoint 2, outer () at ./tests/golden/debug/calls.k:11",
        "No more reverse-execution history",
        "No more reverse-execution history",
        "No more reverse-execution history",
        "exited normally",
    ];
    has(&text, &lines);
    let lines = [
        "#0 inner at 0x",
        "#1 outer at tests/golden/debug/calls.k:10",
        "#2 t at tests/golden/debug/calls.k:17",
        "v_readfirstlane_b32",
        "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)",
        "instruction 1, ",
        "what moves on is a command of GDB itself",
        "there is no command `nonsense`",
        "registers and memory can be read, not written",
        "the dispatch has ended; its last instruction is this:",
        "s_endpgm",
        "s_endpgm",
    ];
    has(&errors, &lines);
    assert!(server.end());
}

/// Waves are threads; memory is flat.
#[test]
fn gdb_sees_waves_and_memory() {
    let object = object(WAVES);
    let args = [&object, "--grid", "256", "--group", "128", "iota:256", "--gdb-architecture", "aarch64"];
    let server = Server::start(&args);
    let commands = [
        "break waves.k:8",
        "continue",
        "info threads",
        "thread 2",
        "monitor wave 1 print $exec",
        "print $v0[1]",
        "stepi",
        "print $_thread",
        "delete",
        // The beginning of LDS.
        "x/4dw 0x1000000000000",
        "x/2xw 0x10",
        "continue",
        "continue",
    ];
    let Some([text, errors]) = gdb(Some(&server), &commands, &object) else {
        TcpStream::connect(format!("localhost:{}", server.port)).expect("a server");
        assert!(server.end());
        return println!("left out: no {GDB}");
    };
    let lines = [
        "Breakpoint 1, ",
        "Thread 1 \"group (0, 0, 0) wave 0\"",
        "Thread 2 \"group (0, 0, 0) wave 1\"",
        "Switching to thread 2",
        "$1 = 65",
        "$2 = 2",
        "0x1000000000000:\t0\t3\t6\t9",
        "exited normally",
    ];
    has(&text, &lines);
    has(&errors, &["0xffffffffffffffff", "Cannot access memory at address 0x10"]);
    assert!(server.end());
}

/// The description names AMD's architecture; a GDB without it says so.
#[test]
fn gdb_without_the_architecture_says_so() {
    let object = object(CALLS);
    let server = Server::start(&[&object, "--grid", "64", "iota:64", "zeros:64"]);
    if let Some([_, errors]) = gdb(Some(&server), &[], &object) {
        let [_, knows] = gdb(None, &["set architecture amdgcn:gfx906"], &object).expect("it is there");
        if knows.contains("Undefined item") {
            has(&errors, &["specified unknown architecture \"amdgcn:gfx906\""]);
        }
    } else {
        TcpStream::connect(format!("localhost:{}", server.port)).expect("a server");
        println!("left out: no {GDB}");
    }
    assert!(server.end());
}

/// Our files without the stub: lines and symbols are the standard's.
#[test]
fn gdb_reads_our_line_tables() {
    let object = object(CALLS);
    let commands = ["info line calls.k:17", "info symbol outer", "list calls.k:4,5", "info symbol inner"];
    let Some([text, _]) = gdb(None, &commands, &object) else { return println!("left out: no {GDB}") };
    let lines = [
        "Line 17 of \"./tests/golden/debug/calls.k\" starts at address 0x",
        "<t+",
        "outer in section .text",
        "4\tfn inner(x: u32, of: *global u32) -> u32 {",
        "inner in section .text",
    ];
    has(&text, &lines);
}

/// Functions and lines begin where GDB has them, by the same line table: `Breakpoint 1 at 0x1544: file a.k, line 4.`
#[test]
fn breakpoints_are_where_gdb_has_them() {
    let places = ["inner", "outer", "t", "calls.k:5", "calls.k:10", "calls.k:11", "calls.k:17"];
    for level in ["-O0", "-O2"] {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("places{level}.co"));
        let path = path.to_str().expect("a name").to_owned();
        let mut command = crate::kernc();
        command.args([CALLS, "--mcpu", "gfx906", "-g", level, "-o", &path]);
        assert!(command.status().expect("kernc").success());
        let asked: Vec<String> = places.iter().map(|place| format!("break {place}")).collect();
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let Some([text, _]) = gdb(None, &asked, &path) else { return println!("left out: no {GDB}") };
        let theirs = text.lines().filter_map(|line| {
            let (address, place) = line.split_once(" at 0x")?.1.split_once(": file ")?;
            let line = place.trim_end_matches('.').rsplit("line ").next()?;
            Some((format!("0x{address}"), line.to_owned()))
        });
        let theirs: Vec<(String, String)> = theirs.collect();
        assert_eq!(theirs.len(), places.len(), "{text}");
        for (place, (address, line)) in places.iter().zip(theirs) {
            let commands =
                [format!("break {place}"), "continue".to_owned(), "where".to_owned(), "quit".to_owned()];
            let mut command = crate::kernc();
            command.args(["debug", &path, "--grid", "64", "iota:64", "zeros:64"]);
            command.args(commands.iter().flat_map(|one| ["-x", one]));
            let output = command.stdin(Stdio::null()).output().expect("kernc");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            has(&text, &[&format!("calls.k:{line}\n"), &format!(", {address}: ")]);
        }
    }
}

/// What a client says, and one packet of what it hears.
struct Client(TcpStream);

impl Client {
    fn new(server: &Server) -> Client {
        let stream = TcpStream::connect(format!("localhost:{}", server.port)).expect("a server");
        stream.set_nodelay(true).expect("a stream");
        Client(stream)
    }

    fn send_packet(&mut self, body: &[u8]) {
        let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        let packet = [b"$", body, format!("#{sum:02x}").as_bytes()].concat();
        // The server may have gone: what it says then is seen.
        let _ = self.0.write_all(&packet);
    }

    /// The next packet; nothing at the end.
    fn hear(&mut self) -> Option<String> {
        let mut body = Vec::new();
        let mut byte = [0];
        while byte != *b"$" {
            self.0.read_exact(&mut byte).ok()?;
        }
        loop {
            self.0.read_exact(&mut byte).ok()?;
            match byte[0] {
                b'#' => break,
                other => body.push(other),
            }
        }
        self.0.read_exact(&mut [0; 2]).ok()?;
        Some(String::from_utf8_lossy(&body).into_owned())
    }

    fn request(&mut self, body: &str) -> String {
        self.send_packet(body.as_bytes());
        self.hear().unwrap_or_else(|| panic!("no answer to {body}"))
    }
}

/// Each packet that does not move on has an answer, whatever it is.
#[test]
fn hostile_packets_are_answered() {
    let server = Server::start(&[CALLS, "--mcpu", "gfx906", "--grid", "64", "iota:64", "zeros:64"]);
    let mut client = Client::new(&server);
    let words: [&[u8]; 24] = [
        b"?",
        b"qSupported",
        b"qXfer:features:read:target.xml:",
        b"qXfer:threads:read::",
        b"qRcmd,",
        b"Hg",
        b"Hc",
        b"T",
        b"p",
        b"m",
        b"G",
        b"Z0,",
        b"Z2,",
        b"z2,",
        b"vCont?",
        b"qThreadExtraInfo,",
        b"qOffsets",
        b"g",
        b"X",
        b"M",
        b"ffffffffffffffff",
        b",",
        b"0",
        b"\xff",
    ];
    let mut random = Random::new(3);
    for _ in 0..2000 {
        let mut body = words[random.below(words.len())].to_vec();
        for _ in 0..random.below(5) {
            match random.below(3) {
                0 => body.extend(words[20 + random.below(4)]),
                1 => body.push(b"0123456789abcdef,;:-"[random.below(20)]),
                _ => body.extend(format!("{:x}", random.bits() >> random.below(64)).bytes()),
            }
        }
        client.send_packet(&body);
        assert!(client.hear().is_some(), "{}", String::from_utf8_lossy(&body));
    }
    assert!(client.request("qXfer:features:read:target.xml:0,1000").contains("<architecture>amdgcn:gfx906<"));
    // Damaged and unending packets: the first are asked for again, the others end the session, and the kernel runs to its end.
    client.0.write_all(b"$?#00").expect("a stream");
    assert!(client.request("?").starts_with("T05thread:1;"));
    let _ = client.0.write_all(&[b'$'; 1 << 16]);
    assert_eq!(client.hear(), None);
    assert!(server.end());
}

/// `^C` stops what runs.
#[test]
fn an_interrupt_stops_a_loop() {
    let server = Server::start(&[
        "tests/data/gdb/forever.k",
        "--mcpu",
        "gfx906",
        "--grid",
        "64",
        "--mode",
        "fast",
        "zeros:64",
    ]);
    let mut client = Client::new(&server);
    assert_eq!(client.request("QStartNoAckMode"), "OK");
    client.send_packet(b"vCont;c");
    client.0.write_all(b"\x03").expect("a stream");
    let mut heard = client.hear().expect("a packet");
    if heard.starts_with('O') {
        heard = client.hear().expect("a stop");
    }
    assert!(heard.starts_with("T02thread:1;0:"), "{heard}");
    client.send_packet(b"k");
    assert!(server.end());
}
