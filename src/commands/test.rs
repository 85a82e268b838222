//! `reviver test`: compares the expectations in program headers with actual runs.

use std::path::Path;

use reviver_assembler::below::FolderFiles;
use reviver_expectations::expected::Expectations;
use reviver_expectations::settings::TestLimits;
use reviver_files::folder;

use crate::cli::TestOptions;
use crate::failure::{Exit, Failure, Fallible, counted};
use crate::output;
use crate::output::tests::{LineStyle, TestCounts};
use crate::testing::found::{self, FoundFile};
use crate::testing::tested::{Runs, TestedFile, TestedText, unusable};
use crate::write::OutputTarget;
use crate::{interrupt, kinds, read, streams, subject};

pub fn run(options: &TestOptions) -> Fallible {
    if options.json && options.junit.as_deref() == Some(Path::new("-")) {
        let failure = Failure::usage("`--json` and `--junit -` would both write to standard output");
        return Err(failure.help("give `--junit` a file"));
    }
    let runs = Runs { running: options.running, usual: TestLimits::default(), heeds_signals: true };
    let shared = options.expect.as_deref().map(SharedExpectations::read).transpose()?;
    let mut tested = Vec::new();
    let mut unreadable = None;
    let files = found::files(&options.files)?;
    for file in &files {
        let one = match test(file, shared.as_ref(), &runs)? {
            FileOutcome::Tested(one) => *one,
            FileOutcome::NothingExpected if !file.is_named => continue,
            FileOutcome::NothingExpected if files.len() == 1 => {
                return Err(nothing_expected(&read::name(&file.path)));
            }
            FileOutcome::NothingExpected => unusable(&file.path, "lines like `;! run n=10 -> a=55`", "none"),
            FileOutcome::Unreadable(failure) if files.len() == 1 => return Err(failure),
            // One unreadable file doesn't prevent the tests of the others.
            FileOutcome::Unreadable(failure) => {
                let one = unusable(&file.path, "a text that can be read", failure.summary());
                unreadable = unreadable.or(Some(failure).filter(|_| file.is_named));
                one
            }
        };
        if !options.json && (!options.quiet || !one.is_met()) {
            streams::print_styled(&output::tests::file(&one, options.quiet, LineStyle::of_output()))?;
        }
        tested.push(one);
        if interrupt::received().is_some() {
            break;
        }
    }
    let counts = TestCounts::of(&tested);
    if let Some(path) = &options.junit {
        let target = OutputTarget::new(path, &kinds::TEST_REPORT, options.force.force)?;
        target.write(output::junit::report(&tested)?.as_bytes())?;
    }
    let verdict = match interrupt::received() {
        Some(_) => {
            let (begun, files) = (tested.len(), counted(files.len(), "file"));
            Err(subject::interrupted(&format_args!("stopped in file {begun} of {files}")))
        }
        None => unreadable.map_or_else(|| verdict(&tested, &counts), |failure| Err(failure.reported())),
    };
    match options.json {
        true => streams::print_with(|out| {
            output::object(output::tests::members(&tested, &counts), &verdict, out)
        })?,
        false => streams::print(&counts.summary())?,
    }
    verdict.map_err(Failure::reported)
}

/// Expectations from a separate file.
struct SharedExpectations {
    expectations: Expectations,
    files: FolderFiles,
}

impl SharedExpectations {
    fn read(path: &Path) -> Fallible<SharedExpectations> {
        let expectations = Expectations::of(&read::name(path), &read::text(path)?);
        let files = FolderFiles::new(read::files(), folder(path)).map_err(|error| {
            Failure::load(format_args!("can't read the folder of {}: {error}", read::shown(path)))
        })?;
        if expectations.lines.is_empty() {
            return Err(nothing_expected(&read::shown(path)));
        }
        Ok(SharedExpectations { expectations, files })
    }
}

/// Outcome of a test file.
enum FileOutcome {
    Tested(Box<TestedFile>),
    NothingExpected,
    Unreadable(Failure),
}

/// Tests a file against its header, or against shared expectations.
///
/// # Errors
/// The requested engine isn't available.
fn test(file: &FoundFile, shared: Option<&SharedExpectations>, runs: &Runs) -> Fallible<FileOutcome> {
    let text = match TestedText::read(&file.path) {
        Ok(text) => text,
        Err(failure) => return Ok(FileOutcome::Unreadable(failure)),
    };
    if let Some(SharedExpectations { expectations, files }) = shared {
        return text.tested(expectations, files, runs).map(|file| FileOutcome::Tested(Box::new(file)));
    }
    let expectations = text.expectations();
    if expectations.lines.is_empty() {
        return Ok(FileOutcome::NothingExpected);
    }
    let references = text.files().clone();
    text.tested(&expectations, &references, runs).map(|file| FileOutcome::Tested(Box::new(file)))
}

fn nothing_expected(name: &str) -> Failure {
    Failure::new(Exit::Check, format_args!("{name}: this text has no expectations")).help(
        "add a line like `;! run n=10 -> a=55`, with inputs and expected results; docs/test.md explains all lines",
    )
}

fn verdict(tested: &[TestedFile], counts: &TestCounts) -> Fallible {
    if tested.is_empty() {
        return Err(Failure::new(Exit::Check, "no text with expectations was found"));
    }
    match tested.iter().filter(|file| !file.is_met()).count() {
        0 => Ok(()),
        _ if counts.missed > 0 => {
            let missed = counted(counts.missed, "expectation");
            Err(Failure::spelled(Exit::Check, format!("{missed} missed"), ""))
        }
        failed => {
            Err(Failure::new(Exit::Check, format_args!("{} can't be assembled", counted(failed, "file"))))
        }
    }
}
