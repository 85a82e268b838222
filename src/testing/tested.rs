//! A file under test: read, assembled with nothing but its own folder, and held to its expectations. Finds; prints nothing.

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

/// What was found of a file.
#[derive(Debug)]
pub struct TestedFile {
    /// As it was named.
    pub name: String,
    pub program: ProgramUnderTest,
    pub lines: Vec<AssessedLine>,
}

impl TestedFile {
    /// Whether it does all that it is expected to, and there is something.
    pub fn is_met(&self) -> bool {
        self.program.module.is_some() && !self.lines.is_empty() && is_met(&self.lines)
    }
}

/// A file that can't be tested, which is what is missed of it.
pub fn unusable(path: &Path, expected: &str, found: &str) -> TestedFile {
    let name = read::name(path);
    let line = AssessedLine {
        line: 1,
        text: "the file".to_owned(),
        assessment: Assessment::Missed(vec![Mismatch::new(expected, found)]),
        took: Duration::ZERO,
    };
    // Nothing was assembled, so there is nothing to say of a text.
    let mut program = ProgramUnderTest::assemble(&name, Vec::new(), &FilesInMemory::default());
    program.diagnostics.clear();
    TestedFile { name, program, lines: vec![line] }
}

/// A text and what it may include.
pub struct TestedText {
    pub name: String,
    pub text: String,
    files: FolderFiles,
}

impl TestedText {
    /// Reads a program. Its own folder is all that it may read.
    ///
    /// # Errors
    /// It can't be read, or is an image, which has no header.
    pub fn read(path: &Path) -> Fallible<TestedText> {
        if read::is_image(path, &[]) {
            let failure = Failure::usage(format_args!("{}: an image has no header", shown(path)));
            return Err(failure.help("name the text that it was made from"));
        }
        let text = read::text(path)?;
        let files = FolderFiles::new(files(), folder(path)).map_err(|error| {
            Failure::load(format_args!("can't read the folder of {}: {error}", shown(path)))
        })?;
        Ok(TestedText { name: read::name(path), text, files })
    }

    /// The text, and the files of its folder.
    pub fn apart(self) -> (String, FolderFiles) {
        (self.text, self.files)
    }

    /// What its own lines expect.
    pub fn expectations(&self) -> Expectations {
        Expectations::of(&self.name, &self.text)
    }

    /// The files of its folder.
    pub fn files(&self) -> &FolderFiles {
        &self.files
    }

    /// Holds it to expectations, whose references come from `references`.
    ///
    /// # Errors
    /// There is no such engine here.
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

/// Holds a text, whose includes come from `files`, to sets of expectations, each with the files that its references come from. The lines
/// of the sets follow each other; the properties of a set are judged by its own runs.
///
/// # Errors
/// There is no such engine here.
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

/// Who makes the steps, and what is usual where no limit is given.
#[derive(Clone, Copy)]
pub struct Runs {
    pub running: TestRunning,
    pub usual: TestLimits,
    /// A signal stops runs, and the lines that it leaves unjudged are reported; otherwise a signal ends the process.
    pub heeds_signals: bool,
}
