//! Tables of names and of devices.

use legacy::{opencl1, opencl2};

fn has_no_number_twice<N: Ord + Copy + std::fmt::Debug>(numbers: impl IntoIterator<Item = N>) {
    let mut numbers: Vec<N> = numbers.into_iter().collect();
    numbers.sort();
    for pair in numbers.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn no_table_has_a_number_twice() {
    has_no_number_twice(opencl1::NOTES.iter().map(|row| row.0));
    has_no_number_twice(opencl1::DATA_CLASSES.iter().map(|row| row.0));
    has_no_number_twice(opencl1::DEVICES.iter().map(|row| row.0));
    has_no_number_twice(opencl1::MACHINES.iter().map(|row| row.0));
    for table in [opencl2::DATA, opencl2::MEMORY, opencl2::ACCESS, opencl2::CAPABILITIES] {
        has_no_number_twice(table.iter().map(|row| row.0));
    }
    // All numbers of pairs have names of their own.
    let names = (0x8000_0000u32..0x8000_2000).filter_map(legacy::program_info_name);
    let names: Vec<String> = names.chain((0..0x10000).filter_map(legacy::program_info_name)).collect();
    // Single ones, rows, user data (16 elements of four words), code of exports (8 of 10 formats of four
    // words).
    assert_eq!(names.len(), 64 + 192 + 16 * 4 + 8 * 10 * 4);
    has_no_number_twice(names.iter());
}

/// Examples of Multi2Sim's list.
#[test]
fn pairs_have_their_names() {
    let name = |number| legacy::program_info_name(number).unwrap_or_default();
    assert_eq!(name(0x8000_1000), "AMU_ABI_USER_ELEMENT_COUNT");
    assert_eq!(name(0x8000_1001), "AMU_ABI_USER_ELEMENTS_0_DWORD0");
    assert_eq!(name(0x8000_1040), "AMU_ABI_USER_ELEMENTS_15_DWORD3");
    assert_eq!(name(0x8000_1041), "AMU_ABI_SI_NUM_VGPRS");
    assert_eq!(name(0x8000_123f), "AMU_ABI_EXPORT_PATCH_CODE_EXPORT7_FMT9_DWORD3");
    assert_eq!(name(0x8000_1862), "AMU_ABI_UAV_RESOURCE_MASK_31");
    assert_eq!(name(0x8000_001b), "AMU_ABI_SET_BUFFER_FOR_UAV_RET_BUFFER11");
    assert_eq!(name(0x8000_0008), "");
    assert_eq!(legacy::register_name(0xb84c), Some("COMPUTE_PGM_RSRC2"));
    assert_eq!(legacy::register_name(0xb850), None);
}

/// Codes of devices by driver, as CLRX has them.
#[test]
fn codes_of_devices_depend_on_the_driver() {
    let device = |version, code| opencl2::drivers(version).device(code).map(|device| device.name);
    assert_eq!(opencl2::DRIVERS.len(), 11);
    for drivers in opencl2::DRIVERS {
        assert_eq!(drivers.device(9).map(|device| device.name), Some("tonga"));
        assert_eq!(drivers.device(5), None);
        assert_eq!(drivers.code("hawaii"), Some(7));
    }
    assert_eq!(device(180005, 16), Some("fiji"));
    assert_eq!(device(191205, 16), Some("carrizo"));
    assert_eq!(device(203603, 16), Some("baffin"));
    assert_eq!(device(223600, 16), Some("ellesmere"));
    assert_eq!(device(226400, 19), Some("gfx900"));
    assert_eq!(device(244200, 19), Some("gfx901"));
    assert_eq!(device(258000, 28), Some("gfx906"));
    assert_eq!(device(252700, 28), None);
    // A version between two tables has the older one.
    assert_eq!(device(223700, 18), Some("gfx804"));
    assert_eq!(device(1, 15), Some("carrizo"));
}
