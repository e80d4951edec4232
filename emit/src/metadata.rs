//! Metadata of a program: maps that describe its kernels and their arguments. To print YAML, the metadata is
//! first built as a tree ([`objwriter`]'s values). MessagePack is written directly, without a tree. V2
//! metadata is the same tree with other spellings (LLVM's AMDGPU guide, seed 000, line 2369).

use crate::HiddenPart;
use crate::{Arg, Kernel, Program, ValueKind, descriptor};
use isa::{CodeObjectVersion, Feature, HiddenArg};
use objwriter::{Value, message_pack, metadata_v2, note};
use smallvec::SmallVec;

/// Value in a map.
enum Item<'a> {
    Flag(bool),
    Number(u32),
    Numbers(&'a [u32]),
    Text(&'a str),
    /// The symbol of a kernel's descriptor, given by the name of the kernel.
    Descriptor(&'a str),
    Args(Args<'a>),
}

/// Explicit and hidden arguments of a kernel.
#[derive(Clone, Copy)]
struct Args<'a> {
    own: &'a [Arg<'a>],
    hidden: HiddenPart,
    /// Whether the metadata contains the alignment of each argument. Only V2 metadata does, because it has no
    /// offsets. A reader finds an argument at the next offset after the previous argument that has its
    /// alignment.
    has_align: bool,
}

impl<'a> Args<'a> {
    fn len(self) -> usize {
        self.own.len() + self.hidden.args().count()
    }

    fn entries(self) -> impl Iterator<Item = Entries<'a>> {
        let own = self.own.iter().map(move |arg| arg_entries(arg, self.has_align));
        own.chain(self.hidden.args().map(move |arg| hidden_entries(arg, self.has_align)))
    }
}

/// Entries of a map, sorted by key as LLVM's tools print them.
type Entries<'a> = SmallVec<[(&'static str, Item<'a>); 20]>;

/// Returns the metadata of a program in the spelling of V3 and later.
pub fn tree(program: &Program) -> Value {
    let kernels = program.kernels.iter().map(|kernel| map(kernel_entries(program, kernel))).collect();
    let mut entries = vec![("amdhsa.kernels".into(), Value::Seq(kernels))];
    if !program.formats.is_empty() {
        let formats = program.formats.iter().map(|format| format.clone().into()).collect();
        entries.push(("amdhsa.printf".into(), Value::Seq(formats)));
    }
    entries.extend(target(program).map(|target| ("amdhsa.target".into(), target.into())));
    entries.push(("amdhsa.version".into(), numbers(&note::metadata_version(program.target.code_object))));
    Value::Map(entries)
}

/// Returns the target id, which V4 and later contain.
fn target(program: &Program) -> Option<String> {
    (program.target.code_object >= CodeObjectVersion::V4).then(|| program.target_id())
}

/// Returns the list of a kernel's arguments, as the metadata of HSA has it.
pub fn args(program: &Program, kernel: &Kernel) -> Value {
    value(Item::Args(Args { own: kernel.args, hidden: program.hidden(kernel), has_align: false }))
}

/// Appends the metadata as MessagePack.
pub fn write_message_pack(program: &Program, out: &mut Vec<u8>) {
    let target = target(program);
    let has_formats = !program.formats.is_empty();
    message_pack::map(2 + usize::from(target.is_some()) + usize::from(has_formats), out);
    message_pack::string(&["amdhsa.kernels"], out);
    message_pack::seq(program.kernels.len(), out);
    program.kernels.iter().for_each(|kernel| write_map(kernel_entries(program, kernel), out));
    if has_formats {
        message_pack::string(&["amdhsa.printf"], out);
        message_pack::seq(program.formats.len(), out);
        program.formats.iter().for_each(|format| message_pack::string(&[format], out));
    }
    if let Some(target) = target {
        message_pack::string(&["amdhsa.target"], out);
        message_pack::string(&[&target], out);
    }
    message_pack::string(&["amdhsa.version"], out);
    write(Item::Numbers(&note::metadata_version(program.target.code_object)), out);
}

/// Returns the metadata as YAML, in the form that the assembler's metadata directive reads.
pub fn text(program: &Program) -> String {
    let tree = tree(program);
    if program.is_v2() {
        return metadata_v2::text(&metadata_v2::of_later(&tree));
    }
    let mut out = String::new();
    tree.write_yaml(0, &mut out);
    out
}

/// Adds an entry to a map. This is a function of its own that is not inlined, because it is called so often
/// that inlining it would make the code large.
#[inline(never)]
fn add<'a>(entries: &mut Entries<'a>, key: &'static str, item: Item<'a>) {
    entries.push((key, item));
}

fn kernel_entries<'a>(program: &Program, kernel: &'a Kernel) -> Entries<'a> {
    let (func, version) = (kernel.func, program.target.code_object);
    let (target, hidden) = (program.target_of(kernel), program.hidden(kernel));
    let (language, language_version) = program.language.metadata();
    let registers = descriptor::registers(&target, func);
    let sgprs = registers.total_sgprs(&target);
    let mut entries = Entries::new();
    let mut push = |key, item| add(&mut entries, key, item);
    if target.has(Feature::MAI) && !program.is_v2() {
        push(".agpr_count", Item::Number(func.agprs));
    }
    push(".args", Item::Args(Args { own: kernel.args, hidden, has_align: program.is_v2() }));
    push(".group_segment_fixed_size", Item::Number(kernel.lds));
    if program.is_v2() {
        push(".is_xnack_enabled", Item::Flag(program.target.xnack.may_be_on()));
    }
    push(".kernarg_segment_align", Item::Number(kernel.kernarg_align.max(hidden.align())));
    push(".kernarg_segment_size", Item::Number(program.kernarg_size(kernel)));
    push(".language", Item::Text(language));
    if let Some(version) = language_version {
        push(".language_version", Item::Numbers(version));
    }
    push(".max_flat_workgroup_size", Item::Number(kernel.max_flat_workgroup_size));
    push(".name", Item::Text(&func.name));
    push(".private_segment_fixed_size", Item::Number(func.scratch_size));
    if let Some(size) = &kernel.reqd_workgroup_size {
        push(".reqd_workgroup_size", Item::Numbers(size));
    }
    push(".sgpr_count", Item::Number(sgprs));
    push(".sgpr_spill_count", Item::Number(func.spilled.sgprs));
    push(".symbol", Item::Descriptor(&func.name));
    if version >= CodeObjectVersion::V5 && program.language.has_uniform_groups() {
        push(".uniform_work_group_size", Item::Number(1));
    }
    if version >= CodeObjectVersion::V5 || program.is_v2() {
        push(".uses_dynamic_stack", Item::Flag(func.dynamic_stack));
    }
    if let Some(hint) = kernel.vec_type_hint {
        push(".vec_type_hint", Item::Text(hint));
    }
    push(".vgpr_count", Item::Number(registers.vgprs));
    push(".vgpr_spill_count", Item::Number(func.spilled.vgprs));
    push(".wavefront_size", Item::Number(target.wave_size));
    if let Some(size) = &kernel.workgroup_size_hint {
        push(".workgroup_size_hint", Item::Numbers(size));
    }
    entries
}

fn arg_entries<'a>(arg: &'a Arg, has_align: bool) -> Entries<'a> {
    let mut entries = Entries::new();
    let mut push = |key, item| add(&mut entries, key, item);
    if let ValueKind::Opaque(_, Some(access)) = arg.kind {
        push(".access", Item::Text(access));
    }
    if let Some(space) = arg.address_space {
        push(".address_space", Item::Text(space));
    }
    if has_align {
        push(".align", Item::Number(arg.align));
    }
    let qualifiers =
        [(".is_const", arg.is_const), (".is_restrict", arg.is_restrict), (".is_volatile", arg.is_volatile)];
    for (key, on) in qualifiers {
        if on && arg.kind == ValueKind::GlobalBuffer {
            push(key, Item::Flag(true));
        }
    }
    if let ValueKind::Opaque("pipe", _) = arg.kind {
        push(".is_pipe", Item::Flag(true));
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
        ValueKind::Opaque(kind, _) => kind,
    };
    push(".value_kind", Item::Text(kind));
    if arg.kind == ValueKind::ByValue {
        push(".value_type", Item::Text(arg.value_type));
    }
    entries
}

fn hidden_entries<'a>(HiddenArg { kind, offset, size, .. }: HiddenArg, has_align: bool) -> Entries<'a> {
    let mut entries = Entries::new();
    if has_align {
        entries.push((".align", Item::Number(size)));
    }
    entries.push((".offset", Item::Number(offset)));
    entries.push((".size", Item::Number(size)));
    entries.push((".value_kind", Item::Text(kind)));
    entries
}

fn write_map(entries: Entries, out: &mut Vec<u8>) {
    message_pack::map(entries.len(), out);
    for (key, item) in entries {
        message_pack::text(key, out);
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
        Item::Text(text) => message_pack::text(text, out),
        Item::Descriptor(kernel) => message_pack::string(&[kernel, descriptor::SUFFIX], out),
        Item::Args(args) => {
            message_pack::seq(args.len(), out);
            args.entries().for_each(|arg| write_map(arg, out));
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
        Item::Args(args) => Value::Seq(args.entries().map(map).collect()),
    }
}
