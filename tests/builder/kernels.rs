//! The kernels, and what they compute.

use super::{Case, GROUP, ITEMS};
use half::{bf16, f16};
use kernc::ir::build::{Elem, KernelBuilder};
use kernc::ir::{BinOp, CastOp, IntCc, Module, Order, Pos, RmwOp, Scope, Type, UnOp, Value};

const AGENT: (Order, Scope) = (Order::Relaxed, Scope::Agent);

/// Words of a fixed pseudo-random sequence.
fn random(count: usize) -> Vec<u32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    (0..count).map(|_| next()).collect()
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// Compares words; one that is `None` may have any value.
fn same(expected: &[Option<u32>], output: &[u8]) -> Result<(), String> {
    let output = words(output);
    assert_eq!(expected.len(), output.len());
    let mut pairs = expected.iter().zip(&output).enumerate();
    match pairs.find(|(_, (expected, found))| expected.is_some_and(|expected| expected != **found)) {
        Some((at, (expected, found))) => Err(format!("word {at} is {found:#x}, not {expected:#x?}")),
        None => Ok(()),
    }
}

/// A builder of kernel `k`, its two buffers, and the number of the work-item.
fn begin() -> (KernelBuilder, Value, Value, Value) {
    let mut b = KernelBuilder::new("k");
    b.workgroup_size([GROUP, 1, 1]);
    let (input, output) = (b.buffer("input", Elem::U32), b.buffer("output", Elem::U32));
    let item = b.position(Pos::GlobalId(0));
    (b, input, output, item)
}

fn end(mut b: KernelBuilder, mut module: Module) -> Module {
    b.ret();
    module.funcs.push(b.finish());
    module
}

fn load_at(b: &mut KernelBuilder, elem: Elem, buffer: Value, index: Value) -> Value {
    let at = b.element(buffer, elem, index);
    b.load(elem, at)
}

/// Stores a value as word number `number` of the `count` words of a work-item.
fn put(b: &mut KernelBuilder, (output, item, count): (Value, Value, i32), number: i32, value: Value) {
    let (count, number) = (b.i32(count), b.i32(number));
    let first = b.binary(BinOp::Mul, item, count);
    let index = b.binary(BinOp::Add, first, number);
    let at = b.element(output, Elem::U32, index);
    b.store(Elem::U32, at, value);
}

/// Early return, nested loops and conditions, with values of several types.
pub fn control_flow() -> Case {
    let (mut b, input, output, item) = begin();
    let n = load_at(&mut b, Elem::U32, input, item);
    let [zero, one, three, five, seven, most] = [0, 1, 3, 5, 7, 50].map(|number| b.i32(number));
    let to = (output, item, 1);
    let is_zero = b.compare(IntCc::Eq, n, zero);
    b.if_then(is_zero, |b| {
        put(b, to, 0, n);
        b.ret();
    });
    let [steps, last] = b.while_loop(
        [zero, n],
        |b, [steps, x]| {
            let (more, less) = (b.compare(IntCc::Ne, x, one), b.compare(IntCc::Ult, steps, most));
            b.binary(BinOp::And, more, less)
        },
        |b, [steps, x]| {
            let bit = b.binary(BinOp::And, x, one);
            let odd = b.compare(IntCc::Ne, bit, zero);
            let up = |b: &mut KernelBuilder| {
                let product = b.binary(BinOp::Mul, x, three);
                [b.binary(BinOp::Add, product, one)]
            };
            let [next] = b.if_else(odd, up, |b| [b.binary(BinOp::LShr, x, one)]);
            [b.binary(BinOp::Add, steps, one), next]
        },
    );
    let (rows, wide) = (b.binary(BinOp::URem, n, seven), b.i64(1 << 40));
    let start = b.f32(0.5);
    let [total, sum] = b.for_range(zero, rows, [wide, start], |b, row, sums| {
        b.for_range(row, five, sums, |b, column, [total, sum]| {
            let product = b.binary(BinOp::Mul, row, column);
            let product = b.cast(CastOp::Zext, product, Type::I64);
            let float = b.cast(CastOp::UToF, column, Type::F32);
            [b.binary(BinOp::Add, total, product), b.binary(BinOp::FAdd, sum, float)]
        })
    });
    let total = b.cast(CastOp::Trunc, total, Type::I32);
    let bits = b.cast(CastOp::Bitcast, sum, Type::I32);
    let result = [last, total, bits].iter().fold(steps, |all, &part| {
        let all = b.binary(BinOp::Mul, all, seven);
        b.binary(BinOp::Add, all, part)
    });
    put(&mut b, to, 0, result);
    let mut input = random(ITEMS);
    input.iter_mut().step_by(9).for_each(|word| *word = 0);
    let check = |input: &[u8], output: &[u8], _| {
        let expected: Vec<_> = words(input).iter().map(|&n| Some(control_flow_of(n))).collect();
        same(&expected, output)
    };
    let module = end(b, Module::default());
    Case { name: "control flow", module, input: bytes(&input), output: vec![0xff; ITEMS * 4], check }
}

fn control_flow_of(n: u32) -> u32 {
    if n == 0 {
        return 0;
    }
    let (mut steps, mut x) = (0u32, n);
    while x != 1 && steps < 50 {
        x = if x & 1 != 0 { x.wrapping_mul(3).wrapping_add(1) } else { x >> 1 };
        steps += 1;
    }
    let (mut total, mut sum) = (1u64 << 40, 0.5f32);
    for row in 0..n % 7 {
        for column in row..5 {
            total += u64::from(row * column);
            sum += column as f32;
        }
    }
    let parts = [x, total as u32, sum.to_bits()];
    parts.iter().fold(steps, |all, &part| all.wrapping_mul(7).wrapping_add(part))
}

/// A work-item's four numbers of 16 bits: two `f16` and two `bf16`, in the input and in the output.
const SMALL: usize = 4;

/// Arithmetic on `f16`, and conversions of `f16` and `bf16`.
pub fn small_floats() -> Case {
    let (mut b, input, output, item) = begin();
    let two = b.i32(2);
    let first = b.binary(BinOp::Shl, item, two);
    let [at_0, at_1, at_2, at_3] = [0, 1, 2, 3].map(|number| {
        let number = b.i32(number);
        b.binary(BinOp::Add, first, number)
    });
    let (x, y) = (load_at(&mut b, Elem::F16, input, at_0), load_at(&mut b, Elem::F16, input, at_1));
    let (p, q) = (load_at(&mut b, Elem::Bf16, input, at_2), load_at(&mut b, Elem::Bf16, input, at_3));
    let (p, q) = (b.bf16_to_f32(p), b.bf16_to_f32(q));
    let tenth = b.f16(0.1);
    let product = b.binary(BinOp::FMul, x, y);
    let sum = b.binary(BinOp::FAdd, product, tenth);
    let narrow = b.cast(CastOp::FTrunc, p, Type::F16);
    let product = b.binary(BinOp::FMul, p, q);
    let product = b.f32_to_bf16(product);
    let wide = b.cast(CastOp::FExt, y, Type::F32);
    let thousandth = b.f32(0.001);
    let shifted = b.binary(BinOp::FAdd, wide, thousandth);
    let shifted = b.f32_to_bf16(shifted);
    for (elem, index, value) in [
        (Elem::F16, at_0, sum),
        (Elem::F16, at_1, narrow),
        (Elem::Bf16, at_2, product),
        (Elem::Bf16, at_3, shifted),
    ] {
        let at = b.element(output, elem, index);
        b.store(elem, at, value);
    }
    // Zeros, denormals, the ends of the range, infinities and NaNs; then anything.
    let special: [u16; 16] = [
        0, 0x8000, 1, 0x83ff, 0x400, 0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7e01, 0x7f80, 0xff80, 0x7fc1, 0x7f7f,
        0x80, 0x7f01,
    ];
    let pick = |number: u32| special[number as usize & 15];
    let mut numbers: Vec<u16> = random(ITEMS * SMALL).iter().map(|&word| word as u16).collect();
    let picks = random(ITEMS * SMALL / 2);
    numbers.iter_mut().zip(&picks).for_each(|(number, &word)| *number = pick(word >> 20));
    let input = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let module = end(b, Module::default());
    Case { name: "small floats", module, input, output: vec![0; ITEMS * SMALL * 2], check: small_floats_are }
}

fn small_floats_are(input: &[u8], output: &[u8], _lanes: u32) -> Result<(), String> {
    let numbers = |bytes: &[u8]| -> Vec<[u16; SMALL]> {
        let item = |item: &[u8]| std::array::from_fn(|n| u16::from_le_bytes([item[2 * n], item[2 * n + 1]]));
        bytes.chunks_exact(2 * SMALL).map(item).collect()
    };
    for (given, found) in numbers(input).into_iter().zip(numbers(output)) {
        let [x, y] = [given[0], given[1]].map(f16::from_bits);
        let [p, q] = [given[2], given[3]].map(|bits| bf16::from_bits(bits).to_f32());
        // A product of two `f16` is exact in `f32`.
        let product = f16::from_f32(x.to_f32() * y.to_f32());
        let sum = f16::from_f64(product.to_f64() + f16::from_f64(0.1).to_f64());
        let halves = [sum, f16::from_f32(p)];
        let brains = [bf16::from_f32(p * q), bf16::from_f32(y.to_f32() + 0.001)];
        let expected = [halves[0].to_bits(), halves[1].to_bits(), brains[0].to_bits(), brains[1].to_bits()];
        let is_nan = [halves[0].is_nan(), halves[1].is_nan(), brains[0].is_nan(), brains[1].is_nan()];
        let found_nan = [0, 1, 2, 3].map(|n| {
            if n < 2 { f16::from_bits(found[n]).is_nan() } else { bf16::from_bits(found[n]).is_nan() }
        });
        let fits = (0..SMALL).all(|n| if is_nan[n] { found_nan[n] } else { found[n] == expected[n] });
        if !fits {
            return Err(format!("{given:#x?} gives {found:#x?}, not {expected:#x?}"));
        }
    }
    Ok(())
}

/// Cells of the buffer of [`device_atomics`].
const CELLS: usize = 28;
/// A limit of `atomic_inc` and `atomic_dec`.
const LIMIT: u32 = 50;

/// Every operation on a cell of its own, by all work-items.
pub fn device_atomics() -> Case {
    let (mut b, input, output, item) = begin();
    let v = load_at(&mut b, Elem::U32, input, item);
    let cell = |b: &mut KernelBuilder, elem: Elem, word: i32| {
        let index = b.i32(word * 4 / elem.bytes() as i32);
        b.element(output, elem, index)
    };
    type Named = fn(&mut KernelBuilder, Elem, Value, Value, (Order, Scope)) -> Value;
    type Row = (Named, Elem, i32, Value, (Order, Scope));
    let byte = b.i32(0xff);
    let byte = b.binary(BinOp::And, v, byte);
    let float = b.cast(CastOp::UToF, byte, Type::F32);
    let (limit, pair) = (b.i32(LIMIT as i32), b.i32(0x3c00_4000));
    let (wide, signed) = (b.cast(CastOp::Zext, v, Type::I64), b.cast(CastOp::Sext, v, Type::I64));
    let double = b.cast(CastOp::UToF, v, Type::F64);
    let operations: [Row; 18] = [
        (KernelBuilder::atomic_add, Elem::U32, 0, v, AGENT),
        (KernelBuilder::atomic_sub, Elem::U32, 1, v, (Order::AcqRel, Scope::Agent)),
        (KernelBuilder::atomic_min, Elem::I32, 2, v, (Order::SeqCst, Scope::System)),
        (KernelBuilder::atomic_min, Elem::U32, 3, v, AGENT),
        (KernelBuilder::atomic_max, Elem::I32, 4, v, (Order::Acquire, Scope::Agent)),
        (KernelBuilder::atomic_max, Elem::U32, 5, v, (Order::Release, Scope::System)),
        (KernelBuilder::atomic_and, Elem::U32, 6, v, AGENT),
        (KernelBuilder::atomic_or, Elem::U32, 7, v, AGENT),
        (KernelBuilder::atomic_xor, Elem::I32, 8, v, AGENT),
        (KernelBuilder::atomic_inc, Elem::U32, 9, limit, AGENT),
        (KernelBuilder::atomic_dec, Elem::U32, 10, limit, AGENT),
        (KernelBuilder::atomic_add, Elem::F32, 11, float, AGENT),
        (KernelBuilder::atomic_min, Elem::F32, 12, float, AGENT),
        (KernelBuilder::atomic_max, Elem::F32, 13, float, AGENT),
        (KernelBuilder::atomic_add, Elem::U64, 18, wide, (Order::AcqRel, Scope::System)),
        (KernelBuilder::atomic_min, Elem::I64, 20, signed, AGENT),
        (KernelBuilder::atomic_add, Elem::F64, 22, double, AGENT),
        (KernelBuilder::atomic_max, Elem::F64, 24, double, AGENT),
    ];
    for (operation, elem, word, value, order) in operations {
        let at = cell(&mut b, elem, word);
        operation(&mut b, elem, at, value, order);
    }
    let (from, to) = (cell(&mut b, Elem::U32, 14), cell(&mut b, Elem::U32, 15));
    let old = b.atomic_xchg(Elem::U32, from, v, AGENT);
    b.atomic_add(Elem::U32, to, old, AGENT);
    let at = cell(&mut b, Elem::U32, 16);
    let one = b.i32(1);
    let factor = b.binary(BinOp::Or, v, one);
    let (first, not) = (b.atomic_load(Elem::U32, at, AGENT), b.bool(false));
    b.while_loop(
        [first, not],
        |b, [_, done]| b.unary(UnOp::Not, done),
        |b, [expected, _]| {
            let new = b.binary(BinOp::Mul, expected, factor);
            let seen = b.atomic_cas(Elem::U32, at, (expected, new), (Order::AcqRel, Scope::Agent));
            [seen, b.compare(IntCc::Eq, seen, expected)]
        },
    );
    let at = cell(&mut b, Elem::U32, 17);
    b.atomic_store(Elem::U32, at, limit, (Order::Release, Scope::Agent));
    let at = cell(&mut b, Elem::U32, 26);
    b.atomic(RmwOp::PkFAdd, Elem::U32, at, pair, AGENT);
    let mut before = [0; CELLS];
    [before[6], before[16], before[12], before[24 + 1]] = [!0, 1, 100f32.to_bits(), 0];
    before[21] = 0x7fff_ffff;
    let module = end(b, Module::default());
    let (input, output) = (bytes(&random(ITEMS)), bytes(&before));
    Case { name: "atomics in device memory", module, input, output, check: device_atomics_are }
}

fn device_atomics_are(input: &[u8], output: &[u8], _lanes: u32) -> Result<(), String> {
    let (input, found) = (words(input), words(output));
    let floats = || input.iter().map(|&v| (v & 0xff) as f32);
    let sum = input.iter().fold(0u32, |sum, &v| sum.wrapping_add(v));
    let signed = || input.iter().map(|&v| v as i32);
    let wide = [
        input.iter().map(|&v| u64::from(v)).sum::<u64>(),
        signed().map(i64::from).min().unwrap_or(0) as u64,
        input.iter().map(|&v| f64::from(v)).sum::<f64>().to_bits(),
        input.iter().map(|&v| f64::from(v)).fold(0.0, f64::max).to_bits(),
    ];
    let items = ITEMS as u32;
    let mut expected: Vec<Option<u32>> = [
        sum,
        0u32.wrapping_sub(sum),
        signed().min().unwrap_or(0).min(0) as u32,
        0,
        signed().max().unwrap_or(0).max(0) as u32,
        input.iter().copied().max().unwrap_or(0),
        input.iter().fold(!0, |all, v| all & v),
        input.iter().fold(0, |all, v| all | v),
        input.iter().fold(0, |all, v| all ^ v),
        items % (LIMIT + 1),
        // The first decrement stores the limit.
        (LIMIT + 1 - items % (LIMIT + 1)) % (LIMIT + 1),
        floats().sum::<f32>().to_bits(),
        floats().fold(100.0, f32::min).to_bits(),
        floats().fold(0.0, f32::max).to_bits(),
        found[14],
        // What was exchanged adds up to what was given, without the number that stays.
        sum.wrapping_sub(found[14]),
        input.iter().fold(1u32, |product, v| product.wrapping_mul(v | 1)),
        LIMIT,
    ]
    .map(Some)
    .to_vec();
    assert_eq!(expected.len(), 18);
    expected.extend(wide.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).map(Some));
    let [low, high] = [2.0, 1.0].map(|each: f32| f16::from_f32(each * items as f32).to_bits());
    expected.extend([Some(u32::from(high) << 16 | u32::from(low)), Some(0)]);
    if !input.contains(&found[14]) {
        return Err(format!("{:#x} was not exchanged", found[14]));
    }
    same(&expected, output)
}

/// Words that a work-group of [`group_atomics`] writes.
const GROUP_CELLS: u32 = 8;

/// Atomics on LDS, which the first work-item of a group then copies.
pub fn group_atomics() -> Case {
    let (mut b, input, output, item) = begin();
    let mut module = Module::default();
    let cells = module.shared("cells", Elem::U32, GROUP_CELLS);
    let wide = module.shared("wide", Elem::U64, 1);
    let v = load_at(&mut b, Elem::U32, input, item);
    let (cells, wide) =
        (b.address(cells, kernc::ir::Space::Shared), b.address(wide, kernc::ir::Space::Shared));
    let (local, zero, count) = (b.position(Pos::LocalId(0)), b.i32(0), b.i32(GROUP_CELLS as i32));
    let first = b.compare(IntCc::Eq, local, zero);
    b.if_then(first, |b| {
        b.for_range(zero, count, [], |b, number, []| {
            let at = b.element(cells, Elem::U32, number);
            b.store(Elem::U32, at, zero);
            []
        });
        let nothing = b.i64(0);
        b.store(Elem::U64, wide, nothing);
    });
    b.barrier();
    let group = (Order::Relaxed, Scope::Workgroup);
    let byte = b.i32(0xff);
    let byte = b.binary(BinOp::And, v, byte);
    let float = b.cast(CastOp::UToF, byte, Type::F32);
    let long = b.cast(CastOp::Zext, v, Type::I64);
    let at: [Value; 7] = std::array::from_fn(|word| {
        let word = b.i32(word as i32);
        b.element(cells, Elem::U32, word)
    });
    b.atomic_add(Elem::U32, at[0], v, group);
    b.atomic_max(Elem::I32, at[1], v, (Order::SeqCst, Scope::Workgroup));
    b.atomic_xor(Elem::U32, at[2], v, group);
    b.atomic_add(Elem::F32, at[3], float, group);
    b.atomic_max(Elem::F32, at[4], float, group);
    b.atomic_inc(Elem::U32, at[5], byte, group);
    b.atomic_cas(Elem::U32, at[6], (zero, count), (Order::AcqRel, Scope::Workgroup));
    b.atomic_add(Elem::U64, wide, long, group);
    b.fence((Order::AcqRel, Scope::Workgroup));
    b.barrier();
    b.if_then(first, |b| {
        let number = b.position(Pos::GroupId(0));
        let total = b.load(Elem::U64, wide);
        let shift = b.i32(16);
        let total = b.binary(BinOp::LShr, total, shift);
        let total = b.cast(CastOp::Trunc, total, Type::I32);
        let words = GROUP_CELLS as i32;
        for (word, &at) in at.iter().enumerate() {
            let value = b.load(Elem::U32, at);
            put(b, (output, number, words), word as i32, value);
        }
        put(b, (output, number, words), words - 1, total);
    });
    let groups = ITEMS.div_ceil(GROUP as usize);
    // All limits of a group are equal, so that the order of increments does not matter.
    let input: Vec<u32> = random(ITEMS).iter().map(|v| v & !0xff | 0x11).collect();
    let check = |input: &[u8], output: &[u8], _| {
        let of_group = |input: &[u32]| {
            let floats = || input.iter().map(|&v| (v & 0xff) as f32);
            [
                input.iter().fold(0u32, |sum, &v| sum.wrapping_add(v)),
                input.iter().map(|&v| v as i32).max().unwrap_or(0).max(0) as u32,
                input.iter().fold(0, |all, v| all ^ v),
                floats().sum::<f32>().to_bits(),
                floats().fold(0.0, f32::max).to_bits(),
                input.len() as u32 % 0x12,
                GROUP_CELLS,
                (input.iter().map(|&v| u64::from(v)).sum::<u64>() >> 16) as u32,
            ]
        };
        let expected: Vec<_> = words(input).chunks(GROUP as usize).flat_map(of_group).map(Some).collect();
        same(&expected, output)
    };
    let output = vec![0xff; groups * GROUP_CELLS as usize * 4];
    Case { name: "atomics in LDS", module: end(b, module), input: bytes(&input), output, check }
}

/// Words that a work-item of [`wave_operations`] writes.
const WAVE_WORDS: usize = 17;

/// Every operation across lanes, by all lanes of a wave, on values of every type.
pub fn wave_operations() -> Case {
    let (mut b, input, output, item) = begin();
    let v = load_at(&mut b, Elem::U32, input, item);
    let lane = b.position(Pos::LaneId);
    let [zero, one, two, three, five, seven] = [0, 1, 2, 3, 5, 7].map(|number| b.i32(number));
    let bit = b.binary(BinOp::And, v, one);
    let odd = b.compare(IntCc::Ne, bit, zero);
    let mask = b.ballot(odd);
    let small = b.binary(BinOp::And, v, seven);
    let (is_five, is_low) = (b.compare(IntCc::Eq, small, five), b.compare(IntCc::Ule, small, five));
    let (any, all) = (b.any(is_five), b.all(is_low));
    let neighbour = b.binary(BinOp::Xor, lane, three);
    let half = b.cast(CastOp::BitsHalf, v, Type::F16);
    let half = b.shuffle_xor(half, one);
    let half = b.cast(CastOp::HalfBits, half, Type::I32);
    let below = b.shuffle_up(odd, one);
    let (wide, high) = (b.cast(CastOp::Zext, v, Type::I64), b.cast(CastOp::Zext, lane, Type::I64));
    let thirty_two = b.i32(32);
    let high = b.binary(BinOp::Shl, high, thirty_two);
    let wide = b.binary(BinOp::Or, wide, high);
    let wide_above = b.shuffle_up(wide, three);
    let double = b.cast(CastOp::UToF, v, Type::F64);
    let double = b.shuffle_down(double, two);
    let double = b.cast(CastOp::FToU, double, Type::I32);
    let (eights, next) = (b.i32(!7), b.binary(BinOp::Add, lane, one));
    let (block, place) = (b.binary(BinOp::And, lane, eights), b.binary(BinOp::And, next, seven));
    let to = b.binary(BinOp::Or, block, place);
    let sent = b.permute(v, to);
    let pointer = b.element(input, Elem::U32, item);
    let pointer = b.shuffle_xor(pointer, one);
    let (first, fifth, by_lane) = (b.read_first_lane(v), b.read_lane(v, five), b.shuffle(v, neighbour));
    let float = b.cast(CastOp::Bitcast, v, Type::F32);
    let float = b.shuffle(float, neighbour);
    let float = b.cast(CastOp::Bitcast, float, Type::I32);
    let below_count = b.mbcnt(mask);
    b.wave_barrier();
    let behind = b.load(Elem::U32, pointer);
    let halves = |b: &mut KernelBuilder, value: Value| {
        let high = b.binary(BinOp::LShr, value, thirty_two);
        [value, high].map(|half| b.cast(CastOp::Trunc, half, Type::I32))
    };
    let ([mask_low, mask_high], [wide_low, wide_high]) = (halves(&mut b, mask), halves(&mut b, wide_above));
    let [any, all, below] = [any, all, below].map(|value| b.cast(CastOp::Zext, value, Type::I32));
    let results: [Value; WAVE_WORDS] = [
        mask_low,
        mask_high,
        below_count,
        any,
        all,
        first,
        fifth,
        by_lane,
        half,
        below,
        wide_low,
        wide_high,
        double,
        sent,
        behind,
        float,
        lane,
    ];
    for (number, value) in results.into_iter().enumerate() {
        put(&mut b, (output, item, WAVE_WORDS as i32), number as i32, value);
    }
    let module = end(b, Module::default());
    let output = vec![0xff; ITEMS * WAVE_WORDS * 4];
    Case { name: "wave operations", module, input: bytes(&random(ITEMS)), output, check: wave_operations_are }
}

/// The values of each wave: those of the work-items of its group, `lanes` at a time.
fn waves(input: &[u32], lanes: u32) -> impl Iterator<Item = &[u32]> {
    input.chunks(GROUP as usize).flat_map(move |group| group.chunks(lanes as usize))
}

fn mask_of(lanes: impl Iterator<Item = usize>) -> u64 {
    lanes.fold(0, |mask, lane| mask | 1 << lane)
}

fn wave_operations_are(input: &[u8], output: &[u8], lanes: u32) -> Result<(), String> {
    let mut expected = Vec::new();
    for wave in waves(&words(input), lanes) {
        let mask = mask_of((0..wave.len()).filter(|&lane| wave[lane] & 1 != 0));
        for (lane, &v) in wave.iter().enumerate() {
            // A lane outside of the wave is replaced by the lane itself; one inside may be inactive.
            let from =
                |source: usize| if source < lanes as usize { wave.get(source).copied() } else { Some(v) };
            let up = |count: usize| lane.checked_sub(count).unwrap_or(lane);
            expected.extend([
                Some(mask as u32),
                Some((mask >> 32) as u32),
                Some((mask & ((1 << lane) - 1)).count_ones()),
                Some(u32::from(wave.iter().any(|v| v & 7 == 5))),
                Some(u32::from(wave.iter().all(|v| v & 7 <= 5))),
                Some(wave[0]),
                Some(wave[5]),
                Some(wave[lane ^ 3]),
                Some(wave[lane ^ 1] & 0xffff),
                from(up(1)).map(|v| v & 1),
                from(up(3)),
                Some(up(3) as u32),
                from(lane + 2),
                Some(wave[lane & !7 | lane.wrapping_sub(1) & 7]),
                Some(wave[lane ^ 1]),
                Some(wave[lane ^ 3]),
                Some(lane as u32),
            ]);
        }
    }
    same(&expected, output)
}

/// Operations by lanes that come to a side of a branch, and by lanes that are still in a loop.
pub fn some_lanes() -> Case {
    let (mut b, input, output, item) = begin();
    let v = load_at(&mut b, Elem::U32, input, item);
    let [zero, three] = [0, 3].map(|number| b.i32(number));
    let rest = b.binary(BinOp::URem, v, three);
    let apart = b.compare(IntCc::Eq, rest, zero);
    let [mask, first] = b.if_else(
        apart,
        |b| {
            let yes = b.bool(true);
            [b.ballot(yes), b.read_first_lane(v)]
        },
        |b| {
            let yes = b.bool(true);
            [b.ballot(yes), b.read_first_lane(rest)]
        },
    );
    let count = b.binary(BinOp::And, v, three);
    let [together] = b.for_range(zero, count, [zero], |b, _, [sum]| {
        let yes = b.bool(true);
        let mask = b.ballot(yes);
        let lanes = b.op(kernc::ir::Op::Un(UnOp::Popcount), &[mask], Type::I32);
        [b.binary(BinOp::Add, sum, lanes)]
    });
    let (below, low) = (b.mbcnt(mask), b.cast(CastOp::Trunc, mask, Type::I32));
    for (number, value) in [low, below, first, together].into_iter().enumerate() {
        put(&mut b, (output, item, 4), number as i32, value);
    }
    let check = |input: &[u8], output: &[u8], lanes| {
        let mut expected = Vec::new();
        for wave in waves(&words(input), lanes) {
            for (lane, &v) in wave.iter().enumerate() {
                let mut with = (0..wave.len()).filter(|&other| (wave[other] % 3 == 0) == (v % 3 == 0));
                let mask = mask_of(with.clone());
                let first = wave[with.next().expect("the lane itself")];
                let inside = |number: u32| wave.iter().filter(|&&other| other & 3 > number).count() as u32;
                expected.extend([
                    Some(mask as u32),
                    Some((mask & ((1 << lane) - 1)).count_ones()),
                    Some(if v % 3 == 0 { first } else { first % 3 }),
                    Some((0..v & 3).map(inside).sum()),
                ]);
            }
        }
        same(&expected, output)
    };
    let module = end(b, Module::default());
    let output = vec![0xff; ITEMS * 16];
    Case { name: "wave operations of some lanes", module, input: bytes(&random(ITEMS)), output, check }
}
