//! Printing through OpenCL's buffer, in which the host finds the output after the kernel has ended.
//!
//! A call writes the number of its format and its arguments to the buffer, dword by dword. The library
//! function `printf_place` allocates the space. The layout of the arguments is that of LLVM's pass
//! `AMDGPUPrintfRuntimeBinding`, found from the pass's output. Each argument follows the previous argument
//! and takes whole dwords. A vector of three elements is stored like one of four. A string includes its
//! terminating zero.

use super::super::{Lower, Val, plain_mem};
use super::Part;
use crate::format::Record;
use crate::scalar::Scalar;
use crate::types::Ty;
use ir::{Mem, MemTy, Op, Pos, Space, Type, Value};
use smallvec::SmallVec;

/// A `printf` call while its buffer entry is assembled: its format, the size of each argument in bytes, and
/// the dwords of the arguments.
#[derive(Default)]
struct Call {
    record: Record,
    sizes: Vec<u32>,
    dwords: SmallVec<[Value; 16]>,
}

impl Lower<'_, '_> {
    pub(super) fn print_to_buffer(&mut self, parts: &[Part<'_>]) {
        let mut call = Call::default();
        for part in parts {
            match part {
                Part::Plain(text) => self.plain(&mut call, text),
                Part::Text(conversion, text) => {
                    self.text(&mut call, text);
                    call.record.convert(conversion, None);
                }
                Part::Value(conversion, number, values) => {
                    self.argument(&mut call, *number, values);
                    call.record.convert(conversion, number.map(|(scalar, _)| scalar));
                }
                Part::Number(value) => {
                    self.argument(&mut call, Some((Scalar::U32, 1)), &[*value]);
                    call.record.number();
                }
            }
        }
        self.leave_call(call);
    }

    fn plain(&mut self, call: &mut Call, text: &str) {
        for _ in 0..call.record.push(text) {
            call.sizes.push(4);
            call.dwords.push(self.constant(Type::I32, u64::from(b'\\')));
        }
    }

    fn text(&mut self, call: &mut Call, text: &str) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        call.sizes.push(bytes.len() as u32);
        for dword in bytes.as_chunks().0 {
            call.dwords.push(self.constant(Type::I32, u32::from_le_bytes(*dword).into()));
        }
    }

    /// Appends a number, the elements of a vector, or a pointer.
    fn argument(&mut self, call: &mut Call, number: Option<(Scalar, u8)>, values: &[Value]) {
        let (scalar, lanes) = number.unwrap_or((Scalar::U32, 1));
        let mut elements: Val = values.iter().map(|&value| self.printable(scalar, value)).collect();
        if lanes == 3 {
            let ty = self.func.ty(elements[0]);
            elements.push(self.zero(ty));
        }
        let before = call.dwords.len();
        let bits = scalar.bits();
        // The elements of a small vector share dwords. But if all elements together do not fill a dword (for
        // example two 8-bit elements), each element gets a dword of its own.
        let fills = elements.len() as u32 * bits >= 32;
        if lanes > 1 && bits < 32 && scalar.is_int() && fills {
            for chunk in elements.chunks(32 / bits as usize) {
                call.dwords.push(self.packed(chunk, bits));
            }
        } else {
            elements.iter().for_each(|&value| self.dwords(value, &mut call.dwords));
        }
        call.sizes.push(4 * (call.dwords.len() - before) as u32);
    }

    fn dwords(&mut self, value: Value, out: &mut SmallVec<[Value; 16]>) {
        match self.func.ty(value) {
            Type::F64 => {
                let bits = self.rebit(value, Type::I64);
                self.dwords(bits, out);
            }
            Type::I64 => {
                let (low, high) = self.halves(value);
                out.extend([low, high]);
            }
            _ => out.push(value),
        }
    }

    /// Packs several integers of `bits` bits into one dword; the first integer gets the lowest bits.
    fn packed(&mut self, elements: &[Value], bits: u32) -> Value {
        let mask = self.constant(Type::I32, (1 << bits) - 1);
        let mut word = self.bin(ir::BinOp::And, elements[0], mask);
        for (n, &element) in (1..).zip(&elements[1..]) {
            let low = self.bin(ir::BinOp::And, element, mask);
            let by = self.constant(Type::I32, n * u64::from(bits));
            let part = self.bin(ir::BinOp::Shl, low, by);
            word = self.bin(ir::BinOp::Or, word, part);
        }
        word
    }

    /// Writes a call to the buffer if there is room for it.
    fn leave_call(&mut self, call: Call) {
        let format = ir::Format { sizes: call.sizes, text: call.record.text };
        let bytes = self.constant(Type::I32, format.bytes().into());
        self.module.formats.push(format);
        let number = self.constant(Type::I32, self.module.formats.len() as u64);
        let global = Type::Ptr(Space::Global);
        let buffer = self.emit(Op::Pos(Pos::PrintfBuffer), &[], global);
        let place = self.call_library("printf_place".into(), &[Type::Bool, global], &[buffer, bytes]);
        let (has_room, place) = (place[0], place[1]);
        let leave = |lower: &mut Self| {
            for (n, &dword) in (0..).zip([number].iter().chain(&call.dwords)) {
                let mem = Mem { ty: MemTy::B32, align: 4, offset: 4 * n, ..plain_mem(Space::Global) };
                lower.effect(Op::Store { mem, count: 1 }, &[place, dword]);
            }
            Val::new()
        };
        self.branch(has_room, Ty::UNIT, leave, |_| Val::new());
    }
}
