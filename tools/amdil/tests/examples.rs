//! The examples of the document (seed 003) come back the same.

use amdil::{ArgumentKind, Item, OldKind, Place, PointerMemory, Radix, Record, Rule, Version, parse, verify};

/// Reads a text, and demands that it is written the same.
fn same(text: &str) -> amdil::Metadata {
    let metadata = parse(text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    assert_eq!(metadata.to_string(), text);
    metadata
}

/// Puts records into a block.
fn block(records: &str) -> String {
    format!(";ARGSTART:f\n{records};ARGEND:f\n")
}

/// Lines 182 to 208: three data segments. The second elides 1021 numbers; they are 1.0 here.
#[test]
fn data_segments() {
    let first = same(";#DATASTART:16\n;#i32:0:4:0:1:2:3\n;#DATAEND:0\n");
    let segment = first.segments().next().unwrap();
    assert_eq!((segment.buffer, segment.size, segment.end), (None, 16, Some(0)));
    let numbers: Vec<_> = segment.vectors[0].values.numbers(Radix::Decimal).collect();
    assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(3)]);
    assert_eq!(verify(&first), []);

    let elided = vec!["3F800000"; 1021].join(":");
    let second = same(&format!(
        ";#DATASTART:2:1040\n;#i32:0:3:20:9123:124\n;#float:16:1023:42B60000:{elided}:448C8000\n;#DATAEND:2\n"
    ));
    let segment = second.segments().next().unwrap();
    let float = |number: Option<Option<u64>>| f32::from_bits(number.unwrap().unwrap() as u32);
    let mut numbers = segment.vectors[1].values.numbers(Radix::Hexadecimal);
    // The comment in the example says 91 and 1124.
    assert_eq!((float(numbers.next()), float(numbers.last())), (91.0, 1124.0));
    let integers: Vec<_> = segment.vectors[0].values.numbers(Radix::Decimal).collect();
    assert_eq!(integers, [Some(20), Some(9123), Some(124)]);
    // 16 bytes and 1023 numbers of 4 bytes are 4108 bytes, so the size in the example is wrong.
    let problems: Vec<_> = verify(&second).iter().map(|problem| (problem.line, problem.rule)).collect();
    assert_eq!(problems, [(3, Rule::SegmentSize)]);

    let third = same(";#DATASTART:32\n;#v3i32:0:8:1:2:3:0:4:5:6:0\n;#DATAEND:0\n");
    assert_eq!(third.segments().next().unwrap().vectors[0].lanes, 3);
    assert_eq!(verify(&third), []);
}

/// The bytes of the data, which integers have as decimal and as hexadecimal numbers.
#[test]
fn data_have_bytes() {
    use amdil::DataError;
    let bytes = |text: &str, radix, most| {
        let metadata = parse(text).unwrap();
        metadata.segments().next().unwrap().bytes(radix, most)
    };
    let text = ";#DATASTART:16\n;#i16:2:2:10:20\n;#float:8:1:3F800000\n;#struct:13:2:10:ff\n;#DATAEND\n";
    let mut expected = [0, 0, 10, 0, 20, 0, 0, 0, 0, 0, 0x80, 0x3f, 0, 0x10, 0xff, 0];
    assert_eq!(bytes(text, Radix::Decimal, 16), Ok(expected.to_vec()));
    (expected[2], expected[4]) = (0x10, 0x20);
    assert_eq!(bytes(text, Radix::Hexadecimal, 16), Ok(expected.to_vec()));
    assert_eq!(bytes(text, Radix::Decimal, 15), Err(DataError::Size(16)));
    let vector = |line: &str| bytes(&format!(";#DATASTART:4\n{line}\n;#DATAEND\n"), Radix::Decimal, 4);
    assert_eq!(vector(";#i32:0:2:1:2"), Err(DataError::End(0)));
    assert_eq!(vector(";#i32:4294967295:1:1"), Err(DataError::End(0)));
    assert_eq!(vector(";#i8:0:1:256"), Err(DataError::Number(0)));
    assert_eq!(vector(";#i8:0:1:ff"), Err(DataError::Number(0)));
    assert_eq!(vector(";#event:0:1:1"), Err(DataError::Type(0)));
}

/// Line 437: two arguments in the older form.
#[test]
fn old_arguments() {
    let metadata = same(";ARG:main:result:pointer:1:0:96:g:0:4\n;ARG:main:x:float:1:0:96\n");
    let [Item::OldArgument(result), Item::OldArgument(x)] = metadata.items.as_slice() else {
        panic!("{metadata:?}")
    };
    assert_eq!((result.function.as_str(), result.name.as_str()), ("main", "result"));
    assert_eq!(result.place, Place { buffer: 0, offset: 96 });
    assert_eq!(result.kind, OldKind::Pointer { memory: PointerMemory::Global, buffer: 0, alignment: 4 });
    assert_eq!(x.kind, OldKind::Value(amdil::DataType::Float));
    same(&block(";ARG:main:x:float:1:0:96\n"));
}

/// Lines 463 and 465: two format strings, whose lengths count an escape sequence as one byte.
#[test]
fn format_strings() {
    let metadata = same(&block(
        ";printf_fmt:0:0:23:!---initizeWSDeque---!\\n;\n\
         ;printf_fmt:4:3:4:4:4:35:Bottom: %d Top: %d InitialSize: %d\\n;\n",
    ));
    let records = &metadata.blocks().next().unwrap().records;
    let [Record::Printf(first), Record::Printf(second)] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(first.format.string(), "!---initizeWSDeque---!\n");
    assert_eq!((second.id, second.sizes.as_slice()), (4, [4, 4, 4].as_slice()));
    assert_eq!(second.format.length(), 35);
}

/// Lines 317 to 338 and 470: records without fields, and the mark of the call.
#[test]
fn words_alone() {
    same(&block(";memory:compilerwrite\n;memory:datareqd\n;limitgroupsize\n"));
    assert_eq!(same(";$$$$$$$$$$\n").items, [Item::CallMarker]);
}

/// Every pattern of the document, with fields filled in.
#[test]
fn patterns() {
    let metadata = same(&block(
        ";version:3:1:111\n;device:cypress\n;error:E001:no images\n;warning:W001:slow: barriers\n\
         ;memory:hwlocal:16\n;uniqueid:1024\n;sampler:s:0:1:38\n;image:i:3D:RW:2:1:0\n;counter:c:64:0:1:32\n\
         ;value:v:float:16:1:48\n;pointer:p:i32:1:1:112:hl:1:4\n;uavid:8\n;function:2:1025:1026\n\
         ;intrinsic:0\n;cws:64:1:1\n;lws:256\n;limitgroupsize\n",
    ));
    let block = metadata.blocks().next().unwrap();
    assert_eq!(block.records.len(), 17);
    assert_eq!(block.version(), Some(Version::NEWEST));
    let pointer = block.arguments().find(|argument| argument.name.as_str() == "p").unwrap();
    let ArgumentKind::Pointer(pointer) = pointer.kind else { panic!("{pointer:?}") };
    assert_eq!((pointer.memory, pointer.usage), (PointerMemory::HwLocal, None));
}

/// Lines 279 and 283: what the three numbers of a version mean.
#[test]
fn versions() {
    let version = |major, minor, revision| Version { major, minor, revision };
    assert!(version(3, 1, 0).reads(version(3, 0, 999)), "lower minor versions are read");
    assert!(version(3, 1, 5).reads(version(3, 1, 111)), "revisions do not count");
    assert!(!version(3, 1, 111).reads(version(3, 2, 0)), "higher minor versions are not read");
    assert!(!version(3, 1, 111).reads(version(2, 0, 0)), "other major versions are not read");
    assert!(version(2, 0, 88) < version(3, 1, 103));
}

/// A block like those of a driver's binaries, with the records that the document does not have.
#[test]
fn driver_block() {
    let text = ";ARGSTART:__OpenCL_scale_kernel\n;version:3:1:111\n;device:pitcairn\n;uniqueid:1024\n\
        ;memory:uavprivate:0\n;memory:hwlocal:0\n;memory:hwregion:0\n;cws:64:1:1\n;WavesPerSimdHint:0\n\
        ;pointer:out:float:1:1:0:uav:12:4:RW:0:1\n;pointer:in:float:1:1:16:uav:13:4:RO:0:1\n;constarg:1:in\n\
        ;value:factor:float:1:1:32\n;function:1:1025\n;sampler:unknown_38:0:1:38\n;memory:64bitABI\n\
        ;uavid:11\n;printfid:9\n;cbid:10\n;privateid:8\n;reflection:0:float*\n\
        ;reflection:1:struct a::b*\n;reflection:2:float\n;ARGEND:__OpenCL_scale_kernel\n";
    let metadata = same(text);
    assert_eq!(verify(&metadata), []);
    let kernel = metadata.kernel("scale").unwrap();
    assert_eq!(kernel.type_name(1), Some("struct a::b*"));
    assert_eq!(kernel.unique_id(), Some(1024));
    assert!(kernel.has(amdil::Flag::Abi64));
    // The text has the drivers' order, and the order comes back from any other that keeps the arguments'
    // order.
    let mut sorted = kernel.clone();
    sorted.records.rotate_left(15);
    let arguments = sorted.records.iter().filter(|record| matches!(record, Record::Argument(_)));
    assert_eq!(arguments.count(), 3);
    assert_ne!(sorted, *kernel);
    sorted.sort_as_drivers_do();
    assert_eq!(sorted, *kernel);
}

/// The text of a unit without a newline at its end is the same text.
#[test]
fn no_newline_at_the_end() {
    let metadata = parse(";ARGSTART:f\n;uniqueid:1\n;ARGEND:f").unwrap();
    assert_eq!(metadata.to_string(), ";ARGSTART:f\n;uniqueid:1\n;ARGEND:f\n");
    assert_eq!(parse("").unwrap().items, []);
}

/// Records with unknown names are errors, or are kept as they are where the caller asks for that.
#[test]
fn unknown_records() {
    let text = block(";uniqueid:1\n;enqueue_kernel:1\n");
    let errors = parse(&text).unwrap_err();
    assert_eq!((errors.len(), errors[0].line, errors[0].rule), (1, 3, Rule::UnknownRecord));
    let kept = amdil::parse_keeping(&text).unwrap();
    assert_eq!(kept.to_string(), text);
    let problems: Vec<_> = verify(&kept).iter().map(|problem| (problem.line, problem.rule)).collect();
    assert_eq!(problems, [(3, Rule::UnknownKept)]);
}
