//! Grading of a class, with arbitrary contents in its folders.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Folder, crowded, reviver, root};

const FIRST: &str = "01-swap-two-cells";
const RIGHT: &str = ".inout a default 3\n.inout b default 8\nswap a, b\n";

/// Creates a student's folder with a program for the first exercise.
fn student(class: &Folder, name: &str, program: impl AsRef<[u8]>) {
    std::fs::create_dir_all(class.path(name).join(FIRST)).unwrap();
    class.file(&format!("{name}/{FIRST}/start.rasm"), program);
}

/// Returns nested macros that expand to more than a million instructions.
fn bomb() -> String {
    let mut text = String::from(".inout a default 3\n.inout b default 8\n");
    for n in 1..6 {
        text += &format!(".macro m{n}()\n{}.endm\n", format!("m{}\n", n + 1).repeat(10));
    }
    let sum: Vec<String> = (2..60).map(|n| format!("(b*{n})")).collect();
    text + &format!(".macro m6()\n{}.endm\nm1\n", format!("add a, {}\n", sum.join(" + ")).repeat(8))
}

/// Returns the row of an exercise of a folder, split into columns.
fn row(table: &str, folder: &str, exercise: &str) -> Vec<String> {
    let begins = format!("{folder},{exercise},");
    let row = table.lines().find(|line| line.starts_with(&begins));
    row.unwrap_or_else(|| panic!("no row {begins}: {table}")).split(',').map(str::to_owned).collect()
}

fn first(object: &Value, folder: usize) -> &Value {
    &object["folders"][folder]["exercises"][0]
}

#[test]
fn a_class_becomes_a_table() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    student(&class, "ben", RIGHT.replace("swap", "add"));
    std::fs::create_dir(class.path("cleo")).unwrap();
    let ran = class.reviver("course report ada ben cleo -o grades.csv").expect(0);
    let ran = ran.says("note: there are no exercises in cleo").prints_part("ada: 1 of 37 passed, 10 of ");
    ran.prints_part("cleo: 0 of 37 passed, 0 of ");
    let table = String::from_utf8(class.read("grades.csv")).unwrap();
    assert!(
        table.starts_with("folder,exercise,state,met,asked,points,max_points,reason,seconds\n"),
        "{table}"
    );
    assert_eq!(row(&table, "ada", FIRST)[2..8], ["passed", "7", "7", "10", "10", ""], "{table}");
    let ben = row(&table, "ben", FIRST);
    assert_eq!((&*ben[2], &*ben[7]), ("failed", "wrong value"), "{table}");
    assert_eq!(row(&table, "cleo", FIRST)[2..8], ["missing", "0", "7", "0", "10", ""], "{table}");
    assert_eq!(table.lines().count(), 1 + 3 * 37);
    class.reviver("course report ada -o grades.csv").expect(0);
    class.file("notes.csv", "name,mark\nada,1\n");
    class.reviver("course report ada -o notes.csv").expect(2).says("is not a table of grades");
    assert_eq!(class.reviver("course report ada").expect(0).stdout.lines().count(), 38);
    class
        .reviver("course report ada --json -o -")
        .expect(2)
        .prints_part("would both write to standard output");
    let object = class.reviver("course report ada ben --json -o grades.csv").expect(0).json();
    assert_eq!(object["folders"][0]["passed"], json!(1));
    assert_eq!(object["folders"][0]["points"], json!(10));
    assert_eq!(String::from_utf8(class.read("grades.csv")).unwrap().lines().count(), 1 + 2 * 37);
}

/// In the table, each reason of a failure has its own word.
#[test]
fn the_reason_is_reported() {
    let class = Folder::new();
    let declared = ".inout a default 3\n.inout b default 8\n";
    let cases = [
        ("syntax", format!("{declared}swop a, b\n")),
        ("syntax", String::new()),
        ("steps", format!("{declared}from a == 3\nadd a, 2\nuntil a == 0\n")),
        ("missing cell", ".inout a default 3\n.inout c default 8\nswap a, c\n".to_owned()),
        ("wrong value", format!("{declared}add a, 1\n")),
        ("trap", format!("{declared}assert a == 4\n")),
        ("garbage", format!("{declared}.var t\nadd t, 1\nswap a, b\n")),
        ("property", format!("{declared}.var t\nadd t, a\nerase t\nswap a, b\n")),
        ("cheating include", format!("{declared}.include \"../../secret.rasm\"\n")),
        ("cheating include", format!("{declared}.include \"mine.rasm\"\n")),
        ("too much", bomb()),
        ("memory", format!("{declared}.var A[100000000]\nadd A[a], 1\nsub A[a], 1\nswap a, b\n")),
    ];
    let names: Vec<String> = (0..cases.len()).map(|n| format!("s{n}")).collect();
    for ((_, text), name) in cases.iter().zip(&names) {
        student(&class, name, text);
    }
    let solution = std::fs::read_to_string(root().join("course/exercises/01-swap-two-cells/solution.rasm"));
    class.file("s9/01-swap-two-cells/mine.rasm", format!("; all mine\n{}", solution.unwrap()));
    let table = class.reviver(&format!("course report {}", names.join(" "))).expect(0).stdout;
    for ((reason, text), name) in cases.iter().zip(&names) {
        let row = row(&table, name, FIRST);
        let text: String = text.chars().take(200).collect();
        assert_eq!((&*row[2], &*row[7]), ("failed", *reason), "{name}: {text}\n{row:?}");
    }
}

/// A program that would crash or block the grader doesn't affect the grading of other programs.
#[test]
fn one_program_does_not_end_the_grading_of_the_others() {
    let class = Folder::new();
    student(&class, "bomb", bomb());
    student(&class, "slow", ".inout a default 3\n.inout b default 8\nfrom a == 3\nadd a, 2\nuntil a == 0\n");
    student(
        &class,
        "large",
        ".inout a default 3\n.inout b default 8\n.var A[30000000]\nadd A[a], 1\nsub A[a], 1\n",
    );
    let deep = format!(".inout a\n.inout b\nadd a, {}1\n", "(".repeat(100_000));
    student(&class, "deep", deep);
    student(&class, "bytes", b"\xff\xfe.\0i\0n\0 \0a\0\n\0");
    student(&class, "ada", RIGHT);
    // The second exercise is graded even if the first one fails.
    let second = "02-there-and-back";
    let solution = std::fs::read(root().join("course/exercises").join(second).join("solution.rasm")).unwrap();
    std::fs::create_dir_all(class.path("slow").join(second)).unwrap();
    class.file(&format!("slow/{second}/start.rasm"), solution);
    let limits = "--limit-time 5 --max-steps 100000000000 --limit-memory 100M --memory 4G --engine interp";
    let ran = class.reviver(&format!("course report bomb slow large deep bytes ada {limits}")).expect(0);
    let reason = |name: &str| row(&ran.stdout, name, FIRST)[7].clone();
    assert_eq!(reason("bomb"), "too much");
    assert_eq!(reason("slow"), "time");
    assert_eq!(row(&ran.stdout, "slow", second)[2], "passed");
    assert_eq!(reason("large"), "memory");
    assert_eq!(reason("deep"), "too much");
    assert_eq!(reason("bytes"), "unreadable");
    assert_eq!(row(&ran.stdout, "ada", FIRST)[2], "passed");
    let ran = class.reviver("course report bomb ada --limit-output 100 --json").expect(0).json();
    assert_eq!(first(&ran, 0)["reason"], json!("output"));
}

/// If no thread can be started, the grading process reads the output of its children itself. Grades, limits and
/// messages are the same.
#[test]
fn a_class_is_graded_without_threads() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    student(&class, "slow", ".inout a default 3\n.inout b default 8\nfrom a == 3\nadd a, 2\nuntil a == 0\n");
    student(&class, "wrong", ".inout a\nadd a, 1\n");
    let [ada, slow, wrong] = ["ada", "slow", "wrong"].map(|name| class.at(name));
    let limits = "--limit-time 5 --max-steps 100000000000 --engine interp";
    let line = format!("course report {ada} {slow} {wrong} {limits}");
    // The last column is the time.
    let grades = |table: &str| -> Vec<String> {
        table.lines().map(|row| row.rsplit_once(',').map_or(row, |(row, _)| row).to_owned()).collect()
    };
    let table = crowded(&line, b"").expect(0).stdout;
    assert_eq!(
        (&*row(&table, &ada, FIRST)[2], &*row(&table, &slow, FIRST)[7]),
        ("passed", "time"),
        "{table}"
    );
    assert_eq!(grades(&table), grades(&reviver(&line).expect(0).stdout));
    let line = format!("course report {ada} --limit-output 100 --json");
    assert_eq!(first(&crowded(&line, b"").expect(0).json(), 0)["reason"], json!("output"));
}

#[test]
fn files_that_are_not_folders_are_skipped_with_a_note() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    class.file("ben.zip", b"PK\x03\x04");
    class.file("notes.txt", "late\n");
    std::fs::create_dir_all(class.path("cleo")).unwrap();
    student(&class, "cleo/mine", RIGHT);
    let ran = class.reviver("course report ben.zip notes.txt ada cleo -o grades.csv").expect(1);
    let ran = ran.says("note: ben.zip is skipped: it is an archive: unpack it, and name its folder");
    let ran = ran.says("note: notes.txt is skipped: it is a file: name the folder of exercises");
    ran.says("note: there are no exercises in cleo; the exercises are in cleo/mine");
    let table = String::from_utf8(class.read("grades.csv")).unwrap();
    assert_eq!(row(&table, "ada", FIRST)[2], "passed");
    let object = class.reviver("course report notes.txt ada --json").expect(1).json();
    assert_eq!(
        (first(&object, 0)["state"].as_str(), object["error"]["kind"].as_str()),
        (Some("passed"), Some("check"))
    );
    class.reviver("course report nowhere ada").expect(2).says("there is no folder nowhere");
}

/// The rows of a folder are written as soon as the folder is graded.
#[cfg(unix)]
#[test]
fn an_interrupted_report_keeps_its_rows() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    student(&class, "slow", ".inout a default 3\n.inout b default 8\nfrom a == 3\nadd a, 2\nuntil a == 0\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
    let arguments =
        "course report ada slow -o grades.csv --max-steps 100000000000 --limit-time 600 --engine interp";
    command.args(arguments.split(' ')).current_dir(class.path("")).stderr(std::process::Stdio::piped());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let rows = || std::fs::read_to_string(class.path("grades.csv")).unwrap_or_default().lines().count();
    while rows() < 38 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no rows of the first folder");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(rows(), 38);
}

#[test]
fn a_teacher_adds_hidden_expectations() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    // The program meets only the visible expectations.
    student(&class, "ben", ".inout a default 3\n.inout b default 8\nif a < 100\nswap a, b\nfi b < 100\n");
    std::fs::create_dir(class.path("hidden")).unwrap();
    class.file("hidden/1.txt", ";! points 5\n;! run a=1000 b=500 -> a=500 b=1000\n");
    let table = class.reviver("course report ada ben --hidden hidden").expect(0).stdout;
    assert_eq!(row(&table, "ada", FIRST)[2..8], ["passed", "8", "8", "15", "15", ""]);
    assert_eq!(row(&table, "ben", FIRST)[2..8], ["failed", "7", "8", "10", "15", "wrong value"]);
    let object = class.reviver("course report ben --hidden hidden --json").expect(0).json();
    assert_eq!(first(&object, 0)["hidden"][0]["met"], json!(false));
    // A mistake of the teacher is an error before grading starts.
    let mistakes = [
        (";! runs a=1 -> b=1\n", "1.txt:1: `runs a=1 -> b=1`: no expectation begins with `runs`"),
        (
            ";! run a=1 b=2 -> a=1\n",
            "1.txt:1: the solution of `01-swap-two-cells` doesn't meet `run a=1 b=2 -> a=1`",
        ),
        (";! run x=1 -> a=8\n", "the solution of `01-swap-two-cells` doesn't meet `run x=1 -> a=8`"),
        (";! points many\n;! run -> a=8\n", "`points many`: write `points N`"),
        (";! same as nothing.rasm on 3 random a in 0..9 seed 1\n", "doesn't meet `same as nothing.rasm"),
        ("; nothing\n", "has no expectations"),
    ];
    for (text, said) in mistakes {
        class.file("hidden/1.txt", text);
        let ran = class.reviver("course report ada --hidden hidden -o made.csv").expect(2).says(said);
        assert_eq!(ran.stderr.matches("error:").count(), 1, "{ran:?}");
        assert!(!class.path("made.csv").exists());
    }
    std::fs::remove_file(class.path("hidden/1.txt")).unwrap();
    class.reviver("course report ada --hidden hidden").expect(2).says("hidden has no expectations");
    class.file("hidden/first.txt", ";! run -> a=8\n");
    class.reviver("course report ada --hidden hidden").expect(2).says("no exercise is called `first`");
    class.reviver("course report ada --hidden nowhere").expect(2).says("can't read the folder nowhere");
    // If the exercise's own solution doesn't meet a hidden expectation, the teacher adds a solution to the folder of
    // the expectation.
    std::fs::remove_file(class.path("hidden/first.txt")).unwrap();
    std::fs::create_dir(class.path("hidden").join(FIRST)).unwrap();
    class.file(&format!("hidden/{FIRST}/expect.txt"), ";! run a=1 b=2 -> a=2 b=1\n;! at most 3 steps\n");
    class.reviver("course report ada --hidden hidden").expect(0);
    class.file(&format!("hidden/{FIRST}/expect.txt"), ";! run a=1 b=2 -> a=1 b=2\n");
    class.file(&format!("hidden/{FIRST}/solution.rasm"), ".inout a\n.inout b\nadd a, b\nsub a, b\n");
    class.reviver("course report ada --hidden hidden").expect(0);
}

#[test]
fn solutions_are_for_teachers() {
    let class = Folder::new();
    class.reviver("course solutions").expect(2).says("--teacher <DIR>");
    class.reviver("course solutions --teacher own").expect(0).prints_part("of 37 exercises are in own");
    for file in ["solution.rasm", "expect.txt", "hints.toml", "task.md"] {
        assert!(class.path("own").join(FIRST).join(file).exists(), "{file}");
    }
    class.reviver(&format!("test own/{FIRST}/solution.rasm --expect own/{FIRST}/expect.txt")).expect(0);
    class.reviver("course solutions --teacher own").expect(0).prints_part("existing files stay unchanged");
    // A student's program that includes a solution is refused.
    student(&class, "eve", ".include \"solution.rasm\"\n");
    std::fs::copy(
        class.path("own").join(FIRST).join("solution.rasm"),
        class.path("eve").join(FIRST).join("solution.rasm"),
    )
    .unwrap();
    let object = class.reviver("course report eve --json").expect(0).json();
    assert_eq!(first(&object, 0)["reason"], json!("cheating include"));
    let ran = class.reviver("course check 1 eve").expect(1);
    ran.prints_part("is a solution of the course").prints_part("includes a file that isn't allowed");
}

#[test]
fn moodle_imports_a_row_for_each_folder() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    student(&class, "Ben Bell_4711_assignsubmission_file", RIGHT.replace("swap", "add"));
    student(&class, "=1+2", RIGHT);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
    let folders = ["ada", "Ben Bell_4711_assignsubmission_file", "=1+2"];
    command.args(["course", "report", "--moodle"]).args(folders).current_dir(class.path(""));
    let table = crate::support::ran(&mut command, b"").expect(0).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert!(
        lines[0].starts_with("Identifier,Full name,Username,Grade,Maximum grade,Feedback comments,01-swap"),
        "{table}"
    );
    assert!(lines[1].starts_with(",,ada,10,"), "{table}");
    assert!(lines[2].starts_with("Participant 4711,Ben Bell,,"), "{table}");
    assert!(lines[2].contains("01-swap-two-cells: ") && lines[2].contains("wrong value"), "{table}");
    assert!(lines[3].starts_with(",,'=1+2,10,"), "no formula: {table}");
    let plain = crate::support::ran(command.arg("-o").arg("moodle.csv"), b"").expect(0);
    plain.prints_part("=1+2: 1 of 37 passed");
    class.reviver("course report ada --moodle -o moodle.csv").expect(0);
}

#[test]
fn a_classroom_gets_its_tests() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    let text = class.reviver("course report --classroom").expect(0).stdout;
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["tests"].as_array().unwrap().len(), 37);
    let test = &object["tests"][0];
    assert_eq!((&test["run"], &test["points"]), (&json!("reviver course check 1"), &json!(10)));
    assert_eq!(test["name"], json!("1. Swap two cells"));
    class.reviver("course report --classroom -o tests.json").expect(0);
    class.reviver("course report --classroom -o tests.json").expect(0);
    let text = class.reviver("course report --classroom ada").expect(0).stdout;
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&object["tests"][0]["status"], &object["tests"][0]["score"]), (&json!("pass"), &json!(10)));
    assert_eq!(object["tests"][1]["status"], json!("fail"));
    class.reviver("course report --classroom ada ada").expect(2).says("at most one folder");
    class.reviver("course report").expect(2);
}

/// The documented script works, if Python is available.
#[cfg(unix)]
#[test]
fn the_autograder_writes_results() {
    let class = Folder::new();
    student(&class, "ada", RIGHT);
    let script = root().join("course/graders/autograder.py");
    let bin = Path::new(env!("CARGO_BIN_EXE_reviver")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = std::process::Command::new("python3");
    command.arg(script).args(["ada", "results.json"]).env("PATH", path).current_dir(class.path(""));
    match command.status() {
        Err(_) => eprintln!("skipped: there is no python3 here"),
        Ok(status) => {
            assert!(status.success());
            let object: Value = serde_json::from_slice(&class.read("results.json")).unwrap();
            assert_eq!(object["tests"][0]["status"], json!("passed"));
            assert_eq!(object["tests"][0]["score"], json!(10));
        }
    }
}

#[test]
fn equal_programs_are_listed() {
    let class = Folder::new();
    let program = |a: &str, b: &str| {
        format!(
            "; {a}\n.inout a default 3\n.inout b default 8\n.var {a}\nadd {a}, a + 2*b\n  sub {a}, a + 2*b\nfrom {b}\n add {a}, 1\nuntil {a}\n"
        )
    };
    student(&class, "ada", program("spare", "left"));
    student(&class, "ben", program("t", "q").replace('\n', "\r\n\r\n").replace(", ", ",\t"));
    student(&class, "cleo", program("t", "q").replace("2*b", "3*b"));
    student(&class, "dan", RIGHT);
    student(&class, "eve", RIGHT);
    let ran = class.reviver("course similar ada ben cleo dan eve").expect(0);
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    ran.prints_part("ada  ben  01-swap-two-cells  (");
    let object = class.reviver("course similar ada ben cleo dan eve --at-least 0 --json").expect(0).json();
    assert_eq!(object["pairs"].as_array().unwrap().len(), 2);
    class
        .reviver("course similar ada cleo")
        .expect(0)
        .prints("no two programs are equal up to names and layout\n");
}
