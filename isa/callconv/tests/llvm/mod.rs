//! Facts of LLVM's columns, found in what `llc` makes of small functions. The name of a test is the name that a fact's source has.

mod code;

use callconv::{
    After, Convention, Entry, Implicit, Inreg, Preserved, Stack, Subject, column, preserved, states,
};
use code::{Line, for_each_processor, for_new_processor};
use isa::{Counter, Feature, Subtarget};

const FUNCTIONS: &str = include_str!("functions.ll");
/// For processors with FLAT instructions.
const FLAT: &str = "
target datalayout = \"A5\"
target triple = \"amdgcn-amd-amdhsa\"
declare void @ext()
define i32 @flat(ptr %p) nounwind {
  %v = load i32, ptr %p
  ret i32 %v
}
define amdgpu_kernel void @kernel() nounwind {
  call void @ext()
  ret void
}
";
/// LLVM 14 has no such thing.
const LDS_KERNEL_ID: &str = "
target triple = \"amdgcn-amd-amdhsa\"
declare i32 @llvm.amdgcn.lds.kernel.id()
define i32 @lds_kernel_id() nounwind {
  %v = call i32 @llvm.amdgcn.lds.kernel.id()
  ret i32 %v
}
";

const INREG: &str = "
target triple = \"amdgcn-amd-amdhsa\"
declare i32 @outside(i32 inreg, i32)
define i32 @callee(i32 inreg %a, i32 %b) nounwind {
  ret i32 %a
}
define i32 @caller() nounwind {
  %r = call i32 @outside(i32 inreg 77, i32 78)
  ret i32 %r
}
";
const VARIADIC: &str = "
target datalayout = \"A5\"
target triple = \"amdgcn-amd-amdhsa\"
declare i32 @outside(i32, ...)
define i32 @variadic() nounwind {
  %r = call i32 (i32, ...) @outside(i32 1, i32 2, i32 3)
  ret i32 %r
}
";

const LANES: &str = "
target datalayout = \"A5\"
target triple = \"amdgcn-amd-amdhsa\"
declare void @outside([31 x i32], <4 x i8>)
define i8 @callee([31 x i32] %a, <4 x i8> %v) nounwind {
  %p = alloca <4 x i8>, align 4, addrspace(5)
  store <4 x i8> %v, ptr addrspace(5) %p
  %q = getelementptr i8, ptr addrspace(5) %p, i32 1
  %r = load volatile i8, ptr addrspace(5) %q
  ret i8 %r
}
define void @caller() nounwind {
  call void @outside([31 x i32] zeroinitializer, <4 x i8> <i8 1, i8 2, i8 3, i8 4>)
  ret void
}
";

const SMALL: &str = "
target triple = \"amdgcn-amd-amdhsa\"
declare void @outside([31 x i32], i8 zeroext, i8 signext)
define void @caller(i32 %a) nounwind {
  %b = trunc i32 %a to i8
  call void @outside([31 x i32] zeroinitializer, i8 zeroext %b, i8 signext %b)
  ret void
}
define i32 @unsigned([31 x i32] %x, i8 zeroext %a) nounwind {
  %r = zext i8 %a to i32
  ret i32 %r
}
define i32 @signed([31 x i32] %x, i8 signext %a) nounwind {
  %r = sext i8 %a to i32
  ret i32 %r
}
";

/// What the table says of a part of the state.
fn state_of(convention: Convention, target: &Subtarget, subject: Subject) -> (Entry, After) {
    let found = states(convention, target).find(|state| state.subject == subject);
    let state = found.unwrap_or_else(|| panic!("{subject:?}"));
    (state.entry, state.after)
}

fn stack(convention: Convention) -> &'static Stack {
    &column(convention).stack
}

#[test]
fn implicit_arguments() {
    let functions: [(&str, Implicit); 7] = [
        ("dispatch_ptr", Implicit::DispatchPtr),
        ("queue_ptr", Implicit::QueuePtr),
        ("implicitarg_ptr", Implicit::ImplicitArgPtr),
        ("dispatch_id", Implicit::DispatchId),
        ("workgroup_x", Implicit::WorkgroupId(0)),
        ("workgroup_y", Implicit::WorkgroupId(1)),
        ("workgroup_z", Implicit::WorkgroupId(2)),
    ];
    let place = |convention, what| {
        let found = column(convention).implicit.iter().find(|(other, _)| *other == what);
        found.and_then(|(_, reg)| *reg)
    };
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, _| {
            for (name, what) in functions {
                let reg = place(convention, what).unwrap();
                for dword in 0..what.dwords() {
                    let copied = code.lines_of(name).any(|line| {
                        line.is("v_mov_b32_e32", &[&format!("v{dword}"), &format!("s{}", reg + dword)])
                    });
                    assert!(copied, "{name}");
                }
            }
            // Not passed: it is null.
            assert_eq!(place(convention, Implicit::KernargPtr), None);
            assert!(code.lines_of("kernarg_ptr").any(|line| line.is("v_mov_b32_e32", &["v1", "0"])));
            let ids = format!("v{}", place(convention, Implicit::WorkitemIds).unwrap());
            assert!(code.lines_of("workitem_x").any(|line| line.is("v_and_b32_e32", &["v0", "0x3ff", &ids])));
            for (name, bit) in [("workitem_y", "10"), ("workitem_z", "20")] {
                let field = code
                    .lines_of(name)
                    .any(|line| line.op.starts_with("v_bfe_u32") && line.args == ["v0", &ids, bit, "10"]);
                assert!(field, "{name}");
            }
        },
    );
    // LLVM 14 does not have it.
    assert_eq!(place(Convention::Llvm14, Implicit::LdsKernelId), None);
    for_each_processor(
        LDS_KERNEL_ID,
        |_| true,
        |code, convention, _| {
            let from = format!("s{}", place(convention, Implicit::LdsKernelId).unwrap());
            assert!(code.lines_of("lds_kernel_id").any(|line| line.is("v_mov_b32_e32", &["v0", &from])));
        },
    );
}

/// A kernel passes all that it may have to functions that it does not know, but from V5 on not the queue pointer, which a function then finds
/// by the implicit argument pointer.
#[test]
fn kernels_of_v5_pass_no_queue_pointer() {
    for cpu in ["gfx803", "gfx906", "gfx1010"] {
        let target = Subtarget::by_name(cpu).unwrap();
        for (version, queue) in [(4, 1), (5, 0)] {
            let Some(text) = code::text_of_version("llc-19", &target, FUNCTIONS, version) else { return };
            for name in
                ["dispatch_ptr 1", "dispatch_id 1", "kernarg_segment_ptr 1", &format!("queue_ptr {queue}")]
            {
                assert!(text.contains(&format!(".amdhsa_user_sgpr_{name}\n")), "{cpu}, V{version}: {name}");
            }
        }
    }
}

#[test]
fn waits() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            let waits = &column(convention).waits;
            let present = |list: &[Counter]| -> Vec<Counter> {
                list.iter().copied().filter(|counter| Counter::max(*counter, target.target) > 0).collect()
            };
            assert_eq!(code::waited(code.lines_of("leaf")), present(waits.at_entry), "at entry");
            let gfx6 = target.version.0 == 6;
            let stored: &[Counter] = match target.version.0 {
                10 => &[Counter::Vs],
                _ if gfx6 => &[Counter::Vm, Counter::Exp],
                _ => &[Counter::Vm],
            };
            for (name, raised) in [("store", stored), ("load", &[Counter::Vm]), ("lds", &[Counter::Lgkm])] {
                let behind = code.lines_of(name).skip_while(|line| !line.is_memory());
                let expected: Vec<Counter> =
                    raised.iter().copied().filter(|counter| waits.at_return.contains(counter)).collect();
                assert_eq!(code::waited(behind), expected, "{name}, at return");
            }
            // The caller waits for the address that it calls, and for nothing else.
            let between = code
                .lines_of("store_and_call")
                .skip_while(|line| {
                    !line.op.contains("_store_dword")
                        || line.args.last() == Some(&"s33")
                        || line.args.contains(&"s[0:3]")
                })
                .take_while(|line| line.op != "s_swappc_b64");
            let waited: Vec<Counter> =
                code::waited(between).into_iter().filter(|counter| *counter != Counter::Lgkm).collect();
            // On GFX6 the data of a store is overwritten.
            assert!(waited.is_empty() || gfx6 && waited == [Counter::Exp], "{waited:?}");
            assert!(waits.before_call.is_empty());
        },
    );
}

#[test]
fn preserved_registers() {
    let names = ["s", "v", "a"].map(|kind| (0..256).map(move |n| format!("{kind}{n}")));
    let text: String = names
        .into_iter()
        .flatten()
        .filter(|name| !too_many(name))
        .map(|name| code::clobbering(&name))
        .collect();
    for_each_processor(
        &format!("target triple = \"amdgcn-amd-amdhsa\"\n{text}"),
        |_| true,
        |code, convention, target| {
            let Preserved { vgprs, sgprs, agprs } = preserved(convention, target);
            let sgpr_count = target.addressable_sgprs as usize;
            let agpr_count = if target.has(Feature::MAI) { 256 } else { 0 };
            for (kind, count, ranges) in
                [("s", sgpr_count, sgprs), ("v", 256, vgprs), ("a", agpr_count, agprs)]
            {
                for n in 0..count {
                    let has =
                        ranges.iter().any(|&(from, to)| (usize::from(from)..=usize::from(to)).contains(&n));
                    // Those do not hold anything: reserved, they are found by other tests.
                    if kind == "s" && (n < 4 || n == 32) {
                        continue;
                    }
                    let name = format!("{kind}{n}");
                    let function = format!("write_{name}");
                    let behind = code.lines_of(&function).skip_while(|line| line.op != "ASM");
                    let restored =
                        behind.filter(|line| line.args.first() == Some(&name.as_str())).count() > 0;
                    assert_eq!(restored, has, "{name}");
                }
            }
        },
    );
}

/// SGPRs that no processor has.
fn too_many(name: &str) -> bool {
    name.strip_prefix('s').and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number > 105)
}

#[test]
fn private_segment_buffer() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            assert_eq!(
                state_of(convention, target, Subject::PrivateSegmentBuffer),
                (Entry::ScratchBuffer, After::Same)
            );
            for (name, line) in code.lines().filter(|(name, _)| *name != "kernel") {
                let first = line.args.first().copied().unwrap_or("");
                let written = line.op.starts_with("s_") && code::sgprs(first).any(|reg| reg < 4);
                assert!(!written, "{name}: {line:?}");
            }
            assert!(
                code.lines_of("on_stack")
                    .any(|line| line.op == "buffer_load_dword" && line.args.contains(&"s[0:3]"))
            );
            // The kernel adds the wave's offset.
            assert!(
                code.lines_of("kernel").any(|line| line.op == "s_add_u32" && line.args[..2] == ["s0", "s0"])
            );
        },
    );
}

#[test]
fn stack_pointer() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            let stack = stack(convention);
            assert_eq!(state_of(convention, target, Subject::StackPointer), (Entry::StackEnd, After::Same));
            let pointer = format!("s{}", stack.pointer);
            let step = stack.distance(stack.align, target) as i64;
            let mut adjusted = 0;
            for name in code.names() {
                let added: Vec<i64> =
                    code.lines_of(name).filter_map(|line| line.added_to(&pointer)).collect();
                assert!(added.iter().all(|by| by % step == 0), "{name}: {added:?}");
                assert_eq!(added.iter().sum::<i64>(), 0, "{name}: {added:?}");
                adjusted += added.len();
            }
            assert!(adjusted > 4);
            // The first address of a kernel without memory of its own is 0; the first argument lies where the pointer points.
            assert!(
                code.lines_of("kernel")
                    .any(|line| line.op == "s_mov_b32" && line.args == [pointer.as_str(), "0"])
            );
            let first = ["v0", "off", "s[0:3]", pointer.as_str()];
            assert!(code.lines_of("on_stack").any(|line| line.is("buffer_load_dword", &first)));
            let third = ["off", "s[0:3]", pointer.as_str(), "offset:8"];
            let passes = |name| {
                code.lines_of(name)
                    .any(|line: &Line<'_>| line.op == "buffer_store_dword" && line.args[1..] == third)
            };
            assert!(passes("kernel") && passes("pass_on"));
        },
    );
}

/// On gfx942 nothing says where private memory is: the registers of the descriptor are like others, and the stack
/// pointer counts the bytes of a lane.
#[test]
fn without_descriptor() {
    for_new_processor("gfx942", FUNCTIONS, |code, target| {
        let stack = stack(Convention::Today);
        assert!(
            callconv::states(Convention::Today, target)
                .all(|state| { state.subject != Subject::PrivateSegmentBuffer })
        );
        assert_eq!(
            state_of(Convention::Today, target, Subject::StackPointer),
            (Entry::StackEnd, After::Same)
        );
        let writes_first = |line: &Line<'_>| {
            line.op.starts_with("s_") && code::sgprs(line.args.first().unwrap_or(&"")).any(|reg| reg < 4)
        };
        assert!(code.names().any(|name| code.lines_of(name).any(writes_first)));
        let pointer = format!("s{}", stack.pointer);
        let step = stack.distance(stack.align, target) as i64;
        assert_eq!(step, 16);
        let mut moved = Vec::new();
        for name in code.names() {
            let added: Vec<i64> = code.lines_of(name).filter_map(|line| line.added_to(&pointer)).collect();
            assert!(added.iter().all(|by| by % step == 0), "{name}: {added:?}");
            assert_eq!(added.iter().sum::<i64>(), 0, "{name}: {added:?}");
            moved.extend(added);
        }
        assert!(moved.contains(&step), "{moved:?}");
        assert!(
            code.lines_of("on_stack").any(|line| line.is("scratch_load_dword", &["v0", "off", &pointer]))
        );
        // Wide stores may write several arguments.
        let passes = |name| {
            let stored =
                |line: &Line<'_>| line.op.starts_with("scratch_store_dword") && line.args[2] == pointer;
            code.lines_of(name).any(stored)
        };
        assert!(passes("kernel") && passes("pass_on"));
    });
}

#[test]
fn frame_pointer() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            let stack = stack(convention);
            assert_eq!(state_of(convention, target, Subject::FramePointer), (Entry::Callers, After::Same));
            let (pointer, frame) = (format!("s{}", stack.pointer), format!("s{}", stack.frame));
            assert!(code.lines_of("local").any(|line| line.is("s_mov_b32", &[&frame, &pointer])));
            // The address of a local variable: the frame pointer divided by the lanes.
            let shift = target.wave_size.trailing_zeros().to_string();
            let divides = |line: &Line<'_>| {
                line.op.starts_with("v_lshrrev_b32") && line.args[1..] == [&shift, &frame]
                    || line.op.starts_with("v_lshr_b32") && line.args[1..] == [&frame, &shift]
            };
            assert!(code.lines_of("local").any(divides));
            // Aligned to 64 bytes of a lane.
            let mask = format!("{:#x}", 0u32.wrapping_sub(64 * target.wave_size));
            assert!(code.lines_of("local_64").any(|line| line.is("s_and_b32", &[&frame, &frame, &mask])));
            assert!(code.gives_back("local", &frame) && code.gives_back("local_64", &frame));
        },
    );
}

#[test]
fn base_pointer() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            let stack = stack(convention);
            assert_eq!(state_of(convention, target, Subject::BasePointer), (Entry::Callers, After::Same));
            let (pointer, base) = (format!("s{}", stack.pointer), format!("s{}", stack.base.unwrap()));
            assert!(code.lines_of("local_64").any(|line| line.is("s_mov_b32", &[&base, &pointer])));
            let loads =
                |line: &Line<'_>| line.op == "buffer_load_dword" && line.args.contains(&base.as_str());
            assert!(code.lines_of("local_64").any(loads));
            assert!(code.gives_back("local_64", &base));
        },
    );
}

#[test]
fn flat_scratch() {
    for_each_processor(
        FLAT,
        |target| target.has(Feature::FLAT),
        |code, convention, target| {
            assert_eq!(state_of(convention, target, Subject::FlatScratch), (Entry::FlatScratch, After::Same));
            let written = |name: &str| {
                let sets = |line: &Line<'_>| {
                    line.args.first().is_some_and(|first| first.to_lowercase().contains("flat_scr"))
                };
                code.lines_of(name).any(sets)
            };
            assert!(code.lines_of("flat").any(|line| line.op == "flat_load_dword"));
            assert!(!written("flat") && written("kernel"));
        },
    );
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, _, _| {
            let written = |line: &Line<'_>| line.args.first().is_some_and(|first| first.contains("flat_scr"));
            assert!(code.lines().filter(|(name, _)| *name != "kernel").all(|(_, line)| !written(line)));
        },
    );
}

#[test]
fn m0() {
    let text = format!("target triple = \"amdgcn-amd-amdhsa\"\n{}", code::clobbering("m0"));
    for_each_processor(
        &text,
        |_| true,
        |code, _, _| {
            assert!(
                code.lines_of("write_m0").all(|line| line.args.first() != Some(&"m0")),
                "it is not saved"
            );
        },
    );
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            let writes = |line: &Line<'_>| line.args.first() == Some(&"m0");
            assert!(!code.lines_of("kernel").any(writes), "a kernel sets it before it calls");
            let (entry, after) = state_of(convention, target, Subject::M0);
            assert_eq!(entry, Entry::Nothing);
            let needs = target.version.0 <= 8;
            assert_eq!(after == After::Disputed, needs);
            assert_eq!(code.lines_of("lds").any(writes), needs, "what needs it sets it");
            if needs {
                // The callee writes it, and leaves it so. The caller does not set it again.
                assert_eq!(code.lines_of("index").filter(|line| writes(line)).count(), 1);
                let behind = code.lines_of("lds_around_call").skip_while(|line| line.op != "s_swappc_b64");
                assert!(!behind.clone().any(writes) && behind.clone().any(|line| line.op == "ds_write_b32"));
            }
        },
    );
}

#[test]
fn exec() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            assert_eq!(state_of(convention, target, Subject::Exec), (Entry::ActiveLanes, After::Same));
            let changed = |line: &&Line<'_>| line.writes_exec();
            assert!(code.lines_of("branch").filter(changed).count() > 1);
            for name in code.names().filter(|name| *name != "kernel") {
                assert!(code.ends_with_the_lanes_it_had(name), "{name}");
            }
        },
    );
}

#[test]
fn vcc_and_scc() {
    let text = format!(
        "target triple = \"amdgcn-amd-amdhsa\"\n{}{}",
        code::clobbering("vcc"),
        code::clobbering("scc")
    );
    for_each_processor(
        &text,
        |_| true,
        |code, convention, target| {
            for (subject, name) in [(Subject::Vcc, "write_vcc"), (Subject::Scc, "write_scc")] {
                assert_eq!(state_of(convention, target, subject), (Entry::Nothing, After::Lost));
                let other = |line: &&Line<'_>| {
                    !line.op.starts_with("s_waitcnt") && line.op != "s_setpc_b64" && line.op != "ASM"
                };
                assert_eq!(
                    code.lines_of(name).find(other).map(|line| line.op),
                    None,
                    "{name}: it is not saved"
                );
            }
        },
    );
}

#[test]
fn mode() {
    for_each_processor(
        FUNCTIONS,
        |_| true,
        |code, convention, target| {
            assert_eq!(state_of(convention, target, Subject::Mode), (Entry::KernelsMode, After::Same));
            let changes = |line: &&Line<'_>| {
                matches!(line.op, "s_denorm_mode" | "s_round_mode")
                    || line.op.starts_with("s_setreg") && line.args[0].contains("HW_REG_MODE")
            };
            let changed: Vec<_> = code.lines_of("divide").filter(changes).collect();
            // Flushed as the function takes it to be, kept within the division, flushed again.
            assert_eq!(changed.len(), 2, "{changed:?}");
            let last = changed[1].args.last().copied();
            assert!(matches!(last, Some("0" | "12")), "{changed:?}");
            let others = code.lines().filter(|(name, line)| *name != "divide" && changes(line));
            assert_eq!(others.count(), 0);
        },
    );
}

#[test]
fn inactive_lanes() {
    let text = format!("target triple = \"amdgcn-amd-amdhsa\"\n{}", code::clobbering("s40"));
    for_each_processor(
        &text,
        |_| true,
        |code, convention, target| {
            assert_eq!(state_of(convention, target, Subject::InactiveLanes), (Entry::Callers, After::Same));
            let name = "write_s40";
            // `s40` goes into a lane of a VGPR, which is saved before, where EXEC has what it had not.
            let into = code.lines_of(name).find(|line| line.op == "v_writelane_b32").expect("a lane").args[0];
            let before: Vec<_> =
                code.lines_of(name).take_while(|line| line.op != "v_writelane_b32").collect();
            let widened = before
                .iter()
                .position(|line| line.op.contains("saveexec") && line.args.last() == Some(&"-1"));
            let saved =
                before.iter().position(|line| line.op == "buffer_store_dword" && line.args[0] == into);
            assert!(widened.is_some() && widened < saved, "{before:?}");
            let loads = |line: &Line<'_>| line.op == "buffer_load_dword" && line.args[0] == into;
            assert!(code.lines_of(name).any(loads));
        },
    );
}

/// Seed 000, line 4181, has them in SGPRs. LLVM 19 agrees, but its callers write `s0`, which is a part of the private segment
/// buffer, and its callees read another.
#[test]
fn inreg() {
    for_each_processor(
        INREG,
        |_| true,
        |code, convention, _| {
            let taken = code
                .lines_of("callee")
                .find(|line| line.args.first() == Some(&"v0"))
                .map(|line| line.args[1]);
            let given = code
                .lines_of("caller")
                .find(|line| line.args.last() == Some(&"0x4d"))
                .map(|line| line.args[0]);
            match column(convention).inreg {
                Inreg::Ignored => assert_eq!((taken, given), (None, Some("v0"))),
                Inreg::Disagree => {
                    assert!(taken.unwrap().starts_with('s') && given.unwrap().starts_with('s'));
                    assert_ne!(taken, given);
                }
                Inreg::Sgprs(..) => panic!("they agree"),
            }
        },
    );
}

#[test]
fn variable_arguments() {
    let from_gfx9 = |target: &Subtarget| target.version.0 > 8;
    let [llvm_19, llvm_14] = [Convention::Today, Convention::Llvm14].map(|by| column(by).variadic);
    assert_eq!((llvm_19, llvm_14), (true, false));
    for_each_processor(VARIADIC, from_gfx9, |code, _, target| {
        // The second and third lie in the frame, and their flat address behind the first.
        let shift = target.wave_size.trailing_zeros().to_string();
        assert!(code.lines_of("variadic").any(|line| line.is("v_mov_b32_e32", &["v0", "1"])));
        assert!(code.lines_of("variadic").any(|line| line.is("v_lshrrev_b32_e64", &["v1", &shift, "s33"])));
        assert!(code.lines_of("variadic").any(|line| line.args.first() == Some(&"v2")));
        for offset in [&["s33"][..], &["s33", "offset:4"]] {
            let stored = |line: &Line<'_>| line.op == "buffer_store_dword" && line.args[3..] == *offset;
            assert!(code.lines_of("variadic").any(stored));
        }
    });
    let target = Subtarget::by_name("gfx906").unwrap();
    if let Some(said) = code::refusal("llc-14", &target, VARIADIC) {
        assert!(said.contains("unsupported call to variadic function"), "{said}");
    }
}

/// The address of a result in memory is flat in C and C++ and private in OpenCL. Arguments in memory have private addresses in each, where they
/// have any.
#[test]
fn result_in_memory() {
    let text = "typedef struct { int a[20]; } R;\nR outside(int, R);\nvoid f(R r) { r = outside(1, r); }\n";
    for (name, flat, private) in
        [("clang-19", "ptr ", "ptr addrspace(5) "), ("clang-14", "%struct.R* ", "%struct.R addrspace(5)* ")]
    {
        for (language, pointer) in [("c", flat), ("c++", flat), ("cl", private)] {
            let Some(ir) = code::clang_ir(name, language, text) else { break };
            let declared =
                ir.lines().find(|line| line.starts_with("declare") && line.contains("outside")).unwrap();
            let (result, argument) = declared.split_once("i32").unwrap();
            let (_, result) = result.split_once('(').unwrap();
            assert!(result.starts_with(pointer) && result.contains("sret"), "{name}, {language}: {declared}");
            assert!(argument.contains("addrspace(5)"), "{name}, {language}: {declared}");
        }
    }
}

/// Callers extend small integers to a dword on the stack, and callees rely on it.
#[test]
fn small_integers() {
    for_each_processor(
        SMALL,
        |_| true,
        |code, _, _| {
            assert!(
                code.lines_of("caller")
                    .any(|line| line.op.starts_with("v_and_b32") && line.args[1..] == ["0xff", "v0"])
            );
            assert!(
                code.lines_of("caller")
                    .any(|line| line.op.starts_with("v_bfe_i32") && line.args[1..] == ["v0", "0", "8"])
            );
            for offset in [&["s32"][..], &["s32", "offset:4"]] {
                let stored = |line: &Line<'_>| line.op == "buffer_store_dword" && line.args[3..] == *offset;
                assert!(code.lines_of("caller").any(stored));
            }
            for name in ["unsigned", "signed"] {
                let extends = |line: &Line<'_>| line.op.starts_with("v_and") || line.op.starts_with("v_bfe");
                let bytes = |line: &Line<'_>| line.op.ends_with("byte");
                assert!(!code.lines_of(name).any(|line| extends(line) || bytes(line)), "{name}");
            }
        },
    );
}

/// Where lanes of 8 and 16 bits take a dword each, a vector of 4 bytes on the stack is several dwords for the caller. A callee that has a
/// variable in memory of it takes those dwords for the variable: both LLVMs are wrong.
#[test]
fn lanes_on_the_stack() {
    let early = |target: &Subtarget| !callconv::has_16_bit(target);
    for_each_processor(LANES, early, |code, _, _| {
        for offset in [&["s32"][..], &["s32", "offset:4"], &["s32", "offset:8"], &["s32", "offset:12"]] {
            let stored = |line: &Line<'_>| line.op == "buffer_store_dword" && line.args[3..] == *offset;
            assert!(code.lines_of("caller").any(stored));
        }
        let second = |line: &Line<'_>| {
            line.is("buffer_load_ubyte", &["v0", "off", "s[0:3]", "s32", "offset:1", "glc"])
        };
        assert!(code.lines_of("callee").any(second));
    });
}

/// Each fact's source is here, or the run of both sides against each other.
#[test]
fn sources_exist() {
    use callconv::{Source, facts};
    let text = include_str!("mod.rs");
    for convention in [Convention::Today, Convention::Llvm14] {
        for (cpu, lanes) in code::TARGETS {
            let target = Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap();
            for fact in facts(convention, &target) {
                let Source::Llvm(name) = fact.source else { panic!("{fact:?}") };
                assert!(name == "interop" || text.contains(&format!("fn {name}()")), "{fact:?}");
            }
        }
    }
}
