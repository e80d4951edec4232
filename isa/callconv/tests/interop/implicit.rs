//! A kernel of LLVM's passes what it knows as arguments, to a function that stores them beside the registers of the implicit ones.

use crate::interop::machine::{Asm, Config, assemble};
use callconv::{Implicit, column};
use sim::{CodeObject, Device, Dispatch};
use support::{Folder, Tool};

/// Work-items of a group, and groups.
const GROUP: [u32; 3] = [4, 2, 2];
const GROUPS: [u32; 3] = [2, 2, 2];
/// Bytes of a work-item.
const SLOT: usize = 256;
/// The implicit arguments in the order of the kernel's explicit ones, each with the offset of what the kernel says, and of what its
/// registers have.
const PASSED: [(Implicit, usize); 7] = [
    (Implicit::WorkgroupId(0), 12),
    (Implicit::WorkgroupId(1), 16),
    (Implicit::WorkgroupId(2), 20),
    (Implicit::DispatchPtr, 24),
    (Implicit::QueuePtr, 32),
    (Implicit::ImplicitArgPtr, 40),
    (Implicit::DispatchId, 48),
];
const REGISTERS: usize = 128;

const KERNEL: &str = "
target datalayout = \"A5\"
target triple = \"amdgcn-amd-amdhsa\"
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
declare ptr addrspace(4) @llvm.amdgcn.queue.ptr()
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare i64 @llvm.amdgcn.dispatch.id()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.workgroup.id.z()
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workitem.id.y()
declare i32 @llvm.amdgcn.workitem.id.z()
declare void @observe(ptr addrspace(1), i32, i32, i32, i32, i32, i32, ptr addrspace(4), ptr addrspace(4), ptr addrspace(4), i64)
define amdgpu_kernel void @kernel(ptr addrspace(1) %out) nounwind {
  %x = call i32 @llvm.amdgcn.workitem.id.x()
  %y = call i32 @llvm.amdgcn.workitem.id.y()
  %z = call i32 @llvm.amdgcn.workitem.id.z()
  %gx = call i32 @llvm.amdgcn.workgroup.id.x()
  %gy = call i32 @llvm.amdgcn.workgroup.id.y()
  %gz = call i32 @llvm.amdgcn.workgroup.id.z()
  %dispatch = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %queue = call ptr addrspace(4) @llvm.amdgcn.queue.ptr()
  %implicit = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %id = call i64 @llvm.amdgcn.dispatch.id()
  %y4 = shl i32 %y, 2
  %z8 = shl i32 %z, 3
  %gx16 = shl i32 %gx, 4
  %gy32 = shl i32 %gy, 5
  %gz64 = shl i32 %gz, 6
  %a = or i32 %x, %y4
  %b = or i32 %z8, %gx16
  %c = or i32 %gy32, %gz64
  %d = or i32 %a, %b
  %e = or i32 %c, %d
  %at = shl i32 %e, 8
  %p = getelementptr i8, ptr addrspace(1) %out, i32 %at
  call void @observe(ptr addrspace(1) %p, i32 %x, i32 %y, i32 %z, i32 %gx, i32 %gy, i32 %gz, ptr addrspace(4) %dispatch, ptr addrspace(4) %queue, ptr addrspace(4) %implicit, i64 %id)
  ret void
}
";

fn kernel(llc: &str, config: &Config, stem: &str) -> Vec<u8> {
    let dir = Folder::new("implicit");
    let source = dir.join(format!("{stem}.ll"));
    std::fs::write(&source, KERNEL).unwrap();
    let object = source.with_added_extension("o");
    let mut command = Tool::new(llc);
    command.args(["-filetype=obj", "--amdhsa-code-object-version=4"]);
    if llc.ends_with("14") {
        command.arg("-opaque-pointers");
    }
    command.arg(format!("-mcpu={}", config.target.name));
    let mut features = Vec::new();
    if config.target.has(isa::Feature::XNACK) {
        features.push("-xnack".to_owned());
    }
    if config.target.has(isa::Feature::WAVE32) {
        features.push(format!("+wavefrontsize{}", config.target.wave_size));
    }
    command.arg(format!("-mattr={}", features.join(",")));
    let output = command.arg(&source).arg("-o").arg(&object).output().unwrap();
    assert!(output.status.success(), "{stem}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(&object).unwrap()
}

/// Arguments from `v2` on, then the registers of the table.
fn observer(config: &Config) -> String {
    let mut text = Asm { out: ".text\n".into(), config };
    text.begin("observe");
    for k in 0..14 {
        text.flat(true, &format!("v{}", k + 2), 0, 4 * k);
    }
    let mut at = REGISTERS;
    for what in PASSED.iter().map(|(what, _)| *what).chain([Implicit::WorkitemIds]) {
        let from = register(what, config);
        for dword in 0..what.dwords() {
            let kind = if what == Implicit::WorkitemIds { 'v' } else { 's' };
            text.put(&format!("v_mov_b32 v33, {kind}{}", from + dword));
            text.flat(true, "v33", 0, at);
            at += 4;
        }
    }
    text.end("observe");
    text.out
}

fn register(what: Implicit, config: &Config) -> u16 {
    let found = column(config.convention).implicit.iter().find(|(other, _)| *other == what);
    found.and_then(|(_, reg)| *reg).unwrap_or_else(|| panic!("{what:?} has no register"))
}

/// Compares what the kernel says with what the registers have, in each work-item.
pub fn run(llc: &str, config: &Config) {
    let stem = format!("implicit-{llc}-{}-{}", config.target.name, config.target.wave_size);
    let theirs = kernel(llc, config, &stem);
    let ours = assemble(&observer(config), config, &stem);
    let inputs =
        [("kernel", &theirs), ("ours", &ours)].map(|(name, data)| link::Input { name, data, is_lazy: false });
    let linked = link::link(&inputs, &link::Options::default())
        .unwrap_or_else(|faults| panic!("{stem}: {}", faults[0]));
    let mut device = Device::with_threads(1);
    let module =
        device.load(&CodeObject::load(&linked).unwrap()).unwrap_or_else(|fault| panic!("{stem}: {fault}"));
    let items = (GROUP.iter().product::<u32>() * GROUPS.iter().product::<u32>()) as usize;
    let bytes = (items * SLOT) as u64;
    let from = device.alloc(2 * bytes).unwrap();
    let out = from + (from.next_multiple_of(bytes) - from);
    let grid = [0, 1, 2].map(|d| GROUP[d] * GROUPS[d]);
    let kernarg = out.to_le_bytes().to_vec();
    let dispatch = Dispatch { kernel: "kernel", grid, group: GROUP, kernarg, ..Dispatch::default() };
    device.run(module, &dispatch).unwrap_or_else(|fault| panic!("{stem}: {fault}"));
    let mut found = vec![0; items * SLOT];
    device.read(out, &mut found).unwrap();
    let word = |item: usize, at: usize| {
        let at = item * SLOT + at;
        u32::from_le_bytes(found[at..at + 4].try_into().unwrap())
    };
    for item in 0..items {
        let mut at = REGISTERS;
        for (what, said) in PASSED {
            for dword in 0..usize::from(what.dwords()) {
                assert_eq!(word(item, at), word(item, said + 4 * dword), "{stem}: {what:?}, {item}");
                at += 4;
            }
        }
        let ids = word(item, 0) | word(item, 4) << 10 | word(item, 8) << 20;
        let expected = (item as u32 & 3) | (item as u32 >> 2 & 1) << 10 | (item as u32 >> 3 & 1) << 20;
        assert_eq!((ids, word(item, at)), (expected, expected), "{stem}: ids of {item}");
    }
    // They are no accident.
    assert_ne!(word(0, 24), word(0, 40), "{stem}");
}
