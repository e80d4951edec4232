//! Texts with several kernels: calls, memory, and the source of one kernel.

use amdil::{MemorySpace, SourceError, parse, verify};

/// Two kernels, a function that both reach, and one that none reaches.
const TEXT: &str = "\
il_cs_2_0
;$$$$$$$$$$
endmain
;DEBUGSTART
.text
;DEBUGEND
func 1024 ; __OpenCL_a_kernel
call 1026
ret
endfunc ; __OpenCL_a_kernel
;ARGSTART:__OpenCL_a_kernel
;version:3:1:111
;device:cypress
;uniqueid:1024
;memory:hwlocal:16
;memory:hwlocal:8
;function:1:1026
;ARGEND:__OpenCL_a_kernel
func 1025 ; __OpenCL_b_kernel
ret
endfunc ; __OpenCL_b_kernel
;ARGSTART:__OpenCL_b_kernel
;version:3:1:111
;device:cypress
;uniqueid:1025
;function:1:1025
;ARGEND:__OpenCL_b_kernel
func 1026 ; shared ; @shared
ret
endfunc ; shared
;ARGSTART:shared
;uniqueid:1026
;memory:hwlocal:100
;function:1:1026
;intrinsic:2:7:9
;ARGEND:shared
func 1027 ; unused
ret
endfunc ; unused
;ARGSTART:unused
;uniqueid:1027
;memory:hwlocal:1000
;ARGEND:unused
end
";

#[test]
fn a_kernel_reaches_functions() {
    let metadata = parse(TEXT).unwrap();
    assert_eq!(verify(&metadata), []);
    let (a, b) = (metadata.kernel("a").unwrap(), metadata.kernel("b").unwrap());
    assert_eq!(metadata.reached(a).into_iter().collect::<Vec<_>>(), [1026]);
    assert_eq!(metadata.reached(b).into_iter().collect::<Vec<_>>(), [1025]);
    assert_eq!(metadata.intrinsics(a).into_iter().collect::<Vec<_>>(), [7, 9]);
    assert!(metadata.intrinsics(b).is_empty());
    // Line 323: the sum over the kernel and all functions that it calls.
    assert_eq!(metadata.memory(a, MemorySpace::HwLocal), 124);
    assert_eq!(metadata.memory(b, MemorySpace::HwLocal), 0);
    let functions: Vec<_> = metadata.functions().into_iter().map(|found| (found.id, found.name)).collect();
    let names = ["__OpenCL_a_kernel", "__OpenCL_b_kernel", "shared", "unused"];
    assert_eq!(functions, (1024..).zip(names.map(String::from)).collect::<Vec<_>>());
}

/// Line 534: the mark becomes a call of the kernel, and only the functions that the kernel reaches remain.
#[test]
fn a_kernel_has_a_source() {
    let metadata = parse(TEXT).unwrap();
    let source = metadata.source(metadata.kernel("a").unwrap()).unwrap();
    let expected = "il_cs_2_0\ncall 1024\nendmain\nfunc 1024 ; __OpenCL_a_kernel\ncall 1026\nret\n\
        endfunc ; __OpenCL_a_kernel\nfunc 1026 ; shared ; @shared\nret\nendfunc ; shared\n";
    assert_eq!(source, expected);
}

#[test]
fn a_source_cannot_be_made() {
    let source = |text: &str| {
        let metadata = parse(text).unwrap();
        metadata.source(metadata.blocks().next().unwrap())
    };
    assert_eq!(source(&TEXT.replace(";$$$$$$$$$$\n", "")), Err(SourceError::NoCallMarker));
    assert_eq!(source(&TEXT.replace("func 1026", "func 1030")), Err(SourceError::NoCode(1026)));
    assert_eq!(source(";$$$$$$$$$$\n;ARGSTART:f\n;ARGEND:f\n"), Err(SourceError::NoUniqueId));
}
