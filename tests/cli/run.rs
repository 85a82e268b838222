//! `reviver run`: results, backward runs, JSON, and every exit code.

use serde_json::json;

use crate::support::{Folder, command, reviver, with_input};

fn keys(object: &serde_json::Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn fibonacci_round_trips_without_a_history() {
    for (n, a, b) in [(10, 55, 89), (0, 0, 1)] {
        let object = reviver(&format!("run programs/fib.rasm --set n={n} --check --json")).expect(0).json();
        assert_eq!(object["outputs"], json!({ "a": a, "b": b }));
        assert_eq!(object["restored"], json!(true));
        assert_eq!(object["bit_exact"], json!(true));
        assert_eq!(object["history_bytes"], json!(0));
        let wanted =
            ["outputs", "steps", "restored", "bit_exact", "history_bytes", "erased_bits", "digest", "engine"];
        assert_eq!(keys(&object), wanted);
    }
    reviver("run programs/fib.rasm --back --set a=55,b=89").expect(0).prints("n = 10\n");
}

/// At each end of the array, one operand of the conditions must not be evaluated. The test checks this for the program
/// and for its inverse.
#[test]
fn conditions_short_circuit() {
    const TEXT: &str = "\
.inout A[3] default {3, 5, 9}, x default 4, j
.out   steps
        assert j == 0 or A[j-1] >= 3
        from steps == 0
        loop
            sub  j, 1
            add  steps, 1
        until not (j > 0 and A[j-1] > x)
        if j < 3 and A[j] > x
            add  steps, 10
        fi j < 3 and A[j] > x and steps >= 10
";
    let folder = Folder::new();
    let [program, inverse] = ["p.rasm", "i.rasm"].map(|name| folder.path(name).display().to_string());
    std::fs::write(&program, TEXT).unwrap();
    reviver(&format!("invert {program} -o {inverse}")).expect(0);
    for (x, j, left, steps) in [(4, 0, 0, 0), (4, 1, 1, 10), (4, 2, 1, 11), (4, 3, 1, 12), (20, 3, 3, 0)] {
        let object = reviver(&format!("run {program} --set x={x},j={j} --check --json")).expect(0).json();
        assert_eq!(object["restored"], json!(true), "{x} {j}");
        assert_eq!(object["outputs"], json!({ "A": [3, 5, 9], "x": x, "j": left, "steps": steps }));
        let back = format!("run {inverse} --set A=3,5,9 --set x={x},j={left},steps={steps} --json");
        let object = reviver(&back).expect(0).json();
        assert_eq!(object["outputs"], json!({ "A": [3, 5, 9], "x": x, "j": j }));
    }
}

#[test]
fn every_exit_code_has_its_reason() {
    reviver("run programs/fib.rasm").expect(0);
    reviver("run programs/erase.rasm --check").expect(1).says("trap[T12] while running backward");
    reviver("run programs/fib.rasm --bogus").expect(2).says("--bogus");
    reviver("run programs/none.rasm").expect(3).says("there is no file programs/none.rasm");
    reviver("run programs/factorial.rasm --set n=21")
        .expect(4)
        .says("trap[T22]: `delocal product = 0`, but product is 6148914691236517206");
    reviver("run programs/fib.rasm --max-steps 10").expect(5).says("stopped after 10 steps");
    reviver("run programs/fib.rasm --max-steps 52").expect(0);
}

#[test]
fn json_has_arrays_and_whole_numbers() {
    let object = reviver("run programs/sort.rasm --json").expect(0).json();
    assert_eq!(object["outputs"]["A"], json!([1, 2, 5, 5, 6, 9]));
    assert_eq!(object["garbage"]["P"], json!([3, 1, 0, 4, 5, 2]));
    let object = reviver("run programs/matrix_product.rasm --json").expect(0).json();
    assert_eq!(object["outputs"]["C"], json!([[58.0, 64.0], [139.0, 154.0]]));
    let ran = reviver("run programs/factorial.rasm --set n=20 --json").expect(0);
    assert!(ran.stdout.contains("2432902008176640000"), "{ran:?}");
    let ran = reviver("run programs/sum3.rasm --json").expect(0);
    assert!(ran.stdout.contains("\"s\":0.6000000000000001"), "{ran:?}");
}

#[test]
fn json_reports_how_a_run_ended() {
    let object = reviver("run programs/fib.rasm --max-steps 10 --json").expect(5).json();
    assert_eq!(
        keys(&object),
        ["steps", "step_limit", "history_bytes", "erased_bits", "digest", "engine", "error"]
    );
    let object = reviver("run programs/factorial.rasm --set n=21 --json").expect(4).json();
    assert_eq!(object["trap"]["instruction"], json!("delocal product = 0"));
    assert!(object.get("outputs").is_none());
    let object = reviver("run programs/erase.rasm --check --json").expect(1).json();
    assert_eq!(object["restored"], json!(false));
    assert_eq!(object["erased_bits"], json!(256));
    assert_eq!(object["trap"]["instruction"], json!("erase t"));
}

/// Creates a program with a procedure in a subfolder, and returns its path with the place of the trap in that file.
fn with_library(folder: &Folder) -> (String, String) {
    std::fs::create_dir(folder.path("lib")).unwrap();
    let library = ".proc small(inout x)\n    add x, 1\n    assert x < 4\n.end\n";
    let place = format!("--> {}:3", folder.file("lib/small.rasm", library));
    let program =
        ".include \"lib/small.rasm\"\n.inout x default 3\n\n\n\n    call small(x)\n    assert x != 2\n";
    (folder.file("program.rasm", program), place)
}

#[test]
fn a_trap_in_an_included_file_is_shown_there() {
    let folder = Folder::new();
    let (program, place) = with_library(&folder);
    reviver(&format!("run {program}")).expect(4).says(&place).says("in the procedure `small`");
    reviver(&format!("run {program} --set x=1")).expect(4).says(&format!("--> {program}:7:5"));
    let trap = &reviver(&format!("run {program} --json")).expect(4).json()["trap"];
    assert_eq!((&trap["file"], &trap["line"]), (&json!("lib/small.rasm"), &json!(3)));
    let trap = &reviver(&format!("run {program} --set x=1 --json")).expect(4).json()["trap"];
    assert_eq!((trap.get("file"), &trap["line"]), (None, &json!(7)));
}

#[test]
fn an_image_has_relative_paths_of_its_files() {
    let folder = Folder::new();
    let (program, place) = with_library(&folder);
    let image = folder.path("program.rbc").display().to_string();
    reviver(&format!("asm {program} -o {image}")).expect(0);
    reviver(&format!("run {image}")).expect(4).says(&place).says("in `small`");
    let mut inside = command();
    inside.current_dir(folder.path("lib")).args(["asm", "../program.rasm", "-o", "../inside.rbc"]);
    assert!(inside.status().unwrap().success());
    assert_eq!(folder.read("inside.rbc"), folder.read("program.rbc"));
}

#[test]
fn drift_is_measured_and_residues_remove_it() {
    let object = reviver("run programs/sum3.rasm --check --json").expect(0).json();
    assert_eq!(object["bit_exact"], json!(false));
    assert_eq!(object["max_drift"]["cell"], json!("s"));
    assert!(object["max_drift"]["ulps"].as_f64().unwrap() > 0.0);
    let object = reviver("run programs/sum3.rasm --check --exact --json").expect(0).json();
    assert_eq!(object["bit_exact"], json!(true));
    assert!(object["history_bytes"].as_u64().unwrap() > 0);
    assert!(object.get("max_drift").is_none());
    let object = reviver("run programs/sum3.rasm --check --real fixed --json").expect(0).json();
    assert_eq!((&object["bit_exact"], &object["history_bytes"]), (&json!(true), &json!(0)));
}

#[test]
fn lost_float_bits_get_a_hint() {
    let folder = Folder::new();
    let text = ".in x: real default 1e16\n.out y: real = 0.1\nadd y, x\n";
    let file = folder.file("lossy.rasm", text);
    reviver(&format!("run {file} --check"))
        .expect(1)
        .says("not restored")
        .says("add `--exact` to keep the lost bits");
    reviver(&format!("run {file} --check --exact")).expect(1).says("garbage");
}

#[test]
fn erasures_are_counted() {
    let ran = reviver("run programs/erase.rasm --check --exact").expect(0);
    assert!(ran.stdout.contains("erased: 256 bits\nnot reversible: 4 erasures\n"), "{ran:?}");
}

#[test]
fn tapes_are_read_from_values_files_and_pipes() {
    let folder = Folder::new();
    let (tape, out) = (folder.file("tape.csv", "1, 2\n3\n"), folder.path("out"));
    let out = out.display();
    let program = "programs/reverse_string.rasm";
    reviver(&format!("run {program} --set n=3 --tape 1,2,3")).expect(0).prints("n = 3\ntape = [3, 2, 1]\n");
    reviver(&format!("run {program} --set n=3 --tape {tape} --tape-out {out}")).expect(0).prints("n = 3\n");
    let written = "# tape written by `reviver`, and overwritten when it is written again\n3\n2\n1\n";
    assert_eq!(folder.read("out"), written.as_bytes());
    with_input(&format!("run {program} --set n=3 --tape - --tape-out -"), b"1,2,3")
        .expect(0)
        .prints("3\n2\n1\nn = 3\n");
    reviver(&format!("run {program} --back --set n=3 --tape {out}"))
        .expect(0)
        .prints("n = 3\ntape = [1, 2, 3]\n");
    let object = reviver(&format!("run {program} --set n=2 --tape 7,-0x8 --json")).expect(0).json();
    assert_eq!(object["tape"], json!([-8, 7]));
}

#[test]
fn an_unused_rest_of_a_tape_is_garbage() {
    let program = "programs/reverse_string.rasm";
    let unread = "input tape: 2 values not read";
    reviver(&format!("run {program} --set n=1 --tape 1,2,3")).expect(0).says(unread);
    reviver(&format!("run {program} --set n=1 --tape 1,2,3 --check")).expect(1).says(unread);
    reviver(&format!("run {program} --back --set n=2 --tape 1,2,3"))
        .expect(1)
        .says("output tape: 1 value not taken back");
}

#[test]
fn garbage_is_named() {
    let file = Folder::new();
    let file = file.file("leaves.rasm", ".var A[2]\nadd A[1], 7\n");
    reviver(&format!("run {file}")).expect(0).says("A[1]: 7, must be 0");
    let object = reviver(&format!("run {file} --check --json")).expect(1).json();
    assert_eq!(object["garbage"], json!({ "A[1]": 7 }));
}

#[test]
fn backward_runs_need_the_garbage_and_end_clean() {
    reviver("run programs/gray.rasm --back --set n=1").expect(2);
    let folder = Folder::new();
    let file = folder.file("twice.rasm", ".in n\n.out m\nadd m, n\nadd m, n\nsub n, 5\n");
    // m = 7 is an impossible result: n would be 5, and 7 - 10 would be left.
    reviver(&format!("run {file} --back --set m=7")).expect(1).says("m: -3, must be 0");
    reviver(&format!("run {file} --back --set m=10")).expect(0).prints("n = 5\n");
}

#[test]
fn values_have_the_syntax_of_the_language() {
    reviver("run programs/fib.rasm --set n=0x0a").expect(0).prints("a = 55\nb = 89\n");
    reviver("run programs/fib.rasm --set n=0b1_010").expect(0).prints("a = 55\nb = 89\n");
    let folder = Folder::new();
    let values = folder.file("values.csv", "6, 5,4,3,2,1\n");
    reviver(&format!("run programs/sort.rasm --set A=@{values}"))
        .expect(0)
        .prints("A = [1, 2, 3, 4, 5, 6]\ngarbage P = [5, 4, 3, 2, 1, 0]\n");
    with_input("run programs/sort.rasm --set A=@-", b"6,5,4,3,2,1").expect(0);
}

#[test]
fn invalid_values_are_refused() {
    let cases = [
        ("--set m=1", "the program has no cell `m`"),
        ("--set n", "NAME=VALUE"),
        ("--set n=", "is not an integer"),
        ("--set n=1,2", "`n` takes 1 value, and 2 were given"),
        ("--set n=1.5", "`1.5` is not an integer of 64 bits"),
        ("--set n=1 --set n=2", "`n` is set twice"),
        ("--set a=1", "`a` can't be given: it is `.out`"),
        ("--word 8 --set n=300", "`300` is not an integer of 8 bits"),
        ("--word 12", "the widths are 8, 16, 32 and 64"),
        ("--real fixed:99", "fixed:16 to fixed:56"),
        ("--tape 1,x", "there is no file 1,x"),
        ("--word 8 --tape 300", "`300` is not an integer of 8 bits"),
        ("--max-steps -1", "invalid value"),
        ("--back --set n=1", "computes the inputs"),
        ("--tape - --set n=@-", "one purpose only"),
        ("--json --tape-out -", "both print"),
        ("--check --from-state x", "cannot be used with"),
    ];
    for (options, reason) in cases {
        let code = if reason.starts_with("there is no file") { 3 } else { 2 };
        let ran = reviver(&format!("run programs/fib.rasm {options}")).expect(code).says(reason);
        assert!(ran.stdout.is_empty() || options.contains("--json"), "{ran:?}");
    }
    reviver("run programs/sort.rasm --set A=1,2").expect(2).says("`A` takes 6 values, and 2 were given");
    reviver("run programs/sum3.rasm --set a=nan").expect(2).says("`nan` is not a number");
    reviver("run programs/show.rasm --set limt=1").expect(2).says("did you mean `limit`?");
    reviver("run programs/fib.rasm --set number=1").expect(2).says("choose one of `n`, `a`, `b`");
}

#[test]
fn the_program_must_fit_the_number_system() {
    let ran = reviver("run programs/xtea.rasm --word 16").expect(3);
    ran.says("does not fit into 16 bits").says("written for integers of 32 bits");
    let folder = Folder::new();
    let file = folder.file("big.rasm", ".inout x: real = 1e30\nadd x, 1e300\n");
    reviver(&format!("run {file} --real f32")).expect(3).says("1e300 does not fit").says("big.rasm:2");
    reviver(&format!("run {file} --real fixed")).expect(3).says("`--word` and `--real`");
}

#[test]
fn show_prints_once_during_the_run() {
    let ran = reviver("run programs/show.rasm --check").expect(0);
    assert_eq!(ran.stdout.matches("power = 9\n").count(), 1, "{ran:?}");
    let object = reviver("run programs/show.rasm --check --json").expect(0).json();
    assert_eq!(object["shown"][1], json!({ "power": 9 }));
}

#[test]
fn statistics_report_time_and_memory() {
    let ran = reviver("run programs/fib.rasm --stats").expect(0);
    for what in ["steps: 52\n", "history: 0 bytes\n", "erased: 0 bits\n", "time: ", "state: ", "digest: "] {
        assert!(ran.stdout.contains(what), "{what} is missing: {ran:?}");
    }
    let object = reviver("run programs/fib.rasm --stats --json").expect(0).json();
    assert!(object["state_bytes"].as_u64().unwrap() < 4096);
    assert!(object["seconds"].is_number() && object["discarded_bits"] == json!(0));
}
