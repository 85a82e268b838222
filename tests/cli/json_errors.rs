//! With `--json`, standard output always has one JSON object, so callers never need to parse standard error.

use serde_json::{Value, json};

use crate::support::{Folder, reviver, with_input};

/// Returns the JSON object of a failing command.
#[track_caller]
fn failing(arguments: &str, code: i32) -> Value {
    reviver(arguments).expect(code).json()
}

#[test]
fn a_text_with_errors_has_its_diagnostics() {
    let folder = Folder::new();
    folder.file("library.rasm", ".proc p(inout x)\n  add x, 1\n.end\n");
    let text = ".include \"library.rasm\"\n.inout name ; größer\nadd neme, 1\n.proc p(inout x)\n.end\n";
    let file = folder.file("bad.rasm", text);
    for command in
        ["run", "check", "grad --loss x", "jacobian", "hessian --loss x", "taylor --along x --order 1"]
    {
        let object = failing(&format!("{command} {file} --json"), 3);
        assert_eq!(object["error"]["kind"], json!("load"));
        assert_eq!(object["error"]["message"], json!("2 errors: nothing was assembled"));
        let diagnostics = object["diagnostics"].as_array().unwrap();
        assert_eq!(diagnostics.len(), 2, "{object}");
        let unknown = diagnostics.iter().find(|d| d["line"] == 3).unwrap();
        assert_eq!(unknown["severity"], json!("error"));
        assert_eq!(unknown["message"], json!("nothing is named `neme` here"));
        assert_eq!(unknown["file"], json!(file));
        assert_eq!((&unknown["column"], &unknown["end_column"]), (&json!(5), &json!(9)));
        let span = unknown["span"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize);
        let span: Vec<usize> = span.collect();
        assert_eq!(&text[span[0]..span[1]], "neme");
        assert!(unknown["help"].as_str().unwrap().contains("`name`"), "{unknown}");
        // The name is declared in both files. The diagnostic is about one declaration, and gives the other one as a
        // related place.
        let twice = diagnostics.iter().find(|d| d["line"] != 3).unwrap();
        let related = &twice["related"][0];
        let files = [&twice["file"], &related["file"]].map(|file| file.as_str().unwrap().to_owned());
        assert!(files.iter().any(|file| file.ends_with("library.rasm")), "{twice}");
        assert!(files.iter().any(|file| file.ends_with("bad.rasm")), "{twice}");
        assert!(!related["label"].as_str().unwrap().is_empty());
    }
}

#[test]
fn check_describes_a_program_in_json() {
    let object = reviver("check programs/fib.rasm --json").expect(0).json();
    let wanted = json!({
        "reversible": true, "erasures": 0, "instructions": 7, "procedures": 0,
        "word_bits": 64, "real": "f64", "diagnostics": [],
    });
    assert_eq!(object, wanted);
    let folder = Folder::new();
    let file = folder.file("unused.rasm", ".inout x\n.var unused\nadd x, 1\n");
    let object = reviver(&format!("check {file} --json")).expect(0).json();
    assert_eq!(object["diagnostics"][0]["severity"], json!("warning"));
    assert_eq!(object["diagnostics"][0]["line"], json!(2));
    let narrow = failing("run programs/xtea.rasm --word 16 --json", 3);
    assert!(narrow["diagnostics"][0]["message"].as_str().unwrap().contains("does not fit into 16 bits"));
    let lines = narrow["diagnostics"].as_array().unwrap().iter().filter_map(|d| d["line"].as_u64());
    assert!(lines.count() > 0, "instructions have their lines: {narrow}");
}

#[test]
fn arguments_files_traps_and_limits_are_reported() {
    let cases = [
        ("run programs/fib.rasm --json --bogus", 2, "usage", "--bogus"),
        ("run --json", 2, "usage", "required"),
        ("grad programs/norm.rasm --json", 2, "usage", "--of"),
        ("run programs/fib.rasm --set m=1 --json", 2, "usage", "no cell `m`"),
        ("run programs/none.rasm --json", 3, "load", "there is no file"),
        ("check programs/none.rasm --json", 3, "load", "there is no file"),
        ("run programs/factorial.rasm --set n=21 --json", 4, "trap", "trap: "),
        ("run programs/fib.rasm --max-steps 10 --json", 5, "step_limit", "stopped after 10 steps"),
        ("run programs/erase.rasm --check --json", 1, "check", "trap while running backward"),
        ("grad programs/norm.rasm --loss lenght --json", 2, "usage", "no cell"),
        ("grad programs/norm.rasm --loss length --max-steps 3 --json", 5, "step_limit", "steps"),
        ("jacobian programs/fib.rasm --json", 2, "usage", "no real"),
        ("taylor programs/horner.rasm --order 3 --along zz --json", 2, "usage", "no cell `zz`"),
    ];
    for (arguments, code, kind, words) in cases {
        let object = failing(arguments, code);
        assert_eq!(object["error"]["kind"], json!(kind), "{arguments}: {object}");
        let message = object["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{arguments}: {object}");
        assert!(!message.starts_with("error") && !message.contains('\n'), "{arguments}: {object}");
    }
    let object = failing("run programs/fib.rasm --json --bogus", 2);
    assert!(object["error"]["help"].to_string().contains("Usage: reviver run"), "{object}");
    let object = failing("run programs/factorial.rasm --set n=21 --json", 4);
    assert_eq!(object["trap"]["instruction"], json!("delocal product = 0"));
    let folder = Folder::new();
    let root = folder.file("root.rasm", ".in x: real default -1\n.out y: real\nadd.sqrt y, x\n");
    let object = failing(&format!("grad {root} --loss y --json"), 4);
    assert_eq!((&object["trap"]["line"], &object["error"]["kind"]), (&json!(3), &json!("trap")));
}

/// The document has a row for each key of a trap.
#[test]
fn the_keys_of_traps_are_documented() {
    let document = std::fs::read_to_string(crate::support::root().join("docs/json.md")).unwrap();
    let table = document
        .split("The member `trap` has:")
        .nth(1)
        .and_then(|rest| rest.split("A diagnostic").next())
        .unwrap();
    let folder = Folder::new();
    let tasks = ".inout x, y\n.inout n default 3\npar p(x), p(y)\n.proc p(inout z)\nassert z == n\n.end\n";
    let tasks = folder.file("tasks.rasm", tasks);
    for command in ["run programs/factorial.rasm --set n=21".into(), format!("run {tasks}")] {
        let trap = failing(&format!("{command} --json"), 4)["trap"].clone();
        let calls = trap["calls"].as_array().into_iter().flatten();
        let inner = trap["others"].as_array().into_iter().flatten().chain(calls);
        for key in inner.chain([&trap]).flat_map(|object| object.as_object().unwrap().keys()) {
            assert!(table.contains(&format!("`{key}`")), "{command}: {key}");
        }
    }
}

#[test]
fn results_are_reported_with_failures() {
    let folder = Folder::new();
    let leaves = folder.file("leaves.rasm", ".var A[2]\nadd A[1], 7\n");
    let object = failing(&format!("run {leaves} --check --json"), 1);
    assert_eq!(object["error"], json!({ "kind": "check", "message": "garbage is left" }));
    assert_eq!(object["garbage"], json!({ "A[1]": 7 }));
    // If the tape can't be written, the object still has the results.
    if std::path::Path::new("/dev/full").exists() {
        let run = "run programs/reverse_string.rasm --set n=1 --tape 5 --tape-out /dev/full";
        let object = failing(&format!("{run} --json"), 3);
        assert_eq!((&object["tape"], &object["error"]["kind"]), (&json!([5]), &json!("load")));
        let ran = reviver(run).expect(3).says("can't write /dev/full");
        assert!(ran.stdout.contains("tape = [5]"), "{ran:#?}");
    }
    // An unwritable path is refused before the run.
    let nowhere = folder.path("none/out").display().to_string();
    let run = format!("run programs/reverse_string.rasm --set n=1 --tape 5 --tape-out {nowhere} --json");
    let object = failing(&run, 3);
    assert!(object.get("tape").is_none() && object["error"]["kind"] == "load", "{object}");
    assert!(reviver(&run).stderr.contains("there is no folder"));
}

#[test]
fn without_json_stdout_stays_empty() {
    for arguments in ["run programs/none.rasm", "check programs/none.rasm", "run programs/fib.rasm --bogus"] {
        assert_eq!(reviver(arguments).stdout, "");
    }
    with_input("check - --json", b"frob r0\n").expect(3).says("no instruction or macro `frob`");
}
