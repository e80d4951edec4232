//! A random signature with values of each lane, and what is expected of a call.

use crate::interop::machine::Config;
use crate::interop::random::Random;
use callconv::{Convention, How, Kind, Place, Scalar, Signature, Space, TypeId, Types, assign};
use kernc::Subtarget;

/// Work-items of a run.
pub const LANES: usize = 5;
/// The lane that makes no call where lanes call different functions.
pub const IDLE: usize = 3;
/// Bytes of a lane in each buffer.
pub const STRIDE: usize = 1 << 13;
/// Where a lane's buffer has the fold of the arguments.
pub const FOLD: usize = STRIDE - 8;
/// Bytes from the one possible result to the other.
pub const CHOICE: usize = 1 << 10;

/// A signature with values of each lane.
pub struct Case {
    /// What it is made of.
    pub seed: u64,
    pub types: Types,
    pub params: Vec<TypeId>,
    pub result: Option<TypeId>,
    /// Whether it is stored at a flat address that the caller gives.
    pub result_is_flat: bool,
    /// Whether clang that does not optimise takes some argument wrongly (`lanes_on_the_stack` in
    /// `isa/callconv/tests/llvm`).
    pub wrong_in_llvm: bool,
    /// By lane, by parameter: its bytes in memory.
    pub args: Vec<Vec<Vec<u8>>>,
    /// By lane: two results, of which the arguments choose one.
    pub results: Vec<[Vec<u8>; 2]>,
}

/// Bytes of a value that mean something, from and to: what lies between is padding.
pub fn spans(types: &Types, ty: TypeId) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    types.parts(ty, 0, &mut |at, scalar, lanes| {
        let (from, to) = (at as usize, (at + u64::from(scalar.bits() / 8 * lanes)) as usize);
        match spans.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => spans.push((from, to)),
        }
    });
    spans
}

impl Case {
    /// A case of at most so many bytes of arguments, if the convention has a form for it, and the compiler.
    fn try_new(seed: u64, most_bytes: u64, theirs: Convention, target: &Subtarget) -> Option<Case> {
        let mut random = Random::new(seed);
        let most = random.choose(&[1, 2, 4, 8, 20, 40]);
        let mut types = Types::default();
        let (mut params, mut bytes) = (Vec::new(), 0);
        for _ in 0..random.below(most + 1) {
            let ty = common_type(&mut random, &mut types, theirs == Convention::Today);
            bytes += types.size(ty).next_multiple_of(16);
            if bytes > most_bytes {
                break;
            }
            params.push(ty);
        }
        let has_result = random.below(8) > 0;
        let result = has_result.then(|| common_type(&mut random, &mut types, theirs == Convention::Today));
        let list: Vec<_> = params.iter().map(|&ty| callconv::Param::unmarked(ty)).collect();
        let signature = Signature { params: &list, result, ..Signature::default() };
        let is_wide = |&ty: &TypeId| types.align(ty) > 16;
        if theirs == Convention::Llvm14 && params.iter().chain(&result).any(is_wide) {
            // It aligns its frame by the frame pointer, and keeps registers by the stack pointer: the two
            // overlap where that is no multiple of 32 bytes.
            return None;
        }
        let ours = assign(&types, &signature, target, theirs).ok()?;
        if ours.params.iter().any(|passed| passed.how == How::Image) {
            // The compiler refuses those (docs/functions.md).
            return None;
        }
        let is_flat = |passed: &callconv::Passed| passed.how == How::Address && passed.pieces.len() == 2;
        let result_is_flat = ours.result.as_ref().is_some_and(is_flat);
        let in_lanes = |(passed, &ty): (&callconv::Passed, &TypeId)| {
            let pieces = ours.pieces_of(passed);
            let on_stack = matches!(pieces.first().map(|piece| piece.place), Some(Place::Stack(_)));
            let is_wrong = matches!((types.size(ty), callconv::has_16_bit(target)), (2, _) | (4, false));
            on_stack && passed.how == How::Value && pieces.len() > 1 && is_wrong
        };
        let wrong_in_llvm = ours.params.iter().zip(&params).any(in_lanes);
        let value = |random: &mut Random, ty| random.value(&types, ty);
        let args = (0..LANES).map(|_| params.iter().map(|&ty| value(&mut random, ty)).collect()).collect();
        let results = (0..LANES)
            .map(|_| [0, 1].map(|_| result.map_or(Vec::new(), |ty| value(&mut random, ty))))
            .collect();
        Some(Case { seed, types, params, result, result_is_flat, wrong_in_llvm, args, results })
    }

    /// The first signatures from a seed on that have a form in clang's convention, and the seed behind them.
    pub fn list(from: u64, count: usize, config: &Config) -> (Vec<Case>, u64) {
        let theirs = config.convention();
        // Clang that does not optimise names s100 and s101 where there are many arguments, and refuses
        // kernels that call that: before GFX8 they are FLAT_SCRATCH.
        let is_short = config.target.version.0 == 7 && config.theirs == "-O0";
        let most_bytes = if is_short { 256 } else { 1000 };
        let (mut list, mut seed) = (Vec::new(), from);
        while list.len() < count {
            list.extend(Case::try_new(seed, most_bytes, theirs, &config.target));
            seed += 1;
        }
        (list, seed)
    }

    /// Where each argument lies in a lane's buffer.
    pub fn offsets(&self) -> Vec<usize> {
        let mut end = 0usize;
        let place = |&ty: &TypeId| {
            let at = end.next_multiple_of(self.types.align(ty) as usize);
            end = at + self.types.size(ty) as usize;
            at
        };
        self.params.iter().map(place).collect()
    }

    /// Whether callees fold an argument by its address, and not by what they stored of it.
    pub fn by_address(&self, param: usize) -> bool {
        (self.seed as usize + param).is_multiple_of(3)
    }

    /// What a callee makes of its arguments in a lane, from a number of its own on.
    pub fn fold(&self, lane: usize, own: u32) -> u32 {
        let mut fold = own;
        for (value, &ty) in self.args[lane].iter().zip(&self.params) {
            for byte in spans(&self.types, ty).into_iter().flat_map(|(from, to)| &value[from..to]) {
                fold = fold.wrapping_mul(31).wrapping_add((*byte).into());
            }
        }
        fold
    }

    /// The result of that fold, if there is one.
    pub fn result(&self, lane: usize, fold: u32) -> &[u8] {
        &self.results[lane][(fold >> 16 & 1) as usize]
    }
}

/// A type that both languages have: in the kernel language nothing points to the global data share.
fn common_type(random: &mut Random, types: &mut Types, bf16: bool) -> TypeId {
    loop {
        let ty = random.ty(types, bf16);
        if types.kind(ty) != Kind::Scalar(Scalar::Pointer(Space::Region)) {
            return ty;
        }
    }
}
