//! A program under test: its module, or what keeps its text from being one, and the words that it uses.

use std::collections::BTreeSet;

use reviver_assembler::assemble::{Assembly, assemble_within};
use reviver_assembler::diagnostic::{Diagnostic, Severity};
use reviver_assembler::files::Files;
use reviver_assembler::limits::AssemblyLimits;
use reviver_assembler::source::Sources;
use reviver_assembler::used::used_words;
use reviver_isa::Module;

/// A text that was assembled, or couldn't be.
#[derive(Debug)]
pub struct ProgramUnderTest {
    pub sources: Sources,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// None where there are errors.
    pub module: Option<Module>,
    /// The words of the language that the text uses, and what it includes.
    pub words: BTreeSet<String>,
}

impl ProgramUnderTest {
    /// Assembles a text, whose includes come from `files`.
    pub fn assemble(name: &str, text: Vec<u8>, files: &dyn Files) -> ProgramUnderTest {
        ProgramUnderTest::assemble_within(name, text, files, AssemblyLimits::default())
    }

    /// The same, with other limits than the usual ones.
    pub fn assemble_within(
        name: &str,
        text: Vec<u8>,
        files: &dyn Files,
        limits: AssemblyLimits,
    ) -> ProgramUnderTest {
        let Assembly { sources, module, diagnostics, .. } = assemble_within(name, text, files, &[], limits);
        let words = sources.files().flat_map(|file| used_words(&sources, file)).collect();
        ProgramUnderTest { sources, diagnostics, module, words }
    }

    /// What keeps it from being a program.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
