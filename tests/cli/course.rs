//! Course: embedded exercises, and their grading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Folder, Ran, reviver, root};

/// Exercise in the sources.
struct Source {
    name: String,
    folder: PathBuf,
}

/// Typical mistake, and the hint that it must get.
struct Mistake {
    name: String,
    text: String,
    hint: u64,
}

impl Source {
    fn read(&self, file: &str) -> String {
        let path = self.folder.join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the wrong solutions by name.
    fn wrong(&self) -> Vec<Mistake> {
        let Ok(entries) = std::fs::read_dir(self.folder.join("wrong")) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let one = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = format!("{}/{}", self.name, path.file_name().unwrap().to_str().unwrap());
            let said = text.lines().next().and_then(|line| line.strip_prefix("; expects hint: "));
            let number = said.and_then(|number| number.parse().ok());
            let hint = number.unwrap_or_else(|| panic!("{name} doesn't say which hint it expects"));
            Mistake { name, text, hint }
        };
        paths.into_iter().map(one).collect()
    }
}

fn sources() -> Vec<Source> {
    let entries = std::fs::read_dir(root().join("course/exercises")).unwrap();
    let mut sources: Vec<Source> = entries
        .map(|entry| entry.unwrap().path())
        .map(|folder| Source { name: folder.file_name().unwrap().to_str().unwrap().to_owned(), folder })
        .collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources
}

/// Creates a folder with solutions of some exercises; the others are missing.
fn attempt<'t>(within: &Folder, name: &str, solved: impl IntoIterator<Item = (&'t str, &'t str)>) {
    for (exercise, text) in solved {
        let folder = within.path(name).join(exercise);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("start.rasm"), text).unwrap();
    }
}

/// Returns the grades of folders by folder and exercise, without missing exercises.
fn grades(within: &Folder, folders: &[&str]) -> BTreeMap<(String, String), Value> {
    let object = within.reviver(&format!("course report {} --json", folders.join(" "))).expect(0).json();
    let folders = object["folders"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let graded = folders.iter().flat_map(|folder| {
        let exercises = folder["exercises"].as_array().unwrap().iter();
        exercises.map(|grade| ((text(&folder["folder"]), text(&grade["name"])), grade.clone()))
    });
    graded.filter(|(_, grade)| grade["state"] != "missing").collect()
}

/// Returns the lines that aren't met, to show the reason for a failure.
fn unmet(grade: &Value) -> Vec<String> {
    let lines = grade["expectations"].as_array().unwrap().iter();
    lines.filter(|line| line["met"] != json!(true)).map(Value::to_string).collect()
}

#[test]
fn every_solution_passes() {
    let folder = Folder::new();
    let sources = sources();
    let texts: Vec<(String, String)> =
        sources.iter().map(|source| (source.name.clone(), source.read("solution.rasm"))).collect();
    attempt(&folder, "solved", texts.iter().map(|(name, text)| (&**name, &**text)));
    let grades = grades(&folder, &["solved"]);
    assert_eq!(grades.len(), sources.len());
    for ((_, name), grade) in &grades {
        assert_eq!(grade["state"], json!("passed"), "{name}: {:#?}", unmet(grade));
    }
}

#[test]
fn every_start_fails_with_its_first_hint() {
    let folder = Folder::new();
    folder.reviver("course start fresh").expect(0);
    let grades = grades(&folder, &["fresh"]);
    assert_eq!(grades.len(), sources().len());
    for ((_, name), grade) in &grades {
        assert_eq!(grade["state"], json!("untouched"), "{name}: its start passes, or is another one");
        assert_eq!(grade["hint"]["number"], json!(1), "{name}: {:#?}", unmet(grade));
        assert!(grade["diagnostics"].is_null(), "{name}: its start doesn't assemble");
    }
}

#[test]
fn every_wrong_solution_gets_its_hint() {
    let folder = Folder::new();
    let wrong: Vec<(String, Vec<Mistake>)> =
        sources().iter().map(|source| (source.name.clone(), source.wrong())).collect();
    let most = wrong.iter().map(|(_, wrong)| wrong.len()).max().unwrap();
    let names: Vec<String> = (0..most).map(|n| format!("wrong{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        let solved = wrong.iter().filter_map(|(exercise, wrong)| Some((&**exercise, &*wrong.get(n)?.text)));
        attempt(&folder, name, solved);
    }
    let grades = grades(&folder, &names.iter().map(|name| &**name).collect::<Vec<_>>());
    let (mut tried, mut others) = (0, Vec::new());
    for (exercise, wrong) in &wrong {
        for (Mistake { name, hint, .. }, folder) in wrong.iter().zip(&names) {
            let grade = &grades[&(folder.clone(), exercise.clone())];
            if grade["hint"]["number"] != json!(hint) {
                let given = &grade["hint"]["number"];
                others.push(format!("{name} gets hint {given} and not {hint}: {:#?}", unmet(grade)));
            }
            tried += 1;
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    assert!(tried >= WRONG_AT_LEAST, "{tried} wrong solutions");
}

const WRONG_AT_LEAST: usize = 25;
const EXERCISES_AT_LEAST: usize = 30;

#[test]
fn every_exercise_is_complete() {
    let sources = sources();
    assert!(sources.len() >= EXERCISES_AT_LEAST, "{} exercises", sources.len());
    for (n, source) in sources.iter().enumerate() {
        let name = &source.name;
        let number: usize = name.split('-').next().unwrap().parse().unwrap();
        assert_eq!(number, n + 1, "{name}: the numbers have a gap, or one is there twice");
        let task = source.read("task.md");
        assert!(
            task.starts_with(&format!("# {number}. ")),
            "{name}: the title of the task has another number"
        );
        let too_long = |line: &&str| line.chars().count() > 80 && !line.starts_with("    ");
        assert_eq!(task.lines().find(too_long), None, "{name}: a line of the task that a terminal cuts");
        let marked = |text: &str| -> Vec<String> {
            let is_line = |line: &&str| line.starts_with(";!") && !line.starts_with(";! points");
            text.lines().filter(is_line).map(str::to_owned).collect()
        };
        let expected = marked(&source.read("expect.txt"));
        assert_eq!(
            marked(&source.read("start.rasm")),
            expected,
            "{name}: the header of the start says something else"
        );
        for file in ["start.rasm", "solution.rasm", "reference.rasm"].map(|file| source.folder.join(file)) {
            if file.exists() {
                reviver(&format!("fmt --check {}", file.display())).expect(0);
                reviver(&format!("check {}", file.display())).expect(0).says("");
            }
        }
        assert!(source.read("start.rasm").contains("TODO"), "{name}: where is the gap?");
    }
}

#[test]
fn hints_link_to_existing_lessons() {
    for source in sources() {
        let hints = source.read("hints.toml");
        let lessons = hints.lines().filter_map(|line| line.strip_prefix("lesson = \"")?.strip_suffix('"'));
        for lesson in lessons {
            reviver(&format!("course read {lesson}")).expect(0).prints_part("## Goals");
        }
    }
}

/// Creates a student's folder with all exercises.
fn begun() -> Folder {
    let folder = Folder::new();
    folder.reviver("course start mine").expect(0);
    folder
}

fn within(folder: &Folder, arguments: &str) -> Ran {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.args(arguments.split_whitespace()).current_dir(folder.path("mine"));
    crate::support::ran(&mut command, b"")
}

const FIRST: &str = "mine/01-swap-two-cells/start.rasm";

#[test]
fn a_set_is_copied_and_nothing_is_overwritten() {
    let folder = Folder::new();
    folder
        .reviver("course start mine")
        .expect(0)
        .prints_part("exercises and the programs of the book are in mine")
        .prints_part("\n  reviver course read 1\n")
        .prints_part("reviver course check 1");
    let has = |name: &str| folder.path("mine/01-swap-two-cells").join(name).exists();
    assert!(has("task.md") && has("start.rasm"));
    for teachers in ["solution.rasm", "hints.toml", "expect.txt", "wrong"] {
        assert!(!has(teachers), "nothing is copied that tells how: {teachers}");
    }
    assert!(folder.path("mine/programs/fib.rasm").exists());
    folder.file(FIRST, "; my own\n");
    std::fs::remove_file(folder.path("mine/01-swap-two-cells/task.md")).unwrap();
    folder.reviver("course start mine").expect(0).prints_part("1 file written into mine; ");
    assert_eq!(folder.read(FIRST), b"; my own\n");
    assert!(has("task.md"));
    folder.reviver("course start mine").expect(0).prints_part("all files are in mine already");
    assert_eq!(folder.reviver("course start mine").expect(0).stderr, "");
    folder.file("mine/01-swap-two-cells/solution.rasm", "; of an older set\n");
    folder.reviver("course start mine").expect(0).says("note: mine already has solutions of 1 exercise");
    folder.reviver("course start -").expect(2).says("`-` isn't a folder").says("`./-`");
    assert!(!folder.path("-").exists());
    folder.file("file", "");
    folder.reviver("course start file").expect(3).says("can't create the folder");
}

#[test]
fn the_first_exercise_is_begun_hinted_at_and_passed() {
    let folder = begun();
    let ran = within(&folder, "course").expect(0);
    ran.prints_part("  1           Swap two cells").prints_part("next: Swap two cells, 01-swap-two-cells");
    let ran = within(&folder, "course check 1").expect(1);
    let ran = ran.prints_part("1. Swap two cells: not begun yet").prints_part("  no  erases nothing");
    assert!(
        ran.stdout.contains("what   The numbers change places") && !ran.stdout.contains("where  "),
        "{ran:?}"
    );
    let ran = within(&folder, "course check 1 --more").expect(1);
    assert!(ran.stdout.contains("where  Replace the") && !ran.stdout.contains("read   "), "{ran:?}");
    within(&folder, "course check 01-swap-two-cells -mm")
        .expect(1)
        .prints_part("read   chapter 1 of the book");
    folder.file(FIRST, ".inout a default 3\n.inout b default 8\nswap a, b\n");
    let ran = within(&folder, "course check 1").expect(0);
    ran.prints_part("1. Swap two cells: passed").prints_part("next: There and back by hand");
    within(&folder, "course").expect(0).prints_part("  1  passed   Swap two cells").prints_part("\n1 of ");
    folder.reviver("course check 1 mine").expect(0);
    within(&folder, "course check 1 ../mine").expect(0);
    // The folder of an exercise selects that exercise.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.args(["course", "check"]).current_dir(folder.path("mine/01-swap-two-cells"));
    let ran = crate::support::ran(&mut command, b"").expect(0).prints_part("1. Swap two cells: passed");
    ran.prints_part("next: There and back by hand, ../02-there-and-back/task.md; ");
    // A path completed by a shell works, too.
    let next = |path: &str, next: &str| {
        let ran = folder.reviver(&format!("course check {path}")).expect(0);
        ran.prints_part(&format!("next: There and back by hand, {next}/02-there-and-back/task.md; "));
    };
    next("mine/01-swap-two-cells", "mine");
    next("./mine/01-swap-two-cells/start.rasm", "./mine");
    within(&folder, "course check 01-swap-two-cells/start.rasm").expect(0).prints_part(
        "next: There and back by hand, 02-there-and-back/task.md; `reviver course check 2` grades it",
    );
    for argument in ["start.rasm", "./start.rasm", "."] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
        command.args(["course", "check", argument]).current_dir(folder.path("mine/01-swap-two-cells"));
        crate::support::ran(&mut command, b"").expect(0).prints_part("1. Swap two cells: passed");
    }
}

#[test]
fn expectations_can_not_be_edited_away() {
    let folder = begun();
    folder.file(FIRST, ";! run -> a=3 b=8\n.inout a default 3\n.inout b default 8\nneg a\nneg a\n");
    folder.reviver(&format!("test {FIRST}")).expect(0);
    within(&folder, "course check 1").expect(1).prints_part("no  run -> a=8 b=3");
}

/// A change of comments or layout doesn't count as an attempt.
#[test]
fn changes_of_layout_are_no_attempt() {
    let folder = begun();
    let start = String::from_utf8(folder.read(FIRST)).unwrap();
    folder.file(FIRST, format!("; I was here\r\n{}", start.replace('\n', "\r\n").replace("        ", "\t")));
    let object = within(&folder, "course check 1 --json").expect(1).json();
    assert_eq!(object["exercises"][0]["state"], json!("untouched"));
    assert_eq!(object["exercises"][0]["hint"]["number"], json!(1));
}

#[test]
fn an_invalid_program_is_shown_with_its_mistake() {
    let folder = begun();
    folder.file(FIRST, ".inout a\n.inout b\nswop a, b\n");
    within(&folder, "course check 1").expect(1).prints_part("did you mean `swap`?").prints_part("what   ");
}

#[test]
fn all_exercises_are_checked_by_default() {
    let folder = begun();
    folder.file(FIRST, ".inout a default 3\n.inout b default 8\nadd a, b\n");
    let ran = within(&folder, "course check").expect(1);
    let ran = ran
        .prints_part("  1  failed     Swap two cells\n                what   The numbers aren't exchanged.");
    ran.prints_part("  2  untouched  ")
        .prints_part("0 of ")
        .prints_part("`reviver course check 1` explains the first failure");
}

#[test]
fn wrong_course_arguments_are_reported() {
    let folder = begun();
    within(&folder, "course check 999").expect(2).says("there is no exercise `999`");
    within(&folder, "course check 01-swap-two-cell").expect(2).says("did you mean `01-swap-two-cells`?");
    within(&folder, "course check slip").expect(2).says("did you mean `04-the-slip`?");
    folder.reviver("course check 1 .").expect(2).says("there are no exercises in .");
    folder.reviver("course").expect(0).prints_part("`reviver course start DIR` copies the exercises");
    std::fs::remove_file(folder.path(FIRST)).unwrap();
    within(&folder, "course check 1").expect(1).prints_part("there is no 01-swap-two-cells/start.rasm");
    folder.reviver("course report nowhere").expect(2).says("there is no folder nowhere");
}

/// Printed commands can be typed into a shell.
#[test]
fn folders_are_quoted_where_a_shell_needs_it() {
    let folder = Folder::new();
    let start = |name: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
        command.args(["course", "start", name]).current_dir(folder.path(""));
        crate::support::ran(&mut command, b"").expect(0)
    };
    start("a b")
        .prints_part("37 exercises and the programs of the book are in a b\n")
        .prints_part("\n  cd 'a b'\n");
    start("it's").prints_part("\n  cd 'it'\\''s'\n");
    start("./-x").prints_part("\n  cd ./-x\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.args(["course", "check", "--", "all", "a b"]).current_dir(folder.path(""));
    crate::support::ran(&mut command, b"").expect(2).says("there is no exercise `all`");
    command = std::process::Command::new(env!("CARGO_BIN_EXE_reviver"));
    command.args(["course", "check", "a b"]).current_dir(folder.path(""));
    let ran = crate::support::ran(&mut command, b"").expect(2);
    ran.says("`reviver course check 1 'a b'`");
}

#[test]
fn limits_are_documented_where_programs_are_run() {
    for command in ["check", "report"] {
        reviver(&format!("course {command} --help")).expect(0).prints_part("--max-steps");
    }
    let help = reviver("course report --help").expect(0);
    let help = help.prints_part("[default: 30]").prints_part("[default: 1G]").prints_part("[default: 16M]");
    help.prints_part("[default: 100000]");
    for command in ["", "start", "read"] {
        let help = reviver(&format!("course {command} --help")).expect(0).stdout;
        assert!(!help.contains("--max-steps") && !help.contains("--engine"), "{command}: {help}");
    }
}

/// A student's folder may contain links that would lead the grader to other files.
#[cfg(unix)]
#[test]
fn a_class_reads_no_files_of_others() {
    let folder = Folder::new();
    folder.file("secret.rasm", "; the teacher's\n.inout a\n");
    std::fs::create_dir_all(folder.path("eve/01-swap-two-cells")).unwrap();
    std::os::unix::fs::symlink(folder.path("secret.rasm"), folder.path("eve/01-swap-two-cells/start.rasm"))
        .unwrap();
    attempt(&folder, "mallory", [("01-swap-two-cells", ".include \"../../secret.rasm\"\n.inout b\n")]);
    let object = folder.reviver("course report eve mallory --json").expect(0).json();
    let first = |n: usize| &object["folders"][n]["exercises"][0];
    assert_eq!((&first(0)["state"], &first(1)["state"]), (&json!("failed"), &json!("failed")));
    let said = first(0)["unreadable"].as_str().unwrap();
    assert!(said.contains("is a link to a place outside of the folder of exercises"), "{said}");
    let said = first(1)["diagnostics"][0]["message"].as_str().unwrap();
    assert!(said.contains("is outside of the program's folder"), "{said}");
    assert!(!object.to_string().contains("the teacher's"), "{object}");
}

#[test]
fn an_exercise_has_limits() {
    let folder = begun();
    folder.file(FIRST, ".inout a default 3\n.inout b default 8\nfrom a == 3\nadd a, 2\nuntil a == 0\n");
    within(&folder, "course check 1").expect(1).prints_part("found more than 10000000 steps");
    within(&folder, "course check 1 --max-steps 1000").expect(1).prints_part("found more than 1000 steps");
}

/// The command lists exactly the exercises in the folder `course/exercises`.
#[test]
fn the_program_has_all_exercises() {
    let folder = Folder::new();
    let object = folder.reviver("course --json").expect(0).json();
    let listed: Vec<&str> = object["exercises"]
        .as_array()
        .unwrap()
        .iter()
        .map(|exercise| exercise["name"].as_str().unwrap())
        .collect();
    let sources = sources();
    let names: Vec<&str> = sources.iter().map(|source| &*source.name).collect();
    assert_eq!(listed, names);
    assert!(Path::new(&root().join("course/README.md")).exists());
}

/// The suggested next command works in the current folder.
#[test]
fn suggested_commands_repeat_the_folder() {
    let folder = begun();
    let solution = std::fs::read_to_string(root().join("course/exercises/01-swap-two-cells/solution.rasm"));
    folder.file(FIRST, solution.unwrap());
    folder.reviver("course check 1 mine").expect(0).prints_part("`reviver course check 2 mine` grades it");
    within(&folder, "course check 1").expect(0).prints_part("`reviver course check 2` grades it");
}

/// Reading a pipe would block forever.
#[cfg(unix)]
#[test]
fn a_pipe_instead_of_a_program_does_not_block() {
    let folder = begun();
    let program = folder.path("mine/02-there-and-back/start.rasm");
    std::fs::remove_file(&program).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&program).status().unwrap().success());
    let object = folder.reviver("course report mine --json").expect(0).json();
    let second = &object["folders"][0]["exercises"][1];
    assert!(second["unreadable"].as_str().unwrap().ends_with("isn't a regular file"), "{second}");
}
