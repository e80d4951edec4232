//! User data of compute shaders.

use palmeta::user_data::{
    COMPUTE_SCRATCH, GDS_RANGE, GLOBAL_TABLE, INTERNAL_TABLE, Mapping, NO_SPILL, PER_SHADER_TABLE, Parameter,
    Place, SPILL_TABLE, WORKGROUP, layout,
};
use palmeta::{Metadata, Problem};

fn parameters(sizes: &[u32]) -> Vec<Parameter> {
    sizes.iter().map(|&size| Parameter { size, align: size.min(8) }).collect()
}

/// The table of the guide (seed 000, line 4311).
#[test]
fn the_sixteen_registers_are_the_guides() {
    let layout = layout(&parameters(&[4; 12])).unwrap();
    let mapping = layout.mapping();
    assert_eq!(mapping[0], Mapping::Runtime(GLOBAL_TABLE));
    assert_eq!(mapping[1], Mapping::Runtime(PER_SHADER_TABLE));
    for entry in 0..10 {
        assert_eq!(mapping[2 + entry as usize], Mapping::Entry(entry));
    }
    assert_eq!(mapping[12], Mapping::Runtime(SPILL_TABLE));
    assert_eq!(mapping[13], Mapping::Runtime(WORKGROUP));
    // The address of the numbers of work-groups fills two registers.
    assert_eq!((mapping[14], WORKGROUP.registers), (Mapping::NotMapped, 2));
    assert_eq!(mapping[15], Mapping::Runtime(GDS_RANGE));
    assert_eq!((layout.limit, layout.spill_threshold), (12, 10));
}

#[test]
fn parameters_are_in_registers_up_to_the_tenth() {
    let placed = |sizes: &[u32]| {
        let layout = layout(&parameters(sizes)).unwrap();
        let places: Vec<_> = layout.parameters.iter().map(|parameter| parameter.place).collect();
        (places, layout.limit, layout.spill_threshold, layout.in_registers)
    };
    use Place::{Registers, SpillTable};
    assert_eq!(placed(&[]), (vec![], 0, NO_SPILL, 0));
    assert_eq!(placed(&[8, 4]), (vec![Registers(2), Registers(4)], 3, NO_SPILL, 3));
    // The pointer is aligned.
    assert_eq!(placed(&[4, 8]), (vec![Registers(2), Registers(4)], 4, NO_SPILL, 4));
    assert_eq!(placed(&[1, 1, 2]), (vec![Registers(2); 3], 1, NO_SPILL, 1));
    // A value of two dwords does not fit into the last register.
    assert_eq!(
        placed(&[8, 8, 8, 8, 4, 8, 4]),
        (
            vec![
                Registers(2),
                Registers(4),
                Registers(6),
                Registers(8),
                Registers(10),
                SpillTable(40),
                SpillTable(48)
            ],
            13,
            10,
            9
        )
    );
    // Two values share entry 9: the first is in a register, the second is in the table.
    let shared = [36, 2].map(|size| Parameter { size, align: 2 });
    let shared = [&shared[..], &[Parameter { size: 6, align: 2 }]].concat();
    let shared = layout(&shared).unwrap();
    assert_eq!(shared.parameters[2].place, SpillTable(38));
    assert_eq!((shared.spill_threshold, shared.in_registers, shared.limit), (9, 10, 11));
    assert_eq!(shared.mapping()[11], Mapping::Entry(9));
}

#[test]
fn wrong_parameters_are_named() {
    assert_eq!(layout(&[Parameter { size: 4, align: 3 }]).unwrap_err().0, 0);
    assert_eq!(layout(&[Parameter { size: 4, align: 0 }]).unwrap_err().0, 0);
    let large = [Parameter { size: 4, align: 4 }, Parameter { size: u32::MAX, align: 1 << 31 }];
    assert_eq!(layout(&large).unwrap_err().0, 1);
}

#[test]
fn the_metadata_describes_the_layout() {
    let mut metadata = Metadata::new();
    metadata.set_user_data(&layout(&parameters(&[8, 4])).unwrap());
    let registers: Vec<_> = metadata.registers().collect();
    assert_eq!(
        registers,
        [
            (0x2e40, 0x1000_0000),
            (0x2e41, 0x1000_0001),
            (0x2e42, 0),
            (0x2e43, 1),
            (0x2e44, 2),
            (0x2e4d, 0x1000_0006),
            (0x2e4f, 0x1000_0007)
        ]
    );
    let found = metadata.verify();
    assert!(found.iter().all(|finding| finding.problem == Problem::Missing), "{found:?}");
}

#[test]
fn numbers_of_mappings_come_back() {
    for number in (0..0x30).map(|n| 0x1000_0000 + n).chain([
        0,
        159,
        0x1000_1000,
        0x1000_10ff,
        0x1000_1100,
        0x2000_0000,
        0x2fff_ffff,
        0x3000_0000,
        u32::MAX,
    ]) {
        assert_eq!(Mapping::from_number(number).number(), number);
    }
    assert_eq!(Mapping::from_number(0x1000_0002).to_string(), "SpillTable");
    assert_eq!(Mapping::from_number(0x1000_1003).to_string(), "PipelineLink3");
    assert_eq!(Mapping::from_number(7).to_string(), "entry 7");
    assert_eq!(Mapping::from_number(0x1000_0015), Mapping::Unknown(0x1000_0015));
}

/// The entries of the global internal table follow each other (seed 000, line 4345).
#[test]
fn the_internal_table_has_no_gaps() {
    let mut end = 0;
    for entry in INTERNAL_TABLE {
        assert_eq!(entry.offset, end, "{}", entry.name);
        end += entry.size;
    }
    assert_eq!((end, COMPUTE_SCRATCH.offset), (53, 4));
}
