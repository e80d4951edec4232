//! `malloc` in kernels, as ROCm's device library does it: by the heap's directory that a hidden argument (or, up to code object
//! V4, a variable of the program) has, and memory that the host gives out when it is called.

use crate::common::{device_libs, present};
use sim::{CodeObject, Device, Dispatch, Limits, Mode};

const SOURCE: &str = r#"
#define DEVICE extern "C" __attribute__((device))
DEVICE void *__ockl_dm_alloc(unsigned long);
DEVICE void __ockl_dm_dealloc(unsigned long);

extern "C" __attribute__((global)) void takes(unsigned **lists, unsigned large) {
    int at = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    unsigned words = at == 5 ? large : 4 + at;
    unsigned *list = (unsigned *)__ockl_dm_alloc(4ul * words);
    lists[at] = list;
    for (unsigned n = 0; list && n < words; n += 3)
        list[n] = at * 1000 + n;
}

extern "C" __attribute__((global)) void gives_back(unsigned **lists, unsigned *sums) {
    int at = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    unsigned sum = 0;
    for (unsigned n = 0; lists[at] && n < 4 + at; n += 3)
        sum += lists[at][n];
    sums[at] = sum;
    __ockl_dm_dealloc((unsigned long)lists[at]);
}
"#;

const ITEMS: u32 = 128;

fn sum(at: u32) -> u32 {
    (0..4 + at).step_by(3).map(|n| at * 1000 + n).sum()
}

/// Takes memory in one dispatch and gives it back in another; which lists are null.
fn check(
    device: &mut Device,
    module: sim::ModuleId,
    object: &CodeObject,
    large: u32,
) -> Result<Vec<u32>, String> {
    let text = |fault: sim::Fault| fault.to_string();
    let lists = device.alloc(8 * u64::from(ITEMS)).map_err(text)?;
    let sums = device.alloc(4 * u64::from(ITEMS)).map_err(text)?;
    let mut run = |kernel: &str, args: &[sim::Arg]| {
        let kernarg = object.kernel(kernel).unwrap().pack(args).map_err(text)?;
        let limits = Limits { instructions: 100_000_000, stack: 4096 };
        let (grid, group) = ([ITEMS, 1, 1], [64, 1, 1]);
        device
            .run(module, &Dispatch { kernel, grid, group, kernarg, limits, ..Dispatch::default() })
            .map_err(text)
    };
    run("takes", &[lists.into(), large.into()])?;
    run("gives_back", &[lists.into(), sums.into()])?;
    let mut nulls = Vec::new();
    for at in 0..ITEMS {
        let (mut list, mut found) = ([0; 8], [0; 4]);
        device.read(lists + 8 * u64::from(at), &mut list).map_err(text)?;
        device.read(sums + 4 * u64::from(at), &mut found).map_err(text)?;
        match (u64::from_le_bytes(list), u32::from_le_bytes(found)) {
            (0, 0) => nulls.push(at),
            (_, found) if found == sum(at) => {}
            (_, found) => return Err(format!("item {at} finds {found}, not {}", sum(at))),
        }
    }
    device.free(lists);
    device.free(sums);
    Ok(nulls)
}

#[test]
fn kernels_take_memory_and_give_it_back() {
    let Some(libs) = device_libs::directory().filter(|_| present("clang-19") && present("ld.lld-19")) else {
        return;
    };
    for (processor, version) in [("gfx906", 4), ("gfx906", 5), ("gfx90a", 5), ("gfx1010", 5)] {
        let object =
            CodeObject::load(&device_libs::compile(&libs, SOURCE, processor, version).unwrap()).unwrap();
        for mode in [Mode::Fast, Mode::STRICT, Mode::Weak { seed: 2 }] {
            let mut device = Device::with_threads(2);
            device.set_mode(mode);
            let module = device.load(&object).unwrap();
            // A large piece comes from the host itself. One that nobody has is null, and the kernel sees it.
            for (large, expected) in [(9, vec![]), (1 << 13, vec![]), (1 << 27, vec![5])] {
                let found = check(&mut device, module, &object, large);
                assert_eq!(found, Ok(expected), "{processor} V{version} {mode:?} {large}");
            }
        }
    }
}
