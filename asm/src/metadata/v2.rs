//! Code object V2's metadata.

use super::yaml::Node;

pub(super) fn text(_tree: &Node) -> Result<String, &'static str> {
    Err("not yet")
}
