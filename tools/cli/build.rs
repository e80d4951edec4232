//! How the command line is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    // A program at a fixed place has its tables of pointers ready: the thousands of relocations that it would begin with
    // take as long as a small kernel. Other C libraries come with start-up code that was chosen for a program that can be moved.
    let chosen = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if chosen && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
