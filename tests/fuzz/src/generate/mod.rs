//! Generates random valid kernels.
//!
//! A program is a tree of statements, so that a failing program can be reduced by removing statements. Each
//! subset of the statements is a valid program with one meaning, because:
//!
//! * each variable is declared and initialised at the beginning,
//! * loops are bounded, and indices are masked,
//! * barriers are only where all work-items of a group arrive,
//! * a work-item writes shared memory only at its own index, between barriers,
//! * the atomics on a shared word commute, and
//! * plain stores go to the work-item's own memory.
//!
//! Each program uses a random subset of the features, its themes, and uses them often. So two thousand
//! programs cover all parts of the language (`tests/fuzz/tests/parts.rs` checks this), and each part occurs
//! in programs that are full of it.

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
use crate::types::{Ty, Vars};
use blocks::Open;
use generics::Generic;
use support::Random;

/// Features that a program may use.
#[derive(Clone, Copy, Debug)]
struct Features {
    /// Exchange of values through shared memory, which needs barriers.
    barriers: bool,
    /// `return` in the middle of a kernel; never together with barriers.
    returns: bool,
    /// Operations across a wave.
    waves: bool,
    /// Atomics.
    atomics: bool,
    /// Stores to the work-item's own memory.
    own: bool,
    /// The large private array.
    big: bool,
    /// Many exits of one loop.
    exits: bool,
    /// Loops and blocks with a value.
    values: bool,
    /// Destructured tuples, structs and arrays.
    patterns: bool,
    /// Generic functions.
    generics: bool,
    /// Mathematical functions of this float type.
    maths: Option<Ty>,
    /// Generic pointers, access hints, types in memory, and views of `shared` memory.
    memory: bool,
}

impl Features {
    fn some(rng: &mut Random) -> Features {
        let barriers = rng.one_in(2);
        let waves = rng.one_in(4);
        // Mathematical functions are slow to compile, so programs with this theme have fewer other themes.
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

/// Size of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A few hundred machine instructions, with loops up to three deep.
    Small,
    /// 5,000 to 50,000 machine instructions of all forms, with loops up to two deep.
    Large,
}

/// Number of statements of the smallest large program.
const LARGE_FUEL: usize = 500;

struct Generator {
    rng: Random,
    features: Features,
    shape: Shape,
    types: Vec<Ty>,
    each: usize,
    /// Result types of the device functions so far.
    functions: Vec<Ty>,
    /// Result type of the current function; `None` in a kernel.
    result: Option<Ty>,
    /// Number of names used so far.
    names: usize,
    /// Loops and blocks that can be left or continued here, innermost last.
    open: Vec<Open>,
    /// Generic functions so far.
    generic: Vec<Generic>,
    /// Number of statements that may still be generated.
    fuel: usize,
    /// Number of lanes of expensive calls that may still be generated.
    costly: usize,
    size: Size,
}

/// Generates the program of a seed.
pub fn generate(seed: u64, size: Size) -> Program {
    let mut rng = Random::new(seed);
    let features = Features::some(&mut rng);
    let types = Ty::some(&mut rng, features.maths);
    let shape = match size {
        // Operations across a wave need full waves, so most programs with them have such sizes.
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
    for _ in 0..generator.rng.below(6usize).saturating_sub(3) {
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
        // Functions may be called inside nested loops, so they have few loops themselves to limit the run
        // time.
        let stmts = self.block(2, false);
        self.functions.push(result);
        Body {
            name: format!("fn_{}", self.functions.len() - 1),
            result: Some(result),
            attrs: self.wishes(),
            stmts,
        }
    }

    /// Returns random attributes of a function.
    fn wishes(&mut self) -> Vec<String> {
        // Functions that are not inlined are tested by the programs of `calls`.
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

    /// Returns random attributes of a kernel, among them small register budgets.
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

    /// Returns a random type of variables.
    fn ty(&mut self) -> Ty {
        *self.rng.pick(&self.types)
    }

    /// Returns a random scalar type of variables.
    fn scalar(&mut self) -> Ty {
        let scalars: Vec<Ty> = self.types.iter().copied().filter(|ty| ty.is_scalar()).collect();
        *self.rng.pick(&scalars)
    }

    /// Returns a number for a unique name.
    fn fresh(&mut self) -> usize {
        self.names += 1;
        self.names - 1
    }

    /// Returns a variable of a type that the program uses.
    fn var(&mut self, ty: Ty) -> String {
        format!("{}_{}", ty.name(), self.rng.below(self.each))
    }
}
