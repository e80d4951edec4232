//! How the command line is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    // A program at a fixed place has its tables of pointers ready: the thousands of relocations that it would begin with
    // take as long as a small kernel, and a quarter of a megabyte.
    // Other C libraries come with start-up code that was chosen for a program that can be moved.
    let chosen = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if chosen && is("PROFILE", "release") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        // Profiles that are made of the release profile may unwind; their folders have other names.
        let aborts =
            std::env::var("OUT_DIR").is_ok_and(|dir| dir.split('/').any(|folder| folder == "release"));
        // Known of the linker that comes with Rust, which is the usual one on this processor only.
        if is("CARGO_CFG_TARGET_ARCH", "x86_64") && aborts {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/no-unwind.ld");
            println!("cargo:rerun-if-changed={script}");
            println!("cargo:rustc-link-arg-bins=-Wl,--no-eh-frame-hdr,-T,{script}");
            // Generic code that came out the same for two types is kept once. Rust promises no function an address of its own.
            println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
        }
    }
}
