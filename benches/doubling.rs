//! Benchmark of asymptotic growth: CPU time of each command on texts of each kind with n, 2n and 4n items. Fails if
//! doubling the size multiplies the time by more than three, or if a command refuses a text unexpectedly. It runs the
//! command that cargo has built for the benchmark. `cargo bench --bench doubling -- loops` measures only kinds whose
//! name contains `loops`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use harness::measures::measures;
use harness::wanted::is_wanted;

mod harness {
    pub mod measures;
    pub mod wanted;
}

/// Upper bound on the ratio of times for a doubled size.
const MOST: f64 = 3.0;
/// Minimum time of a command on the larger text, in seconds. If the time is shorter, it is noise, and the ratio doesn't
/// count.
const FLOOR: f64 = 0.1;
/// Number of runs of a command on a text; the shortest time counts.
const ROUNDS: usize = 3;
/// Time of a run, in seconds, above which the run isn't repeated.
const LONG: f64 = 5.0;

/// Kind of generated text. `n` is the number of items in the smallest text.
struct Kind {
    name: &'static str,
    text: fn(usize) -> String,
    n: usize,
}

const KINDS: [Kind; 10] = [
    Kind { name: "loops", text: loops, n: 1_000 },
    Kind { name: "updates in a loop", text: updates, n: 1_000 },
    Kind { name: "procedures", text: procedures, n: 1_000 },
    // Up to 8,192 instructions of callees are inlined. If there are more, the other callees are compiled out of line,
    // which gives four times as many blocks.
    Kind { name: "procedures that overwrite", text: overwriting_procedures, n: 500 },
    Kind { name: "branches", text: branches, n: 1_000 },
    Kind { name: "labels", text: labels, n: 1_000 },
    // With fewer than 2,000 locals, constant folding removes all code, and there is nothing to measure.
    Kind { name: "locals side by side", text: open_locals, n: 2_000 },
    Kind { name: "locals in a row", text: locals, n: 2_000 },
    Kind { name: "cells", text: cells, n: 2_000 },
    Kind { name: "par calls", text: tasks, n: 500 },
];

/// Command with its name in the table and its arguments. In the arguments, `F` is the text, `I` its image, `S` an empty
/// script and `O` an output.
struct TimedCommand {
    name: &'static str,
    arguments: &'static str,
}

const COMMANDS: [TimedCommand; 9] = [
    TimedCommand { name: "check", arguments: "check F" },
    // The step limit ends the run at once.
    TimedCommand { name: "load", arguments: "run I --engine interp --max-steps 1" },
    TimedCommand { name: "run", arguments: "run F --engine interp" },
    TimedCommand { name: "jit", arguments: "run F --engine jit" },
    TimedCommand { name: "build", arguments: "build F --force -o O.c" },
    TimedCommand { name: "graph", arguments: "graph F -o O.svg" },
    TimedCommand { name: "bennett", arguments: "bennett F -o O.rasm" },
    TimedCommand { name: "tradeoff", arguments: "tradeoff F" },
    TimedCommand { name: "debug", arguments: "debug F --batch S" },
];

/// Expected refusals, as pairs (kind, command): `build` refuses programs with tasks, because they have no C text.
const REFUSED: [(&str, &str); 1] = [("par calls", "build")];

fn loops(n: usize) -> String {
    format!(".inout a\n{}", "for i in 0..2\n    add a, i\nrof\n".repeat(n))
}

fn updates(n: usize) -> String {
    let declared = numbered(20, |i| format!(".inout c{i} default {i}\n"));
    let updates = numbered(n, |i| format!("    add c{}, c{}\n", 7 * i % 20, (7 * i + 1 + i % 19) % 20));
    format!("{declared}for i in 0..30\n{updates}rof\n")
}

fn numbered(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn procedures(n: usize) -> String {
    let calls = numbered(n, |i| format!("call p{i}(y, a)\n"));
    let procedures = numbered(n, |i| format!(".proc p{i}(inout x: real, in b: real)\n    add x, b\n.end\n"));
    format!(".inout a: real default 0.5\n.out y: real\n{calls}{procedures}")
}

fn overwriting_procedures(n: usize) -> String {
    let calls = numbered(n, |i| format!("call p{i}(a)\n"));
    let body = "    overwrite x, x / 2\n    add x, 3\n";
    let procedures = numbered(n, |i| format!(".proc p{i}(inout x)\n{body}.end\n"));
    format!(".inout a default 3\n{calls}{procedures}")
}

fn branches(n: usize) -> String {
    let branch = "if b > 0\n    add a, 1\nelse\n    sub a, 1\nfi b > 0\n";
    format!(".inout a, b default 1\n{}", branch.repeat(n))
}

fn labels(n: usize) -> String {
    let pairs = |i| format!("l{i}: br m{i}, b > 0\n    add a, 1\nm{i}: from l{i}, b > 0\n");
    format!(".inout a, b default 1\n{}", numbered(n, pairs))
}

fn open_locals(n: usize) -> String {
    let opened = numbered(n, |i| format!("local x{i} = a\n"));
    let closed = numbered(n, |i| format!("delocal x{} = a\n", n - 1 - i));
    format!(".inout a\n{opened}{closed}")
}

fn locals(n: usize) -> String {
    format!(".inout a, y\n{}", "local x = a\nadd y, x\ndelocal x = a\n".repeat(n))
}

fn cells(n: usize) -> String {
    let declared = numbered(n, |i| format!(".inout c{i} default {}\n", i % 7));
    format!("{declared}.out y\n{}", numbered(n, |i| format!("add y, c{i}\n")))
}

fn tasks(n: usize) -> String {
    let declared = numbered(2 * n, |i| format!(".inout c{i}\n"));
    let calls = numbered(n, |i| format!("par p(c{}), p(c{})\n", 2 * i, 2 * i + 1));
    format!("{declared}{calls}.proc p(inout x)\n    add x, 1\n.end\n")
}

/// Folder with a text, its image, and an empty script.
struct TextFiles {
    folder: PathBuf,
}

impl TextFiles {
    fn of(folder: &Path, text: &str) -> TextFiles {
        let files = TextFiles { folder: folder.to_owned() };
        std::fs::write(files.named("F"), text).expect("room for a text");
        std::fs::write(files.named("S"), "").expect("room for a script");
        let is_assembled = files.seconds("asm F -o I").is_some();
        assert!(is_assembled, "a text of the benchmark can't be assembled");
        files
    }

    /// Returns the path of the file that a letter in [`TimedCommand::arguments`] denotes.
    fn named(&self, word: &str) -> PathBuf {
        match word {
            "F" => self.folder.join("text.rasm"),
            "I" => self.folder.join("image.rbc"),
            "S" => self.folder.join("script"),
            _ => self.folder.join(word.replace('O', "output")),
        }
    }

    /// Returns CPU time of a command in seconds; `None` if it refuses the text. The shell measures its child process
    /// to the millisecond, so other processes don't count.
    fn seconds(&self, arguments: &str) -> Option<f64> {
        let given = arguments.split(' ').map(|word| match word.strip_prefix(['F', 'I', 'S', 'O']) {
            Some("" | ".c" | ".svg" | ".rasm") => self.named(word).display().to_string(),
            _ => word.to_owned(),
        });
        let script = r#"TIMEFORMAT="%U %S"; time "$@" >/dev/null 2>"$REVIVER_ERRORS""#;
        let mut command = Command::new("bash");
        command.args(["-c", script, "bash", env!("CARGO_BIN_EXE_reviver")]).args(given);
        command.env("REVIVER_ERRORS", self.folder.join("errors")).stdin(Stdio::null());
        let ended = command.output().expect("bash times commands");
        // Exit code 5 is the step limit, which ends a run after loading.
        if !matches!(ended.status.code(), Some(0 | 5)) {
            return None;
        }
        let reported = String::from_utf8(ended.stderr).expect("times are text");
        Some(reported.split_whitespace().map(|seconds| seconds.parse::<f64>().expect("seconds")).sum())
    }

    /// Returns the shortest time of several runs.
    fn best(&self, arguments: &str) -> Option<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            best = best.min(self.seconds(arguments)?);
            if best > LONG {
                break;
            }
        }
        Some(best)
    }
}

/// Returns a table cell: growth of a command's time on texts of one kind.
fn measure(kind: &Kind, command: &TimedCommand, texts: &[TextFiles], faults: &mut Vec<String>) -> String {
    let mut times: Vec<f64> = Vec::new();
    for text in texts {
        match text.best(command.arguments) {
            Some(seconds) => times.push(seconds),
            None if REFUSED.contains(&(kind.name, command.name)) => return " refused |".to_owned(),
            None => {
                faults.push(format!("{}, {}: refused", kind.name, command.name));
                return " refused |".to_owned();
            }
        }
    }
    let factors = times.windows(2).map(|pair| match pair {
        [less, more] if *more > FLOOR => more / less,
        _ => 0.0,
    });
    let factor = factors.fold(0.0, f64::max);
    if factor > MOST {
        let times: Vec<String> = times.iter().map(|seconds| format!("{seconds:.3}")).collect();
        faults.push(format!("{}, {}: {} s", kind.name, command.name, times.join(", ")));
    }
    let mut cell = format!(" {:.2}", times.last().copied().unwrap_or_default());
    if factor > 0.0 {
        let _ = write!(cell, " × {factor:.1}");
    }
    cell + " |"
}

fn main() {
    if !measures() {
        return;
    }
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    println!("| 4n | {} |\n|---{}|", names.join(" | "), "|---".repeat(names.len()));
    let folder = TempDir::new().expect("a folder for texts");
    let mut faults = Vec::new();
    for kind in KINDS.iter().filter(|kind| is_wanted(kind.name)) {
        let texts = [1, 2, 4].map(|times| {
            let folder = folder.path().join(times.to_string());
            std::fs::create_dir_all(&folder).expect("a folder for a text");
            TextFiles::of(&folder, &(kind.text)(kind.n * times))
        });
        print!("| {} {} |", kind.n * 4, kind.name);
        for command in &COMMANDS {
            print!("{}", measure(kind, command, &texts, &mut faults));
        }
        println!();
    }
    let faults = faults.join("\n");
    assert!(
        faults.is_empty(),
        "refused texts, or more than {MOST} times as long for a doubled text:\n{faults}"
    );
}
