//! Test of one file: read it, assemble it with access to its own folder only, and check its expectations. Prints
//! nothing.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reviver::engine::{self, NoEngine};
use reviver_assembler::below::FolderFiles;
use reviver_assembler::files::{Files, FilesInMemory};
use reviver_expectations::assessment::{AssessedLine, Assessment, Mismatch};
use reviver_expectations::expected::Expectations;
use reviver_expectations::program::ProgramUnderTest;
use reviver_expectations::settings::{TestLimits, TestSettings};
use reviver_expectations::{examine, is_met};
use reviver_files::folder;
use reviver_vm::Program;

use crate::cli::TestRunning;
use crate::engine::missing;
use crate::failure::{Failure, Fallible};
use crate::interrupt;
use crate::read::{self, files, shown};

/// Test results of a file.
#[derive(Debug)]
pub struct TestedFile {
    /// Name of the file as the user gave it.
    pub name: String,
    pub program: ProgramUnderTest,
    pub lines: Vec<AssessedLine>,
}

impl TestedFile {
    /// Returns true if there are expectations and all are met.
    pub fn is_met(&self) -> bool {
        self.program.module.is_some() && !self.lines.is_empty() && is_met(&self.lines)
    }
}

/// Returns the result for a file that can't be tested: one missed line with `expected` and `found`.
pub fn unusable(path: &Path, expected: &str, found: &str) -> TestedFile {
    let name = read::name(path);
    let line = AssessedLine {
        line: 1,
        text: "the file".to_owned(),
        assessment: Assessment::Missed(vec![Mismatch::new(expected, found)]),
        took: Duration::ZERO,
    };
    // The empty text is only a placeholder, so its diagnostics would be meaningless.
    let mut program = ProgramUnderTest::assemble(&name, Vec::new(), &FilesInMemory::default());
    program.diagnostics.clear();
    TestedFile { name, program, lines: vec![line] }
}

/// Text under test, with the files that it may include.
pub struct TestedText {
    pub name: String,
    pub text: String,
    files: FolderFiles,
}

impl TestedText {
    /// Reads a program, with access to its own folder only.
    ///
    /// # Errors
    /// The file can't be read, or is an image, which has no header.
    pub fn read(path: &Path) -> Fallible<TestedText> {
        if read::is_image(path, &[]) {
            let failure = Failure::usage(format_args!("{}: an image has no header", shown(path)));
            return Err(failure.help("name the text from which the image was assembled"));
        }
        let text = read::text(path)?;
        let files = FolderFiles::new(files(), folder(path)).map_err(|error| {
            Failure::load(format_args!("can't read the folder of {}: {error}", shown(path)))
        })?;
        Ok(TestedText { name: read::name(path), text, files })
    }

    /// Splits the text under test into its text and the files of its folder.
    pub fn apart(self) -> (String, FolderFiles) {
        (self.text, self.files)
    }

    /// Returns the expectations in the text's header.
    pub fn expectations(&self) -> Expectations {
        Expectations::of(&self.name, &self.text)
    }

    /// Returns the files of the text's folder.
    pub fn files(&self) -> &FolderFiles {
        &self.files
    }

    /// Tests the text against expectations; `references` has their reference files.
    ///
    /// # Errors
    /// The requested engine isn't available.
    pub fn tested(
        self,
        expectations: &Expectations,
        references: &dyn Files,
        runs: &Runs,
    ) -> Fallible<TestedFile> {
        let TestedText { name, text, files } = self;
        tested(name, text, &files, &[(expectations, references)], runs)
    }
}

/// Tests a text against sets of expectations, each with the files for its references; includes come from `files`. The
/// result has the lines of all sets in order. The properties in a set are judged by the runs in the same set.
///
/// # Errors
/// The requested engine isn't available.
pub fn tested(
    name: String,
    text: String,
    files: &dyn Files,
    sets: &[(&Expectations, &dyn Files)],
    runs: &Runs,
) -> Fallible<TestedFile> {
    let limits = runs.running.limits(runs.usual);
    let program = ProgramUnderTest::assemble_within(&name, text.into_bytes(), files, limits.assembly);
    let no_engine: RefCell<Option<NoEngine>> = RefCell::new(None);
    let prepare = |program: &Arc<Program>| {
        engine::runner(runs.running.engine.into(), program).map_err(|error| {
            let why = error.to_string();
            no_engine.replace(Some(error));
            why
        })
    };
    let flag = runs.heeds_signals.then(interrupt::flag);
    let settings =
        TestSettings { prepare: &prepare, limits, interrupt: flag.as_ref(), ..TestSettings::interpreted() };
    let lines = sets
        .iter()
        .flat_map(|(expectations, references)| examine(&program, expectations, *references, &settings));
    let lines = lines.collect();
    match no_engine.take() {
        Some(error) => Err(missing(&error)),
        None => Ok(TestedFile { name, program, lines }),
    }
}

/// Execution engine, and default limits.
#[derive(Clone, Copy)]
pub struct Runs {
    pub running: TestRunning,
    pub usual: TestLimits,
    /// True if a signal stops the current run, and lines that weren't judged are reported. False if a signal ends the
    /// process.
    pub heeds_signals: bool,
}
