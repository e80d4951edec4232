//! Callers' registers: as they were at the call, and what `.cfi_*` directives say of them beside that.

use debug::{Action, FrontEnd, Program, Session, Step, Stop};
use sim::{CodeObject, Device, Dispatch};
use std::sync::{Arc, Mutex};

/// A kernel that calls a function, which calls another. Both save what they overwrite: in scratch as it lies in memory, in other registers.
const SOURCE: &str = r#"
.amdgcn_target "amdgcn-amd-amdhsa--gfx906"
.cfi_sections .debug_frame
.text
.globl k
.p2align 8
.type k,@function
k:
  s_add_u32 s0, s0, s5
  s_addc_u32 s1, s1, 0
  s_movk_i32 s32, 0x400
  s_movk_i32 s33, 7
  v_mov_b32 v40, v0
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, outer@rel32@lo+4
  s_addc_u32 s7, s7, outer@rel32@hi+12
  s_swappc_b64 s[30:31], s[6:7]
  s_endpgm
.size k, .-k

.p2align 2
.type outer,@function
outer:
  .cfi_startproc simple
  .cfi_llvm_def_aspace_cfa s32, 0, 6
  .cfi_escape 0x10, 0x10, 8, 0x90, 0x3e, 0x93, 4, 0x90, 0x3f, 0x93, 4
  s_mov_b32 s34, s33
  .cfi_register s33, s34
  s_mov_b32 s33, s32
  s_mov_b64 s[36:37], s[30:31]
  .cfi_escape 0x10, 0x10, 10, 0x90, 0xc4, 0x00, 0x93, 4, 0x90, 0xc5, 0x00, 0x93, 4
  s_addk_i32 s32, 0x400
  .cfi_llvm_def_aspace_cfa s33, 0, 6
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, inner@rel32@lo+4
  s_addc_u32 s7, s7, inner@rel32@hi+12
  s_swappc_b64 s[30:31], s[6:7]
  s_addk_i32 s32, 0xfc00
  s_mov_b32 s33, s34
  .cfi_llvm_def_aspace_cfa s32, 0, 6
  .cfi_restore s33
  .cfi_same_value s33
  s_setpc_b64 s[36:37]
  .cfi_endproc
.size outer, .-outer

.type inner,@function
inner:
  .cfi_startproc simple
  .cfi_llvm_def_aspace_cfa s32, 0, 6
  .cfi_escape 0x10, 0x10, 8, 0x90, 0x3e, 0x93, 4, 0x90, 0x3f, 0x93, 4
  buffer_store_dword v40, off, s[0:3], s32 offset:4
  s_waitcnt vmcnt(0)
  .cfi_offset 2600, 256
  v_mov_b32 v40, 0
  s_nop 0
  buffer_load_dword v40, off, s[0:3], s32 offset:4
  s_waitcnt vmcnt(0)
  .cfi_same_value 2600
  s_setpc_b64 s[30:31]
  .cfi_endproc
.size inner, .-inner

.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_private_segment_fixed_size 64
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_next_free_vgpr 48
  .amdhsa_next_free_sgpr 40
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 1]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 64
    .wavefront_size: 64
    .sgpr_count: 48
    .vgpr_count: 48
    .max_flat_workgroup_size: 64
    .args: []
.end_amdgpu_metadata
"#;

/// Goes through the kernel, and asks in each frame.
struct Walker {
    /// What is wrong with call frame information, in the order in which it was first said.
    wrong: Arc<Mutex<Vec<String>>>,
    /// Functions under way, each time that there were others.
    stacks: Arc<Mutex<Vec<Vec<String>>>>,
}

impl FrontEnd for Walker {
    fn stopped(&mut self, stop: &mut Stop<'_>) -> Action {
        let frames = stop.frames();
        let names: Vec<String> = frames.iter().map(|frame| frame.function.clone()).collect();
        for (number, name) in names.iter().enumerate() {
            let mut wrong = self.wrong.lock().expect("nobody has panicked");
            for one in stop.misled(number) {
                if !wrong.contains(&one) {
                    wrong.push(one);
                }
            }
            // `s33` and `v40` are the callers' own, wherever they are now.
            if number > 0 {
                let wanted = if name == "k" { "0x00000007" } else { "0x00000400" };
                let mut value = |text: &str| stop.on_frame(number, |stop| stop.value(text, 9));
                let (base, lane) = (value("$s33"), value("$v40"));
                assert_eq!(base.expect("kept").expect("a register").text, wanted, "{name}");
                assert_eq!(lane.expect("kept").expect("a register").text, "0x00000009", "{name}");
            }
        }
        assert!(stop.on_frame(names.len(), |_| ()).is_err());
        let mut stacks = self.stacks.lock().expect("nobody has panicked");
        if stacks.last() != Some(&names) {
            stacks.push(names);
        }
        Action::Step(Step::Instruction)
    }
}

/// What is said of the call frame information of a text.
fn walk(source: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let bytes = asm::assemble(source, &asm::Options::default()).expect("it is well-formed");
    let object = CodeObject::load(&bytes).expect("it loads");
    let parsed = codeobj::CodeObject::parse(&bytes).expect("an object");
    let (wrong, stacks) = (Arc::default(), Arc::default());
    let walker = Walker { wrong: Arc::clone(&wrong), stacks: Arc::clone(&stacks) };
    let session = Session::new(Program::read(&parsed, |_| None), Box::new(walker));
    let mut device = Device::new();
    let module = device.load(&object).expect("it loads");
    let dispatch = Dispatch {
        kernel: "k",
        grid: [64, 1, 1],
        group: [64, 1, 1],
        debugger: Some(&session),
        ..Dispatch::default()
    };
    device.run(module, &dispatch).expect("it runs");
    let (wrong, stacks) = (wrong.lock().expect("no panic"), stacks.lock().expect("no panic"));
    (wrong.clone(), stacks.clone())
}

#[test]
fn directives_that_are_right_are_not_complained_of() {
    let (wrong, stacks) = walk(SOURCE);
    assert_eq!(wrong, Vec::<String>::new());
    let wanted: [&[&str]; 5] = [&["k"], &["outer", "k"], &["inner", "outer", "k"], &["outer", "k"], &["k"]];
    assert_eq!(stacks, wanted);
}

/// Each mistake, and what is said of it.
#[test]
fn directives_that_are_wrong_are_found() {
    for (right, wrong, said) in [
        (".cfi_register s33, s34", ".cfi_register s33, s32", "s33 is 0x00000400, and was 0x00000007"),
        (".cfi_offset 2600, 256", ".cfi_offset 2600, 0", "v40 of lane 0 is 0xbadc0de5, and was 0x00000000"),
        (
            "  .cfi_same_value s33\n  s_setpc",
            "  .cfi_register s33, s32\n  s_setpc",
            "s33 is 0x00000400, and was 0x00000007",
        ),
        (
            "0x90, 0xc4, 0x00, 0x93, 4, 0x90, 0xc5",
            "0x90, 0xc5, 0x00, 0x93, 4, 0x90, 0xc5",
            "it returns to 0x",
        ),
        (".cfi_llvm_def_aspace_cfa s33, 0, 6", ".cfi_llvm_def_aspace_cfa 5000, 0, 6", "where the frame is: "),
    ] {
        assert!(SOURCE.contains(right), "{right}");
        let (found, _) = walk(&SOURCE.replace(right, wrong));
        assert!(found.iter().any(|one| one.starts_with(said)), "{wrong}: {found:#?}");
    }
}
