//! `reviver batch`: files of lanes, errors in them, and outcomes of lanes.

use crate::support::{Folder, reviver, with_input};

/// Program that adds n² to y, and traps if n is 3.
const PICKY: &str = ".inout n\n.out y\nassert n != 3\nadd.mul y, n, n\n";
const MIXED: &str =
    ".inout x: real\n.inout A[2]\n.out y: real, B[2]\nadd y, 2 * x\nadd B[0], A[1]\nadd B[1], A[0]\n";

#[test]
fn lanes_are_read_and_written_as_lines() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    folder.file("in.csv", "# a comment\n\nA[1], x, A[0]\n1,0.5,-7\n\n2,1e2,0x10\n\n");
    let out = "x,A[0],A[1],y,B[0],B[1]\n0.5,-7,1,1.0,1,-7\n100.0,16,2,200.0,2,16\n";
    folder.reviver("batch mixed.rasm --lanes in.csv").expect(0).prints(out);
    let semicolons = "A[1];x;A[0]\n1;0.5;-7\n2;1e2;16\n";
    folder.with_input("batch mixed.rasm --lanes -", semicolons.as_bytes()).expect(0).prints(out);
    folder.with_input("batch mixed.rasm --lanes - --threads 3", b"x\tA[0]\tA[1]\r\n0.5\t-7\t1\r\n").expect(0);
    folder.reviver("batch mixed.rasm --lanes in.csv -o out.csv").expect(0).prints("2 lanes, 0 failed\n");
    assert_eq!(folder.read("out.csv"), out.as_bytes());
    // Backward, the results are the inputs.
    let back = folder.reviver("batch mixed.rasm --lanes out.csv --back").expect(0);
    assert_eq!(back.stdout, "x,A[0],A[1]\n0.5,-7,1\n100.0,16,2\n");
    folder.reviver("batch mixed.rasm --lanes in.csv --check").expect(0).prints(out);
    folder.reviver("batch mixed.rasm --lanes out.csv --back --check").expect(0).prints(&back.stdout);
    // An earlier table is replaced; other files aren't.
    folder.reviver("batch mixed.rasm --lanes in.csv -o out.csv").expect(0);
    folder.file("notes.csv", "1\n");
    folder
        .reviver("batch mixed.rasm --lanes in.csv -o notes.csv")
        .expect(2)
        .says("is not a table with the columns of this batch");
    folder.reviver("batch mixed.rasm --lanes in.csv -o notes.csv --force").expect(0);
}

#[test]
fn numpy_arrays_equal_the_csv_lanes() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    folder.file("in.csv", "x,A[0],A[1]\n0.5,-7,1\n100,16,2\n");
    folder.reviver("batch mixed.rasm --lanes in.csv -o out.npz").expect(0);
    let names = String::from_utf8_lossy(&folder.read("out.npz")).into_owned();
    for array in ["x.npy", "A.npy", "y.npy", "B.npy", "(2, 2, )"] {
        assert!(names.contains(array), "{array}");
    }
    // An output file is accepted as the lanes of a backward run, which restores every cell of the inputs.
    let back = folder.reviver("batch mixed.rasm --lanes out.npz --back").expect(0).stdout;
    assert_eq!(back, "x,A[0],A[1]\n0.5,-7,1\n100.0,16,2\n");
    folder.reviver("batch mixed.rasm --lanes out.npz --back -o again.npz").expect(0);
    folder.reviver("batch mixed.rasm --lanes again.npz").expect(0);
    // A truncated archive, a file that isn't an archive, and an archive with a member that isn't an array.
    let whole = folder.read("again.npz");
    for cut in [whole.len() - 30, whole.len() / 2, 10] {
        folder.file("cut.npz", &whole[..cut]);
        folder.reviver("batch mixed.rasm --lanes cut.npz").expect(3).says("can't read cut.npz");
    }
    // A single array has no names; its columns are the inputs in order.
    let array = |shape: &str, numbers: &[f64]| {
        let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        while (head.len() + 11) % 64 != 0 {
            head.push(' ');
        }
        head.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((head.len() as u16).to_le_bytes());
        bytes.extend(head.bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    };
    folder.file("line.rasm", ".inout x: real, t: real\n.out y: real\nadd y, x * t\n");
    folder.file("two.npy", array("(2, 2)", &[1.0, 2.0, 3.0, 4.0]));
    folder.reviver("batch line.rasm --lanes two.npy").expect(0).prints("x,t,y\n1.0,2.0,2.0\n3.0,4.0,12.0\n");
    folder.file("one.npy", array("(2,)", &[1.0, 2.0]));
    folder.reviver("batch line.rasm --lanes one.npy").expect(2).says("2 cells: `x`, `t`");
    folder.reviver("batch line.rasm --lanes one.npy --shared t=10").expect(0).prints_part("2.0,10.0,20.0");
    for (bad, said) in [
        (array("(2, 2)", &[1.0, 2.0, 3.0]), "it has 3 of its 4 numbers"),
        (array("(9999999999, 9999999999)", &[]), "has more elements than memory holds"),
        (array("(2, 2)", &[1.0, f64::NAN, 3.0, 4.0]), "`t` in lane 0"),
        (b"\x93NUMPY".to_vec(), "cut short"),
        (b"something else".to_vec(), "like a NumPy array"),
    ] {
        folder.file("bad.npy", bad);
        let ran = folder.reviver("batch line.rasm --lanes bad.npy");
        assert!(ran.code == 2 || ran.code == 3, "{ran:?}");
        ran.says(said);
    }
    folder.reviver("batch line.rasm --lanes two.npy -o out.npy").expect(2).says("write a `.npz`");
}

#[test]
fn a_wrong_file_is_reported_with_its_place() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    for (content, said) in [
        ("", "the file has no lines"),
        ("1,2,3\n", "is a number, and the first line must name the columns"),
        ("x,A[0]\n1,2\n", "no column: `A[1]`"),
        ("x,A[0],A[1],z\n1,2,3,4\n", "no cell `z`"),
        ("x,A[0],A[1],y\n1,2,3,4\n", "`y` can't be given"),
        ("x,A[0],A[1],x\n1,2,3,4\n", "in.csv:1:13: the column `x` occurs twice"),
        ("x,A[0],A[2]\n1,2,3\n", "there is no cell `A[2]`"),
        (
            "x,A[0],A[1]\n1,2,3\n4,5\n",
            "in.csv:3:4: this line has 2 fields, and the first line names 3 columns",
        ),
        ("x,A[0],A[1]\n1,2,3,4\n", "4 fields"),
        ("x,A[0],A[1]\n1,2,3\nNaN,2,3\n", "in.csv:3:1: `x`: `NaN` is not a number"),
        ("x,A[0],A[1]\n1,2,3\n-inf,2,3\n", "cells hold finite numbers only"),
        ("x,A[0],A[1]\n1,2,3\n1e999,2,3\n", "in.csv:3:1"),
        (
            "x,A[0],A[1]\n1,2,99999999999999999999\n",
            "in.csv:2:5: `A[1]`: `99999999999999999999` is not an integer of 64 bits",
        ),
        ("x,A[0],A[1]\n1,2.5,3\n", "in.csv:2:3: `A[0]`: `2.5` is not an integer"),
        ("x,A[0],A[1]\n1,,3\n", "in.csv:2:3"),
        ("x,A[0],A[1]\n1,two,3\n", "`two`"),
    ] {
        folder.file("in.csv", content);
        let ran = folder.reviver("batch mixed.rasm --lanes in.csv -o out.csv --json").expect(2).says(said);
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains("in.csv"), "{ran:?}");
        assert_eq!(folder.names(), ["in.csv", "mixed.rasm"], "{content:?} has left something behind");
    }
    let object = folder.reviver("batch mixed.rasm --lanes in.csv --json").expect(2).json();
    assert_eq!((&object["place"]["line"], &object["place"]["column"]), (&2.into(), &3.into()));
    folder.file("in.csv", b"x,A[0],A[1]\n1,\xff,3\n");
    folder.reviver("batch mixed.rasm --lanes in.csv").expect(2).says("in.csv:2:3: this is not UTF-8 text");
    // A faulty lane is an error: no lane is skipped.
    for (content, said) in [
        ("x,A[0],A[1]\n1,2,3\n#N/A,5,6\n7,8,9\n", "in.csv:3:1: `x`: `#N/A` is not a number"),
        ("x,A[0],A[1]\n1,2,3\n#DIV/0!,5,6\n", "a spreadsheet writes this if it has no number"),
        ("x,A[0],A[1]\n1,2,3\n# a comment\n", "in.csv:3"),
        ("x;A[0];A[1]\n1,5;2;3\n", "write a decimal point"),
        ("x,A[0],A[1]\n1,\"2,3\n4,5,6\n", "in.csv:2:3: this quote isn't closed on its line"),
        ("#N/A,A[0],A[1]\n1,2,3\n", "in.csv:1:1: `#N/A` is a number"),
        ("PK\x03\x04", "this is an archive"),
    ] {
        folder.file("in.csv", content);
        folder.reviver("batch mixed.rasm --lanes in.csv").expect(2).says(said);
    }
    folder.file("in.csv", "\u{feff}\"sep=;\"\n\"x\" ; \"A[0]\"; A[1] \r\n 1 ;2;\"3\" ;\r\n\r\n\r\n");
    folder.reviver("batch mixed.rasm --lanes in.csv").expect(0).prints_part("\n1.0,2,3,2.0,3,2\n");
    // In a table of one column, a blank line may be a missing number.
    folder.file("one.rasm", ".inout n\n.out y\nadd y, n\n");
    folder.file("one.csv", "n\n1\n\n2\n");
    folder.reviver("batch one.rasm --lanes one.csv").expect(2).says("one.csv:4: the line before is blank");
    folder.file("one.csv", "\nn\n1\n2\n\n\n");
    folder.reviver("batch one.rasm --lanes one.csv").expect(0).prints("n,y\n1,1\n2,2\n");
    folder.file("in.csv", format!("x,A[0],A[1]\n{},2,3\n", "1\u{1b}".repeat(2000)));
    let ran = folder.reviver("batch mixed.rasm --lanes in.csv").expect(2).says("\\u{1b}1");
    assert!(ran.stderr.len() < 600 && !ran.stderr.contains('\u{1b}'), "{ran:?}");
    // The last number of a truncated file may be wrong, which only a missing line end reveals.
    folder.file("in.csv", "x,A[0],A[1]\n1,2,3");
    folder
        .reviver("batch mixed.rasm --lanes in.csv")
        .expect(0)
        .says("the last line of in.csv has no line end");
    folder.reviver("batch mixed.rasm --lanes none.csv").expect(3).says("there is no file none.csv");
    folder.reviver("batch mixed.rasm --lanes in.txt").expect(2).says("no lane format has this extension");
}

/// Builds with the feature `arrow` are tested in `tests/cli/arrow.rs`.
#[cfg(not(feature = "arrow"))]
#[test]
fn builds_without_arrow_name_the_feature() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let cure = "cargo install --path . --features arrow";
    for (name, beginning) in [("in.arrow", &b"ARROW1\0\0"[..]), ("in.arrows", b"\xff\xff\xff\xff\x10\0\0\0")]
    {
        folder.file(name, beginning);
        folder
            .reviver(&format!("batch mixed.rasm --lanes {name}"))
            .expect(2)
            .says("built without Arrow")
            .says(cure);
        folder.with_input("batch mixed.rasm --lanes -", beginning).expect(2).says(cure);
    }
    folder.file("in.csv", "x,A[0],A[1]\n1,2,3\n");
    for out in ["-o out.arrow", "-o out.arrows", "--output-format arrow"] {
        folder.reviver(&format!("batch mixed.rasm --lanes in.csv {out}")).expect(2).says(cure);
    }
    assert!(!folder.path("out.arrow").exists());
}

#[test]
fn inputs_are_kept_and_a_full_disk_is_reported() {
    let folder = Folder::new();
    folder.file("mixed.rasm", MIXED);
    let content = "x,A[0],A[1]\n1,2,3\n";
    folder.file("in.csv", content);
    folder
        .reviver("batch mixed.rasm --lanes in.csv -o in.csv --force")
        .expect(2)
        .says("would be overwritten");
    folder
        .shell(&format!(
            "{} batch mixed.rasm --lanes - -o in.csv --force < in.csv",
            env!("CARGO_BIN_EXE_reviver")
        ))
        .expect(2)
        .says("would be overwritten");
    assert_eq!(folder.read("in.csv"), content.as_bytes());
    if cfg!(target_os = "linux") {
        folder
            .reviver("batch mixed.rasm --lanes in.csv -o /dev/full --force")
            .expect(2)
            .says("no lane format has this extension");
        let full = format!("{} batch mixed.rasm --lanes in.csv > /dev/full", env!("CARGO_BIN_EXE_reviver"));
        folder.shell(&full).expect(3).says("can't write to standard output: the disk is full");
        std::os::unix::fs::symlink("/dev/full", folder.path("full.csv")).unwrap();
        folder
            .reviver("batch mixed.rasm --lanes in.csv -o full.csv --force")
            .expect(3)
            .says("the disk is full");
    }
    // Lanes that trap leave no partial file.
    folder.file("picky.rasm", PICKY);
    folder.file("three.csv", "n\n1\n3\n");
    folder.reviver("batch picky.rasm --lanes three.csv -o out.csv").expect(4);
    folder.reviver("batch picky.rasm --lanes three.csv -o out.npz").expect(4);
    assert!(!folder.path("out.csv").exists() && !folder.path("out.npz").exists());
}

#[test]
fn a_lane_that_traps_is_reported_with_its_place() {
    let folder = Folder::new();
    folder.file("picky.rasm", PICKY);
    folder.file("in.csv", "n\n1\n2\n3\n4\n3\n");
    let ran = folder.reviver("batch picky.rasm --lanes in.csv --json").expect(4);
    let ran = ran.says(" of lane 2 (in.csv:4), after 0 steps: ").says("picky.rasm:3").says("--keep-going");
    let object = ran.json();
    assert_eq!(
        (&object["lane"], &object["place"]["line"], &object["trap"]["line"]),
        (&2.into(), &4.into(), &3.into())
    );
    let ran = folder.reviver("batch picky.rasm --lanes in.csv --keep-going").expect(1);
    let rows: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((rows[0], rows[1], rows[4]), ("n,y,status", "1,1,ok", "4,16,ok"));
    assert!(rows[3].starts_with(",,") && rows[3].contains("picky.rasm:3"), "{ran:?}");
    ran.says("2 of 5 lanes failed");
    let object = folder.reviver("batch picky.rasm --lanes in.csv --keep-going --json").expect(1).json();
    assert_eq!((&object["lanes"], &object["failed"]), (&5.into(), &2.into()));
    assert_eq!(object["results"]["y"], serde_json::json!([1, 4, null, 16, null]));
    assert_eq!(object["results"]["status"], serde_json::json!([0, 0, 4, 0, 4]));
    assert_eq!((&object["failures"][1]["lane"], &object["failures"][1]["kind"]), (&4.into(), &"trap".into()));
    folder.file("loop.rasm", ".inout n\n.out y\nfor i in 0..n\nadd y, i\nrof\n");
    folder.file("long.csv", "n\n1\n1000000\n");
    folder.reviver("batch loop.rasm --lanes long.csv").expect(0).prints_part("1000000,499999500000\n");
    folder.reviver("batch loop.rasm --lanes long.csv --max-steps 1000").expect(5).says("lane 1 (long.csv:3)");
}

#[test]
fn a_batch_may_have_no_lanes() {
    let folder = Folder::new();
    folder.file("picky.rasm", PICKY);
    folder.with_input("batch picky.rasm --lanes -", b"n\n").expect(0).prints("n,y\n");
    let object = folder.with_input("batch picky.rasm --lanes - --json", b"n\n").expect(0).json();
    assert_eq!((&object["lanes"], &object["results"]["y"]), (&0.into(), &serde_json::json!([])));
    folder.file("line.rasm", ".inout x: real\n.out y: real\nadd y, x\n");
    folder
        .with_input("batch line.rasm --lanes - --grad y", b"x\n")
        .expect(0)
        .prints("y,x'\n")
        .says("sum of y = 0.0");
}

#[test]
fn shared_inputs_of_lanes_have_one_value() {
    let folder = Folder::new();
    folder.file(
        "line.rasm",
        ".inout w[2]: real shared\n.inout x: real\n.out y: real\nadd y, w[0] * x\nadd y, w[1]\n",
    );
    folder.file("in.csv", "x\n1\n2\n4\n");
    folder
        .reviver("batch line.rasm --lanes in.csv")
        .expect(2)
        .says("set `w` for all lanes with `--shared w=…`");
    let ran = folder.reviver("batch line.rasm --lanes in.csv --shared w=3,0.5 --grad y").expect(0);
    assert_eq!(ran.stdout, "y,x'\n3.5,3.0\n6.5,3.0\n12.5,3.0\n");
    ran.says("sum of w'[0] = 7.0\nsum of w'[1] = 3.0");
    let object =
        folder.reviver("batch line.rasm --lanes in.csv --shared w=3,0.5 --grad y --json").expect(0).json();
    assert_eq!(object["sums"], serde_json::json!({"y": 22.5, "w'[0]": 7.0, "w'[1]": 3.0}));
    folder.file("own.csv", "x,w[0],w[1]\n1,2,3\n");
    folder.reviver("batch line.rasm --lanes own.csv").expect(2).says("declared to be `shared`");
    // An input that isn't declared `shared` can be shared by all lanes, too. It then has one derivative, the sum over
    // all lanes.
    folder.file("plain.rasm", ".inout w: real\n.inout x: real\n.out y: real\nadd y, w * x\n");
    folder.reviver("batch plain.rasm --lanes in.csv --shared w=3 --grad y").expect(0).says("sum of w' = 7.0");
    folder.reviver("batch plain.rasm --lanes in.csv --shared w=3 --shared w=4").expect(2).says("set twice");
    folder
        .reviver("batch plain.rasm --lanes in.csv --shared v=3")
        .expect(2)
        .says("--shared: the program has no cell `v`");
    let ran = folder.reviver("batch plain.rasm --lanes in.csv --shared w=3 --jacobian y --wrt w").expect(0);
    assert_eq!(ran.stdout, "y,y/w\n3.0,1.0\n6.0,2.0\n12.0,4.0\n");
}

#[test]
fn the_words_of_a_declaration_are_kept() {
    let folder = Folder::new();
    let text = ".inout w: real = 1 shared default 2\n.in n shared\n";
    let file = folder.file("words.rasm", format!("{text}\n        add   w, 1\n        sub   n, n\n"));
    let flat = reviver(&format!("disasm {file}"));
    // `sub n, n` names its target as a source, so the program doesn't assemble.
    flat.expect(3);
    let file = folder.file("words.rasm", format!("{text}\n        add   w, 1\n"));
    let flat = reviver(&format!("disasm {file}")).expect(0).stdout;
    assert!(flat.contains("w: real = 1.0 shared default 2.0") && flat.contains("n shared"), "{flat}");
    let formatted = reviver(&format!("fmt {file}")).expect(0).stdout;
    assert!(formatted.contains("w: real = 1 shared default 2"), "{formatted}");
    let inverse = reviver(&format!("invert {file}")).expect(0).stdout;
    assert!(!inverse.contains("shared"), "{inverse}");
    for (wrong, said) in [
        (".out y shared\n", "`y` is not an input, so it can't be `shared`"),
        (".in trail[] shared\n", "is a stack and can't be `shared`"),
        (".var y shared\n", "`y` is not an input, so it can't be `shared`"),
    ] {
        let file = folder.file("wrong.rasm", wrong);
        reviver(&format!("check {file}")).expect(3).says(said);
    }
}

#[test]
fn lanes_have_second_derivatives_and_products() {
    let folder = Folder::new();
    folder.file("p.rasm", ".in x: real, z: real\n.out y: real, w: real\nadd y, x*x*z\nadd w, x*z\n");
    folder.file("lanes.csv", "x,z\n1,2\n3,-1\n");
    let tasks = [
        (
            "--hessian y",
            "y,x',z',x'/x,x'/z,z'/x,z'/z\n2.0,4.0,1.0,4.0,2.0,2.0,0.0\n-9.0,-6.0,9.0,-2.0,6.0,6.0,0.0\n",
        ),
        (
            "--hessian y --wrt z,x",
            "y,z',x',z'/z,z'/x,x'/z,x'/x\n2.0,1.0,4.0,0.0,2.0,2.0,4.0\n-9.0,9.0,-6.0,0.0,6.0,6.0,-2.0\n",
        ),
        (
            "--hessian y --times z=10,x=1",
            "y,z',x',z'/times,x'/times\n2.0,1.0,4.0,2.0,24.0\n-9.0,9.0,-6.0,6.0,58.0\n",
        ),
        ("--of y,w --times x=1,z=10", "y,w,y/times,w/times\n2.0,2.0,14.0,12.0\n-9.0,-3.0,84.0,29.0\n"),
        ("--of w --times x=0.5", "w,w/times\n2.0,1.0\n-3.0,-0.5\n"),
    ];
    for (task, wanted) in tasks {
        for engine in ["interp", "jit", "auto --threads 1"] {
            let lanes = format!("batch p.rasm --lanes lanes.csv --device cpu --engine {engine} {task}");
            folder.reviver(&lanes).expect(0).prints(wanted);
            let object = folder.reviver(&format!("{lanes} --verify --json")).expect(0).json();
            assert_eq!(object["verify"]["agrees"], serde_json::json!(true), "{task}: {object}");
        }
    }
    let lanes = "batch p.rasm --lanes lanes.csv";
    folder.reviver(&format!("{lanes} --times x=1")).expect(2).says("add `--of OUT` or `--hessian LOSS`");
    folder.reviver(&format!("{lanes} --hessian y --grad y")).expect(2).says("cannot be used with");
    folder.reviver(&format!("{lanes} --hessian y --times x=1 --wrt x")).expect(2).says("cannot be used with");
    folder.reviver(&format!("{lanes} --hessian v")).expect(2).says("--hessian: the program has no cell `v`");
    folder.reviver(&format!("{lanes} --hessian y --wrt x,x")).expect(2).says("--wrt: `x` is named twice");
    folder.reviver(&format!("{lanes} --hessian y --times v=1")).expect(2).says("`v`");
}

#[test]
fn contradictory_options_are_refused() {
    let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv";
    reviver(&format!("{lanes} --grad out --back")).expect(2).says("cannot be used with");
    reviver(&format!("{lanes} --grad nothing")).expect(2).says("--grad: the program has no cell `nothing`");
    reviver(&format!("{lanes} --grad n")).expect(2).says("is an integer");
    reviver(&format!("{lanes} --strict")).expect(2).says("applies to derivatives only");
    reviver(&format!("{lanes} -o - --json")).expect(2).says("both print");
    with_input("batch - --lanes -", b"").expect(2).says("`-` is given twice");
    reviver("batch programs/rle.rasm --lanes programs/bessel_grid.csv").expect(2);
    reviver(&format!("{lanes} --engine interp --unchecked")).expect(2).says("leave out `--unchecked`");
}

#[test]
fn the_engines_and_levels_agree_and_times_are_reported() {
    let lanes = "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --device cpu --grad out";
    let wanted = reviver(lanes).expect(0).stdout;
    reviver(&format!("{lanes} --engine interp --threads 1")).expect(0).prints(&wanted);
    let unchecked = reviver(&format!("{lanes} --unchecked"))
        .expect(0)
        .says("unchecked: ancilla and join checks were skipped");
    unchecked.prints(&wanted);
    let ran = reviver(&format!("{lanes} --stats")).expect(0).prints(&wanted);
    for part in ["load: ", "compile: ", "read: ", "run: ", "write: ", "lanes a second on cpu"] {
        assert!(ran.stderr.contains(part), "{ran:?}");
    }
    let object = reviver(&format!("{lanes} --stats --json")).expect(0).json();
    assert!(object["lanes_per_second"].as_f64().unwrap() > 0.0 && object["seconds"]["compile"].is_number());
    assert_eq!(object["device"], "cpu");
}

/// The three programs for batches, with their files: each lane gives the result of `run`.
#[test]
fn the_programs_for_batches_agree_with_run() {
    for (name, grad) in [("bessel_grid", Some("out")), ("reprojection", Some("cost")), ("xtea_blocks", None)]
    {
        let batch = format!("batch programs/{name}.rasm --lanes programs/{name}.csv");
        let ran = reviver(&batch).expect(0);
        let given =
            std::fs::read_to_string(crate::support::root().join(format!("programs/{name}.csv"))).unwrap();
        let mut results = ran.stdout.lines();
        let columns: Vec<&str> = results.next().unwrap().split(',').collect();
        let names: Vec<String> = given.lines().next().unwrap().split(',').map(str::to_owned).collect();
        let mut seen = 0;
        for (line, row) in given.lines().skip(1).zip(results).take(3) {
            let mut set: Vec<(String, Vec<&str>)> = Vec::new();
            for (column, value) in names.iter().zip(line.split(',')) {
                let base = column.split('[').next().unwrap().to_owned();
                match set.last_mut().filter(|(name, _)| *name == base) {
                    Some((_, values)) => values.push(value),
                    None => set.push((base, vec![value])),
                }
            }
            let set: Vec<String> =
                set.iter().map(|(name, values)| format!("{name}={}", values.join(","))).collect();
            let run =
                reviver(&format!("run programs/{name}.rasm --set {} --json", set.join(","))).expect(0).json();
            for (column, value) in columns.iter().zip(row.split(',')) {
                let (base, index) = column.split_once('[').unwrap_or((column, ""));
                let reported = &run["outputs"][base];
                let reported = match index.trim_end_matches(']').parse::<usize>() {
                    Ok(index) => &reported[index],
                    Err(_) => reported,
                };
                assert_eq!(reported.to_string(), value, "{name}: {column}");
            }
            seen += 1;
        }
        assert_eq!(seen, 3);
        if let Some(loss) = grad {
            reviver(&format!("{batch} --grad {loss}")).expect(0);
        }
        reviver(&format!("{batch} --check")).expect(0);
    }
}

#[test]
fn a_sample_of_lanes_is_verified() {
    let folder = Folder::new();
    folder
        .file("smooth.rasm", ".inout x: real, z: real\n.out y: real, w: real\nadd y, sin(x)*z\nadd w, x*x\n");
    folder.file("kink.rasm", ".inout x: real, z: real\n.out y: real, w: real\nadd y, abs(x)*z\nadd w, x*x\n");
    let lanes: String =
        (0..200).map(|n| format!("{},{}\n", f64::from(n) / 7.0, f64::from(n) - 3.5)).collect();
    folder.file("lanes.csv", format!("x,z\n{lanes}"));
    let batch = |file: &str, options: &str| {
        folder.reviver(&format!("batch {file}.rasm --lanes lanes.csv --device cpu --json {options}"))
    };
    for task in ["--grad y", "--jacobian y,w"] {
        let object = batch("smooth", &format!("{task} --verify=20")).expect(0).json();
        let verified = object["verify"]["lanes"].as_array().unwrap();
        assert_eq!((&object["verify"]["agrees"], verified.len()), (&serde_json::json!(true), 20), "{object}");
        assert!(verified.iter().all(|lane| lane["agrees"] == serde_json::json!(true)));
        let object = batch("smooth", &format!("{task} --verify")).expect(0).json();
        assert_eq!(object["verify"]["lanes"].as_array().unwrap().len(), 16);
        // Lane 0 is at the kink.
        let object = batch("kink", &format!("{task} --verify=1000")).expect(1).json();
        let verified = object["verify"]["lanes"].as_array().unwrap();
        assert_eq!(
            (&object["verify"]["agrees"], verified.len()),
            (&serde_json::Value::Null, 200),
            "{object}"
        );
        assert_eq!(
            (&verified[0]["why"], &verified[1]["agrees"]),
            (&serde_json::json!("kink"), &serde_json::json!(true))
        );
    }
    let plain = "batch smooth.rasm --lanes lanes.csv --device cpu";
    folder.reviver(&format!("{plain} --verify=3")).expect(2).says("`--verify` applies to derivatives only");
    folder.reviver(&format!("{plain} --grad y --verify=0")).expect(2);
}
