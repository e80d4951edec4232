//! Scratch.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let source = std::fs::read_to_string(&args[2]).unwrap();
    let options = asm::Options { target: isa::Target::by_name(&args[1]), kind: if args.len() > 4 { asm::Kind::Loadable } else { asm::Kind::Relocatable }, ..Default::default() };
    let t = std::time::Instant::now();
    match asm::assemble(&source, &options) {
        Ok(bytes) => std::fs::write(&args[3], bytes).unwrap(),
        Err(list) => { print!("{}", asm::render(&list, &args[2], &source, false)); std::process::exit(1) }
    }
    eprintln!("{:?}", t.elapsed());
}
