//! `reviver batch` with Arrow record batches: inputs, results, and untrusted files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float64Type, Int8Type, Int64Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float16Array, Float32Array,
    Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, UInt8Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field};

use crate::support::{Folder, Ran, root, with_input};

type Half = <Float16Type as ArrowPrimitiveType>::Native;

const MIXED: &str = ".inout x: real\n.inout A[2]\n.inout M[2,3]: real\n.out y: real, B[2]\n\
                     add y, 2 * x\nadd y, M[1,2]\nadd B[0], A[1]\nadd B[1], A[0]\n";
const LINE: &str = ".inout x: real\n.inout n\n.out y: real\nadd y, 2 * x\n";

fn lists(values: impl Array + 'static, length: i32) -> ArrayRef {
    let element = Arc::new(Field::new("item", values.data_type().clone(), true));
    Arc::new(FixedSizeListArray::new(element, length, Arc::new(values), None))
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Returns lanes of `MIXED`, with different numbers in every cell.
fn mixed(lanes: std::ops::Range<i32>) -> RecordBatch {
    let x = lanes.clone().map(f64::from).collect::<Float64Array>();
    let a = lanes.clone().flat_map(|n| [n, -n]).collect::<Int32Array>();
    let m = lanes.flat_map(|n| (0..6).map(move |k| (10 * n + k) as f32)).collect::<Float32Array>();
    let rows = lists(m, 3);
    let element = Arc::new(Field::new("item", rows.data_type().clone(), true));
    let m = FixedSizeListArray::new(element, 2, rows, None);
    table(vec![("x", Arc::new(x)), ("A", lists(a, 2)), ("M", Arc::new(m))])
}

fn file(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn stream_with(options: IpcWriteOptions, batches: &[RecordBatch]) -> Vec<u8> {
    let schema = batches[0].schema();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    stream_with(IpcWriteOptions::default(), batches)
}

fn read_file(folder: &Folder, name: &str) -> Vec<RecordBatch> {
    let reader = FileReader::try_new(std::io::Cursor::new(folder.read(name)), None).unwrap();
    reader.map(|batch| batch.unwrap()).collect()
}

fn reals(batch: &RecordBatch, name: &str) -> Vec<f64> {
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec()
}

/// Returns the path of a file that another program has written.
fn case(name: &str) -> String {
    root().join("tests/cases").join(name).display().to_string()
}

/// Checks that the command neither panicked nor left a file behind.
#[track_caller]
fn is_orderly(ran: &Ran) {
    assert!((0..=5).contains(&ran.code) && !ran.stderr.contains("panicked"), "{ran:#?}");
}

#[test]
fn arrow_is_read_and_written() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let batches = [mixed(0..3), mixed(3..3), mixed(3..7)];
    folder.file("in.arrow", file(&batches));
    folder.file("in.arrows", stream(&batches));
    folder.reviver("batch mixed.rasm --lanes in.arrow -o out.csv").expect(0).prints("7 lanes, 0 failed\n");
    let lines = String::from_utf8(folder.read("out.csv")).unwrap();
    let mut rows = lines.lines();
    assert!(rows.next().unwrap().starts_with("x,A[0],A[1],\"M[0,0]\",\"M[0,1]\",\"M[0,2]\",\"M[1,0]\""));
    assert_eq!(rows.nth(5), Some("5.0,5,-5,50.0,51.0,52.0,53.0,54.0,55.0,65.0,-5,5"));
    // The content determines the format, for files and for standard input.
    for (arguments, input) in [
        ("--lanes in.arrows", &b""[..]),
        ("--lanes -", &folder.read("in.arrow")),
        ("--lanes -", &folder.read("in.arrows")),
    ] {
        folder.with_input(&format!("batch mixed.rasm {arguments}"), input).expect(0).prints(&lines);
    }
    folder.file("swapped.arrows", folder.read("in.arrow"));
    folder.reviver("batch mixed.rasm --lanes swapped.arrows").expect(0).prints(&lines);

    folder.reviver("batch mixed.rasm --lanes in.arrows -o out.arrow").expect(0).prints("7 lanes, 0 failed\n");
    let found = read_file(&folder, "out.arrow");
    let found = match &found[..] {
        [found] => found,
        batches => panic!("{} batches", batches.len()),
    };
    let types: Vec<(String, String)> = found
        .schema()
        .fields()
        .iter()
        .map(|field| (field.name().clone(), field.data_type().to_string()))
        .collect();
    let names: Vec<&str> = types.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x", "A", "M", "y", "B"], "{types:?}");
    assert_eq!(reals(found, "y"), (0..7).map(|n| f64::from(2 * n + 10 * n + 5)).collect::<Vec<_>>());
    let b = found.column_by_name("B").unwrap().as_fixed_size_list();
    assert_eq!(b.value(4).as_primitive::<Int64Type>().values()[..], [-4, 4]);
    let m = found.column_by_name("M").unwrap().as_fixed_size_list().value(6);
    let row = m.as_fixed_size_list().value(1);
    assert_eq!(row.as_primitive::<Float64Type>().values()[..], [63.0, 64.0, 65.0]);
    // The backward run takes the results as inputs.
    folder.reviver("batch mixed.rasm --lanes out.arrow --back -o back.arrows").expect(0);
    folder.reviver("batch mixed.rasm --lanes back.arrows").expect(0).prints(&lines);
    // An earlier output is replaced; other files and inputs aren't.
    folder.reviver("batch mixed.rasm --lanes in.arrow -o out.arrow").expect(0);
    folder.file("notes.arrow", "mine\n");
    folder
        .reviver("batch mixed.rasm --lanes in.arrow -o notes.arrow")
        .expect(2)
        .says("is not a file of record batches");
    folder.reviver("batch mixed.rasm --lanes in.arrow -o in.arrow --force").expect(2).says("overwritten");
}

#[test]
fn arrow_is_read_and_written_batch_by_batch() {
    let folder = Folder::new();
    folder.file("line.rasm", ".inout x: real\n.out y: real\nadd y, 2 * x\n");
    let lanes = |from: usize, count: usize| {
        let x = (from..from + count).map(|n| n as f64 / 8.0).collect::<Float64Array>();
        table(vec![("x", Arc::new(x))])
    };
    // The record batches have other lengths than the blocks of lanes that are executed.
    let mut batches = vec![lanes(0, 1), lanes(1, 150_000), lanes(150_001, 7)];
    batches.extend((0..50).map(|n| lanes(150_008 + n, 1)));
    folder.file("in.arrow", file(&batches));
    folder.reviver("batch line.rasm --lanes in.arrow -o out.arrow").expect(0);
    let found = read_file(&folder, "out.arrow");
    assert_eq!(found.len(), 3);
    let y: Vec<f64> = found.iter().flat_map(|batch| reals(batch, "y")).collect();
    assert_eq!(y, (0..150_058).map(|n| n as f64 / 4.0).collect::<Vec<_>>());
    // LZ4 compression, as pandas writes it.
    let lz4 = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let packed = stream_with(lz4, &batches);
    assert!(packed.len() < folder.read("in.arrow").len());
    folder.file("packed.arrows", packed);
    folder.reviver("batch line.rasm --lanes packed.arrows -o again.arrow").expect(0);
    assert_eq!(folder.read("out.arrow"), folder.read("again.arrow"));
    // Pandas itself wrote the next two files. ZSTD, by which pandas compresses on request, isn't supported.
    folder
        .reviver(&format!("batch line.rasm --lanes {}", case("pandas.feather")))
        .expect(0)
        .prints_part("24.875,49.75\n");
    folder
        .reviver(&format!("batch line.rasm --lanes {}", case("zstd.arrows")))
        .expect(3)
        .says("compressed by ZSTD, which isn't supported: write them with LZ4");
    // Files without lanes, and without batches.
    folder.file("none.arrow", file(&[lanes(0, 0)]));
    folder.reviver("batch line.rasm --lanes none.arrow").expect(0).prints("x,y\n");
    let mut writer = StreamWriter::try_new(Vec::new(), &lanes(0, 0).schema()).unwrap();
    writer.finish().unwrap();
    let none = writer.into_inner().unwrap();
    folder.with_input("batch line.rasm --lanes -", &none).expect(0).prints("x,y\n");
    folder.reviver("batch line.rasm --lanes none.arrow -o out.arrow").expect(0);
    assert_eq!(read_file(&folder, "out.arrow").len(), 0);
}

#[test]
fn results_are_printed_as_arrow_on_request() {
    let input = stream(&[mixed(0..5)]);
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let arguments = ["batch", "mixed.rasm", "--lanes", "-", "--output-format", "arrow"];
    folder.file("in.arrows", &input);
    let line = format!("{} {} < in.arrows > out.arrows", env!("CARGO_BIN_EXE_reviver"), arguments.join(" "));
    folder.shell(&line).expect(0).prints("").says("");
    let reader = StreamReader::try_new(std::io::Cursor::new(folder.read("out.arrows")), None).unwrap();
    let found: Vec<RecordBatch> = reader.map(|batch| batch.unwrap()).collect();
    assert_eq!(reals(&found[0], "y"), [5.0, 17.0, 29.0, 41.0, 53.0]);
    let csv = folder.with_input("batch mixed.rasm --lanes - --output-format csv", &input).expect(0);
    folder.reviver("batch mixed.rasm --lanes out.arrows --back").expect(0).prints_part("4.0,4,-4,40.0");
    assert!(csv.stdout.starts_with("x,A[0]"), "{csv:?}");
    for options in ["--json", "-o out.arrow", "-o out.csv"] {
        let arguments = format!("batch mixed.rasm --lanes - --output-format arrow {options}");
        folder.with_input(&arguments, &input).expect(2).says("applies to printed results only");
    }
    with_input("batch - --lanes - --output-format parquet", b"")
        .expect(2)
        .says("possible values: csv, arrow");
}

#[test]
fn numbers_of_arrow_fit_the_cells() {
    let folder = Folder::new();
    folder.file("line.rasm", LINE);
    let real = |x: ArrayRef| table(vec![("x", x), ("n", Arc::new(Int64Array::from(vec![1])))]);
    let int = |n: ArrayRef| table(vec![("x", Arc::new(Float64Array::from(vec![0.5]))), ("n", n)]);
    for (batch, numbers, row) in [
        (real(Arc::new(Float32Array::from(vec![0.1]))), "", "0.10000000149011612,1,0.20000000298023224"),
        (real(Arc::new(UInt8Array::from(vec![200]))), "", "200.0,1,400.0"),
        (real(Arc::new(Int64Array::from(vec![-(1 << 60)]))), "", "-1.152921504606847e18,1"),
        (real(Arc::new(Int64Array::from(vec![1 << 24]))), "--real f32", "16777216.0,1,33554432.0"),
        (real(Arc::new(BooleanArray::from(vec![true]))), "", "1.0,1,2.0"),
        (int(Arc::new(BooleanArray::from(vec![true]))), "", "0.5,1,1.0"),
        (real(Arc::new(Float16Array::from(vec![Half::from_f32(-0.125)]))), "", "-0.125,1,-0.25"),
        (int(Arc::new(Float16Array::from(vec![Half::from_f32(2048.0)]))), "", "0.5,2048,1.0"),
        // A float without a fraction is accepted as an integer.
        (int(Arc::new(Float64Array::from(vec![-128.0]))), "--word 8", "0.5,-128,1.0"),
        (int(Arc::new(Float32Array::from(vec![-0.0]))), "", "0.5,0,1.0"),
        (int(Arc::new(Int64Array::from(vec![-128]))), "--word 8", "0.5,-128,1.0"),
        // Unsigned columns are bit patterns.
        (int(Arc::new(UInt8Array::from(vec![255]))), "--word 8", "0.5,-1,1.0"),
        (int(Arc::new(UInt8Array::from(vec![255]))), "", "0.5,255,1.0"),
        (int(Arc::new(UInt64Array::from(vec![u64::MAX]))), "", "0.5,-1,1.0"),
    ] {
        folder.file("in.arrow", file(&[batch]));
        let ran = folder.reviver(&format!("batch line.rasm --lanes in.arrow {numbers}")).expect(0);
        assert!(ran.stdout.lines().nth(1).unwrap().starts_with(row), "{ran:?} lacks {row}");
    }
    // The lists of booleans are in a slice of the table, so the bits don't start at a byte boundary.
    folder.file("pair.rasm", ".inout A[2]\n.out y\nadd y, A[0] + 2 * A[1]\n");
    let bits = [true, true, false, true, true, false, false, false, true, true];
    let pairs = table(vec![("A", lists(BooleanArray::from(bits.to_vec()), 2))]).slice(1, 4);
    folder.file("in.arrow", file(&[pairs]));
    let ran = folder.reviver("batch pair.rasm --lanes in.arrow").expect(0);
    let rows: Vec<&str> = ran.stdout.lines().skip(1).collect();
    assert_eq!(rows, ["0,1,2", "1,0,1", "0,0,0", "1,1,3"]);
    // Results have the types of the program's numbers.
    folder.file("in.arrow", file(&[int(Arc::new(Int64Array::from(vec![-7])))]));
    folder.reviver("batch line.rasm --lanes in.arrow --word 8 --real f32 -o out.arrow").expect(0);
    let found = &read_file(&folder, "out.arrow")[0];
    assert_eq!(found.column_by_name("y").unwrap().data_type(), &DataType::Float32);
    assert_eq!(found.column_by_name("n").unwrap().as_primitive::<Int8Type>().values()[..], [-7]);
    // A fixed-point number is written as a float, if a float equals the number.
    folder.reviver("batch line.rasm --lanes in.arrow --real fixed:32 -o out.arrow").expect(0);
    assert_eq!(reals(&read_file(&folder, "out.arrow")[0], "y"), [1.0]);
    folder.file("long.csv", "x,n\n1048576.25,1\n1.5,2\n");
    folder.reviver("batch line.rasm --lanes long.csv --real fixed:40 -o out.arrow").expect(0);
    folder.file("long.csv", "x,n\n4194303.9999999999,1\n");
    folder
        .reviver("batch line.rasm --lanes long.csv --real fixed:40 -o long.arrow")
        .expect(3)
        .says("which no f64 represents exactly")
        .says("write a `.csv` with `-o`");
    assert!(!folder.path("long.arrow").exists());
}

#[test]
fn lanes_that_fail_are_null() {
    let folder = Folder::new();
    folder.file("picky.rasm", ".inout n\n.inout A[2]: real\n.out y\nassert n != 3\nadd.mul y, n, n\n");
    let batch = table(vec![
        ("n", Arc::new(Int64Array::from(vec![1, 3, 4, 3]))),
        ("A", lists((0..8).map(f64::from).collect::<Float64Array>(), 2)),
    ]);
    folder.file("in.arrow", file(&[batch]));
    folder.reviver("batch picky.rasm --lanes in.arrow -o out.arrow").expect(4).says("lane 1, after 0 steps");
    assert!(!folder.path("out.arrow").exists());
    folder.reviver("batch picky.rasm --lanes in.arrow --keep-going -o out.arrow").expect(1).says("2 of 4");
    let found = &read_file(&folder, "out.arrow")[0];
    let status = found.column_by_name("status").unwrap().as_primitive::<UInt8Type>();
    assert_eq!(status.values()[..], [0, 4, 0, 4]);
    for name in ["n", "A", "y"] {
        let column = found.column_by_name(name).unwrap();
        let nulls: Vec<bool> = (0..4).map(|lane| column.is_null(lane)).collect();
        assert_eq!(nulls, [false, true, false, true], "{name}");
    }
    assert_eq!(found.column_by_name("y").unwrap().as_primitive::<Int64Type>().value(2), 16);
    // A table with nulls isn't accepted as input.
    let projected = found.project(&[0, 1, 2]).unwrap();
    folder.file("failed.arrow", file(&[projected.slice(0, 1), projected]));
    folder
        .reviver("batch picky.rasm --lanes failed.arrow --back")
        .expect(2)
        .says("`n` is null in lane 2: fill in");
    // Lanes that reach the step limit have another status than lanes that trap.
    folder.file("loop.rasm", ".inout n\n.out y\nfor i in 0..n\nadd y, i\nrof\n");
    let counts = table(vec![("n", Arc::new(Int64Array::from(vec![1, 1_000_000])))]);
    folder.file("counts.arrow", file(&[counts]));
    let arguments = "batch loop.rasm --lanes counts.arrow --max-steps 1000 --keep-going -o out.arrow";
    folder.reviver(arguments).expect(1);
    let found = &read_file(&folder, "out.arrow")[0];
    assert_eq!(found.column_by_name("status").unwrap().as_primitive::<UInt8Type>().values()[..], [0, 5]);
}

#[test]
fn columns_that_arrow_lacks_are_reported() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let two = mixed(0..2);
    let schema = two.schema();
    let other = |name: &str, array: ArrayRef| {
        let columns = schema.fields().iter().zip(two.columns()).map(|(field, column)| {
            let is_it = field.name() == name;
            (field.name().clone(), if is_it { array.clone() } else { column.clone() })
        });
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let more = |name: &str, array: ArrayRef| {
        let columns = schema.fields().iter().zip(two.columns());
        let columns = columns.map(|(field, column)| (field.name().clone(), column.clone()));
        RecordBatch::try_from_iter(columns.chain([(name.to_owned(), array)])).unwrap()
    };
    let ints = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let words: DictionaryArray<arrow_array::types::Int32Type> = ["a", "b"].into_iter().collect();
    let open = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1), Some(2)]), None]);
    for (batch, said) in [
        (other("x", Arc::new(Float64Array::from(vec![Some(1.0), None]))), "`x` is null in lane 1"),
        (
            other("x", Arc::new(Float64Array::from(vec![1.0, f64::NAN]))),
            "`x`: NaN, in lane 1, is not a number that fits",
        ),
        (other("x", Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]))), "leave such lanes out"),
        (other("x", Arc::new(StringArray::from(vec!["1", "2"]))), "the column `x` has the type Utf8"),
        (other("x", Arc::new(words)), "decode it"),
        (other("A", Arc::new(open)), "cast it to lists of a fixed size"),
        (
            other("A", lists(Int64Array::from(vec![Some(1), Some(2), Some(3), None]), 2)),
            "`A[1]` is null in lane 1",
        ),
        (other("A", lists(Int64Array::from(vec![1, 2, 3, 4, 5, 6]), 3)), "there is no cell `A[2]`"),
        (
            other("A", lists(Float64Array::from(vec![1.0, 2.0, 3.0, 4.5]), 2)),
            "`A[1]`: 4.5, in lane 1, is not",
        ),
        (other("x", ints(&[1, (1 << 53) + 1])), "`x`: 9007199254740993, in lane 1, is not"),
        (other("A", ints(&[1, 2])), "`A` has 2 cells"),
        (other("M", lists(lists(lists(Int64Array::from(vec![0; 12]), 1), 3), 2)), "lists in lists in lists"),
        (more("z", ints(&[1, 2])), "no cell `z`"),
        (more("y", ints(&[1, 2])), "`y` can't be given"),
        (more("A[0]", ints(&[1, 2])), "`A[0]` is given twice"),
        (more("x", ints(&[1, 2])), "`x` is given twice"),
        (two.project(&[0, 1]).unwrap(), "`M[0,0]`, `M[0,1]`"),
    ] {
        folder.file("in.arrow", file(&[batch]));
        let ran =
            folder.reviver("batch mixed.rasm --lanes in.arrow -o out.arrow --json").expect(2).says(said);
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains("in.arrow"), "{ran:?}");
        assert_eq!(folder.names(), ["in.arrow", "mixed.rasm"], "{said:?} has left something behind");
    }
    folder.file(
        "in.arrow",
        file(&[other("A", lists(ints(&[1, 2, 3, 300]).as_primitive::<Int64Type>().clone(), 2))]),
    );
    folder
        .reviver("batch mixed.rasm --lanes in.arrow --word 8")
        .expect(2)
        .says("`A[1]`: 300, in lane 1, is not an integer of 8 bits");
}

#[test]
fn truncated_arrow_is_reported() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let batches = [mixed(0..3), mixed(3..7)];
    let (whole, stream) = (file(&batches), stream(&batches));
    for end in (0..whole.len()).step_by(29) {
        folder.file("cut.arrow", &whole[..end]);
        let ran = folder.reviver("batch mixed.rasm --lanes cut.arrow -o out.arrow").expect(3);
        ran.says("can't read cut.arrow").says("check that the file is whole");
        assert_eq!(folder.names(), ["cut.arrow", "mixed.rasm"], "{end}");
    }
    let marks: Vec<usize> = (0..stream.len()).filter(|&at| stream[at..].starts_with(&[0xff; 4])).collect();
    for end in (0..stream.len()).step_by(29) {
        if !marks.contains(&end) || end == 0 {
            folder.with_input("batch mixed.rasm --lanes -", &stream[..end]).expect(if end == 0 {
                2
            } else {
                3
            });
        }
    }
    // Between two messages, truncation can't be detected.
    let end = *marks.last().unwrap();
    let ran = folder.with_input("batch mixed.rasm --lanes -", &stream[..end]).expect(0);
    ran.says("if it was cut short, lanes are missing");
    folder.file("two.arrows", [&stream[..], &stream].concat());
    folder.reviver("batch mixed.rasm --lanes two.arrows").expect(3).says("something follows its end");
    // The footer was copied from another file.
    let one = file(&batches[..1]);
    let contents = |file: &[u8]| {
        let [.., a, b, c, d, _, _, _, _, _, _] = file else { panic!() };
        file.len() - 10 - u32::from_le_bytes([*a, *b, *c, *d]) as usize
    };
    let recomputed = [&whole[..contents(&whole)], &one[contents(&one)..]].concat();
    folder
        .with_input("batch mixed.rasm --lanes -", &recomputed)
        .expect(3)
        .says("its table of contents lists 1");
    // Polars writes files like this: the schema is only in the footer.
    let mut late = whole.clone();
    let first = late.iter().position(|byte| *byte == 0xff).unwrap();
    late[first..first + 8].fill(7);
    folder.file("late.arrow", &late);
    let csv = folder.reviver("batch mixed.rasm --lanes late.arrow").expect(0).stdout;
    folder.with_input("batch mixed.rasm --lanes -", &stream).expect(0).prints(&csv);
    folder.with_input("batch mixed.rasm --lanes -", &late).expect(3).says("named only at its end");
    for (bytes, said) in [
        (&b"x,A[0]\n1,2\n"[..], "doesn't begin like an Arrow file or stream"),
        (b"", "it is empty"),
        (b"ARROW", "is cut short"),
        (b"ARROW1\0\0something else", "is cut short"),
    ] {
        folder.file("bad.arrow", bytes);
        folder.reviver("batch mixed.rasm --lanes bad.arrow").expect(3).says(said);
    }
    folder.reviver("batch mixed.rasm --lanes none.arrow").expect(3).says("there is no file none.arrow");
}

#[test]
fn arrow_with_false_lengths_is_rejected() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let lz4 = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap();
    let packed = stream_with(lz4, &[mixed(0..400)]);
    // The uncompressed length, 400 numbers of 8 bytes, precedes the compressed data.
    let length = packed.windows(8).position(|bytes| bytes == 3200u64.to_le_bytes()).unwrap();
    for claimed in [1u64 << 62, 1 << 40, u64::MAX - 1, 3208, 3192, 0] {
        let mut bad = packed.clone();
        bad[length..length + 8].copy_from_slice(&claimed.to_le_bytes());
        let ran = folder.with_input("batch mixed.rasm --lanes -", &bad).expect(3);
        ran.says("can't read");
    }
    // Bits at random positions are flipped.
    for whole in [file(&[mixed(0..3)]), packed[..1200].to_vec(), packed] {
        for at in (0..whole.len().min(2400)).step_by(31) {
            for change in [0x01, 0xff] {
                let mut bad = whole.clone();
                bad[at] ^= change;
                is_orderly(&folder.with_input("batch mixed.rasm --lanes -", &bad));
            }
        }
    }
}
