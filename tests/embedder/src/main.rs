//! The program of README.md, "As a library": compiles the kernel file that it is given and says what is in it.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("no kernel file given")?;
    let source = std::fs::read_to_string(&path)?;

    let target = kernc::Target::by_name("gfx906").ok_or("no such processor")?;
    let mut compiler = kernc::Compiler::new(target); // keep it: it owns the scratch memory
    let object = compiler.compile(&source, &kernc::Options::default())?;
    for kernel in object.kernels() {
        println!(
            "{}: {} VGPRs, {} bytes of arguments",
            kernel.name, kernel.resources.vgprs, kernel.kernarg_size
        );
    }
    std::fs::write("kernel.co", object.bytes())?; // what hipModuleLoad and its kin load
    Ok(())
}
