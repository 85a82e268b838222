//! Two ways to run backward, `run F --back` and `invert F | run -`: they accept the same texts, print the same, and
//! refuse the same.

use serde_json::json;

use crate::support::{Folder, Ran, reviver, with_input};

/// Runs both ways with the same options; both must print the same.
#[track_caller]
fn both(program: &str, options: &str, code: i32) -> Ran {
    let inverse = reviver(&format!("invert {program}")).expect(0).stdout;
    let forward = with_input(&format!("run - {options}"), inverse.as_bytes()).expect(code);
    let backward = reviver(&format!("run {program} --back {options}")).expect(code);
    assert_eq!(forward.stdout, backward.stdout, "{program} {options}");
    backward
}

/// Program that reads both classes alternately and writes them in another order, in a procedure and in main.
const MIXED: &str = "\
.inout n
.proc pass(in n)
.ancilla i, x: real
    for k in 0..n
        read  i
        read  x
        add   i, 100
        write x
        write i
    rof
.end
    call  pass(n)
    push  n
    pop   n
    write n
";

#[test]
fn a_written_tape_is_read_backward_and_by_the_inverse() {
    let folder = Folder::new();
    let mixed = folder.file("mixed.rasm", MIXED);
    let given = folder.file("given", "1\n0.5\n2\n0.25\n3\n-8.0\n");
    let (there, back) = (folder.path("there"), folder.path("back"));
    let (there, back) = (there.display(), back.display());
    reviver(&format!("run {mixed} --set n=3 --tape {given} --tape-out {there}")).expect(0);
    let numbers = |name: &str| {
        let text = String::from_utf8(folder.read(name)).unwrap();
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.to_owned() + "\n")
            .collect::<String>()
    };
    assert_eq!(numbers("there"), "0.5\n101\n0.25\n102\n-8.0\n103\n3\n");
    both(&mixed, &format!("--set n=0 --tape {there}"), 0)
        .prints("n = 3\ntape = [1, 0.5, 2, 0.25, 3, -8.0]\n");
    reviver(&format!("run {mixed} --back --set n=0 --tape {there} --tape-out {back}")).expect(0);
    assert_eq!(numbers("back"), numbers("given"));
    let inverse = reviver(&format!("invert {mixed}")).expect(0).stdout;
    with_input(&format!("run - --set n=0 --tape {there} --tape-out {back}"), inverse.as_bytes()).expect(0);
    assert_eq!(numbers("back"), numbers("given"));
    // Running the inverse program backward has the same result as running the program forward.
    let options = format!("--set n=3 --tape {given}");
    let again = with_input(&format!("run - --back {options}"), inverse.as_bytes()).expect(0);
    assert_eq!(again.stdout, reviver(&format!("run {mixed} {options}")).expect(0).stdout);
    let whole = with_input(&format!("run - --check --set n=0 --tape {there}"), inverse.as_bytes()).expect(0);
    assert!(whole.stdout.contains("restored: yes, bit for bit"), "{whole:?}");
}

#[test]
fn the_order_survives_images_and_inverting_twice() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    let [inverse, image, flat, twice] = ["inverse.rasm", "inverse.rbc", "flat.rasm", "twice.rasm"].map(path);
    let program = "programs/reverse_string.rasm";
    reviver(&format!("invert {program} -o {inverse}")).expect(0);
    let text = String::from_utf8(folder.read("inverse.rasm")).unwrap();
    assert_eq!(text.matches("\n.inverse\n").count(), 1, "{text}");
    reviver(&format!("asm {inverse} -o {image}")).expect(0);
    reviver(&format!("disasm {image} -o {flat}")).expect(0);
    reviver(&format!("invert {inverse} -o {twice}")).expect(0);
    assert!(!String::from_utf8(folder.read("twice.rasm")).unwrap().contains(".inverse"));
    reviver(&format!("fmt --check {inverse}")).expect(0);
    // Written as [4, 6, 5]: the first value read is the last one written.
    let options = "--set n=3 --tape 4,6,5";
    for back in [format!("{program} --back"), inverse.clone(), image.clone(), flat] {
        reviver(&format!("run {back} {options}")).expect(0).prints("n = 3\ntape = [5, 6, 4]\n");
    }
    for there in [program, &twice, &format!("{image} --back")] {
        reviver(&format!("run {there} --set n=3 --tape 5,6,4")).expect(0).prints("n = 3\ntape = [4, 6, 5]\n");
    }
}

#[test]
fn an_inverse_marks_its_gradients_of_tapes_in_its_own_order() {
    let folder = Folder::new();
    let text =
        ".out y: real\n.ancilla a: real, b: real\nread a\nread b\nadd.mul y, a, b\nunread b\nunread a\n";
    let gradient = |mark: &str| {
        let file = folder.file("product.rasm", format!("{mark}{text}"));
        reviver(&format!("grad {file} --loss y --tape 2.0,5.0 --verify --json")).expect(0).json()
    };
    for mark in ["", ".inverse\n"] {
        let object = gradient(mark);
        assert_eq!(object["tape"], json!([5.0, 2.0]), "{mark}");
        let of = |name: &str| {
            let comparisons = object["verify"]["comparisons"].as_array().unwrap();
            comparisons.iter().find(|c| c["input"] == name).map(|c| c["adjoint"].clone()).unwrap()
        };
        assert_eq!((of("tape[0]"), of("tape[1]")), (json!(5.0), json!(2.0)), "{mark}");
    }
}

#[test]
fn results_that_are_missing_are_named() {
    let ran = both("programs/fib.rasm", "--set a=55", 2);
    ran.says("running backward needs every result of the forward run; not given: `b`")
        .says("add `--set b=…`");
    both("programs/fib.rasm", "", 2).says("not given: `a`, `b`").says("`--set a=…,b=…`");
    both("programs/gcd.rasm", "--set g=21", 2).says("not given: `rounds`, `quotients`");
    both("programs/fib.rasm", "--set a=55,b=89", 0).prints("n = 10\n");
    let object = reviver("run programs/gcd.rasm --back --set g=21 --json").expect(2).json();
    assert_eq!(object["missing"], json!(["rounds", "quotients"]));
    let inverse = reviver("invert programs/fib.rasm").expect(0).stdout;
    for command in ["run - --set a=55", "debug - --set a=55 --batch /dev/null"] {
        let ran = with_input(command, inverse.as_bytes()).expect(2);
        ran.says("an inverse program needs every result of the program that it undoes; not given: `b`");
    }
    let folder = Folder::new();
    let names: Vec<String> = (0..30).map(|n| format!("x{n}")).collect();
    let many = folder.file("many.rasm", format!(".out {}\nadd x0, 1\n", names.join(", ")));
    both(&many, "", 2).says("`x7` and 22 more");
    // A program without results needs no values for `--back`.
    let none = folder.file("none.rasm", ".in n default 3\nsub n, 3\n");
    reviver(&format!("run {none} --back")).expect(0).prints("n = 3\n");
}

#[test]
fn a_cipher_does_not_decrypt_without_a_key() {
    let folder = Folder::new();
    let words = "--set v0=0x497df3d0,v1=0x72612cb5";
    let plain = "v0 = 1094861636\nv1 = 1162233672\nkey = [66051, 67438087, 134810123, 202182159]\n";
    // The key has a default, which was used for encryption.
    both("programs/xtea.rasm", words, 0).prints(plain).says("note: `key` isn't given: its `default` is used");
    let object = reviver(&format!("run programs/xtea.rasm --back {words} --json")).expect(0).json();
    assert_eq!(object["assumed"], json!(["key"]));
    let whole = format!("{words} --set key=66051,67438087,134810123,202182159 --json");
    let object = reviver(&format!("run programs/xtea.rasm --back {whole}")).expect(0);
    assert!(object.json().get("assumed").is_none() && object.stderr.is_empty(), "{object:?}");
    // Forward, a default needs no note.
    assert_eq!(reviver("run programs/xtea.rasm").expect(0).stderr, "");
    let text = String::from_utf8(std::fs::read("programs/xtea.rasm").unwrap()).unwrap();
    let without = text.replace(" default {0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f}", "");
    assert_ne!(text, without);
    let keyless = folder.file("keyless.rasm", without);
    both(&keyless, words, 2).says("not given: `key`");
}

#[test]
fn one_value_fills_every_cell() {
    let folder = Folder::new();
    let file = folder.file("fill.rasm", ".inout A[3], M[2, 2]: real\nadd A[1], 1\nneg M[0, 1]\n");
    reviver(&format!("run {file} --set A=7,M=0.5"))
        .expect(0)
        .prints("A = [7, 8, 7]\nM = [[0.5, -0.5], [0.5, 0.5]]\n");
    both(&file, "--set A=0,M=0", 0).prints("A = [0, -1, 0]\nM = [[0.0, -0.0], [0.0, 0.0]]\n");
}

#[test]
fn a_backward_run_from_a_saved_end_needs_no_values() {
    let folder = Folder::new();
    let state = folder.path("end").display().to_string();
    reviver(&format!("run programs/gcd.rasm --save-state {state}")).expect(0);
    let ran = reviver(&format!("run programs/gcd.rasm --back --from-state {state}")).expect(0);
    assert!(ran.stderr.is_empty() && ran.stdout.starts_with("a = "), "{ran:?}");
}

/// `delocal t = 0` closes a real if `local` has opened a real. The inverse states the class.
#[test]
fn variables_keep_their_classes() {
    const HEAD: &str = ".const ZERO = 0\n.inout y: real default 2, n default 3\n";
    let folder = Folder::new();
    for body in [
        "local t = y*3\nsub y, t/3\nvacate y\nswap y, t\ndelocal t = 0",
        "local t = y*3\nsub y, t/3\nvacate y\nswap y, t\ndelocal t: real = 0",
        "local t = y*3\nsub y, t/3\nvacate y\nswap y, t\ndelocal t = ZERO",
        "local t = toreal(n)\nadd y, t\nsub t, toreal(n) - 1\ndelocal t = 1",
        "for i in 0..2\nlocal t = y*3\nsub y, t/3\nvacate y\nswap y, t\ndelocal t = 0\nrof",
        "if n > 2\nlocal t: real = 1\nadd y, t\ndelocal t = 1\nfi n > 2",
        "uncall p(y)\n.proc p(inout y: real)\nlocal t = y*3\nsub y, t/3\nvacate y\nswap y, t\ndelocal t = 0\n.end",
    ] {
        let file = folder.file("program.rasm", format!("{HEAD}{body}\n"));
        let run = |file: &str| {
            let ran = reviver(&format!("run {file} --json")).expect(0);
            ran.json()["outputs"]["y"].as_f64().unwrap()
        };
        let end = run(&file);
        let inverse = folder.file("inverse.rasm", reviver(&format!("invert {file}")).expect(0).stdout);
        let ran = reviver(&format!("run {inverse} --set y={end},n=3 --json")).expect(0).json();
        assert!((ran["outputs"]["y"].as_f64().unwrap() - 2.0).abs() < 1e-12, "{body}: {ran}");
        let twice = folder.file("twice.rasm", reviver(&format!("invert {inverse}")).expect(0).stdout);
        assert_eq!(run(&twice), end, "{body}");
        let optimized = folder.file("opt.rasm", reviver(&format!("opt {file} -O2")).expect(0).stdout);
        assert!((run(&optimized) - end).abs() < 1e-12, "{body}");
        let target =
            folder.file("grad.rasm", reviver(&format!("grad {file} --of y --emit")).expect(0).stdout);
        let emitted = reviver(&format!("run {target} --json")).expect(0).json()["outputs"]["y_bar"].clone();
        let derivative = reviver(&format!("grad {file} --of y --json")).expect(0).json()["grad"]["y"].clone();
        assert_eq!(emitted, derivative, "{body}");
    }
}
