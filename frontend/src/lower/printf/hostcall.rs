//! Printing through calls of the host.
//!
//! A call of `printf` is a message of 64-bit words: the output stream, the format as C defines it, and the
//! arguments; strings end in a zero. The message is sent to the host in parts of up to seven words. Each part
//! is one host call for all active lanes, and the wave uses the same packet for all parts. The first word of
//! a part describes the part. The host answers the first part of a message with a number, which identifies
//! the message in its later parts. Library functions implement this protocol (`library/hostcall.k`).
//!
//! # Source
//! ROCm's device library (Debian's `rocm-device-libs`), from the calls that it makes:
//! `__ockl_fprintf_stdout_begin`, `__ockl_printf_append_args` and others.

use super::super::{Lower, plain_mem};
use super::{Part, Stream};
use crate::scalar::Scalar;
use ir::{BinOp, CastOp, Mem, MemTy, Op, Pos, Space, Type, Value};

/// Number of the service of the host that prints.
const PRINTF: u64 = 2;
/// Number of words of a part after the word that describes it.
const PART_WORDS: usize = 7;
/// Layout of the 64-bit word that describes a part of a message. `BEGIN` and `END` are the flags of the first
/// and the last part. The other two constants are bit positions: of the number of words in the part, and of
/// the number that identifies the message.
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNT_SHIFT: u32 = 5;
const NUMBER_SHIFT: u32 = 8;

/// A message while it is assembled.
#[derive(Default)]
struct Message {
    format: String,
    arguments: Vec<Value>,
}

impl Lower<'_, '_> {
    pub(super) fn print_by_host(&mut self, parts: &[Part<'_>], stream: Stream) {
        let mut message = Message::default();
        for part in parts {
            match part {
                Part::Plain(text) => message.format.push_str(&text.replace('%', "%%")),
                Part::Text(conversion, text) => {
                    self.text_words(text, &mut message.arguments);
                    conversion.c(None, &mut message.format);
                }
                Part::Value(conversion, number, values) => {
                    let scalar = number.map(|(scalar, _)| scalar);
                    for &value in values {
                        message.arguments.push(self.word(scalar, value));
                    }
                    conversion.c(scalar, &mut message.format);
                }
                Part::Number(value) => {
                    message.arguments.push(self.word(Some(Scalar::U32), *value));
                    message.format.push_str("%u");
                }
            }
        }
        let mut words = vec![self.constant(Type::I64, u64::from(stream == Stream::Error))];
        self.text_words(&message.format, &mut words);
        words.append(&mut message.arguments);
        self.send_message(&words);
    }

    /// Appends a string with its terminating zero as 64-bit words; the last word is padded with zeros.
    fn text_words(&mut self, text: &str, out: &mut Vec<Value>) {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        for word in bytes.as_chunks().0 {
            out.push(self.constant(Type::I64, u64::from_le_bytes(*word)));
        }
    }

    /// Converts a number or a pointer to 64 bits, the size of each argument in a message. A float becomes a
    /// double.
    fn word(&mut self, scalar: Option<Scalar>, value: Value) -> Value {
        let mut value = self.printable(scalar.unwrap_or(Scalar::U32), value);
        if scalar == Some(Scalar::Bf16) {
            value = self.rebit(value, Type::F32);
        }
        value = self.widened(value, Type::F64);
        match self.func.ty(value) {
            Type::F64 => self.rebit(value, Type::I64),
            Type::I32 => self.emit(Op::Cast(CastOp::Zext), &[value], Type::I64),
            _ => value,
        }
    }

    /// Emits the calls that send a message.
    fn send_message(&mut self, words: &[Value]) {
        let global = Type::Ptr(Space::Global);
        let buffer = self.emit(Op::Pos(Pos::HostcallBuffer), &[], global);
        let entry = self.call_library("hostcall_take".into(), &[Type::I64], &[buffer])[0];
        let place = self.call_library("hostcall_words".into(), &[global], &[buffer, entry])[0];
        let service = self.constant(Type::I32, PRINTF);
        let mut number = None;
        let last = words.len().div_ceil(PART_WORDS) - 1;
        for (n, part) in words.chunks(PART_WORDS).enumerate() {
            let kind = if n == 0 { BEGIN } else { 0 } | if n == last { END } else { 0 };
            let kind = self.constant(Type::I64, kind | (part.len() as u64) << COUNT_SHIFT);
            let description = number.map_or(kind, |number| self.bin(BinOp::Or, number, kind));
            for (n, &word) in (0..).zip([description].iter().chain(part)) {
                let mem = Mem { ty: MemTy::B64, align: 8, offset: 8 * n, ..plain_mem(Space::Global) };
                self.effect(Op::Store { mem, count: 1 }, &[place, word]);
            }
            let answer =
                self.call_library("hostcall_ask".into(), &[Type::I64], &[buffer, entry, place, service])[0];
            if number.is_none() && n != last {
                let mask = self.constant(Type::I64, u64::MAX << NUMBER_SHIFT);
                number = Some(self.bin(BinOp::And, answer, mask));
            }
        }
        self.call_library("hostcall_give".into(), &[], &[buffer, entry]);
    }
}
