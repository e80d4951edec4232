//! Reads the metadata of code objects V2, which is YAML text (LLVM's AMDGPU guide, seed 000, line 2193). The
//! text does not state the offsets of arguments: each argument follows the previous one, at its own
//! alignment.

use super::{ArgInfo, ArgKind, KernelMeta, Metadata, Scalar, group_size};
use codeobj::yaml::{self, Node};

/// Parses the YAML document of code objects V2.
pub(crate) fn parse(text: &str) -> Result<Metadata, String> {
    let root = yaml::parse(text).map_err(|(at, why)| format!("at byte {at}: {why}"))?;
    let list = |key: &str| root.get(key).map_or(&[][..], Node::items);
    Ok(Metadata {
        kernels: list("Kernels").iter().map(kernel).collect::<Result<_, _>>()?,
        version: list("Version").iter().filter_map(number).collect(),
        printf: list("Printf").iter().filter_map(Node::text).map(str::to_owned).collect(),
    })
}

fn number(node: &Node) -> Option<u32> {
    let text = node.text()?;
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the number for a key of the document, or 0 if the document does not have the key.
fn number_of(node: &Node, key: &str) -> Result<u32, String> {
    match node.get(key) {
        None => Ok(0),
        Some(value) => number(value).ok_or_else(|| format!("{key} is not a number")),
    }
}

fn text_of(node: &Node, key: &str) -> Option<String> {
    node.get(key)?.text().map(str::to_owned)
}

fn kernel(node: &Node) -> Result<KernelMeta, String> {
    let name = text_of(node, "Name").ok_or("a kernel without Name")?;
    let required = node.get("Attrs").and_then(|attributes| attributes.get("ReqdWorkGroupSize"));
    let required: Vec<u32> = required.map_or(&[][..], Node::items).iter().filter_map(number).collect();
    let empty = Node::Empty;
    let code = node.get("CodeProps").unwrap_or(&empty);
    let mut args = Vec::new();
    let mut end = 0u32;
    for arg in node.get("Args").map_or(&[][..], Node::items) {
        let arg = argument(arg, end)?;
        end = arg.offset.saturating_add(arg.size);
        args.push(arg);
    }
    Ok(KernelMeta {
        symbol: text_of(node, "SymbolName").unwrap_or_else(|| format!("{name}@kd")),
        name,
        args,
        reqd_group: group_size(&required),
        max_group: number_of(code, "MaxFlatWorkGroupSize")?,
        kernarg_size: number_of(code, "KernargSegmentSize")?,
        sgprs: number_of(code, "NumSGPRs")?,
        vgprs: number_of(code, "NumVGPRs")?,
        wave_size: number_of(code, "WavefrontSize")?,
    })
}

/// Reads the description of an argument. The argument begins where the previous one ends (`end`), rounded up
/// to its own alignment.
fn argument(node: &Node, end: u32) -> Result<ArgInfo, String> {
    let align = number_of(node, "Align")?;
    if !align.is_power_of_two() {
        return Err(format!("an argument aligned to {align} bytes"));
    }
    let offset = end.checked_next_multiple_of(align).ok_or("too many arguments")?;
    let kind = text_of(node, "ValueKind").ok_or("an argument without ValueKind")?;
    let type_name = text_of(node, "TypeName");
    let by_value_type = text_of(node, "ValueType").and_then(|name| Scalar::by_name(&name.to_lowercase()));
    Ok(ArgInfo {
        name: text_of(node, "Name"),
        offset,
        size: number_of(node, "Size")?,
        kind: ArgKind::of_name(&snake_case(&kind)),
        address_space: text_of(node, "AddrSpaceQual").map(|name| name.to_lowercase()),
        element: type_name.as_deref().and_then(Scalar::of_type_name).or(by_value_type),
        type_name,
        is_const: text_of(node, "IsConst").as_deref() == Some("true"),
        is_restrict: text_of(node, "IsRestrict").as_deref() == Some("true"),
        pointee_align: number_of(node, "PointeeAlign")?.max(1),
    })
}

/// Converts a name such as `HiddenGlobalOffsetX` to the spelling of later versions, `hidden_global_offset_x`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (at, c) in name.chars().enumerate() {
        // Later versions write "MultiGrid" as "multigrid", without an underscore in it.
        if c.is_ascii_uppercase() && at > 0 && !out.ends_with("_multi") {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_spelling() {
        for (old, new) in [
            ("ByValue", "by_value"),
            ("DynamicSharedPointer", "dynamic_shared_pointer"),
            ("HiddenGlobalOffsetX", "hidden_global_offset_x"),
            ("HiddenMultiGridSyncArg", "hidden_multigrid_sync_arg"),
            ("HiddenNone", "hidden_none"),
        ] {
            assert_eq!(snake_case(old), new);
        }
    }

    #[test]
    fn arguments_follow_one_another() {
        let text = "---\nVersion: [ 1, 0 ]\nPrintf:\n  - '1:1:4:x=%d\\n'\nKernels:\n  - Name: k\n    SymbolName: 'k@kd'\n    Args:\n      - Size: 4\n        Align: 4\n        ValueKind: ByValue\n        ValueType: I32\n      - Size: 8\n        Align: 8\n        ValueKind: GlobalBuffer\n        AddrSpaceQual: Global\n      - Size: 8\n        Align: 8\n        ValueKind: HiddenGlobalOffsetX\n    CodeProps:\n      KernargSegmentSize: 24\n      WavefrontSize: 64\n...\n";
        let metadata = parse(text).unwrap();
        let kernel = &metadata.kernels[0];
        let offsets: Vec<u32> = kernel.args.iter().map(|arg| arg.offset).collect();
        assert_eq!((offsets, kernel.kernarg_size, kernel.wave_size), (vec![0, 8, 16], 24, 64));
        assert_eq!(kernel.args[0].element, Some(Scalar::I32));
        assert_eq!(metadata.printf, ["1:1:4:x=%d\\n"]);
        assert!(parse("Kernels:\n  - Args:\n      - Size: 4\n").is_err());
    }
}
