//! How the command line is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    // A program at a fixed address contains its tables of pointers ready for use. A program that can be moved
    // would begin with thousands of relocations, which take as long as the compilation of a small kernel.
    // Only Linux with the GNU C library is changed, because other C libraries come with start-up code for a
    // program that can be moved.
    let chosen = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if chosen && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
