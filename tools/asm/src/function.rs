//! Functions in expressions: `max(a, b)`, `or(a, b)`, `alignto(n, 8)`, and the functions with which LLVM 19
//! computes resources.
//!
//! A call is converted to a tree of operators, so that its arguments may be symbols that later lines define.

use crate::assembler::Assembler;
use crate::cursor::Cursor;
use crate::error::{Result, error};
use crate::expr::{Binary, Value};
use isa::{Feature, PROCESSORS};

/// The functions that expressions may call, each with its number of arguments. 0 stands for one or more
/// arguments.
const FUNCTIONS: [(&str, usize); 6] =
    [("max", 0), ("or", 0), ("alignto", 2), ("extrasgprs", 3), ("totalnumvgprs", 2), ("occupancy", 7)];

impl Assembler {
    /// Reads the call of a function whose name was read from `start`, and returns its value. Returns `None`
    /// if no `(` follows or there is no such function.
    pub(crate) fn call(
        &mut self,
        cur: &mut Cursor,
        name: &str,
        start: usize,
        depth: u32,
    ) -> Result<Option<Value>> {
        if cur.peek() != b'(' {
            return Ok(None);
        }
        let Some(&(_, count)) = FUNCTIONS.iter().find(|function| function.0 == name) else { return Ok(None) };
        cur.pos += 1;
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.nested(cur, depth)?);
            if !cur.eat(b',') {
                break;
            }
        }
        cur.expect(b')')?;
        let span = start..cur.pos;
        if count != 0 && arguments.len() != count {
            return Err(error(span, format!("`{name}` takes {count} arguments")));
        }
        let value = match name {
            "max" => self.fold(Binary::Max, &arguments),
            "or" => self.fold(Binary::Or, &arguments),
            "alignto" => self.fold(Binary::AlignTo, &arguments),
            "extrasgprs" => self.extra_sgprs(&arguments),
            "totalnumvgprs" => self.total_vgprs(&arguments),
            _ => self.occupancy(&arguments),
        };
        value.map(Some).map_err(|message| error(span, message))
    }

    fn fold(&mut self, op: Binary, values: &[Value]) -> std::result::Result<Value, &'static str> {
        values[1..].iter().try_fold(values[0], |all, &value| self.binary(op, all, value))
    }

    /// Returns how many SGPRs follow after the numbered SGPRs, for VCC, FLAT_SCRATCH and XNACK_MASK. `uses`
    /// says which of these three are used. They lie in this order behind each other, so the processor's
    /// number for one of them includes those before it. The result is therefore the largest number of those
    /// that are used.
    fn extra_sgprs(&mut self, uses: &[Value]) -> std::result::Result<Value, &'static str> {
        // Without a processor, LLVM counts as for its first processor.
        let facts = &self.settings.target.unwrap_or(&PROCESSORS[0]).arch.descriptor;
        let (flat_scratch, xnack_mask) = (facts.sgprs_with_flat_scratch, facts.sgprs_with_xnack_mask);
        let counts = [2, flat_scratch.unwrap_or(0).into(), xnack_mask.unwrap_or(0).into()];
        let mut most = Value::Abs(0);
        for (&used, count) in uses.iter().zip(counts) {
            let used = self.binary(Binary::LogicalAnd, used, Value::Abs(1))?;
            let count = self.binary(Binary::Mul, used, Value::Abs(count))?;
            most = self.binary(Binary::Max, most, count)?;
        }
        Ok(most)
    }

    /// Returns the total number of VGPRs, which includes accumulation VGPRs. If both kinds are in one
    /// register file, their numbers are added; on other processors the larger number counts.
    fn total_vgprs(&mut self, counts: &[Value]) -> std::result::Result<Value, &'static str> {
        let (acc, plain) = (counts[0], counts[1]);
        if !self.settings.target.is_some_and(|target| target.has(Feature::UNIFIED_VGPRS)) {
            return self.binary(Binary::Max, acc, plain);
        }
        self.binary(Binary::JoinFiles, acc, plain)
    }

    /// Returns the number of waves that can run on a SIMD at the same time (LLVM's function `occupancy`). The
    /// arguments are: the largest number of waves, the allocation unit of VGPRs, the total number of VGPRs,
    /// the generation as LLVM numbers generations, the number of waves if registers did not limit it, and the
    /// numbers of SGPRs and VGPRs that the code uses.
    fn occupancy(&mut self, arguments: &[Value]) -> std::result::Result<Value, &'static str> {
        let known: Option<Vec<i64>> = arguments.iter().map(|&value| self.known_number(value)).collect();
        let Some(&[most, unit, all, generation, start, sgprs, vgprs]) = known.as_deref() else {
            return Err("the arguments of `occupancy` must be known here");
        };
        const SEA_ISLANDS: i64 = 6;
        const GFX9: i64 = 8;
        let by_sgprs =
            |limits: [i64; 6]| limits.iter().position(|&limit| sgprs <= limit).map_or(5, |n| 10 - n as i64);
        let mut waves = start;
        if sgprs != 0 {
            waves = waves.min(match generation {
                _ if generation <= SEA_ISLANDS => by_sgprs([48, 56, 64, 72, 80, i64::MAX]),
                _ if generation <= GFX9 => by_sgprs([80, 88, 100, i64::MAX, 0, 0]),
                _ => most,
            });
        }
        if vgprs != 0 && unit > 0 {
            let units = vgprs.saturating_add(unit - 1) / unit;
            waves =
                waves.min(if vgprs < unit { most } else { (all / (units * unit).max(1)).max(1).min(most) });
        }
        Ok(Value::Abs(waves))
    }
}
