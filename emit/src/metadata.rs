//! Metadata of V3 and later (seed 000, line 2369) as a tree; [`objwriter`] writes it as MessagePack or YAML.

use crate::{Arg, Kernel, Program, ValueKind, descriptor};
use objwriter::Value;

/// Entries of a map, in the order in which LLVM's tools print them (sorted).
type Entries = Vec<(Value, Value)>;

fn ints(values: impl IntoIterator<Item = u32>) -> Value {
    Value::Seq(values.into_iter().map(Value::from).collect())
}

fn string(text: &str) -> Value {
    Value::from(text.to_owned())
}

fn map<const N: usize>(entries: [(&'static str, Value); N], capacity: usize) -> Entries {
    let mut map = Vec::with_capacity(capacity);
    map.extend(entries.map(|(key, value)| (Value::from(key), value)));
    map
}

/// The metadata of a program.
pub fn tree(program: &Program) -> Value {
    let kernels = program.kernels.iter().map(|kernel| kernel_map(program, kernel)).collect();
    Value::Map(map([("amdhsa.kernels", Value::Seq(kernels)), ("amdhsa.version", ints([1, 0]))], 2))
}

fn kernel_map(program: &Program, kernel: &Kernel) -> Value {
    let func = kernel.func;
    let mut entries = map(
        [
            (".args", Value::Seq(kernel.args.iter().map(arg_map).collect())),
            (".group_segment_fixed_size", func.lds_size.into()),
            (".kernarg_segment_align", kernel.kernarg_align.into()),
            (".kernarg_segment_size", func.kernarg_size.into()),
            // The value is an enumeration of source languages; ours is nearest to OpenCL C in what a runtime does with it.
            (".language", "OpenCL C".into()),
            (".language_version", ints([2, 0])),
            (".max_flat_workgroup_size", kernel.max_flat_workgroup_size.into()),
            (".name", string(&func.name)),
            (".private_segment_fixed_size", func.scratch_size.into()),
        ],
        18,
    );
    let mut push = |key: &'static str, value| entries.push((Value::from(key), value));
    if let Some(size) = kernel.reqd_workgroup_size {
        push(".reqd_workgroup_size", ints(size));
    }
    push(".sgpr_count", descriptor::registers(&program.target, func).total_sgprs(&program.target).into());
    push(".sgpr_spill_count", func.spilled.sgprs.into());
    push(".symbol", descriptor::symbol(&func.name).into());
    if let Some(hint) = kernel.vec_type_hint {
        push(".vec_type_hint", string(hint));
    }
    push(".vgpr_count", func.vgprs.into());
    push(".vgpr_spill_count", func.spilled.vgprs.into());
    push(".wavefront_size", program.target.wave_size.into());
    if let Some(size) = kernel.workgroup_size_hint {
        push(".workgroup_size_hint", ints(size));
    }
    Value::Map(entries)
}

fn arg_map(arg: &Arg) -> Value {
    let mut entries = Vec::with_capacity(11);
    let mut push = |key: &'static str, value| entries.push((Value::from(key), value));
    if let Some(space) = arg.address_space {
        push(".address_space", string(space));
    }
    let qualifiers =
        [(".is_const", arg.is_const), (".is_restrict", arg.is_restrict), (".is_volatile", arg.is_volatile)];
    for (key, on) in qualifiers {
        if on && arg.kind == ValueKind::GlobalBuffer {
            push(key, Value::Bool(true));
        }
    }
    push(".name", string(arg.name));
    push(".offset", arg.offset.into());
    if let Some(align) = arg.pointee_align.filter(|_| arg.kind == ValueKind::DynamicSharedPointer) {
        push(".pointee_align", align.into());
    }
    push(".size", arg.size.into());
    push(".type_name", string(arg.type_name));
    let kind = match arg.kind {
        ValueKind::ByValue => "by_value",
        ValueKind::GlobalBuffer => "global_buffer",
        ValueKind::DynamicSharedPointer => "dynamic_shared_pointer",
    };
    push(".value_kind", kind.into());
    push(".value_type", string(arg.value_type));
    Value::Map(entries)
}

/// The tree as a YAML document, as `.amdgpu_metadata` takes it.
pub fn yaml(tree: &Value) -> String {
    let mut out = String::new();
    tree.write_yaml(0, &mut out);
    out
}
