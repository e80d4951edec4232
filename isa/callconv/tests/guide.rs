//! The guide's column beside the guide's sentences. Expected values are worked out by hand from seed 000; the line stands with each.

use callconv::{
    After, Convention, Entry, Error, How, Implicit, Place, Subject, Waits, assign, column, parse, preserved,
    runs, states,
};
use isa::{Counter, Subtarget};

const GUIDE: Convention = Convention::Guide;

fn target(lanes: u32) -> Subtarget {
    let cpu = if lanes == 32 { "gfx1010" } else { "gfx906" };
    Subtarget::by_name(cpu).and_then(|target| target.with_wave_size(lanes)).unwrap()
}

/// Arguments, `->` and the result, then implicit arguments.
fn places(text: &str, implicit: &[Implicit]) -> String {
    let prototype = parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
    let made = assign(&prototype.types, &prototype.signature(implicit), &target(64), GUIDE).unwrap();
    let one = |passed: &callconv::Passed| {
        let list: Vec<String> = runs(made.pieces_of(passed)).iter().map(|run| run.to_string()).collect();
        let address = if passed.how == How::Address { "&" } else { "" };
        format!("{address}{}", list.join("+"))
    };
    let mut out: Vec<String> = made.params.iter().map(one).collect();
    out.extend(made.result.iter().map(|passed| format!("-> {}", one(passed))));
    out.extend(made.implicit.iter().map(|(what, place)| format!("{}={place}", what.name())));
    out.join(" ")
}

#[track_caller]
fn is(text: &str, expected: &str) {
    assert_eq!(places(text, &[]), expected, "{text}");
}

/// "VGPR arguments are assigned to consecutive VGPRs starting at VGPR0 up to VGPR31" (4240), "in left to right source order" (4165).
#[test]
fn line_4240() {
    is("fn f(a: u32, b: f64, c: u32)", "v0 v[1:2] v3");
    let all: Vec<String> = (0..32).map(|n| format!("v{n}")).collect();
    is(&format!("fn f({})", "f32, ".repeat(32)), &all.join(" "));
}

/// "the remaining arguments are allocated on the stack in order on naturally aligned addresses" (4242). What follows an argument that
/// does not fit is of the remaining ones.
#[test]
fn line_4242() {
    let all = (0..32).map(|n| format!("v{n} ")).collect::<String>();
    is(&format!("fn f({} u32, f64, u32)", "f32, ".repeat(32)), &format!("{all}stack+0 stack+8 stack+16"));
    let most = (0..31).map(|n| format!("v{n} ")).collect::<String>();
    is(&format!("fn f({} f64, u32)", "f32, ".repeat(31)), &format!("{most}stack+0 stack+8"));
    is(&format!("fn f({} f32x3, f32x4)", "f32, ".repeat(32)), &format!("{all}stack+0 stack+16"));
}

/// "struct type arguments that are less than or equal to 16 bytes, are decomposed recursively into their base type fields, and each
/// field is passed as if a separate argument" (4171), results too.
#[test]
fn line_4171() {
    is("fn f(s: {u32, f64}, b: u32) -> {{f32, f32}, {u64}}", "v0+v[1:2] v3 -> v[0:3]");
    is("fn f(s: {u8, u8, u8})", "v0 in the low 8 bits+v1 in the low 8 bits+v2 in the low 8 bits");
    is("fn f(s: {[u32; 4]}, b: u32)", "v[0:3] v4");
}

/// "struct type arguments that are greater than 16 bytes, are passed by reference" (4173). A private address has 32 bits.
#[test]
fn line_4173() {
    is("fn f(s: {[u32; 5]}, b: u32)", "&v0 v1");
    is(&format!("fn f({} s: {{[u32; 5]}})", "f64, ".repeat(16)), &{
        let pairs: Vec<String> = (0..16).map(|n| format!("v[{}:{}]", 2 * n, 2 * n + 1)).collect();
        format!("{} &stack+0", pairs.join(" "))
    });
}

/// "A source language result struct type argument that is greater than 16 bytes, is returned by reference ... passes the address as the
/// last input argument (before the implicit input arguments)" (4175).
#[test]
fn line_4175() {
    is("fn f(a: u64) -> {[u32; 5]}", "v[0:1] -> &v2");
    let with_ids = places("fn f(a: u64) -> {[u32; 5]}", &[Implicit::WorkitemIds]);
    assert_eq!(with_ids, "v[0:1] -> &v2 work-item ids=v3");
}

/// "passed in VGPRs unless marked inreg in which case they are passed in SGPRs" (4181), "SGPR4-29 are used to pass function input
/// arguments" (4109; line 4244 begins at SGPR0, where line 4097 has the private segment buffer).
#[test]
fn line_4181() {
    is("fn f(inreg a: u32, b: u32, inreg c: u64)", "s4 v0 s[5:6]");
    // Line 4246: "If there are more arguments than will fit in these registers, the remaining arguments are allocated on the stack".
    let pairs: Vec<String> = (0..13).map(|n| format!("s[{}:{}]", 4 + 2 * n, 5 + 2 * n)).collect();
    is(
        &format!("fn f({} inreg u64, u32)", "inreg u64, ".repeat(13)),
        &format!("{} stack+0 v0", pairs.join(" ")),
    );
    let one_left: Vec<String> = (4..29).map(|n| format!("s{n}")).collect();
    is(
        &format!("fn f({} inreg u64, inreg u32)", "inreg u32, ".repeat(25)),
        &format!("{} stack+0 stack+8", one_left.join(" ")),
    );
}

/// "The used implicit arguments are appended to the function arguments after the source language arguments in the following order"
/// (4183, with the order from 4185 on).
#[test]
fn line_4183() {
    let all: Vec<Implicit> =
        Implicit::ALL.into_iter().filter(|what| *what != Implicit::LdsKernelId).collect();
    assert_eq!(
        places("fn f(a: u32)", &all),
        "v0 work-item ids=v1 dispatch pointer=s4 queue pointer=s6 kernel argument pointer=s8 dispatch id=s10 \
         work-group id x=s12 work-group id y=s13 work-group id z=s14 implicit argument pointer=s15"
    );
    assert_eq!(
        places("fn f(inreg a: u32)", &[Implicit::ImplicitArgPtr, Implicit::WorkgroupId(1)]),
        "s4 work-group id y=s5 implicit argument pointer=s6"
    );
    assert_eq!(places("fn f(a: u32)", &[]), "v0");
    let used = [Implicit::LdsKernelId];
    let nothing = parse("()").unwrap();
    let error = assign(&nothing.types, &nothing.signature(&used), &target(64), GUIDE).unwrap_err();
    assert_eq!(error, Error::Implicit(Implicit::LdsKernelId, GUIDE));
}

/// Three arguments take the dwords that they need, in each: "Work-Item ID (1 VGPR)" (4185), "(2 SGPRs)" (4197 to 4209, 4225), "(1 SGPR)"
/// (4213 to 4221).
#[test]
fn line_4185() {
    let dwords: Vec<u16> = Implicit::ALL.iter().map(|what| what.dwords()).collect();
    assert_eq!(dwords[..9], [1, 2, 2, 2, 2, 1, 1, 1, 2]);
}

/// "decomposed struct type arguments may have some fields passed in registers and some in memory" (4248).
#[test]
fn line_4248() {
    let most = (0..31).map(|n| format!("v{n} ")).collect::<String>();
    is(&format!("fn f({} s: {{u32, u32}})", "f32, ".repeat(31)), &format!("{most}v31+stack+0"));
}

/// "swizzled SP = unswizzled SP / wavefront size" (4119), "16 byte aligned for the amdgcn architecture" (4123), "SGPR32 is used for the
/// stack pointer" (4113), "SGPR33 is used as a frame pointer" (4259).
#[test]
fn line_4113() {
    let stack = &column(GUIDE).stack;
    assert_eq!((stack.pointer, stack.frame, stack.base, stack.align), (32, 33, None, 16));
    assert_eq!([64, 32].map(|lanes| stack.distance(stack.align, &target(lanes))), [1024, 512]);
    // Line 4129: "the swizzled SP value is the address of the first function argument passed on the stack".
    let text = format!("fn f({} u32)", "f32, ".repeat(32));
    let prototype = parse(&text).unwrap();
    let made = assign(&prototype.types, &prototype.signature(&[]), &target(64), GUIDE).unwrap();
    assert_eq!(made.pieces_of(&made.params[32])[0].place, Place::Stack(0));
}

/// Lines 4097 to 4135, and what is preserved, lines 4145 to 4157.
#[test]
fn line_4141() {
    let of = |cpu: &str, subject| {
        let target = Subtarget::by_name(cpu).unwrap();
        states(GUIDE, &target).find(|state| state.subject == subject).map(|state| (state.entry, state.after))
    };
    for cpu in ["gfx700", "gfx803", "gfx906", "gfx90a", "gfx1010"] {
        let early = matches!(cpu, "gfx700" | "gfx803");
        // 4097, 4151: SGPR0-3 are not among the clobbered SGPR4-31.
        assert_eq!(of(cpu, Subject::PrivateSegmentBuffer), Some((Entry::ScratchBuffer, After::Same)));
        // 4101, 4145.
        assert_eq!(of(cpu, Subject::FlatScratch), Some((Entry::FlatScratch, After::Same)));
        // 4103 and 4149: "GFX6-8: M0"; 4157: "All other registers are clobbered".
        let m0 = if early { (Entry::LdsSize, After::Same) } else { (Entry::Nothing, After::Lost) };
        assert_eq!(of(cpu, Subject::M0), Some(m0));
        // 4105, 4147.
        assert_eq!(of(cpu, Subject::Exec), Some((Entry::ActiveLanes, After::Same)));
        // 4107, 4156: "TBD".
        assert_eq!(of(cpu, Subject::Mode), Some((Entry::Open, After::Open)));
        // 4111, and of the clobbered SGPR4-31 (4151).
        assert_eq!(of(cpu, Subject::ReturnAddress), Some((Entry::ReturnAddress, After::Lost)));
        // 4135, 4157.
        assert_eq!(of(cpu, Subject::Vcc), Some((Entry::Nothing, After::Lost)));
    }
    // 4151: "All SGPR and VGPR registers except the clobbered registers of SGPR4-31 and VGPR0-31".
    let kept = preserved(GUIDE, &target(64));
    assert_eq!((kept.vgprs, kept.sgprs, kept.agprs), (vec![(32, 255)], vec![(32, 101)], vec![]));
    assert_eq!(preserved(GUIDE, &target(32)).sgprs, [(32, 105)]);
}

/// "Any necessary waitcnt has been performed to ensure memory is available to the function" on entry (4137), "to ensure memory accessed by
/// function is available to the caller" on exit (4158).
#[test]
fn line_4137() {
    let waits = &column(GUIDE).waits;
    let of = |list, lanes| Waits::present_counters(list, &target(lanes)).collect::<Vec<_>>();
    let three = [Counter::Vm, Counter::Exp, Counter::Lgkm];
    assert_eq!(of(waits.before_call, 64), three);
    assert_eq!(of(waits.before_call, 32), Counter::ALL);
    assert_eq!(of(waits.at_entry, 32), []);
    assert_eq!(of(waits.at_return, 32), Counter::ALL);
}
