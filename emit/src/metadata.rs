//! Metadata of V3 and later (seed 000, line 2369): a kernel's and an argument's map, from which [`objwriter`]'s tree is made
//! for YAML, and MessagePack without one.

use crate::{Arg, Kernel, Program, ValueKind, descriptor};
use objwriter::{Value, message_pack};
use smallvec::SmallVec;

/// A value of a map.
enum Item<'a> {
    Flag(bool),
    Number(u32),
    Numbers(&'a [u32]),
    Text(&'a str),
    /// The symbol of a kernel's descriptor.
    Descriptor(&'a str),
    Args(&'a [Arg<'a>]),
}

/// Entries of a map, in the order in which LLVM's tools print them (sorted).
type Entries<'a> = SmallVec<[(&'static str, Item<'a>); 20]>;

const VERSION: [u32; 2] = [1, 0];

/// The metadata of a program.
pub fn tree(program: &Program) -> Value {
    let kernels = program.kernels.iter().map(|kernel| map(kernel_entries(program, kernel))).collect();
    Value::Map(vec![
        ("amdhsa.kernels".into(), Value::Seq(kernels)),
        ("amdhsa.version".into(), numbers(&VERSION)),
    ])
}

/// Appends the same as MessagePack.
pub fn write_message_pack(program: &Program, out: &mut Vec<u8>) {
    message_pack::map(2, out);
    message_pack::string(&["amdhsa.kernels"], out);
    message_pack::seq(program.kernels.len(), out);
    program.kernels.iter().for_each(|kernel| write_map(kernel_entries(program, kernel), out));
    message_pack::string(&["amdhsa.version"], out);
    write(Item::Numbers(&VERSION), out);
}

fn kernel_entries<'a>(program: &Program, kernel: &'a Kernel) -> Entries<'a> {
    let func = kernel.func;
    let sgprs = descriptor::registers(&program.target, func).total_sgprs(&program.target);
    let mut entries = Entries::new();
    let mut push = |key, item| entries.push((key, item));
    push(".args", Item::Args(kernel.args));
    push(".group_segment_fixed_size", Item::Number(func.lds_size));
    push(".kernarg_segment_align", Item::Number(kernel.kernarg_align));
    push(".kernarg_segment_size", Item::Number(func.kernarg_size));
    // The value is an enumeration of source languages; ours is nearest to OpenCL C in what a runtime does with it.
    push(".language", Item::Text("OpenCL C"));
    push(".language_version", Item::Numbers(&[2, 0]));
    push(".max_flat_workgroup_size", Item::Number(kernel.max_flat_workgroup_size));
    push(".name", Item::Text(&func.name));
    push(".private_segment_fixed_size", Item::Number(func.scratch_size));
    if let Some(size) = &kernel.reqd_workgroup_size {
        push(".reqd_workgroup_size", Item::Numbers(size));
    }
    push(".sgpr_count", Item::Number(sgprs));
    push(".sgpr_spill_count", Item::Number(func.spilled.sgprs));
    push(".symbol", Item::Descriptor(&func.name));
    if let Some(hint) = kernel.vec_type_hint {
        push(".vec_type_hint", Item::Text(hint));
    }
    push(".vgpr_count", Item::Number(func.vgprs));
    push(".vgpr_spill_count", Item::Number(func.spilled.vgprs));
    push(".wavefront_size", Item::Number(program.target.wave_size));
    if let Some(size) = &kernel.workgroup_size_hint {
        push(".workgroup_size_hint", Item::Numbers(size));
    }
    entries
}

fn arg_entries<'a>(arg: &'a Arg) -> Entries<'a> {
    let mut entries = Entries::new();
    let mut push = |key, item| entries.push((key, item));
    if let Some(space) = arg.address_space {
        push(".address_space", Item::Text(space));
    }
    let qualifiers =
        [(".is_const", arg.is_const), (".is_restrict", arg.is_restrict), (".is_volatile", arg.is_volatile)];
    for (key, on) in qualifiers {
        if on && arg.kind == ValueKind::GlobalBuffer {
            push(key, Item::Flag(true));
        }
    }
    push(".name", Item::Text(arg.name));
    push(".offset", Item::Number(arg.offset));
    if let Some(align) = arg.pointee_align.filter(|_| arg.kind == ValueKind::DynamicSharedPointer) {
        push(".pointee_align", Item::Number(align));
    }
    push(".size", Item::Number(arg.size));
    push(".type_name", Item::Text(arg.type_name));
    let kind = match arg.kind {
        ValueKind::ByValue => "by_value",
        ValueKind::GlobalBuffer => "global_buffer",
        ValueKind::DynamicSharedPointer => "dynamic_shared_pointer",
    };
    push(".value_kind", Item::Text(kind));
    push(".value_type", Item::Text(arg.value_type));
    entries
}

fn write_map(entries: Entries, out: &mut Vec<u8>) {
    message_pack::map(entries.len(), out);
    for (key, item) in entries {
        message_pack::string(&[key], out);
        write(item, out);
    }
}

fn write(item: Item, out: &mut Vec<u8>) {
    match item {
        Item::Flag(on) => message_pack::bool(on, out),
        Item::Number(number) => message_pack::uint(number.into(), out),
        Item::Numbers(list) => {
            message_pack::seq(list.len(), out);
            list.iter().for_each(|&number| message_pack::uint(number.into(), out));
        }
        Item::Text(text) => message_pack::string(&[text], out),
        Item::Descriptor(kernel) => message_pack::string(&[kernel, descriptor::SUFFIX], out),
        Item::Args(args) => {
            message_pack::seq(args.len(), out);
            args.iter().for_each(|arg| write_map(arg_entries(arg), out));
        }
    }
}

fn map(entries: Entries) -> Value {
    Value::Map(entries.into_iter().map(|(key, item)| (key.into(), value(item))).collect())
}

fn numbers(list: &[u32]) -> Value {
    Value::Seq(list.iter().map(|&number| number.into()).collect())
}

fn value(item: Item) -> Value {
    match item {
        Item::Flag(on) => Value::Bool(on),
        Item::Number(number) => number.into(),
        Item::Numbers(list) => numbers(list),
        Item::Text(text) => text.to_owned().into(),
        Item::Descriptor(kernel) => descriptor::symbol(kernel).into(),
        Item::Args(args) => Value::Seq(args.iter().map(|arg| map(arg_entries(arg))).collect()),
    }
}

/// The tree as a YAML document, as `.amdgpu_metadata` takes it.
pub fn yaml(tree: &Value) -> String {
    let mut out = String::new();
    tree.write_yaml(0, &mut out);
    out
}
