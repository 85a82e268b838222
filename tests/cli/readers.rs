//! Table and array readers, compared with NumPy and pandas. Accepted files give the numbers that these libraries
//! read; incomplete or nonnumeric files are refused. `tests/cases/tables/make.py` created the recorded files, and
//! creates others if Python has the libraries.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Folder, Ran, command, ran, root};

/// Program that prints the lane inputs; a result is required, too.
const ECHO: &str = ".inout M[2, 3]: real\n.inout k[2]\n.out w: real\nadd w, M[0, 0]\n";
/// Number of cells of `M` and `k`.
const CELLS: usize = 8;

fn lanes(program: &str, file: &Path) -> Ran {
    ran(command().args(["batch", program, "--device", "cpu", "--engine", "interp", "--lanes"]).arg(file), b"")
}

/// Returns the rows that a batch printed.
fn rows(ran: &Ran) -> Vec<Vec<f64>> {
    let number = |text: &str| text.parse::<f64>().unwrap();
    let row = |line: &str| line.split(',').take(CELLS).map(number).collect();
    ran.stdout.lines().skip(1).map(row).collect()
}

/// Returns the rows of a file in `expected.json`.
fn expected(held: &Value) -> Vec<Vec<f64>> {
    let numbers = |lane: &Value| -> Vec<f64> {
        let rows = lane.as_array().unwrap().iter();
        rows.flat_map(|row| row.as_array().cloned().unwrap_or_else(|| vec![row.clone()]))
            .map(|number| number.to_string().parse().unwrap())
            .collect()
    };
    let lanes = |name: &str| held[name].as_array().unwrap().clone();
    let both = lanes("M").into_iter().zip(lanes("k"));
    both.map(|(m, k)| [numbers(&m), numbers(&k)].concat()).collect()
}

fn bits(rows: &[Vec<f64>]) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.iter().map(|number| number.to_bits()).collect()).collect()
}

/// Compares every file of a folder with its expected contents, and returns their number.
fn compare(files: &Path) -> usize {
    let folder = Folder::new();
    let program = folder.file("echo.rasm", ECHO);
    let held: Value =
        serde_json::from_str(&std::fs::read_to_string(files.join("expected.json")).unwrap()).unwrap();
    for (name, held) in held.as_object().unwrap() {
        let ran = lanes(&program, &files.join(name));
        if held.is_null() {
            assert!(matches!(ran.code, 2 | 3) && ran.stderr.contains(name.as_str()), "{name}: {ran:#?}");
            assert!(rows(&ran).is_empty(), "{name}: {ran:#?}");
        } else {
            assert_eq!(ran.code, 0, "{name}: {ran:#?}");
            assert_eq!(bits(&rows(&ran)), bits(&expected(held)), "{name}");
        }
    }
    held.as_object().unwrap().len()
}

#[test]
fn recorded_files_contain_what_numpy_and_pandas_read() {
    assert!(compare(&root().join("tests/cases/tables")) > 70);
}

#[test]
fn new_files_contain_what_numpy_and_pandas_read() {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    if !python(&["-c", "import numpy, pandas"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no `python3` with NumPy and pandas");
        return;
    }
    for seed in ["2", "3", "4"] {
        let folder = Folder::new();
        let make = root().join("tests/cases/tables/make.py").display().to_string();
        let made = python(&[&make, &folder.at(""), seed]).unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        assert!(compare(&folder.path("")) > 70);
    }
}

/// A damaged archive is refused or has the same numbers, because archives have checksums and redundant sizes.
#[test]
fn damaged_archives_are_refused_or_have_the_same_content() {
    let folder = Folder::new();
    let program = folder.file("echo.rasm", ECHO);
    for name in ["plain.npz", "compressed.npz", "streamed.npz", "fortran_compressed.npz"] {
        let whole = std::fs::read(root().join("tests/cases/tables").join(name)).unwrap();
        folder.file(name, &whole);
        let held = rows(&lanes(&program, &folder.path(name)).expect(0));
        let step =
            whole.len() / if std::env::var_os("REVIVER_CAMPAIGN").is_some() { whole.len() } else { 40 };
        for at in (0..whole.len()).step_by(step.max(1)) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            for (what, content) in [("a flipped bit", &damaged[..]), ("cut", &whole[..at])] {
                folder.file("damaged.npz", content);
                let ran = lanes(&program, &folder.path("damaged.npz"));
                assert!(
                    !ran.stderr.contains("panicked") && matches!(ran.code, 0 | 2 | 3),
                    "{name}, {what} at {at}: {ran:#?}"
                );
                if ran.code == 0 {
                    assert_eq!(bits(&rows(&ran)), bits(&held), "{name}, {what} at {at}");
                }
            }
        }
    }
    // A plain array has no checksum; only its length can be checked.
    for name in ["c.npy", "fortran.npy", "plain.csv", "quoted.csv"] {
        let whole = std::fs::read(root().join("tests/cases/tables").join(name)).unwrap();
        let file = format!("damaged{}", &name[name.find('.').unwrap()..]);
        for at in (0..whole.len()).step_by(whole.len() / 40) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            folder.file(&file, &damaged);
            let ran = lanes(&program, &folder.path(&file));
            assert!(
                !ran.stderr.contains("panicked") && matches!(ran.code, 0 | 2 | 3),
                "{name} at {at}: {ran:#?}"
            );
            if name.ends_with(".npy") {
                folder.file(&file, &whole[..at]);
                lanes(&program, &folder.path(&file)).expect(3);
            }
        }
    }
}

/// An archive that declares false sizes doesn't cause large allocations.
#[cfg(target_os = "linux")]
#[test]
fn sizes_are_checked_before_decompression() {
    let folder = Folder::new();
    folder.file("echo.rasm", ECHO);
    let head = |shape: &str| {
        let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        while (head.len() + 11) % 64 != 0 {
            head.push(' ');
        }
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((head.len() as u16 + 1).to_le_bytes());
        bytes.extend(head.bytes());
        bytes.push(b'\n');
        bytes
    };
    let binary = env!("CARGO_BIN_EXE_reviver");
    for (shape, words) in [
        ("(1000000000, 8)", "it has 1 of its 8000000000 numbers: it is cut short"),
        ("(1000000000000, 100000000)", "has more elements than memory holds"),
        ("(0, 4000000000)", "4000000000 numbers in each of 0 lanes"),
        ("(4000000000, 0)", "0 numbers in each of 4000000000 lanes"),
    ] {
        let numbers = if shape.contains("(1000000000,") { 8 } else { 0 };
        folder.file("claims.npy", [head(shape), vec![0; numbers]].concat());
        let ran = folder
            .shell(&format!("ulimit -v 3000000; {binary} batch echo.rasm --device cpu --lanes claims.npy"));
        assert!(matches!(ran.code, 2 | 3), "{shape}: {ran:#?}");
        ran.says(words);
    }
    // A special file of the system has no length.
    folder
        .shell(&format!("{binary} batch echo.rasm --lanes - < /dev/zero"))
        .expect(2)
        .says("the maximum length");
}

/// Every option reads the same table.
#[test]
fn every_option_reads_the_same_table() {
    let folder = Folder::new();
    folder.file("echo.rasm", ECHO);
    let run = |file: &str| folder.reviver(&format!("run echo.rasm --set k=1,2 --set M=@{file}"));
    let plain = "M = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n";
    for content in [
        "1,2,3\n4,5,6\n",
        "1,2,3,4,5,6\n",
        "1\n2\n3\n4\n5\n6\n",
        "sep=;\n1;2;3\n4;5;6\n",
        "# by hand\n\n1 2 3\n4 5 6\n\n\n",
    ] {
        folder.file("values", content);
        run("values").expect(0).prints_part(plain);
    }
    for (content, words) in [
        ("1,2,3\n#N/A,5,6\n", "values:2:1: `#N/A` is not a number"),
        ("1,2,3\n# a comment\n4,5,6\n", "values:2"),
        ("#DIV/0!,2,3\n4,5,6\n", "values:1:1: `#DIV/0!`"),
        ("nan,nan,nan\n1,2,3\n4,5,6\n", "values:1:1: `nan`"),
        ("1;2;3,5\n4;5;6\n", "decimal comma"),
        ("1,2,3\n4,\"5,6\n", "values:2:3: this quote isn't closed on its line"),
        ("1,2,3\n4,\"5\"x,6\n", "a delimiter is missing after a closing quote"),
        ("1,2,3\n4,\u{1b}[31mred,6\n", "`\\u{1b}[31mred`"),
    ] {
        folder.file("values", content);
        run("values").expect(2).says(words).prints("");
    }
    folder.file("values", format!("1,2,3\n4,5,{}\n", "9x".repeat(1000)));
    let ran = run("values").expect(2).says("…`");
    assert!(ran.stderr.len() < 300, "{ran:#?}");
    folder.file("values", format!("1,2,3\n4,5,{}\n", "9".repeat(5000)));
    run("values").expect(2).says("more than 4,096 bytes");
    // NumPy arrays of any order, byte order and type.
    let tables = root().join("tests/cases/tables");
    let arrays = ["c.npy", "fortran.npy", "big.npy"].map(|name| {
        std::fs::copy(tables.join(name), folder.path(name)).unwrap();
        folder.file("wide.rasm", ".inout P[2, 8]: real\n.out w: real\nadd w, P[1, 7]\n");
        folder.reviver(&format!("run wide.rasm --set P=@{name}")).expect(0).stdout
    });
    assert!(
        arrays[0] == arrays[1] && arrays[0] == arrays[2] && arrays[0].contains("w = -48.0"),
        "{arrays:?}"
    );
    folder
        .reviver("run echo.rasm --set k=1,2 --set M=@c.npy")
        .expect(2)
        .says("c.npy: 2 lines of 8 numbers, and `M[2, 3]`");
    folder
        .reviver("run echo.rasm --set M=0 --set k=@c.npy")
        .expect(2)
        .says("is not an integer, and the cell is an integer");
}
