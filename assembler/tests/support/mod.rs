//! Helper functions for tests that assemble texts.

use reviver_assembler::assemble::{Assembly, assemble};
use reviver_assembler::diagnostic::{Diagnostic, Severity};
use reviver_assembler::files::FilesInMemory;
use reviver_isa::Module;

/// Assembles a text without includes.
pub fn assembly(text: &str) -> Assembly {
    assembly_of(text, &FilesInMemory::new())
}

pub fn assembly_of(text: &str, files: &FilesInMemory) -> Assembly {
    assemble("main.rasm", text.as_bytes().to_vec(), files)
}

/// Returns the module of a valid text.
pub fn module(text: &str) -> Module {
    module_of(text, &FilesInMemory::new())
}

pub fn module_of(text: &str, files: &FilesInMemory) -> Module {
    let assembly = assembly_of(text, files);
    let errors: Vec<String> = errors(&assembly).iter().map(|d| shown(&assembly, d)).collect();
    assembly.module.unwrap_or_else(|| panic!("the text is refused:\n{}\n{text}", errors.join("\n")))
}

pub fn errors(assembly: &Assembly) -> Vec<&Diagnostic> {
    assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect()
}

/// Returns a diagnostic in one line: `message [text of the place] | [related place]: text | help`.
pub fn shown(assembly: &Assembly, diagnostic: &Diagnostic) -> String {
    let place = |span| assembly.sources.text(span).lines().next().unwrap_or("").trim().to_owned();
    let mut line = format!("{} [{}]", diagnostic.message, place(diagnostic.primary.span));
    for related in &diagnostic.related {
        line += &format!(" | [{}]: {}", place(related.span), related.text);
    }
    if let Some(help) = &diagnostic.help {
        line += &format!(" | {help}");
    }
    line
}

/// Returns all errors of a text, one per line.
pub fn refusal(text: &str) -> String {
    refusal_of(text, &FilesInMemory::new())
}

pub fn refusal_of(text: &str, files: &FilesInMemory) -> String {
    let assembly = assembly_of(text, files);
    assert!(assembly.module.is_none(), "accepted:\n{text}");
    let lines: Vec<String> = errors(&assembly).iter().map(|d| shown(&assembly, d)).collect();
    lines.join("\n")
}

/// Sample programs that together contain every construct of the language.
pub const SAMPLES: &[(&str, &str)] = &[
    ("fibonacci", include_str!("fibonacci.rasm")),
    ("declarations", include_str!("declarations.rasm")),
    ("blocks", include_str!("blocks.rasm")),
    ("compound", include_str!("compound.rasm")),
    ("procedures", include_str!("procedures.rasm")),
    ("macros", include_str!("macros.rasm")),
    ("reals", include_str!("reals.rasm")),
    ("narrow", include_str!("narrow.rasm")),
];

/// A deterministic random number generator (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}
