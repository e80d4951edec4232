//! Damaged debug information: a debugger that reads it says what it can, and does not panic. `KERNC_HOSTILE=100000` for more of it.

use debug::{Action, FrontEnd, Program, Session, Step, Stop};
use sim::{Arg, CodeObject, Device, Dispatch};
use support::{Folder, Tool};

const SOURCE: &str = "\
typedef struct { int a; float b[3]; } S;
typedef struct { S *to; S in[2]; char c; } T;
static inline int once(int x) { int y = x * 3; return y + 1; }
__kernel void k(__global int *out, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  T t; t.in[1].a = once(i); t.to = t.in;
  out[i] = t.to[1].a + n;
}
";

/// An object of clang's; `None` where clang is missing.
fn compile(level: &str) -> Option<Vec<u8>> {
    let folder = Folder::new("hostile");
    let (source, object) =
        (folder.join(format!("hostile{level}.cl")), folder.join(format!("hostile{level}.co")));
    std::fs::write(&source, SOURCE).expect("a folder that can be written");
    let mut command = Tool::new("clang-19");
    command.args([
        "-target",
        "amdgcn-amd-amdhsa",
        "-x",
        "cl",
        "-cl-std=CL2.0",
        "-g",
        "-nogpulib",
        "-w",
        level,
    ]);
    command.args(["-Xclang", "-finclude-default-header", "-mcpu=gfx906"]);
    let status = command.arg(&source).arg("-o").arg(&object).status().ok()?;
    assert!(status.success(), "{level}");
    Some(std::fs::read(&object).expect("what clang wrote"))
}

/// Asks everything at the first stops.
struct Curious(u32);

impl FrontEnd for Curious {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        let _ = (stop.frames(), stop.running(), stop.ended(), stop.variables(0), stop.variables(63));
        let _ = (stop.lanes(), stop.position(5));
        for text in ["i", "t", "*t.to", "t.in[1].b[2]", "out[3]", "n == 4", "$v0", "t.in[-1]", "once.y"] {
            let _ = stop.value(text, 5);
        }
        let _ = stop.add_watchpoint("t.c");
        let _ = stop.add_breakpoint("7", Some("i == 3"));
        self.0 += 1;
        match self.0 {
            1..8 => Action::Step(Step::Line),
            8 => Action::Back(Step::Line),
            _ => Action::Quit,
        }
    }
}

/// The next of a sequence of numbers that look random.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn damaged_information_is_no_trouble() {
    let cases: u64 = std::env::var("KERNC_HOSTILE").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    for level in ["-O0", "-O2"] {
        let Some(sound) = compile(level) else { return };
        let parsed = codeobj::CodeObject::parse(&sound).expect("an object");
        let code = CodeObject::load(&sound).expect("it loads");
        let kernel = code.kernel("k").expect("the kernel");
        let names =
            [".debug_info", ".debug_abbrev", ".debug_line", ".debug_loclists", ".debug_addr", ".debug_str"];
        let ranges: Vec<std::ops::Range<usize>> = names
            .into_iter()
            .filter_map(|name| {
                let section = parsed.section(name)?;
                let start = section.data.as_ptr() as usize - sound.as_ptr() as usize;
                (!section.data.is_empty()).then_some(start..start + section.data.len())
            })
            .collect();
        assert!(ranges.len() >= 4, "{level}: {ranges:?}");
        for case in 0..cases {
            let mut state = case;
            let mut bytes = sound.clone();
            for _ in 0..1 + next(&mut state) % 8 {
                let range = &ranges[next(&mut state) as usize % ranges.len()];
                let at = range.start + next(&mut state) as usize % range.len();
                bytes[at] = next(&mut state) as u8;
            }
            let Ok(damaged) = codeobj::CodeObject::parse(&bytes) else { continue };
            let session =
                Session::new(Program::read(&damaged, |_| Some(SOURCE.to_owned())), Box::new(Curious(0)));
            loop {
                let mut device = Device::new();
                let module = device.load(&code).expect("it loads");
                let out = device.alloc(256).expect("there is room");
                let kernarg = kernel.pack(&[Arg::from(out), Arg::from(4)]).expect("its arguments");
                let (grid, debugger) = ([64, 1, 1], Some(&session as &dyn sim::Debugger));
                let dispatch =
                    Dispatch { kernel: "k", grid, group: grid, kernarg, debugger, ..Dispatch::default() };
                let _ = device.run(module, &dispatch);
                if !session.wants_again() {
                    break;
                }
            }
        }
    }
}
