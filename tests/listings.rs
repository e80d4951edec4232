//! The listing of a program assembles to the words that the compiler writes, whatever stands in the operands.

use fuzz::generate::{Size, generate};
use kernc::{Compiler, OptLevel, Options, Target};
use object::{Object as _, ObjectSection as _};
use rayon::prelude::*;

const PROCESSORS: [&str; 8] =
    ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906", "gfx90a", "gfx1010", "gfx1030"];

fn text(object: &[u8]) -> Vec<u8> {
    let file = object::File::parse(object).expect("an object");
    let section = file.section_by_name(".text").expect("code");
    section.data().expect("contents").to_vec()
}

/// Compares both ways to the code of a source.
fn compare(source: &str, processor: &str, level: OptLevel) -> Result<(), String> {
    let mut compiler = Compiler::new(Target::by_name(processor).expect("a processor"));
    let options = Options { opt_level: level, ..Options::default() };
    let object = compiler.compile(source, &options).map_err(|error| error.render(false))?;
    let listing = object.assembly(None).map_err(|error| error.to_string())?;
    let again = asm::assemble(&listing, &asm::Options::default())
        .map_err(|list| asm::render(&list[..1], "listing", &listing, false))?;
    let (ours, theirs) = (text(object.bytes()), text(&again));
    if ours == theirs {
        return Ok(());
    }
    let at = ours.iter().zip(&theirs).position(|(a, b)| a != b);
    Err(format!("{processor} {level:?}: {} and {} bytes, first other at {at:?}", ours.len(), theirs.len()))
}

/// Each half that is an inline constant somewhere, and some that are none, widened and computed with.
#[test]
fn halves_as_operands() {
    let bits: Vec<u32> = (0..=70)
        .chain(0xffe0..=0xffff)
        .chain([0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118, 0x7c00, 0x3c01])
        .collect();
    let mut source = String::from("kernel k(o: *global f32, h: *global f16) {\n");
    for (n, bits) in bits.iter().enumerate() {
        source += &format!(
            "    o[{n}] = bitcast::<f16>({bits}u16) as f32;\n    h[{n}] = h[{n}] + bitcast::<f16>({bits}u16);\n"
        );
    }
    source += "}\n";
    let cases: Vec<_> =
        PROCESSORS.iter().flat_map(|cpu| [OptLevel::O0, OptLevel::O2].map(|level| (cpu, level))).collect();
    let wrong: Vec<String> =
        cases.into_par_iter().filter_map(|(cpu, level)| compare(&source, cpu, level).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `1.0f16 as f32` is one word, with the inline constant, where processors have halves.
#[test]
fn a_half_is_one_operand() {
    let source = "kernel k(o: *global f32, n: u32) { o[0] = 1.0f16 as f32; }";
    for cpu in PROCESSORS {
        compare(source, cpu, OptLevel::O0).unwrap();
    }
    let mut compiler = Compiler::new(Target::by_name("gfx906").expect("a processor"));
    let options = Options { opt_level: OptLevel::O0, ..Options::default() };
    let object = compiler.compile(source, &options).expect("compiles");
    let listing = object.assembly(None).expect("a listing");
    assert!(listing.contains("v_cvt_f32_f16_e32 v0, 1.0") || !listing.contains("v_cvt_f32_f16"), "{listing}");
}

/// Random programs; `KERNC_LISTINGS=1000` sets how many each processor gets.
#[test]
fn random_programs() {
    let count = std::env::var("KERNC_LISTINGS").map_or(5, |count| count.parse().expect("a number"));
    let cases: Vec<(usize, u64)> =
        (0..PROCESSORS.len()).flat_map(|cpu| (0..count).map(move |seed| (cpu, seed))).collect();
    let all = cases.len();
    let found: Vec<String> = cases
        .into_par_iter()
        .filter_map(|(cpu, seed)| {
            let source = generate(77_000 + cpu as u64 * 100_000 + seed, Size::Small).source();
            let level = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3][seed as usize % 4];
            compare(&source, PROCESSORS[cpu], level).err().map(|why| format!("seed {seed}: {why}"))
        })
        .collect();
    // Some programs ask for fewer registers than they can do with, or for generic pointers of gfx600.
    let is_refused =
        |why: &String| why.contains("error[E0110]") || why.contains("there are no FLAT instructions");
    let (refused, wrong): (Vec<_>, Vec<_>) = found.into_iter().partition(is_refused);
    println!("{} of {all} programs are compared", all - refused.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused.len() * 10 <= all, "{} of {all} are refused", refused.len());
}
