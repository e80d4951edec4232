//! Finds the function to which an instruction belongs. The symbol table of the code object lists the
//! functions.

use crate::object::Symbol;

const STT_FUNC: u8 = 2;
const STT_AMDGPU_HSA_KERNEL: u8 = 10;

/// The functions of a code object, including kernels, in the order of their addresses in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions(Vec<Function>);

/// A function of a code object.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    start: u64,
    end: u64,
    pub(crate) name: String,
}

impl Function {
    /// Returns whether an address is in the function.
    pub(crate) fn has(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

impl Functions {
    pub(crate) fn new(symbols: &[Symbol]) -> Functions {
        let is_code = |symbol: &&Symbol| matches!(symbol.kind, STT_FUNC | STT_AMDGPU_HSA_KERNEL);
        let function = |symbol: &Symbol| Function {
            start: symbol.address,
            end: symbol.address.saturating_add(symbol.size),
            name: symbol.name.clone(),
        };
        let mut list: Vec<Function> = symbols.iter().filter(is_code).map(function).collect();
        list.sort_by_key(|function| function.start);
        list.dedup_by_key(|function| function.start);
        // A function that was written in assembly may have a symbol without a size. Such a function extends
        // to the start of the next function.
        for at in 0..list.len() {
            let next = list.get(at + 1).map_or(u64::MAX, |next| next.start);
            let function = &mut list[at];
            if function.end == function.start || function.end > next {
                function.end = next;
            }
        }
        Functions(list)
    }

    /// Returns the function that contains an address.
    pub(crate) fn at(&self, address: u64) -> Option<&Function> {
        let before = self.0.partition_point(|function| function.start <= address);
        self.0.get(before.checked_sub(1)?).filter(|function| function.has(address))
    }

    /// Returns whether a function begins at an address.
    pub(crate) fn begins(&self, address: u64) -> bool {
        self.at(address).is_some_and(|function| function.start == address)
    }

    /// Returns the name of the function that contains an address.
    pub(crate) fn name(&self, address: u64) -> String {
        self.at(address).map_or_else(|| format!("{address:#x}"), |function| function.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_without_a_size_reach_to_the_next() {
        let symbol = |name: &str, address, size, kind| Symbol { name: name.into(), address, size, kind };
        let functions = Functions::new(&[
            symbol("g", 0x40, 0x10, STT_FUNC),
            symbol("f", 0x20, 0, STT_FUNC),
            symbol("data", 0x30, 4, 1),
        ]);
        assert_eq!(functions.name(0x3c), "f");
        assert_eq!(functions.name(0x4c), "g");
        assert_eq!(functions.name(0x50), "0x50");
        assert!(functions.begins(0x40) && !functions.begins(0x44) && !functions.begins(0x30));
    }
}
