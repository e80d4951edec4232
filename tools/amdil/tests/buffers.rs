//! The constant buffers: which byte is what.

use amdil::{
    Abi, Access, ArgumentKind, ArgumentValue, Block, DataType, Dimension, GRID, Grid, GridElement, GridError,
    Image, Meaning, PackError, SamplerState, elements, lay_out, pack, parse, size,
};

/// The table of the document (seed 003, lines 109 to 146): first byte, place, what is there.
const TABLE: &str = "
0 cb0[0].x global work size 0
4 cb0[0].y global work size 1
8 cb0[0].z global work size 2
12 cb0[0].w work dimensions 0
16 cb0[1].x local work size 0
20 cb0[1].y local work size 1
24 cb0[1].z local work size 2
28 cb0[1].w zero 0
32 cb0[2].x work-groups 0
36 cb0[2].y work-groups 1
40 cb0[2].z work-groups 2
44 cb0[2].w zero 0
48 cb0[3].x offset of the private ring 0
52 cb0[3].y private memory of a work item 0
56 cb0[3].z zero 0
60 cb0[3].w zero 0
64 cb0[4].x offset of the local ring 0
68 cb0[4].y local memory of a work-group 0
72 cb0[4].z zero 0
76 cb0[4].w tables of the mathematical library 0
80 cb0[5].x constant of the mathematical library 0
84 cb0[5].y constant of the mathematical library 1
88 cb0[5].z constant of the mathematical library 2
92 cb0[5].w constant of the mathematical library 3
96 cb0[6].x global offset 0
100 cb0[6].y global offset 1
104 cb0[6].z global offset 2
108 cb0[6].w flat global offset 0
112 cb0[7].x group offset 0
116 cb0[7].y group offset 1
120 cb0[7].z group offset 2
124 cb0[7].w flat group offset 0
128 cb0[8].x offset of the data segment 0
132 cb0[8].y offset of the printf buffer 0
136 cb0[8].z size of the printf buffer 0
";

#[test]
fn constant_buffer_0_is_the_table_of_the_document() {
    let rows = GRID.iter().filter(|row| row.element != GridElement::WholeOffset);
    let table: String =
        rows.map(|row| format!("{} {} {} {}\n", row.offset, row.place(), row.element, row.index)).collect();
    assert_eq!(table, TABLE.trim_start());
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn a_dispatch_fills_constant_buffer_0() {
    let grid = Grid {
        global: vec![640, 48],
        local: vec![64, 4],
        offset: [2, 3, 5],
        group_offset: [7, 1, 1],
        whole_offset: [10, 20, 30],
        private_ring: 0x100,
        private_size: 0x20,
        local_ring: 0x200,
        local_size: 0x40,
        math_tables: 0x300,
        data_offset: 0x400,
        printf_offset: 0x500,
        printf_size: 0x600,
    };
    let (half, one, two) = (0.5f32.to_bits(), 1f32.to_bits(), 2f32.to_bits());
    #[rustfmt::skip]
    let expected = [
        640, 48, 1, 2,  64, 4, 1, 0,  10, 12, 1, 0,  0x100, 0x20, 0, 0,  0x200, 0x40, 0, 0x300,  0, half, one, two,
        2, 3, 5, 30,  7, 1, 1, 7,  0x400, 0x500, 0x600, 0,  10, 20, 30, 0,
    ];
    assert_eq!(words(&grid.constants(false).unwrap()), expected);
    // With pointers of 64 bits: places of ROCclr's `setupProgramGrid` and `setLocalPrivateRanges`.
    let wide = words(&Grid { data_offset: 0x4_0000_0400, ..grid.clone() }.constants(true).unwrap());
    assert_eq!(wide[12..20], [0x100, 0, 0x20, 0, 0x200, 0, 0x40, 0]);
    assert_eq!(wide[32..40], [0x400, 4, 0x500, 0, 0x600, 10, 20, 30]);
}

/// `clEnqueueTask` is one work item, and its count of dimensions is 0.
#[test]
fn a_task_fills_constant_buffer_0() {
    let words = words(&Grid::default().constants(false).unwrap());
    assert_eq!(words[..12], [1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0]);
}

#[test]
fn wrong_dispatches_are_errors() {
    let grid = |global: &[u32], local: &[u32]| Grid {
        global: global.to_vec(),
        local: local.to_vec(),
        ..Grid::default()
    };
    assert_eq!(grid(&[1, 1, 1, 1], &[1, 1, 1, 1]).constants(false), Err(GridError::Dimensions));
    assert_eq!(grid(&[64], &[]).constants(false), Err(GridError::Dimensions));
    assert_eq!(grid(&[64, 10], &[64, 3]).constants(false), Err(GridError::Local(1)));
    assert_eq!(grid(&[64], &[0]).constants(false), Err(GridError::Local(0)));
    let high = Grid { printf_offset: 1 << 32, ..Grid::default() };
    assert_eq!(high.constants(false), Err(GridError::Wide(GridElement::PrintfOffset)));
    assert!(high.constants(true).is_ok());
    let product = Grid { offset: [1 << 20, 1 << 20, 1], ..Grid::default() };
    assert_eq!(product.constants(false), Err(GridError::FlatOffset));
}

fn value(ty: DataType, count: u32) -> ArgumentKind {
    ArgumentKind::Value { ty, count }
}

/// Sizes as the document says (lines 221 to 251). Each but the three 64-bit elements is also what drivers do.
#[test]
fn arguments_take_whole_vectors() {
    let image = ArgumentKind::Image { dimension: Dimension::D2, access: Access::ReadOnly, id: 0 };
    let cases = [
        (value(DataType::I8, 1), 16),
        (value(DataType::I1, 4), 16),
        (value(DataType::I1, 8), 32),
        (value(DataType::U8, 4), 16),
        (value(DataType::U8, 8), 32),
        (value(DataType::U8, 16), 64),
        (value(DataType::I16, 3), 16),
        (value(DataType::I16, 8), 32),
        (value(DataType::Half, 16), 64),
        (value(DataType::Float, 3), 16),
        // A float8 takes two vectors, and a double8 takes four (line 239).
        (value(DataType::Float, 8), 32),
        (value(DataType::Double, 8), 64),
        (value(DataType::Double, 3), 32),
        (value(DataType::U64, 16), 128),
        (value(DataType::Struct, 1), 16),
        (value(DataType::Struct, 112), 112),
        (value(DataType::Union, 17), 32),
        (value(DataType::Event, 1), 16),
        (image, 32),
        (ArgumentKind::Counter { bits: 32, id: 0 }, 16),
    ];
    for (kind, expected) in cases {
        assert_eq!(size(&kind), expected, "{kind:?}");
    }
}

/// Offsets that a driver of version 3.1.111 gives to a kernel with all integer types: of each type, vectors
/// of 1, 2, 3, 4, 8 and 16 elements (recorded from a kernel that takes all types). A vector of three 64-bit
/// elements has one vector of the constant buffer, into which it does not fit.
#[test]
fn drivers_lay_arguments_out_so() {
    let types = [
        (DataType::U8, [0, 16, 32, 48, 64, 96]),
        (DataType::I8, [160, 176, 192, 208, 224, 256]),
        (DataType::U16, [320, 336, 352, 368, 384, 416]),
        (DataType::I16, [480, 496, 512, 528, 544, 576]),
        (DataType::U32, [640, 656, 672, 688, 704, 736]),
        (DataType::I32, [800, 816, 832, 848, 864, 896]),
        (DataType::U64, [960, 976, 992, 1008, 1040, 1104]),
        (DataType::I64, [1232, 1248, 1264, 1280, 1312, 1376]),
    ];
    let counts = [1, 2, 3, 4, 8, 16];
    let kinds: Vec<_> = types.iter().flat_map(|(ty, _)| counts.map(|count| value(*ty, count))).collect();
    let expected: Vec<u32> = types.iter().flat_map(|(_, offsets)| *offsets).collect();
    let (places, end) = lay_out(1, &kinds, true).unwrap();
    assert_eq!(places.iter().map(|place| place.offset).collect::<Vec<_>>(), expected);
    assert_eq!(end, 1504);
    let (places, end) = lay_out(1, &kinds, false).unwrap();
    assert_eq!((places[39].offset, end), (1024, 1536));
    let (places, _) = lay_out(0, &kinds[..2], false).unwrap();
    assert_eq!(
        places.iter().map(|place| (place.buffer, place.offset)).collect::<Vec<_>>(),
        [(0, 96), (0, 112)]
    );
    assert_eq!(lay_out(1, &[value(DataType::Struct, 65_536), value(DataType::I8, 1)], false), Err(1));
    assert_eq!(lay_out(1, &[value(DataType::Struct, u32::MAX)], false), Err(0));
}

fn block(records: &str) -> Block {
    let metadata = parse(&format!(";ARGSTART:f\n;uniqueid:1\n{records};ARGEND:f\n")).unwrap();
    metadata.blocks().next().unwrap().clone()
}

/// Packs one argument, and returns the bytes of constant buffer 1.
fn packed(record: &str, value: ArgumentValue) -> Vec<u8> {
    let buffers = pack(&block(&format!("{record}\n")), &[value]).unwrap();
    assert_eq!((buffers.len(), buffers[0].number), (1, 1));
    buffers[0].bytes.clone()
}

fn bytes(range: std::ops::Range<u8>) -> ArgumentValue {
    ArgumentValue::Bytes(range.collect())
}

#[test]
fn values_are_packed() {
    // The lower half of a 64-bit value is in x, the upper half in y (line 223).
    let long = packed(";value:x:i64:1:1:0", bytes(1..9));
    assert_eq!(long, [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
    // A char2 is in the first 16 bits (line 245).
    assert_eq!(packed(";value:x:i8:2:1:0", bytes(1..3))[..4], [1, 2, 0, 0]);
    // Every four components of a char8 begin at a vector (line 249).
    let char8 = packed(";value:x:i8:8:1:0", bytes(1..9));
    assert_eq!((&char8[..5], &char8[16..21], char8.len()), (&[1, 2, 3, 4, 0][..], &[5, 6, 7, 8, 0][..], 32));
    let short8 = packed(";value:x:u16:8:1:0", bytes(1..17));
    assert_eq!(
        (&short8[..9], &short8[16..25]),
        (&[1, 2, 3, 4, 5, 6, 7, 8, 0][..], &[9, 10, 11, 12, 13, 14, 15, 16, 0][..])
    );
    // A boolean is a 32-bit integer of which the upper 31 bits are masked (line 223).
    let booleans = packed(";value:x:i1:2:1:0", ArgumentValue::Bytes(vec![1, 2]));
    assert_eq!(words(&booleans), [1, 0, 0, 0]);
    // Three components, with and without the fourth that OpenCL's size has.
    let three = packed(";value:x:float:3:1:0", bytes(1..13));
    assert_eq!(three, packed(";value:x:float:3:1:0", bytes(1..17)));
    assert_eq!(three[8..], [9, 10, 11, 12, 0, 0, 0, 0]);
    // An argument is at the offset that the text says.
    let at = packed(";value:x:struct:3:1:32", bytes(1..4));
    assert_eq!((at.len(), &at[31..36]), (48, &[0, 1, 2, 3, 0][..]));
}

#[test]
fn pointers_and_images_are_packed() {
    let pointer = ";pointer:p:i32:1:1:0:uav:11:4:RW:0:0";
    assert_eq!(words(&packed(pointer, ArgumentValue::Pointer(0x40))), [0x40, 0, 0, 0]);
    let wide = format!("{pointer}\n;memory:64bitABI");
    assert_eq!(words(&packed(&wide, ArgumentValue::Pointer(7 << 32 | 5))), [5, 7, 0, 0]);
    let image = Image {
        width: 4,
        height: 2,
        depth: 1,
        data_type: 0x10da,
        channel_order: 0x10b5,
        offset: 0x100,
        row_pitch: 64,
        slice_pitch: 128,
    };
    let record = ";image:i:2D:RO:0:1:0";
    let later = words(&packed(record, ArgumentValue::Image(image)));
    let inverse = |size: f32| (1.0 / size).to_bits();
    assert_eq!(later, [4, 2, 1, 0x10da, inverse(4.0), inverse(2.0), inverse(1.0), 0x10b5]);
    let r700 = words(&packed(&format!("{record}\n;device:rv770"), ArgumentValue::Image(image)));
    assert_eq!(r700, [4, 2, 1, 0x100, 0x10da, 0x10b5, 64, 128]);
    let meanings: Vec<_> =
        elements(&block(&format!("{record}\n")).arguments().next().unwrap().kind, Abi::default())
            .iter()
            .map(|element| (element.offset, element.meaning))
            .collect();
    assert_eq!(meanings[3], (12, Meaning::DataType));
    assert_eq!(meanings[7], (28, Meaning::ChannelOrder));
}

/// Arguments in two buffers, in any order.
#[test]
fn buffers_are_in_order() {
    let block = block(";value:x:i32:1:1:16\n;value:y:i32:1:0:96\n;value:z:i32:1:1:0\n");
    let buffers = pack(&block, &[bytes(1..5), bytes(5..9), bytes(9..13)]).unwrap();
    let sizes: Vec<_> = buffers.iter().map(|buffer| (buffer.number, buffer.bytes.len())).collect();
    assert_eq!(sizes, [(0, 112), (1, 32)]);
    assert_eq!((buffers[1].bytes[0], buffers[1].bytes[16], buffers[0].bytes[96]), (9, 1, 5));
}

#[test]
fn values_that_do_not_fit_are_errors() {
    let pointer = block(";pointer:p:i32:1:1:0:uav:11:4:RW:0:0\n");
    let long = block(";value:x:i64:1:1:0\n");
    assert_eq!(pack(&pointer, &[]), Err(PackError::Count { arguments: 1, values: 0 }));
    assert_eq!(pack(&pointer, &[bytes(0..4)]), Err(PackError::Kind(0)));
    assert_eq!(pack(&pointer, &[ArgumentValue::Pointer(1 << 32)]), Err(PackError::Wide(0)));
    let size = Err(PackError::Size { argument: 0, expected: 8, found: 4 });
    assert_eq!(pack(&long, &[bytes(0..4)]), size);
    let end = block(";value:x:struct:32:1:65520\n");
    assert_eq!(pack(&end, &[bytes(0..32)]), Err(PackError::End(0)));
}

/// Values of samplers that kernels of drivers define: nearest and linear filters with clamped coordinates.
#[test]
fn samplers_have_bits() {
    use amdil::{Addressing, Filter};
    let state = SamplerState { normalized: false, addressing: Addressing::Clamp, filter: Filter::Linear };
    assert_eq!((state.bits(), SamplerState::from_bits(38)), (38, Some(state)));
    let readable = (0..256).filter_map(SamplerState::from_bits);
    assert_eq!(readable.clone().count(), 2 * 5 * 3);
    for state in readable {
        assert_eq!(SamplerState::from_bits(state.bits()), Some(state));
    }
}
