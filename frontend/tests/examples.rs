//! The examples compile, and what they compile to is valid IR.

use std::path::PathBuf;

fn examples() -> Vec<(String, String)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut list: Vec<(String, String)> = std::fs::read_dir(dir)
        .expect("examples/ is part of the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "k"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("readable"))
        })
        .collect();
    list.sort();
    list
}

#[test]
fn all_compile_to_valid_ir() {
    let list = examples();
    assert!(list.len() >= 21, "only {} examples", list.len());
    for (name, source) in list {
        for fp_contract in [true, false] {
            let options = frontend::Options { params: &[], fp_contract, ..Default::default() };
            let module = frontend::compile(&name, &source, &options)
                .unwrap_or_else(|list| panic!("{}", list.render(false)));
            if std::env::var("KERNC_SHOW").is_ok_and(|show| show == name) {
                println!("{module}");
            }
            if let Err(errors) = ir::verify::verify(&module) {
                panic!("{name}: {errors:?}\n{module}");
            }
            assert!(module.funcs.values().any(|func| func.kernel.is_some() && func.name == name));
        }
    }
}

/// A launch of an example on the IR interpreter, as the frontend wrote it.
struct Launch {
    module: ir::Module,
    memory: ir::interp::Memory,
    kernarg: Vec<u8>,
    buffers: Vec<(u64, usize)>,
}

impl Launch {
    fn new(name: &str) -> Launch {
        let (_, source) = examples().into_iter().find(|(found, _)| found == name).expect("an example");
        let module = frontend::compile(name, &source, &frontend::Options::default()).expect("valid");
        Launch { module, memory: ir::interp::Memory::new(), kernarg: Vec::new(), buffers: Vec::new() }
    }

    fn arg(mut self, bytes: &[u8]) -> Launch {
        while !self.kernarg.len().is_multiple_of(bytes.len()) {
            self.kernarg.push(0);
        }
        self.kernarg.extend_from_slice(bytes);
        self
    }

    fn word(self, value: u32) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    fn words(mut self, data: &[u32]) -> Launch {
        let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.buffers.push((0, bytes.len()));
        let address = self.memory.alloc_bytes(bytes);
        self.buffers.last_mut().expect("pushed").0 = address;
        self.arg(&address.to_le_bytes())
    }

    fn floats(self, data: &[f32]) -> Launch {
        let bits: Vec<u32> = data.iter().map(|x| x.to_bits()).collect();
        self.words(&bits)
    }

    /// Runs the kernel and returns the words of buffer `n`.
    fn run(mut self, name: &str, grid: [u32; 3], n: usize) -> Vec<u32> {
        let interp = ir::interp::Interp::new(&self.module, &mut self.memory);
        let func = self.module.funcs.values().find(|func| func.name == name).expect("the kernel");
        let group = func.kernel.as_ref().and_then(|kernel| kernel.reqd_workgroup_size).expect("a size");
        let kernarg = std::mem::take(&mut self.kernarg);
        let dispatch = ir::interp::Dispatch { kernel: name, grid, group, kernarg, dynamic_shared: 0 };
        interp.run(&dispatch, &mut self.memory).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (address, len) = self.buffers[n];
        let bytes = self.memory.bytes(address, len).expect("allocated");
        bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }
}

/// The compression of the block of "abc" (FIPS 180-2, appendix B.1).
#[test]
fn sha256_of_abc() {
    let mut block = vec![0u32; 64 * 16];
    block[0] = 0x6162_6380;
    block[15] = 24;
    let start: [u32; 8] = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let mut state = vec![0u32; 64 * 8];
    state[..8].copy_from_slice(&start);
    let out = Launch::new("sha256").words(&block).words(&state).word(64).run("sha256", [64, 1, 1], 1);
    let digest: [u32; 8] = [
        0xba78_16bf,
        0x8f01_cfea,
        0x4141_40de,
        0x5dae_2223,
        0xb003_61a3,
        0x9617_7a9c,
        0xb410_ff61,
        0xf200_15ad,
    ];
    assert_eq!(out[..8], digest);
}

/// The three matrix products agree with the definition; small integers keep the sums exact.
#[test]
fn matrix_products() {
    let n = 64usize;
    let a: Vec<f32> = (0..n * n).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i * 5 % 11) as f32 - 5.0).collect();
    let product = |row: usize, col: usize| (0..n).map(|k| a[row * n + k] * b[k * n + col]).sum::<f32>();
    let expected: Vec<u32> = (0..n * n).map(|i| product(i / n, i % n).to_bits()).collect();
    let size = n as u32;
    for (name, grid) in
        [("sgemm_naive", [size, size, 1]), ("sgemm_lds", [size, size, 1]), ("sgemm_reg", [256, 1, 1])]
    {
        let launch = Launch::new(name).floats(&a).floats(&b).floats(&vec![0.0; n * n]);
        let out = launch.word(size).word(size).word(size).run(name, grid, 2);
        assert!(out == expected, "{name}");
    }
}

#[test]
fn scan_and_reduce() {
    let data: Vec<u32> = (0..600).map(|i| i * i % 17).collect();
    let launch = Launch::new("scan").words(&data).words(&[0; 600]).words(&[0; 3]).word(600);
    let out = launch.run("scan", [768, 1, 1], 1);
    for (i, &found) in out.iter().enumerate() {
        assert_eq!(found, data[i / 256 * 256..=i].iter().sum::<u32>(), "{i}");
    }
    let numbers: Vec<f32> = (0..1500).map(|i| (i % 9) as f32).collect();
    let out =
        Launch::new("reduce").floats(&numbers).floats(&[0.0; 2]).word(1500).run("reduce", [512, 1, 1], 1);
    let sums = [numbers[..1024].iter().sum::<f32>(), numbers[1024..].iter().sum::<f32>()];
    assert_eq!(out, sums.map(f32::to_bits));
}

#[test]
fn transpose_and_histogram() {
    let (w, h) = (50usize, 37usize);
    let data: Vec<u32> = (0..(w * h) as u32).collect();
    let launch = Launch::new("transpose").words(&data).words(&vec![0; w * h]).word(w as u32).word(h as u32);
    let out = launch.run("transpose", [64, 16, 1], 1);
    assert!((0..w * h).all(|i| out[i % w * h + i / w] == data[i]));
    let values: Vec<u32> = (0..3000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
    let launch = Launch::new("histogram").words(&values).words(&[0; 256]).word(3000).word(512);
    let bins = launch.run("histogram", [512, 1, 1], 1);
    assert!((0..256u32).all(|bin| {
        bins[bin as usize] as usize == values.iter().filter(|&&value| value & 255 == bin).count()
    }));
}

#[test]
fn messages_pass_between_groups() {
    let launch = Launch::new("msgpass").words(&[0; 64]).words(&[0]).words(&[0; 256]).word(100);
    let out = launch.run("msgpass", [256, 1, 1], 2);
    assert!((64..256).all(|i| out[i] == 100 + i as u32 % 64));
}

#[test]
fn convolution_and_stencil() {
    let (w, h) = (20i32, 19i32);
    let image: Vec<f32> = (0..w * h).map(|i| (i * 3 % 8) as f32).collect();
    let at = |x: i32, y: i32| {
        if (0..w).contains(&x) && (0..h).contains(&y) { image[(y * w + x) as usize] } else { 0.0 }
    };
    let weights: Vec<f32> = (0..9).map(|i| (i * i % 5) as f32).collect();
    let zeros = vec![0.0; image.len()];
    let launch =
        Launch::new("conv3x3").floats(&image).floats(&weights).floats(&zeros).word(w as u32).word(h as u32);
    let out = launch.run("conv3x3", [32, 32, 1], 2);
    let launch = Launch::new("stencil5").floats(&image).floats(&zeros).word(w as u32).word(h as u32);
    let cross = launch.word(2.0f32.to_bits()).word(3.0f32.to_bits()).run("stencil5", [32, 24, 1], 1);
    for i in 0..w * h {
        let (x, y) = (i % w, i / w);
        let sum: f32 = (0..9).map(|k| at(x + k % 3 - 1, y + k / 3 - 1) * weights[k as usize]).sum();
        assert_eq!(f32::from_bits(out[i as usize]), sum, "{x} {y}");
        let inside = x > 0 && x < w - 1 && y > 0 && y < h - 1;
        let around = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
        let expected = if inside { 2.0 * at(x, y) + 3.0 * around } else { 0.0 };
        assert_eq!(f32::from_bits(cross[i as usize]), expected, "{x} {y}");
    }
}
