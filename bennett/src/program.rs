//! A text with its includes, sorted by kind of declaration. This module doesn't interpret statements.

use std::collections::{HashMap, HashSet};

use compact_str::CompactString;
use reviver_assembler::abbreviations;
use reviver_assembler::assemble::assemble;
use reviver_assembler::diagnostic::{Diagnostic, Severity};
use reviver_assembler::files::Files;
use reviver_assembler::parser::parse;
use reviver_assembler::source::{FileId, Sources};
use reviver_assembler::tree::{
    Body, DeclarationNode, Directive, Expression, Limit, Macro, ProcedureNode, Statement, StatementNode,
};
use reviver_isa::codes::ProblemCode;
use reviver_isa::module::{RealSystem, Role, Word};

use crate::constant::NamedConstants;

/// A declared cell or array, with the comment on its line.
#[derive(Clone, Debug)]
pub struct DeclaredGlobal {
    pub role: Role,
    pub declaration: DeclarationNode,
    pub comment: Option<Box<str>>,
}

/// The contents of a text, sorted by kind.
#[derive(Debug)]
pub struct SortedProgram {
    /// The directives for constants, the number system, the word and the tolerance, as they were written.
    pub settings: Body,
    /// The limit of the call depth, if the program has one.
    pub depth: Option<Expression>,
    pub constants: NamedConstants,
    pub word: Word,
    pub system: RealSystem,
    pub tolerance: Option<Expression>,
    pub globals: Vec<DeclaredGlobal>,
    /// The variables of main's frame.
    pub ancillas: Vec<DeclarationNode>,
    pub procedures: Vec<ProcedureNode>,
    pub macros: HashMap<CompactString, Macro>,
    pub main: Body,
}

impl SortedProgram {
    /// Returns true if arithmetic on reals is exact, so that `sub` undoes `add`.
    pub fn is_exact(&self) -> bool {
        matches!(self.system, RealSystem::Fixed(_))
    }
}

/// Loads a program. The text is assembled first, so that later steps can rely on it being valid.
pub fn load(
    name: &str,
    bytes: Vec<u8>,
    files: &dyn Files,
) -> (Sources, Result<SortedProgram, Vec<Diagnostic>>) {
    let assembly = assemble(name, bytes.clone(), files);
    let errors: Vec<Diagnostic> =
        assembly.diagnostics.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    if !errors.is_empty() {
        return (assembly.sources, Err(errors));
    }
    let mut loading = Loading { sources: Sources::new(), files, seen: HashSet::new(), problems: Vec::new() };
    let file = loading.sources.add_bytes(name, bytes);
    let body = match file {
        Ok(file) => loading.body(file),
        Err(problem) => return (loading.sources, Err(vec![*problem])),
    };
    if !loading.problems.is_empty() {
        return (loading.sources, Err(loading.problems));
    }
    let mut trees = [body];
    let problems = abbreviations::replace(&mut trees);
    let [body] = trees;
    let program = if problems.is_empty() { Ok(sorted(body)) } else { Err(problems) };
    (loading.sources, program)
}

/// The state of loading a program; each file is included at most once.
struct Loading<'f> {
    sources: Sources,
    files: &'f dyn Files,
    seen: HashSet<String>,
    problems: Vec<Diagnostic>,
}

impl Loading<'_> {
    /// Returns the lines of a file, with each include replaced by the lines of the included file.
    fn body(&mut self, file: FileId) -> Body {
        self.seen.insert(self.sources.name(file).to_owned());
        let (body, problems) = parse(&self.sources, file);
        self.problems.extend(problems);
        let mut whole = Body::new();
        for node in body {
            match &node.statement {
                Statement::Directive(Directive::Include { path, path_span }) => {
                    let from = self.sources.name(file).to_owned();
                    match self.files.read(path, &from) {
                        Ok((name, bytes)) => whole.extend(self.included(name, bytes)),
                        Err(why) => self.problems.push(Diagnostic::error(
                            ProblemCode::FileNotIncluded,
                            why,
                            *path_span,
                            "included here",
                        )),
                    }
                }
                _ => whole.push(node),
            }
        }
        whole
    }

    fn included(&mut self, name: String, bytes: Vec<u8>) -> Body {
        if self.seen.contains(&name) {
            return Body::new();
        }
        match self.sources.add_bytes(name, bytes) {
            Ok(file) => self.body(file),
            Err(problem) => {
                self.problems.push(*problem);
                Body::new()
            }
        }
    }
}

fn sorted(body: Body) -> SortedProgram {
    let mut program = SortedProgram {
        settings: Body::new(),
        depth: None,
        constants: NamedConstants::new(),
        word: Word::W64,
        system: RealSystem::F64,
        tolerance: None,
        globals: Vec::new(),
        ancillas: Vec::new(),
        procedures: Vec::new(),
        macros: HashMap::new(),
        main: Body::new(),
    };
    for node in body {
        program.sort(node);
    }
    program
}

impl SortedProgram {
    fn sort(&mut self, node: StatementNode) {
        match node.statement {
            Statement::Procedure(procedure) => self.procedures.push(*procedure),
            Statement::Macro(definition) => {
                self.macros.insert(definition.name.text.clone(), *definition);
            }
            Statement::Directive(Directive::Globals { role, declarations }) => {
                let comment = node.comment;
                self.globals.extend(declarations.into_iter().enumerate().map(|(at, declaration)| {
                    let comment = comment.clone().filter(|_| at == 0);
                    DeclaredGlobal { role, declaration, comment }
                }));
            }
            Statement::Directive(Directive::Ancillas(declarations)) => self.ancillas.extend(declarations),
            Statement::Directive(ref directive) => {
                let stays = self.set(directive);
                self.settings.extend(stays.then_some(node));
            }
            Statement::Empty if node.label.is_none() => {}
            _ => self.main.push(node),
        }
    }

    /// Records a directive that concerns the whole program. Returns true if the reversible text keeps the directive.
    /// The directives with which a disassembly records text places are dropped, because they refer to the instructions
    /// of the original program. `.inverse` is dropped on the assumption that it doesn't affect values.
    fn set(&mut self, directive: &Directive) -> bool {
        match directive {
            Directive::Const { name, value } => {
                self.constants.insert(name.text.clone(), (**value).clone());
            }
            Directive::Real { system } => self.system = *system,
            Directive::Tolerance { value } => self.tolerance = Some((**value).clone()),
            Directive::Word { word } => self.word = *word,
            // The reversible program has more open calls than the original, and its stacks hold lost values. So these
            // limits are computed anew or dropped.
            Directive::Limit { what, value } => {
                if *what == Limit::Depth {
                    self.depth = Some((**value).clone());
                }
                return false;
            }
            _ => return false,
        }
        true
    }
}
