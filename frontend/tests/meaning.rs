//! What programs compute: compiled, then run by the IR interpreter, as they are and optimised. Expected
//! values are worked out by hand or by Rust's own arithmetic.

use ir::interp::{Dispatch, Interp, Memory};
use ir::passes::{OptOptions, PassContext, optimize};

/// Bytes per output buffer.
const ROOM: usize = 4096;

/// Compiles `source` and runs its kernel `t(out)` on one group of `lanes`; the bytes of `out`.
fn run(source: &str, lanes: u32, params: &[(String, String)]) -> Vec<u8> {
    let options = frontend::Options { params, fp_contract: true, ..Default::default() };
    let mut module =
        frontend::compile("test.k", source, &options).unwrap_or_else(|list| panic!("{}", list.render(false)));
    if let Err(errors) = ir::verify::verify(&module) {
        panic!("{errors:?}\n{module}");
    }
    let plain = interpret(&module, lanes);
    let go_on = &mut |_: &str, _: &ir::Module| std::ops::ControlFlow::Continue(());
    let _ = optimize(&mut module, &OptOptions::default(), &mut PassContext::default(), go_on);
    let optimised = interpret(&module, lanes);
    assert_eq!(plain, optimised, "optimised code differs\n{module}");
    plain
}

fn interpret(module: &ir::Module, lanes: u32) -> Vec<u8> {
    let mut memory = Memory::new();
    let out = memory.alloc(ROOM);
    let mut interp = Interp::new(module, &mut memory);
    interp.max_steps = 1_000_000;
    let dispatch = Dispatch {
        kernel: "t",
        grid: [lanes, 1, 1],
        group: [lanes, 1, 1],
        kernarg: out.to_le_bytes().to_vec(),
        dynamic_shared: 1024,
    };
    interp.run(&dispatch, &mut memory).unwrap_or_else(|error| panic!("{error}\n{module}"));
    memory.bytes(out, ROOM).expect("allocated").to_vec()
}

/// Runs a body that fills `out: *global u32`.
fn words(body: &str, expected: &[u32]) {
    words_of(&format!("kernel t(out: *global u32) {{ {body} }}"), 1, expected);
}

fn words_of(source: &str, lanes: u32, expected: &[u32]) {
    let bytes = run(source, lanes, &[]);
    let found: Vec<u32> = bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    assert_eq!(&found[..expected.len()], expected, "{source}");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let main = "\u{feff}use \"lib.k\";\nkernel t(out: *global u32) { out[0] = one(); }";
    let library = "\u{feff}fn one() -> u32 { 1 }";
    let files = std::collections::BTreeMap::from([("lib.k".to_owned(), library.to_owned())]);
    let options = frontend::Options { files: Some(&files), ..Default::default() };
    assert!(frontend::compile("main.k", main, &options).is_ok());
    words_of("\u{feff}kernel t(out: *global u32) { out[0] = 1; }", 1, &[1]);
    // It takes no column, and is a mistake elsewhere.
    let wrong = |source: &str| {
        frontend::compile("wrong.k", source, &Default::default()).expect_err("a mistake").to_json()
    };
    assert!(wrong("\u{feff}kernel t() { x }").contains("\"line\":1,\"column\":14"));
    assert!(wrong("kernel \u{feff}t() { }").contains("unknown character"));
}

/// Runs a body that fills `out: *global f32`.
fn floats(body: &str, expected: &[f32]) {
    let bytes = run(&format!("kernel t(out: *global f32) {{ {body} }}"), 1, &[]);
    for (n, (c, want)) in bytes.chunks(4).zip(expected).enumerate() {
        let found = f32::from_le_bytes([c[0], c[1], c[2], c[3]]);
        assert!(found == *want || (found.is_nan() && want.is_nan()), "{body}: {n}: {found} != {want}");
    }
}

#[test]
fn integers_wrap_and_shift_modulo_width() {
    words(
        "let a = 0xffffffffu32; let s = 33u32; let m = -7;
         out[0] = a + 2; out[1] = 1u32 << s; out[2] = (m >> 1) as u32; out[3] = (m as u32) >> 28;
         out[4] = (m / 2) as u32; out[5] = (m % 4) as u32; out[6] = a * a; out[7] = !a | 5;",
        &[1, 2, -4i32 as u32, 15, -3i32 as u32, -3i32 as u32, 1, 5],
    );
}

#[test]
fn small_integers_stay_in_range() {
    words(
        "let mut a: u8 = 250; a += 10; out[0] = a as u32;
         let mut b: i8 = 127; b += 1; out[1] = b as u32;
         let c: i16 = -30000; out[2] = (c * 2i16) as u32;
         let d: u16 = 0xffff; out[3] = (d << 4u32) as u32; out[4] = (!d) as u32;
         let e = 300u32; out[5] = e as u8 as u32; out[6] = (e as i8) as i32 as u32;
         let f: i8 = -128; out[7] = (f / -1i8) as u32; out[8] = (a >> 9u32) as u32;",
        &[4, -128i32 as u32, (-30000i16).wrapping_mul(2) as u32, 0xfff0, 0, 44, 44, -128i32 as u32, 2],
    );
}

#[test]
fn small_integers_in_memory() {
    let source = "kernel t(out: *global u8) {
        let p = out; p[0] = 200; p[1] = p[0] + 100;
        let mut a: [i16; 4]; a[0] = -5; a[1] = a[0] * 7; p[2] = (a[1] as u32 >> 8u32) as u8; p[3] = a[1] as u8;
    }";
    let bytes = run(source, 1, &[]);
    assert_eq!(&bytes[..4], &[200, 44, 0xff, (-35i8) as u8]);
}

#[test]
fn sixty_four_bits() {
    words(
        "let a = 0x1_0000_0001u64; let b = -3i64;
         out[0] = (a * a >> 32u32) as u32; out[1] = (b >> 1u32) as u32; out[2] = ((b as u64) >> 33u32) as u32;
         out[3] = (a / 3) as u32; out[4] = mul_hi(a, a) as u32; out[5] = (b as i32) as u32;
         out[6] = rotl(a, 4) as u32; out[7] = (rotr(a, 4) >> 32u32) as u32; out[8] = popcount(b) as u32;",
        &[
            2,
            -2i32 as u32,
            0x7fff_ffff,
            (0x1_0000_0001u64 / 3) as u32,
            1,
            -3i32 as u32,
            0x10,
            0x1000_0000,
            63,
        ],
    );
}

#[test]
fn conversions_saturate() {
    floats(
        "out[0] = 7u64 as f32; out[1] = -7 as f32; out[2] = 1.5f64 as f32; out[3] = true as u32 as f32;",
        &[7.0, -7.0, 1.5, 1.0],
    );
    words(
        "let big = 1.0e20; let neg = -5.7; let nan = 0.0 / 0.0 * big;
         out[0] = big as u32; out[1] = big as i32 as u32; out[2] = neg as u32; out[3] = neg as i32 as u32;
         out[4] = nan as u32; out[5] = big as u8 as u32; out[6] = neg as i8 as u32; out[7] = (-big) as i16 as u32;
         out[8] = (big as i64 >> 32u32) as u32;",
        &[
            u32::MAX,
            i32::MAX as u32,
            0,
            -5i32 as u32,
            0,
            255,
            -5i32 as u32,
            -32768i32 as u32,
            (i64::MAX >> 32) as u32,
        ],
    );
}

#[test]
fn control_flow() {
    words(
        "let mut n = 0u32; let mut i = 0u32;
         while true { i += 1; if i % 2 == 0 { continue; } if i > 9 { break; } n += i; }
         out[0] = n; out[1] = i;
         let mut s = 0u32;
         'outer: for a in 0..10u32 { for b in 0..=a { if b == 5 { continue 'outer; } if a == 8 { break 'outer; } s += b; } }
         out[2] = s;
         let mut k = 0u32; loop { k += 3; if k > 10 { break; } } out[3] = k;
         let mut c = 0u32; for z in (0..10u32).step(3) { c = c * 10 + z; } out[4] = c;
         let mut d = 0; for z in -2..=2 { d = d * 3 + z; } out[5] = d as u32;
         let mut e = 0u32; for z in 250u8..=255 { e += z as u32; } out[6] = e;
         let last = 255u8 + (n as u8) * 0; let mut f = 0u32; for z in 253u8..=last { f += 1; } out[7] = f;",
        &{
            let mut s = 0;
            'outer: for a in 0..10u32 {
                for b in 0..=a {
                    if b == 5 {
                        continue 'outer;
                    }
                    if a == 8 {
                        break 'outer;
                    }
                    s += b;
                }
            }
            let d = (-2..=2).fold(0i32, |d, z| d * 3 + z);
            [25, 11, s, 12, 369, d as u32, (250..=255).sum(), 3]
        },
    );
}

#[test]
fn if_is_an_expression() {
    words(
        "let a = 5u32; let b = if a > 3 { 10u32 } else if a > 2 { 20 } else { 30 }; out[0] = b;
         let v = if a == 5 { u32x2(1, 2) } else { u32x2(3) }; out[1] = v.y;
         let w = { let t = a * 2; t + 1 }; out[2] = w;
         out[3] = if a < 2 { return; } else { 7u32 };",
        &[10, 2, 11, 7],
    );
}

#[test]
fn logic_short_circuits() {
    words(
        "let mut a: [u32; 2] = [1, 2]; let i = 7u32;
         if i < 2 && a[i] == 1 { out[0] = 1; } else { out[0] = 2; }
         if i >= 2 || a[i] == 1 { out[1] = 1; } else { out[1] = 2; }
         let z = 0u32; if z != 0 && 10 / z > 1 { out[2] = 1; } else { out[2] = 3; }",
        &[2, 1, 3],
    );
}

#[test]
fn vectors_and_swizzles() {
    floats(
        "let v = f32x4(1.0, 2.0, 3.0, 4.0); let w = v.wzyx * 2.0 + v;
         out[0] = w.x; out[1] = w.w; let mut u = f32x4(v.xy, f32x2(9.0)); u.zx = f32x2(5.0, 6.0);
         out[2] = u.x; out[3] = u.z; out[4] = dot(v, u); out[5] = v.hi.y; out[6] = length(f32x2(3.0, 4.0));
         let i = 2u32; out[7] = v[i]; u[i] = 0.5; out[8] = u.z; out[9] = max(v, 2.5).x;
         let m = v.lo < f32x2(1.5); out[10] = select(m, f32x2(1.0), f32x2(0.0)).y; out[11] = (-v).z;",
        &[
            9.0,
            6.0,
            6.0,
            5.0,
            1.0 * 6.0 + 2.0 * 2.0 + 3.0 * 5.0 + 4.0 * 9.0,
            4.0,
            5.0,
            3.0,
            0.5,
            2.5,
            0.0,
            -3.0,
        ],
    );
}

#[test]
fn vectors_in_memory() {
    let source = "struct P { a: f32x3, b: u8x4, c: f64x4 }
    kernel t(out: *global f32) {
        shared s: [P; 2];
        s[1].a = f32x3(1.0, 2.0, 3.0); s[1].b = u8x4(1, 2, 3, 255); s[1].c = f64x4(0.5f64);
        s[0] = s[1]; s[0].a.y = 7.0; s[0].a.xz = f32x2(8.0, 9.0);
        out[0] = s[0].a.x; out[1] = s[0].a.y; out[2] = s[0].a.z; out[3] = s[0].b.w as f32; out[4] = s[0].c.w as f32;
        out[5] = s[1].a.y;
    }";
    let bytes = run(source, 1, &[]);
    let found: Vec<f32> = bytes.chunks(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    assert_eq!(&found[..6], &[8.0, 7.0, 9.0, 255.0, 0.5, 2.0]);
}

#[test]
fn structs_and_functions() {
    let source = "struct Pair { a: u32, b: f32x2 }
    fn make(a: u32, b: f32) -> Pair { Pair { b: f32x2(b, b + 1.0), a: a } }
    fn swap(p: *private u32, q: *private u32) { let t = *p; *p = *q; *q = t; }
    fn early(n: u32) -> u32 { if n < 5 { return 1; } let mut s = 0u32; for i in 0..n { if i == 7 { return s; } s += i; } s }
    kernel t(out: *global u32) {
        let mut p = make(3, 1.5); p.b.x = p.b.y * 2.0;
        out[0] = p.a; out[1] = p.b.x as u32;
        let mut x = 1u32; let mut y = 2u32; swap(&mut x, &mut y); out[2] = x; out[3] = y;
        out[4] = early(3); out[5] = early(6); out[6] = early(100);
    }";
    words_of(source, 1, &[3, 5, 2, 1, 1, 15, 21]);
}

#[test]
fn arrays_are_values() {
    words(
        "let mut a: [[u32; 3]; 2] = [[1, 2, 3], [4, 5, 6]]; let b = a; a[1][2] = 9; a[0] = b[1];
         out[0] = a[0][2]; out[1] = b[1][2]; out[2] = a[1][2];
         let z = [7u32; 4]; let i = out[0] - 4; out[3] = z[i]; let p = &mut a[1]; (*p)[0] = 8; out[4] = a[1][0];
         a = [b[1], b[0]]; out[5] = a[1][1];",
        &[6, 6, 9, 7, 8, 2],
    );
}

#[test]
fn constants_and_params() {
    let source =
        "const A: u32 = B * 2; const B: u32 = max(3, N); param N: u32 = 5; const T: [u32; 3] = [A, B, N];
    const V: f32x2 = f32x2(1.0, 2.0) * 3.0; constant static LUT: [i16; 4] = [1, -2, 3, -4];
    global static counter: u32 = 41;
    kernel t(out: *global u32) {
        out[0] = A; let i = out[0] % 3; out[1] = T[i]; out[2] = V.y as u32; out[3] = LUT[out[0] & 3] as u32;
        atomic_add(&counter, 1, relaxed, agent); out[4] = counter; out[5] = T[2];
    }";
    words_of(source, 1, &[10, 5, 6, 3, 42, 5]);
    let params = [("N".to_string(), "0x10".to_string())];
    let bytes = run(source, 1, &params);
    assert_eq!(&bytes[..4], &32u32.to_le_bytes());
}

#[test]
fn pointers_count_elements() {
    words(
        "let p = out + 2; *p = 5; p[1] = 6; let q = &p[2]; *q = 7; let r = q - 4u32; *r = 8;
         out[1] = (q == out + 4) as u32; out[5] = (p as u64 - out as u64) as u32;
         let n = -1; let s = q + n; *s += 1;",
        &[8, 1, 5, 7, 7, 8],
    );
}

#[test]
fn shared_memory_and_barriers() {
    let source = "#[workgroup_size(128)] kernel t(out: *global u32) {
        shared s: [u32; 128]; shared dyn d: [u32];
        let i = local_id(0); s[i] = i; d[i] = i * 2; barrier();
        out[i] = s[127 - i] + d[(i + 1) % 128] + local_size(0) + s[i + 1 - 1];
    }";
    let expected: Vec<u32> = (0..128).map(|i| 127 - i + 2 * ((i + 1) % 128) + 128 + i).collect();
    words_of(source, 128, &expected);
}

#[test]
fn waves() {
    let source = "#[workgroup_size(64)] kernel t(out: *global u32) {
        let i = lane_id();
        let odd = ballot(i % 2 == 1);
        let mut r = shuffle_xor(i * 3, 1) + mbcnt(odd) * 1000;
        if any(i == 63) && all(i < 64) && !all(i < 63) { r += 100000; }
        let up = shuffle_up(i, 2); let w = read_lane(i as u64 << 33u32, 5);
        out[i] = r + read_first_lane(i + 7) * 1000000 + up * 0 + (w >> 33u32) as u32 * 0;
        out[64 + i] = up; out[128 + i] = (w >> 32u32) as u32; out[192 + i] = shuffle_down(i, 63);
    }";
    let mut expected: Vec<u32> = (0..64).map(|i| (i ^ 1) * 3 + i / 2 * 1000 + 100_000 + 7_000_000).collect();
    expected.extend((0..64).map(|i| if i < 2 { i } else { i - 2 }));
    expected.extend([10; 64]);
    expected.extend((0..64).map(|i| if i == 0 { 63 } else { i }));
    words_of(source, 64, &expected);
}

#[test]
fn atomics() {
    words(
        "out[0] = 5; let p = &out[0];
         out[1] = atomic_add(p, 3, relaxed, agent); out[2] = atomic_min(p, 2, acq_rel, workgroup);
         out[3] = atomic_cas(p, 2, 9, seq_cst, acquire, system); out[4] = atomic_cas(p, 2, 1, relaxed, relaxed, wavefront_one_as);
         out[5] = atomic_inc(p, 9, release, agent); out[6] = atomic_dec(p, 4, relaxed, agent);
         atomic_store(p, 77, release, agent); out[7] = atomic_load(p, acquire, agent);
         let q = p as *global i32; *q = -4; atomic_max(q, -2, relaxed, agent); out[8] = out[0];
         let f = p as *global f32; atomic_store(f, 2.0, relaxed, agent); out[9] = atomic_xchg(f, 1.0, relaxed, agent) as u32;
         fence(acq_rel, agent, global); fence(seq_cst, workgroup);
         store(&out[10], load(&out[9], nontemporal) + 1, volatile | nontemporal);",
        &[1.0f32.to_bits(), 5, 8, 2, 9, 9, 0, 77, -2i32 as u32, 2, 3],
    );
}

#[test]
fn bit_functions() {
    let x = 0x1234_5678u32;
    words(
        "let x = 0x12345678u32; let s = -100;
         out[0] = popcount(x); out[1] = clz(x); out[2] = ctz(x); out[3] = reverse_bits(x); out[4] = rotl(x, 8);
         out[5] = rotr(x, 8); out[6] = mul_hi(x, x); out[7] = bfe(x, 8, 12); out[8] = bfe(s, 4, 8) as u32;
         out[9] = bfi(0xff00u32, x, 0xffffffff); out[10] = alignbit(x, 1, 4); out[11] = sad(3u32, 10, 5);
         out[12] = mul24(0x1000003u32, 5); out[13] = mad24(-3, 4, 2) as u32; out[14] = abs(s) as u32;
         out[15] = clamp(s, -5, 5) as u32; out[16] = min(s, 3) as u32; out[17] = bitcast::<u32>(1.0);
         out[18] = bitcast::<u64>(u32x2(1, 2)) as u32; out[19] = bitcast::<u32x2>(2.0f64).y;
         out[20] = bitcast::<u32>(u8x4(1, 2, 3, 4)); out[21] = bitcast::<i8x4>(x | 0x80).x as u32;",
        &[
            x.count_ones(),
            x.leading_zeros(),
            x.trailing_zeros(),
            x.reverse_bits(),
            x.rotate_left(8),
            x.rotate_right(8),
            ((u64::from(x) * u64::from(x)) >> 32) as u32,
            (x >> 8) & 0xfff,
            ((-100i32 >> 4) as i8) as u32,
            (x & 0xff00) | 0xffff_00ff,
            (((u64::from(x) << 32) | 1) >> 4) as u32,
            12,
            15,
            -10i32 as u32,
            100,
            -5i32 as u32,
            -100i32 as u32,
            1.0f32.to_bits(),
            1,
            (2.0f64.to_bits() >> 32) as u32,
            0x0403_0201,
            (0xf8u8 as i8) as u32,
        ],
    );
}

#[test]
fn float_functions() {
    floats(
        "let x = -2.75; out[0] = floor(x); out[1] = ceil(x); out[2] = trunc(x); out[3] = round(2.5); out[4] = fract(x);
         out[5] = abs(x); out[6] = sqrt(6.25); out[7] = fma(2.0, 3.0, 4.0); out[8] = copysign(3.0, x);
         out[9] = mix(1.0, 3.0, 0.25); out[10] = step(0.0, x); out[11] = rcp(4.0); out[12] = rsqrt(16.0);
         out[13] = ldexp(1.5, 4); let mut e: i32; out[14] = frexp(12.0, &mut e); out[15] = e as f32;
         out[16] = isnan(x / 0.0 * 0.0) as u32 as f32; out[17] = isinf(x / 0.0) as u32 as f32;
         out[18] = min(x, 0.0 / 0.0); out[19] = 7.5 % 2.0; out[20] = clamp(x, -1.0, 1.0);",
        &[
            -3.0, -2.0, -2.0, 2.0, 0.25, 2.75, 2.5, 10.0, -3.0, 1.5, 0.0, 0.25, 0.25, 24.0, 0.75, 4.0, 1.0, 1.0,
            -2.75, 1.5, -1.0,
        ],
    );
}

/// The error of a result in units of the last place of the true value.
fn ulps(found: f32, truth: f64) -> f64 {
    let nearest = truth as f32;
    if found == nearest || (found.is_nan() && nearest.is_nan()) {
        return 0.0;
    }
    let scale = (f64::from(nearest.abs().max(f32::MIN_POSITIVE)).log2().floor() - 23.0).exp2();
    (f64::from(found) - truth).abs() / scale
}

#[test]
fn exp_and_log_meet_their_bounds() {
    type Row = (&'static str, fn(f64) -> f64, &'static [f32]);
    let arguments: &[f32] =
        &[0.0, 1.0, -1.0, 0.5, 10.3, -87.5, -100.0, 88.5, 90.0, -150.0, 1e-6, f32::INFINITY];
    let positive: &[f32] =
        &[1.0, 2.0, 0.5, 10.0, 1e-40, 1e-45, 3.4e38, 1.0001, 0.9999, f32::INFINITY, 0.0, std::f32::consts::E];
    let rows: [Row; 4] = [
        ("exp", f64::exp, arguments),
        ("exp2", f64::exp2, arguments),
        ("log", f64::ln, positive),
        ("log2", f64::log2, positive),
    ];
    for (name, truth, arguments) in rows {
        for &x in arguments {
            let literal = format!("bitcast::<f32>({}u32)", x.to_bits());
            let source = format!("kernel t(out: *global f32) {{ out[0] = {name}({literal}); }}");
            let bytes = run(&source, 1, &[]);
            let found = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            // OpenCL allows 3 ulp for each of them.
            assert!(ulps(found, truth(f64::from(x))) <= 3.0, "{name}({x}) = {found}");
        }
    }
}

#[test]
fn contraction_follows_the_option() {
    let source = "kernel t(out: *global f32) { let a = out[0]; out[0] = a * a - 1.0; out[1] = 1.0 - a * a; out[2] += a * a; }";
    let count = |fp_contract| {
        let options = frontend::Options { params: &[], fp_contract, ..Default::default() };
        let module = frontend::compile("t.k", source, &options).expect("valid");
        module.to_string().matches("fma.f32").count()
    };
    assert_eq!((count(true), count(false)), (3, 0));
}

#[test]
fn small_buffers_uses_32_bit_offsets() {
    let count = |attr: &str| {
        let source = format!("{attr} kernel t(out: *global f32, i: u32) {{ out[i] = out[i * 4 + 1]; }}");
        let module = frontend::compile("t.k", &source, &frontend::Options::default()).expect("valid");
        module.to_string().matches("ptr_add_z").count()
    };
    assert_eq!((count("#[small_buffers]"), count("")), (2, 0));
}

/// What a literal without a suffix is, its uses say, also later ones, as in Rust.
#[test]
fn literals_are_what_their_uses_ask_for() {
    words("let mut best = 0; let u = 7u32; if best < u { best = u; } out[0] = best;", &[7]);
    words("let h = 3u32; let y = if h == 4 { 0 } else { h + 1 }; out[0] = y;", &[4]);
    words("let n = 2u32; let mut s = 0; for i in 0..4 { s += i + n; } out[0] = s;", &[14]);
    words(
        "let mut row = [0; 3]; row[1] = 5u32; row[2] = row[1] * 2; out[0] = row[0] + row[1] + row[2];",
        &[15],
    );
    // Beyond an i32, and beyond 32 bits.
    words(
        "let big = 3_000_000_000; out[0] = big; let wide = 1 << 40; let w: u64 = wide; out[1] = (w >> 38) as u32;",
        &[3_000_000_000, 4],
    );
    // Through another variable, a negation, a built-in, a comparison, a shift.
    words("let a = 1; let b = a; let c = -b; let d: i64 = c; out[0] = (d >> 32) as u32;", &[u32::MAX]);
    words("let a = 9; let b = max(a, 4_000_000_000u32); out[0] = b; out[1] = a / 2;", &[4_000_000_000, 4]);
    words("let a = 0x8000_0000; let b = 1u32; if a > b { out[0] = 1; } out[1] = a >> 31;", &[1, 1]);
    // Nothing decides: i32 and f32.
    words(
        "let a = -8; out[0] = (a >> 1) as u32; let f = 0.1; out[1] = bitcast::<u32>(f);",
        &[-4i32 as u32, 0.1f32.to_bits()],
    );
    words("let f = 0.1; let d: f64 = f; out[0] = (d == 0.1f64) as u32;", &[1]);
    // The patterns of a `match`: 0xffff_fffe is no i32.
    words(
        "let mut state = 1; if state == out[9] { state = 5; } state = 0xffff_fffe; \
         out[0] = match state { 0 => 10, 0xffff_fff0..=0xffff_ffff => 20, _ => 30 };",
        &[20],
    );
    // A pointer to a variable.
    words(
        "let mut e = 0; let m = frexp(12.0, &mut e); out[0] = e as u32; out[1] = (m * 16.0) as u32;",
        &[4, 12],
    );
    floats("let k = 2; let v = f32x2(1.0, 2.0) * 1.5; out[0] = v.x + v.y; out[1] = k as f32;", &[4.5, 2.0]);
}

/// Assignments and what leaves a loop are arms, as in Rust.
#[test]
fn short_arms() {
    let body = "let mut v = 0; let mut n = 0u32; \
                loop { n += 1; match n { 1..=3 => v += n, 5 => continue, 8 => break, _ => v += 100, } v += 1000; } out[0] = v;";
    // 1 2 3 add 6, 4 6 7 add 300, each of the six 1000.
    words(body, &[6306]);
    words_of(
        "fn f(n: u32) -> u32 { match n { 0 => return 7, _ => {} } n * 2 } \
         kernel t(out: *global u32) { out[0] = f(0) + f(5); match out[0] { 17 => return, _ => out[1] = 3 } out[1] = 4; }",
        1,
        &[17, 0],
    );
}

/// The names and values are Rust's.
#[test]
fn constants_of_types() {
    words(
        "out[0] = u32::MAX; out[1] = i32::MIN as u32; out[2] = (u8::MAX as u32) + u16::BITS; out[3] = (i64::MIN >> 63) as u32;",
        &[u32::MAX, i32::MIN as u32, 255 + 16, u32::MAX],
    );
    words(
        "let mut least = u32::MAX; least = min(least, 7); out[0] = least; out[1] = match least { u32::MIN..=i8::MAX as u32 => 1, _ => 2 };",
        &[7, 1],
    );
    floats(
        "out[0] = f32::PI; out[1] = f32::INFINITY; out[2] = -f32::MAX; out[3] = f32::EPSILON; out[4] = f32::NAN; out[5] = f32::MIN_POSITIVE; \
         out[6] = (f64::PI * 1e9) as f32; out[7] = f32::FRAC_1_SQRT_2;",
        &[
            std::f32::consts::PI,
            f32::INFINITY,
            f32::MIN,
            f32::EPSILON,
            f32::NAN,
            f32::MIN_POSITIVE,
            (std::f64::consts::PI * 1e9) as f32,
            std::f32::consts::FRAC_1_SQRT_2,
        ],
    );
}
