//! `reviver test`: expectations in headers, results, and restrictions of programs under test.

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver};

/// Tests a program with expectations.
fn tested(header: &str, program: &str, options: &str) -> Ran {
    let folder = Folder::new();
    let marked: String = header.lines().map(|line| format!(";! {line}\n")).collect();
    folder.file("program.rasm", format!("{marked}{program}"));
    folder.reviver(&format!("test program.rasm {options}"))
}

/// Returns the outcome of a header line: `met`, `unjudged`, or expected and actual values.
fn comes_to(line: &Value) -> String {
    match &line["met"] {
        Value::Bool(true) => "met".to_owned(),
        Value::Null => "unjudged".to_owned(),
        _ => {
            let miss = &line["missed"][0];
            format!("{} / {}", miss["expected"].as_str().unwrap(), miss["found"].as_str().unwrap())
        }
    }
}

/// Returns the outcomes of a header's lines.
fn outcomes(header: &str, program: &str) -> Vec<String> {
    let object = tested(header, program, "--json").json();
    object["files"][0]["expectations"].as_array().unwrap().iter().map(comes_to).collect()
}

const TWICE: &str = ".in n default 1\n.out twice\nadd twice, 2*n\nsub n, twice / 2\n";

#[test]
fn shipped_programs_meet_their_expectations() {
    let ran = reviver("test programs --quiet").expect(0);
    let summary = ran.stdout.lines().last().unwrap();
    assert!(summary.ends_with(" met, 0 missed"), "{summary}");
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
}

#[test]
fn each_line_reports_expected_and_found_values() {
    let ran = tested("run n=20 -> twice=40\nrun n=20 -> twice=41 n=0\nno garbage", TWICE, "").expect(1);
    ran.prints(
        "program.rasm\n  ok  line 1: run n=20 -> twice=40\n  no  line 2: run n=20 -> twice=41 n=0\n      \
         expected twice = 41, found twice = 40\n  ok  line 3: no garbage\n\
         3 expectations in 1 file: 2 met, 1 missed\n",
    );
    let quiet = tested("run n=20 -> twice=40\nrun n=1 -> twice=3", TWICE, "--quiet").expect(1);
    assert!(!quiet.stdout.contains("ok  "), "{quiet:?}");
}

#[test]
fn properties_hold_for_every_run() {
    let erasing = ".inout n default 1\noverwrite n, 5\n";
    let leaving = ".inout n default 1\n.var t\n.garbage g\nadd t, n\nadd g, n\n";
    let floats = ".inout x: real default 0.1, y: real default 1e3\nadd x, y\n";
    let slow = ".inout n default 3\nfor i in 0..10\nadd n, i\nrof\n";
    for (header, program, expected) in [
        ("run ->\nerases nothing", erasing, "nothing erased / 64 bits erased"),
        (
            "run ->\nhistory 0 bytes",
            erasing,
            "0 bytes of history / a backward run that needs a history of the erased bits",
        ),
        ("run ->\nno garbage", leaving, "no garbage / t: 1, must be 0"),
        ("run ->\nat most 9 steps", slow, "at most 9 steps / "),
        ("run ->\nuses no overwrite", erasing, "uses no overwrite / the text contains `overwrite`"),
        ("run ->\nuses no for", slow, "uses no for / the text contains `for`"),
    ] {
        let outcomes = outcomes(header, program);
        assert!(outcomes[1].starts_with(expected), "{header}: {outcomes:?}");
    }
    let declared = outcomes("run ->\nno garbage", ".inout n default 1\n.garbage g\nadd g, n\n");
    assert_eq!(declared, ["met", "no garbage / declared garbage: g: 1"]);
    let drifts = outcomes("run -> drifts\nrestored", floats);
    assert_eq!(drifts[0], "met");
    assert!(drifts[1].starts_with("the initial state, bit for bit / x = "), "{drifts:?}");
    let second =
        outcomes("run n=1 ->\nrun n=7 ->\nno garbage", ".inout n\n.var t\nif n > 5\nadd t, n\nfi t != 0\n");
    assert_eq!(
        second,
        ["met", "met", "no garbage / t: 7, must be 0"],
        "the second run alone leaves something"
    );
}

/// If a property has a separate line, a violation is reported only in that line.
#[test]
fn properties_of_every_run_are_reported_once() {
    let leaving = ".inout n default 1\n.var t\nadd t, n\n";
    assert_eq!(outcomes("run -> n=1", leaving), ["no garbage / t: 1, must be 0"]);
    assert_eq!(outcomes("run -> n=1\nno garbage", leaving), ["met", "no garbage / t: 1, must be 0"]);
    let erasing = ".inout n default 1\noverwrite n, 5\n";
    let alone = outcomes("run -> n=5", erasing);
    assert!(alone[0].contains("`overwrite n, 5` can't be undone without a history"), "{alone:?}");
    assert_eq!(outcomes("run -> n=5\nrestored", erasing)[0], "met");
}

#[test]
fn runs_that_trap_have_no_verdict_on_their_results() {
    let trap = ".inout n default 1\nassert n == 2\n";
    let outcomes = outcomes("run ->\nrun -> trap \"n == 2\"\nno garbage\nuses no swap", trap);
    assert!(outcomes[0].starts_with("the end / trap T10: "), "{outcomes:?}");
    assert_eq!(outcomes[1..], ["met", "unjudged", "met"]);
    assert_eq!(self::outcomes("run -> trap \"T10\"", trap), ["met"], "a trap has a code, too");
    let nothing = self::outcomes("restored", TWICE);
    assert!(nothing[0].starts_with("a run that can be checked / "), "{nothing:?}");
}

#[test]
fn instructions_of_included_files_count() {
    let folder = Folder::new();
    folder.file("part.rasm", ".macro put(x)\n        overwrite x, 1\n.endm\n");
    folder.file(
        "program.rasm",
        ";! run ->\n;! uses no overwrite\n.include \"part.rasm\"\n.inout n\n        put n\n",
    );
    folder.reviver("test program.rasm").expect(1).prints_part("the text contains `overwrite`");
}

#[test]
fn a_reference_is_compared_on_random_inputs() {
    let folder = Folder::new();
    folder.file(
        "reference.rasm",
        ".inout A[4], x: real\n.out sum, y: real\nadd sum, A[0] + A[1] + A[2] + A[3]\nadd y, x*x\n",
    );
    let program = |sum: &str| {
        format!(
            ";! same as reference.rasm on 50 random A in -5..5, x in 0.5..2.5 seed 7\n;! at most 2 steps\n\
             .inout A[4], x: real\n.out sum, y: real\nadd sum, {sum}\nadd.square y, x\n"
        )
    };
    folder.file("right.rasm", program("A[3] + A[2] + A[1] + A[0]"));
    folder
        .reviver("test right.rasm")
        .expect(1)
        .prints_part("  ok  line 1")
        .prints_part("expected at most 2 steps");
    // The result is wrong only if the last element isn't 0.
    folder.file("wrong.rasm", program("A[0] + A[1] + A[2]"));
    let first = folder.reviver("test wrong.rasm --json").expect(1).json();
    let miss = &first["files"][0]["expectations"][0]["missed"][0];
    let inputs: Vec<&str> = miss["on"].as_str().unwrap().split(' ').collect();
    let elements: Vec<i64> = inputs[0][2..].split(',').map(|n| n.parse().unwrap()).collect();
    assert!(
        elements.len() == 4 && elements.iter().all(|n| (-5..5).contains(n)) && elements[3] != 0,
        "{inputs:?}"
    );
    let x: f64 = inputs[1][2..].parse().unwrap();
    assert!((0.5..2.5).contains(&x));
    assert_eq!(miss["expected"], json!(format!("sum = {}", elements.iter().sum::<i64>())));
    let again = folder.reviver("test wrong.rasm --json").expect(1).json();
    assert_eq!(
        again["files"][0]["expectations"][0]["missed"],
        first["files"][0]["expectations"][0]["missed"]
    );
}

#[test]
fn a_reference_that_does_not_fit_is_reported() {
    let folder = Folder::new();
    folder.file("reference.rasm", ".in n\n.out y\nassert n < 900\nadd y, n\nsub n, y\n");
    folder.file("broken.rasm", "frob\n");
    let found = |line: &str, program: &str| {
        folder.file("program.rasm", format!(";! {line}\n{program}"));
        let object = folder.reviver("test program.rasm --json").expect(1).json();
        comes_to(&object["files"][0]["expectations"][0])
    };
    let fine = ".in n\n.out y\nadd y, n\nsub n, y\n";
    for (line, program, part) in [
        (
            "same as reference.rasm on 100 random n in 0..1000",
            fine,
            "a reference that runs to its end / trap T10",
        ),
        ("same as nowhere.rasm on 9 random n in 0..9", fine, "the reference nowhere.rasm / there is no file"),
        ("same as broken.rasm on 9 random n in 0..9", fine, "the reference broken.rasm / no program: "),
        ("same as ../reference.rasm on 9 random n in 0..9", fine, "is outside of the program's folder"),
        (
            "same as reference.rasm on 9 random m in 0..9",
            fine,
            "an input `m` of the reference / no cell has this name",
        ),
        (
            "same as reference.rasm on 9 random y in 0..9",
            fine,
            "an input `y` of the reference / it is `.out`",
        ),
        ("same as reference.rasm on 9 random n in 0.5..9", fine, "a range of integers for `n`"),
        (
            "same as reference.rasm on 9 random n in 0..9",
            ".in n\n.out z\nadd z, n\nsub n, z\n",
            "a result `y` / no result",
        ),
    ] {
        let said = found(line, program);
        assert!(said.contains(part), "{line}: {said}");
    }
}

#[test]
fn unreadable_expectations_are_failures() {
    let outcomes = outcomes("run n=1 -> twice\nno garbige\nuses no overwrit", TWICE);
    assert!(outcomes[0].contains("`twice` describes no result"), "{outcomes:?}");
    assert!(outcomes[1].contains("did you mean `no garbage`?"), "{outcomes:?}");
    assert!(outcomes[2].contains("did you mean `overwrite`?"), "{outcomes:?}");
}

#[test]
fn expected_numbers_have_the_syntax_of_the_language() {
    let header =
        "run n=0x14 -> twice=0x28\nrun n=1_000 -> twice=2_000\nrun n=-0b11 -> twice=-0x6\nat most 0x2 steps";
    assert_eq!(outcomes(header, TWICE), ["met"; 4]);
    let wrong = "run n=1 -> twice=0x3\nrun n=1 -> twice=4x\nrun word=8 -> twice=300\nrun n=1 -> twice=2,2";
    let said = outcomes(wrong, TWICE);
    assert_eq!(said[0], "twice = 0x3 / twice = 2");
    assert_eq!(said[1], "numbers for twice / `4x` is not an integer of 64 bits");
    assert_eq!(said[2], "numbers for twice / `300` is not an integer of 8 bits");
    assert_eq!(said[3], "twice = 2,2 / twice = 2");
    let half = ".inout x: real default 8\n.out y: real\nadd y, 0.5*x\n";
    let header = "run -> y=4\nrun -> y=0x4\nrun x=2_000 -> y=1_000.0\nrun x=0x10 -> y~0x8\nrun x=1 -> y=5e-1";
    assert_eq!(outcomes(header, half), ["met"; 5]);
    let read = ".out sum\nread sum\n";
    assert_eq!(outcomes("run tape=0x10 -> sum=16 tape=", read), ["met"]);
    let drawn = "same as  program.rasm on 0x5  random n in 0x0 .. 1_000  seed 0x7";
    assert_eq!(outcomes(drawn, TWICE), ["met"]);
}

#[test]
fn blanks_are_ignored_and_quotes_are_paired() {
    let header = "run  n = 20  ->  twice = 40\nrun n= -3->twice =-6\nback twice=10 -> n = 5\nno  garbage\n\
                  same\t as  program.rasm  on 5  random  n  in  0 .. 9\nat  most  2  steps";
    assert_eq!(outcomes(header, TWICE), ["met"; 6]);
    let traps = ".inout n default 1\nassert n == 0\n";
    assert_eq!(outcomes("run ->  trap   \"T0\"\nrun -> trap\"assert\"", traps).len(), 2);
    for wrong in ["trap \"assert", "trap assert\"", "trap assert", "trap \"assert\" n=1"] {
        let said = outcomes(&format!("run -> {wrong}"), traps);
        assert!(
            said[0].contains("write `trap \"text\"`, with one quotation mark on either side"),
            "{said:?}"
        );
    }
    let said = outcomes("run n=x -> error \"is not", TWICE);
    assert!(said[0].contains("write `error \"text\"`"), "{said:?}");
}

#[test]
fn an_invalid_program_is_reported_with_its_place() {
    let ran = tested("run -> n=1\nno garbage\nuses no swap", ".inout n\nad n, 1\n", "").expect(1);
    let ran = ran.prints_part("program.rasm:5").prints_part("  no  line 1: run -> n=1");
    ran.prints_part("  --  line 2: no garbage (not judged: the program has errors)")
        .prints_part("  ok  line 3");
    let object = tested("run -> n=1", ".inout n\nad n, 1\n", "--json").json();
    assert_eq!(object["files"][0]["diagnostics"][0]["line"], 3);
    assert_eq!(object["files"][0]["met"], json!(false));
}

#[test]
fn tested_programs_have_limits_of_steps_and_memory() {
    let endless = ".inout n default 1\nfrom n == 1\nadd n, 2\nuntil n == 0\n";
    for engine in ["interp", "auto"] {
        let ran = tested("run ->", endless, &format!("--max-steps 1000000 --engine {engine}")).expect(1);
        ran.prints_part("found more than 1000000 steps");
    }
    let growing = ".inout n default 1\nfrom n == 1\nlocal t = n\npush t\ndelocal t\nadd n, 1\nuntil n == 0\n";
    let deep = ".limit depth 100000\n.inout n default 1\ncall down(n)\n.proc down(inout n)\n.ancilla v[1000]\nadd n, 1\n\
                call down(n)\n.end\n";
    let large = ".inout n default 1\n.var A[100000000]\nadd n, A[0]\n";
    for (program, found) in [
        (growing, "found more than 64 MiB of memory"),
        (deep, "found more than 64 MiB of memory"),
        (large, "the program's cells take more than 64 MiB"),
    ] {
        tested("run ->", program, "--memory 64M").expect(1).prints_part(found);
    }
    // The memory of the history counts as memory of the run.
    let lossy = ".inout m, n default 0\nfrom n == 0\noverwrite m, n\nadd n, 1\nuntil n == 10000000\n";
    tested("run exact ->", lossy, "--memory 64M").expect(1).prints_part("found more than 64 MiB of memory");
    let exactly = ".inout n default 0\nadd n, 1\nadd n, 1\n";
    tested("run -> n=2", exactly, "--max-steps 2").expect(0);
    tested("run -> n=2", exactly, "--max-steps 1").expect(1);
}

#[test]
fn a_program_reads_its_own_folder_only() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("own/part")).unwrap();
    folder.file("secret.rasm", ".macro one(x)\n        add x, 1\n.endm\n");
    folder.file("own/part/one.rasm", ".macro one(x)\n        add x, 1\n.endm\n");
    let program = |include: &str| format!(";! run -> n=1\n.include \"{include}\"\n.inout n\n        one n\n");
    folder.file("own/in.rasm", program("part/one.rasm"));
    folder.reviver("test own/in.rasm").expect(0);
    let outside = folder.at("secret.rasm");
    for include in ["../secret.rasm", "part/../../secret.rasm", &outside] {
        folder.file("own/out.rasm", program(include));
        folder.reviver("test own/out.rasm").expect(1).prints_part("is outside of the program's folder");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path("secret.rasm"), folder.path("own/link.rasm")).unwrap();
        folder.file("own/out.rasm", program("link.rasm"));
        folder
            .reviver("test own/out.rasm")
            .expect(1)
            .prints_part("is a link to a file outside of the program's folder");
    }
}

#[test]
fn files_folders_and_patterns_are_tested() {
    let folder = Folder::new();
    for name in ["week1", "week1/deep", "week2", "week2/.hidden"] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
    }
    let met = format!(";! run -> twice=2\n{TWICE}");
    for name in ["week1/b.rasm", "week1/deep/a.rasm", "week2/c.rasm", "week2/.hidden/x.rasm"] {
        folder.file(name, &met);
    }
    folder.file("week1/library.rasm", TWICE);
    let names = |arguments: &str| -> Vec<String> {
        let object = folder.reviver(&format!("test {arguments} --json")).expect(0).json();
        let files = object["files"].as_array().unwrap().iter();
        files.map(|file| file["file"].as_str().unwrap().replace('\\', "/")).collect()
    };
    assert_eq!(names("week1"), ["week1/b.rasm", "week1/deep/a.rasm"]);
    assert_eq!(names("week2 week2/c.rasm"), ["week2/c.rasm"]);
    assert_eq!(names("week*/?.rasm"), ["week1/b.rasm", "week2/c.rasm"]);
    assert_eq!(names("**/?.rasm"), ["week1/b.rasm", "week1/deep/a.rasm", "week2/c.rasm"]);
    folder.reviver("test week2/*/*.rasm").expect(2).says("no file matches");
    assert_eq!(names("**/.hidden/?.rasm"), ["week2/.hidden/x.rasm"]);
    assert_eq!(names("week2/.h*/?.rasm"), ["week2/.hidden/x.rasm"]);
    folder.reviver("test week1/library.rasm").expect(1).says("this text has no expectations");
    folder.reviver("test week9").expect(3).says("there is no file week9");
    folder.reviver("test week*/*.rbc").expect(2).says("no file matches");
    std::fs::create_dir(folder.path("empty")).unwrap();
    folder.reviver("test empty").expect(1).says("no text with expectations was found");
    folder.reviver("asm week1/library.rasm -o image.rbc").expect(0);
    folder.reviver("test image.rbc").expect(2).says("an image has no header");
}

#[test]
fn expectations_may_be_in_a_separate_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("class")).unwrap();
    folder.file(
        "expect.txt",
        "What is asked for:\n;! run n=4 -> twice=8\n;! same as twice.rasm on 5 random n in 0..9\n",
    );
    folder.file("twice.rasm", TWICE);
    folder.file("class/ada.rasm", TWICE);
    folder.file("class/ben.rasm", format!(";! run n=4 -> twice=9\n{}", TWICE.replace("2*n", "2*n + 1")));
    let object = folder.reviver("test class --expect expect.txt --json").expect(1).json();
    let met: Vec<&Value> = object["files"].as_array().unwrap().iter().map(|file| &file["met"]).collect();
    assert_eq!(met, [&json!(true), &json!(false)]);
}

#[test]
fn build_servers_get_a_report() {
    let folder = Folder::new();
    folder.file("a.rasm", format!(";! run -> twice=2\n;! run n=1 -> twice=3\n{TWICE}"));
    folder.file("b.rasm", ";! run ->\n;! no garbage\n.inout n\nassert n == 1\n");
    folder.reviver("test a.rasm b.rasm --junit report.xml").expect(1);
    let report = String::from_utf8(folder.read("report.xml")).unwrap();
    for part in [
        "<testsuites name=\"reviver test\" tests=\"4\" skipped=\"1\" failures=\"2\" errors=\"0\"",
        "<testsuite name=\"a.rasm\" tests=\"2\" skipped=\"0\" errors=\"0\" failures=\"1\"",
        "<testcase name=\"line 2: run n=1 -&gt; twice=3\" classname=\"a\"",
        "expected twice = 3, found twice = 2",
        "<skipped message=\"no run has reached its end\"",
    ] {
        assert!(report.contains(part), "the report lacks {part}: {report}");
    }
    folder.reviver("test a.rasm --junit report.xml").expect(1);
    folder.file("notes.xml", "my notes");
    folder
        .reviver("test a.rasm --junit notes.xml")
        .expect(2)
        .says("is not a report that `reviver test` has written");
    folder
        .reviver("test a.rasm --junit a.rasm --force")
        .expect(2)
        .says("would be overwritten, but the command reads it");
}

#[test]
fn every_engine_gives_the_same_results() {
    let without_time = |engine: &str| {
        let text = reviver(&format!(
            "test programs/sort.rasm programs/besselj.rasm programs/erase.rasm --engine {engine}"
        ));
        text.expect(0).stdout
    };
    assert_eq!(without_time("interp"), without_time("jit"));
}

#[test]
fn derivatives_are_expected_in_headers() {
    let program = ".inout x: real default 3\n.out y: real\nadd.square y, x\n";
    let outcomes = outcomes(
        "grad y x=2 -> value~4 x~4\ngrad y -> x~7\nhessian y -> x,x~2\njacobian -> y,x~6\ngrad z -> x~1",
        program,
    );
    assert_eq!(outcomes, ["met", "x ~ 7.0 / x ~ 6.0", "met", "met", "derivatives / no cell `z`"]);
}

#[test]
fn an_unreadable_file_does_not_stop_the_other_tests() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("set")).unwrap();
    folder.file("set/a.rasm", ";! run -> x=1\n.out x\nadd x, 1\n");
    folder.file("set/b.rasm", [0xff, 0xfe, 0x00]);
    folder.file("set/c.rasm", ".out x\nadd x, 1\n");
    folder.file("set/d.rasm", ";! run -> x=2\n.out x\nadd x, 2\n");
    let ran = folder.reviver("test set --junit report.xml").expect(1);
    ran.prints_part("set/d.rasm")
        .prints_part("expected a text that can be read")
        .prints_part("3 expectations in 3 files: 2 met, 1 missed");
    assert!(std::fs::read_to_string(folder.path("report.xml")).unwrap().contains("set/d.rasm"));
    // A file without expectations is skipped in a pattern or folder, and an error if it is named.
    folder.reviver("test set/[acd].rasm").expect(0).prints_part("2 expectations in 2 files");
    folder.reviver("test set/a.rasm set/c.rasm").expect(1).prints_part("found none");
    folder.reviver("test set/a.rasm ./set/a.rasm").expect(0).prints_part("1 expectation in 1 file");
}

/// The text shows the start of a long generated array, JSON all of it.
#[test]
fn long_inputs_are_abbreviated() {
    let folder = Folder::new();
    folder.file("reference.rasm", ".inout A[20]\n.out y\nadd y, 1\n");
    let file =
        folder.file("long.rasm", ";! same as reference.rasm on 1 random A in 0..2\n\n.inout A[20]\n.out y\n");
    let reported = reviver(&format!("test {file}")).expect(1).stdout;
    assert!(reported.contains(",… (20 values): expected y = 1, found y = 0"), "{reported}");
    let object = reviver(&format!("test {file} --json")).expect(1).json();
    assert!(!object.to_string().contains('…'), "{object}");
}

/// Some editors write a byte order mark. An expectation directly after the mark is still read.
#[test]
fn a_byte_order_mark_hides_no_expectation() {
    let folder = Folder::new();
    let program = ".in n default 1\n.out twice\n add twice, 2*n\n sub n, twice / 2\n";
    folder.file("marked.rasm", format!("\u{feff};! run n=2 -> twice=5\n{program}"));
    folder.reviver("test marked.rasm").expect(1).prints_part("found twice = 4");
}

/// Files without tests aren't reported as invalid programs.
#[test]
fn files_without_expectations_and_missing_files_are_reported() {
    let folder = Folder::new();
    folder.file("good.rasm", ";! run n=2 -> n=-2\n.inout n\nneg n\n");
    folder.file("bare.rasm", ".inout n\nneg n\n");
    let ran = folder.reviver("test good.rasm bare.rasm").expect(1);
    assert!(!ran.stdout.contains("E82"), "{ran:#?}");
    let ran = folder.reviver("test good.rasm missing.rasm").expect(3);
    assert!(!ran.stdout.contains("E82"), "{ran:#?}");
    folder.reviver("test good.rasm --json --junit -").expect(2).says("both write to standard output");
}

/// Adam with 800 steps reaches a loss of 0, and has the positions of a computation by NumPy.
#[test]
fn a_long_training_reaches_its_minimum() {
    let ran = reviver("run programs/graph_adam.rasm --set steps=800 --json").expect(0).json();
    assert!(ran["outputs"]["loss"].as_f64().unwrap() < 1e-13, "{}", ran["outputs"]["loss"]);
    // The first vertex that moves, by tests/papers/graph_adam.py.
    const VERTEX: [f64; 5] = [
        0.9999999236512404,
        0.06479317964349468,
        0.5537444003599463,
        0.8269044685991093,
        -0.07346866346233356,
    ];
    for (found, expected) in ran["outputs"]["x"][2].as_array().unwrap().iter().zip(VERTEX) {
        assert!((found.as_f64().unwrap() - expected).abs() < 3e-13, "{found}, not {expected}");
    }
}
