//! Rules about the optional debug information: it refers to existing instructions, files and paths.

use crate::codes::ProblemCode;
use std::collections::HashSet;

use super::{Checker, Site};
use crate::module::Structure;

impl Checker<'_> {
    pub(super) fn structure(&mut self) {
        let module = self.module;
        let structure = &module.structure;
        let code = module.code.len();
        if !structure.lines.is_empty() && structure.lines.len() != code {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                "the line numbers do not belong to this code",
            );
        }
        let has_names = !(structure.scopes.is_empty() && structure.temporaries.is_empty());
        if structure.lines.is_empty() && (has_names || !structure.blocks.is_empty()) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                "blocks, names or expressions are recorded, but no line numbers",
            );
        }
        if !structure.labels.is_sorted_by(|(before, _), (after, _)| before < after) {
            self.report(ProblemCode::MalformedImage, Site::Module, "the labels are out of order");
        }
        self.files();
        self.labels();
        // The following checks assume that all instructions are valid.
        if self.violations.is_empty() {
            self.blocks();
            self.scopes();
            self.temporaries();
        }
    }

    fn files(&mut self) {
        let module = self.module;
        let Structure { files, paths, lines, .. } = &module.structure;
        if !files.is_empty() && lines.is_empty() {
            self.report(ProblemCode::MalformedImage, Site::Module, "files are recorded, but no line numbers");
        }
        if !files.is_sorted_by(|(before, _), (after, _)| before < after) {
            self.report(ProblemCode::MalformedImage, Site::Module, "the files are out of order");
        }
        if files.iter().any(|(start, _)| *start as usize >= module.code.len()) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                "the first instruction of a file is outside of the code",
            );
        }
        if files.iter().any(|(_, file)| *file as usize > paths.len()) {
            self.report(
                ProblemCode::MalformedImage,
                Site::Module,
                "a line belongs to a file that isn't recorded",
            );
        }
    }

    fn labels(&mut self) {
        let module = self.module;
        let mut procedures = module.procedures.iter().peekable();
        let mut names = HashSet::new();
        for (at, label) in &module.structure.labels {
            while procedures.next_if(|p| p.exit < *at).is_some() {
                names.clear();
            }
            if procedures.peek().is_none() {
                self.report(
                    ProblemCode::MalformedImage,
                    Site::Module,
                    format!("the label `{label}` is outside of the code"),
                );
                return;
            }
            if !names.insert(label) {
                self.report(
                    ProblemCode::DeclaredTwice,
                    Site::Instruction(*at),
                    format!("the label `{label}` is declared twice in a procedure"),
                );
            }
        }
    }
}
