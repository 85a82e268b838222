//! Checks the table of `docs/functions.md`, which lists the greatest error found for each function, and its
//! argument. A search must not find a greater error, and the current error at the argument must be the listed
//! one. Errors must be less than the documented bounds.
//!
//! `UPDATE_FUNCTIONS=1 REVIVER_CAMPAIGN=1000000 cargo test -p reviver-isa --release --test elementary page`
//! tries 1,000,000 arguments of each function, and writes the results into the page.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, path::PathBuf, thread};

use reviver_isa::Function;

use crate::errors::{Found, search};
use crate::real::Width;
use crate::subject::{SUBJECTS, Second, Subject};

/// The number of arguments to try for each function.
const COUNT: usize = 4000;

const HEAD: &str = "| function | f64: greatest error | f64: argument | f32: greatest error | f32: argument |\n\
    |---|---|---|---|---|\n";

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/functions.md")
}

/// Splits a page into the text before the table, its rows, and the text after it.
fn parts(page: &str) -> (&str, &str, &str) {
    let (before, rest) = page.split_once(HEAD).expect("the page has the table");
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    (before, &rest[..end], &rest[end..])
}

/// Returns a row's name, and its errors in both formats.
fn row(line: &str) -> (&str, [Found; 2]) {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let &[name, double, double_at, single, single_at] = cells.as_slice() else {
        panic!("a row has five cells: {line}")
    };
    (name.trim_matches('`'), [found(double, double_at), found(single, single_at)])
}

fn found(error: &str, at: &str) -> Found {
    let number = |text: &str| -> f64 { text.trim().parse().expect("a number") };
    let (a, b) = at.split_once(',').unwrap_or((at, "1"));
    Found { error: number(error), at: (number(a), number(b)) }
}

fn line(subject: &Subject, found: [Found; 2]) -> String {
    let cells = found.map(|Found { error, at: (a, b) }| match subject.domain.second {
        Second::Unused => format!("{error:.3} | {a:?}"),
        _ => format!("{error:.3} | {a:?}, {b:?}"),
    });
    format!("| `{}` | {} |\n", subject.name, cells.join(" | "))
}

/// The measured errors in both formats: the error at the listed argument, and the greatest one that a search
/// finds.
type Measured = [(Found, Found); 2];

fn measured(subject: &Subject, written: [Found; 2], count: usize) -> Measured {
    let mut written = written.into_iter();
    Width::ALL.map(|width| {
        let at = written.next().expect("two formats").at;
        (Found { error: subject.error(width, at), at }, search(subject, width, count))
    })
}

/// Returns the listed and the measured errors of each function.
fn all_measured(written: &HashMap<&str, [Found; 2]>, count: usize) -> Vec<([Found; 2], Measured)> {
    let somewhere = [Found { error: 0.0, at: (0.5, 1.0) }; 2];
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(subject) = SUBJECTS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let said = written.get(subject.name).copied().unwrap_or(somewhere);
            done.push((subject.name, (said, measured(subject, said, count))));
        }
        done
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut all: HashMap<&str, _> = thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        started.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    SUBJECTS.iter().map(|subject| all.remove(subject.name).expect("names differ")).collect()
}

#[test]
fn the_page_states_the_greatest_errors() {
    let count = env::var("REVIVER_CAMPAIGN").ok().and_then(|count| count.parse().ok()).unwrap_or(COUNT);
    let page = fs::read_to_string(path()).expect("the page is there");
    let (before, table, behind) = parts(&page);
    let written: HashMap<&str, [Found; 2]> = table.lines().map(row).collect();
    let (mut rows, mut wrong, mut broken) = (String::new(), Vec::new(), Vec::new());
    for (subject, (said, measured)) in SUBJECTS.iter().zip(all_measured(&written, count)) {
        let name = subject.name;
        for (said, (there, found)) in said.iter().zip(&measured) {
            // The page lists errors in thousandths.
            if (there.error - said.error).abs() > 0.0005 || found.error > said.error + 0.0005 {
                wrong.push(format!("{name}: {said:?} is written, {there:?} is there, {found:?} was found"));
            }
        }
        let worst =
            measured.map(|(there, found)| if found.error > there.error + 0.0005 { found } else { there });
        // The error of NaN counts as infinite.
        for worst in worst.iter().filter(|worst| worst.error >= subject.bound) {
            broken.push(format!("{name}: {worst:?} is not less than what is promised"));
        }
        rows += &line(subject, worst);
    }
    if env::var_os("UPDATE_FUNCTIONS").is_some() {
        fs::write(path(), format!("{before}{HEAD}{rows}{behind}")).expect("the page can be written");
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(table, rows, "the table has other rows");
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Tests that the description of each function row states its error bound. A row without a statement has the
/// bound 1 unit.
#[test]
fn rows_document_the_tested_bounds() {
    for subject in SUBJECTS {
        let Some(function) = Function::from_name(subject.name) else { continue };
        let doc = function.doc().split_whitespace().collect::<Vec<_>>().join(" ");
        let says = |bound: f64| doc.contains(&format!("less than {bound} units of the last place"));
        assert!(if subject.bound == 1.0 { !says(1.5) } else { says(subject.bound) }, "{}", subject.name);
    }
}
