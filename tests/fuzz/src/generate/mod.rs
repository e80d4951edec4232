//! Random valid kernels.
//!
//! A program is a tree of statements, so that a failing one can be made smaller by leaving statements out. Every
//! variable is declared and initialised at the top, loops are bounded, indices are masked, barriers stand only where
//! all work-items of a group come, shared memory is written in one's own place only between barriers, atomics of one
//! word commute, and plain stores go to the item's own place in memory: any subset of the statements is still a valid
//! program with one meaning.
//!
//! Each program uses a random part of the features, its themes, and these come often in it: two thousand programs have every part
//! of the language (`tests/fuzz/tests/parts.rs` asks), and each part meets programs that are full of it.

mod atomics;
mod blocks;
mod expr;
mod generics;
mod hints;
mod inference;
mod maths;
mod patterns;
mod spaces;
mod stmt;
mod wave;

use crate::program::{Body, Program, SHAPES, Shape};
use crate::rng::Rng;
use crate::types::{Ty, Vars};
use blocks::Open;
use generics::Generic;

/// What a program may use.
#[derive(Clone, Copy, Debug)]
struct Features {
    /// Exchange through shared memory, which needs barriers.
    barriers: bool,
    /// `return` in the middle of a kernel; not together with barriers.
    returns: bool,
    /// Whole-wave operations.
    waves: bool,
    /// Atomics.
    atomics: bool,
    /// The item's own place in memory.
    own: bool,
    /// The large private array.
    big: bool,
    /// Many ways out of one loop.
    exits: bool,
    /// Loops and blocks that have values.
    values: bool,
    /// Tuples, structs and arrays that are taken apart.
    patterns: bool,
    /// Generic functions.
    generics: bool,
    /// Functions of one of the floats.
    maths: Option<Ty>,
    /// Generic pointers, hints, other types in memory, views of `shared` memory.
    memory: bool,
}

impl Features {
    fn some(rng: &mut Rng) -> Features {
        let barriers = rng.one_in(2);
        let waves = rng.one_in(4);
        // Functions are slow to compile: programs about them have fewer other themes.
        let maths = (rng.below(5) < 2).then(|| *rng.pick(&[Ty::F16, Ty::F32, Ty::F32, Ty::F64, Ty::F64]));
        let rare = if maths.is_some() { 5 } else { 3 };
        Features {
            barriers,
            returns: !barriers && !waves && rng.one_in(2),
            waves,
            atomics: rng.one_in(rare),
            own: rng.one_in(2),
            big: rng.one_in(3),
            exits: rng.one_in(3),
            values: rng.one_in(rare),
            patterns: rng.one_in(rare),
            generics: rng.one_in(rare),
            maths,
            memory: rng.one_in(rare),
        }
    }
}

/// How large a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Some hundred machine instructions, loops three deep.
    Small,
    /// 5,000 to 50,000 machine instructions, all shapes mixed, loops two deep.
    Large,
}

/// Statements of the smallest large program.
const LARGE_FUEL: usize = 500;

struct Generator {
    rng: Rng,
    features: Features,
    shape: Shape,
    types: Vec<Ty>,
    each: usize,
    /// Device functions so far, by type of the result.
    functions: Vec<Ty>,
    /// Result of the function being written; none in a kernel.
    result: Option<Ty>,
    /// Numbers that names have taken.
    names: usize,
    /// Loops that may be left or continued here, innermost last.
    open: Vec<Open>,
    /// Generic functions so far.
    generic: Vec<Generic>,
    /// Statements left.
    fuel: usize,
    /// What is left for calls that are much code.
    costly: usize,
    size: Size,
}

/// The program of a seed.
pub fn generate(seed: u64, size: Size) -> Program {
    let mut rng = Rng::new(seed);
    let features = Features::some(&mut rng);
    let types = Ty::some(&mut rng, features.maths);
    let shape = match size {
        // Values move between lanes where waves are full.
        Size::Small if features.waves && !rng.one_in(4) => SHAPES[2 + rng.below(3)],
        Size::Small => *rng.pick(&SHAPES),
        Size::Large => SHAPES[2 + rng.below(2)],
    };
    let each = 1 + rng.below(3);
    let vars = Vars { types: types.clone(), each };
    let mut generator = Generator {
        rng,
        features,
        shape,
        types,
        each,
        functions: Vec::new(),
        result: None,
        names: 0,
        open: Vec::new(),
        generic: Vec::new(),
        fuel: 0,
        costly: if size == Size::Small { 8 } else { 40 },
        size,
    };
    if features.generics {
        generator.generic_functions();
    }
    let mut bodies = Vec::new();
    for _ in 0..generator.rng.below(6).saturating_sub(3) {
        bodies.push(generator.function());
    }
    let kernels = if size == Size::Small && generator.rng.one_in(8) { 2 } else { 1 };
    for n in 0..kernels {
        bodies.push(generator.kernel(n));
    }
    let requires = generator.rng.one_in(20);
    let items = generator.generic.into_iter().map(|function| function.text).collect();
    let mut program = Program { shape, vars, items, bodies };
    let dots = ["dot2(", "dot4(", "dot8("];
    if requires && !dots.iter().any(|dot| program.source().contains(dot)) {
        program.bodies.iter_mut().filter(|body| body.result.is_none()).for_each(|kernel| {
            kernel.attrs.push("#[require(dot)]".to_owned());
        });
    }
    program
}

impl Generator {
    fn function(&mut self) -> Body {
        let result = self.ty();
        self.result = Some(result);
        self.fuel = 2 + self.rng.below(6);
        // Calls inside of loops of loops would take long: functions have few loops themselves.
        let stmts = self.block(2, false);
        self.functions.push(result);
        Body {
            name: format!("fn_{}", self.functions.len() - 1),
            result: Some(result),
            attrs: self.wishes(),
            stmts,
        }
    }

    /// What a function may say of itself.
    fn wishes(&mut self) -> Vec<String> {
        // Calls that stay are another kind of programs: `calls`.
        let all = ["#[inline]", "#[inline(always)]", "#[allow(unused_variable)]"];
        if self.rng.one_in(4) { vec![(*self.rng.pick(&all)).to_owned()] } else { Vec::new() }
    }

    fn kernel(&mut self, n: usize) -> Body {
        self.result = None;
        self.fuel = match self.size {
            Size::Small => 4 + self.rng.below(28),
            Size::Large => LARGE_FUEL << self.rng.below(4),
        };
        let stmts = self.block(0, true);
        Body { name: format!("test{n}"), result: None, attrs: self.budgets(), stmts }
    }

    /// Few registers, sometimes, and what the kernel asks for.
    fn budgets(&mut self) -> Vec<String> {
        let mut attrs = Vec::new();
        if self.size == Size::Large {
            return attrs;
        }
        if self.rng.one_in(3) {
            attrs.push(format!("#[num_vgpr({})]", 12 + self.rng.below(40)));
        }
        if self.rng.one_in(3) {
            attrs.push(format!("#[num_sgpr({})]", 20 + self.rng.below(40)));
        }
        if self.rng.one_in(4) {
            attrs.push(self.attribute());
        }
        attrs
    }

    /// A type of variables.
    fn ty(&mut self) -> Ty {
        *self.rng.pick(&self.types)
    }

    /// A type of variables that is no vector.
    fn scalar(&mut self) -> Ty {
        let scalars: Vec<Ty> = self.types.iter().copied().filter(|ty| ty.is_scalar()).collect();
        *self.rng.pick(&scalars)
    }

    /// A number for a name that occurs nowhere else.
    fn fresh(&mut self) -> usize {
        self.names += 1;
        self.names - 1
    }

    /// A variable of a type that occurs.
    fn var(&mut self, ty: Ty) -> String {
        format!("{}_{}", ty.name(), self.rng.below(self.each))
    }
}
