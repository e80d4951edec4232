//! `meanings/*.c`, compiled by clang for the host: one program that answers all requests of a test.

use super::{INPUT, Input, Mode, OUTPUT};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use support::{Folder, Tool};

const CLANG: &str = "clang-19";

/// What a lane holds afterwards, and how exactly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    /// Destination.
    pub words: [u32; 4],
    /// The lane's bit of the mask that is written.
    pub mask: bool,
    /// The lane is not written.
    pub kept: bool,
    /// The manual leaves this case open.
    pub any: bool,
    /// Permitted error in units of the last place.
    pub ulp: u32,
    /// Permitted absolute error.
    pub near: f32,
}

/// The program.
pub struct Native {
    folder: Folder,
    names: HashSet<String>,
}

/// An instruction with its inputs.
pub struct Request<'a> {
    /// Name of the meaning.
    pub name: &'a str,
    /// MODE.
    pub mode: Mode,
    /// `clamp` of integers.
    pub clamp: bool,
    /// 6 to 10.
    pub generation: u32,
    /// Inputs.
    pub inputs: &'a [Input],
}

impl Native {
    /// Compiles; `None`, with a line that says so, where there is no clang.
    pub fn build() -> Option<Native> {
        support::find(CLANG, "the meanings of instructions")?;
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/meanings");
        let mut sources: Vec<PathBuf> = std::fs::read_dir(&dir)
            .expect("the sources")
            .map(|entry| entry.expect("a file").path())
            .collect();
        sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
        sources.sort();
        let folder = Folder::new("meanings");
        let file = folder.join("program");
        let mut command = Tool::new(CLANG);
        command.args(["-O2", "-ffp-contract=off", "-frounding-math", "-std=gnu11"]).args(&sources);
        let done = command.arg("-lm").arg("-o").arg(&file).output().expect("clang starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let list = Tool::new(&file).arg("--list").output().expect("the program starts").stdout;
        let names = String::from_utf8(list).expect("text").lines().map(str::to_owned).collect();
        Some(Native { folder, names })
    }

    /// Whether there is a meaning of that name.
    pub fn knows(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The answers, in order.
    pub fn run_requests(&self, requests: &[Request<'_>]) -> Vec<Vec<Expected>> {
        // Tests ask side by side.
        let asked = Folder::new("meanings-asked");
        let (from, to) = (asked.join("in"), asked.join("out"));
        let mut bytes = Vec::new();
        for request in requests {
            let Mode { float, ieee, dx10, fp16_overflow } = request.mode;
            let mode = float
                | u32::from(ieee) << 8
                | u32::from(dx10) << 9
                | u32::from(request.clamp) << 10
                | u32::from(fp16_overflow) << 11
                | request.generation << 16;
            for word in [request.name.len() as u32, mode, request.inputs.len() as u32] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(request.name.as_bytes());
            bytes.extend(request.inputs.iter().flat_map(|input| input.dwords()).flat_map(u32::to_le_bytes));
        }
        const { assert!(INPUT == 16) };
        std::fs::write(&from, bytes).expect("a temporary file");
        let status = Tool::new(self.folder.join("program"))
            .arg(&from)
            .writes(&to)
            .status()
            .expect("the program starts");
        assert!(status.success(), "the program ended with {status}");
        let answer = std::fs::read(&to).expect("an answer");
        let mut words =
            answer.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let lanes = |request: &Request<'_>| {
            assert_eq!(words.next(), Some(1), "no meaning of {}", request.name);
            let mut lane = || {
                let out: [u32; OUTPUT] =
                    std::array::from_fn(|_| words.next().expect("an answer for each lane"));
                Expected {
                    words: [out[0], out[1], out[2], out[3]],
                    mask: out[4] != 0,
                    kept: false,
                    any: out[5] != 0,
                    ulp: out[6],
                    near: f32::from_bits(out[7]),
                }
            };
            request.inputs.iter().map(|_| lane()).collect()
        };
        requests.iter().map(lanes).collect()
    }
}
