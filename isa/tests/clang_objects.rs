//! What clang 19 makes of an OpenCL kernel: we must print it as `llvm-objdump` does and encode it to the same words.

use crate::common::llvm;
use isa::Target;
use support::{Folder, Tool};

const SOURCE: &str = r"
double fold(double a, float b, long c) { return a * b + c / 7; }
kernel void k(global float *x, global const int *y, local float *t, volatile global int *n, double d, ulong m) {
  size_t i = get_global_id(0), l = get_local_id(0);
  t[l] = x[i] * 3.0f + native_exp(x[i + 1]);
  barrier(CLK_LOCAL_MEM_FENCE);
  float acc = 0;
  for (int j = 0; j < y[i]; ++j) {
    if (j % 3 == (int)l) acc = fma(t[j & 63], (float)j, acc); else acc += sqrt(t[(j + l) & 63]);
    private float spill[8]; spill[j & 7] = acc; acc += spill[(int)acc & 7];
  }
  atomic_add(n, (int)acc);
  x[i] = acc + (float)fold(d, acc, (long)m * y[i]) + popcount(y[i]) + rotate((uint)y[i], 7u) + mul_hi(y[i], 12345);
}
";

/// `(words, text)` of each line of a disassembly.
fn listing(stdout: &str) -> impl Iterator<Item = (Vec<u32>, String)> {
    stdout.lines().filter_map(|line| {
        let (text, comment) = line.split_once("//")?;
        let (_, words) = comment.split_once(": ")?;
        let words = words.split_whitespace().map_while(|word| u32::from_str_radix(word, 16).ok());
        Some((words.collect(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
    })
}

#[test]
fn clang_s_code_is_understood() {
    let (Some(clang), Some(objdump)) =
        (llvm::tool("clang-19", "clang's code"), llvm::tool("llvm-objdump-19", "clang's code"))
    else {
        return;
    };
    let dir = Folder::new("clang-objects");
    let source = dir.write("k.cl", SOURCE);
    let target = Target::by_name("gfx906").expect("a processor");
    for level in ["-O0", "-O3"] {
        let object = dir.join("k.o");
        let status = Tool::new(&clang)
            .args([
                "-x",
                "cl",
                "-cl-std=CL2.0",
                "-target",
                "amdgcn-amd-amdhsa",
                "-mcpu=gfx906",
                "-nogpulib",
                level,
                "-c",
            ])
            .args([source.as_os_str(), "-o".as_ref(), object.as_os_str()])
            .status()
            .expect("clang starts");
        assert!(status.success());
        let output = Tool::new(&objdump)
            .args(["-d", "--mcpu=gfx906"])
            .arg(&object)
            .output()
            .expect("llvm-objdump runs");
        let stdout = String::from_utf8(output.stdout).expect("text");
        let mut count = 0;
        for (words, text) in listing(&stdout) {
            let (inst, used) = isa::decode(target, &words).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(used, words.len(), "{text}");
            let mut ours = String::new();
            isa::write_inst(target, &inst, None, &mut ours);
            assert_eq!(ours, text, "{words:08x?}");
            count += 1;
        }
        assert!(count > 100, "{count} instructions");
    }
}
