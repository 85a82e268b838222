//! Refused allocations: each command ends with an error and a documented exit code, and files are complete or absent.
//! Each run is repeated with a single allocation refused, and with all allocations refused from a certain one on.
//! `REVIVER_CAMPAIGN` is the number of allocations to try for each command.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::{Folder, Ran, command, ran};

/// Command on small inputs; `@` is replaced by its folder.
struct Tried {
    arguments: String,
    /// Names and contents of the files that exist in the folder before the command runs.
    before: &'static [(&'static str, &'static str)],
}

fn commands() -> Vec<Tried> {
    let plain = [
        "run programs/fib.rasm --json",
        "run programs/leapfrog.rasm --check",
        "run programs/fib.rasm --save-state @/state",
        "run programs/rle.rasm --tape-out @/tape.txt",
        "run programs/fib.rasm --back --set a=55,b=89",
        "run programs/tree_of_tasks.rasm --threads 2 --set rounds=20",
        "grad programs/horner.rasm --loss y --json",
        "grad programs/horner.rasm --loss y --verify",
        "grad programs/particles_forked_plain.rasm --loss loss --strategy tape",
        "jacobian programs/horner.rasm --json",
        "hessian programs/horner.rasm --loss y",
        "taylor programs/horner.rasm --order 2 --along x",
        "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --device cpu --grad out -o @/out.csv",
        "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --device cpu -o @/out.npz",
        "batch programs/bessel_grid.rasm --lanes programs/bessel_grid.csv --device cpu --json",
        "devices --json",
        "bench programs/fib.rasm --set n=10 --seconds 0.001 --json",
        "plot programs/fib.rasm --set n=2 --cells a,b -o @/plot.svg",
        "graph programs/gcd.rasm -o @/graph.svg",
        "graph programs/gcd.rasm --memory -o @/memory.svg",
        "circuit course/book/programs/full_adder.rasm -o @/circuit.svg",
        "asm programs/fib.rasm -o @/fib.rbc",
        "disasm programs/fib.rasm",
        "build programs/horner.rasm --loss y -o @/horner.c",
        "expand programs/macros.rasm",
        "check programs/gates.rasm --json",
        "test programs/fib.rasm --json",
        "course",
        "course start @/exercises",
        "course check 2 course/exercises",
        "course read 1",
        "course similar course/exercises course",
        "course solutions --teacher @/solutions",
        "fmt programs/fib.rasm",
        "invert programs/fib.rasm -o @/inverse.rasm",
        "bennett programs/collatz_plain.rasm -o @/bennett.rasm",
        "tradeoff programs/collatz_plain.rasm",
        "isa add",
        "explain T20 --json",
        "completions bash",
        "help run",
        "--version",
        "debug programs/fib.rasm --batch @/script",
        "repl programs/fib.rasm",
    ];
    let script: &[(&str, &str)] = &[("script", "step 3\nprint a\nreverse-step\ngoto end\nwhy a\n")];
    let none: &[(&str, &str)] = &[];
    let tried = |arguments: &str| Tried {
        arguments: arguments.to_owned(),
        before: if arguments.contains("script") { script } else { none },
    };
    let mut all: Vec<Tried> = plain.into_iter().map(tried).collect();
    // An existing output is kept, or replaced as a whole.
    all.push(Tried {
        arguments: "fmt --write @/a.rasm".to_owned(),
        before: &[("a.rasm", ".in n\n.out y\nadd y,n\n")],
    });
    all
}

/// Outcome of a command: its output, and the files of its folder.
#[derive(Debug)]
struct CameTo {
    ran: Ran,
    files: BTreeMap<String, Vec<u8>>,
}

fn come_to(tried: &Tried, refused: &str) -> CameTo {
    let folder = Folder::new();
    for (name, text) in tried.before {
        folder.file(name, text);
    }
    let arguments = tried.arguments.replace('@', &folder.at(""));
    let mut command = command();
    command.args(arguments.split_whitespace()).env("REVIVER_REFUSE", refused);
    let ran = ran(&mut command, b"step\nprint a\nwhy a\n");
    CameTo { ran, files: files(&folder.path("")) }
}

/// Returns all files of a folder and its subfolders, by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let name = entry.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, std::fs::read(&entry).unwrap());
            }
        }
    }
    found
}

/// Checks the guarantees for a run with refused memory.
fn hold(tried: &Tried, refused: &str, usual: &CameTo) {
    let came = come_to(tried, refused);
    let context = || format!("REVIVER_REFUSE={refused} reviver {}: {:#?}", tried.arguments, came.ran);
    // An included file that doesn't fit into memory is an error of the text.
    let is_unread =
        came.ran.code == 3 && came.ran.stderr.contains("can't be read: it does not fit into memory");
    // A test or script command that fails because of memory is reported like other failures of its kind.
    let is_found = came.ran.code == 1 && came.ran.stdout.contains("memory");
    assert!([usual.ran.code, 4].contains(&came.ran.code) || is_unread || is_found, "{}", context());
    assert!(!came.ran.stderr.contains("panicked"), "{}", context());
    // With the usual exit code, the refusal was handled: the command managed without that memory.
    if came.ran.code != usual.ran.code && !is_found {
        let errors =
            came.ran.stderr.lines().filter(|line| line.starts_with("error") || line.starts_with("trap"));
        assert_eq!(errors.count(), 1, "{}", context());
        assert!(came.ran.stderr.contains("memory"), "{}", context());
        let is_json = tried.arguments.contains("--json");
        let object = serde_json::from_str::<Value>(&came.ran.stdout);
        let is_told = object.is_ok_and(|object| object["error"]["message"].is_string());
        assert!(!is_json || is_told || !came.ran.stdout.is_empty(), "{}", context());
    }
    for (name, bytes) in &came.files {
        let before = tried.before.iter().find(|(before, _)| before == name).map(|(_, text)| text.as_bytes());
        let is_whole = before == Some(bytes.as_slice()) || is_like(usual.files.get(name), bytes);
        assert!(is_whole, "{name} is neither as it was nor whole: {}", context());
    }
    for (name, _) in tried.before {
        assert!(came.files.contains_key(*name), "{name} is lost: {}", context());
    }
}

/// Returns true if a file equals the usual output. An archive contains the time at which it was written, so only the
/// lengths of archives are compared.
fn is_like(usual: Option<&Vec<u8>>, bytes: &[u8]) -> bool {
    usual.is_some_and(|usual| usual == bytes || (bytes.starts_with(b"PK") && usual.len() == bytes.len()))
}

/// Returns reproducible pseudorandom numbers.
fn shuffled(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

#[test]
fn each_command_ends_with_an_error_whichever_allocation_is_refused() {
    let wanted = std::env::var("REVIVER_CAMPAIGN").ok().and_then(|count| count.parse().ok()).unwrap_or(8_u64);
    for tried in commands() {
        let usual = come_to(&tried, "count");
        let count = usual.ran.stderr.lines().rev().find_map(|line| line.strip_suffix(" allocations"));
        let count: u64 = count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{usual:#?}"));
        assert!(usual.ran.code <= 1, "{}: {usual:#?}", tried.arguments);
        // Evenly spaced allocations, with random offsets.
        let step = (count / wanted).max(1);
        let chosen =
            (0..wanted.min(count)).zip(shuffled(count)).map(|(n, chance)| 1 + n * step + chance % step);
        let alone = chosen.map(|n| n.to_string());
        let from_here_on = shuffled(count + 1).take(2).map(|chance| format!("{}-", 1 + chance % count));
        let refused: Vec<String> = alone.chain(from_here_on).collect();
        hold_all(&tried, &refused, &usual);
        println!("{}: {} of {count} allocations", tried.arguments, refused.len() - 2);
    }
}

/// Checks many refusals, in parallel on all cores.
fn hold_all(tried: &Tried, refused: &[String], usual: &CameTo) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(refused) = refused.get(next.fetch_add(1, Ordering::Relaxed)) {
            hold(tried, refused, usual);
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
}
