//! Every atomic operation with every order and scope, on every integer type, in both spaces.

use crate::harness::{run_bytes, to_bytes, to_bytes64};

const SCOPES: [&str; 10] = [
    "singlethread",
    "wavefront",
    "workgroup",
    "agent",
    "system",
    "singlethread_one_as",
    "wavefront_one_as",
    "workgroup_one_as",
    "agent_one_as",
    "system_one_as",
];
const ORDERS: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];
const LOAD_ORDERS: [&str; 4] = ["unordered", "relaxed", "acquire", "seq_cst"];
const STORE_ORDERS: [&str; 4] = ["unordered", "relaxed", "release", "seq_cst"];
const FAIL_ORDERS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const RMW: [&str; 10] = ["add", "sub", "min", "max", "and", "or", "xor", "xchg", "inc", "dec"];

#[derive(Clone, Copy)]
struct Int {
    name: &'static str,
    bits: u32,
    signed: bool,
}

const TYPES: [Int; 4] = [
    Int { name: "u32", bits: 32, signed: false },
    Int { name: "i32", bits: 32, signed: true },
    Int { name: "u64", bits: 64, signed: false },
    Int { name: "i64", bits: 64, signed: true },
];

impl Int {
    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    fn signed(self, x: u64) -> i64 {
        (x << (64 - self.bits)) as i64 >> (64 - self.bits)
    }

    fn less(self, a: u64, b: u64) -> bool {
        if self.signed { self.signed(a) < self.signed(b) } else { a < b }
    }

    /// What the operation leaves in memory (`inc` and `dec` are unsigned: docs/language.md).
    fn after(self, op: &str, old: u64, v: u64) -> u64 {
        let new = match op {
            "add" => old.wrapping_add(v),
            "sub" => old.wrapping_sub(v),
            "min" => {
                if self.less(v, old) {
                    v
                } else {
                    old
                }
            }
            "max" => {
                if self.less(old, v) {
                    v
                } else {
                    old
                }
            }
            "and" => old & v,
            "or" => old | v,
            "xor" => old ^ v,
            "xchg" => v,
            "inc" => {
                if old >= v {
                    0
                } else {
                    old + 1
                }
            }
            "dec" => {
                if old == 0 || old > v {
                    v
                } else {
                    old - 1
                }
            }
            _ => unreachable!("{op}"),
        };
        new & self.mask()
    }
}

const LANES: usize = 64;

/// Values in memory and operands: small, equal, greater and smaller, at the borders of the types.
fn data(ty: Int, salt: u64) -> Vec<u64> {
    let edges = [0, 1, 2, 5, ty.mask(), ty.mask() >> 1, (ty.mask() >> 1) + 1, 0x8000_0001];
    let value = |n: u64| match n % 3 {
        0 => edges[(n / 3 + salt) as usize % edges.len()],
        1 => edges[(n / 5 + salt * 3) as usize % edges.len()],
        _ => (n + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15),
    };
    (0..LANES as u64).map(|n| value(n) & ty.mask()).collect()
}

/// What each access returned and left, for lane values `old` and `v`.
type Step = (String, Box<dyn Fn(u64, u64) -> [u64; 2]>);

fn steps(ty: Int, scope: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (op, order) in RMW.iter().flat_map(|&op| ORDERS.map(|order| (op, order))) {
        let call = format!("atomic_{op}(p, v, {order}, {scope})");
        steps.push((call, Box::new(move |old, v| [old, ty.after(op, old, v)])));
    }
    for (success, failure) in ORDERS.iter().flat_map(|&order| FAIL_ORDERS.map(|failure| (order, failure))) {
        let call = format!("atomic_cas(p, 5, v, {success}, {failure}, {scope})");
        steps.push((call, Box::new(|old, v| [old, if old == 5 { v } else { old }])));
    }
    for order in LOAD_ORDERS {
        steps.push((format!("atomic_load(p, {order}, {scope})"), Box::new(|old, _| [old, old])));
    }
    for order in STORE_ORDERS {
        let call = format!("{{ atomic_store(p, v, {order}, {scope}); 7 }}");
        steps.push((call, Box::new(|_, v| [7, v])));
    }
    steps
}

fn source(ty: Int, space: &str, steps: &[Step]) -> String {
    let name = ty.name;
    let shared = if space == "shared" { format!("shared local: [{name}; {LANES}];") } else { String::new() };
    let place = if space == "shared" { "&local[i]" } else { "mem + i" };
    let mut body = String::new();
    for (n, (call, _)) in steps.iter().enumerate() {
        let at = 2 * n * LANES;
        body +=
            &format!("    *p = start[i];\n    out[{at} + i] = {call};\n    out[{} + i] = *p;\n", at + LANES);
    }
    format!(
        "#[workgroup_size(64)]\nkernel t(start: *global {name}, val: *global {name}, mem: *global {name}, \
         out: *global {name}) {{\n    {shared}\n    let i = local_id(0);\n    let v = val[i];\n    \
         let p = {place};\n{body}}}\n"
    )
}

fn all_orders(ty: Int, space: &str, scope: &str) {
    let steps = steps(ty, scope);
    let (start, val) = (data(ty, 1), data(ty, 4));
    let bytes = |words: &[u64]| {
        if ty.bits == 64 {
            to_bytes64(words)
        } else {
            to_bytes(&words.iter().map(|&w| w as u32).collect::<Vec<_>>())
        }
    };
    let size = (ty.bits / 8) as usize;
    let inputs = [("start", bytes(&start)), ("val", bytes(&val)), ("mem", vec![0; LANES * size])];
    for (how, out) in
        run_bytes(&source(ty, space, &steps), LANES as u32, &inputs, steps.len() * 2 * LANES * size)
    {
        let found = |at: usize| {
            let mut wide = [0; 8];
            wide[..size].copy_from_slice(&out[at * size..][..size]);
            u64::from_le_bytes(wide)
        };
        for (n, (call, meaning)) in steps.iter().enumerate() {
            for lane in 0..LANES {
                let wanted = meaning(start[lane], val[lane]);
                let got = [found(2 * n * LANES + lane), found((2 * n + 1) * LANES + lane)];
                let given = (start[lane], val[lane]);
                assert!(
                    got == wanted,
                    "{how}: {} {space} {call} on {given:x?}: {got:x?}, not {wanted:x?}",
                    ty.name
                );
            }
        }
    }
}

fn all_scopes(ty: Int) {
    for scope in SCOPES {
        for space in ["global", "shared"] {
            all_orders(ty, space, scope);
        }
    }
}

#[test]
fn u32_everywhere() {
    all_scopes(TYPES[0]);
}

#[test]
fn i32_everywhere() {
    all_scopes(TYPES[1]);
}

#[test]
fn u64_everywhere() {
    all_scopes(TYPES[2]);
}

#[test]
fn i64_everywhere() {
    all_scopes(TYPES[3]);
}
