//! Numbers from files: the accepted formats. Numbers are never silently reordered, skipped or guessed.

use serde_json::json;

use crate::support::{Folder, Ran, reviver};

const CELLS: &str = ".inout M[2, 3]: real, V[4], s\nneg M[0, 0]\nadd V[0], 1\nadd s, 1\n";

/// Runs a program with one cell given by a file of this content.
fn given(folder: &Folder, cell: &str, content: &str) -> Ran {
    let program = folder.file("cells.rasm", CELLS);
    let file = folder.file("numbers", content);
    reviver(&format!("run {program} --set {cell}=@{file}"))
}

#[test]
fn delimiters_headers_quotes_and_comments_are_understood() {
    let folder = Folder::new();
    let matrices = [
        "1,2,3\n4,5,6\n",
        "1;2;3\r\n4;5;6\r\n",
        "1\t2\t3\n4\t5\t6",
        "1 2 3\n  4   5 6\n",
        "1 2\t3\n4\t5 6\n",
        "1, 2, 3,\n4, 5, 6,\n",
        "\u{feff}a,b,c\n1,2,3\n4,5,6\n",
        "\"time\" \"x\" \"y\"\n\"1\" \"2\" \"3\"\n4 5 6\n",
        "# made by hand; in two lines\n\n1,\"2\" , \" 3 \"\n\n4.0,50e-1,6\n\n",
        "1,2,3,4,5,6\n",
        "1\n2\n3\n4\n5\n6\n",
        "sep=;\n1;2;3\n4;5;6\n",
    ];
    for content in matrices {
        let ran = given(&folder, "M", content).expect(0);
        assert!(ran.stdout.starts_with("M = [[-1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n"), "{content:?}: {ran:?}");
    }
    for content in ["1,2,3,4\n", "1\n2\n3\n4\n", "n\n1\n2\n3\n4\n", "0x1;2;0b11;4", "1 2 3 4"] {
        let ran = given(&folder, "V", content).expect(0);
        assert!(ran.stdout.contains("V = [2, 2, 3, 4]\n"), "{content:?}: {ran:?}");
    }
    assert!(given(&folder, "s", "s\n41\n").expect(0).stdout.ends_with("s = 42\n"));
    // Numbers may start with a point, and a line of such numbers isn't a header.
    let ran = given(&folder, "M", ".5,-.25,+.125\n4,5,6\n").expect(0);
    assert!(ran.stdout.starts_with("M = [[-0.5, -0.25, 0.125], [4.0, 5.0, 6.0]]\n"), "{ran:?}");
}

#[test]
fn another_shape_is_refused_with_its_place() {
    let folder = Folder::new();
    let takes = "and `M[2, 3]` takes 2 lines of 3 numbers";
    let shapes = [
        ("M", "1,2\n3,4\n5,6\n", format!("3 lines of 2 numbers, {takes}")),
        ("M", "1,2\n3,4\n5,6\n", "exchange rows and columns".into()),
        ("M", "1,2,3,4,5\n", format!("1 line of 5 numbers, {takes}")),
        ("M", "1\n2\n3\n4\n5\n6\n7\n", format!("7 lines of 1 number, {takes}")),
        ("M", "1,2,3\n", format!("1 line of 3 numbers, {takes}")),
        ("M", "", format!("0 lines of 0 numbers, {takes}")),
        ("M", "1,2,3\n4,5,6\n7,8,9\n", format!("3 lines of 3 numbers, {takes}")),
        (
            "M",
            "1,2,3,4\n5,6\n",
            "numbers:2: this line has 2 numbers, and the line before has 4; `M[2, 3]` takes".into(),
        ),
        (
            "M",
            "h,h,h\n\n1,2,3\n4,5\n",
            "numbers:4: this line has 2 numbers, and the line before has 3".into(),
        ),
        ("M", "x,y,z\n4,5,6\n", "line 1 has no number and was taken for a header".into()),
        ("V", "1,2\n3,4\n", "2 lines of 2 numbers, and `V[4]` takes 4 numbers".into()),
        ("V", "1,2,3\n", "1 line of 3 numbers, and `V[4]` takes 4 numbers".into()),
        (
            "V",
            "1\n2\n3\n4\n5\n",
            "write a vector as one line of numbers, or with one number in each line".into(),
        ),
        ("s", "1,2\n", "1 line of 2 numbers, and `s` takes one number".into()),
    ];
    for (cell, content, reason) in shapes {
        given(&folder, cell, content).expect(2).says(&reason).says("numbers").prints("");
    }
}

#[test]
fn an_invalid_number_is_shown_with_its_place() {
    let folder = Folder::new();
    let faults = [
        ("M", "1,2,3\n4,five,6\n", "numbers:2:3: `five` is not a number that fits into f64"),
        ("M", "a,b,c\n1,2,3\n4, 5 ,x\n", "numbers:3:7: `x` is not a number"),
        ("M", "1,2,3\n4,,6\n", "numbers:2:3: `` is not a number"),
        ("M", "1;2;3,5\n4;5;6\n", "numbers:1:5: `3,5` is not a number"),
        ("M", "1;2;3,5\n4;5;6\n", "write a decimal point"),
        ("M", "1 2,3 4,5 6\n1,2,3\n", "numbers:1:1: `1 2` is not a number"),
        ("V", "1\n2\n3.5\n4\n", "numbers:3:1: `3.5` is not an integer of 64 bits"),
        ("V", "9,b,2,3\n", "numbers:1:3: `b` is not an integer"),
    ];
    for (cell, content, reason) in faults {
        given(&folder, cell, content).expect(2).says(reason).prints("");
    }
    let program = folder.file("cells.rasm", CELLS);
    let file = folder.file("numbers", "1,2,3\n4,five,6\n");
    let object = reviver(&format!("run {program} --set M=@{file} --json")).expect(2).json();
    assert_eq!(object["place"], json!({ "file": file, "line": 2, "column": 3 }));
    let latin = folder.file("latin", b"1,\xe9\n");
    reviver(&format!("run {program} --set V=@{latin}")).expect(2).says("not UTF-8");
    let file = folder.file("numbers", "1,2,3,4");
    reviver(&format!("run {program} --set V=@{file},5")).expect(2).says("the file gives all values of `V`");
}

#[test]
fn tapes_are_read_from_files_with_any_lines() {
    let folder = Folder::new();
    let tape = |content: &str, option: &str| {
        let file = folder.file("tape", content);
        reviver(&format!("run programs/reverse_string.rasm --set n=5 {option}{file}"))
    };
    for content in ["1,2,3\n4,5\n", "1;2\n3;4;5;\n", "# bytes\n1 2\t3\n\n4\n5\n\n", "\"1\"\t2\t3\t4\t5\n"] {
        for option in ["--tape ", "--tape @", "--tape=@"] {
            tape(content, option).expect(0).prints("n = 5\ntape = [5, 4, 3, 2, 1]\n");
        }
    }
    tape("bytes\n1\n2\n3\n4\n5\n", "--tape ").expect(2).says("tape:1:1: ").says("a tape has no header");
    tape("1\n2\nx\n4\n5\n", "--tape ").expect(2).says("tape:3:1: `x` is not an integer");
    reviver("run programs/fib.rasm --tape @- --set n=@-").expect(2).says("one purpose only");
    // A vector for a Hessian–vector product.
    let vector = folder.file("vector", "1\n0\n0\n0\n");
    let given = reviver("hessian programs/norm.rasm --loss length --times v=1,0,0,0").expect(0).stdout;
    reviver(&format!("hessian programs/norm.rasm --loss length --times v=@{vector}"))
        .expect(0)
        .prints(&given);
}
