//! A program under test: its module or its errors, and the words of the language that it uses.

use std::collections::BTreeSet;

use reviver_assembler::assemble::{Assembly, assemble_within};
use reviver_assembler::constants::Replacements;
use reviver_assembler::diagnostic::{Diagnostic, Severity};
use reviver_assembler::files::Files;
use reviver_assembler::limits::AssemblyLimits;
use reviver_assembler::source::Sources;
use reviver_assembler::used::used_words;
use reviver_isa::Module;

/// The result of assembling a text under test.
#[derive(Debug)]
pub struct ProgramUnderTest {
    /// The text and its includes, to which the places in diagnostics refer.
    pub sources: Sources,
    /// The errors and warnings of the assembly.
    pub diagnostics: Vec<Diagnostic>,
    /// The module, or `None` if there are errors.
    pub module: Option<Module>,
    /// The module for derivatives, if the program computes gradients itself and they can be replaced by statements.
    pub differentiable: Option<Module>,
    /// The words of the language in the text and in its includes.
    pub words: BTreeSet<String>,
}

impl ProgramUnderTest {
    /// Assembles a text with its includes, which are read through `files`.
    pub fn assemble(name: &str, text: Vec<u8>, files: &dyn Files) -> ProgramUnderTest {
        ProgramUnderTest::assemble_within(name, text, files, AssemblyLimits::default())
    }

    /// Assembles a text within the given limits.
    pub fn assemble_within(
        name: &str,
        text: Vec<u8>,
        files: &dyn Files,
        limits: AssemblyLimits,
    ) -> ProgramUnderTest {
        let again = text.clone();
        let Assembly { sources, module, diagnostics, .. } =
            assemble_within(name, text, files, Replacements::default(), limits);
        let replaced = Replacements { own_gradients: true, ..Replacements::default() };
        let switches = module.as_ref().is_some_and(Module::switches_mode);
        let differentiable =
            switches.then(|| assemble_within(name, again, files, replaced, limits).module).flatten();
        let words = sources.files().flat_map(|file| used_words(&sources, file)).collect();
        ProgramUnderTest { sources, diagnostics, module, differentiable, words }
    }

    /// Returns the errors that prevent the assembly.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}
