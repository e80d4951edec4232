//! The text of a program between any two passes says everything: it is read to what is written alike, and the passes that
//! are left make the same bytes of it.

use crate::common::KERNELS;
use kernc::{
    Compiler, Form, Observer, OptLevel, Options, PassRange, Program, Subtarget, Target, TextOptions,
};
use mir::MachFunc;
use rayon::prelude::*;

const ALL: TextOptions = TextOptions { locations: true, declarations: true };

/// Keeps the program after each pass.
#[derive(Default)]
struct Keeper {
    modules: Vec<ir::Module>,
    /// By pass, a function for each kernel.
    code: Vec<(&'static str, Vec<MachFunc>)>,
}

impl Observer for Keeper {
    fn ir(&mut self, pass: &'static str, module: &ir::Module) {
        if pass == "optimize" {
            return;
        }
        self.modules.push(module.clone());
    }

    fn mir(&mut self, pass: &'static str, _: &Subtarget, func: &MachFunc) {
        match self.code.iter_mut().find(|(name, _)| *name == pass) {
            Some((_, funcs)) => funcs.push(func.clone()),
            None => self.code.push((pass, vec![func.clone()])),
        }
    }
}

impl Keeper {
    fn programs(self) -> Vec<Program> {
        let module = self.modules.last().expect("IR").clone();
        let ir = self.modules.into_iter().map(Program::Ir);
        let code = self.code.into_iter().map(|(_, funcs)| Program::MachineIr(module.clone(), funcs));
        ir.chain(code).collect()
    }
}

/// The pass at a place, as `--start-at` names it.
fn name_of(level: OptLevel, place: usize) -> String {
    let names: Vec<&str> = kernc::passes(level).collect();
    let before = names[..place].iter().filter(|name| **name == names[place]).count();
    format!("{}.{}", names[place], before + 1)
}

fn go_on(kernel: &str, level: OptLevel) -> Result<usize, String> {
    let target = Target::by_name("gfx906").expect("a processor");
    let path = format!("{}/examples/{kernel}.k", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("an example");
    // Texts of passes have no source that a line table could speak of.
    let options = Options { opt_level: level, debug: kernc::DebugInfo::None, ..Options::default() };
    let mut compiler = Compiler::new(target);
    let mut keeper = Keeper::default();
    let object = compiler.compile_observed(&source, &options, &mut keeper).expect("a correct kernel");
    let programs = keeper.programs();
    let count = programs.len();
    assert_eq!(count + 1, kernc::passes(level).count(), "each pass but `emit` is seen");
    for (place, program) in programs.into_iter().enumerate() {
        let name = name_of(level, place + 1);
        let failed = |why: &str| format!("{kernel} {level:?} before {name}: {why}");
        let text = program.text(compiler.target(), ALL);
        let form = if matches!(program, Program::Ir(_)) { Form::Ir } else { Form::MachineIr };
        let read = Program::read(&text, "text", form, compiler.target())
            .map_err(|error| failed(&error.render(false)))?;
        let again = read.text(compiler.target(), ALL);
        if again != text {
            let line = again.lines().zip(text.lines()).find(|(a, b)| a != b);
            return Err(failed(&format!("the text changes: {line:?}")));
        }
        let rest = PassRange::new(level, Some(&name), None).map_err(|why| failed(&why))?;
        match compiler.compile_passes(&text, &rest, &options, &mut ()) {
            Ok(Program::Object(other)) if other.bytes() == object.bytes() => {}
            Ok(_) => return Err(failed("the bytes differ")),
            Err(error) => return Err(failed(&error.render(false))),
        }
    }
    Ok(count)
}

#[test]
fn every_pass_of_every_kernel_can_be_gone_on_from() {
    let levels = [OptLevel::O0, OptLevel::O2];
    let runs: Vec<_> = KERNELS.iter().flat_map(|kernel| levels.map(|level| (*kernel, level))).collect();
    let results: Vec<_> = runs.par_iter().map(|&(kernel, level)| go_on(kernel, level)).collect();
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    let places: usize = results.iter().flatten().sum();
    assert!(places > 42 * 12, "only {places} places were tried");
}
