//! Builds kernels and functions directly, without source text.
//!
//! A [`KernelBuilder`] appends to its current block. It computes the layout of arguments and the types of
//! results. Operations without a method of their own are appended with [`KernelBuilder::op`] and
//! [`KernelBuilder::effect`], with arguments as documented for [`Op`]. The verifier checks whether the result
//! is well-formed.
//!
//! Control flow has two interfaces. [`KernelBuilder::if_then`], [`KernelBuilder::if_else`],
//! [`KernelBuilder::while_loop`] and [`KernelBuilder::for_range`] take closures that build the parts of the
//! statement. [`KernelBuilder::block`], [`KernelBuilder::switch_to`], [`KernelBuilder::jump`] and
//! [`KernelBuilder::branch`] build any other graph, block by block.
//!
//! This kernel counts in `out` how many of the first `n` numbers of each row are even:
//!
//! ```
//! use ir::build::{Elem, KernelBuilder};
//! use ir::{BinOp, IntCc, Module, Order, Pos, Scope};
//!
//! let mut b = KernelBuilder::new("count_even");
//! let (numbers, out) = (b.buffer("numbers", Elem::U32), b.buffer("out", Elem::U32));
//! let n = b.value("n", Elem::U32);
//! let row = b.position(Pos::GlobalId(0));
//! let (zero, one) = (b.i32(0), b.i32(1));
//! let first = b.binary(BinOp::Mul, row, n);
//! let [even] = b.for_range(zero, n, [zero], |b, column, [even]| {
//!     let at = b.binary(BinOp::Add, first, column);
//!     let at = b.element(numbers, Elem::U32, at);
//!     let number = b.load(Elem::U32, at);
//!     let odd = b.binary(BinOp::And, number, one);
//!     let is_even = b.compare(IntCc::Eq, odd, zero);
//!     b.if_else(is_even, |b| [b.binary(BinOp::Add, even, one)], |_| [even])
//! });
//! b.atomic_add(Elem::U32, out, even, (Order::Relaxed, Scope::Agent));
//! b.ret();
//! let mut module = Module::default();
//! module.funcs.push(b.finish());
//! ir::verify::verify(&module).expect("well-formed");
//!
//! // Run the kernel in the interpreter, with two rows of three numbers.
//! use ir::interp::{Dispatch, Interp, Memory};
//! let mut memory = Memory::new();
//! let bytes = [2u32, 3, 4, 5, 6, 7].iter().flat_map(|number| number.to_le_bytes()).collect();
//! let (numbers, out) = (memory.alloc_bytes(bytes), memory.alloc(4));
//! let mut kernarg = [numbers.to_le_bytes(), out.to_le_bytes()].concat();
//! kernarg.extend(3u32.to_le_bytes());
//! let dispatch =
//!     Dispatch { kernel: "count_even", grid: [2, 1, 1], group: [2, 1, 1], kernarg, dynamic_shared: 0 };
//! Interp::new(&module, &mut memory).run(&dispatch, &mut memory)?;
//! assert_eq!(memory.bytes(out, 4), Some(&3u32.to_le_bytes()[..]));
//! # Ok::<(), ir::interp::Error>(())
//! ```

mod atomic;
mod control;
#[cfg(test)]
mod tests;
mod wave;

use crate::entity::{Block, FuncId, Global, SigId, Value};
use crate::func::{
    Function, GlobalData, KernelInfo, KernelParam, Module, ParamKind, Signature, SrcLoc, Values,
};
use crate::half::Half;
use crate::op::{BinOp, CastOp, FloatCc, IntCc, Mem, MemFlags, Op, Order, Pos, Scope, TernOp, UnOp};
use crate::types::{MemTy, Space, Type};

/// Type of a number in memory, for arguments and elements of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Elem {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    /// The high half of an `f32`. [`KernelBuilder::bf16_to_f32`] and [`KernelBuilder::f32_to_bf16`] convert.
    Bf16,
    F32,
    F64,
}

impl Elem {
    /// Returns the name in the kernel language and in metadata.
    pub const fn name(self) -> &'static str {
        match self {
            Elem::I8 => "i8",
            Elem::U8 => "u8",
            Elem::I16 => "i16",
            Elem::U16 => "u16",
            Elem::I32 => "i32",
            Elem::U32 => "u32",
            Elem::I64 => "i64",
            Elem::U64 => "u64",
            Elem::F16 => "f16",
            Elem::Bf16 => "bf16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
        }
    }

    /// Returns the type in memory.
    pub const fn memory(self) -> MemTy {
        match self {
            Elem::I8 => MemTy::S8,
            Elem::U8 => MemTy::U8,
            Elem::I16 => MemTy::S16,
            Elem::U16 | Elem::F16 | Elem::Bf16 => MemTy::U16,
            Elem::I32 | Elem::U32 | Elem::F32 => MemTy::B32,
            Elem::I64 | Elem::U64 | Elem::F64 => MemTy::B64,
        }
    }

    /// Returns the type of a value. Integers of 8 and 16 bits are extended to 32, and the bits of a `bf16` are
    /// zero-extended to 32.
    pub const fn value(self) -> Type {
        match self {
            Elem::I64 | Elem::U64 => Type::I64,
            Elem::F16 => Type::F16,
            Elem::F32 => Type::F32,
            Elem::F64 => Type::F64,
            _ => Type::I32,
        }
    }

    /// Returns the size in memory, in bytes.
    pub const fn bytes(self) -> u32 {
        self.memory().bytes()
    }

    /// Returns whether the numbers are signed integers.
    const fn is_signed(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }
}

/// Builds a kernel or function, block by block.
#[derive(Clone, Debug)]
pub struct KernelBuilder {
    func: Function,
    info: KernelInfo,
    is_kernel: bool,
    /// Block to which instructions are appended.
    block: Block,
    kernarg: Option<Value>,
}

impl KernelBuilder {
    /// Starts a kernel without arguments. Its entry block becomes the current block.
    pub fn new(name: impl Into<String>) -> KernelBuilder {
        let mut func = Function::new(name);
        let block = func.add_block();
        KernelBuilder { func, info: KernelInfo::default(), is_kernel: true, block, kernarg: None }
    }

    /// Starts a function that kernels and functions can call. Its entry block, which has the function's
    /// parameters, becomes the current block.
    pub fn function(name: impl Into<String>, signature: &Signature) -> KernelBuilder {
        let mut builder = KernelBuilder { is_kernel: false, ..KernelBuilder::new(name) };
        builder.func.results = signature.results.clone();
        for &ty in &signature.params {
            builder.func.add_param(builder.block, ty);
        }
        builder
    }

    /// Returns the parameters of a function.
    pub fn arguments(&self) -> &[Value] {
        self.func.own_params()
    }

    /// Emits a call of a function in the module, with results of the given types.
    pub fn call(&mut self, callee: FuncId, args: &[Value], results: &[Type]) -> Values {
        let inst = self.func.push_call(self.block, Op::Call(callee), args, results, SrcLoc::default());
        self.func.results_of(inst).collect()
    }

    /// Emits the address of a function.
    pub fn function_address(&mut self, func: FuncId) -> Value {
        self.op(Op::FuncAddr(func), &[], Type::I64)
    }

    /// Emits a call of the function at an address; `sig` gives its parameters and results.
    pub fn call_indirect(&mut self, sig: SigId, address: Value, args: &[Value], results: &[Type]) -> Values {
        let args = [&[address], args].concat();
        let inst = self.func.push_call(self.block, Op::CallIndirect(sig), &args, results, SrcLoc::default());
        self.func.results_of(inst).collect()
    }

    /// Sets the required work-group size.
    pub fn workgroup_size(&mut self, size: [u32; 3]) {
        self.info.reqd_workgroup_size = Some(size);
    }

    /// Returns the other properties of the kernel for modification.
    pub fn info(&mut self) -> &mut KernelInfo {
        &mut self.info
    }

    /// Adds a number as the next argument. Arguments are read in the entry block, before any other block is
    /// started.
    pub fn value(&mut self, name: &str, elem: Elem) -> Value {
        let param = KernelParam {
            elem: elem.name(),
            size: elem.bytes(),
            align: elem.bytes(),
            ..parameter(name, elem.name().to_owned(), ParamKind::ByValue)
        };
        self.argument(param, elem.memory(), elem.value())
    }

    /// Adds a pointer to numbers in device memory as the next argument.
    pub fn buffer(&mut self, name: &str, elem: Elem) -> Value {
        let param = KernelParam {
            elem: elem.name(),
            space: Some(Space::Global),
            size: 8,
            align: 8,
            pointee_align: elem.bytes(),
            ..parameter(name, format!("*global {}", elem.name()), ParamKind::GlobalBuffer)
        };
        self.argument(param, MemTy::B64, Type::Ptr(Space::Global))
    }

    fn argument(&mut self, mut param: KernelParam, memory: MemTy, ty: Type) -> Value {
        param.offset = self.info.kernarg_size.next_multiple_of(param.align);
        self.info.kernarg_size = param.offset + param.size;
        let base = match self.kernarg {
            Some(base) => base,
            None => self.op(Op::Pos(Pos::KernargPtr), &[], Type::Ptr(Space::Constant)),
        };
        self.kernarg = Some(base);
        let mem = Mem {
            offset: param.offset as i32,
            flags: MemFlags::INVARIANT,
            ..plain(memory, Space::Constant, param.align)
        };
        self.info.params.push(param);
        self.op(Op::Load { mem, count: 1 }, &[base], ty)
    }

    /// Creates a block with parameters of the given types. Call [`KernelBuilder::switch_to`] to fill the
    /// block.
    pub fn block(&mut self, params: &[Type]) -> Block {
        let block = self.func.add_block();
        for &ty in params {
            self.func.add_param(block, ty);
        }
        block
    }

    /// Returns the parameters of a block.
    pub fn params(&self, block: Block) -> &[Value] {
        self.func.params(block)
    }

    /// Makes a block the current block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    /// Returns the type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// Emits any operation with one result.
    pub fn op(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.func.push1(self.block, op, args, ty, SrcLoc::default())
    }

    /// Emits any operation without a result.
    pub fn effect(&mut self, op: Op, args: &[Value]) {
        self.func.push(self.block, op, args, SrcLoc::default());
    }

    /// Emits a constant, given as its bits.
    pub fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.op(Op::Const(bits), &[], ty)
    }

    /// Emits a 32-bit integer constant.
    pub fn i32(&mut self, number: i32) -> Value {
        self.constant(Type::I32, u64::from(number as u32))
    }

    /// Emits a 64-bit integer constant.
    pub fn i64(&mut self, number: i64) -> Value {
        self.constant(Type::I64, number as u64)
    }

    /// Emits a truth value.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Type::Bool, u64::from(value))
    }

    /// Emits an `f16` constant: the nearest `f16` to a number, ties to even.
    pub fn f16(&mut self, number: f64) -> Value {
        self.constant(Type::F16, u64::from(Half::nearest(number).0))
    }

    /// Emits an `f64` constant.
    pub fn f64(&mut self, number: f64) -> Value {
        self.constant(Type::F64, number.to_bits())
    }

    /// Emits an `f32` constant.
    pub fn f32(&mut self, number: f32) -> Value {
        self.constant(Type::F32, u64::from(number.to_bits()))
    }

    /// Emits a 32-bit position or size of the work-item.
    pub fn position(&mut self, pos: Pos) -> Value {
        self.op(Op::Pos(pos), &[], Type::I32)
    }

    /// Emits a one-operand operation with a result of the operand's type.
    pub fn unary(&mut self, op: UnOp, value: Value) -> Value {
        self.op(Op::Un(op), &[value], self.ty(value))
    }

    /// Emits a two-operand operation with a result of the first operand's type.
    pub fn binary(&mut self, op: BinOp, left: Value, right: Value) -> Value {
        self.op(Op::Bin(op), &[left, right], self.ty(left))
    }

    /// Emits a three-operand operation with a result of the first operand's type.
    pub fn ternary(&mut self, op: TernOp, a: Value, b: Value, c: Value) -> Value {
        self.op(Op::Tern(op), &[a, b, c], self.ty(a))
    }

    /// Emits an integer comparison.
    pub fn compare(&mut self, cc: IntCc, left: Value, right: Value) -> Value {
        self.op(Op::Icmp(cc), &[left, right], Type::Bool)
    }

    /// Emits a floating-point comparison.
    pub fn compare_floats(&mut self, cc: FloatCc, left: Value, right: Value) -> Value {
        self.op(Op::Fcmp(cc), &[left, right], Type::Bool)
    }

    /// Emits a selection: `then` if the condition is true, otherwise `otherwise`.
    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        self.op(Op::Select, &[condition, then, otherwise], self.ty(then))
    }

    /// Emits a conversion.
    pub fn cast(&mut self, op: CastOp, value: Value, ty: Type) -> Value {
        self.op(Op::Cast(op), &[value], ty)
    }

    /// Emits the conversion of a `bf16`, given as its bits in an `i32`, to an `f32`. The conversion is exact.
    pub fn bf16_to_f32(&mut self, value: Value) -> Value {
        let sixteen = self.i32(16);
        let bits = self.binary(BinOp::Shl, value, sixteen);
        self.cast(CastOp::Bitcast, bits, Type::F32)
    }

    /// Emits the conversion of an `f32` to the bits of the nearest `bf16`, ties to even. A NaN stays a NaN.
    pub fn f32_to_bf16(&mut self, value: Value) -> Value {
        let bits = self.cast(CastOp::Bitcast, value, Type::I32);
        let [sixteen, one, below_half, quiet] = [16, 1, 0x7fff, 0x40].map(|number| self.i32(number));
        let cut = self.binary(BinOp::LShr, bits, sixteen);
        let odd = self.binary(BinOp::And, cut, one);
        let bias = self.binary(BinOp::Add, odd, below_half);
        let sum = self.binary(BinOp::Add, bits, bias);
        let rounded = self.binary(BinOp::LShr, sum, sixteen);
        let nan = self.binary(BinOp::Or, cut, quiet);
        let is_nan = self.compare_floats(FloatCc::Uno, value, value);
        self.select(is_nan, nan, rounded)
    }

    /// Emits the address of a global variable.
    pub fn address(&mut self, variable: Global, space: Space) -> Value {
        self.op(Op::GlobalAddr(variable), &[], Type::Ptr(space))
    }

    /// Emits the address of element number `index`, an unsigned 32-bit number.
    pub fn element(&mut self, pointer: Value, elem: Elem, index: Value) -> Value {
        let ty = self.ty(pointer);
        let wide = ty.bits() == 64;
        let index = if wide { self.cast(CastOp::Zext, index, Type::I64) } else { index };
        let shift = self.i32(elem.bytes().trailing_zeros() as i32);
        let offset = self.binary(BinOp::Shl, index, shift);
        self.op(Op::PtrAdd, &[pointer, offset], ty)
    }

    /// Emits a load of a number from an address that is aligned to its size.
    pub fn load(&mut self, elem: Elem, address: Value) -> Value {
        let mem = self.access(elem, address);
        self.op(Op::Load { mem, count: 1 }, &[address], elem.value())
    }

    /// Emits a store of a number to an address that is aligned to its size.
    pub fn store(&mut self, elem: Elem, address: Value, value: Value) {
        let mem = self.access(elem, address);
        self.effect(Op::Store { mem, count: 1 }, &[address, value]);
    }

    /// Returns the attributes of a plain access to an element, as a starting point for other accesses.
    pub fn access(&self, elem: Elem, address: Value) -> Mem {
        let space = match self.ty(address) {
            Type::Ptr(space) => space,
            _ => Space::Generic,
        };
        plain(elem.memory(), space, elem.bytes())
    }

    /// Emits a barrier at which all work-items of the group wait for each other and after which they see each
    /// other's memory writes.
    pub fn barrier(&mut self) {
        self.effect(Op::Barrier { fence: true }, &[]);
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: Block, args: &[Value]) {
        self.effect(Op::Jump(to), args);
    }

    /// Ends the block with a conditional branch.
    pub fn branch(&mut self, condition: Value, then: (Block, &[Value]), otherwise: (Block, &[Value])) {
        let op = Op::Br { then: then.0, otherwise: otherwise.0, then_args: then.1.len() as u16 };
        let args: Vec<Value> = [&[condition], then.1, otherwise.1].concat();
        self.effect(op, &args);
    }

    /// Ends the block and returns from the kernel, or from a function without results.
    pub fn ret(&mut self) {
        self.effect(Op::Ret, &[]);
    }

    /// Ends the block and returns values from a function.
    pub fn ret_values(&mut self, values: &[Value]) {
        self.effect(Op::Ret, values);
    }

    /// Returns the finished kernel or function, to be added to the functions of a [`Module`].
    pub fn finish(self) -> Function {
        let mut func = self.func;
        func.kernel = self.is_kernel.then_some(self.info);
        func
    }
}

/// Returns the attributes of a plain access.
fn plain(ty: MemTy, space: Space, align: u32) -> Mem {
    Mem {
        ty,
        space,
        align: align as u8,
        flags: MemFlags::empty(),
        order: Order::NotAtomic,
        scope: Scope::System,
        offset: 0,
        alias: 0,
    }
}

/// Returns a parameter without size and offset.
fn parameter(name: &str, type_name: String, kind: ParamKind) -> KernelParam {
    KernelParam {
        name: name.into(),
        type_name: type_name.into(),
        elem: "",
        lanes: 1,
        kind,
        space: None,
        offset: 0,
        size: 0,
        align: 1,
        pointee_align: 0,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
    }
}

impl Module {
    /// Adds an LDS variable with `count` elements.
    pub fn shared(&mut self, name: impl Into<String>, elem: Elem, count: u32) -> Global {
        self.globals.push(GlobalData {
            name: name.into().into(),
            space: Space::Shared,
            size: elem.bytes().saturating_mul(count),
            align: elem.bytes(),
            init: Vec::new(),
            dynamic: false,
            external: false,
            linked: false,
            funcs: Vec::new(),
        })
    }
}
